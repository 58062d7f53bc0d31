//! The health of a node of a team store.

use std::time::Duration;

use jiff::Timestamp;

use super::Millis;

/// How often a node asks its server in the background.
pub(crate) const FOLLOW_AGAIN: Duration = Duration::from_secs(2);
/// Clock difference from which on a warning is given.
const MOST_APART: Duration = Duration::from_secs(2 * 60);

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

impl NodeState {
    /// A warning, if the clock of this machine is wrong.
    pub fn clock_warning(&self) -> Option<String> {
        clock_warning(self.clock_ahead)
    }

    /// A warning, if answers may lack something that the server has.
    pub(crate) fn staleness(&self) -> Option<String> {
        if self.is_comparing {
            return Some("results may be incomplete: replication is in progress".into());
        }
        let error = self.error.as_ref()?;
        let as_of = self.as_of.and_then(|at| Timestamp::from_millisecond(at).ok());
        let as_of = as_of.map_or("the last time it could be reached".into(), |at| at.strftime("%FT%TZ").to_string());
        Some(format!("results are from {as_of}: {error}"))
    }
}

/// A warning, if the clock of the server is `ahead` by too much, or behind.
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
