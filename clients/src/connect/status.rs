//! The status of a client, for `doctor`: whether it starts the server and runs the hooks, and what is wrong.

use std::path::{Path, PathBuf};

use memorist_durable::is_executable;
use serde::Serialize;
use serde_json::Value;

use super::block;
use super::content::{command_of, hook_of_ours, is_ours};
use super::ledger::{Ledger, Record, Written, sha256};
use super::plan::{Environment, connect, files, found, wanted};
use super::target::Target;
use super::trouble::Trouble;
use super::trust::were_trusted;
use crate::Client;
use crate::clients::profile;
use crate::format::{Entry, Presence};
use crate::profile::{Content, Part, Profile, Role};

/// Whether something is written for a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// It is, by `connect`.
    Yes,
    /// It is, by hand.
    ByHand,
    /// It is, and was edited since.
    Edited,
    /// Some of it is.
    Partly,
    /// It is not.
    No,
}

/// The status of a client.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    pub client: Client,
    /// The file or program that shows that it is on this machine.
    pub found: PathBuf,
    /// Whether it starts the server.
    pub registered: State,
    /// Whether it runs the hooks; `None` if it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hooked: Option<State>,
    /// Whether a person has trusted the hooks, as they are or as they were once; `None` if the client runs all, or if this is
    /// unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trusted: Option<bool>,
    /// The problems that were found.
    pub problems: Vec<Problem>,
}

/// A problem, and the way out.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Problem {
    /// The file that it is about.
    pub path: PathBuf,
    /// The problem in words.
    pub what: String,
    /// The way out: what a person can do.
    pub way_out: String,
}

/// Returns the status of a client; `None` if it is not on this machine.
pub fn status(client: Client, ledger: &Ledger, around: &Environment) -> Option<Status> {
    let profile = profile(client);
    let found = found(profile, around)?;
    let mut problems = Vec::new();
    let mut of = |role: Role| {
        let parts = profile.parts.iter().filter(|part| part.role == role);
        let files = parts.flat_map(|part| files(part, around).into_iter().map(move |path| (part, path)));
        // What is wrong with a file is among the troubles of the plan.
        combined(files.map(|(part, path)| state(part, &path, ledger, around, &mut problems).unwrap_or(State::No)))
    };
    let (registered, hooked) = (of(Role::Server).unwrap_or(State::No), of(Role::Hooks));
    problems.extend(connect(client, true, ledger, around).troubles.into_iter().map(|(path, trouble)| Problem {
        path,
        what: trouble.to_string(),
        way_out: trouble.way_out().to_owned(),
    }));
    let trusted = trusted(profile, hooked, around);
    if trusted == Some(false) {
        problems.push(Problem {
            path: found.clone(),
            what: "not all hooks are trusted, and the others are skipped".to_owned(),
            way_out: format!("start {}, and trust them with /hooks", profile.title),
        });
    }
    Some(Status { client, found, registered, hooked, trusted, problems })
}

/// Whether a person has trusted the hooks of a client that asks before it runs them.
fn trusted(profile: &Profile, hooked: Option<State>, around: &Environment) -> Option<bool> {
    if profile.client != Client::Codex || matches!(hooked, None | Some(State::No)) {
        return None;
    }
    let file = |role| {
        let part = profile.parts.iter().find(|part| part.role == role)?;
        files(part, around).into_iter().next()
    };
    were_trusted(&file(Role::Server)?, &file(Role::Hooks)?)
}

/// The combined state of several files or entries; `None` if there are none.
fn combined(states: impl Iterator<Item = State>) -> Option<State> {
    states.reduce(|one, other| match (one, other) {
        (one, other) if one == other => one,
        (State::No | State::Partly, _) | (_, State::No | State::Partly) => State::Partly,
        (State::Edited, _) | (_, State::Edited) => State::Edited,
        _ => State::ByHand,
    })
}

fn state(
    part: &Part,
    path: &Path,
    ledger: &Ledger,
    around: &Environment,
    problems: &mut Vec<Problem>,
) -> Result<State, Trouble> {
    let target = Target::open(path)?;
    let text = target.text()?.unwrap_or_default();
    let record = ledger.record(&target.path);
    let recorded = if record.is_some() { State::Yes } else { State::ByHand };
    match &part.content {
        Content::Entries { format, entries, runs_hooks_of, .. } => {
            let (read, mut states) = (format.read(text)?, Vec::new());
            for entry in &wanted(entries(around.program), *runs_hooks_of, ledger, around) {
                let there = match entry.presence(&read)? {
                    Presence::Same => Some(&entry.value).cloned(),
                    Presence::Other(value) if is_ours(&value) => Some(value),
                    Presence::Other(_) => None,
                    Presence::Missing => hook_of_ours(entry, &read).cloned(),
                };
                problems.extend(there.as_ref().and_then(|value| other_program(entry, value, path, around)));
                states.push(match (there, record) {
                    (None, _) => State::No,
                    (Some(_), None) => State::ByHand,
                    (Some(value), Some(record)) if has(record, &value) => State::Yes,
                    (Some(_), Some(_)) => State::Edited,
                });
            }
            problems.dedup();
            Ok(combined(states.into_iter()).unwrap_or(State::No))
        }
        Content::File { .. } => Ok(match (&target.content, record) {
            (None, _) => State::No,
            (Some(there), Some(record)) if record.versions().any(|version| sha256(there) == version.after) => {
                State::Yes
            }
            (Some(_), Some(_)) => State::Edited,
            (Some(_), None) => return Err(Trouble::FileTaken),
        }),
        Content::Block => Ok(if block::has_block(text) { recorded } else { State::No }),
    }
}

fn has(record: &Record, value: &Value) -> bool {
    record.versions().any(|version| {
        matches!(&version.written, Written::Entries { entries, .. } if entries.iter().any(|entry| entry.value == *value))
    })
}

/// A registered program that is gone, or is not this one. One without a path is searched by the client, whose `PATH` nobody
/// knows here.
fn other_program(entry: &Entry, value: &Value, path: &Path, around: &Environment) -> Option<Problem> {
    let command = PathBuf::from(command_of(value)?);
    let this = &around.program.path;
    let what = match command.is_absolute() {
        true if !is_executable(&command) => "which is not there or cannot be run".to_owned(),
        true if command.canonicalize().ok() != this.canonicalize().ok() => {
            format!("and this program is {}", this.display())
        }
        _ => return None,
    };
    Some(Problem {
        path: path.to_owned(),
        what: format!("`{}` runs {}, {what}", entry.shown(), command.display()),
        way_out: "`memorist connect`, run with the program that it should be, writes that one".to_owned(),
    })
}
