//! The data of records on a map.

use rusqlite::OptionalExtension;

use super::snapshot::Snapshot;
use crate::error::Result;
use crate::types::{Millis, RecordId, Scope};

/// The data of one record on a map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PointRow {
    /// The record.
    pub id: RecordId,
    /// The position of its kind in [`Kind::ALL`](crate::types::Kind::ALL).
    pub kind: u8,
    /// See [`Record`](crate::types::Record).
    pub importance: u8,
    /// The position of its scope in [`PointRows::scopes`].
    pub scope: u32,
    /// See [`Record`](crate::types::Record).
    pub created_at: Millis,
    /// See [`Record`](crate::types::Record).
    pub expires_at: Option<Millis>,
    /// The beginning of the hash of the embedded text: differs when the text does.
    pub text: u32,
    /// Whether the text has its vector.
    pub has_vector: bool,
}

/// The data of all live records on a map.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PointRows {
    /// By id, ascending.
    pub rows: Vec<PointRow>,
    /// The scopes that the rows name.
    pub scopes: Vec<Scope>,
}

impl PointRows {
    /// The row of a record.
    pub fn of(&self, id: u32) -> Option<&PointRow> {
        let at = self.rows.binary_search_by_key(&u64::from(id), |row| row.id.key()).ok()?;
        self.rows.get(at)
    }
}

impl Snapshot {
    /// Returns the data of all live records on a map. Reads the beginning of each row: no index has the texts' hashes.
    pub fn point_rows(&self, now: Millis) -> Result<PointRows> {
        let mut statement = self.conn().prepare_cached("SELECT id, agent, project FROM scopes ORDER BY id")?;
        let scopes = statement
            .query_map([], |row| Ok((row.get::<_, i64>(0)?, Scope { agent: row.get(1)?, project: row.get(2)? })))?;
        let (ids, scopes): (Vec<i64>, Vec<Scope>) = scopes.collect::<rusqlite::Result<Vec<_>>>()?.into_iter().unzip();
        let mut statement = self.conn().prepare_cached(
            "SELECT id, kind, importance, scope_id, created_at, expires_at, embedding_hash, embedding_id IS NOT NULL
             FROM records NOT INDEXED WHERE expires_at IS NULL OR expires_at > ? ORDER BY id",
        )?;
        let rows = statement.query_map([now], |row| {
            let scope = ids.binary_search(&row.get(3)?).unwrap_or(0);
            let text: [u8; 32] = row.get(6)?;
            Ok(PointRow {
                id: row.get(0)?,
                kind: row.get(1)?,
                importance: row.get(2)?,
                scope: scope as u32,
                created_at: row.get(4)?,
                expires_at: row.get(5)?,
                text: u32::from_le_bytes([text[0], text[1], text[2], text[3]]),
                has_vector: row.get(7)?,
            })
        })?;
        let rows = rows.collect::<rusqlite::Result<_>>()?;
        Ok(PointRows { rows, scopes })
    }

    /// The first `chars` characters of a record's content; `None` if there is no such record.
    pub fn beginning(&self, id: RecordId, chars: usize) -> Result<Option<String>> {
        let mut statement = self.conn().prepare_cached("SELECT substr(content, 1, ?2) FROM records WHERE id = ?1")?;
        Ok(statement.query_row((id, chars as i64), |row| row.get(0)).optional()?)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{NOW, TestStore, model, new};
    use crate::types::{NewRecord, RecordUpdate, Scope, Viewer};

    #[test]
    fn live_points_have_scopes_and_a_hash_of_their_text() {
        let store = TestStore::new();
        let scope = Scope { agent: Some("a".into()), project: Some("p".into()) };
        let first = store.add(&NewRecord { scope: scope.clone(), importance: 9, ..new("first text") }, NOW).unwrap().id;
        let short = store.add(&NewRecord { expires_at: Some(NOW + 5), ..new("short") }, NOW).unwrap().id;
        let seen = |now| store.view().point_rows(now).unwrap();
        let before = seen(NOW);
        assert_eq!(before.rows.iter().map(|row| row.id).collect::<Vec<_>>(), [first, short]);
        assert_eq!((before.scopes[before.rows[0].scope as usize].clone(), before.rows[0].importance), (scope, 9));
        assert_eq!(before.scopes[before.rows[1].scope as usize], Scope::default());
        assert_eq!((before.rows[1].expires_at, before.rows[1].has_vector), (Some(NOW + 5), false));
        assert_eq!(seen(NOW + 5).rows, before.rows[..1]);

        let old = store.model(&model(2)).unwrap();
        let hash = store.pending(old, 1, NOW).unwrap()[0].hash;
        store.store_embeddings(old, &[(hash, vec![0.0, 1.0])]).unwrap();
        let embedded = seen(NOW).rows[0];
        assert_eq!((embedded.has_vector, embedded.text), (true, before.rows[0].text));
        let update = RecordUpdate { content: Some("second text".into()), ..Default::default() };
        store.update(first, &update, &Viewer::OWNER, NOW).unwrap();
        let changed = seen(NOW).rows[0];
        assert!(changed.text != embedded.text && !changed.has_vector);
        assert_eq!(store.view().beginning(first, 6).unwrap().as_deref(), Some("second"));
        assert_eq!(store.view().beginning(99.into(), 6).unwrap(), None);
    }
}
