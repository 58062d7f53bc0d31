//! The state that both versions add to, and a message's time, which both write alike.

use serde::Deserialize;

use super::super::field::Field;
use super::super::records::hash;
use super::super::sqlite::Watermark;
use super::super::{Batch, Role, Skipped, Turn};

/// When a message was made.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct MessageTime<'a> {
    /// As opencode wrote it.
    #[serde(borrow)]
    pub created: Field<'a>,
}

/// The messages that were read before, and the new ones.
pub struct OpenCodeReader {
    /// The time from which on messages are read.
    pub from: i64,
    /// The messages that were read before.
    pub read: Watermark,
    /// The new messages.
    pub batch: Batch,
}

impl OpenCodeReader {
    /// Adds a message that changed at some time, unless it was read as it is.
    pub fn add(&mut self, id: &str, changed: i64, turn: Option<Turn>, skipped: Skipped) {
        let text = turn.as_ref().map_or("", |turn| &turn.text);
        if self.read.is_new(changed, hash(&[id, text])) {
            self.batch.turns.extend(turn);
            self.batch.skipped.add(skipped);
        }
    }

    /// Adds a message, and a person's words in its tools as a turn of their own. `turn` has no text.
    pub fn add_both(&mut self, said: [Option<String>; 2], changed: i64, turn: Turn, skipped: Skipped) {
        let [own, answers] = said;
        let answers = answers.map(|text| Turn {
            id: format!("{}:answers", turn.id),
            role: Role::User,
            model: None,
            text,
            ..turn.clone()
        });
        self.add(&turn.id.clone(), changed, own.map(|text| Turn { text, ..turn }), skipped);
        if let Some(answers) = answers {
            self.add(&answers.id.clone(), changed, Some(answers), Skipped::default());
        }
    }
}
