//! [`Follower`]: a node's view of its server.

use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use memorist_durable::LockedFile;
use parking_lot::Mutex;
use ulid::Ulid;

use super::copies;
use super::health::Health;
use super::projects;
use super::question::ServerState;
use crate::config::{ExportFormat, Reads, TeamSettings};
use crate::error::{Error, Result};
use crate::files::{private_file, private_folders};
use crate::paths::StorePaths;
use crate::records::meta;
use crate::records::postgres::connection::ConnectionPool;
use crate::records::postgres::transaction::Server;
use crate::records::sqlite::store::Database;
use crate::records::transaction::Authority;
use crate::types::{Millis, NodeState};

/// The entry of `meta` with the id of a node.
const NODE: &str = "node";
/// The entry of `meta` with how far the clock of the server is ahead, in milliseconds.
const CLOCK: &str = "clock_ahead";
/// Smaller changes of that clock difference are ignored, in milliseconds.
const CLOCK_STEP: u64 = 1_000;
/// Timeout for writing fetched rows.
pub(super) const APPLY_TIMEOUT: Duration = Duration::from_secs(15);

/// A node's view of its server.
pub(crate) struct Follower {
    pub(super) server: Server,
    pub(super) reads: Reads,
    /// The folder of the copy.
    pub(super) folder: PathBuf,
    /// The name of the node.
    pub(super) name: String,
    /// Held by the process of this node that follows in the background.
    pub(super) lock: Mutex<Option<LockedFile>>,
    pub(super) lock_path: PathBuf,
    /// Locked during a pull: one at a time.
    pub(super) turn: Mutex<()>,
    /// Locked by the thread that reads while it asks the server.
    pub(super) reading: Mutex<()>,
    /// Pulls that have begun, and the last of those that have succeeded.
    pub(super) begun: AtomicU64,
    pub(super) done: AtomicU64,
    pub(super) health: Mutex<Health>,
    /// Time at which this process last trimmed what no node needs.
    pub(super) trimmed: Mutex<Option<Instant>>,
    /// How far the clock of the server is ahead of this machine's, in milliseconds.
    ahead: AtomicI64,
    /// Whether this process is purging: it knows the texts then, unlike those of other nodes' purges.
    pub(super) purges: AtomicBool,
    /// Format of the file with the memories that the server has lost.
    pub(super) lost: &'static dyn ExportFormat,
    /// Folder of that file.
    pub(super) lost_folder: PathBuf,
}

impl Follower {
    /// The follower of the node whose copy is in this folder. Does not ask the server.
    pub(crate) fn of(database: &Database, paths: &StorePaths, team: &TeamSettings) -> Result<Self> {
        let node = node_id(database, team.lost_folder.as_deref())?;
        projects::set(database, &team.follow)?;
        copies::remove_old(paths.root(), &team.address.folder_name());
        Ok(Follower {
            server: Server::new(ConnectionPool::new(team.address.clone()), node),
            reads: team.reads,
            folder: paths.root().to_owned(),
            name: team.node_name.clone(),
            lock: Mutex::default(),
            lock_path: paths.follow_lock(),
            turn: Mutex::default(),
            reading: Mutex::default(),
            begun: AtomicU64::default(),
            done: AtomicU64::default(),
            health: Mutex::default(),
            trimmed: Mutex::default(),
            ahead: meta::integer(&*database.reader()?, CLOCK)?.unwrap_or_default().into(),
            purges: AtomicBool::default(),
            lost: team.lost,
            lost_folder: team.lost_folder.clone().unwrap_or_else(|| paths.root().to_owned()),
        })
    }

    /// How this node is doing.
    pub(crate) fn state(&self) -> NodeState {
        let health = self.health.lock();
        NodeState {
            server: self.server.pool().address().to_string(),
            node: self.server.node().to_owned(),
            name: self.name.clone(),
            as_of: health.as_of,
            age: health.age(),
            is_comparing: health.is_comparing,
            error: health.error.clone(),
            clock_ahead: self.ahead(),
            pulls: health.pulls,
            pulled: health.pulled,
            failed: health.failed,
        }
    }

    /// Whether the memories of this project are copied.
    pub(crate) fn has_project(&self, database: &Database, project: &str) -> Result<bool> {
        let follows = projects::of(database)?;
        Ok(follows.is_empty() || follows.iter().any(|followed| followed == project))
    }

    /// Whether there may be projects whose memories are not copied.
    pub(crate) fn follows_some(&self, database: &Database) -> Result<bool> {
        Ok(!projects::of(database)?.is_empty())
    }

    /// Notes the state of the server. Returns whether its clock is still as far ahead as before: if not, memories that
    /// were read by the old time may have expired.
    pub(super) fn note_state(&self, database: &Database, state: &ServerState) -> bool {
        self.health.lock().as_of = Some(state.now);
        if self.ahead().abs_diff(state.ahead) < CLOCK_STEP {
            return true;
        }
        self.ahead.store(state.ahead, Ordering::Relaxed);
        self.state().clock_warning().into_iter().for_each(|warning| tracing::warn!("{warning}"));
        // The next process goes by it, also without the server.
        let kept = database.write_unsynced(|tx| meta::put(tx, CLOCK, state.ahead.into()));
        kept.unwrap_or_else(|error| tracing::debug!("how far the clock of the server is ahead was not kept: {error}"));
        false
    }

    /// Reads the clock difference that another process of this node has noted.
    pub(super) fn read_clock(&self, database: &Database) -> Result<()> {
        let ahead = meta::integer(&*database.reader()?, CLOCK)?.unwrap_or_default();
        self.ahead.store(ahead, Ordering::Relaxed);
        Ok(())
    }

    /// How far the clock of the server was last ahead of this machine's, in milliseconds. With it, memories expire
    /// everywhere at once.
    pub(crate) fn ahead(&self) -> Millis {
        self.ahead.load(Ordering::Relaxed)
    }
}

/// The id of this node: a ULID. Its folder may be deleted, and its sources are still its own: so it is kept in `beside`, too.
fn node_id(database: &Database, beside: Option<&Path>) -> Result<String> {
    let kept = beside.map_or(Ok(None), kept_id)?;
    let stored = meta::text(&*database.reader()?, NODE)?;
    if let Some(node) = stored.filter(|stored| kept.as_ref().is_none_or(|kept| kept == stored)) {
        return Ok(node);
    }
    database.write(|tx| {
        let known = match &kept {
            Some(kept) => Some(kept.clone()),
            None => meta::text(tx, NODE)?,
        };
        let node = known.unwrap_or_else(|| Ulid::generate().to_string());
        meta::put(tx, NODE, (&node).into())?;
        // It is that of the store's id where there is none, and this id will be the team's.
        meta::put(tx, "lineage", database.lineage().into())?;
        Ok(node)
    })
}

/// Returns the id in this folder, and creates it if it is missing. The first of two processes creates it.
fn kept_id(folder: &Path) -> Result<Option<String>> {
    let path = folder.join(NODE);
    let io = |error| Error::io(&path, error);
    let read = || fs::read_to_string(&path).ok().filter(|id| Ulid::from_string(id).is_ok());
    if let Some(id) = read() {
        return Ok(Some(id));
    }
    private_folders().recursive(true).create(folder).map_err(io)?;
    match private_file().write(true).create_new(true).open(&path) {
        Ok(mut file) => {
            let id = Ulid::generate().to_string();
            file.write_all(id.as_bytes()).and_then(|()| file.sync_all()).map_err(io)?;
            Ok(Some(id))
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(read()),
        Err(error) => Err(io(error)),
    }
}
