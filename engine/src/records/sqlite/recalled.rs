//! Memories that automatic recall has injected into a session.

use std::collections::HashMap;

use super::snapshot::Snapshot;
use crate::error::Result;
use crate::records::rules::recalled::key;
use crate::records::transaction::SelectExt;
use crate::types::RecordId;

impl Snapshot {
    /// The records that were injected into a session, each with the version that it had.
    pub fn recalled(&self, session: &str) -> Result<HashMap<RecordId, i64>> {
        let sql = "SELECT record_id, version FROM recalled WHERE session = ?1";
        let rows = self.conn().all(sql, &[(&key(session)).into()], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.into_iter().collect())
    }
}
