//! The versions of a record.

use super::snapshot::{Snapshot, stored_limit};
use crate::error::Result;
use crate::records::lookup;
use crate::records::rows::{self, version_columns};
use crate::records::transaction::SelectExt;
use crate::types::{Millis, RecordId, Version, Viewer};

impl Snapshot {
    /// At most `limit` versions of a live record, newest first, those before version `before` where it is given. `None`
    /// where there is no such record that `viewer` sees.
    pub fn history(
        &self,
        id: RecordId,
        viewer: &Viewer,
        before: Option<i64>,
        limit: usize,
        now: Millis,
    ) -> Result<Option<Vec<Version>>> {
        if !lookup::is_live(self.conn(), id, viewer, now)? {
            return Ok(None);
        }
        let sql = concat!(
            "SELECT * FROM (SELECT NULL, NULL, ",
            version_columns!(),
            " FROM records WHERE id = ?1 UNION ALL SELECT replaced_at, reason, ",
            version_columns!(),
            " FROM versions WHERE record_id = ?1) WHERE version < ?2 ORDER BY version DESC LIMIT ?3"
        );
        let values = [id.into(), before.unwrap_or(i64::MAX).into(), stored_limit(limit).into()];
        self.conn().all(sql, &values, rows::to_version).map(Some)
    }

    /// The earlier versions of a record, oldest first.
    pub(super) fn all_earlier(&self, id: RecordId) -> Result<Vec<Version>> {
        let sql = concat!(
            "SELECT replaced_at, reason, ",
            version_columns!(),
            " FROM versions WHERE record_id = ?1 ORDER BY version"
        );
        self.conn().all(sql, &[id.into()], rows::to_version)
    }
}
