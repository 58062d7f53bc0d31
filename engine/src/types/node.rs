//! The health of a node of a team store.

use std::time::Duration;

use super::Millis;

/// The health of a node.
#[derive(Debug, Clone, Default)]
pub struct NodeState {
    /// The server and its database, without a password.
    pub server: String,
    /// The id of this node.
    pub node: String,
    /// Its name.
    pub name: String,
    /// When it last had everything that the server had, by the clock of the server; `None` if it never did since it was
    /// opened.
    pub as_of: Option<Millis>,
    /// How long ago that was.
    pub age: Option<Duration>,
    /// Whether the copy is being compared with the server: parts of it may be older than others.
    pub is_comparing: bool,
    /// Why it cannot follow now.
    pub error: Option<String>,
    /// How far the clock of the server is ahead of this machine's, in milliseconds, where a question showed that it is.
    pub clock_ahead: Millis,
    /// Pulls since it was opened.
    pub pulls: u64,
    /// How long the pulls took together.
    pub pulled: Duration,
    /// Pulls that failed.
    pub failed: u64,
}
