//! claude-mem: observations, summaries of sessions, and prompts of the user. The three belong to the sessions of the agent that
//! was watched, so they are threads.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::body::titled;
use super::database::StoreDatabase;
use super::files::StoreFiles;
use super::mend::{is_plain, list};
use super::out::{Out, Outcome};
use super::places;
use super::table::Row;
use super::types::{Memory, Report};
use super::{MoveError, System};

const OBSERVATIONS: &str = "observations";
const SESSIONS: &str = "sdk_sessions";
const SUMMARIES: &str = "session_summaries";
const PROMPTS: &str = "user_prompts";

/// The name that a column had before.
const MEMORY_SESSION: [&str; 2] = ["memory_session_id", "sdk_session_id"];
const CONTENT_SESSION: [&str; 2] = ["content_session_id", "claude_session_id"];
/// The project, also of work that was merged into another one.
const PROJECT: [&str; 2] = ["merged_into_project", "project"];
const CREATED: [&str; 2] = ["created_at_epoch", "created_at"];

/// Tables of the program's own state: they have no prompts and no observations.
const BOOKKEEPING: [&str; 9] = [
    "schema_versions", "observation_feedback", "sync_state", "sync_outbox", "sync_entity_heads", "sync_content_outbox",
    "sync_dead_letter", "sync_launch_exclusions", "telegram_wrapups",
];
/// Tables of raw calls of tools.
const CALLS: [&str; 2] = ["tool_uses", "pending_messages"];

struct AgentSession {
    id: Option<String>,
    project: Option<String>,
}

/// Reads the store.
///
/// # Errors
/// If it is no such store.
pub fn read<E>(files: &StoreFiles, out: &mut Out<'_, E>) -> Outcome<E> {
    let file = places::database(files, &["claude-mem.db"], &[SESSIONS])?;
    let database = StoreDatabase::open(files, &file)?;
    let observations = database.needed_table(System::ClaudeMem, OBSERVATIONS)?;
    let sessions = sessions(&database, out)?;
    observations.each(&["created_at_epoch", "id"], |row| {
        let memory = observation(row, &sessions, &mut out.report);
        out.memory(memory)
    })?;
    if let Some(summaries) = database.table(SUMMARIES)? {
        summaries.each(&["created_at_epoch", "id"], |row| {
            let memory = summary(row, &sessions, &mut out.report);
            out.memory(memory)
        })?;
    }
    prompts(&database, out)?;
    for table in CALLS {
        let calls = database.table(table)?.map(|table| table.count()).transpose()?;
        out.report.count_many("calls of tools and what they printed", calls.unwrap_or_default());
    }
    let known = [OBSERVATIONS, SESSIONS, SUMMARIES, PROMPTS];
    database.count_unknown_tables(&[&known[..], &BOOKKEEPING, &CALLS].concat(), &mut out.report)?;
    Ok(())
}

/// The sessions by the id that observations name.
fn sessions<E>(database: &StoreDatabase, out: &mut Out<'_, E>) -> Result<HashMap<String, AgentSession>, MoveError<E>> {
    let mut found = HashMap::new();
    if let Some(sessions) = database.table(SESSIONS)? {
        sessions.each(&["id"], |row| {
            if let Some(id) = out.report.label(row.first(&MEMORY_SESSION)) {
                let session = AgentSession {
                    id: out.report.label(row.first(&CONTENT_SESSION)),
                    project: out.report.owner(row.get("project")),
                };
                found.insert(id, session);
            }
            if !super::mend::is_blank(row.get("custom_title")) {
                out.report.count("titles of sessions");
            }
            Ok(())
        })?;
    }
    Ok(found)
}

/// A memory of a row: its project, its session, and when it was made.
fn of_row(name: &str, row: &Row<'_>, sessions: &HashMap<String, AgentSession>, report: &mut Report) -> Memory {
    let id = report.label(row.first(&MEMORY_SESSION));
    let session = id.as_deref().and_then(|id| sessions.get(id));
    let project = report.owner(row.first(&PROJECT));
    let session_id = session.and_then(|session| session.id.clone()).or(id.clone());
    let created_at = report.time(row.first(&CREATED));
    Memory {
        source: "claude-mem".into(),
        project: project.or_else(|| session?.project.clone()),
        turn: row.get("prompt_number").as_i64().filter(|turn| *turn >= 0 && session_id.is_some()),
        session: session_id,
        created_at,
        updated_at: created_at,
        ..Memory::new(format!("{name}:{}", row.key("id")), "")
    }
}

fn observation(row: &Row<'_>, sessions: &HashMap<String, AgentSession>, report: &mut Report) -> Memory {
    let mut memory = of_row("observation", row, sessions, report);
    memory.tags = report.tags(row.get("concepts"));
    let name = row.get("type").as_str().unwrap_or_default().trim().to_lowercase();
    memory.kind = match name.as_str() {
        // What was done.
        "feature" | "refactor" | "change" => "event".into(),
        // What was found.
        "discovery" | "security_alert" | "security_note" | "sensitive" => "insight".into(),
        _ => report.kind(row.get("type"), &mut memory.tags),
    };
    if !name.is_empty() && !is_plain(&name) {
        report.tag(&mut memory.tags, &name);
    }
    memory.context = files(row, &[("modified", "files_modified"), ("read", "files_read")], report);
    let title = report.content(row.get("title"));
    let mut lines: Vec<_> = ["subtitle", "narrative"].iter().map(|column| report.content(row.get(column))).collect();
    if lines.iter().all(|line| line.trim().is_empty()) {
        // What observations were before they had titles.
        lines.push(report.content(row.get("text")));
    }
    lines.extend(list_of_texts(row.get("facts"), report).into_iter().map(|fact| format!("- {fact}")));
    let description = report.content(&joined(&lines).into());
    titled(report, &mut memory, &title, &description, None);
    memory
}

fn summary(row: &Row<'_>, sessions: &HashMap<String, AgentSession>, report: &mut Report) -> Memory {
    let mut memory = of_row("summary", row, sessions, report);
    memory.kind = "event".into();
    memory.tags = vec!["session summary".into()];
    memory.context = files(row, &[("edited", "files_edited"), ("read", "files_read")], report);
    let title = report.content(row.get("request"));
    let parts = [
        ("Investigated", "investigated"),
        ("Learned", "learned"),
        ("Completed", "completed"),
        ("Next steps", "next_steps"),
        ("Notes", "notes"),
    ];
    let mut lines = Vec::new();
    for (name, column) in parts {
        let text = report.content(row.get(column));
        if !text.trim().is_empty() {
            lines.push(format!("{name}: {}", text.trim()));
        }
    }
    let description = report.content(&joined(&lines).into());
    titled(report, &mut memory, &title, &description, None);
    memory
}

/// Reads the prompts of the user, also the first ones of sessions from before prompts had their own table.
fn prompts<E>(database: &StoreDatabase, out: &mut Out<'_, E>) -> Outcome<E> {
    let mut projects = HashMap::new();
    let mut firsts = Vec::new();
    if let Some(sessions) = database.table(SESSIONS)? {
        sessions.each(&["id"], |row| {
            let Some(session) = out.report.label(row.first(&CONTENT_SESSION)) else { return Ok(()) };
            let project = out.report.owner(row.get("project"));
            let first = Memory {
                content: out.report.content(row.get("user_prompt")),
                created_at: out.report.time(row.first(&["started_at_epoch", "started_at"])),
                ..said(format!("session:{}", row.key("id")), &session, Some(1), project.clone())
            };
            projects.insert(session, project);
            firsts.push(first);
            Ok(())
        })?;
    }
    let mut known = HashSet::new();
    if let Some(prompts) = database.table(PROMPTS)? {
        prompts.each(&["created_at_epoch", "id"], |row| {
            let session = out.report.label(row.first(&CONTENT_SESSION)).unwrap_or_default();
            let project = projects.get(&session).cloned().flatten();
            let at = out.report.time(row.first(&CREATED));
            let memory = Memory {
                content: out.report.content(row.get("prompt_text")),
                created_at: at,
                ..said(format!("prompt:{}", row.key("id")), &session, row.get("prompt_number").as_i64(), project)
            };
            known.insert(session);
            out.memory(memory)
        })?;
    }
    let alone = firsts.into_iter().filter(|first| first.session.as_ref().is_some_and(|id| !known.contains(id)));
    alone.filter(|first| !first.content.trim().is_empty()).try_for_each(|first| out.memory(first))
}

fn said(key: String, session: &str, turn: Option<i64>, project: Option<String>) -> Memory {
    let session = Some(session.to_owned()).filter(|session| !session.is_empty());
    Memory {
        kind: "conversation".into(),
        source: "claude-mem".into(),
        project,
        turn: turn.filter(|turn| *turn >= 0 && session.is_some()),
        session,
        ..Memory::new(key, "")
    }
}

/// The files of a row, as a context.
fn files(row: &Row<'_>, columns: &[(&str, &str)], report: &mut Report) -> Option<String> {
    let mut parts = Vec::new();
    for (name, column) in columns {
        let files = list_of_texts(row.get(column), report);
        if !files.is_empty() {
            parts.push(format!("{name}: {}", files.join(", ")));
        }
    }
    report.context(&parts.join("; ").into())
}

fn list_of_texts(value: &Value, report: &mut Report) -> Vec<String> {
    let items = match value {
        // A single text, which may have commas.
        Value::String(text) if !text.trim_start().starts_with('[') => vec![value.clone()],
        value => list(value),
    };
    let texts = items.iter().map(|item| report.text(item).trim().to_owned());
    texts.filter(|text| !text.is_empty()).collect()
}

fn joined(lines: &[String]) -> String {
    lines.iter().map(|line| line.trim()).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}
