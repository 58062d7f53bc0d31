//! Plain `message` lines, as Gimli and others write them.
//!
//! A line is `{"type":"message","role":"user","content":".."}`, `{"type":"message","message":{"role":..,"content":..}}` or
//! `{"role":..,"content":..}`; a content is a text or a list of blocks.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::field::{Field, parse};
use super::jsonl::Lines;
use super::records::{Content, UNKNOWN, UNREADABLE, for_each_line, join, texts, turn_id, typed, why_skipped};
use super::{Batch, Cursor, Format, ReadError, Role, Turn};
use crate::foreign::Foreign;
use crate::machine::Machine;

/// Reads transcripts of plain `message` lines.
pub struct Gimli;

impl Format for Gimli {
    fn name(&self) -> &'static str {
        "gimli"
    }

    fn places(&self, machine: &Machine) -> Vec<PathBuf> {
        vec![machine.home().join(".gimli")]
    }

    fn is_transcript(&self, path: &Path) -> bool {
        path.extension().is_some_and(|extension| extension == "jsonl") && path.iter().any(|part| part == "sessions")
    }

    fn ids_are_of_files(&self) -> bool {
        true
    }

    fn read_file(&self, file: Foreign<'_>, since: Option<&Cursor>) -> Result<Batch, ReadError> {
        let session = file.path.file_stem().unwrap_or_default().to_string_lossy();
        let mut batch = Batch::default();
        for_each_line(&mut Lines::<()>::open(file, since)?, &mut batch, |(), batch, line, bytes| {
            let mut mended = Vec::new();
            match parse(bytes, &mut mended) {
                Some(record) => take(&record, &session, batch, line),
                None => batch.skipped.count(UNREADABLE),
            }
        })?;
        Ok(batch)
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct GimliRecord<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    uuid: Field<'a>,
    id: Field<'a>,
    timestamp: Field<'a>,
    cwd: Field<'a>,
    message: Field<'a, GimliMessage<'a>>,
    role: Field<'a>,
    content: Content<'a>,
    model: Field<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct GimliMessage<'a> {
    #[serde(borrow)]
    role: Field<'a>,
    content: Content<'a>,
    model: Field<'a>,
    timestamp: Field<'a>,
}

fn take(record: &GimliRecord<'_>, session: &str, batch: &mut Batch, line: u64) {
    if !matches!(record.kind.text(), None | Some("message")) {
        return batch.skipped.count(UNKNOWN);
    }
    let inner = record.message.object();
    let content = inner.map_or(&record.content, |message| &message.content);
    let role = match inner.map_or(&record.role, |message| &message.role).text() {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("system" | "developer") => return batch.skipped.count("system text"),
        Some("tool" | "toolResult" | "function") => return batch.skipped.count("tool output"),
        _ => return batch.skipped.count(UNKNOWN),
    };
    let text = match role {
        Role::User => join(typed(content, &mut batch.skipped)),
        _ => join(texts(content)),
    };
    let Some(text) = text else {
        return batch.skipped.count(why_skipped(content));
    };
    let id = match record.uuid.text().or(record.id.text()) {
        Some(id) => turn_id(session, id),
        None => format!("{session}#{line}"),
    };
    batch.turns.push(Turn {
        id,
        at: record.timestamp.time().or_else(|| inner?.timestamp.time()),
        cwd: record.cwd.owned(),
        model: record.model.owned().or_else(|| inner?.model.owned()),
        ..Turn::new(session.to_owned(), role, text, (line, line))
    });
}

#[cfg(test)]
mod tests {
    use super::super::corpus;
    use super::*;

    #[test]
    fn transcripts_are_known_by_their_path() {
        let machine = Machine::new("/h", []);
        let sessions = ["/h/.gimli/agents/main/sessions/S.jsonl", "/h/.gimli/sessions/S.jsonl"];
        let others = ["/h/.gimli/log.jsonl", "/h/.gimli/sessions/sessions.json", "/h/sessions/S.jsonl"];
        assert_eq!(corpus::transcripts(&Gimli, &machine, &[&sessions[..], &others].concat()), sessions);
    }
}
