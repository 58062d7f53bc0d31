//! BEAM: a folder a chat between a user and an assistant, with its questions in `probing_questions/`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use jiff::civil::{Date, DateTime, Time};
use serde_json::Value;

use super::history::{ChatHistory, Question, Session, parsed, turn};
use crate::exit::Failure;

const CHAT: &str = "chat.json";
/// Read instead if it is there, as the benchmark itself does.
const SHORTENED: &str = "chat_trunecated.json";
const QUESTIONS: &str = "probing_questions/probing_questions.json";
/// Folders within folders that are looked into.
const DEPTH: usize = 4;

/// Reads all chats of a folder and of those within it, by the names of their folders.
pub fn read(folder: &Path) -> Result<Vec<ChatHistory>, Failure> {
    let mut chats = Vec::new();
    find(folder, DEPTH, &mut chats)?;
    if chats.is_empty() {
        let why = format!("{}: no folder in it has a {CHAT} and {QUESTIONS}", folder.display());
        return Err(Failure::input(why));
    }
    chats.sort();
    chats.iter().map(|chat| history(chat)).collect()
}

fn find(folder: &Path, depth: usize, chats: &mut Vec<PathBuf>) -> Result<(), Failure> {
    if folder.join(QUESTIONS).is_file() && folder.join(CHAT).is_file() {
        chats.push(folder.to_owned());
        return Ok(());
    }
    let failure = |error| Failure::file(folder, &error);
    for entry in fs::read_dir(folder).map_err(failure)? {
        let entry = entry.map_err(failure)?;
        // A link to a folder does not count.
        if depth > 0 && entry.file_type().map_err(failure)?.is_dir() {
            find(&entry.path(), depth - 1, chats)?;
        }
    }
    Ok(())
}

fn history(folder: &Path) -> Result<ChatHistory, Failure> {
    let shortened = folder.join(SHORTENED);
    let chat: Value = parsed(&if shortened.is_file() { shortened } else { folder.join(CHAT) })?;
    let questions: BTreeMap<String, Vec<Value>> = parsed(&folder.join(QUESTIONS))?;
    let mut history = ChatHistory::default();
    add_messages(&chat, &mut history.sessions);
    for (kind, questions) in questions {
        for question in questions {
            let Some(text) = question["question"].as_str() else { continue };
            let mut turns = BTreeSet::new();
            add_numbers(&question["source_chat_ids"], &mut turns);
            history.questions.push(Question {
                text: text.to_owned(),
                kind: kind.clone(),
                turns,
                ..Question::default()
            });
        }
    }
    Ok(history)
}

/// Messages are in lists of lists; an object around such a list is a session.
fn add_messages(value: &Value, sessions: &mut Vec<Session>) {
    match value {
        Value::Array(values) => values.iter().for_each(|value| add_messages(value, sessions)),
        Value::Object(fields) => {
            let (text, id) = (value["content"].as_str(), &value["id"]);
            let Some(text) = text.filter(|_| value["role"].is_string()) else {
                let id = (sessions.len() + 1).to_string();
                sessions.push(Session { id, ..Session::default() });
                return fields.values().for_each(|value| add_messages(value, sessions));
            };
            let id = id.as_str().map_or_else(|| id.to_string(), str::to_owned);
            if let Some(session) = sessions.last_mut() {
                session.date = session.date.or_else(|| value["time_anchor"].as_str().and_then(date_of));
                session.turns.extend(turn(id, text));
            }
        }
        _ => {}
    }
}

/// Numbers of messages: a list, or lists by what they are.
fn add_numbers(value: &Value, numbers: &mut BTreeSet<String>) {
    match value {
        Value::Number(number) => drop(numbers.insert(number.to_string())),
        Value::Array(values) => values.iter().for_each(|value| add_numbers(value, numbers)),
        Value::Object(fields) => fields.values().for_each(|value| add_numbers(value, numbers)),
        _ => {}
    }
}

/// As "March-15-2024".
fn date_of(text: &str) -> Option<DateTime> {
    Some(Date::strptime("%B-%d-%Y", text).ok()?.to_datetime(Time::midnight()))
}
