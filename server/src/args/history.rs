//! Versions, rollback and permanent removal.

use clap::{ArgGroup, Args};

use super::values::id;

/// `history`.
#[derive(Debug, Args)]
pub struct History {
    /// Memory id
    #[arg(allow_negative_numbers = true, value_parser = id)]
    pub id: i64,
    /// Only versions before this one
    #[arg(long, value_name = "VERSION", allow_negative_numbers = true)]
    pub before: Option<i64>,
    /// Maximum number of versions [default: 20]
    #[arg(short = 'n', long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub limit: Option<i64>,
}

/// `rollback`.
#[derive(Debug, Args)]
pub struct Rollback {
    /// Memory id
    #[arg(allow_negative_numbers = true, value_parser = id)]
    pub id: i64,
    /// Version to restore; `history` lists them
    #[arg(id = "number", value_name = "VERSION", allow_negative_numbers = true)]
    pub version: i64,
    /// Reason, kept in the history
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
}

/// `undo`.
#[derive(Debug, Args)]
pub struct Undo {
    /// Memory id
    #[arg(allow_negative_numbers = true, value_parser = id)]
    pub id: i64,
}

/// `reembed`.
#[derive(Debug, Args)]
pub struct Reembed {
    /// Skip the confirmation before texts are sent to a paid provider
    #[arg(short, long)]
    pub yes: bool,
}

/// `purge`.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("what").args(["ids", "text"]).required(true))]
pub struct Purge {
    /// Memory ids
    #[arg(allow_negative_numbers = true, value_parser = id)]
    pub ids: Vec<i64>,
    /// Erase every memory with exactly this text in any version; `-` reads stdin
    #[arg(long, value_name = "TEXT")]
    pub text: Option<String>,
    /// Skip the confirmation
    #[arg(short, long)]
    pub yes: bool,
}
