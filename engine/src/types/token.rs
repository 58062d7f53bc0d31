//! The rights of a client of a team store, by the token that it sends.

use serde::{Deserialize, Serialize};

/// Whether a client may change anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rights {
    /// It only reads.
    Read,
    /// It reads and writes.
    Write,
}

impl Rights {
    /// As it is stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Rights::Read => "read",
            Rights::Write => "write",
        }
    }
}

/// The rights of a token.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TokenRights {
    /// The projects that it is bound to: a call is of the one that it names, else of the first. Empty is every project.
    pub projects: Vec<String>,
    /// The agent that it is bound to, if it is.
    pub agent: Option<String>,
    /// Whether its client may change anything.
    pub rights: Rights,
}

impl TokenRights {
    /// Whether it is bound to a project or an agent.
    pub fn is_bound(&self) -> bool {
        !self.projects.is_empty() || self.agent.is_some()
    }
}
