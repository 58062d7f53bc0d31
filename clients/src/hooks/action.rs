//! An action of an agent.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// An action that an agent is about to do, or one that has failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// It changes this file.
    Edit(PathBuf),
    /// It runs this line in a shell.
    Run(String),
    /// A command failed with this text.
    Failed(String),
}
