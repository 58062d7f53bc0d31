//! Exchanges with the other machines of a person.

use clap::{ArgGroup, Args};

use super::values::id;

/// `sync-with`.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("instead").args(["list", "forget", "conflicts", "keep", "stdio"]))]
pub struct SyncWith {
    /// A folder, or ssh://HOST [default: all that are remembered]
    #[arg(value_name = "FOLDER|ssh://HOST", conflicts_with = "instead")]
    pub address: Option<String>,
    /// Show what would be sent and received, and change nothing
    #[arg(long, conflicts_with = "instead")]
    pub dry_run: bool,
    /// Only the memories of this project, and those of none
    #[arg(long, value_name = "NAME", requires = "address")]
    pub only_project: Option<String>,
    /// The command that runs memorist on the other machine [default: memorist]
    #[arg(long, value_name = "COMMAND", requires = "address")]
    pub program: Option<String>,
    /// Show the places that are remembered
    #[arg(long)]
    pub list: bool,
    /// Forget a place; the memories stay
    #[arg(long, value_name = "FOLDER|ssh://HOST")]
    pub forget: Option<String>,
    /// Show the memories that were changed on two machines, with both texts
    #[arg(long)]
    pub conflicts: bool,
    /// Leave a memory as it is: its conflict is settled
    #[arg(long, value_name = "ID", value_parser = id)]
    pub keep: Option<i64>,
    /// Answer another machine on stdin and stdout: it runs this over ssh
    #[arg(long, hide = true)]
    pub stdio: bool,
}
