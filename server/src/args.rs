//! Command-line arguments. `settings.rs` and each command interpret them.
//!
//! | file | the arguments of the commands for |
//! |---|---|
//! | `moving.rs` | moving a store |
//! | `records.rs` | saving, finding, changing, deleting, listing |
//! | `graph.rs` | links, chains and digests |
//! | `history.rs` | versions, rollback and permanent removal |
//! | `sources.rs` | files that are read |
//! | `sync_with.rs` | exchanges with the other machines of a person |
//! | `team.rs` | administering a team store |
//! | `connect.rs` | agents that are connected |
//! | `hook.rs` | hooks of clients |
//! | `tidy.rs` | tidying up |
//! | `profile.rs` | none: the profiles of tools |
//! | `values.rs` | none: parsers of values |
//!
//! The commands for a store as a whole are below.

mod connect;
mod graph;
mod history;
mod hook;
mod moving;
mod profile;
mod records;
mod sources;
mod sync_with;
mod team;
mod tidy;
mod values;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::parser::ValueSource;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use memorist_engine::bench::BenchOptions;
use memorist_ingest::sources::moving::System;

use crate::{exit, version};

pub use connect::{ClientArgs, Connect, Disconnect};
pub use graph::{Chain, Digest, Link, Outdated};
pub use history::{History, Purge, Reembed, Rollback, Undo};
pub use hook::Hook;
pub use moving::Move;
pub use profile::ProfileName;
pub use records::{Add, Browse, Delete, Filters, Get, List, Recall, Search, SearchLog, Update};
pub use sources::{SourceAdd, SourceArgs, SourceCommand, SourceDiscover, SourceKindName, SourceRemove, SyncFiles};
pub use sync_with::SyncWith;
pub use team::TeamArgs;
#[cfg(feature = "team")]
pub use team::{MemberCommand, TeamCommand, TokenAdd, TokenCommand};
pub use tidy::Tidy;

const EXAMPLES: &str = "\
Examples:
  memorist demo                              see it work, in a temporary store
  memorist add \"User prefers dark mode\" --kind preference --tag ui
  memorist search which theme does the user like
  memorist link 12 supersedes 7              memory 12 replaces memory 7
  memorist digest --project atlas            summarize a project as Markdown
  memorist import memories.jsonl             one JSON object per line: the parameters of memory_add
  memorist connect                           configure your clients: shows each change, then asks
  memorist serve                             an MCP server on stdin and stdout
  memorist serve --http 127.0.0.1:8765       the same at http://127.0.0.1:8765/mcp

Arguments override the environment, which overrides memorist.toml, which overrides the defaults.
RUST_LOG sets the log filter of stderr.";

const ADD: &str = "\
Defaults: kind fact, source manual, confidence 1, importance 5.

A body has the structured fields of a kind, and may replace the text:
  memorist add --kind contact --body '{\"name\": \"Ana Torres\", \"email\": \"ana@example.org\", \"role\": \"designer\"}'
  memorist add --kind decision --body '{\"title\": \"JWT\", \"description\": \"Tokens expire after 15 minutes\"}'";

const LIST: &str = "\
Prints complete texts, also with --json. The tool memory_list differs: it lists the newest memories first, and shortens \
long texts.";

const REEMBED: &str = "\
Change the store to another embedding model. Embeds every memory again, with the model that --model names or the \
provider of [embedding] in memorist.toml.

  --model multilingual   multilingual-e5-small, for about a hundred languages; it is fetched once (91 MB)
  --model default        all-MiniLM-L6-v2, for English
  --model DIR            a folder with model.onnx and tokenizer.json

Before it sends texts to a provider, it prints their number and the cost at the list price, and asks. Without a \
terminal it needs --yes.

Searches use the old embeddings until the last new one is done, then the new ones. Ctrl-C loses nothing: the same \
command continues, and `memorist doctor` shows its progress. Until then the store contains both, so memory.db grows \
(about 1.5 KB per memory for 384 dimensions).

Restart running servers afterwards. Processes without a `model` setting then use a named model for this store. A model \
in a folder must be set for every process that uses this store:

    model = \"DIR\"        in memorist.toml, or MEMORIST_MODEL=DIR

A process with another model falls back to keyword search, with a warning.";

const BROWSE: &str = "\
Browse and search memories in a terminal UI: search as you type, read, follow links, delete. F1 shows the keys.

It shows the memories of --project and --agent that pass the filters below, as `memorist list` and `memorist search` do. \
Keyword search starts at the first letter, hybrid search once the model is loaded. Views and searches here are not \
counted as accesses. Deleting asks first.";

const EXPLORE: &str = "\
Open the web UI: browse memories, see why a search ranks its hits as it does, and correct mistakes.

This program serves the page at 127.0.0.1, until Ctrl-C or until no page has been open for 30 minutes. It prints and \
opens an address that admits one browser, once, within two minutes. Enter prints a new one.

It shows all projects and agents, or those that --project and --agent name. Views and searches are not counted as \
accesses or logged.

From another machine, through a tunnel with the same port at both ends:

    ssh -L 7070:127.0.0.1:7070 HOST memorist explore --no-open --port 7070";

const CONNECT: &str = "\
Configure the clients of this machine to use memorist. Registers its server and, where the client supports them, its \
hooks. A client without hooks gets a short instruction in its instruction file, if it has one.

    memorist connect                    all installed clients
    memorist connect codex cursor       these
    memorist connect --dry-run          only show the changes

It shows every change, and asks; without a terminal it needs --yes. Comments, order and indentation stay. If it cannot \
parse a file, or another entry there is called memorist, it leaves the file unchanged and says what to do. A second run \
changes nothing. The command that clients run gets --store, --config and --profile.

`memorist disconnect` restores the files byte for byte. If others have changed them since, it removes its own entries. \
`memorist doctor` shows the status of each client.";

const LINK: &str = "\
Link two memories. The command reads as a sentence:

    memorist link 12 supersedes 7       12 replaces 7; searches omit 7 from then on
    memorist link 3 caused 12           3 is the cause of 12
    memorist link 15 implements 12      15 is an implementation of 12
    memorist link 9 contradicts 12      9 says the opposite of 12
    memorist link 4 related 12          they are related

`memorist chain` follows links from memory to memory, and `memorist get` shows the links of one memory.";

const TIDY: &str = "\
Report copies (memories with the same text), near-duplicates, contradicting memories, and open tasks that are 60 days \
overdue. Changes nothing without --apply or --undo.

    memorist tidy                            print the report
    memorist tidy --apply                    hide copies from searches: one of each group stays
    memorist tidy --out plan.json            write a plan; set \"apply\" to true where you agree
    memorist tidy --apply plan.json          apply it
    memorist tidy --undo                     undo the last run completely

A plan has proposals. Each has \"do\": supersede (the memory \"keep\" stays in searches, with the text \"content\" if you give one), \
link (the memories belong together, and are not proposed again), close (a task is dropped) or ask (nothing, until you change it).

Nothing is deleted: a superseded memory keeps its id, links and versions. A memory that changed after the plan was made is \
skipped and named. Memories with metadata are skipped, too: a program maintains them.";

const MOVE: &str = "\
Copy all memories of a store to another, with versions, links and embeddings:

    memorist move ~/.local/share/memorist postgres://ana@db.example/team
    memorist move postgres://ana@db.example/team FOLDER

It exports the first store, imports into the second, and compares both. The first store stays unchanged. After an \
interruption run it again: it copies what is missing. Deleted and expired memories, sources and the search log are not copied.";

const SYNC_WITH: &str = "\
Keep the same memories on several of your machines. Changes go both ways, and the place is remembered:

    memorist sync-with ssh://laptop        a machine that ssh reaches, with memorist installed
    memorist sync-with ~/Dropbox/memory    a folder that Syncthing, Dropbox, git or a stick carries
    memorist sync-with                     all remembered places

No saved text is lost. If a memory was changed on two machines, the newer text wins and the other becomes an earlier \
version:

    memorist sync-with --conflicts         shows both
    memorist rollback 12 3                 restores the other text: version 3 of memory 12
    memorist sync-with --keep 12           leaves memory 12 as it is

A memory that you delete on one machine is deleted on the others, unless it was changed there later. A purge applies to all \
machines. Nothing is deleted because it is missing somewhere. Memories from files stay on the machine of the files.

When a client starts, its hook runs this command if the last exchange is more than 10 minutes old \
([sync_with] every_minutes in memorist.toml; 0 is never).";

const PURGE: &str = "\
Erase memories with their versions, links and accesses, so that no file of the store contains the bytes. With --text, \
erase every memory that contains the text in any version. The match is case-sensitive and may be a part of a word.

    memorist purge 12 15
    memorist purge --text -      reads the text from stdin, which keeps it out of the shell history

Use `memorist delete` to only hide a memory. A purge cannot be undone, so it asks; without a terminal it needs --yes.

It removes the memory's lines from the daily log, too. It reports what it leaves: names of agents, projects, sources and \
tokens that are in use, days of the log with a line that a person wrote, and foreign files in the store's folder (backups, \
exports, settings).";

const BENCH: &str = "\
Benchmark vector search on this store. Uses some of its vectors as queries, and compares the results with an exact scan. \
Recall is the share of the true neighbors that the search returns.

A store's own vectors are easier queries than real questions, which lie farther from their answers. The levels therefore \
tend to exceed their target recall here.

The curve shows a series of `ef` values (candidates that a graph search keeps), and marks the levels of `quality` and \
your own setting. To change the setting, write one of these below [search] in memorist.toml:

    quality = \"fast\"       or \"balanced\" or \"high\"
    quality = 0.98         the target recall, 0.5 to 1.0
    ef = 200               the number of candidates itself

With --quality FILE it measures keyword, vector and hybrid search against your own queries. \
Each line of the file has a query and the ids or ULIDs of the memories that answer it:

    {\"query\": \"where is the amber key\", \"answers\": [12, \"01J00000000000000000000000\"]}

It prints recall@1, 5 and 10, MRR and nDCG@10 with 95 % intervals, and the five worst queries with their first hit. \
Without a model it measures keyword search only.

It writes nothing to the store. Other processes may use the store meanwhile, which makes the measured times longer. \
Without --quality it needs no model. The exact scan of a million vectors takes half a minute or more.";

const HOOK: &str = "\
It always exits with 0, within 300 ms, and prints either nothing or an answer in the client's format. \
Problems are a line on stderr. MEMORIST_HOOKS=off or [hooks] in memorist.toml turns it off.";

const MAN: &str = "\
Packages already contain them. After an installation from source:

    memorist man ~/.local/share/man/man1";

/// A memory store and hybrid search engine for AI agents, on your own machine.
#[derive(Debug, Parser)]
#[command(name = "memorist", version, after_help = exit::HELP, max_term_width = 100, propagate_version = true)]
#[command(arg_required_else_help = true)]
#[command(after_long_help = format!("{EXAMPLES}\n\n{}", exit::HELP))]
pub struct Cli {
    /// The options of every command.
    #[command(flatten)]
    pub global: Global,
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

impl Cli {
    /// Parses the arguments and the environment. An empty project or agent means none, whatever the settings say; an
    /// empty variable counts as not set.
    pub fn read(words: impl IntoIterator<Item = OsString>, version: &'static str) -> Result<Self, clap::Error> {
        let words: Vec<_> = words.into_iter().collect();
        let is_verbose = words.iter().any(|word| matches!(word.to_str(), Some("-v" | "-vV" | "-Vv" | "--verbose")));
        // The text lives as long as the process.
        let version = if is_verbose { &*version::detailed(version).leak() } else { version };
        let mut matches = Cli::command().version(version).try_get_matches_from(words)?;
        let is_typed = |name: &&str| matches.value_source(name) == Some(ValueSource::CommandLine);
        let typed: Vec<_> = ["store", "cache", "model", "project", "agent"].into_iter().filter(is_typed).collect();
        let mut cli = Cli::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut Cli::command()))?;
        for (name, value) in [("project", &mut cli.global.project), ("agent", &mut cli.global.agent)] {
            value.take_if(|value| value.is_empty() && !typed.contains(&name));
        }
        cli.global.typed = typed;
        Ok(cli)
    }
}

/// Options of every command.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Global options")]
pub struct Global {
    /// Folder of the store, or the address of a team's: postgres://USER@HOST/DATABASE [default: the platform's data folder]
    #[arg(long, value_name = "DIR", env = "MEMORIST_STORE", global = true, value_parser = may_be_empty())]
    #[arg(hide_env_values = true)]
    pub store: Option<PathBuf>,
    /// Settings [default: memorist.toml in the platform's configuration folder]
    #[arg(long, value_name = "FILE", env = "MEMORIST_CONFIG", global = true, value_parser = may_be_empty())]
    pub config: Option<PathBuf>,
    /// Folder of the embedding model and its library [default: the platform's cache folder]
    #[arg(long, value_name = "DIR", env = "MEMORIST_CACHE", global = true, hide_short_help = true)]
    #[arg(value_parser = may_be_empty())]
    pub cache: Option<PathBuf>,
    /// "multilingual", "default" (for English), a folder with model.onnx and tokenizer.json, or "none" for keyword search only [default: the store's model]
    #[arg(long, value_name = "MODEL", env = "MEMORIST_MODEL", global = true, hide_short_help = true)]
    pub model: Option<String>,
    /// Project scope: its memories and global ones are visible, and new ones get it; "*" is all [default: the git work tree of the working folder]
    #[arg(long, value_name = "NAME", env = "MEMORIST_PROJECT", global = true)]
    pub project: Option<String>,
    /// Use no project, overriding the settings and the working folder; same as --project ""
    #[arg(long, global = true)]
    pub no_project: bool,
    /// Agent scope: its memories and those without an agent are visible, and new ones get it; "*" is all, "" is no agent
    #[arg(long, value_name = "NAME", env = "MEMORIST_AGENT", global = true)]
    pub agent: Option<String>,
    /// Print one JSON document: the structured result of the tool of the same name (except `export` to stdout and
    /// `completions`, which print their output, and `list`, which has complete texts)
    #[arg(long, global = true)]
    pub json: bool,
    /// Omit progress and notes on stderr
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Log what happens on stderr; repeat for more
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
    /// Names of the options that came from the command line, not from the environment.
    #[arg(skip)]
    pub typed: Vec<&'static str>,
}

/// An empty variable counts as not set: the settings skip it.
fn may_be_empty() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().map(PathBuf::from)
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Download and check the embedding model; all other commands then work offline
    Setup(Setup),
    /// Save a memory
    #[command(after_help = ADD)]
    Add(Add),
    /// Search memories by meaning and keyword
    Search(Search),
    /// Browse and search memories in a terminal UI
    #[command(long_about = BROWSE, visible_alias = "tui")]
    Browse(Browse),
    /// Open the web UI: browse, inspect and edit memories
    #[command(long_about = EXPLORE, visible_alias = "ui")]
    Explore(Explore),
    /// Show a memory with its complete text and links
    #[command(visible_alias = "show")]
    Get(Get),
    /// Update a memory (keeps the previous version)
    #[command(visible_alias = "edit")]
    Update(Update),
    /// Delete memories
    #[command(visible_aliases = ["rm", "forget"])]
    Delete(Delete),
    /// List memories by id, oldest first
    #[command(after_help = LIST)]
    #[command(visible_alias = "ls")]
    List(List),
    /// Link two memories: `memorist link 12 supersedes 7`
    #[command(long_about = LINK)]
    Link(Link),
    /// Remove a link
    Unlink(Link),
    /// Show the memories linked to a memory, as a tree
    Chain(Chain),
    /// List the superseded memories
    Outdated(Outdated),
    /// Summarize a project as Markdown
    #[command(after_help = "With a project, only its own memories count; otherwise, all do.")]
    Digest(Digest),
    /// List the versions of a memory and the reason for each change
    History(History),
    /// Restore an earlier version of a memory
    Rollback(Rollback),
    /// Undo the last update, delete, expiry or link of a memory
    Undo(Undo),
    /// Report copies, near-duplicates, contradictions and overdue tasks, and clean them up
    #[command(long_about = TIDY)]
    Tidy(Tidy),
    /// Erase memories, or every occurrence of a text, from all store files
    #[command(long_about = PURGE)]
    Purge(Purge),
    /// Show statistics of the store
    Stats,
    /// Preview the memories that automatic recall injects for a message
    Recall(Recall),
    /// List logged searches, newest first
    #[command(alias = "searches")]
    SearchLog(SearchLog),
    /// Manage indexed sources: notes and agent transcripts
    Source(SourceArgs),
    /// Index new and changed source files
    Sync(SyncFiles),
    /// Sync memories between your machines, over ssh or a shared folder
    #[command(long_about = SYNC_WITH)]
    SyncWith(SyncWith),
    /// Import memories from JSONL or another memory system (safe to re-run)
    Import(Import),
    /// Export memories, versions and links as JSONL
    Export(Export),
    /// Copy all memories to another store (folder or PostgreSQL)
    #[command(long_about = MOVE)]
    Move(Move),
    /// Back up the store to one file (online)
    Backup(Backup),
    /// Create a store from a backup file
    Restore(Restore),
    /// Rebuild the vector and keyword indexes (reuses stored embeddings)
    Rebuild,
    /// Embed pending memories (servers do this in the background)
    Backfill(Backfill),
    /// Switch the store to another embedding model: `memorist reembed --model multilingual`
    #[command(long_about = REEMBED)]
    Reembed(Reembed),
    /// Check the store for corruption; --repair fixes it
    Doctor(Doctor),
    /// Benchmark vector search on this store: recall and latency
    #[command(long_about = BENCH)]
    Bench(Bench),
    /// Configure installed clients to use memorist
    #[command(long_about = CONNECT)]
    Connect(Connect),
    /// Remove everything `connect` wrote
    Disconnect(Disconnect),
    /// Administer a team store on PostgreSQL
    #[command(alias = "server")]
    Team(TeamArgs),
    /// Run the MCP server (stdio or HTTP)
    Serve(Serve),
    /// Handle a client hook (run by the client, JSON on stdin)
    #[command(after_help = HOOK)]
    Hook(Hook),
    /// Try memorist on a temporary store of 2,000 sample memories
    Demo(Demo),
    /// Print a shell completion script
    Completions(Completions),
    /// Write the man pages of all commands to a folder
    #[command(after_help = MAN, alias = "manual")]
    Man(Man),
}

impl Command {
    /// Whether the command uses the project of its working folder if none is named. Not the commands that copy, purge
    /// or maintain a store: these are about the whole store wherever they run. Nor a server over HTTP, whose folder
    /// says nothing about its clients, and profiles whose originals have one memory for all projects, or for each workspace.
    pub fn uses_folder_project(&self, profile: ProfileName) -> bool {
        match self {
            Command::Add(_)
            | Command::Search(_)
            | Command::Browse(_)
            | Command::Get(_)
            | Command::Update(_)
            | Command::Delete(_)
            | Command::List(_)
            | Command::Link(_)
            | Command::Unlink(_)
            | Command::Chain(_)
            | Command::Outdated(_)
            | Command::Digest(_)
            | Command::History(_)
            | Command::Rollback(_)
            | Command::Undo(_)
            | Command::Tidy(_)
            | Command::Stats
            | Command::Recall(_)
            | Command::SearchLog(_) => true,
            Command::Serve(serve) => {
                let profile = serve.profile().unwrap_or(profile);
                let has_own = matches!(profile, ProfileName::Mudpuppy | ProfileName::Memorizer | ProfileName::Gimli);
                serve.http.is_none() && !has_own
            }
            Command::Purge(_)
            | Command::Source(_)
            | Command::Sync(_)
            | Command::SyncWith(_)
            | Command::Import(_)
            | Command::Export(_)
            | Command::Move(_)
            | Command::Backup(_)
            | Command::Restore(_)
            | Command::Rebuild
            | Command::Backfill(_)
            | Command::Reembed(_)
            | Command::Doctor(_)
            | Command::Bench(_)
            | Command::Connect(_)
            | Command::Disconnect(_)
            | Command::Team(_)
            | Command::Setup(_)
            | Command::Hook(_)
            | Command::Demo(_)
            | Command::Explore(_)
            | Command::Completions(_)
            | Command::Man(_) => false,
        }
    }
}

/// `backfill`.
#[derive(Debug, Args)]
pub struct Backfill {
    /// Maximum number of texts [default: all]
    #[arg(short = 'n', long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..))]
    pub limit: Option<u64>,
    /// Submit batch jobs without waiting for them
    #[arg(long)]
    pub no_wait: bool,
    /// Cancel the batch jobs; finished embeddings are kept
    #[arg(long, conflicts_with_all = ["limit", "no_wait"])]
    pub cancel: bool,
}

/// `import`.
#[derive(Debug, Args)]
pub struct Import {
    /// JSONL file; `-` reads stdin. With --from, the store of that system: a file or its folder
    #[arg(value_name = "PATH")]
    pub file: PathBuf,
    /// Memory system that wrote the store; memories without a project or agent get --project and --agent
    #[arg(long, value_name = "SYSTEM", value_parser = values::systems())]
    pub from: Option<System>,
    /// Skip embedding; `memorist backfill` or a server does it later
    #[arg(long)]
    pub no_embed: bool,
    /// Restore memories that were deleted or purged here after the export
    #[arg(long, conflicts_with = "from")]
    pub restore_deleted: bool,
}

/// `export`.
#[derive(Debug, Args)]
pub struct Export {
    /// File to write, atomically; `-` writes JSONL to stdout, also with --json
    #[arg(default_value = "-")]
    pub file: PathBuf,
    /// Include embeddings, so that an import need not embed; much larger
    #[arg(long = "with-embeddings", alias = "embeddings")]
    pub embeddings: bool,
    #[command(flatten)]
    pub filters: Filters,
}

/// `backup`.
#[derive(Debug, Args)]
pub struct Backup {
    /// File to write, atomically; an existing file is replaced
    pub file: PathBuf,
}

/// `restore`.
#[derive(Debug, Args)]
pub struct Restore {
    /// Backup file. The store (--store) must not exist yet
    pub file: PathBuf,
}

/// `setup`.
#[derive(Debug, Args)]
pub struct Setup {
    /// Also download the reranker: a second model, for English, that reorders the first hits of a search
    #[arg(long)]
    pub reranker: bool,
}

/// `doctor`.
#[derive(Debug, Args)]
pub struct Doctor {
    /// Rebuild corrupt indexes; salvage a damaged memory.db into a new one, and keep the old one
    #[arg(long)]
    pub repair: bool,
}

/// Options of `bench` that only the vector benchmark takes.
const OF_VECTORS: [&str; 4] = ["queries", "limit", "seed", "svg"];

/// `bench`.
#[derive(Debug, Args)]
pub struct Bench {
    /// Number of the store's vectors to use as queries
    #[arg(long, value_name = "NUMBER", default_value_t = BenchOptions::default().queries, allow_negative_numbers = true)]
    pub queries: usize,
    /// Number of nearest neighbors to find for each
    #[arg(short = 'n', long, value_name = "NUMBER", default_value_t = BenchOptions::default().limit)]
    #[arg(allow_negative_numbers = true)]
    pub limit: usize,
    /// Random seed that selects the query vectors
    #[arg(long, value_name = "NUMBER", default_value_t = BenchOptions::default().seed)]
    pub seed: u64,
    /// Also write the plot to this SVG file; an existing file is replaced
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Measure search quality instead: FILE has queries with their answers, one JSON object per line
    #[arg(long, value_name = "FILE", group = "searches", conflicts_with_all = OF_VECTORS)]
    pub quality: Option<PathBuf>,
    /// Measure search quality on LoCoMo instead: FILE is its locomo10.json
    #[arg(long, value_name = "FILE", group = "searches", conflicts_with_all = OF_VECTORS)]
    pub locomo: Option<PathBuf>,
    /// Measure search quality on LongMemEval instead: FILE is its longmemeval_s_cleaned.json; takes hours
    #[arg(long, value_name = "FILE", group = "searches", conflicts_with_all = OF_VECTORS)]
    pub longmemeval: Option<PathBuf>,
    /// Measure search quality on BEAM instead: FOLDER has its chats, for example chats/100K
    #[arg(long, value_name = "FOLDER", group = "searches", conflicts_with_all = OF_VECTORS)]
    pub beam: Option<PathBuf>,
}

/// `serve`.
#[derive(Debug, Args)]
pub struct Serve {
    /// Serve HTTP at this address (PORT or HOST:PORT) under /mcp, instead of stdin and stdout
    #[arg(long, value_name = "ADDR")]
    pub http: Option<String>,
    /// Bearer token of HTTP clients, at least 16 characters. Visible to every user of this machine (`ps`): prefer
    /// --token-file or the variable MEMORIST_TOKEN [default: a random token, kept in the store's folder]
    #[arg(long, value_name = "TOKEN", requires = "http", conflicts_with_all = ["token_file", "no_token"])]
    pub token: Option<String>,
    /// File with the token; must not be readable by others
    #[arg(long, value_name = "FILE", requires = "http", conflicts_with = "no_token")]
    pub token_file: Option<PathBuf>,
    /// Require no token, only on loopback: any program of this machine can read and change the whole store
    #[arg(long, requires = "http")]
    pub no_token: bool,
    /// Additional host name of the HTTP server (repeatable)
    #[arg(long = "allow-host", value_name = "HOST", requires = "http")]
    pub allow_hosts: Vec<String>,
    /// Tool set: core, full, or that of another memory system [default: core]
    #[arg(long, value_name = "NAME", env = "MEMORIST_PROFILE", value_parser = profile::profiles())]
    profile: Option<String>,
    /// Isolate clients: read this project, agent and global memories; write only this project's and agent's
    #[arg(long, alias = "only")]
    pub isolate: bool,
    /// Gimli configuration for its profile: JSON with `memorySearch`
    #[arg(long, value_name = "FILE")]
    pub memory_search: Option<PathBuf>,
}

impl Serve {
    /// The requested profile. An empty variable counts as not set.
    pub fn profile(&self) -> Option<ProfileName> {
        self.profile.as_deref().and_then(|name| ProfileName::from_str(name, false).ok())
    }
}

/// `explore`.
#[derive(Debug, Args)]
pub struct Explore {
    /// Port on 127.0.0.1 [default: a free port]
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    pub port: u16,
    /// Print the address without opening a browser
    #[arg(long)]
    pub no_open: bool,
    /// Disable all changes in the web UI
    #[arg(long)]
    pub read_only: bool,
}

/// `demo`.
#[derive(Debug, Args)]
pub struct Demo {
    /// Create the store in this folder and keep it
    #[arg(long, value_name = "DIR")]
    pub keep: Option<PathBuf>,
    /// Open the store in the web UI afterwards, as `memorist explore` does
    #[arg(long)]
    pub explore: bool,
}

/// `completions`.
#[derive(Debug, Args)]
pub struct Completions {
    /// Shell
    pub shell: clap_complete::Shell,
}

/// `man`.
#[derive(Debug, Args)]
pub struct Man {
    /// Output folder; created if missing
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Importance;
    use memorist_engine::types::{Direction, Kind, LinkKind};

    fn parse(line: &str) -> Cli {
        Cli::try_parse_from(line.split_whitespace()).unwrap_or_else(|error| panic!("{line}: {error}"))
    }

    #[test]
    fn the_definitions_are_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn global_options_may_come_after_the_command() {
        let cli = parse("memorist stats --json --store /x -vv");
        assert!(cli.global.json && cli.global.verbose == 2);
        assert_eq!(cli.global.store, Some(PathBuf::from("/x")));
    }

    #[test]
    fn the_words_of_a_query_need_no_quotes() {
        let Command::Search(search) = parse("memorist search dark mode -n 3 -k fact --kind task").command else {
            panic!("not a search")
        };
        assert_eq!(search.query, ["dark", "mode"]);
        assert_eq!((search.limit, search.filters.kinds), (Some(3), vec![Kind::Fact, Kind::Task]));
    }

    #[test]
    fn numbers_below_zero_reach_the_engine_that_refuses_them() {
        let Command::Get(get) = parse("memorist get -5").command else { panic!("not a get") };
        assert_eq!(get.id, -5);
        let Command::Add(add) = parse("memorist add x --importance -1").command else { panic!("not an add") };
        assert_eq!(add.fields.importance, Some(Importance(-1)));
    }

    #[test]
    fn an_unknown_kind_is_refused_with_the_known_ones() {
        let error = Cli::try_parse_from(["memorist", "add", "x", "--kind", "rumour"]).unwrap_err().to_string();
        assert!(error.contains("rumour") && error.contains("preference"), "{error}");
    }

    #[test]
    fn a_link_reads_as_a_sentence() {
        let Command::Link(link) = parse("memorist link 12 supersedes 7").command else { panic!("not a link") };
        assert_eq!((link.from, link.kind, link.to), (12, LinkKind::Supersedes, 7));
        let error = Cli::try_parse_from(["memorist", "link", "12", "likes", "7"]).unwrap_err().to_string();
        assert!(error.contains("likes") && error.contains("contradicts"), "{error}");
        let Command::Chain(chain) = parse("memorist chain 7 --direction backward").command else { panic!("no chain") };
        assert_eq!((chain.id, chain.direction), (7, Some(Direction::Backward)));
    }

    #[test]
    fn purge_takes_either_ids_or_a_text() {
        for line in ["memorist purge", "memorist purge 1 --text x"] {
            assert!(Cli::try_parse_from(line.split_whitespace()).is_err(), "{line}");
        }
        let Command::Purge(purge) = parse("memorist purge 1 2 -y").command else { panic!("not a purge") };
        assert_eq!((purge.ids, purge.yes), (vec![1, 2], true));
    }

    #[test]
    fn a_memory_has_a_text_or_a_body() {
        assert!(Cli::try_parse_from(["memorist", "add"]).is_err());
        parse("memorist add --body {}");
        parse("memorist add text --body {}");
        assert!(Cli::try_parse_from(["memorist", "update", "1", "--body", "{}", "--no-body"]).is_err());
    }

    #[test]
    fn earlier_names_of_options_and_aliases_of_commands_work() {
        for (earlier, now) in [
            ("search x --neighbours 1", "search x --neighbors 1"),
            ("searches --nothing", "search-log --no-answer"),
            ("recall x --before y", "recall x --previous y"),
            ("list --only deleted", "list --state deleted"),
            ("list --order updated", "list --sort updated"),
            ("list --sort saved", "list --sort created"),
            ("export --embeddings", "export --with-embeddings"),
            ("source remove 1 --records", "source remove 1 --delete-memories"),
            ("sync --noted", "sync --queued"),
            ("serve --only", "serve --isolate"),
            ("server status", "team status"),
            ("server compare", "team resync"),
            ("server image x", "team base-backup x"),
            ("explore", "ui"),
            ("browse", "tui"),
            ("manual x", "man x"),
        ] {
            let [earlier, now] = [earlier, now].map(|line| parse(&format!("memorist {line}")));
            assert_eq!(format!("{earlier:?}"), format!("{now:?}"));
        }
    }

    #[test]
    fn a_token_belongs_to_http() {
        for line in
            ["--allow-host x", "--token secret", "--token-file f", "--no-token", "--http 1 --token x --no-token"]
        {
            let line = format!("memorist serve {line}");
            assert!(Cli::try_parse_from(line.split_whitespace()).is_err(), "{line}");
        }
        parse("memorist serve --http 8765 --token secret");
    }
}
