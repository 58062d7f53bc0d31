//! The last resort of a search that has no vector, or finds nothing: records that contain one of its words, wherever that begins
//! and ends. (Beside vectors, the keyword index finds what contains a word that no record has: `keywords/within.rs`.)

use super::view::View;
use crate::error::Result;
use crate::keywords::longest_word;
use crate::types::{Millis, Query, Record};

/// Bytes of texts that are read: more would take longer than anybody waits.
const MOST_TEXT: usize = 16 << 20;

/// The first `most` records that contain one of these pieces of the query, and whether all were looked for. The dictionary says
/// which records have a word with the longest word of a piece in it. An ending that the stemmer takes off is not in there: what
/// contains only that is found where nothing else is.
pub fn find(view: &View, query: &Query, pieces: &[String], now: Millis, most: usize) -> Result<(Vec<Record>, bool)> {
    // What has other metadata is hidden already, and looked up for each record it would take long.
    let filter = query.filter.without_metadata();
    let (records, filter, hidden) = (&view.records, &filter, &view.hidden);
    let words: Option<Vec<String>> = pieces.iter().map(|piece| longest_word(piece)).collect();
    if let (Some(keywords), Some(words)) = (&view.keywords, words) {
        let among = keywords.containing(&words)? | &view.tail.keyword_ids;
        let found = records.substring(pieces, filter, hidden, now, most, (Some(&among), MOST_TEXT))?;
        if !found.records.is_empty() {
            return Ok((found.records, found.complete));
        }
    }
    let found = records.substring(pieces, filter, hidden, now, most, (None, MOST_TEXT))?;
    Ok((found.records, found.complete))
}
