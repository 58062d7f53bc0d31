//! Administration of a team store.

// A build without the command parses its arguments all the same, to say what it lacks.
#![cfg_attr(not(feature = "team"), allow(dead_code))]

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// `team`.
#[derive(Debug, Args)]
pub struct TeamArgs {
    /// Subcommand
    #[command(subcommand)]
    pub command: TeamCommand,
}

/// The commands of `team`.
#[derive(Debug, Subcommand)]
pub enum TeamCommand {
    /// Create a team store in the database; an existing one stays unchanged
    Init,
    /// Upgrade the tables of the team store
    Migrate,
    /// Show server version, standbys, nodes and size
    Status,
    /// Compare the local replica with the server and repair differences
    #[command(alias = "compare")]
    Resync,
    /// Write a base backup of the local replica; new nodes can start from it
    #[command(alias = "image")]
    BaseBackup {
        /// Output folder [default: the setting `base_backup_folder`]
        #[arg(value_name = "DIR")]
        folder: Option<PathBuf>,
    },
    /// Manage database roles that are limited to some projects
    Member(Members),
    /// Rewrite the tables to erase purged rows from the server's files; blocks writes meanwhile
    Vacuum,
    /// Manage tokens of HTTP clients
    Token(TokenArgs),
}

/// `team member`.
#[derive(Debug, Args)]
pub struct Members {
    /// Subcommand
    #[command(subcommand)]
    pub command: MemberCommand,
}

/// The commands of `team member`.
#[derive(Debug, Subcommand)]
pub enum MemberCommand {
    /// Grant a database role access to these projects (replaces earlier grants)
    Add {
        /// Existing database role (CREATE ROLE name LOGIN)
        role: String,
        /// Projects of the role; '*' is all
        #[arg(required = true)]
        projects: Vec<String>,
    },
    /// List roles and their projects
    List,
    /// Revoke a role's access (keeps its memories)
    Remove {
        /// Database role
        role: String,
    },
}

/// `team token`.
#[derive(Debug, Args)]
pub struct TokenArgs {
    /// Subcommand
    #[command(subcommand)]
    pub command: TokenCommand,
}

/// The commands of `team token`.
#[derive(Debug, Subcommand)]
pub enum TokenCommand {
    /// Create a token and print it once; --project and --agent limit its access
    Add(TokenAdd),
    /// List tokens, without their secrets
    List,
    /// Revoke a token; nodes reject it within seconds
    Revoke {
        /// Token number; `list` shows it
        #[arg(allow_negative_numbers = true)]
        id: i64,
    },
}

/// `team token add`.
#[derive(Debug, Args)]
pub struct TokenAdd {
    /// Project that the client may use (repeatable); the first is the default of its calls
    #[arg(id = "project", long = "project", value_name = "NAME")]
    pub projects: Vec<String>,
    /// Validity in days
    #[arg(long, value_name = "NUMBER", default_value_t = 90, conflicts_with = "no_expiry")]
    pub days: u32,
    /// Keep the token valid until it is revoked
    #[arg(long)]
    pub no_expiry: bool,
    /// Reject all writes of the client
    #[arg(long)]
    pub read_only: bool,
    /// Owner or purpose, shown by `list`
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub label: String,
}
