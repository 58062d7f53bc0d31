//! Applies a plan.

use std::fs;
use std::io::Read;
use std::process::Stdio;
use std::time::{Duration, Instant};

use super::content::extends;
use super::ledger::{Ledger, Record, Written};
use super::plan::{ClientPlan, Step};
use super::target::Target;
use super::trouble::Trouble;
use crate::Client;
use crate::format::{Entry, Presence};

/// The longest that a client's own command may take.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(60);

/// Applies every step of a plan and returns the steps that succeeded. Failures are added to the troubles of the plan.
pub fn apply(plan: &mut ClientPlan, ledger: &mut Ledger) -> Vec<Step> {
    let mut done = Vec::new();
    for step in std::mem::take(&mut plan.steps) {
        let client = plan.profile.client;
        let applied = if step.connects { connect(client, &step, ledger) } else { disconnect(&step, ledger) };
        match applied {
            Ok(()) => done.push(step),
            Err(trouble) => plan.troubles.push((step.target.path.clone(), trouble)),
        }
    }
    done
}

/// Records a change in the ledger, then writes the file: a process that is killed in between leaves nothing unrecorded.
fn connect(client: Client, step: &Step, ledger: &mut Ledger) -> Result<(), Trouble> {
    let path = &step.target.path;
    let failed = |error: std::io::Error| Trouble::write(&error);
    let before = ledger.record(path).cloned();
    let copy = step.base.as_ref().map(|base| ledger.keep(client, path, base)).transpose().map_err(failed)?;
    let previous = before.clone().map(Box::new);
    let mut record = step.record.clone().map(|record| Record { base: copy.clone(), previous, ..record });
    let folders = step.record.as_ref().map_or(&[][..], |record| &record.folders);
    let by_command = !step.commands.is_empty();
    let written = ledger.set(path, record.clone()).map_err(failed).and_then(|()| match &step.after {
        Some(_) if by_command => run_all(step).and_then(|()| check_registered(step, true)),
        Some(after) => step.target.write(after, step.executable),
        None => Ok(()),
    });
    let registered = by_command.then(|| registered(step));
    if let (Some(Ok(found)), Some(record)) = (&registered, &mut record)
        && let Written::Entries { entries, .. } = &mut record.written
    {
        let pairs = entries.iter_mut().zip(found);
        pairs
            .filter(|(entry, found)| extends(&found.value, &entry.value))
            .for_each(|(entry, found)| *entry = found.clone());
    }
    if let Err(trouble) = written {
        let is_there = match registered {
            // A command that has failed may have written before.
            Some(found) => found.map_or(true, |entries| !entries.is_empty()),
            // It may be in place and yet not be known to be on the disk.
            None => step.after.is_some() && fs::read(path).ok() == step.after,
        };
        if is_there {
            let _ = ledger.set(path, record);
        } else {
            let _ = ledger.set(path, before);
            copy.iter().for_each(|copy| ledger.forget(copy));
            folders.iter().rev().for_each(|folder| drop(fs::remove_dir(folder)));
        }
        return Err(trouble);
    }
    if by_command || before.is_some() {
        let record = record.map(|record| Record { previous: None, ..record });
        ledger.set(path, record).map_err(failed)?;
        let before = before.iter().flat_map(Record::versions);
        before.filter_map(|version| version.base.as_ref()).for_each(|base| ledger.forget(base));
    }
    Ok(())
}

/// Writes the file, then removes its record: after a kill in between, the next run finds nothing left to take out.
fn disconnect(step: &Step, ledger: &mut Ledger) -> Result<(), Trouble> {
    let before = ledger.record(&step.target.path).cloned();
    let folders = before.as_ref().map_or(&[][..], |record| &record.folders);
    match &step.after {
        Some(_) if !step.commands.is_empty() => {
            run_all(step)?;
            check_registered(step, false)?;
        }
        after if *after == step.target.content => {}
        Some(after) => step.target.write(after, false)?,
        None => step.target.delete(folders)?,
    }
    ledger.set(&step.target.path, step.record.clone()).map_err(|error| Trouble::write(&error))?;
    let copies = before.iter().flat_map(Record::versions).filter_map(|version| version.base.as_ref());
    // The copy of a file that others have changed since is kept, too.
    copies.filter(|base| ledger.kept(base) == step.after).for_each(|base| ledger.forget(base));
    Ok(())
}

/// The entries of a step that are in its file now, with the values that they have there.
fn registered(step: &Step) -> Result<Vec<Entry>, Trouble> {
    let Some(Written::Entries { format, entries, .. }) = &step.written else { return Ok(Vec::new()) };
    let target = Target::open(&step.target.path)?;
    let read = format.read(target.text()?.unwrap_or_default())?;
    let mut found = Vec::new();
    for entry in entries {
        match entry.presence(&read)? {
            Presence::Missing => {}
            Presence::Same => found.push(entry.clone()),
            Presence::Other(value) => found.push(Entry { value, ..entry.clone() }),
        }
    }
    Ok(found)
}

/// Checks that the client's own command has registered the entries, or removed them.
fn check_registered(step: &Step, should_be: bool) -> Result<(), Trouble> {
    let found = registered(step)?;
    let is_right = match &step.written {
        Some(Written::Entries { entries, .. }) if should_be => {
            let is_extended = |(found, entry): (&Entry, &Entry)| extends(&found.value, &entry.value);
            found.len() == entries.len() && found.iter().zip(entries).all(is_extended)
        }
        _ => found.is_empty(),
    };
    let shown = || step.commands.last().map(|words| words.join(" ")).unwrap_or_default();
    match is_right {
        true => Ok(()),
        false => Err(Trouble::Command(format!(
            "`{}` ended well, and {} has not changed so",
            shown(),
            step.target.path.display()
        ))),
    }
}

fn run_all(step: &Step) -> Result<(), Trouble> {
    step.target.check_unchanged()?;
    step.commands.iter().try_for_each(|words| run(words))
}

/// Runs a command of a client, without a terminal that it could ask on.
fn run(words: &[String]) -> Result<(), Trouble> {
    let failed = |why: String| Trouble::Command(format!("`{}` failed: {why}", words.join(" ")));
    let (program, arguments) = words.split_first().ok_or_else(|| failed("it is empty".to_owned()))?;
    let mut errors = tempfile::tempfile().map_err(|error| failed(error.to_string()))?;
    let stderr = errors.try_clone().map_err(|error| failed(error.to_string()))?;
    let mut command = memorist_durable::command(program).map_err(|error| failed(error.to_string()))?;
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(stderr);
    let mut child = command.spawn().map_err(|error| failed(error.to_string()))?;
    let began = Instant::now();
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if began.elapsed() < COMMAND_TIMEOUT => std::thread::sleep(Duration::from_millis(20)),
            Ok(None) => {
                let _ = child.kill().and_then(|()| child.wait());
                return Err(failed(format!("it did not end within {} s", COMMAND_TIMEOUT.as_secs())));
            }
            Err(error) => return Err(failed(error.to_string())),
        }
    };
    if status.success() {
        return Ok(());
    }
    let mut said = String::new();
    let read = std::io::Seek::rewind(&mut errors).and_then(|()| errors.take(500).read_to_string(&mut said));
    Err(failed(if read.is_ok() && !said.trim().is_empty() { said.trim().to_owned() } else { status.to_string() }))
}
