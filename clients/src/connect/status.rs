//! How a client and this program stand to each other, for `doctor`.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::content::command_of;
use super::ledger::Ledger;
use super::plan::{Surroundings, files, found};
use super::target::Target;
use super::trouble::Trouble;
use super::{block, content};
use crate::Client;
use crate::clients::profile;
use crate::format::{Entry, Presence};
use crate::place::is_executable;
use crate::profile::{Content, Part, Role};

/// Whether something is written for a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// It is, by `connect`.
    Yes,
    /// It is, by hand.
    ByHand,
    /// It is, with another program or other options.
    Differs,
    /// Some of it is.
    Partly,
    /// It is not.
    No,
}

/// How a client stands.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// Which one.
    pub client: Client,
    /// Its name in a sentence.
    #[serde(skip)]
    pub title: &'static str,
    /// What says that it is on this machine.
    pub found: PathBuf,
    /// Whether it starts the server.
    pub registered: State,
    /// Whether it runs the hooks; nothing if it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hooked: Option<State>,
    /// What is wrong.
    pub problems: Vec<Problem>,
}

/// Something wrong, and the way out.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Problem {
    /// In which file.
    pub path: PathBuf,
    /// What it is.
    pub what: String,
    /// What a person can do.
    pub way_out: String,
}

/// How a client stands; `None` if it is not on this machine.
pub fn status(client: Client, ledger: &Ledger, around: &Surroundings) -> Option<Status> {
    let profile = profile(client);
    let found = found(profile, around)?;
    let mut problems = Vec::new();
    let mut of = |role: Role| {
        let parts = profile.parts.iter().filter(|part| part.role == role);
        let files = parts.flat_map(|part| files(part, around).into_iter().map(move |path| (part, path)));
        let states: Vec<State> = files
            .map(|(part, path)| {
                state(part, &path, ledger, around, &mut problems).unwrap_or_else(|trouble| {
                    let way_out = trouble.way_out().to_owned();
                    problems.push(Problem { path: path.clone(), what: trouble.to_string(), way_out });
                    State::No
                })
            })
            .collect();
        let most = states.iter().max().copied()?;
        Some(if most == State::No && states.iter().any(|state| *state != State::No) { State::Partly } else { most })
    };
    let (registered, hooked) = (of(Role::Server).unwrap_or(State::No), of(Role::Hooks));
    Some(Status { client, title: profile.title, found, registered, hooked, problems })
}

fn state(
    part: &Part,
    path: &Path,
    ledger: &Ledger,
    around: &Surroundings,
    problems: &mut Vec<Problem>,
) -> Result<State, Trouble> {
    let target = Target::open(path)?;
    let text = target.text()?.unwrap_or_default();
    let is_recorded = ledger.record(&target.path).is_some();
    let ours = if is_recorded { State::Yes } else { State::ByHand };
    match &part.content {
        Content::Entries { format, entries, .. } => {
            let read = format.read(text)?;
            let (wanted, mut states) = (entries(around.program), Vec::new());
            for entry in &wanted {
                let there = match entry.presence(&read)? {
                    Presence::Same => Some(entry.value.clone()),
                    Presence::Other(value) => Some(value),
                    Presence::Missing => content::hook_of_ours(entry, &read).cloned(),
                };
                states.push(match there {
                    None => State::No,
                    Some(value) if !content::is_ours(&value) => return Err(Trouble::Taken(entry.shown())),
                    Some(value) => {
                        let missing = program_is_missing(entry, &value, path);
                        let is_same = value == entry.value;
                        problems.extend(missing.filter(|problem| !problems.contains(problem)));
                        if is_same { ours } else { State::Differs }
                    }
                });
            }
            let most = states.iter().max().copied().unwrap_or(State::No);
            Ok(if most == State::No && states.iter().any(|state| *state != State::No) { State::Partly } else { most })
        }
        Content::File { text: wanted, .. } => Ok(match &target.content {
            None => State::No,
            Some(there) if *there == wanted(around.program).as_bytes() => ours,
            Some(_) if is_recorded => State::Differs,
            Some(_) => return Err(Trouble::FileTaken),
        }),
        Content::Block => Ok(if block::has_block(text) { ours } else { State::No }),
    }
}

/// A registered program that is gone. One without a path is searched by the client, whose `PATH` nobody knows here.
fn program_is_missing(entry: &Entry, value: &serde_json::Value, path: &Path) -> Option<Problem> {
    let command = PathBuf::from(command_of(value)?);
    let is_gone = command.is_absolute() && !is_executable(&command);
    is_gone.then(|| Problem {
        path: path.to_owned(),
        what: format!("`{}` runs {}, which is not there or cannot be run", entry.shown(), command.display()),
        way_out: "run `memorist connect` again".to_owned(),
    })
}
