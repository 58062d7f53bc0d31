//! Moving a store.

use std::path::PathBuf;

use clap::Args;

/// `move`.
#[derive(Debug, Args)]
pub struct Move {
    /// Store to copy from: a folder, or the address of a team store. Stays unchanged
    #[arg(value_name = "FROM")]
    pub from: PathBuf,
    /// Store to copy to; keeps its own memories
    #[arg(value_name = "TO")]
    pub to: PathBuf,
}
