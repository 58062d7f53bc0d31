//! The words of a segment as one text, to find what contains a part of one.

use aho_corasick::AhoCorasick;
use tantivy::index::InvertedIndexReader;

use crate::error::Result;

/// Bytes of the words of a segment that are looked through: some two million words.
const MAX_BYTES: usize = 16 << 20;

/// The words of a segment as one text, so that each search for a part of one reads memory from end to end, and the index once.
#[derive(Default)]
pub(super) struct Dictionary(String);

impl Dictionary {
    /// The words of these fields.
    pub(super) fn of(fields: &[&InvertedIndexReader]) -> Result<Self> {
        let mut words = String::new();
        for field in fields {
            let mut terms = field.terms().stream().map_err(tantivy::TantivyError::from)?;
            while let Some((term, _)) = terms.next() {
                if let Ok(term) = std::str::from_utf8(term) {
                    words.push_str(term);
                    words.push('\n');
                }
                if words.len() > MAX_BYTES {
                    return Ok(Dictionary(words));
                }
            }
        }
        words.shrink_to_fit();
        Ok(Dictionary(words))
    }

    /// Calls `each` with the words that contain one of `parts`, and with the number of that part. A word may come several times.
    pub(super) fn containing<'a>(&'a self, parts: &[impl AsRef<str>], mut each: impl FnMut(usize, &'a str)) {
        let Ok(finder) = AhoCorasick::new(parts.iter().map(AsRef::as_ref)) else { return };
        for found in finder.find_iter(&self.0) {
            let start = self.0[..found.start()].rfind('\n').map_or(0, |at| at + 1);
            let end = self.0[found.end()..].find('\n').map_or(self.0.len(), |at| found.end() + at);
            each(found.pattern().as_usize(), &self.0[start..end]);
        }
    }
}
