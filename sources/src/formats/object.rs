//! Transcripts that are one JSON value. The program rewrites the file with each message.
//!
//! Such a file is read as a whole whenever it has changed. The place of a turn is the number of its message.

use std::collections::HashSet;

use serde::{Deserialize, Deserializer};

use super::field::{Field, MAX_LIST};
use super::records::{MAX_ID, UNREADABLE, join, stamp, trimmed};
use super::{Batch, Cursor, ReadError, Role, Skipped, Turn};
use crate::foreign::Foreign;

/// The largest file that is read, in bytes.
const MAX_OBJECT: u64 = 32 << 20;
/// The most bytes that all turns together have of their folder: the turns are made at once.
const MAX_FOLDERS: usize = 32 << 20;

/// Reads a file that has changed. `take` is false if it is no such value: while it is being written it cannot be read, and
/// is read again.
///
/// # Errors
/// The file system's.
pub fn read_object(
    file: Foreign<'_>,
    since: Option<&Cursor>,
    take: impl FnOnce(&[u8], &mut Batch) -> bool,
) -> Result<Batch, ReadError> {
    let mut opened = file.open(MAX_OBJECT)?;
    let cursor = stamp(&opened)?;
    let mut batch = Batch::default();
    if since == Some(&cursor) {
        return Ok(Batch { cursor, ..batch });
    }
    batch.whole = true;
    match take(&opened.read_all()?, &mut batch) {
        true => batch.cursor = cursor,
        false => {
            batch.whole = false;
            batch.skipped.count(UNREADABLE);
        }
    }
    Ok(batch)
}

/// The parts of a message that are kept. They are made while the list of messages is read: all of its pieces would take memory.
#[derive(Default)]
pub struct KeptMessage {
    /// Its identifier in its session.
    pub id: Option<String>,
    /// When, in Unix milliseconds.
    pub at: Option<i64>,
    /// The model that answered.
    pub model: Option<String>,
    /// Who said what: mostly one text.
    pub said: Vec<(Role, String)>,
    /// Why something of it is left out.
    pub skipped: Skipped,
}

impl KeptMessage {
    /// Adds a text, or counts why there is none.
    pub fn add(&mut self, role: Role, said: Result<String, &'static str>) {
        match said {
            Ok(text) => self.said.push((role, text)),
            Err(reason) => self.skipped.count(reason),
        }
    }
}

/// The facts that all messages of a session share.
#[derive(Default)]
pub struct WholeSession {
    /// Its name.
    pub id: String,
    pub title: Option<String>,
    pub cwd: Option<String>,
    pub subagent: Option<String>,
    /// The row of a database that has it: then that is the place of its turns.
    pub row: Option<u64>,
}

impl WholeSession {
    /// Adds the turns of its messages.
    pub fn push(self, messages: impl IntoIterator<Item = KeptMessage>, batch: &mut Batch) {
        let WholeSession { id: session, mut title, cwd, subagent, row } = self;
        let messages: Vec<_> = messages.into_iter().collect();
        // Those that are missing may have been read before, and are not gone.
        batch.whole &= messages.len() < MAX_LIST;
        let cwd = cwd.filter(|cwd| cwd.len() * messages.len() <= MAX_FOLDERS);
        let mut known = HashSet::new();
        for (message, number) in messages.into_iter().zip(1..) {
            batch.skipped.add(message.skipped);
            let own = message.id.map_or_else(|| format!("{session}:#{number}"), |id| format!("{session}:{id}"));
            for ((role, text), part) in message.said.into_iter().zip(1..) {
                let mut id = if part == 1 { own.clone() } else { format!("{own}:{part}") };
                if !known.insert(id.clone()) {
                    id = format!("{id}#{number}");
                }
                batch.turns.push(Turn {
                    id,
                    title: title.take(),
                    at: message.at,
                    cwd: cwd.clone(),
                    model: message.model.clone().filter(|_| role == Role::Assistant),
                    subagent: subagent.clone(),
                    ..Turn::new(session.clone(), role, text, (row.unwrap_or(number), row.unwrap_or(number)))
                });
            }
        }
    }
}

pub fn objects<T>(list: Field<'_, T>) -> impl Iterator<Item = T> {
    let list = if let Field::List(list) = list { list } else { Vec::new() };
    list.into_iter().filter_map(|one| if let Field::Object(one) = one { Some(one) } else { None })
}

/// The name of a session, unless it is too long to stand in each of its turns.
pub fn session_name(name: &Field<'_>) -> Option<String> {
    name.owned().filter(|name| name.len() <= MAX_ID)
}

/// A text, or what the blocks of a list say as one: their texts, questions or contents. It is made while the list is read.
#[derive(Default)]
pub struct JoinedText(pub Option<String>);

#[derive(Default, Deserialize)]
#[serde(default)]
struct TextBlock<'a> {
    #[serde(borrow)]
    text: Field<'a>,
    question: Field<'a>,
    content: Field<'a>,
}

impl<'de> Deserialize<'de> for JoinedText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let content = Field::<'de, TextBlock<'de>>::deserialize(deserializer)?;
        let texts = content.elements().iter().filter_map(|one| match one {
            Field::Object(block) => [&block.text, &block.question, &block.content].iter().find_map(|one| one.text()),
            other => other.text(),
        });
        Ok(JoinedText(join(texts.filter_map(trimmed))))
    }
}
