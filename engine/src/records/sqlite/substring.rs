//! Substring search, when neither keyword nor vector search finds anything: records that contain one of some texts.

use std::cmp::Reverse;

use roaring::RoaringTreemap;
use rusqlite::types::Value;
use rusqlite::{Row, params_from_iter};
use unicode_normalization::UnicodeNormalization;

use super::filter::Condition;
use super::snapshot::Snapshot;
use crate::error::Result;
use crate::records::rows::to_tags;
use crate::types::{Filter, Millis, Record, RecordId};

/// A match and what it is sorted by: confidence, then the time of the last access or else of creation, then creation.
struct SubstringMatch {
    id: RecordId,
    confidence: f64,
    recalled_at: Millis,
    created_at: Millis,
}

/// The hits of a substring search.
pub struct Substring {
    /// The records.
    pub records: Vec<Record>,
    /// Whether all texts were read; else only those of the newest records.
    pub complete: bool,
}

impl Snapshot {
    /// At most `limit` live records that pass the filter, are not in `hidden`, and contain one of `texts` in their content, their
    /// context or a tag, in upper or lower case, composed or decomposed. The most confident first, then the most recently
    /// used, then the newest. Reads the texts of the records in `among`, or of all that the filter lets pass, the newest first,
    /// up to `most` bytes.
    pub fn substring(
        &self,
        texts: &[String],
        filter: &Filter,
        hidden: &RoaringTreemap,
        now: Millis,
        limit: usize,
        (among, most): (Option<&RoaringTreemap>, usize),
    ) -> Result<Substring> {
        let fold_one = |text: &String| {
            let mut wanted = String::new();
            fold(text.trim(), &mut wanted);
            wanted
        };
        let wanted: Vec<String> = texts.iter().map(fold_one).filter(|wanted| !wanted.is_empty()).collect();
        if wanted.is_empty() {
            return Ok(Substring { records: Vec::new(), complete: true });
        }
        let Condition { sql, mut values } = Condition::new(filter, None, now);
        let columns =
            "SELECT r.content, r.context, r.tags, r.id, r.confidence, coalesce(r.last_accessed_at, r.created_at),
                 r.created_at FROM records r WHERE";
        let (mut folded, mut matches, mut bytes) = (String::new(), Vec::new(), 0);
        let mut visit = |row: &Row<'_>| -> Result<bool> {
            let id: RecordId = row.get(3)?;
            if hidden.contains(id.key()) {
                return Ok(true);
            }
            if bytes >= most {
                return Ok(false);
            }
            if contains(row, &wanted, &mut folded, &mut bytes)? {
                let (confidence, recalled_at, created_at) = (row.get(4)?, row.get(5)?, row.get(6)?);
                matches.push(SubstringMatch { id, confidence, recalled_at, created_at });
            }
            Ok(true)
        };
        let mut complete = true;
        if let Some(among) = among {
            let mut statement = self.conn().prepare_cached(&format!("{columns} r.id = ? AND {sql}"))?;
            values.insert(0, Value::Null);
            for id in among.iter().rev() {
                values[0] = Value::Integer(id.cast_signed());
                let mut rows = statement.query(params_from_iter(&values))?;
                if let Some(row) = rows.next()?
                    && !visit(row)?
                {
                    complete = false;
                    break;
                }
            }
        } else {
            let mut statement = self.conn().prepare_cached(&format!("{columns} {sql} ORDER BY r.id DESC"))?;
            let mut rows = statement.query(params_from_iter(values))?;
            while let Some(row) = rows.next()? {
                if !visit(row)? {
                    complete = false;
                    break;
                }
            }
        }
        matches.sort_by(|a, b| {
            let newest = |m: &SubstringMatch| Reverse((m.recalled_at, m.created_at));
            b.confidence.total_cmp(&a.confidence).then(newest(a).cmp(&newest(b))).then(a.id.cmp(&b.id))
        });
        let ids: Vec<RecordId> = matches.iter().take(limit).map(|found| found.id).collect();
        Ok(Substring { records: self.records(&ids, now)?, complete })
    }
}

/// Whether the content, the context or a tag of this row contains one of the texts. Adds what was read to `bytes`.
fn contains(row: &Row<'_>, wanted: &[String], folded: &mut String, bytes: &mut usize) -> Result<bool> {
    let mut is_in = |text: &str| {
        *bytes += text.len();
        fold(text, folded);
        wanted.iter().any(|wanted| folded.contains(wanted.as_str()))
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
    use super::super::testing::{NOW, TestStore, new};
    use super::*;
    use crate::records::{Access, AccessKind};
    use crate::types::{Kind, NewRecord};

    const ALL: (Option<&RoaringTreemap>, usize) = (None, usize::MAX);

    fn found(store: &TestStore, text: &str) -> Vec<String> {
        texts(
            &store
                .view()
                .substring(&[text.to_owned()], &Filter::default(), &RoaringTreemap::new(), NOW, 10, ALL)
                .unwrap(),
        )
    }

    fn texts(found: &Substring) -> Vec<String> {
        found.records.iter().map(|record| record.content.clone()).collect()
    }

    #[test]
    fn the_newest_are_read_first_and_no_more_than_allowed() {
        let store = TestStore::new();
        let ids: Vec<u64> =
            (0..4).map(|number| store.add(&new(&format!("x{number}")), NOW).unwrap().id.key()).collect();
        let find = |among: Option<&RoaringTreemap>, most| {
            let hidden = RoaringTreemap::from_iter([ids[3]]);
            let found =
                store.view().substring(&["x".to_owned()], &Filter::default(), &hidden, NOW, 10, (among, most)).unwrap();
            (texts(&found), found.complete)
        };
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        assert_eq!(find(None, 3), (names(&["x1", "x2"]), false));
        assert_eq!(find(None, 6), (names(&["x0", "x1", "x2"]), true));
        let some = RoaringTreemap::from_iter([ids[0], ids[1], 99]);
        assert_eq!(find(Some(&some), usize::MAX), (names(&["x0", "x1"]), true));
        assert_eq!(find(Some(&some), 2), (names(&["x1"]), false));
    }

    #[test]
    fn case_and_composition_do_not_matter() {
        let store = TestStore::new();
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
        let store = TestStore::new();
        store.add(&NewRecord { context: Some("In Lisbon".into()), ..new("one") }, NOW).unwrap();
        store
            .add(&NewRecord { tags: vec!["x".into(), "Lisbon \"trip\"".into()], kind: Kind::Event, ..new("two") }, NOW)
            .unwrap();
        store.add(&NewRecord { expires_at: Some(NOW), ..new("lisbon, expired") }, NOW).unwrap();
        assert_eq!(found(&store, "lisbon"), ["one", "two"]);
        assert_eq!(found(&store, "\"TRIP"), ["two"], "as the tag is, not as it is stored");
        let events = Filter { kinds: vec![Kind::Event], ..Filter::default() };
        let records =
            store.view().substring(&["lisbon".to_owned()], &events, &RoaringTreemap::new(), NOW, 10, ALL).unwrap();
        assert_eq!(texts(&records).len(), 1);
    }

    /// Q12, R27.
    #[test]
    fn the_order_is_confidence_then_recall_then_creation() {
        let store = TestStore::new();
        let sure = |text: &str, confidence| NewRecord { confidence, ..new(text) };
        store.add(&sure("x unsure, newest", 0.5), NOW + 9).unwrap();
        let recalled = store.add(&sure("x sure, recalled", 0.9), NOW).unwrap().id;
        store.add(&sure("x sure, old", 0.9), NOW + 1).unwrap();
        store.add(&sure("x sure, new", 0.9), NOW + 2).unwrap();
        let access = Access { id: recalled, kind: AccessKind::Get, score: None, query: None, counts: true };
        store.record_access(&[access], NOW + 3).unwrap();
        let expected = ["x sure, recalled", "x sure, new", "x sure, old", "x unsure, newest"];
        assert_eq!(found(&store, "x"), expected);
        let first =
            store.view().substring(&["x".to_owned()], &Filter::default(), &RoaringTreemap::new(), NOW, 1, ALL).unwrap();
        assert_eq!(texts(&first), expected[..1], "the limit cuts after sorting");
    }
}
