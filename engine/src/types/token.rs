//! What a client of a team store may do, by the token that it sends.

use serde::{Deserialize, Serialize};

use super::Scope;

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

/// What a token permits.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TokenRights {
    /// The project and the agent that it is bound to. One of no project and no agent is bound to nothing.
    pub scope: Scope,
    /// Whether its client may change anything.
    pub rights: Rights,
}
