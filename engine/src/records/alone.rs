//! Takes the place of `follow` in a build without team stores: no store follows a server, so there is never a follower.

use super::purge::mark::PurgeMark;
use super::sqlite::store::Database;
use super::transaction::{Select, Tx, Work};
use crate::error::Result;
use crate::progress::Progress;
use crate::types::{Millis, NewSource, NodeState, RecordId};

/// A node of a team, of which there is none.
pub(crate) enum NoFollower {}

pub(crate) use NoFollower as Follower;

impl NoFollower {
    pub(crate) fn state(&self) -> NodeState {
        match *self {}
    }

    pub(crate) fn ahead(&self) -> Millis {
        match *self {}
    }

    pub(crate) fn has_project(&self, _: &Database, _: &str) -> Result<bool> {
        match *self {}
    }

    pub(crate) fn follows_some(&self, _: &Database) -> Result<bool> {
        match *self {}
    }

    pub(crate) fn is_member(_: &Database) -> Result<bool> {
        Ok(false)
    }

    pub(crate) fn claims(&self, _: &str) -> Result<bool> {
        match *self {}
    }

    pub(crate) fn follow_for_all(&self, _: &Database, _: &dyn Progress) -> Result<bool> {
        match *self {}
    }

    pub(crate) fn keep_up(&self, _: &Database) -> Result<()> {
        match *self {}
    }

    pub(crate) fn refresh(&self, _: &Database) -> Result<()> {
        match *self {}
    }

    pub(crate) fn read<T>(&self, _: &Database, _: impl FnMut() -> Result<T>) -> Result<T> {
        match *self {}
    }

    pub(crate) fn write(&self, _: &Database, _: &mut Work<'_>) -> Result<()> {
        match *self {}
    }

    pub(crate) fn purging<T>(&self, _: impl FnOnce() -> Result<T>) -> Result<T> {
        match *self {}
    }

    pub(crate) fn end_purge(&self, _: &Database, _: &PurgeMark) -> Result<()> {
        match *self {}
    }

    pub(crate) fn is_own_source(&self, _: &NewSource) -> bool {
        match *self {}
    }

    pub(crate) fn note_source(&self, _: &NewSource) -> Result<()> {
        match *self {}
    }

    pub(crate) fn forget_source(&self, _: &NewSource) -> Result<()> {
        match *self {}
    }
}

pub(crate) fn in_one_call<T>(call: impl FnOnce() -> T) -> T {
    call()
}

pub(crate) fn set_aside(_: &dyn Select) -> Result<Vec<String>> {
    Ok(Vec::new())
}

pub(crate) fn note_accesses(_: &dyn Tx, _: &[(RecordId, i64, Millis)]) -> Result<()> {
    Ok(())
}
