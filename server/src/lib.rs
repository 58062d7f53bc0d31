//! The command line and the MCP server of memorist, over its engine.
//!
//! A module imports only from the rows above its own, and modules of one row never import each other (`.ci/circles`
//! checks it):
//!
//! | row | module | job |
//! |---|---|---|
//! | 0 | `wording` | errors of the engine: parameters by their wire names, remedies as commands |
//! | 0 | `escape` | escaping for terminals |
//! | 0 | `lacking` | parts that a build may lack, and how to get them |
//! | 0 | `version` | this program and its platform |
//! | 0 | `hooks` | hooks of clients: the section `[hooks]` of the settings |
//! | 1 | `wire` | parameters and results, by the names of the specification |
//! | 1 | `exit`, `hyperlinks` | exit codes, links of terminals |
//! | 1 | `embedding` | the source of embeddings: the section `[embedding]` of the settings |
//! | 2 | `args` | command-line arguments |
//! | 2 | `team` | a store on a server: the section `[team]` of the settings |
//! | 2 | `local` | the socket between hooks and a running server |
//! | 2 | `random` | texts that nobody can guess |
//! | 2 | `output`, `atomic_file`, `logging` | stdout, files, stderr |
//! | 2 | `memory_search` | the configuration of Gimli's memory |
//! | 3 | `ops` | one function per tool, over the engine |
//! | 3 | `http` | parts of both servers over HTTP: connections, bodies, hosts |
//! | 3 | `serving` | the engine behind a server |
//! | 4 | `tools` | the registry of tools, called by name |
//! | 4 | `machines` | exchanges with the other machines of a person |
//! | 4 | `settings` | arguments, environment and `memorist.toml` combined |
//! | 5 | `mcp` | the tools for agents, over stdio and HTTP |
//! | 5 | `explorer` | the tools for people, in a browser |
//! | 5 | [`library`] | the tools for programs in other languages |
//! | 6 | `cli` | the commands for people, one per file |
//! | 7 | [`fuzzing`] | the entry points of the fuzz targets |

mod args;
mod atomic_file;
mod cli;
mod embedding;
mod escape;
mod exit;
mod explorer;
#[doc(hidden)]
pub mod fuzzing;
mod hooks;
mod http;
mod hyperlinks;
mod lacking;
pub mod library;
mod local;
mod logging;
mod machines;
mod mcp;
mod memory_search;
mod ops;
mod output;
mod random;
mod serving;
mod settings;
mod team;
mod tools;
mod version;
mod wire;
mod wording;

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::IsTerminal;
use std::time::Instant;

use clap::error::ErrorKind;

use args::{Cli, Command};
use cli::App;
use exit::{Failure, Kind, Outcome};
use memorist_ingest::{pdf, project};
use output::Output;
use settings::Settings;

/// Runs the command that `words` say, the first of which is the name of this program. `version` is what `--version` says. Returns
/// the code with which the process is to end.
pub fn run(words: Vec<OsString>, version: &'static str) -> u8 {
    let started = Instant::now();
    if words.iter().skip(1).eq([pdf::ARGUMENT]) {
        return cli::read_pdf::run();
    }
    cli::read_pdf::by_this_program();
    mcp::note_parent();
    let cli = match Cli::read(words.clone(), version) {
        Ok(cli) => cli,
        Err(error) if error.use_stderr() && cli::hook::is_meant(&words) => {
            output::say(error.to_string().trim_end());
            return 0;
        }
        Err(error) => return not_understood(&error, &words),
    };
    if matches!(cli.command, Command::Serve(_)) {
        // A server is idle for hours: the model's memory goes back to the system when the model is released.
        memorist_engine::embed::allocator::restart_with_returning_allocator(&words);
    }
    if let Command::Hook(args) = &cli.command {
        return cli::hook::run(&cli.global, args, started);
    }
    let output = Output { json: cli.global.json, quiet: cli.global.quiet };
    command(cli, version).unwrap_or_else(|failure| output.failure(failure))
}

fn command(cli: Cli, version: &'static str) -> Outcome {
    let mut settings = Settings::resolve(&cli.global)?;
    if settings.project_is_open && cli.command.uses_folder_project(settings.profile) {
        use_folder_project(&mut settings, &cli.command);
    }
    // Log lines on a terminal would overwrite the screen.
    let covered = matches!(cli.command, Command::Browse(_)) && std::io::stderr().is_terminal();
    let filter = match says_why_not_embedded(&cli.command) {
        true => format!("{},{}=off", settings.log_filter, logging::PROVIDER),
        false => settings.log_filter.clone(),
    };
    logging::start((!covered).then_some(&filter));
    let profile = if let Command::Serve(args) = &cli.command { args.profile() } else { None };
    let app = App::new(settings.for_profile(profile));
    match cli.command {
        Command::Setup(args) => cli::setup::run(&app, &args),
        Command::Add(args) => cli::add::run(&app, args),
        Command::Search(args) => cli::search::run(&app, args),
        #[cfg(feature = "browse")]
        Command::Browse(args) => cli::browse::run(&app, &args),
        #[cfg(not(feature = "browse"))]
        Command::Browse(_) => Err(Failure::input(lacking::BROWSER.missing())),
        Command::Explore(args) => cli::explore::run(&app, &args),
        Command::Get(args) => cli::get::run(&app, &args),
        Command::Update(args) => cli::update::run(&app, args),
        Command::Delete(args) => cli::delete::run(&app, &args),
        Command::List(args) => cli::list::run(&app, &args),
        Command::Link(args) => cli::link::run(&app, &args),
        Command::Unlink(args) => cli::link::undo(&app, &args),
        Command::Chain(args) => cli::chain::run(&app, &args),
        Command::Outdated(args) => cli::outdated::run(&app, &args),
        Command::Digest(args) => cli::digest::run(&app, args),
        Command::History(args) => cli::history::run(&app, &args),
        Command::Rollback(args) => cli::undo::roll_back(&app, args),
        Command::Undo(args) => cli::undo::run(&app, &args),
        Command::Tidy(args) => cli::tidy::run(&app, args),
        Command::Purge(args) => cli::purge::run(&app, args),
        Command::Stats => cli::stats::run(&app),
        Command::Recall(args) => cli::recall::run(&app, args),
        Command::SearchLog(args) => cli::search_log::run(&app, &args),
        Command::Source(args) => cli::source::run(&app, &args),
        Command::Sync(args) => cli::sync::run(&app, &args),
        Command::SyncWith(args) => cli::sync_with::run(&app, &args),
        Command::Import(args) => cli::import::run(&app, &args),
        Command::Export(args) => cli::export::run(&app, &args),
        Command::Move(args) => cli::move_store::run(&app, &args),
        Command::Backup(args) => cli::backup::run(&app, &args),
        Command::Restore(args) => cli::backup::restore(&app, &args),
        Command::Rebuild => cli::rebuild::run(&app),
        Command::Backfill(args) => cli::backfill::run(&app, &args),
        Command::Reembed(args) => cli::reembed::run(&app, &args),
        Command::Doctor(args) => cli::doctor::run(&app, &args, &cli.global),
        Command::Bench(args) => cli::bench::run(&app, &args),
        Command::Connect(args) => cli::connect::run(&app, &args, &cli.global),
        Command::Disconnect(args) => cli::connect::undo(&app, &args, &cli.global),
        #[cfg(feature = "team")]
        Command::Team(args) => cli::team::run(&app, &args, &cli.global),
        #[cfg(not(feature = "team"))]
        Command::Team(_) => Err(Failure::input(lacking::TEAM.missing())),
        Command::Serve(args) => mcp::serve(app.into_settings(), args),
        // It has a deadline of its own, and was run before.
        Command::Hook(_) => Ok(0),
        Command::Demo(args) => cli::demo::run(&app, &args),
        Command::Completions(args) => cli::completions::run(&app, &args),
        Command::Man(args) => cli::man::run(&app, &args, version),
    }
}

/// Whether a command says in its output that a provider gives no vectors. Then the log does not repeat it.
fn says_why_not_embedded(command: &Command) -> bool {
    match command {
        Command::Sync(args) => !args.watch,
        Command::Search(_) | Command::Recall(_) | Command::Source(_) | Command::Import(_) => true,
        Command::Backfill(_) | Command::Reembed(_) | Command::Doctor(_) => true,
        _ => false,
    }
}

/// If no project is named, it is that of the working folder. Commands that read say so, as memories may be missed; the
/// output of a save shows it anyway.
fn use_folder_project(settings: &mut Settings, command: &Command) {
    let Some(name) = project::of_working_folder() else { return };
    if !settings.output.json && !matches!(command, Command::Add(_) | Command::Browse(_) | Command::Serve(_)) {
        let note = format!("in project {name}, by the git work tree of this folder; --project '*' looks in all");
        settings.output.note(note);
    }
    let defaults = std::mem::take(&mut settings.context.defaults);
    settings.context.defaults = defaults.or_project(Some(name));
}

/// Help and version are results; anything else is bad usage, reported as JSON if `--json` was given.
fn not_understood(error: &clap::Error, words: &[OsString]) -> u8 {
    let asked_for = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    let json = !asked_for && words.iter().any(|word| word == "--json");
    if json {
        let message = error.render().to_string();
        let message = message.trim().trim_start_matches("error: ").to_owned();
        return Output { json, quiet: false }.failure(Failure::new(Kind::Input, message));
    }
    // Help goes to stdout and errors to stderr; a closed stream changes nothing. An error repeats the arguments.
    let plain = error.render().to_string();
    match escape::text(&plain) {
        Cow::Borrowed(_) => drop(error.print()),
        Cow::Owned(shown) => output::say(shown.trim_end()),
    }
    if asked_for { 0 } else { Kind::Input.code() }
}
