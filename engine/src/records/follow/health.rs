//! How a node is doing.

use std::io::ErrorKind;
use std::time::{Duration, Instant};

use crate::error::Error;
use crate::types::Millis;

/// Clocks that are so far apart are warned of.
const MOST_APART: Duration = Duration::from_secs(2 * 60);

/// How a node is doing.
#[derive(Debug, Clone, Default)]
pub struct NodeState {
    /// The server and its database, without a password.
    pub server: String,
    /// The id of this node.
    pub node: String,
    /// What it is called.
    pub name: String,
    /// When it last knew all that the server had, by the clock of the server; `None` if it never did since it was opened.
    pub as_of: Option<Millis>,
    /// How long ago that was.
    pub age: Option<Duration>,
    /// Whether the copy is being compared with the server: parts of it may be older than others.
    pub is_comparing: bool,
    /// Why it cannot follow now.
    pub error: Option<String>,
    /// How far the clock of the server is ahead of this machine's, in milliseconds, where a question showed that it is.
    pub clock_ahead: Millis,
    /// Pulls since it was opened, and how long they took together.
    pub pulls: u64,
    /// How long they took together.
    pub pulled: Duration,
    /// Those that failed.
    pub failed: u64,
}

impl NodeState {
    /// What to say of a clock of this machine that is wrong.
    pub fn clock_warning(&self) -> Option<String> {
        clock_warning(self.clock_ahead)
    }
}

/// What to say where the clock of the server is so far ahead of this machine's.
pub(crate) fn clock_warning(ahead: Millis) -> Option<String> {
    let apart = Duration::from_millis(ahead.unsigned_abs());
    let how = if ahead > 0 { "behind" } else { "ahead of" };
    (apart >= MOST_APART).then(|| {
        let minutes = (apart.as_secs() + 30) / 60;
        format!(
            "the clock of this machine is {minutes} minutes {how} that of the server, by which memories expire; set it"
        )
    })
}

/// Why a node cannot follow. A full disk is its own, not that of the server.
fn said(error: &Error) -> String {
    let full = match error {
        Error::DiskFull { path } => path,
        Error::Io { path, source } if source.kind() == ErrorKind::StorageFull => path,
        other => return other.to_string(),
    };
    format!(
        "the disk of this machine is full; make room for {}: until then this copy gets nothing new, and what is saved is on the \
         server alone",
        full.display()
    )
}

/// What is known of the server.
#[derive(Debug, Default)]
pub(super) struct Health {
    /// When the last pull that succeeded began.
    last: Option<Instant>,
    pub(super) as_of: Option<Millis>,
    /// Whether the copy is being compared with the server: parts of it may be older than others.
    pub(super) is_comparing: bool,
    /// Why the last pull failed.
    pub(super) error: Option<String>,
    pub(super) pulls: u64,
    pub(super) pulled: Duration,
    pub(super) failed: u64,
}

impl Health {
    /// Notes a pull for which somebody waited so long.
    pub(super) fn note(&mut self, started: Instant, waited: Duration, error: Option<&Error>) {
        self.pulls += 1;
        self.pulled += waited;
        match error {
            None => {
                self.last = Some(started);
                if let Some(error) = self.error.take() {
                    tracing::info!("the team store answers again; before: {error}");
                }
            }
            Some(error) => {
                self.failed += 1;
                let error = said(error);
                if self.error.as_ref() != Some(&error) {
                    tracing::warn!("{error}");
                    self.error = Some(error);
                }
            }
        }
    }

    /// Notes that another process of this node followed the server so long ago.
    pub(super) fn note_other(&mut self, ago: Duration) {
        self.last = self.last.max(Instant::now().checked_sub(ago));
        self.error = None;
    }

    /// How old the copy may be.
    pub(super) fn age(&self) -> Option<Duration> {
        self.last.map(|last| last.elapsed())
    }

    /// Whether the last pull failed.
    pub(super) fn is_away(&self) -> bool {
        self.error.is_some()
    }
}
