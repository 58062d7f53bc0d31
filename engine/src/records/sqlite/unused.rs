//! Records that nobody has found for long.

use rusqlite::params_from_iter;

use super::filter::Condition;
use super::snapshot::{Snapshot, stored_limit};
use crate::error::Result;
use crate::records::rows;
use crate::types::{Filter, Kind, Millis, RecordId};

/// Rows that one page looks at.
const MAX_LOOKED_AT: usize = if cfg!(test) { 100 } else { 20_000 };

impl Snapshot {
    /// At most `limit` of the live records after `after` that pass the filter, were saved before `since`, and that nobody fetched
    /// or found from then on, as far as the access log reaches back; the oldest first. With the id to go on after, if not all were
    /// looked at. What is mostly read from files is passed over: it would be read again.
    pub fn unused(
        &self,
        filter: &Filter,
        since: Millis,
        after: RecordId,
        limit: usize,
        now: Millis,
    ) -> Result<(Vec<RecordId>, Option<RecordId>)> {
        let Condition { sql, mut values } = Condition::new(filter, None, now);
        let read: Vec<Kind> = Kind::ALL.into_iter().filter(|kind| kind.is_read()).collect();
        let sql = format!(
            "SELECT r.id, r.created_at < ? AND coalesce(r.last_accessed_at, 0) < ? AND r.kind NOT IN ({}) AND {sql}
                 AND NOT EXISTS (SELECT 1 FROM access_log a WHERE a.record_id = r.id AND a.accessed_at >= ?)
             FROM records r NOT INDEXED WHERE r.id > ? ORDER BY r.id LIMIT ?",
            rows::kind_codes(&read)
        );
        values.splice(0..0, [since.into(), since.into()]);
        values.extend([since.into(), after.into(), stored_limit(MAX_LOOKED_AT).into()]);
        let mut statement = self.conn().prepare_cached(&sql)?;
        let mut rows = statement.query(params_from_iter(values))?;
        let (mut unused, mut looked_at, mut last) = (Vec::new(), 0, after);
        while let Some(row) = rows.next()? {
            (looked_at, last) = (looked_at + 1, row.get(0)?);
            if row.get(1)? {
                unused.push(last);
            }
            if unused.len() == limit {
                return Ok((unused, Some(last)));
            }
        }
        Ok((unused, (looked_at == MAX_LOOKED_AT).then_some(last)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{NOW, TestStore, new};
    use super::*;
    use crate::records::{Access, AccessKind};
    use crate::types::{NewRecord, Scope, Viewer};

    #[test]
    fn unused_is_what_nobody_fetched_or_found_since() {
        let store = TestStore::new();
        let day = 24 * 60 * 60 * 1_000;
        let since = NOW - 90 * day;
        let old = |text: &str| store.add(&new(text), since - day).unwrap().id;
        let [never, fetched, found, fetched_then] = ["never", "fetched", "found", "fetched then"].map(old);
        store.add(&new("young"), since).unwrap();
        let chunk = NewRecord { kind: Kind::Chunk, ..new("a chunk") };
        store.add(&chunk, since - day).unwrap();
        let scope = Scope { agent: None, project: Some("atlas".into()) };
        let theirs = store.add(&NewRecord { scope, ..new("theirs") }, since - day).unwrap().id;
        let access = |id, kind, counts| Access { id, kind, score: None, query: None, counts };
        store.record_access(&[access(fetched, AccessKind::Get, true)], NOW).unwrap();
        store.record_access(&[access(found, AccessKind::Search, false)], NOW).unwrap();
        store.record_access(&[access(fetched_then, AccessKind::Get, true)], since - 1).unwrap();
        let unused = |viewer: Viewer, after: RecordId, limit| {
            store.view().unused(&Filter::of(viewer), since, after, limit, NOW).unwrap()
        };
        assert_eq!(unused(Viewer::OWNER, RecordId::START, 9), (vec![never, fetched_then, theirs], None));
        assert_eq!(unused(Viewer::OWNER, RecordId::START, 2), (vec![never, fetched_then], Some(fetched_then)));
        assert_eq!(unused(Viewer::OWNER, fetched_then, 2), (vec![theirs], None));
        assert_eq!(unused(Viewer::in_project("b"), RecordId::START, 9).0, [never, fetched_then]);
    }

    #[test]
    fn a_page_looks_at_a_bounded_number_of_rows() {
        let store = TestStore::new();
        let young: Vec<_> = (0..MAX_LOOKED_AT + 10).map(|at| new(&at.to_string())).collect();
        store.add_batch(&young, NOW).unwrap();
        let (none, next) = store.view().unused(&Filter::default(), NOW, RecordId::START, 5, NOW).unwrap();
        assert_eq!((none.len(), next), (0, Some((MAX_LOOKED_AT as i64).into())));
        let rest = store.view().unused(&Filter::default(), NOW, next.unwrap(), 5, NOW).unwrap();
        assert_eq!(rest, (Vec::new(), None));
    }
}
