//! **The format** of what one machine tells another at a time, over a pipe or in a file: JSON Lines.
//!
//! ```json
//! {"type":"memoristSync","format":1,"machine":"5f…","name":"laptop","at":1767225600000,"state":"9c…"}
//! {"type":"states","of":"AZ…"}
//! {"type":"memorist","format":4,"model":{…}}
//! {"type":"tombstone",…}
//! {"type":"record",…}
//! {"type":"link",…}
//! {"type":"end","lines":6,"sha256":"04…"}
//! ```
//!
//! The first line names the machine. `state` is a SHA-256 over the states of its memories: two machines with one state have nothing to
//! tell each other. It has also `project`, if the exchange is about one; `done`, what the machine did with the last turn of the
//! other one; and in a file `number` and `whole`: a whole file does not need those before it.
//!
//! `states`, over a pipe alone, are base64 of 24 bytes a memory: its ULID, and its state as a little-endian number of 64 bits.
//!
//! Then come the lines of an export (`wire/exchange.rs`), with tombstones (`wire/exchange_tombstones.rs`) before the memories.
//!
//! The last line counts the lines before it and has the SHA-256 of their bytes. Nothing of a turn is used before it was read.

use std::fs::File;
use std::io::{self, BufRead, BufWriter, Read, Seek, Write};
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use memorist_engine::text::to_hex;
use memorist_engine::types::{Millis, Stamps};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::exit::{Failure, Kind};

/// The format that is written, and the newest that is read.
const FORMAT: i64 = 1;
/// Bytes of a memory in `states`.
const STATE_BYTES: usize = 24;
/// Memories in a line of `states`.
const STATES_PER_LINE: usize = 4096;
/// Longest line. A memory with many long versions has millions of bytes.
const MAX_LINE: u64 = 64 << 20;
/// Most characters of a machine's name.
const MAX_NAME: usize = 64;
/// Lines that something else may print before a turn, as the shell of an account does.
const MAX_NOISE: usize = 100;

/// The first line of a turn.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Header {
    /// Always the same.
    pub r#type: String,
    /// The version of the format.
    pub format: i64,
    /// The machine, in hex digits.
    pub machine: String,
    /// Its name for people.
    pub name: String,
    /// The time by its clock.
    pub at: Millis,
    /// The state of all its memories.
    pub state: String,
    /// The project that the exchange is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Its changes after the last turn of the other machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub done: Option<Done>,
    /// The number of a file.
    #[serde(default)]
    pub number: u64,
    /// Whether a file has everything that its machine has.
    #[serde(default)]
    pub whole: bool,
}

impl Header {
    /// The header of a machine at the moment `at`.
    pub fn new(machine: &str, at: Millis) -> Self {
        // A machine without a name is one all the same.
        let name = whoami::hostname().unwrap_or_else(|_| "a machine".to_owned());
        Header {
            r#type: "memoristSync".to_owned(),
            format: FORMAT,
            machine: machine.to_owned(),
            name,
            at,
            ..Header::default()
        }
    }
}

/// The changes that a machine has made after a turn of another one, as numbers of memories and links.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Done {
    /// New memories.
    pub created: u64,
    /// Memories that were changed there alone.
    pub changed: u64,
    /// Memories that were changed on both: conflicts.
    pub united: u64,
    /// Deleted memories and links.
    pub deleted: u64,
    /// Purged memories and versions.
    pub purged: u64,
    /// New links.
    pub links: u64,
    /// Memories and links that were refused.
    pub refused: u64,
}

impl Done {
    /// Adds what was done with another turn.
    pub fn add(&mut self, other: &Done) {
        self.created = self.created.saturating_add(other.created);
        self.changed = self.changed.saturating_add(other.changed);
        self.united = self.united.saturating_add(other.united);
        self.deleted = self.deleted.saturating_add(other.deleted);
        self.purged = self.purged.saturating_add(other.purged);
        self.links = self.links.saturating_add(other.links);
        // The same are refused again.
        self.refused = self.refused.max(other.refused);
    }

    /// Whether the memories or links are others than before.
    pub fn is_any(&self) -> bool {
        *self != Done { refused: self.refused, ..Done::default() }
    }
}

/// A turn that was read to its end.
#[derive(Debug)]
pub struct IncomingTurn {
    /// Its first line.
    pub header: Header,
    /// The states of the memories of the other machine, if it said them.
    pub states: Option<Stamps>,
    /// Its other lines, in a file without a name.
    pub lines: File,
    /// The bytes of these.
    pub bytes: u64,
}

/// Why a turn cannot be used.
#[derive(Debug)]
pub enum Unusable {
    /// Its end is missing, or not that of these lines: it may be on its way.
    Incomplete(String),
    /// It cannot be used, whatever comes.
    Refused(String),
    /// It cannot be read or kept.
    Failed(io::Error),
}

impl Unusable {
    /// The failure of an exchange with `who`.
    pub fn failure(self, who: &str) -> Failure {
        match self {
            Unusable::Incomplete(why) => Failure::new(Kind::Io, format!("{who}: {why}; nothing of it was used")),
            Unusable::Refused(why) => Failure::input(format!("{who}: {why}")),
            Unusable::Failed(error) => Failure::new(Kind::Io, format!("{who}: {error}")),
        }
    }
}

impl From<io::Error> for Unusable {
    fn from(error: io::Error) -> Self {
        Unusable::Failed(error)
    }
}

/// The state of all memories.
pub fn digest(states: &Stamps) -> String {
    let mut hash = Sha256::new();
    for (ulid, state) in states {
        hash.update(ulid);
        hash.update(state.to_le_bytes());
    }
    to_hex(&hash.finalize())
}

/// States as base64.
pub fn encode(states: &Stamps) -> String {
    STANDARD.encode(states.iter().flat_map(bytes_of).collect::<Vec<u8>>())
}

/// States from base64; `None` if it is something else.
pub fn decode(text: &str) -> Option<Stamps> {
    let bytes = STANDARD.decode(text).ok()?;
    let (each, rest) = bytes.as_chunks::<STATE_BYTES>();
    let state = |entry: &[u8; STATE_BYTES]| {
        let (ulid, state) = entry.split_first_chunk::<16>()?;
        Some((*ulid, u64::from_le_bytes(state.try_into().ok()?)))
    };
    if rest.is_empty() { each.iter().map(state).collect() } else { None }
}

fn bytes_of((ulid, state): (&[u8; 16], &u64)) -> impl Iterator<Item = u8> + use<> {
    ulid.iter().copied().chain(state.to_le_bytes()).collect::<Vec<u8>>().into_iter()
}

/// Writes a turn. `lines` writes those between the states and the end.
pub fn write<E: From<io::Error>>(
    out: &mut dyn Write,
    header: &Header,
    states: Option<&Stamps>,
    lines: impl FnOnce(&mut dyn Write) -> Result<(), E>,
) -> Result<(), E> {
    let mut out = Hashed { out: BufWriter::new(out), hash: Sha256::new(), lines: 0 };
    write_line(&mut out, header)?;
    let all: Vec<_> = states.into_iter().flatten().collect();
    for block in all.chunks(STATES_PER_LINE) {
        let of = STANDARD.encode(block.iter().copied().flat_map(bytes_of).collect::<Vec<u8>>());
        write_line(&mut out, &States { r#type: "states".to_owned(), of })?;
    }
    if states.is_some() && all.is_empty() {
        write_line(&mut out, &States { r#type: "states".to_owned(), of: String::new() })?;
    }
    lines(&mut out)?;
    let Hashed { mut out, hash, lines } = out;
    write_line(&mut out, &End { r#type: "end".to_owned(), lines, sha256: to_hex(&hash.finalize()) })?;
    Ok(out.flush()?)
}

fn write_line(out: &mut impl Write, line: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, line)?;
    out.write_all(b"\n")
}

/// A line of states.
#[derive(Serialize, Deserialize)]
struct States {
    r#type: String,
    of: String,
}

/// The last line of a turn. Its fields are in this order.
#[derive(Serialize, Deserialize)]
struct End {
    r#type: String,
    lines: u64,
    sha256: String,
}

/// A writer that counts lines and hashes bytes.
struct Hashed<W> {
    out: W,
    hash: Sha256,
    lines: u64,
}

impl<W: Write> Write for Hashed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.hash.update(&bytes[..written]);
        self.lines += bytes[..written].iter().filter(|byte| **byte == b'\n').count() as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Reads a turn to its end; `None` where there is nothing. Its lines are kept in a file without a name in `folder`.
///
/// # Errors
/// If it cannot be used.
pub fn read(input: &mut impl BufRead, folder: &Path) -> Result<Option<IncomingTurn>, Unusable> {
    let Some((first, header)) = read_header(input)? else { return Ok(None) };
    let mut hash = Sha256::new_with_prefix(&first);
    let (mut states, mut bytes, mut lines) = (None::<Stamps>, 0, 1);
    let mut kept = BufWriter::new(tempfile::tempfile_in(folder)?);
    loop {
        let line = read_line(input)?;
        if !line.ends_with(b"\n") {
            return Err(Unusable::Incomplete("ends in the middle".into()));
        }
        if line.starts_with(br#"{"type":"end","#) {
            let end = serde_json::from_slice::<End>(&line).map_err(|error| Unusable::Incomplete(error.to_string()))?;
            if (end.lines, end.sha256) != (lines, to_hex(&hash.finalize())) {
                return Err(Unusable::Incomplete("is not what its last line says".into()));
            }
            let mut lines = kept.into_inner().map_err(io::IntoInnerError::into_error)?;
            lines.rewind()?;
            return Ok(Some(IncomingTurn { header, states, lines, bytes }));
        }
        hash.update(&line);
        lines += 1;
        if line.starts_with(br#"{"type":"states","#) {
            states.get_or_insert_default().extend(states_of(&line)?);
        } else {
            bytes += line.len() as u64;
            kept.write_all(&line)?;
        }
    }
}

/// The first line of a turn, and its bytes.
fn read_header(input: &mut impl BufRead) -> Result<Option<(Vec<u8>, Header)>, Unusable> {
    #[derive(Deserialize)]
    struct FormatOnly {
        format: i64,
    }
    let mut noise = None;
    for _ in 0..MAX_NOISE {
        let line = read_line(input)?;
        if line.is_empty() {
            break;
        }
        if !line.ends_with(b"\n") && noise.is_none() {
            return Err(Unusable::Incomplete("ends in the middle".into()));
        }
        if !line.starts_with(br#"{"type":"memoristSync","#) {
            noise = Some(line);
            continue;
        }
        let refuse = |error: serde_json::Error| Unusable::Refused(format!("its first line cannot be read: {error}"));
        let FormatOnly { format } = serde_json::from_slice(&line).map_err(refuse)?;
        if format > FORMAT {
            let why =
                format!("speaks format {format}, of a newer memorist, and this one up to {FORMAT}; update memorist");
            return Err(Unusable::Refused(why));
        }
        let mut header: Header = serde_json::from_slice(&line).map_err(refuse)?;
        header.name = memorist_engine::text::one_line(&header.name, MAX_NAME);
        return Ok(Some((line, header)));
    }
    match noise {
        None => Ok(None),
        Some(noise) => {
            let said = memorist_engine::text::one_line(&String::from_utf8_lossy(&noise), 80);
            Err(Unusable::Refused(format!("says something else than memorist: {said}")))
        }
    }
}

fn states_of(line: &[u8]) -> Result<Stamps, Unusable> {
    let states = serde_json::from_slice::<States>(line).ok().and_then(|States { of, .. }| decode(&of));
    states.ok_or_else(|| Unusable::Refused("its states cannot be read".into()))
}

fn read_line(input: &mut impl BufRead) -> Result<Vec<u8>, Unusable> {
    let mut line = Vec::new();
    input.take(MAX_LINE + 1).read_until(b'\n', &mut line)?;
    if line.len() as u64 > MAX_LINE {
        return Err(Unusable::Refused(format!("has a line of more than {MAX_LINE} bytes")));
    }
    Ok(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn() -> (Header, Stamps, Vec<u8>) {
        let header = Header { state: "9c".into(), whole: true, number: 3, ..Header::new("5f", 7) };
        let states: Stamps = (0..10_000_u64).map(|at| (u128::from(at).to_le_bytes(), at * 3)).collect();
        let mut bytes = Vec::new();
        write(&mut bytes, &header, Some(&states), |out| out.write_all(b"{\"type\":\"memorist\",\"format\":4}\n{}\n"))
            .unwrap();
        (header, states, bytes)
    }

    fn read_bytes(bytes: &[u8]) -> Result<Option<IncomingTurn>, Unusable> {
        read(&mut io::BufReader::with_capacity(11, bytes), &std::env::temp_dir())
    }

    #[test]
    fn a_turn_is_read_as_it_was_written() {
        let (header, states, bytes) = turn();
        for noise in ["", "Welcome to laptop\nLast login: today\n"] {
            let turn = read_bytes(&[noise.as_bytes(), &bytes].concat()).unwrap().unwrap();
            assert_eq!((&turn.header, turn.states.as_ref()), (&header, Some(&states)));
            assert_eq!(io::read_to_string(turn.lines).unwrap(), "{\"type\":\"memorist\",\"format\":4}\n{}\n");
        }
        assert!(read_bytes(b"").unwrap().is_none());
        assert_eq!(decode(&encode(&states)), Some(states));
        let mut empty = Vec::new();
        write(&mut empty, &header, Some(&Stamps::new()), |_| Ok::<_, io::Error>(())).unwrap();
        assert_eq!(read_bytes(&empty).unwrap().unwrap().states, Some(Stamps::new()));
    }

    /// Cut anywhere, or with a byte that is another, nothing of a turn is used.
    #[test]
    fn a_turn_is_whole_or_nothing() {
        let (_, _, bytes) = turn();
        for cut in (1..bytes.len()).step_by(bytes.len() / 50).chain([bytes.len() - 1]) {
            let unusable = read_bytes(&bytes[..cut]).unwrap_err();
            assert!(matches!(unusable, Unusable::Incomplete(_) | Unusable::Refused(_)), "{cut}: {unusable:?}");
        }
        let mut other = bytes.clone();
        let at = other.len() - 200;
        other[at] = other[at].wrapping_add(1);
        assert!(read_bytes(&other).is_err());
    }

    #[test]
    fn a_newer_format_is_refused() {
        let (_, _, bytes) = turn();
        let newer = String::from_utf8(bytes).unwrap().replacen("\"format\":1", "\"format\":2", 1);
        let Err(Unusable::Refused(why)) = read_bytes(newer.as_bytes()) else { panic!() };
        assert!(why.contains("update memorist"), "{why}");
        let Err(Unusable::Refused(why)) = read_bytes(b"bash: memorist: command not found\n") else { panic!() };
        assert!(why.contains("command not found"), "{why}");
    }
}
