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
//! | `server.rs` | the server of a team store |
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
mod server;
mod sources;
mod sync_with;
mod tidy;
mod values;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::parser::ValueSource;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use memorist_engine::bench::BenchOptions;
use memorist_ingest::sources::moving::System;

use crate::exit;

pub use connect::{ClientArgs, Connect, Disconnect};
pub use graph::{Chain, Digest, Link, Outdated};
pub use history::{History, Purge, Reembed, Rollback, Undo};
pub use hook::Hook;
pub use moving::Move;
pub use profile::ProfileName;
pub use records::{Add, Browse, Delete, Filters, Get, List, Recall, Search, Searches, Update};
pub use server::{MemberCommand, ServerArgs, ServerCommand, TokenAdd, TokenCommand};
pub use sources::{SourceAdd, SourceArgs, SourceCommand, SourceDiscover, SourceKindName, SourceRemove, SyncFiles};
pub use sync_with::SyncWith;
pub use tidy::Tidy;

const EXAMPLES: &str = "\
Examples:
  memorist demo                              see it work, in a temporary store
  memorist add \"User prefers dark mode\" --kind preference --tag ui
  memorist search which theme does the user like
  memorist link 12 supersedes 7              memory 12 replaces memory 7
  memorist digest --project atlas            what is known of a project, as Markdown
  memorist import memories.jsonl             one JSON object a line: the parameters of memory_add
  memorist connect                           your agents use it: shows what it changes, and asks
  memorist serve                             an MCP server on stdin and stdout
  memorist serve --http 127.0.0.1:8765       the same at http://127.0.0.1:8765/mcp

Arguments override the environment, which overrides memorist.toml, which overrides the defaults.
RUST_LOG sets what is logged on stderr.";

const ADD: &str = "\
Defaults: kind fact, source manual, confidence 1, importance 5.

A body has the fields of a kind beside its text, and may replace the text:
  memorist add --kind contact --body '{\"name\": \"Ana Torres\", \"email\": \"ana@example.org\", \"role\": \"designer\"}'
  memorist add --kind decision --body '{\"title\": \"JWT\", \"description\": \"Tokens expire after 15 minutes\"}'";

const LIST: &str = "\
Texts are whole, with --json too, where the tool memory_list has the newest memories first and cuts long texts to \
passages.";

const REEMBED: &str = "\
Change the store to another embedding model: every memory is embedded again by the model that --model names, or by the \
provider of [embedding] in memorist.toml.

  --model multilingual   multilingual-e5-small, for about a hundred languages; it is fetched once (91 MB)
  --model default        all-MiniLM-L6-v2, for English
  --model DIR            a folder with model.onnx and tokenizer.json

Before texts are sent to a provider, it says how many they are and what that costs by the list price, and asks; without a \
terminal it needs --yes.

Searches use the old embeddings until the last new one is done, then the new ones. Ctrl-C loses nothing: the same \
command continues, and `memorist doctor` shows its progress. Until the change the store contains both, \
so memory.db grows (about 1.5 KB a memory for 384 dimensions).

Afterwards restart servers that are running. A model with a name is then used for this store wherever the settings name no \
model. A folder must be the setting of every process that uses this store:

    model = \"DIR\"        in memorist.toml, or MEMORIST_MODEL=DIR

A process with another model searches by keywords only, and says so.";

const BROWSE: &str = "\
Search as you type, read, follow links and delete, on an interactive screen. F1 shows the keys.

The screen shows what `memorist list` and `memorist search` may show: with --project and --agent, and the filters below. \
Words are searched from the first letter on; meaning too, as soon as the model is in memory. Neither searching nor \
reading here counts as an access. Nothing is deleted without a question.";

const EXPLORE: &str = "\
See what the agents know in a browser, understand why a search finds what it finds, and put right what is wrong.

The page is served at 127.0.0.1 by this program, until Ctrl-C, or until no page has been open for 30 minutes. The address \
that is printed, and opened, lets one browser in, once and within two minutes; Enter prints a new one.

It shows all projects and agents, or those that --project and --agent name. Looking changes nothing: neither searching nor \
reading counts as an access, and searches are not kept.

From another machine, through a tunnel with the same port at both ends:

    ssh -L 7070:127.0.0.1:7070 HOST memorist explore --no-open --port 7070";

const CONNECT: &str = "\
Connect the agents of this machine to memorist: register its server in their settings, its hooks where they have any, and a \
short instruction where they have no hooks but a file for one.

    memorist connect                    all that are found
    memorist connect codex cursor       these
    memorist connect --dry-run          what would change, and nothing else

It shows every change before it makes it, and asks; without a terminal it needs --yes. Comments, order and indentation stay. \
A file that cannot be read, or where something else has our name, is left as it is, with a way out. A second time changes \
nothing. --store, --config and --profile are written into the command that agents run.

`memorist disconnect` gives the files back byte for byte, or, if others have changed them since, takes out what is ours. \
`memorist doctor` says how each client stands.";

const LINK: &str = "\
Link two memories. The command reads as a sentence:

    memorist link 12 supersedes 7       12 replaces 7, which searches leave out from then on
    memorist link 3 caused 12           3 is the cause of 12
    memorist link 15 implements 12      15 is an implementation of 12
    memorist link 9 contradicts 12      9 says the opposite of 12
    memorist link 4 related 12          they are related

`memorist chain` follows links from memory to memory, and `memorist get` shows the links of one memory.";

const TIDY: &str = "\
Show what there is to tidy up, and change nothing: copies (memories with the same text), near-duplicates, memories that contradict \
each other, and open tasks that were due 60 days ago.

    memorist tidy                            show it
    memorist tidy --apply                    hide copies from searches: one of each group stays
    memorist tidy --out plan.json            write a plan; set \"apply\" to true where you agree
    memorist tidy --apply plan.json          apply it
    memorist tidy --undo                     take back the last run, as a whole

A plan has proposals. Each has \"do\": supersede (the memory \"keep\" stays in searches, with the text \"content\" if you give one), \
link (the memories belong together, and are not proposed again), close (a task is dropped) or ask (nothing, until you change it).

Nothing is deleted: what is superseded keeps its id, links and versions. A memory that was changed after the plan was made is left \
alone, and named. Memories with metadata are left alone, too: a program keeps them.";

const MOVE: &str = "\
Bring all memories of a store into another, with versions, links and embeddings:

    memorist move ~/.local/share/memorist postgres://ana@db.example/team
    memorist move postgres://ana@db.example/team FOLDER

It exports the one, imports into the other, and then compares both. The first store stays as it is. A second run moves what \
is missing, so an interrupted one is repeated. What has been deleted or has expired, sources and searches are not moved.";

const SYNC_WITH: &str = "\
Have the same memories on several machines of yours. What differs goes both ways, and the place is remembered:

    memorist sync-with ssh://laptop        a machine that ssh reaches, with memorist installed
    memorist sync-with ~/Dropbox/memory    a folder that Syncthing, Dropbox, git or a stick carries
    memorist sync-with                     all that are remembered

No text that somebody saved is lost. Where a memory was changed on two machines, the newer text stays, and the other one is an \
earlier version:

    memorist sync-with --conflicts         shows both
    memorist rollback 12 3                 takes the other one: version 3 of memory 12
    memorist sync-with --keep 12           leaves memory 12 as it is

What was deleted on one machine is deleted on the others, unless it was changed there later. What was purged is purged on the \
others. Nothing is deleted because it is missing somewhere. What was read from files stays where the files are.

While a client of yours starts, its hook runs this for you, if the last exchange is more than 10 minutes old \
([sync_with] every_minutes in memorist.toml; 0 is never).";

const PURGE: &str = "\
Remove permanently, so that no file of the store contains the bytes: memories, with their versions, links and accesses; or \
with --text everything in which a text occurs, exactly, in any version. Upper and lower case differ, and a part of a word is \
enough.

    memorist purge 12 15
    memorist purge --text -      reads the text from stdin: so it is in no history of a shell

`memorist delete` is enough if a memory should just not be found again. A purge cannot be undone, so it asks before; \
without a terminal it needs --yes.

Its lines in the daily log go, too, if one is kept. What stays is named: names of agents, projects, sources and tokens that \
are in use, days of the log with a line that a person wrote, and files in the store's folder that are not its own (backups, \
exports, settings).";

const BENCH: &str = "\
Measure the vector search of this store on its own vectors: some of them are used as queries, and the results \
are compared with an exact scan of all. Recall is the share of the true neighbours that was found.

A store's own vectors are easier queries than real questions, which lie farther from their answers: so the levels tend \
to have a higher recall here than their target.

The curve shows a series of `ef` values (the candidates that a walk of the graph keeps); the levels of `quality` and \
your own setting are marked on it. To change the setting, write one of these below [search] in memorist.toml:

    quality = \"fast\"       or \"balanced\" or \"high\"
    quality = 0.98         the target recall, 0.5 to 1.0
    ef = 200               the number of candidates itself

With --quality FILE it measures how well searches find what you say they should: by words, by meaning and by both. \
A line of the file is a query with the ids or ULIDs of the memories that answer it:

    {\"query\": \"where is the amber key\", \"answers\": [12, \"01J00000000000000000000000\"]}

It prints recall@1, 5 and 10, MRR and nDCG@10 with 95 % intervals, and the five worst queries with what was first \
instead. Without a model it measures words alone.

It writes nothing to the store, and others may use the store meanwhile; what they do takes time from it. Without --quality \
it needs no model. The exact scan of a million vectors takes half a minute or more.";

const HOOK: &str = "\
It ends with 0 and within 300 ms whatever happens, and prints an answer in the form that the client expects, or nothing. \
What is wrong is a line on stderr. MEMORIST_HOOKS=off silences it, and so does [hooks] in memorist.toml.";

const MANUAL: &str = "\
Packages have them already. Beside an installation from source:

    memorist manual ~/.local/share/man/man1";

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
    /// Project of new memories, and whose memories are visible beside global ones; "*" is all [default: the git work tree of the working folder]
    #[arg(long, value_name = "NAME", env = "MEMORIST_PROJECT", global = true)]
    pub project: Option<String>,
    /// No project, whatever the settings and the working folder say; --project "" is the same
    #[arg(long, global = true)]
    pub no_project: bool,
    /// Agent of new memories, and whose memories are visible beside shared ones; "*" is all, and "" is none
    #[arg(long, value_name = "NAME", env = "MEMORIST_AGENT", global = true)]
    pub agent: Option<String>,
    /// Print one JSON document and nothing else: the structured result of the tool of the same name (except `export`
    /// to stdout and `completions`, which print their output, and `list`, which has whole texts)
    #[arg(long, global = true)]
    pub json: bool,
    /// No progress and no notes on stderr
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Log what happens on stderr; repeat for more
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
    /// Which of them are arguments, where that makes a difference: the environment may have said it.
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
    /// Fetch and check the embedding model, and with --reranker the reranker, so that everything else works offline
    Setup(Setup),
    /// Save a memory
    #[command(after_help = ADD)]
    Add(Add),
    /// Find memories by meaning and by word
    Search(Search),
    /// Search as you type, read, follow links and delete, on an interactive screen
    #[command(long_about = BROWSE)]
    Browse(Browse),
    /// See, understand and correct the memory in a browser
    #[command(long_about = EXPLORE)]
    Explore(Explore),
    /// Show a whole memory
    #[command(visible_alias = "show")]
    Get(Get),
    /// Change a memory; the version before it is kept
    #[command(visible_alias = "edit")]
    Update(Update),
    /// Delete memories
    #[command(visible_aliases = ["rm", "forget"])]
    Delete(Delete),
    /// List memories by id, the oldest first
    #[command(after_help = LIST)]
    #[command(visible_alias = "ls")]
    List(List),
    /// Link two memories: `memorist link 12 supersedes 7`
    #[command(long_about = LINK)]
    Link(Link),
    /// Remove a link
    Unlink(Link),
    /// Follow links from a memory, and on from there, as a tree
    Chain(Chain),
    /// List the superseded memories
    Outdated(Outdated),
    /// Sum up a project: how many memories, decisions, patterns, fixes; as Markdown
    #[command(after_help = "In a project, of its own memories alone; else, of all.")]
    Digest(Digest),
    /// List the versions of a memory, and why they were replaced
    History(History),
    /// Make an earlier version of a memory the newest again
    Rollback(Rollback),
    /// Undo the last thing done to a memory: a change, a deletion, an expiry or a link
    Undo(Undo),
    /// Show copies, near-duplicates, contradictions and old tasks; hide the copies, or apply a plan; undo it as a whole
    #[command(long_about = TIDY)]
    Tidy(Tidy),
    /// Remove permanently: memories, or everything with a text, in every version, index, log and file
    #[command(long_about = PURGE)]
    Purge(Purge),
    /// Show statistics of the store
    Stats,
    /// Show what a turn of an agent is given unasked for a message: mostly nothing
    Recall(Recall),
    /// List the searches that were made, the newest first, also those that found nothing
    Searches(Searches),
    /// Notes and agents' transcripts that are read into the store: add, list, remove, discover
    Source(SourceArgs),
    /// Read what has changed in the sources
    Sync(SyncFiles),
    /// Have the same memories on several machines of yours, over ssh or a folder that something else carries
    #[command(long_about = SYNC_WITH)]
    SyncWith(SyncWith),
    /// Read memories from a JSONL file, or another memory system's store; run it again to continue
    Import(Import),
    /// Write everything as JSONL: memories with their versions, links, and on request embeddings
    Export(Export),
    /// Bring all memories of a store into another: from a folder to a team's server, or back
    #[command(long_about = MOVE)]
    Move(Move),
    /// Copy the whole store into one file, while it is in use
    Backup(Backup),
    /// Make a store from a file that `backup` wrote
    Restore(Restore),
    /// Rebuild both indexes from the records; nothing is embedded again
    Rebuild,
    /// Embed the memories that wait for it; running servers do this by themselves
    Backfill(Backfill),
    /// Change the store to another embedding model: `memorist reembed --model multilingual`
    #[command(long_about = REEMBED)]
    Reembed(Reembed),
    /// Check that records, vectors and keywords agree; save what can be read of a damaged store
    Doctor(Doctor),
    /// Measure the vector search of this store: how much it finds, and how long it takes
    #[command(long_about = BENCH)]
    Bench(Bench),
    /// Connect the agents of this machine: they start the server, and their hooks recall
    #[command(long_about = CONNECT)]
    Connect(Connect),
    /// Undo what `connect` has written, and nothing else
    Disconnect(Disconnect),
    /// The server of a team store, for those who look after it: init, migrate, status, compare, image, member, token, vacuum
    Server(ServerArgs),
    /// Serve agents over MCP: on stdin and stdout, or over HTTP
    Serve(Serve),
    /// Answer a hook of a client, which runs this with JSON on stdin
    #[command(after_help = HOOK)]
    Hook(Hook),
    /// Fill a temporary store with 2,000 memories and search it
    Demo(Demo),
    /// Print a completion script for a shell
    Completions(Completions),
    /// Write the manual pages of all commands into a folder
    #[command(after_help = MANUAL)]
    Manual(Manual),
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
            | Command::Searches(_) => true,
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
            | Command::Server(_)
            | Command::Setup(_)
            | Command::Hook(_)
            | Command::Demo(_)
            | Command::Explore(_)
            | Command::Completions(_)
            | Command::Manual(_) => false,
        }
    }
}

/// `backfill`.
#[derive(Debug, Args)]
pub struct Backfill {
    /// Most texts [default: all]
    #[arg(short = 'n', long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..))]
    pub limit: Option<u64>,
    /// Submit batch jobs, and do not wait for them
    #[arg(long)]
    pub no_wait: bool,
    /// Cancel the batch jobs; what they have made is kept
    #[arg(long, conflicts_with_all = ["limit", "no_wait"])]
    pub cancel: bool,
}

/// `import`.
#[derive(Debug, Args)]
pub struct Import {
    /// A JSONL file, `-` reads stdin; with --from, the store of that system: a file, or the folder that it is in
    #[arg(value_name = "PATH")]
    pub file: PathBuf,
    /// The memory system whose own store it is; memories that have no project or agent there get those named here
    #[arg(long, value_name = "SYSTEM", value_parser = values::systems())]
    pub from: Option<System>,
    /// Only save the records; they are found by keywords until they are embedded
    #[arg(long)]
    pub no_embed: bool,
    /// Bring back what was deleted or purged here since the file was made
    #[arg(long, conflicts_with = "from")]
    pub restore_deleted: bool,
}

/// `export`.
#[derive(Debug, Args)]
pub struct Export {
    /// The file to write, whole or not at all; `-` writes to stdout (lines of JSON, with --json too)
    #[arg(default_value = "-")]
    pub file: PathBuf,
    /// With embeddings, so that nothing need be embedded again; much longer
    #[arg(long)]
    pub embeddings: bool,
    #[command(flatten)]
    pub filters: Filters,
}

/// `backup`.
#[derive(Debug, Args)]
pub struct Backup {
    /// The file to write, whole or not at all; one of that name is replaced
    pub file: PathBuf,
}

/// `restore`.
#[derive(Debug, Args)]
pub struct Restore {
    /// The file that `backup` wrote. The store (--store) must not exist yet
    pub file: PathBuf,
}

/// `setup`.
#[derive(Debug, Args)]
pub struct Setup {
    /// Also the reranker: a second model, for English, that reads the first results of a search together with the query
    #[arg(long)]
    pub reranker: bool,
}

/// `doctor`.
#[derive(Debug, Args)]
pub struct Doctor {
    /// Rebuild an index that does not agree; save what can be read of a damaged memory.db into a new one, and keep the
    /// old one
    #[arg(long)]
    pub repair: bool,
}

/// What `bench` takes for the vector search alone.
const OF_VECTORS: [&str; 4] = ["queries", "limit", "seed", "svg"];

/// `bench`.
#[derive(Debug, Args)]
pub struct Bench {
    /// How many of the store's vectors to search for
    #[arg(long, value_name = "NUMBER", default_value_t = BenchOptions::default().queries, allow_negative_numbers = true)]
    pub queries: usize,
    /// How many nearest neighbours of each to find
    #[arg(short = 'n', long, value_name = "NUMBER", default_value_t = BenchOptions::default().limit)]
    #[arg(allow_negative_numbers = true)]
    pub limit: usize,
    /// Selects the query vectors: the same seed, the same vectors
    #[arg(long, value_name = "NUMBER", default_value_t = BenchOptions::default().seed)]
    pub seed: u64,
    /// Also write the plot to this file, as SVG; one of that name is replaced
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Measure instead how well searches find what they should: FILE has queries and their answers, one JSON object a line
    #[arg(long, value_name = "FILE", group = "searches", conflicts_with_all = OF_VECTORS)]
    pub quality: Option<PathBuf>,
    /// Measure instead how well searches find the evidence of LoCoMo: FILE is its locomo10.json
    #[arg(long, value_name = "FILE", group = "searches", conflicts_with_all = OF_VECTORS)]
    pub locomo: Option<PathBuf>,
    /// The same for LongMemEval: FILE is its longmemeval_s_cleaned.json, which is held in memory and has 500 histories: that
    /// takes hours
    #[arg(long, value_name = "FILE", group = "searches", conflicts_with_all = OF_VECTORS)]
    pub longmemeval: Option<PathBuf>,
    /// The same for BEAM: FOLDER has its chats, as chats/100K
    #[arg(long, value_name = "FOLDER", group = "searches", conflicts_with_all = OF_VECTORS)]
    pub beam: Option<PathBuf>,
}

/// `serve`.
#[derive(Debug, Args)]
pub struct Serve {
    /// Serve HTTP at this address (PORT or HOST:PORT) under /mcp, instead of stdin and stdout
    #[arg(long, value_name = "ADDR")]
    pub http: Option<String>,
    /// Token of at least 16 characters that HTTP clients must send as "Authorization: Bearer TOKEN". Every user of this
    /// machine sees it in the list of processes (`ps`): --token-file and the variable MEMORIST_TOKEN do not show it
    /// [default: a random token, made once and kept in the store's folder]
    #[arg(long, value_name = "TOKEN", requires = "http", conflicts_with_all = ["token_file", "no_token"])]
    pub token: Option<String>,
    /// File that has the token; refused when others can read it
    #[arg(long, value_name = "FILE", requires = "http", conflicts_with = "no_token")]
    pub token_file: Option<PathBuf>,
    /// Require no token: every user and every program of this machine can read and change the whole store. Only on loopback
    #[arg(long, requires = "http")]
    pub no_token: bool,
    /// Another host name under which clients reach the HTTP server; repeat for more
    #[arg(long = "allow-host", value_name = "HOST", requires = "http")]
    pub allow_hosts: Vec<String>,
    /// The tools that agents get: the few that every session needs, all, or those of another memory system [default: core]
    #[arg(long, value_name = "NAME", env = "MEMORIST_PROFILE", value_parser = profile::profiles())]
    profile: Option<String>,
    /// Keep agents to this server's project and agent: they read its memories and global ones (of no project and no
    /// agent), change only its memories, and are refused everything else
    #[arg(long)]
    pub only: bool,
    /// The configuration of Gimli's memory, for its profile: JSON with `memorySearch`
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
    /// Serve the page at this port of 127.0.0.1 [default: a free one]
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    pub port: u16,
    /// Only print the address
    #[arg(long)]
    pub no_open: bool,
    /// The page can change nothing
    #[arg(long)]
    pub read_only: bool,
}

/// `demo`.
#[derive(Debug, Args)]
pub struct Demo {
    /// Make the store in this folder and keep it
    #[arg(long, value_name = "DIR")]
    pub keep: Option<PathBuf>,
    /// Then look into it in a browser, as `memorist explore` does
    #[arg(long)]
    pub explore: bool,
}

/// `completions`.
#[derive(Debug, Args)]
pub struct Completions {
    /// For which shell
    pub shell: clap_complete::Shell,
}

/// `manual`.
#[derive(Debug, Args)]
pub struct Manual {
    /// The folder; it is made if it is missing
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
