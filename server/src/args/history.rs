//! Versions, rollback and permanent removal.

use clap::{ArgGroup, Args};

use super::values::id;

/// `history`.
#[derive(Debug, Args)]
pub struct History {
    /// Its id
    #[arg(allow_negative_numbers = true, value_parser = id)]
    pub id: i64,
    /// Only versions before this one
    #[arg(long, value_name = "VERSION", allow_negative_numbers = true)]
    pub before: Option<i64>,
    /// Most versions [default: 20]
    #[arg(short = 'n', long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub limit: Option<i64>,
}

/// `rollback`.
#[derive(Debug, Args)]
pub struct Rollback {
    /// Its id
    #[arg(allow_negative_numbers = true, value_parser = id)]
    pub id: i64,
    /// The version to go back to, as `history` shows it
    #[arg(id = "number", value_name = "VERSION", allow_negative_numbers = true)]
    pub version: i64,
    /// Why; kept in the history
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
}

/// `undo`.
#[derive(Debug, Args)]
pub struct Undo {
    /// Its id
    #[arg(allow_negative_numbers = true, value_parser = id)]
    pub id: i64,
}

/// `reembed`.
#[derive(Debug, Args)]
pub struct Reembed {
    /// Do not ask before texts are sent to a provider that costs something
    #[arg(short, long)]
    pub yes: bool,
}

/// `purge`.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("what").args(["ids", "text"]).required(true))]
pub struct Purge {
    /// Their ids
    #[arg(allow_negative_numbers = true, value_parser = id)]
    pub ids: Vec<i64>,
    /// Everything that has this text instead, exactly, in any version; `-` reads it from stdin
    #[arg(long, value_name = "TEXT")]
    pub text: Option<String>,
    /// Do not ask
    #[arg(short, long)]
    pub yes: bool,
}
