//! The health of a node.

use std::io::ErrorKind;
use std::time::{Duration, Instant};

use crate::error::Error;
use crate::types::Millis;

/// Explains why a node cannot follow. A full disk is the node's, not the server's.
fn said(error: &Error) -> String {
    let full = match error {
        Error::DiskFull { path } => path,
        Error::Io { path, source } if source.kind() == ErrorKind::StorageFull => path,
        other => return other.to_string(),
    };
    format!(
        "the disk of this machine is full; free space for {}: until then the local replica is not updated, and new \
         memories are on the server only",
        full.display()
    )
}

/// Health of the replication from the server, as this process knows it.
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
    /// Notes a pull, and how long its caller waited.
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

    /// Notes that another process of this node pulled from the server this long ago.
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
