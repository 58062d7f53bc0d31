//! The server of a team store.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// `server`.
#[derive(Debug, Args)]
pub struct ServerArgs {
    /// What to do
    #[command(subcommand)]
    pub command: ServerCommand,
}

/// The commands of `server`.
#[derive(Debug, Subcommand)]
pub enum ServerCommand {
    /// Make a team store in the database; one that is there is left as it is
    Init,
    /// Bring the tables of the team store up to date
    Migrate,
    /// Show how the server stands: its version, standbys, nodes, size
    Status,
    /// Compare the copy of this machine with the server, and make it the same
    Compare,
    /// Leave an image of this machine's copy in a folder: a new node whose settings name the folder begins with it
    Image {
        /// The folder [default: `image` of the settings]
        #[arg(value_name = "DIR")]
        folder: Option<PathBuf>,
    },
    /// Roles of the database that see some projects alone: add, list, remove
    Member(Members),
    /// Rewrite the tables, so that no file of the server has what was purged; nobody can save meanwhile
    Vacuum,
    /// Tokens of HTTP clients: add, list, revoke
    Token(TokenArgs),
}

/// `server member`.
#[derive(Debug, Args)]
pub struct Members {
    /// What to do
    #[command(subcommand)]
    pub command: MemberCommand,
}

/// The commands of `server member`.
#[derive(Debug, Subcommand)]
pub enum MemberCommand {
    /// Let a role use the team store: it sees these projects and what is global, whatever it asks; replaces those it had
    Add {
        /// The role, which an administrator has made: CREATE ROLE name LOGIN
        role: String,
        /// Its projects; '*' is all
        #[arg(required = true)]
        projects: Vec<String>,
    },
    /// List the roles with their projects
    List,
    /// Take the team store from a role; what it has saved stays
    Remove {
        /// The role
        role: String,
    },
}

/// `server token`.
#[derive(Debug, Args)]
pub struct TokenArgs {
    /// What to do
    #[command(subcommand)]
    pub command: TokenCommand,
}

/// The commands of `server token`.
#[derive(Debug, Subcommand)]
pub enum TokenCommand {
    /// Make a token and show it, once; --project and --agent are all that its client gets to see beside global memories
    Add(TokenAdd),
    /// List the tokens, without the tokens themselves
    List,
    /// Remove a token: nodes refuse it within seconds
    Revoke {
        /// Its number, of `list`
        #[arg(allow_negative_numbers = true)]
        id: i64,
    },
}

/// `server token add`.
#[derive(Debug, Args)]
pub struct TokenAdd {
    /// A project that its client may name; give several times for several, of which the first is that of calls without one
    #[arg(id = "project", long = "project", value_name = "NAME")]
    pub projects: Vec<String>,
    /// For how many days it is valid
    #[arg(long, value_name = "NUMBER", default_value_t = 90, conflicts_with = "no_expiry")]
    pub days: u32,
    /// It is valid until it is revoked
    #[arg(long)]
    pub no_expiry: bool,
    /// Its client may not change anything
    #[arg(long)]
    pub read_only: bool,
    /// For whom it is, or what for
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub label: String,
}
