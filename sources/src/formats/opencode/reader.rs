//! What both versions add to.

use super::super::records::hash;
use super::super::sqlite::{Database, Watermark, text};
use super::super::{Batch, ReadError, Skipped, Turn};

/// What was read before, and what is now.
pub struct Reader {
    /// From what time on messages and titles are read.
    pub from: i64,
    /// What was read of it.
    pub read: Watermark,
    /// What is read now.
    pub batch: Batch,
}

impl Reader {
    /// Adds a message that changed at some time, unless it was read as it is.
    pub fn add(&mut self, id: &str, changed: i64, turn: Option<Turn>, skipped: Skipped) {
        let text = turn.as_ref().map_or("", |turn| &turn.text);
        if self.read.is_new(changed, hash(&[id, text])) {
            self.batch.turns.extend(turn);
            self.batch.skipped.add(skipped);
        }
    }

    /// Adds the titles of sessions that changed, from columns for the session and the title.
    pub fn add_titles(&mut self, database: &Database, query: &str) -> Result<(), ReadError> {
        database.each(query, [self.from], |row| {
            let title = text(row, 1)?.filter(|title| !UNTITLED.iter().any(|start| title.starts_with(start)));
            if let (Some(session), Some(title)) = (text(row, 0)?, title) {
                self.batch.titles.insert(session, title);
            }
            Ok(())
        })
    }
}

/// How titles begin that opencode gives until it has a better one.
const UNTITLED: [&str; 2] = ["New session - ", "Child session - "];
