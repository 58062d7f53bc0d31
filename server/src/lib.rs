//! The command line and the MCP server of memorist, over its engine.
//!
//! A module imports only from the rows above its own, and modules of one row never import each other (`.ci/circles`
//! checks it):
//!
//! | row | module | job |
//! |---|---|---|
//! | 0 | `wire` | parameters and results, by the names of the specification |
//! | 0 | `exit`, `visible`, `project` | how a command ends, what is safe to show, the project of a working folder |
//! | 1 | `args` | what was typed |
//! | 1 | `output`, `whole_file`, `logging` | stdout, files, stderr |
//! | 2 | `ops` | one function per tool, over the engine |
//! | 3 | `settings` | what was typed, with the environment and `memorist.toml` |
//! | 4 | `cli` | the commands for people, one verb a file |
//! | 4 | `mcp` | the same for agents, over stdio and HTTP |
//! | 5 | [`fuzzing`] | what the fuzz targets call |

mod args;
mod cli;
mod exit;
#[doc(hidden)]
pub mod fuzzing;
mod logging;
mod mcp;
mod ops;
mod output;
mod project;
mod settings;
mod visible;
mod whole_file;
mod wire;

use std::borrow::Cow;
use std::io::IsTerminal;
use std::process::ExitCode;

use clap::error::ErrorKind;

use args::{Cli, Command};
use cli::App;
use exit::{Failure, Kind, Outcome};
use output::Output;
use settings::Settings;

/// Runs the command that the process was started with.
pub fn run() -> ExitCode {
    let cli = match Cli::read(std::env::args_os()) {
        Ok(cli) => cli,
        Err(error) => return ExitCode::from(not_understood(&error)),
    };
    if matches!(cli.command, Command::Serve(_)) {
        // A server waits for hours: what the model used goes back to the system when the model is released.
        memorist_engine::embed::allocator::restart_with_returning_allocator();
    }
    let output = Output { json: cli.global.json, quiet: cli.global.quiet };
    ExitCode::from(command(cli).unwrap_or_else(|failure| output.failure(failure)))
}

fn command(cli: Cli) -> Outcome {
    let mut settings = Settings::resolve(&cli.global)?;
    if settings.project_is_open && cli.command.takes_the_folder_s_project(settings.profile) {
        take_the_folder_s_project(&mut settings, &cli.command);
    }
    // What is logged on a terminal would lie across the screen.
    let covered = matches!(cli.command, Command::Browse(_)) && std::io::stderr().is_terminal();
    logging::start((!covered).then_some(settings.log_filter.as_str()));
    let app = App::new(settings);
    match cli.command {
        Command::Setup => cli::setup::run(&app),
        Command::Add(args) => cli::add::run(&app, args),
        Command::Search(args) => cli::search::run(&app, args),
        Command::Browse(args) => cli::browse::run(&app, &args),
        Command::Get(args) => cli::get::run(&app, &args),
        Command::Update(args) => cli::update::run(&app, args),
        Command::Delete(args) => cli::delete::run(&app, &args),
        Command::List(args) => cli::list::run(&app, &args),
        Command::Link(args) => cli::link::run(&app, &args),
        Command::Unlink(args) => cli::unlink::run(&app, &args),
        Command::Chain(args) => cli::chain::run(&app, &args),
        Command::Outdated(args) => cli::outdated::run(&app, &args),
        Command::Digest(args) => cli::digest::run(&app, args),
        Command::History(args) => cli::history::run(&app, &args),
        Command::Rollback(args) => cli::rollback::run(&app, args),
        Command::Purge(args) => cli::purge::run(&app, args),
        Command::Stats => cli::stats::run(&app),
        Command::Import(args) => cli::import::run(&app, &args),
        Command::Export(args) => cli::export::run(&app, &args),
        Command::Backup(args) => cli::backup::run(&app, &args),
        Command::Restore(args) => cli::restore::run(&app, &args),
        Command::Rebuild => cli::rebuild::run(&app),
        Command::Reembed => cli::reembed::run(&app),
        Command::Doctor(args) => cli::doctor::run(&app, &args),
        Command::Bench(args) => cli::bench::run(&app, &args),
        Command::Serve(args) => mcp::serve(app.into_settings(), args),
        Command::Demo(args) => cli::demo::run(&app, &args),
        Command::Completions(args) => cli::completions::run(&app, &args),
    }
}

/// Where nobody names a project, it is that of the folder that the command is run in. Who looks is told, for memories may
/// be missed; what is saved says so itself.
fn take_the_folder_s_project(settings: &mut Settings, command: &Command) {
    let Some(name) = project::of_working_folder() else { return };
    if !settings.output.json && !matches!(command, Command::Add(_) | Command::Browse(_) | Command::Serve(_)) {
        let note = format!("in project {name}, by the git work tree of this folder; --project '*' looks in all");
        settings.output.note(note);
    }
    let defaults = std::mem::take(&mut settings.context.defaults);
    settings.context.defaults = defaults.or_project(Some(name));
}

/// Help and version are results; anything else is bad usage, told as JSON where JSON was asked for.
fn not_understood(error: &clap::Error) -> u8 {
    let asked_for = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    let json = !asked_for && std::env::args_os().any(|argument| argument == "--json");
    if json {
        let message = error.render().to_string();
        let message = message.trim().trim_start_matches("error: ").to_owned();
        return Output { json, quiet: false }.failure(Failure::new(Kind::Input, message));
    }
    // Help goes to stdout and errors to stderr; a reader that has gone changes nothing. An error repeats what was typed.
    let plain = error.render().to_string();
    match visible::text(&plain) {
        Cow::Borrowed(_) => drop(error.print()),
        Cow::Owned(shown) => output::say(shown.trim_end()),
    }
    if asked_for { 0 } else { Kind::Input.code() }
}
