//! Purges of this node, as the others come to know of them (`marks.rs`).

use std::sync::atomic::Ordering;

use super::copies;
use super::follower::Follower;
use super::marks::PURGED;
use crate::error::Result;
use crate::records::meta;
use crate::records::purge::mark::{self, PurgeMark};
use crate::records::sqlite::store::Database;
use crate::records::transaction::{Authority, Select};

impl Follower {
    /// Notes on the server that this node has cleaned its files, if the mark is of a purge there. Then it removes the copies that
    /// no process would clean.
    pub(crate) fn end_purge(&self, database: &Database, mark: &PurgeMark) -> Result<()> {
        let is_of_team = self.server.write(|tx| {
            if PurgeMark::read(tx as &dyn Select)?.as_ref().map(PurgeMark::id) == Some(mark.id()) {
                meta::remove(tx, mark::KEY)?;
                meta::put(tx, PURGED, mark.id().into())?;
            }
            Ok(meta::text(tx, PURGED)?.as_deref() == Some(mark.id()))
        })?;
        match is_of_team {
            true => copies::remove_others(&self.folder, &self.server.pool().address().folder_name(), database),
            false => Ok(()),
        }
    }

    /// Runs a purge of this process: what is removed is known.
    pub(crate) fn purging<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        self.purges.store(true, Ordering::Relaxed);
        let done = work();
        self.purges.store(false, Ordering::Relaxed);
        done
    }
}
