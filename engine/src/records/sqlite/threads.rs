//! The records around one in its thread.

use super::snapshot::Snapshot;
use crate::error::Result;
use crate::records::rows::{self, select_records};
use crate::records::transaction::SelectExt;
use crate::types::{Millis, Record, RecordId};

/// The position of a record: its scope, session and turn.
type SessionPosition = (i64, Option<String>, Option<i64>);

impl Snapshot {
    /// At most `reach` records before one in its thread, and as many after it, in order; those that are not live left out.
    /// None for a record without a thread.
    pub fn around(&self, id: RecordId, reach: usize, now: Millis) -> Result<Vec<Record>> {
        let sql = "SELECT scope_id, session, turn FROM records WHERE id = ?1";
        let position: Option<SessionPosition> =
            self.conn().first(sql, &[id.into()], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        let Some((scope, Some(session), Some(turn))) = position else { return Ok(Vec::new()) };
        let values =
            [scope.into(), (&session).into(), turn.into(), id.into(), i64::try_from(reach).unwrap_or(i64::MAX).into()];
        let before = select_records!(
            "WHERE r.scope_id = ?1 AND r.session = ?2 AND (r.turn, r.id) < (?3, ?4)
             ORDER BY r.turn DESC, r.id DESC LIMIT ?5"
        );
        let after = select_records!(
            "WHERE r.scope_id = ?1 AND r.session = ?2 AND (r.turn, r.id) > (?3, ?4)
             ORDER BY r.turn, r.id LIMIT ?5"
        );
        let mut around = self.conn().all(before, &values, rows::to_record)?;
        around.reverse();
        around.extend(self.conn().all(after, &values, rows::to_record)?);
        around.retain(|record| record.expires_at.is_none_or(|at| at > now));
        Ok(around)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{NOW, TestStore, new};
    use crate::types::NewRecord;

    #[test]
    fn neighbours_are_in_order_and_found_in_the_index() {
        let store = TestStore::new();
        let add = |turn, expires_at| {
            let record =
                NewRecord { session: Some("s".into()), turn: Some(turn), expires_at, ..new(&format!("{turn}")) };
            store.add(&record, NOW).unwrap().id
        };
        let [fourth, first, third, second] = [40, 10, 30, 20].map(|turn| add(turn, None));
        let gone = add(25, Some(NOW + 1));
        let alone = store.add(&new("alone"), NOW).unwrap().id;
        let snapshot = store.snapshot().unwrap();
        let around = |id, reach, now| snapshot.around(id, reach, now).unwrap().iter().map(|r| r.id).collect::<Vec<_>>();
        assert_eq!(around(second, 1, NOW), [first, gone]);
        assert_eq!(around(second, 2, NOW + 1), [first, third]);
        assert_eq!(around(first, 9, NOW), [second, gone, third, fourth]);
        assert_eq!(around(alone, 9, NOW), []);
        assert_eq!(around(99.into(), 9, NOW), []);
        let plan =
            "EXPLAIN QUERY PLAN SELECT id FROM records WHERE scope_id = 1 AND session = 's' AND (turn, id) < (3, 4)
             ORDER BY turn DESC, id DESC LIMIT 1";
        let plan: String = snapshot.conn().query_row(plan, [], |row| row.get(3)).unwrap();
        assert!(plan.contains("records_by_thread") && !plan.contains("TEMP"), "{plan}");
    }
}
