//! [`Records`]: the records of a store, in a database of its own or as a copy of those on the server of a team.

use std::ops::Deref;
use std::time::Duration;

#[cfg(feature = "postgres")]
use super::follow::{Compared, PullReason};
use super::follow::{Follower, note_accesses, set_aside};
use super::meta;
use super::models::REFUSED_HERE;
#[cfg(feature = "postgres")]
use super::postgres::{connection::ConnectionPool, errors::explained, migrate};
use super::purge::mark::PurgeMark;
use super::rules::access::{self, Access};
use super::rules::{embeddings, files, refused};
use super::sqlite::folder;
use super::sqlite::snapshot::Snapshot;
use super::sqlite::store::Database;
use super::transaction::{Authority, Work};
#[cfg(feature = "postgres")]
use crate::config::{ServerAddress, TeamSettings};
#[cfg(feature = "postgres")]
use crate::error::Error;
use crate::error::Result;
use crate::paths::StorePaths;
use crate::progress::Progress;
use crate::text::Hash;
use crate::types::{Millis, Model, ModelId, NewSource, NodeState, Reach, Record, RecordId, SourceId, Viewer};

/// The records of one store. Any number of threads may use it, and any number of processes may open the same store.
///
/// The records of a team are on a server, and `memory.db` is a copy: reads use the copy, writes go to the server and are
/// then copied. Usage data (accesses, searches, memories injected into sessions) stays in `memory.db`.
pub struct Records {
    database: Database,
    follower: Option<Follower>,
}

impl Deref for Records {
    type Target = Database;

    fn deref(&self) -> &Database {
        &self.database
    }
}

impl Records {
    /// Opens the store, or creates it. One that cannot be written is opened for reading.
    ///
    /// # Errors
    /// [`Store`](crate::Error::Store) when the folder cannot be used, [`Database`](crate::Error::Database) when
    /// `memory.db` is not SQLite, not ours, damaged, lost or of a newer version.
    pub fn open(paths: &StorePaths) -> Result<Self> {
        // A node of a team gets from the server what it has lost.
        folder::refuse_lost(paths)?;
        let database = Database::open(paths)?;
        Ok(Records { database, follower: None })
    }

    /// The health of this node; `None` where the records are in the folder.
    pub fn node(&self) -> Option<NodeState> {
        self.follower.as_ref().map(Follower::state)
    }

    /// Brings the copy up to date in the background, unless another process of this node does. Returns whether this one does.
    ///
    /// # Errors
    /// As [`Records::follow`].
    pub fn follow_for_all(&self, progress: &dyn Progress) -> Result<bool> {
        self.follower.as_ref().map_or(Ok(false), |follower| follower.follow_for_all(&self.database, progress))
    }

    /// Does the work of a node of a team that is due once a minute. Does nothing where the records are in the folder.
    ///
    /// # Errors
    /// [`Server`](crate::Error::Server).
    pub fn keep_up(&self) -> Result<()> {
        self.follower.as_ref().map_or(Ok(()), |follower| follower.keep_up(&self.database))
    }

    /// Whether this process may do the work `what` now, which one node has to do for all: embedding, for example. Always
    /// true where the records are in the folder.
    pub fn claims(&self, what: &'static str) -> Result<bool> {
        if let Some(follower) = &self.follower {
            return follower.claims(what);
        }
        Ok(true)
    }

    /// How far the clock of a team is ahead of this machine's, in milliseconds.
    pub fn clock_ahead(&self) -> Millis {
        if let Some(follower) = &self.follower {
            return follower.ahead();
        }
        0
    }

    /// Runs work that removes records permanently.
    pub(super) fn purging<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        if let Some(follower) = &self.follower {
            return follower.purging(work);
        }
        work()
    }

    /// Ends this mark: no traces are left of the rows that were removed up to it. Later removals have another mark.
    pub fn end_purge(&self, mark: &PurgeMark) -> Result<()> {
        if let Some(follower) = &self.follower {
            follower.end_purge(&self.database, mark)?;
        }
        self.database.end_purge(mark)
    }

    /// Whether this is a node whose role is a member of some projects: work on shared rows is left to the owner of the
    /// tables.
    pub fn is_member(&self) -> Result<bool> {
        if self.follower.is_some() {
            return Follower::is_member(&self.database);
        }
        Ok(false)
    }

    /// Whether there are texts that this version has not cut into passages, and that this process may cut.
    pub fn has_uncut(&self) -> Result<bool> {
        Ok(self.database.has_uncut()? && !self.is_member()?)
    }

    /// Whether this source was added on this node, so that its files may be read. The server may have others for this node.
    pub fn is_own_source(&self, source: &NewSource) -> bool {
        if let Some(follower) = &self.follower {
            return follower.is_own_source(source);
        }
        true
    }

    /// Adds a source, unless it is there already: then it gets the globs and the scope of this one. Returns its id, and
    /// whether it is new.
    ///
    /// # Errors
    /// [`Invalid`](crate::Error::Invalid) names the bound that is violated.
    pub fn add_source(&self, new: &NewSource, now: Millis) -> Result<(SourceId, bool)> {
        if let Some(follower) = &self.follower {
            follower.note_source(new)?;
        }
        files::add_source(self, new, now)
    }

    /// Removes a source. Its records stay. Returns the paths of its files that no other source has, if there was one. If
    /// `with_copies`, the other transcripts of its format are read again: they may repeat turns of it.
    pub fn remove_source(&self, id: SourceId, with_copies: bool) -> Result<Option<Vec<String>>> {
        let known = self.database.snapshot()?.sources()?.into_iter().find(|source| source.id == id);
        let removed = files::remove_source(self, id, with_copies)?;
        if let (Some(follower), Some(known)) = (&self.follower, known) {
            follower.forget_source(&known.source)?;
        }
        Ok(removed)
    }

    /// The row of this model. The first model of a store becomes the store's own.
    ///
    /// # Errors
    /// [`ModelMismatch`](crate::Error::ModelMismatch) when the store's vectors are another model's.
    pub fn model(&self, model: &Model) -> Result<ModelId> {
        match self.known_model(model)? {
            Some((id, _)) => Ok(id),
            None => embeddings::adopt_model(self, model),
        }
    }

    /// Sets texts aside that a model refused, each with the reason: they wait no longer for that model.
    pub fn set_aside(&self, model: ModelId, refused: &[(Hash, String)]) -> Result<()> {
        if self.is_member()? {
            return refused::set_aside_in(&self.database, REFUSED_HERE, model, refused);
        }
        refused::set_aside(self, model, refused)
    }

    /// Lets every refused text be embedded again.
    pub fn retry_refused(&self) -> Result<()> {
        if self.is_member()? {
            return self.database.write(|tx| meta::remove(tx, REFUSED_HERE));
        }
        refused::retry(self)
    }

    /// Writes accesses to the log, in one transaction that does not wait for the disk: a power cut may forget the last
    /// of them. The oldest rows beyond [`MAX_ACCESS_ROWS`](super::MAX_ACCESS_ROWS) go.
    pub fn record_access(&self, accesses: &[Access<'_>], now: Millis) -> Result<()> {
        access::record_access(self, accesses, now)?;
        self.note_unsent(accesses.iter().filter(|access| access.counts).map(|access| access.id), now)
    }

    /// Counts an access of each of these records, without a row in the log; as with [`Records::record_access`], a power
    /// cut may forget it. Skips missing records.
    pub fn count_accesses(&self, ids: &[RecordId], now: Millis) -> Result<()> {
        access::count_accesses(self, ids, now)?;
        self.note_unsent(ids.iter().copied(), now)
    }

    /// Rows from the server of a team that cannot be applied here, one line each with the reason.
    pub fn set_aside_here(&self) -> Result<Vec<String>> {
        if self.follower.is_some() {
            return set_aside(&*self.database.reader()?);
        }
        Ok(Vec::new())
    }

    /// Notes accesses that the server of a team has to count.
    fn note_unsent(&self, ids: impl Iterator<Item = RecordId>, now: Millis) -> Result<()> {
        if self.follower.is_some() {
            let unsent: Vec<_> = ids.map(|id| (id, 1, now)).collect();
            return match unsent.is_empty() {
                true => Ok(()),
                false => self.database.write_unsynced(|tx| note_accesses(tx, &unsent)),
            };
        }
        Ok(())
    }

    /// Brings the copy up to date, before it is read. If the server is away, the copy stays as it is.
    ///
    /// # Errors
    /// [`Server`](crate::Error::Server) if it is away and nothing was copied yet: "nothing found" would be wrong.
    pub fn refresh(&self) -> Result<()> {
        if let Some(follower) = &self.follower {
            return follower.refresh(&self.database);
        }
        Ok(())
    }

    /// Reads the [copy](Records::copy) as the server is now. `read` runs while the server of a team is asked for news,
    /// and again if there was any.
    ///
    /// # Errors
    /// Errors of [`Records::refresh`], and of `read`.
    pub fn read<T>(&self, mut read: impl FnMut() -> Result<T>) -> Result<T> {
        if let Some(follower) = &self.follower {
            return follower.read(&self.database, read);
        }
        read()
    }

    /// A note, if the memories of a project are on the server alone.
    pub fn unfollowed(&self, project: &str) -> Result<Option<String>> {
        if let Some(follower) = &self.follower
            && !follower.has_project(&self.database, project)?
        {
            return Ok(Some(format!(
                "this node does not replicate the project {project:?}, so searches here do not find its memories; add \
                 it to `projects` below [team] in memorist.toml"
            )));
        }
        Ok(None)
    }

    /// A note, if some memories that a viewer may see are on the server alone.
    pub fn unfollowed_of(&self, viewer: &Viewer) -> Result<Option<String>> {
        if viewer.project != Reach::Every {
            return viewer.project.name().map_or(Ok(None), |project| self.unfollowed(project));
        }
        if let Some(follower) = &self.follower
            && follower.follows_some(&self.database)?
        {
            return Ok(Some(
                "this node replicates some projects only, so searches here do not find memories of the others; \
                 `projects` below [team] in memorist.toml lists its projects"
                    .into(),
            ));
        }
        Ok(None)
    }

    /// Warnings for an answer from a copy: how old it is, if the server is away, and that the clock here is wrong.
    pub fn warnings(&self) -> Vec<String> {
        let Some(node) = self.node() else { return Vec::new() };
        node.staleness().into_iter().chain(node.clock_warning()).collect()
    }

    /// Returns the local copy without asking the server. It may be out of date. Use it for polling.
    pub fn copy(&self) -> &Database {
        &self.database
    }

    /// One unchanging view of the whole store, on a connection of its own.
    pub fn snapshot(&self) -> Result<Snapshot> {
        self.refresh()?;
        self.database.snapshot()
    }

    /// The live record with this id, where `viewer` sees it.
    pub fn get(&self, id: RecordId, viewer: &Viewer, now: Millis) -> Result<Option<Record>> {
        self.refresh()?;
        self.database.get(id, viewer, now)
    }
}

#[cfg(feature = "postgres")]
impl Records {
    /// Opens a node of a team: the folder is a copy of what the server has.
    ///
    /// # Errors
    /// As [`Records::open`]; a server that cannot be reached is no error where the folder has a copy.
    pub fn open_node(paths: &StorePaths, team: &TeamSettings) -> Result<Self> {
        let mut database = Database::open(paths)?;
        database.require_writing()?;
        let follower = Follower::of(&database, paths, team)?;
        let lineage = meta::text(&*database.reader()?, "lineage")?;
        if lineage.is_some_and(|lineage| lineage != database.lineage()) {
            // That of a new node was made just now, and indexes belong to it.
            database = Database::open(paths)?;
        }
        Ok(Records { database, follower: Some(follower) })
    }

    /// Brings the copy up to date, also where the server was away a moment ago. Does nothing where the records are in the
    /// folder.
    ///
    /// # Errors
    /// [`Server`](crate::Error::Server) if the server cannot be asked: the copy is as it was.
    pub fn follow(&self, progress: &dyn Progress) -> Result<()> {
        self.follower.as_ref().map_or(Ok(()), |follower| follower.pull(&self.database, PullReason::Tick, progress))
    }

    /// Compares the copy with the server, and makes it the same.
    ///
    /// # Errors
    /// [`Invalid`](crate::Error::Invalid) if this is no node; [`Server`](crate::Error::Server);
    /// [`Cancelled`](crate::Error::Cancelled).
    pub fn compare(&self, progress: &dyn Progress) -> Result<Compared> {
        let Some(follower) = &self.follower else {
            return Err(Error::invalid("store", "it is not a team store: its records are in its folder"));
        };
        follower.compare_now(&self.database, progress)
    }

    /// The id of the team store whose copy this is, as far as the copy knows; `None` where the records are in the folder.
    pub fn team_id(&self) -> Result<Option<String>> {
        if self.follower.is_none() {
            return Ok(None);
        }
        meta::text(&*self.database.reader()?, "store_id")
    }

    /// The id of the team store at an address.
    ///
    /// # Errors
    /// [`Server`](crate::Error::Server).
    pub fn team_id_at(address: &ServerAddress) -> Result<String> {
        let ask = || {
            let pool = ConnectionPool::new(address.clone());
            Ok(migrate::found(&mut *pool.lend()?)?.map(|found| found.store_id))
        };
        explained(address, ask())?.ok_or_else(|| Error::unreadable("its database has no team store"))
    }
}

impl Authority for Records {
    fn run(&self, work: &mut Work<'_>) -> Result<()> {
        match &self.follower {
            Some(follower) => follower.write(&self.database, work),
            None => self.database.run(work),
        }
    }

    /// Writes usage data, which stays in `memory.db`.
    fn run_unsynced(&self, timeout: Duration, work: &mut Work<'_>) -> Result<()> {
        self.database.run_unsynced(timeout, work)
    }
}
