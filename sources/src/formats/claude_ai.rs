//! Claude.ai's export: `conversations.json` in the archive or unpacked, and what extensions of browsers save of one
//! conversation.
//!
//! Edits and other answers make branches, where messages name the one before. What is read is the branch that ends at
//! `current_leaf_message_uuid`, or at the newest message.

use serde::Deserialize;

use super::branch::{MessageLink, branch};
use super::export::{Conversation, Export};
use super::field::{Field, label, parse};
use super::records::{Content, MAX_ID, UNKNOWN, UNREADABLE, join, texts, trimmed, turn_id, typed, why_skipped};
use super::{Batch, Role, Skipped, Turn};

/// Reads exports of Claude.ai.
pub const CLAUDE_AI: Export = Export { name: "claude-ai", take };

#[derive(Default, Deserialize)]
#[serde(default)]
struct ClaudeAiConversation<'a> {
    #[serde(borrow)]
    uuid: Field<'a>,
    name: Field<'a>,
    model: Field<'a>,
    created_at: Field<'a>,
    current_leaf_message_uuid: Field<'a>,
    chat_messages: Field<'a, ClaudeAiMessage<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ClaudeAiMessage<'a> {
    #[serde(borrow)]
    uuid: Field<'a>,
    parent_message_uuid: Field<'a>,
    sender: Field<'a>,
    text: Content<'a>,
    content: Content<'a>,
    created_at: Field<'a>,
}

fn take(conversation: &Conversation<'_>, batch: &mut Batch) {
    let mut mended = Vec::new();
    let Some(talk) = parse::<ClaudeAiConversation>(conversation.json, &mut mended) else {
        return batch.skipped.count(UNREADABLE);
    };
    let messages: Vec<_> = talk.chat_messages.elements().iter().filter_map(Field::object).collect();
    if messages.is_empty() {
        return batch.skipped.count("conversation without messages");
    }
    let first = || messages[0].uuid.owned();
    let session = talk.uuid.owned().or_else(first).filter(|id| id.len() <= MAX_ID).unwrap_or_default();
    let mut title = talk.name.text().and_then(|title| trimmed(&label(title)));
    let model = talk.model.owned().filter(|model| model.len() <= MAX_ID);
    let branch = branch_of(&talk, &messages);
    let mut is_read = vec![false; messages.len()];
    for number in branch {
        is_read[number] = true;
        let message = messages[number];
        let (role, text) = match said(message, &mut batch.skipped) {
            Ok(said) => said,
            Err(reason) => {
                batch.skipped.count(reason);
                continue;
            }
        };
        let id = message.uuid.owned().unwrap_or_else(|| format!("#{}", number + 1));
        batch.turns.push(Turn {
            id: turn_id(&session, &id),
            title: title.take(),
            at: message.created_at.time().or_else(|| talk.created_at.time()),
            model: if role == Role::Assistant { model.clone() } else { None },
            ..Turn::new(session.clone(), role, text, conversation.lines)
        });
    }
    is_read.iter().filter(|is_read| !**is_read).for_each(|_| batch.skipped.count("in another branch"));
}

/// The messages that are read: all of them, if none names the one before.
fn branch_of(talk: &ClaudeAiConversation<'_>, messages: &[&ClaudeAiMessage<'_>]) -> Vec<usize> {
    let links = messages.iter().map(|message| MessageLink {
        id: message.uuid.text().unwrap_or_default(),
        parent: message.parent_message_uuid.text(),
        at: message.created_at.time(),
    });
    let links: Vec<_> = links.collect();
    if links.iter().all(|link| link.parent.is_none()) {
        return (0..links.len()).collect();
    }
    branch(&links, talk.current_leaf_message_uuid.text())
}

fn said(message: &ClaudeAiMessage<'_>, skipped: &mut Skipped) -> Result<(Role, String), &'static str> {
    let role = match message.sender.text() {
        Some("human" | "user") => Role::User,
        Some("assistant") => Role::Assistant,
        _ => return Err(UNKNOWN),
    };
    // Exports of 2024 have the text alone.
    let has_blocks = message.content.elements().iter().any(|block| block.object().is_some());
    let content = if has_blocks { &message.content } else { &message.text };
    let text = match role {
        Role::User => join(typed(content, skipped)),
        _ => join(texts(content)),
    };
    text.map(|text| (role, text)).ok_or_else(|| why_skipped(content))
}
