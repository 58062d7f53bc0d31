//! Sources, and reading them.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

/// `source`.
#[derive(Debug, Args)]
pub struct SourceArgs {
    /// Subcommand
    #[command(subcommand)]
    pub command: SourceCommand,
}

/// The commands of `source`.
#[derive(Debug, Subcommand)]
pub enum SourceCommand {
    /// Add a file or folder, and index it
    Add(SourceAdd),
    /// List sources and their indexed files
    List,
    /// Remove a source; keeps its memories without --delete-memories
    Remove(SourceRemove),
    /// Find agent transcripts and notes on this machine, and add a selection
    Discover(SourceDiscover),
}

/// Kind of a source.
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
    /// File or folder
    pub path: PathBuf,
    /// Source kind [default: detect]
    #[arg(long, value_name = "KIND")]
    pub kind: Option<SourceKindName>,
    /// Agent that wrote the transcripts [default: detect]
    #[arg(long, value_name = "AGENT")]
    pub format: Option<String>,
    /// Glob of note files below the folder, in .gitignore syntax (repeatable) [default: *.md *.markdown *.mdx *.txt
    /// *.org *.adoc *.asciidoc *.canvas *.pdf]
    #[arg(long = "glob", value_name = "GLOB")]
    pub globs: Vec<String>,
    /// Do not index now; `memorist sync` or a server does it later
    #[arg(long)]
    pub no_sync: bool,
    /// Skip embedding; `memorist backfill` or a server does it later
    #[arg(long)]
    pub no_embed: bool,
}

/// `source remove`.
#[derive(Debug, Args)]
pub struct SourceRemove {
    /// Source number (see `source list`) or path
    pub source: String,
    /// Also delete the memories of this source
    #[arg(long = "delete-memories", alias = "records")]
    pub records: bool,
}

/// `source discover`.
#[derive(Debug, Args)]
pub struct SourceDiscover {
    /// Add these without asking: "all", or numbers of the list ("1,3-5")
    #[arg(long, value_name = "NUMBERS")]
    pub add: Option<String>,
    /// Do not index now; `memorist sync` or a server does it later
    #[arg(long)]
    pub no_sync: bool,
    /// Skip embedding; `memorist backfill` or a server does it later
    #[arg(long)]
    pub no_embed: bool,
}

/// `sync`.
#[derive(Debug, Args)]
pub struct SyncFiles {
    /// Index every file again
    #[arg(long)]
    pub force: bool,
    /// Only this source: its number (see `source list`) or path
    #[arg(long, value_name = "SOURCE")]
    pub source: Option<String>,
    /// Skip embedding; `memorist backfill` or a server does it later
    #[arg(long)]
    pub no_embed: bool,
    /// Keep running, and index files as they change, until Ctrl-C
    #[arg(long, conflicts_with_all = ["force", "source"])]
    pub watch: bool,
    /// Only transcripts queued by hooks
    #[arg(long = "queued", alias = "noted", conflicts_with_all = ["source", "watch"])]
    pub noted: bool,
}
