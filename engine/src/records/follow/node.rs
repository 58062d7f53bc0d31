//! Who this node is, and how it is doing.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::Follower;
use super::question::State;
use crate::clock;
use crate::error::{Error, Result};
use crate::types::Millis;

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
    /// Why it cannot follow now.
    pub error: Option<String>,
    /// Pulls since it was opened, and how long they took together.
    pub pulls: u64,
    /// How long they took together.
    pub pulled: Duration,
    /// Those that failed.
    pub failed: u64,
}

/// What is known of the server.
#[derive(Debug, Default)]
pub(super) struct Health {
    /// When the last pull that succeeded began.
    last: Option<Instant>,
    as_of: Option<Millis>,
    /// Why the last pull failed.
    error: Option<String>,
    pulls: u64,
    pulled: Duration,
    failed: u64,
}

impl Health {
    pub(super) fn note(&mut self, started: Instant, outcome: &Result<()>) {
        self.pulls += 1;
        self.pulled += started.elapsed();
        match outcome {
            Ok(()) => {
                self.last = Some(started);
                if let Some(error) = self.error.take() {
                    tracing::info!("the team store answers again; before: {error}");
                }
            }
            Err(error) => {
                self.failed += 1;
                let error = error.to_string();
                if self.error.as_ref() != Some(&error) {
                    tracing::warn!("{error}");
                    self.error = Some(error);
                }
            }
        }
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

impl Follower {
    /// How this node is doing.
    pub(crate) fn state(&self) -> NodeState {
        let health = self.health.lock();
        NodeState {
            server: self.server.pool().address().to_string(),
            node: self.server.node().to_owned(),
            name: self.name.clone(),
            as_of: health.as_of,
            age: health.age(),
            error: health.error.clone(),
            pulls: health.pulls,
            pulled: health.pulled,
            failed: health.failed,
        }
    }

    pub(super) fn note_state(&self, state: &State) {
        self.health.lock().as_of = Some(state.now);
        self.ahead.store(state.now.saturating_sub(clock::now()), Ordering::Relaxed);
    }

    /// How far the clock of the server is ahead of this machine's, in milliseconds: what expires does so everywhere at once.
    pub(crate) fn ahead(&self) -> Millis {
        self.ahead.load(Ordering::Relaxed)
    }
}

/// The answer when a node follows nobody.
pub(crate) fn no_team() -> Error {
    Error::invalid("store", "it is not a team store: its records are in its folder")
}
