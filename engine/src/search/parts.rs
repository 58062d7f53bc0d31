//! The last resort of a search: records that contain its text, wherever it begins and ends.

use super::view::View;
use crate::error::Result;
use crate::keywords::longest_word;
use crate::types::{Millis, Query, Record};

/// Bytes of texts that are read: more would take longer than anybody waits.
const MOST_TEXT: usize = 16 << 20;

/// The first `most` records that contain the text of the query, and whether all were looked for. The dictionary says which
/// records have a word with its longest word in it. An ending that the stemmer takes off is not in there: what contains only
/// that is found where nothing else is.
pub fn find(view: &View, query: &Query, now: Millis, most: usize) -> Result<(Vec<Record>, bool)> {
    let (records, filter, hidden) = (&view.records, &query.filter, &view.hidden);
    if let (Some(keywords), Some(part)) = (&view.keywords, longest_word(&query.text)) {
        let among = keywords.containing(&part)? | &view.tail.keyword_ids;
        let found = records.substring(&query.text, filter, hidden, now, most, (Some(&among), MOST_TEXT))?;
        if !found.records.is_empty() {
            return Ok((found.records, found.complete));
        }
    }
    let found = records.substring(&query.text, filter, hidden, now, most, (None, MOST_TEXT))?;
    Ok((found.records, found.complete))
}
