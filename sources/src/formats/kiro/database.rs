//! Its database: a conversation is a row, whose JSON has pairs of what the person and the agent say.

use rusqlite::Row;
use serde::{Deserialize, Deserializer, Serialize};

use super::super::blocks::{COMMON, typed};
use super::super::field::{Field, label as cut, parse};
use super::super::object::{KeptMessage, WholeSession, objects, session_name};
use super::super::records::{UNREADABLE, hash, trimmed};
use super::super::sqlite::{Database, Watermark, bytes, cursor, limited, line, number, place, text};
use super::super::{Batch, Cursor, ReadError, Role};
use crate::foreign::Foreign;

/// How far the tables were read.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Tables {
    conversations: Watermark,
    /// The table of conversations without times, one a folder.
    older: Watermark,
}

/// Reads the conversations that changed.
pub fn read(file: Foreign<'_>, since: Option<&Cursor>) -> Result<Batch, ReadError> {
    let database = Database::open(file)?;
    let mut tables: Tables = place(since);
    let mut batch = Batch::default();
    let value = limited("value");
    let is_new = !database.columns("conversations_v2")?.is_empty();
    if is_new {
        database.require("conversations_v2", &["key", "value", "updated_at"])?;
        let query = format!(
            "SELECT rowid, key, {value}, updated_at FROM conversations_v2 WHERE updated_at >= ?1 ORDER BY rowid"
        );
        let from = tables.conversations.from();
        database.each(&query, [from], |row| take(row, &mut tables.conversations, &mut batch))?;
    }
    if !is_new || !database.columns("conversations")?.is_empty() {
        database.require("conversations", &["key", "value"])?;
        let query = format!("SELECT rowid, key, {value}, 0 FROM conversations ORDER BY rowid");
        database.each(&query, [], |row| take(row, &mut tables.older, &mut batch))?;
    }
    tables.conversations.prune();
    tables.older.prune();
    batch.cursor = cursor(&tables);
    Ok(batch)
}

fn take(row: &Row<'_>, read: &mut Watermark, batch: &mut Batch) -> Result<(), ReadError> {
    let (key, json) = (text(row, 1)?.unwrap_or_default(), bytes(row, 2)?.unwrap_or_default());
    let changed = number(row, 3)?.unwrap_or_default();
    if !read.is_new(changed, hash(&[&key, &String::from_utf8_lossy(json)])) {
        return Ok(());
    }
    let mut mended = Vec::new();
    let Some(conversation) = parse::<StoredConversation<'_>>(json, &mut mended) else {
        batch.skipped.count(UNREADABLE);
        return Ok(());
    };
    let row = line(number(row, 0)?.unwrap_or_default());
    let session = WholeSession {
        id: session_name(&conversation.conversation_id).unwrap_or_else(|| format!("{:016x}", hash(&[&key]))),
        cwd: Some(cut(&key)).filter(|key| !key.is_empty()),
        row: Some(row),
        ..WholeSession::default()
    };
    // The agent has the time of what it answers.
    let mut at = None;
    let mut messages = Vec::new();
    for Exchange(pair) in objects(conversation.history) {
        for kept in pair {
            at = kept.at.or(at);
            messages.push(KeptMessage { at, ..kept });
        }
    }
    session.push(messages, batch);
    Ok(())
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct StoredConversation<'a> {
    #[serde(borrow)]
    conversation_id: Field<'a>,
    history: Field<'a, Exchange>,
}

/// A pair of messages: the person's and the agent's.
struct Exchange([KeptMessage; 2]);

#[derive(Default, Deserialize)]
#[serde(default)]
struct StoredPair<'a> {
    #[serde(borrow)]
    user: Field<'a, Asker<'a>>,
    assistant: Field<'a, Answerer<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Asker<'a> {
    #[serde(borrow)]
    content: Field<'a, Asked<'a>>,
    timestamp: Field<'a>,
}

/// The words for the agent, by their kind.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
struct Asked<'a> {
    #[serde(borrow)]
    prompt: Field<'a, Prompted<'a>>,
    /// A person says something else instead of allowing a call.
    cancelled_tool_uses: Field<'a, Prompted<'a>>,
    tool_use_results: Field<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Prompted<'a> {
    #[serde(borrow)]
    prompt: Field<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
struct Answerer<'a> {
    #[serde(borrow)]
    response: Field<'a, Reply<'a>>,
    tool_use: Field<'a, Reply<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Reply<'a> {
    #[serde(borrow)]
    message_id: Field<'a>,
    content: Field<'a>,
}

impl<'de> Deserialize<'de> for Exchange {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let pair = StoredPair::deserialize(deserializer)?;
        let (mut asked, mut answered) = (KeptMessage::default(), KeptMessage::default());
        if let Some(answerer) = pair.assistant.object() {
            let reply = answerer.response.object().or(answerer.tool_use.object());
            answered.id = reply.and_then(|reply| reply.message_id.owned());
            let why = if answerer.tool_use.object().is_some() { "tool call" } else { "no text" };
            answered.add(Role::Assistant, reply.and_then(|reply| trimmed(reply.content.text()?)).ok_or(why));
        }
        if let Some(asker) = pair.user.object() {
            asked.at = asker.timestamp.time();
            asked.id = answered.id.as_ref().map(|id| format!("before:{id}"));
            let none = Asked::default();
            let content = asker.content.object().unwrap_or(&none);
            let prompt = content.prompt.object().or(content.cancelled_tool_uses.object());
            let why = if prompt.is_none() { "tool output" } else { "no text" };
            let said = prompt.and_then(|prompt| typed(prompt.prompt.text()?, &COMMON, &mut asked.skipped));
            asked.add(Role::User, said.ok_or(why));
        }
        Ok(Exchange([asked, answered]))
    }
}
