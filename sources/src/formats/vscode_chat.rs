//! Chats of VS Code, such as GitHub Copilot Chat: `workspaceStorage/<folder>/chatSessions/<session>.jsonl`, in older versions
//! one JSON object, `.json`.
//!
//! A file of lines is a log of edits of that object, so it is read as a whole whenever it grew: `kind` 0 is the object, 1
//! sets what stands at a path, 2 cuts a list off and appends to it, 3 removes.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::de::{IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::blocks::{self, COMMON};
use super::editors::{folder_of, user_folders};
use super::field::{Field, MAX_LIST, parse};
use super::jsonl::Lines;
use super::records::{MAX_ID, UNKNOWN, UNREADABLE, for_each_line, stamp, trimmed};
use super::{Batch, Cursor, Format, ReadError, Role, Turn};
use crate::foreign::{self, Foreign};
use crate::machine::Machine;

/// Reads chats of VS Code.
pub struct VsCodeChat;

/// The largest file that is read, in bytes: it is read as a whole.
const MAX_FILE: u64 = 32 << 20;
/// The most bytes that all turns together have of their folder: the turns are made at once.
const MAX_FOLDERS: usize = 16 << 20;
/// The largest description of a workspace that is read, in bytes.
const MAX_WORKSPACE: u64 = 64 << 10;

impl Format for VsCodeChat {
    fn name(&self) -> &'static str {
        "vscode-chat"
    }

    fn places(&self, machine: &Machine) -> Vec<PathBuf> {
        let storages =
            |user: PathBuf| [user.join("workspaceStorage"), user.join("globalStorage/emptyWindowChatSessions")];
        user_folders(machine).flat_map(storages).collect()
    }

    fn is_transcript(&self, path: &Path) -> bool {
        let is_json = path.extension().is_some_and(|extension| extension == "json" || extension == "jsonl");
        let folder = path.parent().and_then(Path::file_name);
        is_json && folder.is_some_and(|folder| folder == "chatSessions" || folder == "emptyWindowChatSessions")
    }

    fn takes_back(&self) -> bool {
        true
    }

    fn read_file(&self, file: Foreign<'_>, since: Option<&Cursor>) -> Result<Batch, ReadError> {
        let (mut batch, mut chat) = (Batch::default(), ChatState::default());
        let mut opened = file.open(MAX_FILE)?;
        let cursor = stamp(&opened)?;
        if since == Some(&cursor) {
            return Ok(Batch { cursor, ..batch });
        }
        if file.path.extension().is_some_and(|extension| extension == "json") {
            let (bytes, mut mended) = (opened.read_all()?, Vec::new());
            match parse::<ChatSession>(&bytes, &mut mended) {
                Some(session) => chat.set(session, 1),
                None => batch.skipped.count(UNREADABLE),
            }
            batch.whole = batch.skipped.counts.is_empty();
        } else {
            for_each_line(&mut Lines::<()>::open_whole(file, MAX_FILE)?, &mut batch, |(), batch, line, bytes| {
                if let Err(reason) = chat.edit(bytes, line) {
                    batch.skipped.count(reason);
                }
            })?;
        }
        // A line without an end is read when it has one: then the file is another one.
        batch.cursor = cursor;
        chat.finish(file.path, &mut batch);
        Ok(batch)
    }
}

/// The whole object.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ChatSession<'a> {
    #[serde(borrow)]
    session_id: Field<'a>,
    custom_title: Field<'a>,
    requests: Field<'a, Request<'a>>,
}

/// A text that a person typed, and the answer.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Request<'a> {
    #[serde(borrow)]
    request_id: Field<'a>,
    timestamp: Field<'a>,
    model_id: Field<'a>,
    message: Field<'a, RequestMessage<'a>>,
    response: ResponseParts,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RequestMessage<'a> {
    #[serde(borrow)]
    text: Field<'a>,
}

/// A part of an answer: text has no kind.
#[derive(Default, Deserialize)]
#[serde(default)]
struct ResponsePart<'a> {
    #[serde(borrow)]
    kind: Field<'a>,
    value: Field<'a>,
    content: Field<'a, Value<'a>>,
    name: Field<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Value<'a> {
    #[serde(borrow)]
    value: Field<'a>,
}

/// An edit, without what it sets.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Edit<'a> {
    #[serde(borrow)]
    kind: Field<'a>,
    k: Steps,
    i: Field<'a>,
}

/// A value that an edit sets or appends.
#[derive(Deserialize)]
struct New<T> {
    v: T,
}

/// The parts of an answer, of which only prose is kept, since there are many.
#[derive(Default)]
struct ResponseParts(Vec<Option<Box<str>>>);

impl<'de> Deserialize<'de> for ResponseParts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnswerVisitor)
    }
}

struct AnswerVisitor;

impl<'de> Visitor<'de> for AnswerVisitor {
    type Value = ResponseParts;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an answer")
    }

    fn visit_unit<E>(self) -> Result<ResponseParts, E> {
        Ok(ResponseParts::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<ResponseParts, A::Error> {
        let mut parts = Vec::new();
        while parts.len() < MAX_LIST {
            match list.next_element::<Field<'_, ResponsePart<'_>>>()? {
                Some(part) => parts.push(part.object().and_then(prose)),
                None => break,
            }
        }
        while list.next_element::<IgnoredAny>()?.is_some() {}
        parts.shrink_to_fit();
        Ok(ResponseParts(parts))
    }
}

/// Text of a part, unless it is what tools do or thinking.
fn prose(part: &ResponsePart<'_>) -> Option<Box<str>> {
    let text = match part.kind.text() {
        None => &part.value,
        Some("markdownContent") => &part.content.object()?.value,
        Some("inlineReference") => &part.name,
        Some(_) => return None,
    };
    Some(text.text()?.into())
}

/// A path in the object: names, and numbers of elements.
#[derive(Default)]
struct Steps(Vec<Step>);

enum Step {
    Name(String),
    Element(usize),
}

/// The longest path that leads to what is read.
const MOST_STEPS: usize = 5;

impl<'de> Deserialize<'de> for Steps {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StepsVisitor)
    }
}

struct StepsVisitor;

impl<'de> Visitor<'de> for StepsVisitor {
    type Value = Steps;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a path")
    }

    fn visit_unit<E>(self) -> Result<Steps, E> {
        Ok(Steps::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Steps, A::Error> {
        let mut steps = Vec::new();
        while steps.len() <= MOST_STEPS {
            match list.next_element::<Field<'_>>()? {
                Some(Field::Number(number)) => steps.push(Step::Element(usize::try_from(number).unwrap_or(usize::MAX))),
                Some(name) => steps.push(Step::Name(name.owned().unwrap_or_default())),
                None => return Ok(Steps(steps)),
            }
        }
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Steps(steps))
    }
}

/// A chat after the edits so far.
#[derive(Default)]
struct ChatState {
    id: Option<String>,
    title: Option<String>,
    requests: Vec<RequestState>,
}

/// A request as it is by now.
struct RequestState {
    id: Option<String>,
    at: Option<i64>,
    model: Option<String>,
    typed: String,
    answer: Vec<Option<Box<str>>>,
    /// The lines on which it and its answer begin.
    lines: [u64; 2],
}

impl RequestState {
    fn of(request: Request<'_>, line: u64) -> Self {
        let typed = request.message.object().and_then(|message| message.text.text()).or(request.message.text());
        RequestState {
            id: request.request_id.owned(),
            at: request.timestamp.time(),
            model: request.model_id.owned(),
            typed: typed.unwrap_or_default().to_owned(),
            answer: request.response.0,
            lines: [line, line],
        }
    }
}

impl ChatState {
    fn set(&mut self, session: ChatSession<'_>, line: u64) {
        self.id = session.session_id.owned();
        self.title = session.custom_title.owned();
        self.requests.clear();
        self.append(session.requests, line);
    }

    fn append(&mut self, requests: Field<'_, Request<'_>>, line: u64) {
        let Field::List(requests) = requests else { return };
        for request in requests {
            if let Field::Object(request) = request
                && self.requests.len() < MAX_LIST
            {
                self.requests.push(RequestState::of(request, line));
            }
        }
    }

    /// Does what a line says.
    fn edit(&mut self, bytes: &[u8], line: u64) -> Result<(), &'static str> {
        let mut mended = Vec::new();
        let edit: Edit = parse(bytes, &mut mended).ok_or(UNREADABLE)?;
        let (Field::Number(kind @ 0..=3), steps) = (edit.kind, &*edit.k.0) else { return Err(UNKNOWN) };
        let from = match edit.i {
            Field::Number(from) => usize::try_from(from).ok(),
            _ => None,
        };
        let mut again = Vec::new();
        match (kind, steps) {
            (0, _) => self.set(parse::<New<_>>(bytes, &mut again).ok_or(UNREADABLE)?.v, line),
            (1, [Step::Name(name)]) if name == "customTitle" => {
                self.title = parse::<New<Field>>(bytes, &mut again).and_then(|new| new.v.owned());
            }
            (1 | 2, [Step::Name(list)]) if list == "requests" => {
                self.requests.truncate(if kind == 1 { 0 } else { from.unwrap_or(usize::MAX) });
                self.append(parse::<New<_>>(bytes, &mut again).ok_or(UNREADABLE)?.v, line);
            }
            (1 | 2, [Step::Name(list), Step::Element(number), Step::Name(name)])
                if list == "requests" && name == "response" =>
            {
                let said = self.requests.get_mut(*number).ok_or("no text")?;
                let new: New<ResponseParts> = parse(bytes, &mut again).ok_or(UNREADABLE)?;
                said.answer.truncate(if kind == 1 { 0 } else { from.unwrap_or(usize::MAX) });
                if said.answer.iter().all(Option::is_none) {
                    said.lines[1] = line;
                }
                let left = MAX_LIST.saturating_sub(said.answer.len());
                said.answer.extend(new.v.0.into_iter().take(left));
            }
            _ => return Err("setting"),
        }
        Ok(())
    }

    fn finish(self, path: &Path, batch: &mut Batch) {
        let stem = || path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let name = self.id.filter(|id| id.len() <= MAX_ID).unwrap_or_else(stem);
        let mut title = self.title;
        let cwd = folder(path).filter(|cwd| cwd.len() * self.requests.len() <= MAX_FOLDERS);
        for (said, number) in self.requests.into_iter().zip(1..) {
            let id = said.id.unwrap_or_else(|| format!("#{number}"));
            let typed = blocks::typed(&said.typed, &COMMON, &mut batch.skipped);
            let answer = joined(&said.answer);
            let turns = [(Role::User, typed, said.lines[0]), (Role::Assistant, answer, said.lines[1])];
            for (role, text, line) in turns {
                let Some(text) = text else {
                    batch.skipped.count("no text");
                    continue;
                };
                batch.turns.push(Turn {
                    id: format!("{name}:{id}{}", if role == Role::User { "" } else { ":answer" }),
                    title: title.take(),
                    at: said.at,
                    cwd: cwd.clone(),
                    model: said.model.clone().filter(|_| role == Role::Assistant),
                    ..Turn::new(name.clone(), role, text, (line, line))
                });
            }
        }
    }
}

/// An answer as one text: what a tool does between two parts begins a paragraph.
fn joined(parts: &[Option<Box<str>>]) -> Option<String> {
    let mut text = String::new();
    let mut is_after_other = false;
    for part in parts {
        if let Some(part) = part {
            if is_after_other && !text.is_empty() {
                text.truncate(text.trim_end().len());
                text.push_str("\n\n");
            }
            text.push_str(part);
        }
        is_after_other = part.is_none();
    }
    trimmed(&text)
}

/// The folder that the workspace is of, by the file beside its chats.
fn folder(path: &Path) -> Option<String> {
    #[derive(Deserialize)]
    struct Workspace {
        folder: String,
    }
    let workspace = foreign::lone(&path.parent()?.parent()?.join("workspace.json"), MAX_WORKSPACE).ok()?;
    let Workspace { folder } = serde_json::from_slice(&workspace).ok()?;
    folder_of(&folder)
}

#[cfg(test)]
mod tests {
    use super::super::corpus;
    use super::*;

    #[test]
    fn transcripts_are_known_by_their_path() {
        let machine = Machine::new("/h", []);
        let storage = "/h/.config/Code/User";
        let chats = [
            format!("{storage}/workspaceStorage/0a/chatSessions/S.json"),
            format!("{storage}/workspaceStorage/0a/chatSessions/S.jsonl"),
            format!("{storage}/globalStorage/emptyWindowChatSessions/S.json"),
        ];
        let others = [format!("{storage}/workspaceStorage/0a/workspace.json"), format!("{storage}/settings.json")];
        let paths: Vec<&str> = chats.iter().chain(&others).map(String::as_str).collect();
        assert_eq!(corpus::transcripts(&VsCodeChat, &machine, &paths), chats);
    }
}
