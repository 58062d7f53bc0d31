//! Memorizer: facts, conversations, and profiles with their history.

use serde_json::Value;

use super::System;
use super::body::{Fields, fits, json, says_anything};
use super::database::StoreDatabase;
use super::files::StoreFiles;
use super::out::{Out, Outcome};
use super::people::{self, of_row};
use super::places;
use super::table::{Row, Table};
use super::types::{Earlier, Memory, Report};

const FACTS: &str = "facts";
const CONVERSATIONS: &str = "conversations";
const PROFILES: &str = "profiles";
const HISTORY: &str = "profile_history";

/// The columns of the tables.
const FACT: [&str; 9] =
    ["id", "agent_id", "fact", "category", "source", "confidence", "created_at", "updated_at", "last_accessed_at"];
const CONVERSATION: [&str; 7] =
    ["id", "agent_id", "session_id", "user_message", "agent_response", "tags", "created_at"];
const PROFILE: [&str; 4] = ["agent_id", "profile_data", "created_at", "updated_at"];

/// Reads the store.
///
/// # Errors
/// If it is none.
pub fn read<E>(files: &StoreFiles, out: &mut Out<'_, E>) -> Outcome<E> {
    let file = places::database(files, &["memory.db", "data/memory.db"], &[FACTS])?;
    let database = StoreDatabase::open(files, &file)?;
    let facts = database.needed_table(System::Memorizer, FACTS)?;
    if !facts.has("fact") {
        let why = "its table facts has no column fact, so it is of another program";
        return Err(super::StoreError::unexpected(System::Memorizer, &file, why).into());
    }
    facts.each(&["id"], |row| {
        let memory = fact(row, &mut out.report);
        out.memory(memory)
    })?;
    facts.count_unknown_columns(&FACT, &mut out.report)?;
    if let Some(conversations) = database.table(CONVERSATIONS)? {
        conversations.each(&["id"], |row| {
            let memory = conversation(row, &mut out.report);
            out.memory(memory)
        })?;
        conversations.count_unknown_columns(&CONVERSATION, &mut out.report)?;
    }
    profiles(&database, out)?;
    people::read(&database, out)?;
    database.count_embeddings("vec_facts", &mut out.report)?;
    let tables = [FACTS, CONVERSATIONS, PROFILES, HISTORY];
    database.count_unknown_tables(&[&tables[..], &people::TABLES].concat(), &mut out.report)?;
    Ok(())
}

/// The categories of facts are kinds of memorist. Contacts and projects among them are texts, without a body.
fn fact(row: &Row<'_>, report: &mut Report) -> Memory {
    let mut memory = of_row("fact", row, report);
    memory.content = report.content(row.get("fact"));
    memory.kind = match row.get("category").as_str().map(str::trim) {
        Some(category @ ("contact" | "project")) => category.into(),
        _ => report.kind(row.get("category"), &mut memory.tags),
    };
    memory.source = report.label(row.get("source")).unwrap_or(memory.source);
    memory.confidence = report.confidence(row.get("confidence"));
    memory
}

fn conversation(row: &Row<'_>, report: &mut Report) -> Memory {
    let mut memory = of_row("conversation", row, report);
    memory.tags = report.tags(row.get("tags"));
    memory.session = report.label(row.get("session_id"));
    // Ids grow with the conversation.
    memory.turn = row.get("id").as_i64().filter(|id| *id >= 0 && memory.session.is_some());
    let said = ["user_message", "agent_response"].map(|column| report.content(row.get(column)).trim().to_owned());
    let mut fields = Fields::new();
    fields.label("session_id", memory.session.as_deref().unwrap_or_default());
    fields.text("user_message", &said[0]);
    fields.text("agent_response", &said[1]);
    let lines: Vec<_> = ["User: ", "Assistant: "]
        .into_iter()
        .zip(&said)
        .filter(|(_, text)| !text.is_empty())
        .map(|(who, text)| format!("{who}{text}"))
        .collect();
    let text = report.content(&lines.join("\n").into());
    fields.give(&mut memory, &["user_message", "agent_response"], text);
    memory
}

fn profiles<E>(database: &StoreDatabase, out: &mut Out<'_, E>) -> Outcome<E> {
    let history = database.table(HISTORY)?;
    let Some(profiles) = database.table(PROFILES)? else {
        let versions = history.as_ref().map(Table::count).transpose()?;
        out.report.count_many("versions of profiles that are gone", versions.unwrap_or_default());
        return Ok(());
    };
    profiles.each(&["agent_id"], |row| {
        let mut memory = of_row("profile", row, &mut out.report);
        memory.key = format!("profile:{}", row.key("agent_id"));
        (memory.content, memory.body) = profile(row.get("profile_data"), &mut out.report);
        if let Some(history) = &history {
            memory.earlier = earlier(history, &row.key("agent_id"), &memory, &mut out.report)?;
        }
        out.memory(memory)
    })?;
    profiles.count_unknown_columns(&PROFILE, &mut out.report)?;
    if let Some(history) = history {
        let gone = history.count_orphans("agent_id", &profiles, "agent_id")?;
        out.report.count_many("versions of profiles that are gone", gone);
    }
    Ok(())
}

/// The text and the body of a profile.
fn profile(data: &Value, report: &mut Report) -> (String, Option<Value>) {
    match json(data) {
        Some(body @ Value::Object(_)) if !says_anything(&body) => (String::new(), None),
        Some(body @ Value::Object(_)) if fits(&body) => (String::new(), Some(body)),
        _ => {
            let text = report.content(data);
            if !text.trim().is_empty() {
                report.count("profiles that are no JSON object, or too large a one (kept as a text)");
            }
            (text, None)
        }
    }
}

fn earlier<E>(
    history: &Table<'_>,
    agent: &str,
    newest: &Memory,
    report: &mut Report,
) -> Result<Vec<Earlier>, super::MoveError<E>> {
    let mut versions: Vec<Earlier> = Vec::new();
    history.each_of("agent_id", &agent, &["changed_at", "id"], |row| {
        let (content, body) = profile(row.get("profile_data"), report);
        if content.trim().is_empty() && body.is_none() {
            report.count("versions of profiles without a text");
            return Ok(());
        }
        let reason = report.label(row.get("change_reason")).unwrap_or_else(|| "changed".into());
        versions.push(Earlier { content, body, replaced_at: report.time(row.get("changed_at")), reason });
        Ok(())
    })?;
    // What is there already: a change that changed nothing.
    if versions.last().is_some_and(|last| last.content == newest.content && last.body == newest.body) {
        versions.pop();
    }
    Ok(versions)
}
