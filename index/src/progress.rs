//! How far a merge has come, for those who wait for it and may stop it.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A part of a merge. They follow one another in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stage {
    /// The links of an older graph are taken over, round what was deleted. Left out where there is none.
    Mending,
    /// New vectors are linked into the graph.
    Linking,
    /// The segment is written.
    Writing,
    /// It is measured how hard a search has to try, on some of the vectors.
    Measuring,
}

/// How far some work has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// The part of the work that is being done.
    pub stage: Stage,
    /// Vectors that this stage is done with.
    pub done: usize,
    /// Vectors that it has to do in all.
    pub total: usize,
}

/// Reports progress to the caller, who may stop the work.
pub(crate) type OnProgress<'a> = &'a (dyn Fn(Progress) -> ControlFlow<()> + Sync);

/// The caller stopped the work.
#[derive(Debug)]
pub(crate) struct Cancelled;

/// A stage that several threads work on.
pub(crate) struct Work<'a> {
    on_progress: OnProgress<'a>,
    stage: Stage,
    total: usize,
    done: AtomicUsize,
    is_cancelled: AtomicBool,
}

impl<'a> Work<'a> {
    pub(crate) fn new(stage: Stage, total: usize, on_progress: OnProgress<'a>) -> Self {
        Self { on_progress, stage, total, done: AtomicUsize::new(0), is_cancelled: AtomicBool::new(false) }
    }

    /// Reports that more vectors are done.
    pub(crate) fn advance(&self, vectors: usize) {
        let done = self.done.fetch_add(vectors, Ordering::Relaxed) + vectors;
        let progress = Progress { stage: self.stage, done: done.min(self.total), total: self.total };
        if (self.on_progress)(progress).is_break() {
            self.is_cancelled.store(true, Ordering::Relaxed);
        }
    }

    /// Does a part of the work, of one vector, unless it was stopped.
    pub(crate) fn go_on<T>(&self, part: impl FnOnce() -> T) -> Option<T> {
        if self.is_cancelled() {
            return None;
        }
        let done = part();
        self.advance(1);
        Some(done)
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::Relaxed)
    }

    /// Whether the work may go on with what comes next.
    pub(crate) fn finish(self) -> Result<(), Cancelled> {
        if self.is_cancelled.into_inner() { Err(Cancelled) } else { Ok(()) }
    }
}
