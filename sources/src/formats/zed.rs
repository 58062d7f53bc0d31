//! Zed: `~/.local/share/zed/threads/threads.db`. A row is a thread of its agent, as JSON that is packed.
//!
//! A thread is written anew whenever it changes, and has one time: that of its beginning.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use rusqlite::Row;
use serde::{Deserialize, Deserializer};

use super::blocks::{COMMON, typed};
use super::field::{Field, label as cut, parse};
use super::object::{JoinedText, KeptMessage, WholeSession, objects};
use super::records::{MAX_ID, UNREADABLE, hash, join, trimmed, unpacked};
use super::sqlite::{Database, Watermark, bytes, cursor, label, limited, line, number, place, text};
use super::{Batch, Cursor, Format, ReadError, Role, Turn};
use crate::foreign::Foreign;
use crate::machine::Machine;

/// Reads threads of Zed.
pub struct Zed;

/// The most that a thread has when it is unpacked, in bytes.
const MAX_THREAD: u64 = 32 << 20;
/// Bytes of turns that are read at once.
const PART: usize = 32 << 20;

impl Format for Zed {
    fn name(&self) -> &'static str {
        "zed"
    }

    fn places(&self, machine: &Machine) -> Vec<PathBuf> {
        let folders = [
            machine.path("XDG_DATA_HOME", ".local/share").join("zed"),
            machine.home().join("Library/Application Support/Zed"),
            machine.path("LOCALAPPDATA", "AppData/Local").join("Zed"),
        ];
        folders.map(|folder| folder.join("threads")).into()
    }

    fn is_transcript(&self, path: &Path) -> bool {
        path.ends_with("threads.db")
    }

    fn read_file(&self, file: Foreign<'_>, since: Option<&Cursor>) -> Result<Batch, ReadError> {
        let database = Database::open(file)?;
        let columns = database.require("threads", &["id", "summary", "updated_at", "data_type", "data"])?;
        let mut read: Watermark = place(since);
        let mut changed = Vec::new();
        database.each("SELECT rowid, updated_at FROM threads", [], |row| {
            let at = text(row, 1)?.and_then(|at| at.parse::<jiff::Timestamp>().ok());
            changed.push((at.map_or(0, jiff::Timestamp::as_millisecond), number(row, 0)?.unwrap_or_default()));
            Ok(())
        })?;
        changed.retain(|(at, _)| *at >= read.from());
        changed.sort_unstable();
        let or_null = |name: &'static str| if columns.contains(name) { name } else { "NULL" };
        let query = format!(
            "SELECT id, summary, updated_at, data_type, {}, {}, {}, {} FROM threads WHERE rowid = ?1",
            limited("data"),
            or_null("parent_id"),
            or_null("folder_paths"),
            or_null("created_at"),
        );
        let (mut batch, mut counted, mut size) = (Batch::default(), 0, 0);
        for (at, row) in changed {
            if size >= PART {
                batch.more = true;
                break;
            }
            database.each(&query, [row], |columns| take(&database, columns, (at, row), &mut read, &mut batch))?;
            size += batch.turns[counted..].iter().map(Turn::size).sum::<usize>();
            counted = batch.turns.len();
        }
        read.prune();
        batch.cursor = cursor(&read);
        Ok(batch)
    }
}

/// Adds the turns of a row that has changed at some time.
fn take(
    database: &Database,
    columns: &Row<'_>,
    (at, row): (i64, i64),
    read: &mut Watermark,
    batch: &mut Batch,
) -> Result<(), ReadError> {
    let id = label(columns, 0)?.filter(|id| id.len() <= MAX_ID);
    let (Some(id), changed) = (id, text(columns, 2)?.unwrap_or_default()) else {
        batch.skipped.count(UNREADABLE);
        return Ok(());
    };
    if !read.is_new(at, hash(&[&id, &changed])) {
        return Ok(());
    }
    let mut json = bytes(columns, 4)?.unwrap_or_default().to_vec();
    if text(columns, 3)?.as_deref() == Some("zstd") {
        json = unpack(&json).unwrap_or_default();
        database.count(json.len() as u64)?;
    }
    let mut mended = Vec::new();
    let Some(thread) = parse::<ZedThread<'_>>(&json, &mut mended) else {
        batch.skipped.count(UNREADABLE);
        return Ok(());
    };
    let folders = text(columns, 6)?.unwrap_or_default();
    let begun = text(columns, 7)?.and_then(|at| at.parse::<jiff::Timestamp>().ok());
    let model = thread.model.object().and_then(|model| model.model.owned()).filter(|model| model.len() <= MAX_ID);
    let session = WholeSession {
        title: text(columns, 1)?.and_then(|title| trimmed(&cut(&title))),
        cwd: folders.lines().next().map(cut),
        subagent: text(columns, 5)?.map(|_| id.clone()),
        row: Some(line(row)),
        id,
    };
    let messages = objects(thread.messages).map(|ZedMessage(kept)| KeptMessage {
        at: begun.map(jiff::Timestamp::as_millisecond),
        model: model.clone(),
        ..kept
    });
    session.push(messages, batch);
    Ok(())
}

/// The text of a packed thread, unless it is broken or too long.
fn unpack(packed: &[u8]) -> Option<Vec<u8>> {
    let mut json = Vec::new();
    unpacked(packed)?.take(MAX_THREAD + 1).read_to_end(&mut json).ok()?;
    (json.len() as u64 <= MAX_THREAD).then_some(json)
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ZedThread<'a> {
    #[serde(borrow)]
    model: Field<'a, ZedModel<'a>>,
    messages: Field<'a, ZedMessage>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ZedModel<'a> {
    #[serde(borrow)]
    model: Field<'a>,
}

struct ZedMessage(KeptMessage);

/// A message, by who says it; in older versions `role` names them, and the text is in segments.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Speech<'a> {
    #[serde(borrow, rename = "User")]
    user: Field<'a, Spoken<'a>>,
    #[serde(rename = "Agent")]
    agent: Field<'a, Spoken<'a>>,
    role: Field<'a>,
    text: Field<'a>,
    segments: SegmentTexts,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Spoken<'a> {
    #[serde(borrow)]
    id: Field<'a>,
    content: Field<'a, SpokenPart<'a>>,
}

/// A part of a message, by its kind.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
struct SpokenPart<'a> {
    #[serde(borrow)]
    text: Field<'a>,
    mention: Field<'a>,
    image: Field<'a>,
    thinking: Field<'a>,
    redacted_thinking: Field<'a>,
    tool_use: Field<'a>,
}

/// The texts of segments, without thinking.
#[derive(Default)]
struct SegmentTexts(Vec<String>);

#[derive(Default, Deserialize)]
#[serde(default)]
struct Segment<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    text: JoinedText,
}

impl<'de> Deserialize<'de> for SegmentTexts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let segments = objects(Field::<'de, Segment<'de>>::deserialize(deserializer)?);
        Ok(SegmentTexts(segments.filter(|one| one.kind.text() == Some("text")).filter_map(|one| one.text.0).collect()))
    }
}

impl<'de> Deserialize<'de> for ZedMessage {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let speech = Speech::deserialize(deserializer)?;
        let mut kept = KeptMessage::default();
        let (role, texts) = match (speech.user.object(), speech.agent.object(), speech.role.text()) {
            (Some(user), ..) => {
                kept.id = user.id.owned();
                (Role::User, parts(user, &mut kept))
            }
            (_, Some(agent), _) => (Role::Assistant, parts(agent, &mut kept)),
            (.., Some(role @ ("user" | "assistant"))) => {
                let role = if role == "user" { Role::User } else { Role::Assistant };
                (role, speech.segments.0.into_iter().chain(speech.text.text().map(str::to_owned)).collect())
            }
            _ => {
                kept.skipped.count("unknown role");
                return Ok(ZedMessage(kept));
            }
        };
        let said = texts.iter().filter_map(|text| match role {
            Role::User => typed(text, &COMMON, &mut kept.skipped),
            _ => trimmed(text),
        });
        let said = join(said.collect::<Vec<_>>());
        kept.said.extend(said.map(|text| (role, text)));
        Ok(ZedMessage(kept))
    }
}

/// The texts of a message; its other parts are counted.
fn parts(spoken: &Spoken<'_>, kept: &mut KeptMessage) -> Vec<String> {
    let mut texts = Vec::new();
    for part in spoken.content.elements().iter().filter_map(Field::object) {
        let others = [
            (&part.mention, "file"),
            (&part.image, "image"),
            (&part.thinking, "thinking"),
            (&part.redacted_thinking, "thinking"),
            (&part.tool_use, "tool call"),
        ];
        match part.text.text() {
            Some(text) => texts.push(text.to_owned()),
            None => {
                let other = others.iter().find(|(field, _)| !matches!(field, Field::Nothing));
                kept.skipped.count(other.map_or("no text", |(_, reason)| reason));
            }
        }
    }
    texts
}

#[cfg(test)]
mod tests;
