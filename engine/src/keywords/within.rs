//! The words that contain a word of a query that no record has: "engui" is found in "penguin".
//!
//! Only where nothing better is known is a part of a word evidence: "son" is no part of what "person" says. So a part has at least
//! three letters where no other word of the query is known, and five beside others; and if it is short, at least a third of the
//! letters of the word.

use std::collections::BTreeSet;

use super::schema::SearchField;
use super::scripts::Class;
use super::segment::Segment;
use super::tail::TailPart;
use crate::error::Result;

/// Letters of a part where no other word of the query is known, and beside others.
const LEAST_LETTERS: usize = 3;
const LEAST_LETTERS_BESIDE: usize = 5;
/// A part of at least this many letters may be in a word of any length.
const SPECIFIC_LETTERS: usize = 6;
/// Words of a query that are looked for: the longest.
const MAX_PARTS: usize = 2;
/// Terms that contain such a word: the shortest.
const MAX_AROUND: usize = 16;

/// For each of the longest of some words, the terms that contain it: the shortest. `are_alone`: no other word of the query is
/// known.
pub(super) fn terms_around(
    unknown: &[&str],
    are_alone: bool,
    segments: &[Segment],
    parts: &[TailPart],
) -> Result<Vec<Vec<String>>> {
    let least = if are_alone { LEAST_LETTERS } else { LEAST_LETTERS_BESIDE };
    let mut unknown: Vec<(usize, &str)> = unknown.iter().map(|word| (word.chars().count(), *word)).collect();
    unknown.retain(|(letters, word)| *letters >= least && word.chars().all(|c| Class::Word.takes(c)));
    unknown.sort_by_key(|(letters, _)| std::cmp::Reverse(*letters));
    unknown.truncate(MAX_PARTS);
    if unknown.is_empty() {
        return Ok(Vec::new());
    }
    let words: Vec<&str> = unknown.iter().map(|(_, word)| *word).collect();
    let mut around = vec![BTreeSet::new(); words.len()];
    let mut note = |at: usize, term: &str| {
        let (letters, length) = (unknown[at].0, term.chars().count());
        if letters >= SPECIFIC_LETTERS || length <= 3 * letters {
            let around: &mut BTreeSet<(usize, String)> = &mut around[at];
            around.insert((length, term.to_owned()));
            if around.len() > MAX_AROUND {
                around.pop_last();
            }
        }
    };
    for segment in segments {
        segment.dictionary()?.containing(&words, &mut note);
    }
    for part in parts {
        for place in [SearchField::Content, SearchField::Context, SearchField::Tags] {
            for term in part.indexed.field(place).terms() {
                (0..words.len()).filter(|at| term.contains(words[*at])).for_each(|at| note(at, term));
            }
        }
    }
    Ok(around.into_iter().map(|terms| terms.into_iter().map(|(_, term)| term).collect()).collect())
}
