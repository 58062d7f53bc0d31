//! One process of a node follows the server in the background, for all of them. The others read its copy.

use std::time::{Duration, SystemTime};

use memorist_durable::LockedFile;

use super::follower::Follower;
use super::pull::PullReason;
use crate::error::{Error, Result};
use crate::files::private_file;
use crate::progress::Progress;
use crate::records::sqlite::store::Database;
use crate::types::FOLLOW_AGAIN;

/// A process that has not followed for so long is stopped, or its server is away: others look, too.
const LATE: Duration = FOLLOW_AGAIN.saturating_mul(3);

impl Follower {
    /// Follows the server, unless another process of this node does. Returns whether this one does.
    ///
    /// # Errors
    /// As [`Follower::pull`].
    pub(crate) fn follow_for_all(&self, database: &Database, progress: &dyn Progress) -> Result<bool> {
        self.server.pool().close_idle();
        let mut lock = self.lock.lock();
        if lock.is_none() {
            let io = |error| Error::io(&self.lock_path, error);
            let file = private_file().create(true).truncate(false).open(&self.lock_path).map_err(io)?;
            let followed = file.metadata().and_then(|file| file.modified()).map_err(io)?;
            *lock = LockedFile::try_lock(file).map_err(io)?;
            let age = SystemTime::now().duration_since(followed).unwrap_or_default();
            if lock.is_none() && age < LATE && self.has_copy(database)? {
                self.health.lock().note_other(age);
                self.read_clock(database)?;
                return Ok(false);
            }
        }
        self.pull(database, PullReason::Tick, progress)?;
        // Its time is when this node last knew all that the server had.
        let touched = lock.as_ref().map_or(Ok(()), |file| file.set_modified(SystemTime::now()));
        touched.unwrap_or_else(|error| tracing::debug!("{}: {error}", self.lock_path.display()));
        Ok(lock.is_some())
    }
}
