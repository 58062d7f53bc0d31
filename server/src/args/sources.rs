//! Sources, and reading them.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

/// `source`.
#[derive(Debug, Args)]
pub struct SourceArgs {
    /// What to do
    #[command(subcommand)]
    pub command: SourceCommand,
}

/// The commands of `source`.
#[derive(Debug, Subcommand)]
pub enum SourceCommand {
    /// Add a file or a folder, and read it
    Add(SourceAdd),
    /// List the sources with what was read of them
    List,
    /// Remove a source; its memories stay, unless --records
    Remove(SourceRemove),
    /// Find agents' transcripts and notes on this machine, and add what is chosen
    Discover(SourceDiscover),
}

/// What a source has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SourceKindName {
    /// Markdown, text and org files
    Notes,
    /// An agent's transcripts
    Sessions,
}

/// `source add`.
#[derive(Debug, Args)]
pub struct SourceAdd {
    /// The file or folder
    pub path: PathBuf,
    /// What it has [default: found out]
    #[arg(long, value_name = "KIND")]
    pub kind: Option<SourceKindName>,
    /// Whose transcripts these are [default: found out]
    #[arg(long, value_name = "AGENT")]
    pub format: Option<String>,
    /// Which files below the folder are notes, as in .gitignore; repeat for more [default: *.md *.markdown *.mdx *.txt
    /// *.org *.adoc *.asciidoc *.canvas *.pdf]
    #[arg(long = "glob", value_name = "GLOB")]
    pub globs: Vec<String>,
    /// Only add it: `memorist sync`, or a server, reads it
    #[arg(long)]
    pub no_sync: bool,
    /// Only save the texts; they are found by words until they are embedded
    #[arg(long)]
    pub no_embed: bool,
}

/// `source remove`.
#[derive(Debug, Args)]
pub struct SourceRemove {
    /// Its number, as `source list` shows it, or its path
    pub source: String,
    /// Also delete the memories that were read from it
    #[arg(long)]
    pub records: bool,
}

/// `source discover`.
#[derive(Debug, Args)]
pub struct SourceDiscover {
    /// Add these without asking: "all", or numbers as they are listed ("1,3-5")
    #[arg(long, value_name = "NUMBERS")]
    pub add: Option<String>,
    /// Only add them: `memorist sync`, or a server, reads them
    #[arg(long)]
    pub no_sync: bool,
    /// Only save the texts; they are found by words until they are embedded
    #[arg(long)]
    pub no_embed: bool,
}

/// `sync`.
#[derive(Debug, Args)]
pub struct SyncFiles {
    /// Read every file again, as if it were new
    #[arg(long)]
    pub force: bool,
    /// Only this source: its number, as `source list` shows it, or its path
    #[arg(long, value_name = "SOURCE")]
    pub source: Option<String>,
    /// Only save the texts; they are found by words until they are embedded
    #[arg(long)]
    pub no_embed: bool,
    /// Continue whenever a file changes, until Ctrl-C
    #[arg(long, conflicts_with_all = ["force", "source"])]
    pub watch: bool,
    /// Only the sources with a transcript that a hook has named since
    #[arg(long, conflicts_with_all = ["source", "watch"])]
    pub noted: bool,
}
