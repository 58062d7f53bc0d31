//! An exchange over files: `FOLDER/memorist-sync/MACHINE/NUMBER.jsonl`, one turn each. A machine writes into its own folder
//! alone, so whatever carries the files never has a conflict. Its first file has everything, each later one what has changed since.
//! After a purge, and when the later ones have grown, it writes everything anew and removes the files before.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, BufReader, Write};
use std::path::{Path, PathBuf};

use memorist_durable::{ABANDONED, NewFile, open_plain, sweep};
use memorist_engine::Engine;
use memorist_engine::types::{Stamps, UlidBytes};

use super::known::{Files, Peer, sent_note};
use super::merge::{Exchange, Met, differing, merge, write_lines};
use super::turn::{self, Header, Unusable};
use crate::exit::Failure;

/// Our folder in the one that is carried.
const ROOT: &str = "memorist-sync";
/// Digits of a file's number.
const DIGITS: usize = 6;
const MOST_DIGITS: usize = 15;
/// Keeps git from changing the ends of lines, which the hash of a file covers.
const ATTRIBUTES: (&str, &str) = (".gitattributes", "* -text\n");
const SUFFIX: &str = ".jsonl";
/// All files have at most this many times the bytes of the whole one, and this many more.
const MOST_TIMES: u64 = 4;
const MOST_MORE: u64 = 1 << 20;
/// Most files beside the whole one.
const MOST_FILES: u64 = 500;

/// Reads what other machines have left in a folder, then leaves what they lack. Only whole files are read, and what is not there means
/// nothing. `peer` gets what was read and written.
pub fn meet(exchange: &Exchange<'_>, folder: &Path, peer: &mut Peer, met: &mut Met) -> Result<(), Failure> {
    let Exchange { engine, known, .. } = *exchange;
    let root = folder.join(ROOT);
    let mut failed = None;
    for machine in machines(&root)?.into_iter().filter(|machine| *machine != known.machine) {
        // One machine's bad file keeps nobody from the others.
        if let Err(failure) = read_machine(exchange, &root.join(&machine), &machine, peer, met) {
            failed.get_or_insert(failure);
        }
        if exchange.progress.cancelled() {
            break;
        }
    }
    let own = root.join(&known.machine);
    if !exchange.dry_run {
        remove_before(&own, peer.files.first)?;
    }
    let here = engine.stamps(&peer.filter())?;
    let sent = engine.machine_note(&sent_note(&peer.address))?.and_then(|text| turn::decode(&text)).unwrap_or_default();
    let plan = Plan::of(engine, &own, &peer.files, &here, &sent)?;
    if exchange.dry_run {
        met.sent = plan.wanted(&here, &sent).len() as u64;
    } else {
        write_own(exchange, &root, plan, (&here, &sent), peer, met)?;
    }
    failed.map_or(Ok(()), Err)
}

/// The machines that have a folder here.
fn machines(root: &Path) -> Result<Vec<String>, Failure> {
    let entries = match fs::read_dir(root) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(|error| Failure::file(root, &error))?,
    };
    let is_name = |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    let folders = entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let names = folders.filter_map(|entry| entry.file_name().into_string().ok()).filter(|name| is_name(name));
    let mut names: Vec<_> = names.collect();
    names.sort_unstable();
    Ok(names)
}

/// The files of a machine by their numbers. Copies that a conflict has made have other names.
fn files(folder: &Path) -> Result<BTreeMap<u64, PathBuf>, Failure> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        entries => entries.map_err(|error| Failure::file(folder, &error))?,
    };
    let is_number = |digits: &&str| {
        (DIGITS..=MOST_DIGITS).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    let number = |name: &str| name.strip_suffix(SUFFIX).filter(is_number)?.parse::<u64>().ok();
    let files = entries.flatten().filter_map(|entry| Some((number(entry.file_name().to_str()?)?, entry.path())));
    Ok(files.collect())
}

/// Reads the files of another machine, one after the other. One that is not whole yet, or whose predecessor is not there yet, is read
/// another time.
fn read_machine(
    exchange: &Exchange<'_>,
    folder: &Path,
    machine: &str,
    peer: &mut Peer,
    met: &mut Met,
) -> Result<(), Failure> {
    let Exchange { engine, progress, .. } = *exchange;
    let last = peer.files.read.get(machine).copied().unwrap_or(0);
    let mut waits = 0;
    for (number, path) in files(folder)?.into_iter().filter(|(number, _)| *number > last) {
        let last = peer.files.read.get(machine).copied().unwrap_or(0);
        let shown = path.display().to_string();
        // The machine may have replaced it by a newer one.
        let file = match open_plain(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            file => file.map_err(|error| Failure::file(&path, &error))?,
        };
        let mut turn = match turn::read(&mut BufReader::with_capacity(1 << 16, file), exchange.folder) {
            Ok(Some(turn)) => turn,
            Ok(None) | Err(Unusable::Incomplete(_)) => {
                waits += 1;
                continue;
            }
            Err(unusable) => return Err(unusable.failure(&shown)),
        };
        if turn.header.machine != machine || turn.header.number != number {
            let why = "belongs to another machine, or has another number; it was copied here, and is skipped";
            met.notes.push(format!("{shown} {why}"));
            continue;
        }
        if !turn.header.whole && number != last + 1 {
            waits += 1;
            continue;
        }
        met.names.insert(turn.header.name.clone());
        if exchange.dry_run {
            met.here.changed += 1;
        } else {
            turn.states = None;
            if turn.bytes > 0 {
                progress.start("receiving", Some(turn.bytes));
            }
            merge(engine, turn, &peer.filter(), progress, met)?;
            progress.finish();
        }
        peer.files.read.insert(machine.to_owned(), number);
    }
    if waits > 0 {
        let folder = folder.display();
        met.notes.push(format!(
            "{waits} files of {folder}, or files before them, are incomplete; they are read once they are complete"
        ));
    }
    Ok(())
}

/// The next own file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Plan {
    Nothing,
    /// All that has changed, as this file.
    Changes(u64),
    /// Everything, as this file.
    Whole(u64),
}

impl Plan {
    fn of(engine: &Engine, own: &Path, written: &Files, here: &Stamps, sent: &Stamps) -> Result<Self, Failure> {
        let there = files(own)?;
        let next = there.keys().last().copied().unwrap_or(0).max(written.last) + 1;
        // A folder that begins anew has higher numbers than the one that others have read.
        let anew = next.max(engine.now().unsigned_abs());
        let are_all_there = written.first > 0
            && (written.first..=written.last).all(|number| there.contains_key(&number))
            && there.keys().last() == Some(&written.last);
        let [whole, all] = written.bytes;
        let is_large = all > whole * MOST_TIMES + MOST_MORE || written.last - written.first > MOST_FILES;
        Ok(match () {
            () if !are_all_there && here.is_empty() && there.is_empty() => Plan::Nothing,
            () if !are_all_there || is_large || engine.purge_count()? != written.purges => Plan::Whole(anew),
            () if differing(here, sent).is_empty() => Plan::Nothing,
            () => Plan::Changes(next),
        })
    }

    fn wanted(self, here: &Stamps, sent: &Stamps) -> BTreeSet<UlidBytes> {
        match self {
            Plan::Nothing => BTreeSet::new(),
            Plan::Changes(_) => differing(here, sent),
            Plan::Whole(_) => here.keys().copied().collect(),
        }
    }
}

fn write_own(
    exchange: &Exchange<'_>,
    root: &Path,
    plan: Plan,
    (here, sent): (&Stamps, &Stamps),
    peer: &mut Peer,
    met: &mut Met,
) -> Result<(), Failure> {
    let Exchange { engine, known, progress, .. } = *exchange;
    let (Plan::Changes(number) | Plan::Whole(number)) = plan else { return Ok(()) };
    let whole = matches!(plan, Plan::Whole(_));
    // A purge that ends while the file is written makes another one.
    let purges = engine.purge_count()?;
    let own = &root.join(&known.machine);
    fs::create_dir_all(own).map_err(|error| Failure::file(own, &error))?;
    let attributes = root.join(ATTRIBUTES.0);
    if !attributes.exists() {
        fs::write(&attributes, ATTRIBUTES.1).map_err(|error| Failure::file(&attributes, &error))?;
    }
    sweep(own, ABANDONED);
    let path = own.join(format!("{number:0DIGITS$}{SUFFIX}"));
    let failure = |error: io::Error| Failure::file(&path, &error);
    let new = NewFile::beside(&path).map_err(failure)?;
    let wanted = plan.wanted(here, sent);
    let header = Header {
        project: peer.project.clone(),
        state: turn::digest(here),
        number,
        whole,
        ..Header::new(&known.machine, engine.now())
    };
    progress.start("writing", Some(wanted.len() as u64));
    let written = turn::write(&mut new.file(), &header, None, |out: &mut dyn Write| {
        met.sent += write_lines(engine, &wanted, &peer.filter(), false, progress, out).map_err(Unwritten::Failed)?;
        Ok(())
    });
    written.map_err(|unwritten| match unwritten {
        Unwritten::Failed(failure) => failure,
        Unwritten::Io(error) => failure(error),
    })?;
    let bytes = new.replace().map_err(|error| failure(error.into()))?;
    progress.finish();
    engine.write_machine_note(&sent_note(&peer.address), &turn::encode(here))?;
    if whole {
        peer.files =
            Files { first: number, last: number, bytes: [bytes, bytes], purges, ..std::mem::take(&mut peer.files) };
        remove_before(own, number)?;
    } else {
        peer.files.last = number;
        peer.files.bytes[1] += bytes;
    }
    Ok(())
}

/// Removes the own files before a whole one: they may have texts that were purged since.
fn remove_before(own: &Path, first: u64) -> Result<(), Failure> {
    for (_, older) in files(own)?.into_iter().filter(|(number, _)| *number < first) {
        fs::remove_file(&older).map_err(|error| Failure::file(&older, &error))?;
    }
    Ok(())
}

/// Why a file was not written.
enum Unwritten {
    Failed(Failure),
    Io(io::Error),
}

impl From<io::Error> for Unwritten {
    fn from(error: io::Error) -> Self {
        Unwritten::Io(error)
    }
}
