//! Files of one source, read together and saved together.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crossbeam_channel::{RecvTimeoutError, bounded};
use memorist_engine::progress::Progress;
use memorist_engine::types::{FileChanges, FileReading, FileStamp, Scope, SourceFile, SourceId};
use memorist_engine::{Engine, Error, Result};
use memorist_sources::foreign::{Deadline, Foreign, Root};
use rayon::prelude::*;

use crate::note::NoteReader;
use crate::session::SessionReader;

/// Files are read together up to this many bytes, and saved in one transaction.
const BATCH_BYTES: u64 = 8 << 20;
/// Maximum number of files that are read together.
pub const BATCH_FILES: usize = 128;
/// Least bytes of a part of a file that cannot be read at once.
const LEAST_PART: u64 = 1 << 20;
/// Interval between checks whether to stop, while files are read.
const ASKED: Duration = Duration::from_millis(50);

/// A file to be read.
pub struct Task<'a> {
    /// Its path below the folder of its source.
    pub path: PathBuf,
    /// Its stamp when it was found.
    pub stamp: FileStamp,
    /// Its entry in the store.
    pub known: Option<&'a SourceFile>,
}

/// Reads files of one source.
pub struct SourceReader<'a> {
    /// The store.
    pub engine: &'a Engine,
    pub source: SourceId,
    /// Its folder.
    pub root: &'a Root,
    /// The owner of its notes.
    pub scope: &'a Scope,
    pub notes: &'a NoteReader<'a>,
    /// Reads transcripts, if it has some.
    pub sessions: Option<SessionReader<'a>>,
    /// The threads of notes, by their paths.
    pub threads: HashMap<PathBuf, String>,
    /// Receives the progress, and may stop the work.
    pub progress: &'a dyn Progress,
}

impl SourceReader<'_> {
    /// Reads the files, and saves what is new. `count` is called with each reading, and whether it is the first of its file.
    ///
    /// # Errors
    /// [`Error::NotFound`] if the source is gone, [`Error::Cancelled`], and errors of the store.
    pub fn read_all(
        &self,
        tasks: &[Task<'_>],
        count: &mut dyn FnMut(&Task<'_>, &FileReading, bool),
    ) -> Result<FileChanges> {
        let mut all = FileChanges::default();
        while_wanted(self.progress, |stopped| -> Result<()> {
            batches(tasks).try_for_each(|batch| {
                self.read_batch(batch, stopped, count, &mut all)?;
                self.progress.advance(batch.len() as u64);
                Ok(())
            })
        })?;
        Ok(all)
    }

    fn read_batch(
        &self,
        batch: &[Task<'_>],
        stopped: &Arc<AtomicBool>,
        count: &mut dyn FnMut(&Task<'_>, &FileReading, bool),
        all: &mut FileChanges,
    ) -> Result<()> {
        let mut parts = 0;
        let mut left: Vec<(&Task<'_>, Option<SourceFile>)> = batch.iter().map(|task| (task, None)).collect();
        while !left.is_empty() {
            let readings: Vec<_> =
                left.par_iter().map(|(task, part)| self.read(task, part.as_ref(), stopped)).collect();
            if self.progress.cancelled() {
                return Err(Error::Cancelled);
            }
            let (readings, has_more): (Vec<_>, Vec<_>) = readings.into_iter().unzip();
            for ((task, _), reading) in left.iter().zip(&readings) {
                count(task, reading, parts == 0);
            }
            let Some(changes) = self.engine.save_readings(self.source, readings)? else {
                return Err(Error::NotFound(self.source.get().into()));
            };
            changes.into_iter().for_each(|changes| all.add(changes));
            parts += 1;
            // One that grows meanwhile has an end.
            let goes_on = |task: &Task<'_>| parts <= 1 + task.stamp.size / LEAST_PART;
            let more = left.iter().zip(has_more).filter(|((task, _), more)| *more && goes_on(task));
            let more = more.map(|((task, _), _)| {
                let saved = task.path.to_str().map(|path| self.engine.source_file(self.source, path)).transpose()?;
                Ok((*task, saved.flatten()))
            });
            left = more.filter(|part| !matches!(part, Ok((_, None)))).collect::<Result<_>>()?;
        }
        Ok(())
    }

    /// Reads a file, or the next part of it. Returns whether it has more.
    fn read(&self, task: &Task<'_>, part: Option<&SourceFile>, stopped: &Arc<AtomicBool>) -> (FileReading, bool) {
        let deadline = Deadline::of_file(stopped);
        let file = Foreign { root: self.root, path: &task.path, deadline: &deadline };
        match &self.sessions {
            Some(sessions) => sessions.read(file, task.stamp, part.or(task.known), part.is_some()),
            None => {
                let thread = self.threads.get(&task.path).cloned().unwrap_or_default();
                (self.notes.read(file, thread, task.stamp, task.known, self.scope), false)
            }
        }
    }
}

/// Runs `work`, whose flag becomes true soon after `progress` is cancelled.
fn while_wanted<T>(progress: &dyn Progress, work: impl FnOnce(&Arc<AtomicBool>) -> T) -> T {
    let stopped = Arc::new(AtomicBool::new(false));
    let (done, is_done) = bounded::<()>(0);
    thread::scope(|scope| {
        let asking = stopped.clone();
        let ask = move || {
            while is_done.recv_timeout(ASKED) == Err(RecvTimeoutError::Timeout) {
                asking.fetch_or(progress.cancelled(), Ordering::Relaxed);
            }
        };
        if let Err(error) = thread::Builder::new().name("stop".into()).spawn_scoped(scope, ask) {
            tracing::warn!("reading cannot be stopped within a file: {error}");
        }
        // Also if it panics, for the thread is waited for.
        let _done = done;
        work(&stopped)
    })
}

/// Tasks that are read together.
fn batches<'a, 'k>(tasks: &'a [Task<'k>]) -> impl Iterator<Item = &'a [Task<'k>]> {
    let mut rest = tasks;
    std::iter::from_fn(move || {
        let mut bytes = 0;
        let fits = |task: &&Task<'_>| {
            let is_first = bytes == 0;
            bytes += weight(task);
            is_first || bytes <= BATCH_BYTES
        };
        let count = rest.iter().take(BATCH_FILES).take_while(fits).count();
        let (batch, later) = rest.split_at(count);
        rest = later;
        (!batch.is_empty()).then_some(batch)
    })
}

/// The bytes that a file may have. For compressed files and databases it is unknown, so that they are read alone.
fn weight(task: &Task<'_>) -> u64 {
    let is_unknown = |end| ["zst", "db", "sqlite", "vscdb"].iter().any(|unknown| end == *unknown);
    if task.path.extension().is_some_and(is_unknown) { BATCH_BYTES } else { task.stamp.size.max(1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compressed_files_and_databases_are_read_one_at_a_time() {
        let task =
            |name: &str| Task { path: name.into(), stamp: FileStamp { size: 10, ..FileStamp::default() }, known: None };
        let tasks = ["a.md", "b.jsonl", "c.db", "d.sqlite", "e.vscdb", "f.jsonl.zst", "g.md"].map(task);
        let together: Vec<_> = batches(&tasks).map(<[_]>::len).collect();
        assert_eq!(together, [2, 1, 1, 1, 1, 1]);
    }
}
