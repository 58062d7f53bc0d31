//! Whether a query has the text of a purged record.

use std::collections::BTreeSet;

use aho_corasick::AhoCorasick;

use crate::error::{Error, Result};

/// A shorter text is found only where it is the whole query: others have it by chance.
const LEAST_WITHIN: usize = 16;

/// The texts of purged records.
pub(in crate::records) struct Quoted<'a> {
    texts: &'a BTreeSet<String>,
    long: AhoCorasick,
}

impl<'a> Quoted<'a> {
    /// # Errors
    /// [`Error::Io`] if there are too many to look for.
    pub(in crate::records) fn new(texts: &'a BTreeSet<String>) -> Result<Self> {
        let long = AhoCorasick::new(texts.iter().filter(|text| text.len() >= LEAST_WITHIN));
        let long = long.map_err(|error| Error::io("the texts to purge", std::io::Error::other(error)))?;
        Ok(Quoted { texts, long })
    }

    /// Whether the query is one of them, or has one within.
    pub(in crate::records) fn is_in(&self, query: &str) -> bool {
        self.texts.contains(query.trim()) || self.long.is_match(query)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_text_is_the_whole_query_and_a_long_one_may_be_within() {
        let texts = ["blue", "the amber key is in the boat"].map(String::from).into();
        let quoted = Quoted::new(&texts).unwrap();
        assert!(["blue", " blue\n", "is it true that the amber key is in the boat?"].iter().all(|q| quoted.is_in(q)));
        assert!(!["a blue heron", "the amber key", ""].iter().any(|query| quoted.is_in(query)));
        assert!(!Quoted::new(&BTreeSet::new()).unwrap().is_in("blue"));
    }
}
