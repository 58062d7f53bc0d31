//! The memory that the query names by its id, as answers do: "#12", "memory://12".

use super::view::View;
use crate::error::Result;
use crate::types::{Millis, Query, Record, RecordId};

/// The id, if the query is one.
fn id_of(text: &str) -> Option<RecordId> {
    let text = text.trim();
    let digits = ["#", "memory://", "memory #"].iter().find_map(|prefix| text.strip_prefix(prefix))?;
    let is_id = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse::<i64>().ok().filter(|_| is_id).map(RecordId::from)
}

/// The memory that the query names, if the query may find it.
pub fn memory(view: &View, query: &Query, now: Millis) -> Result<Option<Record>> {
    let Some(id) = id_of(&query.text) else { return Ok(None) };
    Ok(view.records.records(&[id], now)?.pop().filter(|record| query.filter.allows(record)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_written_as_answers_write_it() {
        for text in ["#12", " memory://12 ", "memory #12"] {
            assert_eq!(id_of(text), Some(12.into()), "{text}");
        }
        for text in ["12", "#", "#1a", "#-1", "issue #12", "#99999999999999999999", "memory://"] {
            assert_eq!(id_of(text), None, "{text}");
        }
    }
}
