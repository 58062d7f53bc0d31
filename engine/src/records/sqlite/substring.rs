//! The last resort of a search, when neither words nor meaning find anything: records that contain a text.

use std::cmp::Reverse;

use roaring::RoaringTreemap;
use rusqlite::{Row, params_from_iter};
use unicode_normalization::UnicodeNormalization;

use super::filter::Condition;
use super::snapshot::Snapshot;
use crate::error::Result;
use crate::records::rows::to_tags;
use crate::types::{Filter, Millis, Record, RecordId};

/// A match and what it is sorted by: confidence, then the time of the last access or else of creation, then creation.
struct Match {
    id: RecordId,
    confidence: f64,
    recalled_at: Millis,
    created_at: Millis,
}

impl Snapshot {
    /// At most `limit` live records that pass the filter, are not in `hidden`, and contain `text` in their content, their
    /// context or a tag, in upper or lower case, composed or decomposed. The most confident first, then the most recently
    /// used, then the newest. Reads every text that the filter lets pass.
    pub fn substring(
        &self,
        text: &str,
        filter: &Filter,
        hidden: &RoaringTreemap,
        now: Millis,
        limit: usize,
    ) -> Result<Vec<Record>> {
        let mut wanted = String::new();
        fold(text.trim(), &mut wanted);
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let Condition { sql, values } = Condition::new(filter, None, now);
        let sql = format!(
            "SELECT r.content, r.context, r.tags, r.id, r.confidence, coalesce(r.last_accessed_at, r.created_at),
                 r.created_at FROM records r WHERE {sql}"
        );
        let mut statement = self.conn().prepare_cached(&sql)?;
        let mut rows = statement.query(params_from_iter(values))?;
        let mut folded = String::new();
        let mut matches = Vec::new();
        while let Some(row) = rows.next()? {
            let id: RecordId = row.get(3)?;
            if !hidden.contains(id.key()) && contains(row, &wanted, &mut folded)? {
                let (confidence, recalled_at, created_at) = (row.get(4)?, row.get(5)?, row.get(6)?);
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
fn contains(row: &Row<'_>, wanted: &str, folded: &mut String) -> Result<bool> {
    let mut is_in = |text: &str| {
        fold(text, folded);
        folded.contains(wanted)
    };
    let text = |column: usize| Ok::<_, rusqlite::Error>(row.get_ref(column)?.as_str_or_null()?);
    Ok(text(0)?.is_some_and(&mut is_in)
        || text(1)?.is_some_and(&mut is_in)
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

#[cfg(test)]
mod tests {
    use super::super::testing::{NOW, Store, new};
    use super::*;
    use crate::records::{Access, AccessKind};
    use crate::types::{Kind, NewRecord};

    fn found(store: &Store, text: &str) -> Vec<String> {
        let records = store.view().substring(text, &Filter::default(), &RoaringTreemap::new(), NOW, 10).unwrap();
        records.into_iter().map(|record| record.content).collect()
    }

    #[test]
    fn case_and_composition_do_not_matter() {
        let store = Store::new();
        for text in ["Caf\u{e9} au lait", "ÜBERGRÖSSE", "100% sure_thing", "nothing"] {
            store.add(&new(text), NOW).unwrap();
        }
        assert_eq!(found(&store, "CAFE\u{301}"), ["Caf\u{e9} au lait"]);
        assert_eq!(found(&store, " bergrö "), ["ÜBERGRÖSSE"]);
        assert_eq!(found(&store, "0% SURE_"), ["100% sure_thing"], "no wildcard");
        assert_eq!(found(&store, "%"), ["100% sure_thing"]);
        assert_eq!(found(&store, " "), Vec::<String>::new());
        assert_eq!(found(&store, "cafes"), Vec::<String>::new());
    }

    #[test]
    fn context_and_tags_are_searched_and_the_filter_holds() {
        let store = Store::new();
        store.add(&NewRecord { context: Some("In Lisbon".into()), ..new("one") }, NOW).unwrap();
        store
            .add(&NewRecord { tags: vec!["x".into(), "Lisbon \"trip\"".into()], kind: Kind::Event, ..new("two") }, NOW)
            .unwrap();
        store.add(&NewRecord { expires_at: Some(NOW), ..new("lisbon, expired") }, NOW).unwrap();
        assert_eq!(found(&store, "lisbon"), ["one", "two"]);
        assert_eq!(found(&store, "\"TRIP"), ["two"], "as the tag is, not as it is stored");
        let events = Filter { kinds: vec![Kind::Event], ..Filter::default() };
        let records = store.view().substring("lisbon", &events, &RoaringTreemap::new(), NOW, 10).unwrap();
        assert_eq!(records.len(), 1);
    }

    /// Q12, R27.
    #[test]
    fn the_order_is_confidence_then_recall_then_creation() {
        let store = Store::new();
        let sure = |text: &str, confidence| NewRecord { confidence, ..new(text) };
        store.add(&sure("x unsure, newest", 0.5), NOW + 9).unwrap();
        let recalled = store.add(&sure("x sure, recalled", 0.9), NOW).unwrap().id;
        store.add(&sure("x sure, old", 0.9), NOW + 1).unwrap();
        store.add(&sure("x sure, new", 0.9), NOW + 2).unwrap();
        let access = Access { id: recalled, kind: AccessKind::Get, score: None, query: None, counts: true };
        store.record_access(&[access], NOW + 3).unwrap();
        let expected = ["x sure, recalled", "x sure, new", "x sure, old", "x unsure, newest"];
        assert_eq!(found(&store, "x"), expected);
        let first = store.view().substring("x", &Filter::default(), &RoaringTreemap::new(), NOW, 1).unwrap();
        assert_eq!(first[0].content, expected[0], "the limit cuts after sorting");
    }
}
