//! Turns of other machines become part of the store, and what they lack becomes a turn.

use std::collections::BTreeSet;
use std::io::{self, BufReader, Write};
use std::path::Path;

use memorist_engine::progress::Progress;
use memorist_engine::types::{Carried, Exported, Filter, Stamps, UlidBytes};
use memorist_engine::{Engine, Error};
use serde::Serialize;

use super::known::Known;
use super::turn::{Done, IncomingTurn};
use crate::exit::Failure;
use crate::ops::{Importing, read_lines};
use crate::wire::{ChangedInBoth, Defaults, ExportLine, ImportResult};

/// A store that meets others.
pub struct Exchange<'a> {
    /// The store.
    pub engine: &'a Engine,
    /// Its folder, where turns are kept while they are read.
    pub folder: &'a Path,
    /// Its knowledge of the others.
    pub known: &'a Known,
    /// Whether nothing is to change: what would be sent and received is counted.
    pub dry_run: bool,
    /// Whether nobody is there to answer what ssh asks.
    pub quiet: bool,
    /// Receives what is done; may cancel.
    pub progress: &'a dyn Progress,
}

/// The result of an exchange with one place.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Met {
    /// The place.
    pub address: String,
    /// The machines that told something, by their names for people.
    pub names: BTreeSet<String>,
    pub here: Done,
    /// Changes there, where they are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub there: Option<Done>,
    /// Memories that were sent, with tombstones.
    pub sent: u64,
    /// Memories that were changed on both machines.
    pub conflicts: Vec<ChangedInBoth>,
    /// Notes for people.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl Met {
    /// Adds another exchange with the same place.
    pub fn add(&mut self, again: Met) {
        self.here.add(&again.here);
        if let Some(there) = &again.there {
            self.there.get_or_insert_default().add(there);
        }
        self.sent += again.sent;
        self.names.extend(again.names);
        self.conflicts.extend(again.conflicts);
        self.notes.extend(again.notes.into_iter().filter(|note| !self.notes.contains(note)).collect::<Vec<_>>());
        self.error = again.error;
    }
}

/// Makes a turn part of the store. What was saved stays saved if this fails; the same turn again does the rest.
pub fn merge(
    engine: &Engine,
    turn: IncomingTurn,
    filter: &Filter,
    progress: &dyn Progress,
    met: &mut Met,
) -> Result<Done, Failure> {
    let mut result = ImportResult::default();
    let who = turn.header.name.clone();
    let defaults = Defaults::default();
    let importing = Importing {
        engine,
        viewer: filter.viewer.clone(),
        keep_shared: false,
        restore_deleted: false,
        from_another_system: false,
        from_machine: true,
        defaults: &defaults,
        progress,
        saved: &|_| {},
    };
    let read = read_lines(&importing, BufReader::with_capacity(1 << 16, turn.lines), Path::new(&who), &mut result);
    let done = Done {
        created: result.created.unsigned_abs(),
        changed: result.replaced.unsigned_abs(),
        united: result.united.unsigned_abs(),
        deleted: result.deleted.unsigned_abs(),
        purged: result.purged,
        links: result.links.unsigned_abs(),
        refused: result.refused.unsigned_abs(),
    };
    met.here.add(&done);
    met.notes.extend(result.errors.iter().map(|refused| format!("rejected from {who}: {}", refused.error)));
    met.notes.extend(result.warnings);
    met.notes.dedup();
    // Also of what was united before a failure: the next exchange does not find it again.
    Known::note_conflicts(engine, &met.address, &result.conflicts)?;
    met.conflicts.extend(result.conflicts);
    met.names.insert(who);
    read.map(|()| done)
}

/// The memories whose state is another one there, or that are not there.
pub fn differing(here: &Stamps, there: &Stamps) -> BTreeSet<UlidBytes> {
    here.iter().filter(|(ulid, state)| there.get(*ulid) != Some(state)).map(|(ulid, _)| *ulid).collect()
}

/// Writes the lines of these memories. Returns how many memories and tombstones they are.
pub fn write_lines(
    engine: &Engine,
    wanted: &BTreeSet<UlidBytes>,
    filter: &Filter,
    embeddings: bool,
    progress: &dyn Progress,
    out: &mut dyn Write,
) -> Result<u64, Failure> {
    let (mut written, mut has_begun) = (0, false);
    let failure = |error: io::Error| Failure::file(Path::new("what is sent"), &error);
    let mut write = |line: &ExportLine| {
        serde_json::to_writer(&mut *out, line).map_err(|error| failure(error.into()))?;
        out.write_all(b"\n").map_err(failure)
    };
    engine.export_states(wanted, filter, embeddings, |carried| {
        if progress.cancelled() {
            return Err(Error::Cancelled.into());
        }
        if !has_begun && !matches!(carried, Carried::Exported(Exported::Model(_))) {
            write(&ExportLine::header(None))?;
        }
        has_begun = true;
        if matches!(carried, Carried::Tombstone(_) | Carried::Exported(Exported::Record(_))) {
            written += 1;
            progress.advance(1);
        }
        write(&carried.into())
    })?;
    Ok(written)
}
