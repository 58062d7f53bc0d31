//! `apply_recency_buffer`.

use std::borrow::Cow;

use memorist_clients::recency::{DEFAULT_SIZE, apply_recency_buffer, said};
use memorist_engine::sensitive::Sensitive;
use memorist_engine::types::{Kind, MAX_CONTENT_BYTES, NewRecord};
use memorist_engine::{Engine, Result};
use serde_json::Value;

use crate::ops::Context;
use crate::wire::gimli::{Buffered, RecencyParams};
use crate::wire::{count, size};

/// Cuts a conversation, and on request saves the messages of its older part.
pub fn recency_buffer(engine: &Engine, context: &Context, params: RecencyParams) -> Result<Buffered> {
    let size = size("size", params.size, DEFAULT_SIZE)?;
    let buffer = apply_recency_buffer(params.messages, size);
    let saved = match params.save {
        true => Some(save(engine, context, &buffer.to_summarize, params.session.as_deref())?),
        false => None,
    };
    Ok(Buffered { to_summarize: buffer.to_summarize, preserved: buffer.preserved, saved })
}

/// Saves messages as turns of a transcript, with secrets redacted. A message that cannot be saved is left out; the caller has
/// it.
fn save(engine: &Engine, context: &Context, messages: &[Value], session: Option<&str>) -> Result<i64> {
    let scope = context.defaults.own_scope();
    let mut records = Vec::new();
    for (role, mut text) in messages.iter().filter_map(said) {
        text.truncate(text.floor_char_boundary(MAX_CONTENT_BYTES));
        let record = NewRecord {
            kind: Kind::Conversation,
            source: "conversation".into(),
            tags: vec![role.to_owned()],
            scope: scope.clone(),
            session: session.map(str::to_owned),
            ..NewRecord::new(text.replace('\0', " "))
        };
        // A refused session name is an error for all messages.
        records.push(Sensitive::Redact.new_record(&record).map(Cow::into_owned)?);
    }
    let saved = engine.add_batch(&records)?;
    for refused in saved.iter().filter_map(|saved| saved.as_ref().err()) {
        tracing::warn!("a message was not saved: {refused}");
    }
    Ok(count(saved.iter().filter(|saved| saved.is_ok()).count() as u64))
}
