//! Exchanges with the other machines of a person.

use clap::{ArgGroup, Args};

use super::values::id;

/// `sync-with`.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("instead").args(["list", "forget", "conflicts", "keep", "stdio"]))]
pub struct SyncWith {
    /// Folder, or ssh://HOST [default: all remembered places]
    #[arg(value_name = "FOLDER|ssh://HOST", conflicts_with = "instead")]
    pub address: Option<String>,
    /// Show what would be sent and received without changing anything
    #[arg(long, conflicts_with = "instead")]
    pub dry_run: bool,
    /// Only memories of this project, and memories without a project
    #[arg(long, value_name = "NAME", requires = "address")]
    pub only_project: Option<String>,
    /// Command that runs memorist on the other machine [default: memorist]
    #[arg(long, value_name = "COMMAND", requires = "address")]
    pub program: Option<String>,
    /// List the remembered places
    #[arg(long)]
    pub list: bool,
    /// Forget a place (keeps the memories)
    #[arg(long, value_name = "FOLDER|ssh://HOST")]
    pub forget: Option<String>,
    /// Show memories that were changed on two machines, with both texts
    #[arg(long)]
    pub conflicts: bool,
    /// Resolve the conflict of a memory by keeping its current text
    #[arg(long, value_name = "ID", value_parser = id)]
    pub keep: Option<i64>,
    /// Answer another machine on stdin and stdout: it runs this over ssh
    #[arg(long, hide = true)]
    pub stdio: bool,
}
