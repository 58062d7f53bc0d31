//! The database of the IDE: a chat is `composerData:<chat>`, with the order of its messages, `bubbleId:<chat>:<message>`.
//!
//! A value that changes is usually a new row. A chat is read again if its row, one of its messages or its time is new.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::super::blocks::{COMMON, typed};
use super::super::field::{Field, parse};
use super::super::records::{UNREADABLE, hash, trimmed};
use super::super::sqlite::{Database, Watermark, bytes, cursor, limited, line, number, place, text, time};
use super::super::{Batch, Cursor, ReadError, Role, Skipped, Turn};
use crate::foreign::Foreign;

/// How far a database was read.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct IdeCursor {
    row: i64,
    read: Watermark,
}

/// Reads the chats that changed.
pub fn read(file: Foreign<'_>, since: Option<&Cursor>, batch: &mut Batch) -> Result<(), ReadError> {
    let database = Database::open(file)?;
    database.require("cursorDiskKV", &["key", "value"])?;
    let mut place: IdeCursor = place(since);
    let last = database.numbers("SELECT max(rowid) FROM cursorDiskKV", [])?.pop().unwrap_or_default();
    // Rows went, and others may have got their numbers.
    if last < place.row {
        place = IdeCursor::default();
    }
    let changed = changed(&database, &place)?;
    // What is read again for its row is as new as the newest, so that it is remembered as long.
    let floor = place.read.at();
    let chat = format!("SELECT {} FROM cursorDiskKV WHERE key = ?1", limited("value"));
    for id in changed {
        database.each(&chat, [format!("composerData:{id}")], |row| {
            let mut mended = Vec::new();
            match bytes(row, 0)?.and_then(|value| parse::<Chat>(value, &mut mended)) {
                Some(chat) => {
                    ChatReader { database: &database, id: &id, floor, read: &mut place.read, batch }.take(&chat)?
                }
                None => batch.skipped.count(UNREADABLE),
            }
            Ok(())
        })?;
    }
    place.row = last;
    place.read.prune();
    batch.cursor = cursor(&place);
    Ok(())
}

/// The chats that may have changed, in the order of their identifiers.
fn changed(database: &Database, place: &IdeCursor) -> Result<BTreeSet<String>, ReadError> {
    let mut chats = BTreeSet::new();
    // With the last row: if it went, its number was given again.
    let query = "SELECT key FROM cursorDiskKV WHERE rowid >= ?1 AND key >= 'bubbleId:' AND key < 'bubbleId;'";
    database.each(query, [place.row], |row| {
        chats.extend(text(row, 0)?.as_deref().and_then(|key| key.split(':').nth(1)).map(str::to_owned));
        Ok(())
    })?;
    let query = format!(
        "SELECT key, rowid, {} FROM cursorDiskKV WHERE key >= 'composerData:' AND key < 'composerData;'",
        limited("value")
    );
    database.each(&query, [], |row| {
        let Some(id) = text(row, 0)?.and_then(|key| key.strip_prefix("composerData:").map(str::to_owned)) else {
            return Ok(());
        };
        let mut mended = Vec::new();
        let is_new = number(row, 1)?.is_some_and(|row| row >= place.row);
        let is_updated = |chat: Chat| chat.updated().is_some_and(|at| at >= place.read.from());
        if is_new || bytes(row, 2)?.and_then(|value| parse(value, &mut mended)).is_some_and(is_updated) {
            chats.insert(id);
        }
        Ok(())
    })?;
    Ok(chats)
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Chat<'a> {
    #[serde(borrow)]
    last_updated_at: Field<'a>,
    created_at: Field<'a>,
    full_conversation_headers_only: Field<'a, BubbleHeader<'a>>,
    /// Where the messages were before.
    conversation: Field<'a, Bubble<'a>>,
    subagent_info: Field<'a, CursorSubagent<'a>>,
}

impl Chat<'_> {
    fn updated(&self) -> Option<i64> {
        self.last_updated_at.time().or_else(|| self.created_at.time())
    }
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct BubbleHeader<'a> {
    #[serde(borrow)]
    bubble_id: Field<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct CursorSubagent<'a> {
    #[serde(borrow)]
    parent_composer_id: Field<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Bubble<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    bubble_id: Field<'a>,
    text: Field<'a>,
    created_at: Field<'a>,
    timestamp: Field<'a>,
    model_info: Field<'a, CursorModel<'a>>,
    workspace_project_dir: Field<'a>,
    is_thought: Field<'a>,
    thinking: Field<'a>,
    tool_former_data: Field<'a, Tool<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct CursorModel<'a> {
    #[serde(borrow)]
    model_name: Field<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Tool<'a> {
    #[serde(borrow)]
    name: Field<'a>,
    tool: Field<'a>,
}

impl Bubble<'_> {
    fn said(&self, skipped: &mut Skipped) -> Result<(Role, String), &'static str> {
        let role = match self.kind {
            Field::Number(1) => Role::User,
            Field::Number(2) => Role::Assistant,
            _ => return Err("unknown role"),
        };
        let is_tool = |tool: &Tool<'_>| !matches!((&tool.name, &tool.tool), (Field::Nothing, Field::Nothing));
        if self.tool_former_data.object().is_some_and(is_tool) {
            return Err("tool output");
        }
        if self.is_thought.is_true() {
            return Err("thinking");
        }
        let said = match role {
            Role::User => self.text.text().and_then(|text| typed(text, &COMMON, skipped)),
            _ => self.text.text().and_then(trimmed),
        };
        match said {
            Some(text) => Ok((role, text)),
            None if self.thinking.object().is_some() || self.thinking.text().is_some() => Err("thinking"),
            None => Err("no text"),
        }
    }
}

struct ChatReader<'r> {
    database: &'r Database,
    id: &'r str,
    floor: i64,
    read: &'r mut Watermark,
    batch: &'r mut Batch,
}

impl ChatReader<'_> {
    fn take(&mut self, chat: &Chat<'_>) -> Result<(), ReadError> {
        let mut cwd = None;
        let headers = chat.full_conversation_headers_only.elements().iter().filter_map(Field::object);
        let query = format!("SELECT rowid, {} FROM cursorDiskKV WHERE key = ?1", limited("value"));
        let mut has_headers = false;
        for header in headers {
            has_headers = true;
            let Some(bubble) = header.bubble_id.text() else {
                self.skip("", chat, UNREADABLE);
                continue;
            };
            let mut is_found = false;
            self.database.each(&query, [format!("bubbleId:{}:{bubble}", self.id)], |row| {
                is_found = true;
                let mut mended = Vec::new();
                let number = line(number(row, 0)?.unwrap_or_default());
                match bytes(row, 1)?.and_then(|value| parse::<Bubble>(value, &mut mended)) {
                    Some(found) => self.add(chat, bubble, &found, number, &mut cwd)?,
                    None => self.skip(bubble, chat, UNREADABLE),
                }
                Ok(())
            })?;
            if !is_found {
                self.skip(bubble, chat, "missing");
            }
        }
        let inline = chat.conversation.elements().iter().filter_map(Field::object).filter(|_| !has_headers);
        for (number, bubble) in (1..).zip(inline) {
            let id = bubble.bubble_id.owned().unwrap_or_else(|| format!("#{number}"));
            self.add(chat, &id, bubble, number, &mut cwd)?;
        }
        Ok(())
    }

    fn add(
        &mut self,
        chat: &Chat<'_>,
        id: &str,
        bubble: &Bubble<'_>,
        line: u64,
        cwd: &mut Option<String>,
    ) -> Result<(), ReadError> {
        if let Some(folder) = bubble.workspace_project_dir.owned() {
            *cwd = Some(folder);
        }
        let mut blocks = Skipped::default();
        let (role, text) = match bubble.said(&mut blocks) {
            Ok(said) => said,
            Err(reason) => {
                self.skip(id, chat, reason);
                return Ok(());
            }
        };
        if !self.is_new(id, chat, &text) {
            return Ok(());
        }
        self.batch.skipped.add(blocks);
        // Each turn has them again.
        self.database.count((self.id.len() + cwd.as_ref().map_or(0, String::len)) as u64)?;
        self.batch.turns.push(Turn {
            id: format!("{}:{id}", self.id),
            at: bubble.created_at.time().or_else(|| bubble.timestamp.time()).and_then(time),
            cwd: cwd.clone(),
            model: bubble
                .model_info
                .object()
                .and_then(|model| model.model_name.owned())
                .filter(|_| role == Role::Assistant),
            subagent: chat
                .subagent_info
                .object()
                .and_then(|info| info.parent_composer_id.text())
                .map(|_| self.id.to_owned()),
            ..Turn::new(self.id.to_owned(), role, text, (line, line))
        });
        Ok(())
    }

    fn skip(&mut self, id: &str, chat: &Chat<'_>, reason: &'static str) {
        if self.is_new(id, chat, reason) {
            self.batch.skipped.count(reason);
        }
    }

    fn is_new(&mut self, id: &str, chat: &Chat<'_>, text: &str) -> bool {
        let at = chat.updated().unwrap_or_default().max(self.floor);
        self.read.is_new(at, hash(&[self.id, id, text]))
    }
}
