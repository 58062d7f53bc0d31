//! A store's knowledge of the other machines of its person: one note in `memory.db`, as JSON.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use memorist_engine::types::{Filter, Millis, Viewer};
use memorist_engine::{Engine, Error};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::exit::{Failure, Kind};
use crate::random;
use crate::wire::ChangedInBoth;

/// The name of the note.
const NOTE: &str = "known";
/// Hex digits of a machine's name.
const DIGITS: usize = 32;

/// A store's knowledge of the machines of its person.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Known {
    /// The name of this store among them.
    pub machine: String,
    /// The identity of the store that got the name. A copy of it gets another.
    copy: String,
    /// Where others are met.
    pub peers: Vec<Peer>,
    /// Conflicts that nobody has looked at yet.
    pub conflicts: Vec<Conflict>,
}

/// A place where other machines are met.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Peer {
    /// A folder, or `ssh://HOST`.
    pub address: String,
    /// The name of the other machine, as it says it itself.
    pub name: Option<String>,
    /// Only memories of this project, and memories without a project.
    pub project: Option<String>,
    /// The command that runs this program there.
    pub program: Option<String>,
    /// When the last exchange was complete.
    pub met_at: Option<Millis>,
    /// Why the last one failed.
    pub error: Option<String>,
    /// The files in a folder, as far as they were written and read.
    #[serde(default)]
    pub files: Files,
}

/// The files of a folder, as far as a store has written its own and read those of others.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Files {
    /// The number of the first own file, which has everything; 0 without one.
    pub first: u64,
    /// The number of the last own file.
    pub last: u64,
    /// Bytes of the first one, and of all.
    pub bytes: [u64; 2],
    /// How many purges the store had seen when it wrote the first one.
    pub purges: u64,
    /// The number of the last file that was read of each other machine.
    pub read: BTreeMap<String, u64>,
}

/// A memory that was changed on two machines: one of the two texts is an earlier version now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Conflict {
    /// The memory.
    pub id: i64,
    /// The version with the other text.
    pub version: i64,
    /// The number of the newest version when that was noticed: a later one means that somebody has looked.
    pub newest: i64,
    /// The place over which it came.
    pub address: String,
}

/// How a store stands with the other machines of its person: for people.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Standing {
    /// The places that are remembered.
    pub places: Vec<PlaceStanding>,
    /// Memories that were changed on two machines.
    pub conflicts: Vec<Conflict>,
}

/// How a store stands with one place.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlaceStanding {
    /// A folder, or `ssh://HOST`.
    pub address: String,
    /// The name of the machine, where that is one.
    pub name: Option<String>,
    /// The project that is exchanged alone.
    pub project: Option<String>,
    /// When the last exchange was complete.
    pub met_at: Option<Millis>,
    /// Why the last try failed.
    pub error: Option<String>,
}

impl Standing {
    /// How a store stands.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn of(engine: &Engine) -> Result<Self, Failure> {
        let known = Known::as_noted(engine)?;
        let conflicts = known.open_conflicts(engine)?;
        let place = |Peer { address, name, project, met_at, error, .. }| PlaceStanding {
            address,
            name,
            project,
            met_at,
            error,
        };
        Ok(Standing { places: known.peers.into_iter().map(place).collect(), conflicts })
    }
}

/// A kind of place where machines meet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A folder that something else carries.
    Folder(PathBuf),
    /// A machine that ssh reaches: the host, with a user or without, and a port.
    Ssh { host: String, port: Option<u16> },
}

impl Place {
    /// Reads an address as a person writes it.
    ///
    /// # Errors
    /// An address that is neither, with the way to write one.
    pub fn parse(address: &str) -> Result<Self, Failure> {
        if let Some(rest) = address.strip_prefix("ssh://") {
            return ssh_place(rest.trim_end_matches('/')).map_err(|why| Failure::input(format!("{address}: {why}")));
        }
        if address.contains("://") {
            let why = "name another machine as ssh://HOST, or a folder";
            return Err(Failure::input(format!("{address}: {why}")));
        }
        let folder = Path::new(address);
        // A folder that is not there is not made: a stick that is not plugged in would become one.
        let real = dunce::canonicalize(folder).map_err(|error| {
            let hint = "; for a machine that ssh reaches, write ssh://HOST";
            let hint = if address.contains(['/', '\\']) { "" } else { hint };
            Failure::new(Kind::Io, format!("{address}: {error}{hint}"))
        })?;
        if !real.is_dir() {
            return Err(Failure::input(format!("{address} is not a folder")));
        }
        Ok(Place::Folder(real))
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Folder(folder) => write!(f, "{}", folder.display()),
            Place::Ssh { host, port: None } => write!(f, "ssh://{host}"),
            Place::Ssh { host, port: Some(port) } => write!(f, "ssh://{host}:{port}"),
        }
    }
}

/// Reads the part of an address after `ssh://`. What begins with `-` would be an option of ssh.
fn ssh_place(rest: &str) -> Result<Place, &'static str> {
    let (user, name) = rest.rsplit_once('@').map_or((None, rest), |(user, name)| (Some(user), name));
    let (name, port) = match name.rsplit_once(':') {
        Some((name, port)) if !name.contains(':') || name.ends_with(']') => (name, Some(port)),
        _ => (name, None),
    };
    let is_plain = |text: &str, more: &str| {
        let is_allowed = |char: char| char.is_ascii_alphanumeric() || "._-".contains(char) || more.contains(char);
        !text.is_empty() && !text.starts_with('-') && text.chars().all(is_allowed)
    };
    if !is_plain(name, ":[]%") || user.is_some_and(|user| !is_plain(user, "+")) {
        return Err("is not ssh://HOST, ssh://USER@HOST or ssh://HOST:PORT");
    }
    let port = port.map(str::parse).transpose().map_err(|_| "the port is not a number up to 65535")?;
    let name = name.trim_start_matches('[').trim_end_matches(']');
    let host = user.map_or_else(|| name.to_owned(), |user| format!("{user}@{name}"));
    Ok(Place::Ssh { host, port })
}

impl Known {
    /// The knowledge of a store. One that was copied or restored has another name than the store that it was copied from, and reads
    /// and writes everything again.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn of(engine: &Engine) -> Result<Self, Failure> {
        let copy = engine.copy_identity()?;
        let is_current = |known: &Known| known.copy == copy && !known.machine.is_empty();
        let known = read(engine.machine_note(NOTE)?)?;
        if is_current(&known) {
            return Ok(known);
        }
        let machine = random::token()?[..DIGITS].to_owned();
        change(engine, |known| {
            // Another process may have done it meanwhile.
            if !is_current(known) {
                (known.machine, known.copy) = (machine.clone(), copy.clone());
                known.peers.iter_mut().for_each(|peer| peer.files = Files::default());
            }
        })
    }

    /// The knowledge of a store that has any; nothing is written.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn as_noted(engine: &Engine) -> Result<Self, Failure> {
        Ok(read(engine.machine_note(NOTE)?)?)
    }

    /// Remembers a place, or what has become of it. It stays in its row.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn remember(engine: &Engine, peer: &Peer) -> Result<Self, Failure> {
        change(engine, |known| match known.peers.iter_mut().find(|known| known.address == peer.address) {
            Some(known) => *known = peer.clone(),
            None => known.peers.push(peer.clone()),
        })
    }

    /// Forgets a place. Returns whether it was known.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn forget(engine: &Engine, address: &str) -> Result<bool, Failure> {
        let mut is_known = false;
        change(engine, |known| {
            is_known |= known.peers.iter().any(|peer| peer.address == address);
            known.peers.retain(|peer| peer.address != address);
        })?;
        if is_known {
            engine.write_machine_note(&sent_note(address), "")?;
        }
        Ok(is_known)
    }

    /// Notes the conflicts that an exchange has found.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn note_conflicts(engine: &Engine, address: &str, found: &[ChangedInBoth]) -> Result<(), Failure> {
        let mut noted = Vec::new();
        for ChangedInBoth { id, version } in found {
            if let Some(record) = engine.viewed_by(&Viewer::OWNER).get((*id).into())? {
                let address = address.to_owned();
                noted.push(Conflict { id: *id, version: *version, newest: record.version, address });
            }
        }
        if noted.is_empty() {
            return Ok(());
        }
        change(engine, |known| {
            known.conflicts.retain(|old| noted.iter().all(|new| new.id != old.id));
            known.conflicts.extend(noted.iter().cloned());
        })
        .map(drop)
    }

    /// The conflicts that are open: the memory is there, and has not been changed since.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn open_conflicts(&self, engine: &Engine) -> Result<Vec<Conflict>, Failure> {
        let mut open = Vec::new();
        for conflict in &self.conflicts {
            let record = engine.viewed_by(&Viewer::OWNER).get(conflict.id.into())?;
            if record.is_some_and(|record| record.version == conflict.newest) {
                open.push(conflict.clone());
            }
        }
        Ok(open)
    }

    /// Leaves a memory as it is: its conflict is settled. Returns whether there was one.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn settle(engine: &Engine, id: i64) -> Result<bool, Failure> {
        let mut is_settled = false;
        change(engine, |known| {
            is_settled |= known.conflicts.iter().any(|conflict| conflict.id == id);
            known.conflicts.retain(|conflict| conflict.id != id);
        })?;
        Ok(is_settled)
    }
}

impl Peer {
    /// The memories that go there and come from there.
    pub fn filter(&self) -> Filter {
        filter_of(self.project.as_deref())
    }
}

/// The memories of a project and those without a project; if no project is given, all.
pub fn filter_of(project: Option<&str>) -> Filter {
    Filter::of(project.map_or(Viewer::OWNER, Viewer::in_project))
}

/// The name of the note with the states that were sent to a folder.
pub fn sent_note(address: &str) -> String {
    format!("sent {address}")
}

fn read(note: Option<String>) -> Result<Known, Error> {
    let Some(json) = note else { return Ok(Known::default()) };
    serde_json::from_str(&json).map_err(|_| {
        Error::invalid("store", "its note about your other machines is of a newer memorist; update this one")
    })
}

fn change(engine: &Engine, mut change: impl FnMut(&mut Known)) -> Result<Known, Failure> {
    let mut known = Known::default();
    engine.change_machine_note(NOTE, |note| {
        known = read(note)?;
        change(&mut known);
        // Names and numbers are always JSON.
        Ok(serde_json::to_string(&known).ok())
    })?;
    Ok(known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_folder_or_a_host() {
        let folder = tempfile::tempdir().unwrap();
        let parse = |address: &str| Place::parse(address).map(|place| place.to_string());
        assert_eq!(parse("ssh://laptop").unwrap(), "ssh://laptop");
        assert_eq!(parse("ssh://ana@laptop.local:2222/").unwrap(), "ssh://ana@laptop.local:2222");
        assert_eq!(Place::parse("ssh://[fe80::1]:22").unwrap(), Place::Ssh { host: "fe80::1".into(), port: Some(22) });
        assert!(matches!(Place::parse(folder.path().to_str().unwrap()).unwrap(), Place::Folder(_)));
        for wrong in [
            "ssh://-oProxyCommand=x", "ssh://", "ssh://a b", "ssh://a;b", "ssh://-l@host", "ssh://host:x",
            "https://host", "laptop", "/no/such/folder",
        ] {
            let why = parse(wrong).unwrap_err().to_string();
            assert!(why.starts_with(wrong), "{why}");
        }
        assert!(parse("laptop").unwrap_err().to_string().contains("ssh://HOST"));
    }
}
