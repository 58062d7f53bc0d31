//! Superseded records: those that others replace.

use roaring::RoaringTreemap;
use rusqlite::params_from_iter;

use super::filter::Condition;
use super::snapshot::{Snapshot, stored_limit};
use crate::error::Result;
use crate::types::{LinkKind, Millis, Outdated, OutdatedQuery, RecordId, Viewer};

impl Snapshot {
    /// Grows with each change to the links that supersede: an equal number means equal answers of [`Self::superseded`].
    pub fn superseding(&self) -> Result<i64> {
        let mut statement = self.conn().prepare_cached("SELECT value FROM meta WHERE key = 'superseding'")?;
        Ok(statement.query_row([], |row| row.get(0))?)
    }

    /// The ids of the records that `viewer` sees and that are superseded by another that he sees. That one hides them until
    /// it is deleted, also when it has expired.
    pub fn superseded(&self, viewer: &Viewer) -> Result<RoaringTreemap> {
        let mut condition = superseding(viewer);
        condition.and_seen("l.to_scope", viewer, None);
        let Condition { sql, values } = condition;
        self.ids(
            &format!("SELECT l.to_id FROM links l INDEXED BY links_that_supersede WHERE {sql}"),
            params_from_iter(values),
        )
    }

    /// The live records that are superseded, the largest id first, each with those that supersede it.
    pub fn outdated(&self, query: &OutdatedQuery, now: Millis) -> Result<Vec<Outdated>> {
        let Condition { sql, mut values } = outdated(query.project.as_deref(), &query.viewer, now);
        let before = query.before.unwrap_or(RecordId::MAX);
        values.extend([before.into(), stored_limit(query.limit).into()]);
        let sql = format!(
            "SELECT DISTINCT l.to_id FROM links l INDEXED BY links_that_supersede WHERE {sql} AND l.to_id < ?
             ORDER BY l.to_id DESC LIMIT ?"
        );
        let mut statement = self.conn().prepare_cached(&sql)?;
        let ids = statement.query_map(params_from_iter(values), |row| row.get(0))?;
        let ids = ids.collect::<rusqlite::Result<Vec<RecordId>>>()?;
        let mut by = self.linked_from(&ids, LinkKind::Supersedes, &query.viewer, now)?;
        let outdated = self.records(&ids, now)?.into_iter().map(|record| {
            let superseded_by = by.remove(&record.id).unwrap_or_default();
            Outdated { record, superseded_by }
        });
        Ok(outdated.collect())
    }

    /// How many records [`Self::outdated`] has in all. `superseded` are those of the viewer: to count them all takes 20 ms
    /// when there are 260,000.
    pub(super) fn outdated_count(
        &self,
        project: Option<&str>,
        superseded: &RoaringTreemap,
        viewer: &Viewer,
        now: Millis,
    ) -> Result<u64> {
        if project.is_none() {
            return Ok(superseded.len() - superseded.intersection_len(&self.expired(now)?));
        }
        let Condition { sql, values } = outdated(project, viewer, now);
        // With the scope, so that the index has them in order.
        let sql = format!(
            "SELECT count(*) FROM
                 (SELECT DISTINCT l.to_scope, l.to_id FROM links l INDEXED BY links_that_supersede WHERE {sql})"
        );
        self.count(&sql, params_from_iter(values))
    }
}

/// On the row `l` of `links`: it supersedes, from a record that `viewer` sees.
pub(super) fn superseding(viewer: &Viewer) -> Condition {
    // The number itself, for the index is of the rows that have it.
    let mut condition = Condition { sql: "l.kind = 2".into(), values: Vec::new() };
    condition.and_seen("l.from_scope", viewer, None);
    condition
}

/// And to a live record that `viewer` sees, of this project alone where one is given.
fn outdated(project: Option<&str>, viewer: &Viewer, now: Millis) -> Condition {
    let mut condition = superseding(viewer);
    condition.and_seen("l.to_scope", viewer, project);
    condition.and(" AND l.to_id NOT IN (SELECT id FROM records WHERE expires_at <= ?)", Some(now));
    condition
}

#[cfg(test)]
mod tests {
    use super::super::testing::{NOW, TestStore, new};
    use super::*;
    use crate::types::{Link, NewRecord, Scope};

    fn supersede(store: &TestStore, from: RecordId, to: RecordId) {
        let link = Link { from, to, kind: LinkKind::Supersedes };
        assert!(store.link(link, &Viewer::OWNER, NOW).unwrap());
    }

    fn add(store: &TestStore, text: &str, project: Option<&str>) -> RecordId {
        let scope = Scope { agent: None, project: project.map(Into::into) };
        store.add(&NewRecord { scope, ..new(text) }, NOW).unwrap().id
    }

    /// T45, R17.
    #[test]
    fn superseded_memories_are_listed_newest_first_by_scope() {
        let store = TestStore::new();
        let global = add(&store, "global", None);
        let [old, older] = ["old", "older"].map(|text| add(&store, text, Some("atlas")));
        let theirs = add(&store, "theirs", Some("borealis"));
        let new = add(&store, "new", Some("atlas"));
        for to in [global, old, older] {
            supersede(&store, new, to);
        }
        supersede(&store, global, theirs);
        supersede(&store, old, older);
        let list = |project: Option<&str>, viewer: &Viewer, before, limit| {
            let query = OutdatedQuery { project: project.map(Into::into), before, limit, viewer: viewer.clone() };
            let snapshot = store.view();
            let found = snapshot.outdated(&query, NOW).unwrap();
            let superseded = snapshot.superseded(viewer).unwrap();
            let count = snapshot.outdated_count(project, &superseded, viewer, NOW).unwrap();
            assert!(before.is_some() || count == found.len() as u64, "{count} of {}", found.len());
            found.into_iter().map(|outdated| (outdated.record.id, outdated.superseded_by)).collect::<Vec<_>>()
        };
        let all = [(theirs, vec![global]), (older, vec![old, new]), (old, vec![new]), (global, vec![new])];
        assert_eq!(list(None, &Viewer::OWNER, None, 9), all);
        assert_eq!(list(Some("atlas"), &Viewer::OWNER, None, 9), all[1..3], "the global one is no project's own");
        assert_eq!(list(None, &Viewer::in_project("atlas"), None, 9), all[1..]);
        assert_eq!(
            list(None, &Viewer::in_project("borealis"), None, 9),
            all[..1],
            "of the others it sees no superseder"
        );
        assert_eq!(list(Some("atlas"), &Viewer::in_project("borealis"), None, 9), []);
        assert_eq!(list(None, &Viewer::OWNER, Some(theirs), 2), all[1..3]);
        assert_eq!(list(None, &Viewer::OWNER, Some(old), 2), all[3..]);
    }

    #[test]
    fn an_expired_superseder_is_unlisted_but_hides_until_deleted() {
        let store = TestStore::new();
        let old = add(&store, "old", None);
        let brief = store.add(&NewRecord { expires_at: Some(NOW + 1), ..new("brief") }, NOW).unwrap().id;
        supersede(&store, brief, old);
        let query = OutdatedQuery { project: None, before: None, limit: 9, viewer: Viewer::OWNER };
        let by = |now| store.view().outdated(&query, now).unwrap().remove(0).superseded_by;
        assert_eq!((by(NOW), by(NOW + 1)), (vec![brief], vec![]));
        let superseded = || store.view().superseded(&Viewer::OWNER).unwrap().iter().collect::<Vec<_>>();
        assert_eq!(superseded(), [old.key()]);
        let before = store.view().superseding().unwrap();
        store.delete(brief, &Viewer::OWNER, NOW).unwrap();
        assert!(superseded().is_empty());
        assert!(store.view().superseding().unwrap() > before);
    }
}
