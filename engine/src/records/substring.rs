//! The last resort of a search, when neither words nor meaning find anything: records that contain a text.

use std::cmp::Reverse;

use rusqlite::{Row, params_from_iter};
use unicode_normalization::UnicodeNormalization;

use super::Snapshot;
use super::filter::Condition;
use super::row::to_tags;
use crate::error::Result;
use crate::types::{Filter, Millis, Record, RecordId};

/// A match and what it is sorted by: confidence, then the time of the last access or else of creation, then creation.
struct Match {
    id: RecordId,
    confidence: f64,
    recalled_at: Millis,
    created_at: Millis,
}

impl Snapshot {
    /// At most `limit` live records that pass the filter and whose content, context or a tag contains `text`, in upper
    /// or lower case, composed or decomposed. The most confident first, then the most recently used, then the newest.
    /// Reads every text that the filter lets pass.
    pub fn substring(&self, text: &str, filter: &Filter, now: Millis, limit: usize) -> Result<Vec<Record>> {
        let mut wanted = String::new();
        fold(text.trim(), &mut wanted);
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let Condition { sql, values } = Condition::new(filter, now);
        let sql = format!(
            "SELECT r.content, r.context, r.tags, r.id, r.confidence, coalesce(r.last_accessed_at, r.created_at),
                 r.created_at FROM records r WHERE {sql}"
        );
        let mut statement = self.conn().prepare_cached(&sql)?;
        let mut rows = statement.query(params_from_iter(values))?;
        let mut folded = String::new();
        let mut matches = Vec::new();
        while let Some(row) = rows.next()? {
            if contains(row, &wanted, &mut folded)? {
                let (id, confidence, recalled_at, created_at) = (row.get(3)?, row.get(4)?, row.get(5)?, row.get(6)?);
                matches.push(Match { id, confidence, recalled_at, created_at });
            }
        }
        matches.sort_by(|a, b| {
            let newest = |m: &Match| Reverse((m.recalled_at, m.created_at));
            b.confidence.total_cmp(&a.confidence).then(newest(a).cmp(&newest(b))).then(a.id.cmp(&b.id))
        });
        let ids: Vec<RecordId> = matches.iter().take(limit).map(|found| found.id).collect();
        self.records(&ids, now)
    }
}

/// Whether the content, the context or a tag of this row contains the text.
fn contains(row: &Row<'_>, wanted: &str, folded: &mut String) -> rusqlite::Result<bool> {
    let mut is_in = |text: &str| {
        fold(text, folded);
        folded.contains(wanted)
    };
    Ok(is_in(row.get_ref(0)?.as_str()?)
        || row.get_ref(1)?.as_str_or_null()?.is_some_and(&mut is_in)
        || to_tags(row, 2)?.iter().any(|tag| is_in(tag)))
}

/// Puts the text into `folded`, normalised (NFC) and in lower case.
fn fold(text: &str, folded: &mut String) {
    folded.clear();
    if text.is_ascii() {
        folded.push_str(text);
        folded.make_ascii_lowercase();
    } else {
        folded.extend(text.nfc().flat_map(char::to_lowercase));
    }
}
