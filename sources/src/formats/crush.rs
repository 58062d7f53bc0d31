//! Crush: `.crush/crush.db` in the folder of a project; `~/.local/share/crush/projects.json` lists the projects.

use std::path::{Path, PathBuf};

use rusqlite::Row;
use serde::Deserialize;

use super::blocks::{COMMON, typed};
use super::field::{Field, parse};
use super::object::objects;
use super::records::{UNREADABLE, hash, join, trimmed};
use super::sqlite::{
    Database, MAX_SECONDS, Watermark, bytes, cursor, label, limited, line, milliseconds, number, place, text, time,
};
use super::{Batch, Cursor, Format, ReadError, Role, Skipped, Turn};
use crate::foreign::{self, Foreign};
use crate::machine::Machine;

/// Reads sessions of Crush.
pub struct Crush;

/// Its folder in a project, and the database in it.
const FOLDER: &str = ".crush";
const DATABASE: &str = "crush.db";
/// The most that is read of the list of projects, in bytes, and the most projects of it.
const MAX_LIST: u64 = 1 << 20;
const MAX_PROJECTS: usize = 1_000;
/// The tool that asks the person.
const QUESTION: &str = "question";

impl Format for Crush {
    fn name(&self) -> &'static str {
        "crush"
    }

    fn places(&self, machine: &Machine) -> Vec<PathBuf> {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct ProjectList<'a> {
            #[serde(borrow)]
            projects: Field<'a, ListedProject<'a>>,
        }
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct ListedProject<'a> {
            #[serde(borrow)]
            data_dir: Field<'a>,
        }
        let data = machine.path("XDG_DATA_HOME", ".local/share").join("crush");
        let folder = machine.path("CRUSH_GLOBAL_DATA", "");
        let folder = if folder == machine.home() { data } else { folder };
        let list = foreign::lone(&folder.join("projects.json"), MAX_LIST).unwrap_or_default();
        let mut mended = Vec::new();
        let list: ProjectList<'_> = parse(&list, &mut mended).unwrap_or_default();
        let folders = objects(list.projects).filter_map(|project| project.data_dir.owned().map(PathBuf::from));
        let databases = folders.filter(|folder| folder.is_absolute()).map(|folder| folder.join(DATABASE));
        databases.take(MAX_PROJECTS).collect()
    }

    fn places_in(&self, folder: &Path) -> Vec<PathBuf> {
        vec![folder.join(FOLDER).join(DATABASE)]
    }

    fn is_transcript(&self, path: &Path) -> bool {
        path.ends_with(DATABASE)
    }

    fn read_file(&self, file: Foreign<'_>, since: Option<&Cursor>) -> Result<Batch, ReadError> {
        let database = Database::open(file)?;
        let columns =
            database.require("messages", &["id", "session_id", "role", "parts", "created_at", "updated_at"])?;
        database.require("sessions", &["id", "parent_session_id"])?;
        let mut read: Watermark = place(since);
        let is_summary = if columns.contains("is_summary_message") { "m.is_summary_message" } else { "0" };
        let model = if columns.contains("model") { "m.model" } else { "NULL" };
        // Crush counts seconds, and says that they are milliseconds.
        let query = format!(
            "SELECT m.rowid, m.id, m.session_id, m.role, {}, m.created_at, m.updated_at, {is_summary}, {model},
                s.parent_session_id FROM messages m LEFT JOIN sessions s ON s.id = m.session_id
                WHERE m.updated_at * (CASE WHEN m.updated_at < {MAX_SECONDS} THEN 1000 ELSE 1 END) >= ?1
                ORDER BY m.rowid",
            limited("m.parts")
        );
        let (mut batch, from) = (Batch::default(), read.from());
        let cwd = folder(file.path);
        database.each(&query, [from], |row| take(row, cwd.as_deref(), &mut read, &mut batch))?;
        read.prune();
        batch.cursor = cursor(&read);
        Ok(batch)
    }
}

/// The project's folder, if the database is where it is by default.
fn folder(path: &Path) -> Option<String> {
    let data = path.parent().filter(|data| data.ends_with(FOLDER))?;
    Some(super::field::label(&data.parent()?.to_string_lossy()))
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CrushPart<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    data: Field<'a, PartData<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PartData<'a> {
    #[serde(borrow)]
    text: Field<'a>,
    name: Field<'a>,
    content: Field<'a>,
}

fn take(row: &Row<'_>, cwd: Option<&str>, read: &mut Watermark, batch: &mut Batch) -> Result<(), ReadError> {
    let mut skipped = Skipped::default();
    let (Some(id), Some(session)) = (label(row, 1)?, label(row, 2)?) else {
        batch.skipped.count(UNREADABLE);
        return Ok(());
    };
    let said = said(row, &mut skipped)?;
    let changed = number(row, 6)?.map(milliseconds).unwrap_or_default();
    let new = said.as_ref().map_or("", |(_, text)| text);
    if !read.is_new(changed, hash(&[&id, new])) {
        return Ok(());
    }
    batch.skipped.add(skipped);
    if let Some((role, said)) = said {
        let line = line(number(row, 0)?.unwrap_or_default());
        let is_child = text(row, 9)?.is_some();
        batch.turns.push(Turn {
            id,
            at: number(row, 5)?.map(milliseconds).and_then(time),
            cwd: cwd.map(str::to_owned),
            model: label(row, 8)?.filter(|_| role == Role::Assistant),
            subagent: is_child.then(|| session.clone()),
            ..Turn::new(session, role, said, (line, line))
        });
    }
    Ok(())
}

/// Who says what in a message.
fn said(row: &Row<'_>, skipped: &mut Skipped) -> Result<Option<(Role, String)>, ReadError> {
    let mut mended = Vec::new();
    let Some(parts) = bytes(row, 4)?.and_then(|parts| parse::<Field<'_, CrushPart<'_>>>(parts, &mut mended)) else {
        skipped.count(UNREADABLE);
        return Ok(None);
    };
    let role = match text(row, 3)?.as_deref() {
        _ if number(row, 7)? == Some(1) => Role::Summary,
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        // What tools print, and what a person answers to one of them.
        Some("tool") => Role::User,
        _ => {
            skipped.count("unknown role");
            return Ok(None);
        }
    };
    let none = PartData::default();
    let mut texts = Vec::new();
    for part in objects(parts) {
        let data = part.data.object().unwrap_or(&none);
        let said = match part.kind.text() {
            Some("text") if role == Role::User => {
                data.text.text().and_then(|text| typed(text, &COMMON, skipped)).ok_or("no text")
            }
            Some("text") => data.text.text().and_then(trimmed).ok_or("no text"),
            Some("tool_result") if data.name.text() == Some(QUESTION) => answer(data).ok_or("tool output"),
            Some("tool_result" | "shell_command") => Err("tool output"),
            Some("tool_call") => Err("tool call"),
            Some("reasoning") => Err("thinking"),
            Some("image_url" | "binary") => Err("image"),
            Some("finish") => continue,
            _ => Err("unknown type"),
        };
        match said {
            Ok(text) => texts.push(text),
            Err(reason) => skipped.count(reason),
        }
    }
    Ok(join(texts).map(|text| (role, text)))
}

/// The questions of a tool with what the person answers.
fn answer(data: &PartData<'_>) -> Option<String> {
    let content = data.content.text()?;
    let is_answered =
        ["answered:", "selected:", "provided:"].iter().any(|how| content.contains(&format!("User {how}")));
    is_answered.then(|| trimmed(content))?
}

#[cfg(test)]
mod tests;
