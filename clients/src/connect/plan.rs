//! Plans the steps, each with the content before and after it. Nothing is written here.

use std::path::{Path, PathBuf};

use memorist_sources::machine::Machine;
use serde_json::Value;

use super::content::{With, extends, with_entries, without};
use super::ledger::{Ledger, Record, Written, sha256};
use super::target::Target;
use super::trouble::Trouble;
use super::{block, diff};
use crate::Client;
use crate::clients::profile;
use crate::format::{Entry, Format, Presence};
use crate::place::{Place, on_path};
use crate::profile::{Content, Files, Part, Profile, Role};
use crate::program::{NAME, Program};

/// The machine, and the program that is registered.
#[derive(Debug)]
pub struct Environment<'a> {
    /// The home folder and the environment.
    pub machine: &'a Machine,
    /// The program that clients run.
    pub program: &'a Program,
    /// The clients that get hooks together.
    pub connecting: &'a [Client],
}

#[derive(Debug)]
pub struct ClientPlan {
    pub profile: &'static Profile,
    /// The file or program that shows that it is on this machine.
    pub found: Option<PathBuf>,
    /// The steps, in their order.
    pub steps: Vec<Step>,
    /// The files that need no change.
    pub done: Vec<PathBuf>,
    /// The entries that a person has registered by hand, by file. They stay.
    pub by_hand: Vec<(PathBuf, String)>,
    /// The files that are left as they are, and why.
    pub troubles: Vec<(PathBuf, Trouble)>,
}

/// A change of one file.
#[derive(Debug, Clone)]
pub struct Step {
    /// Whether it writes our part, or takes it out.
    pub connects: bool,
    /// The purpose of our part.
    pub role: Role,
    /// The file as it is.
    pub target: Target,
    /// The content that the file gets; `None` if it is deleted.
    pub after: Option<Vec<u8>>,
    /// Whether the file is executable.
    pub executable: bool,
    /// The client's own commands that do it, one after another.
    pub commands: Vec<Vec<String>>,
    /// Our part of the file.
    pub written: Option<Written>,
    /// The file without our part, if it exists: a copy is kept.
    pub base: Option<Vec<u8>>,
    /// The record that the ledger has after the step, if any.
    pub record: Option<Record>,
}

impl Step {
    /// The change as a diff: our lines that are removed and added.
    pub fn diff(&self) -> String {
        let text =
            |content: &Option<Vec<u8>>| String::from_utf8_lossy(content.as_deref().unwrap_or_default()).into_owned();
        let base = if self.connects { &self.base } else { &self.after };
        diff::shown(&text(&self.target.content), &text(base), &text(&self.after))
    }
}

/// Finds the file or program that shows that a client is on this machine.
pub fn found(profile: &Profile, around: &Environment) -> Option<PathBuf> {
    let mut signs = profile.signs.iter().map(|sign| sign.path(around.machine, around.program.platform));
    let program = || profile.programs.iter().find_map(|name| on_path(around.machine, name));
    signs.find(|sign| sign.exists()).or_else(program)
}

pub fn files(part: &Part, around: &Environment) -> Vec<PathBuf> {
    let path = |place: &Place| place.path(around.machine, around.program.platform);
    let has_folder = |path: &PathBuf| path.parent().is_some_and(Path::exists);
    let (all, each): (Vec<PathBuf>, bool) = match part.files {
        Files::First(places) => (places.iter().map(path).collect(), false),
        Files::Each(places) => (places.iter().map(path).collect(), true),
    };
    let there: Vec<PathBuf> = all.iter().filter(|path| has_folder(path)).cloned().collect();
    match each {
        true if !there.is_empty() => there,
        _ => {
            // What exists, even as a link that leads nowhere; of what does not, the usual one is the first.
            let exists = all.iter().find(|path| path.symlink_metadata().is_ok());
            exists.or(there.first()).or(all.first()).cloned().into_iter().collect()
        }
    }
}

/// The entries that a client should have: without those that it gets by the hooks of another client.
pub fn wanted(
    mut entries: Vec<Entry>,
    runs_hooks_of: Option<(Client, &str)>,
    ledger: &Ledger,
    around: &Environment,
) -> Vec<Entry> {
    if let Some((other, list)) = runs_hooks_of {
        let is_hooked = |record: &Record| record.client == other && record.role == Role::Hooks;
        let is_being_hooked = || around.connecting.contains(&other) && found(profile(other), around).is_some();
        if ledger.records().iter().any(is_hooked) || is_being_hooked() {
            entries.retain(|entry| entry.path.last().is_none_or(|name| name != list));
        }
    }
    entries
}

/// Plans how to connect a client. Without `hooks`, its hooks are left as they are.
pub fn connect(client: Client, hooks: bool, ledger: &Ledger, around: &Environment) -> ClientPlan {
    let profile = profile(client);
    let mut plan = empty(profile, found(profile, around));
    for part in profile.parts.iter().filter(|part| hooks || part.role != Role::Hooks) {
        for path in files(part, around) {
            if let Err(trouble) = connect_file(&mut plan, part, &path, ledger, around) {
                plan.troubles.push((path, trouble));
            }
        }
    }
    plan
}

fn empty(profile: &'static Profile, found: Option<PathBuf>) -> ClientPlan {
    ClientPlan { profile, found, steps: vec![], done: vec![], by_hand: vec![], troubles: vec![] }
}

fn connect_file(
    plan: &mut ClientPlan,
    part: &Part,
    path: &Path,
    ledger: &Ledger,
    around: &Environment,
) -> Result<(), Trouble> {
    let target = Target::open(path)?;
    let record = ledger.record(&target.path);
    let base = match record {
        Some(record) => without(ledger, record, target.content.as_deref())?.content,
        None => target.content.clone(),
    };
    let text = std::str::from_utf8(base.as_deref().unwrap_or_default()).map_err(|_| Trouble::NotText)?;
    let (after, written, commands) = match &part.content {
        Content::Entries { format, frame, entries, hides, by_command, runs_hooks_of } => {
            let older = hides.map(|place| place.path(around.machine, around.program.platform));
            if let Some(older) = older.filter(|older| base.is_none() && older.exists()) {
                return Err(Trouble::Hides(older));
            }
            let wanted = wanted(entries(around.program), *runs_hooks_of, ledger, around);
            if record.is_some_and(|record| is_done(record, &wanted, &target)) {
                plan.done.push(path.to_owned());
                return Ok(());
            }
            let with = with_entries(*format, text, &frame(), &wanted)?;
            let With { text, entries, made, frame, by_hand } = with;
            plan.by_hand.extend(by_hand.into_iter().map(|entry| (path.to_owned(), entry)));
            if entries.is_empty() {
                return Ok(());
            }
            let commands = if *by_command { registering(plan.profile, &entries[0], &target, around) } else { vec![] };
            (text, Written::Entries { format: *format, entries, made, frame }, commands)
        }
        Content::File { text, .. } => {
            let text = text(around.program);
            match &base {
                Some(there) if *there == text.as_bytes() => {
                    plan.done.push(path.to_owned());
                    return Ok(());
                }
                Some(_) if record.is_some() => return Err(Trouble::Edited(path.display().to_string())),
                Some(_) => return Err(Trouble::FileTaken),
                None => (text, Written::File, vec![]),
            }
        }
        Content::Block if block::has_block(text) => {
            plan.by_hand.push((path.to_owned(), "the paragraph between the marks".to_owned()));
            return Ok(());
        }
        Content::Block => (block::insert(text), Written::Block(block::block(text)), vec![]),
    };
    let after = after.into_bytes();
    if record.is_some() && target.content.as_ref() == Some(&after) {
        plan.done.push(path.to_owned());
        return Ok(());
    }
    let by_command = !commands.is_empty();
    let record = Record {
        client: plan.profile.client,
        role: part.role,
        path: target.path.clone(),
        written: written.clone(),
        created: base.is_none() && !by_command,
        folders: record.map_or_else(|| target.missing_folders(), |record| record.folders.clone()),
        base: None,
        after: if by_command { String::new() } else { sha256(&after) },
        by_command,
        previous: None,
    };
    let executable = matches!(part.content, Content::File { executable: true, .. });
    plan.steps.push(Step {
        connects: true,
        role: part.role,
        target,
        after: Some(after),
        executable,
        commands,
        written: Some(written),
        base,
        record: Some(record),
    });
    Ok(())
}

/// Whether a file has the wanted entries already, in any layout.
fn is_done(record: &Record, wanted: &[Entry], target: &Target) -> bool {
    let Written::Entries { format, entries, .. } = &record.written else { return false };
    let read = target.text().ok().flatten().and_then(|text| format.read(text).ok());
    let is_there = |read: &Value| entries.iter().all(|entry| entry.presence(read) == Ok(Presence::Same));
    let is_extended = |(entry, wanted): (&Entry, &Entry)| extends(&entry.value, &wanted.value);
    let is_wanted = || entries.len() == wanted.len() && entries.iter().zip(wanted).all(is_extended);
    (entries == wanted || record.by_command && is_wanted()) && read.as_ref().is_some_and(is_there)
}

/// The commands by which Claude Code registers a server; none if it is not installed.
fn registering(profile: &Profile, entry: &Entry, target: &Target, around: &Environment) -> Vec<Vec<String>> {
    let Some(program) = profile.programs.iter().find_map(|name| on_path(around.machine, name)) else { return vec![] };
    let value = entry.value.to_string();
    let add = own_command(&program, &["add-json", "-s", "user", NAME, &value]);
    let read = target.text().ok().flatten().and_then(|text| Format::Json.read(text).ok()).unwrap_or_default();
    match entry.presence(&read) {
        Ok(Presence::Missing) => vec![add],
        _ => vec![own_command(&program, &["remove", "-s", "user", NAME]), add],
    }
}

fn own_command(program: &Path, words: &[&str]) -> Vec<String> {
    let words = ["mcp"].into_iter().chain(words.iter().copied()).map(str::to_owned);
    [program.display().to_string()].into_iter().chain(words).collect()
}

/// Plans how to disconnect a client.
pub fn disconnect(client: Client, ledger: &Ledger, around: &Environment) -> ClientPlan {
    let profile = profile(client);
    let mut plan = empty(profile, found(profile, around));
    // What was written last is undone first.
    for record in ledger.records().iter().rev().filter(|record| record.client == client) {
        if let Err(trouble) = disconnect_file(&mut plan, record, ledger, around) {
            plan.troubles.push((record.path.clone(), trouble));
        }
    }
    plan
}

fn disconnect_file(
    plan: &mut ClientPlan,
    record: &Record,
    ledger: &Ledger,
    around: &Environment,
) -> Result<(), Trouble> {
    let target = Target::open(&record.path)?;
    let without = without(ledger, record, target.content.as_deref())?;
    plan.troubles.extend(without.troubles.into_iter().map(|trouble| (record.path.clone(), trouble)));
    if without.edited.as_ref() == Some(record) {
        return Ok(());
    }
    let program = plan.profile.programs.iter().find_map(|name| on_path(around.machine, name));
    let commands = match program {
        Some(program) if record.by_command && without.content != target.content => {
            vec![own_command(&program, &["remove", "-s", "user", NAME])]
        }
        _ => vec![],
    };
    plan.steps.push(Step {
        connects: false,
        role: record.role,
        target,
        after: without.content,
        executable: false,
        commands,
        written: Some(record.written.clone()),
        base: None,
        record: without.edited,
    });
    Ok(())
}
