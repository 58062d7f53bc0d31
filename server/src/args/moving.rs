//! Moving a store.

use std::path::PathBuf;

use clap::Args;

/// `move`.
#[derive(Debug, Args)]
pub struct Move {
    /// The store that has the memories: a folder, or the address of a team's. It stays as it is
    #[arg(value_name = "FROM")]
    pub from: PathBuf,
    /// The store that gets them. What it has already stays
    #[arg(value_name = "TO")]
    pub to: PathBuf,
}
