//! Histories in Markdown, with lines that mark the beginning and the end of each turn.

use std::borrow::Cow;

use super::records::{TOO_LONG, stamp};
use super::{Batch, Cursor, ReadError, Role, Turn};
use crate::foreign::Foreign;

/// The largest history that is read, in bytes: it is read as a whole whenever it has changed.
const MAX_HISTORY: u64 = 64 << 20;
/// The most bytes of its turns.
const MAX_TURNS: usize = 64 << 20;
/// The longest name of a session.
const MAX_NAME: usize = 256;

/// A history, as far as it was read.
#[derive(Default)]
pub struct History {
    /// Its turns so far, and the counts of skipped records.
    pub batch: Batch,
    turn: Option<Turn>,
    /// Turns of this session so far, and the bytes of all turns.
    count: u64,
    size: usize,
    session: Session,
}

/// Properties of a session, which all of its turns have.
#[derive(Clone, Default)]
pub struct Session {
    pub name: String,
    /// Its title, until a turn has it.
    pub title: Option<String>,
    /// When it began, in Unix milliseconds.
    pub at: Option<i64>,
    pub cwd: Option<String>,
}

/// Passes the text of a history to `take`, if it has changed.
///
/// # Errors
/// Errors of the file system, and if it is too long.
pub fn read(
    file: Foreign<'_>,
    since: Option<&Cursor>,
    take: impl FnOnce(&mut History, &str),
) -> Result<Batch, ReadError> {
    let mut opened = file.open(MAX_HISTORY)?;
    let cursor = stamp(&opened)?;
    if since == Some(&cursor) {
        return Ok(Batch { cursor, ..Batch::default() });
    }
    let bytes = opened.read_all()?;
    let text: Cow<'_, str> = String::from_utf8_lossy(&bytes);
    let mut history = History::default();
    take(&mut history, text.strip_prefix('\u{feff}').unwrap_or(&text));
    history.end();
    let whole = !history.batch.skipped.counts.contains_key(TOO_LONG);
    Ok(Batch { cursor, whole, ..history.batch })
}

impl History {
    /// Begins a session: turns from here on belong to it.
    pub fn begin_session(&mut self, session: Session) {
        self.end();
        self.count = 0;
        let name = &session.name[..session.name.floor_char_boundary(MAX_NAME)];
        self.session = Session { name: name.to_owned(), ..session };
    }

    /// Begins a turn, which ends where the next one begins. Returns it, to set more of its fields.
    pub fn begin(&mut self, role: Role, line: u64) -> &mut Turn {
        self.end();
        self.turn.insert(Turn { at: self.session.at, ..Turn::new(String::new(), role, String::new(), (line, line)) })
    }

    /// Whose turn it is.
    pub fn role(&self) -> Option<Role> {
        self.turn.as_ref().map(|turn| turn.role)
    }

    /// Adds a line to the turn.
    pub fn add(&mut self, line: u64, text: &str) {
        if let Some(turn) = &mut self.turn {
            turn.text.push_str(text);
            turn.text.push('\n');
            if !text.trim().is_empty() {
                turn.lines.1 = line;
            }
        }
    }

    /// Ends the turn. A turn without text is dropped.
    pub fn end(&mut self) {
        let Some(turn) = self.turn.take() else { return };
        let text = turn.text.trim();
        if text.is_empty() {
            return self.batch.skipped.count("no text");
        }
        if self.size > MAX_TURNS {
            return self.batch.skipped.count(TOO_LONG);
        }
        self.count += 1;
        let turn = Turn {
            id: format!("{}#{}", self.session.name, self.count),
            session: self.session.name.clone(),
            text: text.to_owned(),
            title: self.session.title.take(),
            cwd: self.session.cwd.clone(),
            ..turn
        };
        self.size += turn.size();
        self.batch.turns.push(turn);
    }
}
