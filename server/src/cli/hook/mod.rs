//! `memorist hook`: the command that a client runs when something happens in a session. It always ends with 0 and in time,
//! and prints all of an answer or nothing. An error is a line on stderr.
//!
//! | row | file | job |
//! |---|---|---|
//! | 0 | `deadline.rs` | ends the process in time, never in the middle of an answer |
//! | 0 | `stdin.rs` | reads the input of the client |
//! | 0 | `notes.rs` | the notes of hooks in the store's folder |
//! | 1 | `answer.rs` | answers, by a running server or by the store itself |

mod answer;
mod deadline;
mod notes;
mod stdin;

use std::env;
use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::CommandFactory;
use directories::BaseDirs;
use memorist_clients::Client;
use memorist_clients::hooks::{self, Action, Event};
use memorist_engine::paths::StorePaths;
use memorist_ingest::project;
use memorist_ingest::sources::machine::Machine;

use crate::args::{Cli, Global, Hook};
use crate::hooks::VARIABLE;
use crate::logging;
use crate::output;
use crate::settings::Settings;
use crate::wire::HookRequest;
use deadline::Deadline;

/// The process ends by then, whatever happens.
const DEADLINE: Duration = Duration::from_millis(300);
/// The process of an action ends by then: an agent acts often.
const DEADLINE_OF_ACTION: Duration = Duration::from_millis(100);
/// A longer question, in bytes, says itself what it is about.
const LONGEST_FOLLOW_UP: usize = 200;

/// Whether these arguments are those of a hook, though they are not understood: then no client may see an error.
pub fn is_meant(words: &[OsString]) -> bool {
    let lenient = Cli::command().ignore_errors(true).try_get_matches_from(words);
    let first = words.iter().skip(1).find(|word| !word.as_encoded_bytes().starts_with(b"-"));
    lenient.is_ok_and(|matches| matches.subcommand_name() == Some("hook")) || first.is_some_and(|word| word == "hook")
}

/// Runs the command, and ends the process.
pub fn run(global: &Global, args: &Hook, started: Instant) -> u8 {
    let is_of_action = args.event.parse().is_ok_and(Event::is_of_action);
    let end = started + if is_of_action { DEADLINE_OF_ACTION } else { DEADLINE };
    let Some(deadline) = Deadline::start(end) else {
        // Without anybody who ends it, it might not end.
        output::say("memorist hook: no thread can be started");
        return 0;
    };
    let outcome = catch_unwind(AssertUnwindSafe(|| react(global, args, started, &deadline)));
    // What panicked was said by then.
    if let Ok(Err(why)) = outcome {
        output::say(&format!("memorist hook: {why}"));
    }
    // Threads that search or wait are left behind.
    std::process::exit(0)
}

fn react(global: &Global, args: &Hook, started: Instant, deadline: &Deadline) -> Result<(), String> {
    let said = stdin::read();
    let client: Client =
        args.client.parse().map_err(|error: memorist_clients::client::UnknownClient| error.to_string())?;
    let event: Event = args.event.parse().map_err(|error: hooks::UnknownEvent| error.to_string())?;
    let said = said?;
    let settings = Settings::resolve(global).map_err(|failure| failure.to_string())?;
    logging::start(Some(&settings.log_filter));
    let call = hooks::read(client, event, &said).ok_or_else(|| format!("{client} has no hooks"))?;
    let home = BaseDirs::new();
    let home = home.as_ref().map(BaseDirs::home_dir);
    let folder = call.cwd.clone().or_else(|| env::current_dir().ok()).unwrap_or_default();
    let variable = env::var(VARIABLE).ok();
    let apply_in = |folder: &Path| settings.hooks.apply_in(folder, home, variable.as_deref());
    if !apply_in(&folder) {
        return Ok(());
    }
    let project = project_of(&folder, home).filter(|_| settings.project_is_open);
    if let Some(Action::Edit(file)) = &call.action {
        let real = real_folder(file);
        if [file.parent(), real.as_deref()].into_iter().flatten().any(|folder| !apply_in(folder)) {
            return Ok(());
        }
        // A file of another work tree is not of the session's project.
        let of_file = real.as_deref().and_then(|folder| project_of(folder, home));
        if settings.project_is_open && of_file != project {
            return Ok(());
        }
    }
    if !StorePaths::new(&settings.store).database().is_file() {
        // A hook makes no store.
        return Ok(());
    }
    let notes = notes::Notes::of(&settings.store, client);
    let reads = settings.sync.enabled;
    if event != Event::Prompt
        && !event.is_of_action()
        && reads
        && let Some(transcript) = &call.transcript
    {
        notes.transcript(transcript);
    }
    notes.called();
    if event == Event::Start {
        notes.meet_machines(global, settings.sync_with.every());
    }
    // Also where a server answers: it may watch no files.
    match event {
        Event::Start if reads => notes.read_transcripts(global),
        Event::Start => notes.forget_transcripts(),
        _ => {}
    }
    let is_silent = match event {
        Event::Prompt => call.message.is_none(),
        Event::Start => false,
        Event::Before => match &call.action {
            Some(Action::Run(_)) => !settings.hooks.at_actions || !settings.hooks.at_commands,
            Some(_) => !settings.hooks.at_actions,
            None => true,
        },
        Event::Failed => !settings.hooks.at_failures || call.action.is_none(),
        // Only what was given may have to be forgotten.
        Event::Stop | Event::End | Event::Compact => !call.lost_context || call.session.is_none(),
    };
    if is_silent {
        return Ok(());
    }
    let defaults = settings.context.defaults.clone().for_agents().with_main();
    let defaults = if settings.project_is_open { defaults.or_project(project) } else { defaults };
    let before = match &call.message {
        // Without the right to read files by itself, it reads none.
        Some(message) if event == Event::Prompt && settings.sync.enabled && may_continue(message) => {
            home.map_or_else(Vec::new, |home| hooks::said_before(client, &call, &Machine::this(home)))
        }
        _ => Vec::new(),
    };
    let request = HookRequest::new(client, event, call, &before, &defaults.own_viewer(), &settings.hooks);
    if event.is_of_action() && request.subjects().is_empty() {
        // A command that only looks: the store is not opened.
        return Ok(());
    }
    answer::give(&settings, request, started, deadline)
}

/// The folder of a file, without links; of a file that is not there, its nearest folder that is.
fn real_folder(file: &Path) -> Option<PathBuf> {
    let of_file = dunce::canonicalize(file).ok().and_then(|real| real.parent().map(Path::to_owned));
    of_file.or_else(|| file.ancestors().skip(1).find_map(|folder| dunce::canonicalize(folder).ok()))
}

/// Whether a message may be a question that says little without the one before.
fn may_continue(message: &str) -> bool {
    let message = message.trim();
    message.len() <= LONGEST_FOLLOW_UP && message.ends_with(['?', '？', '؟'])
}

/// The project of a session in this folder, as those that are read have it.
fn project_of(folder: &Path, home: Option<&Path>) -> Option<String> {
    let real = home.and_then(|home| dunce::canonicalize(home).ok());
    project::of_session(folder, real.as_deref().or(home))
}
