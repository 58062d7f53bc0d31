//! Gemini CLI: `~/.gemini/tmp/<project>/chats/session-<time>-<id>.jsonl`, subagents in `chats/<session>/<id>.jsonl`.
//!
//! A file is a log of edits, so it is read as a whole whenever it grew: a message whose id comes again is replaced, `$set`
//! may set all of them, and `$rewindTo` removes a message and those after it. Older versions wrote one JSON object, `.json`.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};

use super::field::{Field, MAX_LIST, label, parse};
use super::jsonl::Lines;
use super::object::{objects, read_object};
use super::records::{Content, MAX_ID, UNKNOWN, UNREADABLE, for_each_line, join, texts, trimmed, typed, why_skipped};
use super::{Batch, Cursor, Format, ReadError, Role, Skipped, Turn};
use crate::foreign::{self, Foreign};
use crate::machine::Machine;

/// Reads transcripts of Gemini CLI.
pub struct Gemini;

/// The largest log that is read, in bytes: it is read as a whole.
const MAX_LOG: u64 = 64 << 20;
/// The most messages that are kept of a log.
const MAX_MESSAGES: usize = 200_000;
/// The most bytes that all turns together have of their folder: the turns are made at once.
const MAX_FOLDERS: usize = 32 << 20;
/// The largest list of projects that is read, in bytes.
const MAX_PROJECTS: u64 = 4 << 20;

/// The tool that asks the person, and how the answers begin that it shows.
const QUESTION: &str = "ask_user";
const ANSWERED: &str = "**User answered:**";
/// Beginnings of texts that have the role of the user and were not sent to the model.
const NOT_SAID: [&str; 4] = ["/", "?", "<session_context>", "<hook_context>"];

impl Format for Gemini {
    fn name(&self) -> &'static str {
        "gemini"
    }

    fn places(&self, machine: &Machine) -> Vec<PathBuf> {
        vec![machine.path("GEMINI_CLI_HOME", "").join(".gemini").join("tmp")]
    }

    fn is_transcript(&self, path: &Path) -> bool {
        let is_main = || path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("session-"));
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("json") => is_main() && parent_is_chats(path),
            Some("jsonl") => is_main() && parent_is_chats(path) || path.parent().is_some_and(parent_is_chats),
            _ => false,
        }
    }

    fn takes_back(&self) -> bool {
        true
    }

    fn read_file(&self, file: Foreign<'_>, since: Option<&Cursor>) -> Result<Batch, ReadError> {
        if file.path.extension().is_some_and(|extension| extension == "json") {
            return read_object(file, since, |bytes, batch| read_session(file.path, bytes, batch));
        }
        if since.is_some() {
            let mut lines = Lines::<()>::open(file, since)?;
            if !lines.from_start() && lines.next_line()?.is_none() && lines.last().is_none() {
                let (cursor, is_torn) = (lines.cursor(), lines.is_torn());
                return Ok(Batch { cursor, is_torn, ..Batch::default() });
            }
        }
        let (mut batch, mut log) = (Batch::default(), Log::default());
        for_each_line(&mut Lines::<()>::open_whole(file, MAX_LOG)?, &mut batch, |(), batch, line, bytes| {
            let mut mended = Vec::new();
            match parse(bytes, &mut mended) {
                Some(record) => log.take(record, batch, line),
                None => batch.skipped.count(UNREADABLE),
            }
        })?;
        log.finish(file.path, &mut batch);
        Ok(batch)
    }
}

/// Adds the turns of a file of an older version. False if it is no such file.
fn read_session(path: &Path, bytes: &[u8], batch: &mut Batch) -> bool {
    let mut mended = Vec::new();
    let Some(record) = parse::<LogLine>(bytes, &mut mended) else { return false };
    let mut log = Log::default();
    log.session(&record);
    log.is_cut = record.messages.elements().len() >= MAX_LIST;
    for (listed, number) in objects(record.messages).zip(1..) {
        batch.skipped.add(listed.skipped);
        let id = listed.id.unwrap_or_else(|| format!("#{number}"));
        log.put(id, GeminiMessage { line: number, ..listed.message });
    }
    log.finish(path, batch);
    true
}

/// A line of any kind.
type LogLine<'a> = GeminiRecord<'a, Field<'a, Listed>, Field<'a, Set<'a>>>;
/// Values that are set at once. They have messages, and these have none: messages in messages would take memory at each level.
type Set<'a> = GeminiRecord<'a, Field<'a, Listed>>;

/// Fields of a line, of the values that it sets, and of a message; a message has neither of the last two.
#[derive(Default, Deserialize)]
#[serde(
    default,
    rename_all = "camelCase",
    bound(deserialize = "M: Deserialize<'de> + Default, S: Deserialize<'de> + Default")
)]
struct GeminiRecord<'a, M = IgnoredAny, S = IgnoredAny> {
    #[serde(borrow)]
    id: Field<'a>,
    #[serde(rename = "type")]
    kind: Field<'a>,
    timestamp: Field<'a>,
    model: Field<'a>,
    content: Content<'a>,
    tool_calls: ToolAnswers,
    /// The prompt, if the content has more, such as files that it mentions.
    display_content: Content<'a>,
    session_id: Field<'a>,
    directories: Field<'a>,
    messages: M,
    #[serde(rename = "$set")]
    set: S,
    #[serde(rename = "$rewindTo")]
    rewind_to: Field<'a>,
}

/// A message of a list, made while the list is read: all of its pieces would take memory.
struct Listed {
    id: Option<String>,
    message: GeminiMessage,
    skipped: Skipped,
}

impl<'de> Deserialize<'de> for Listed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (record, mut skipped) =
            (GeminiRecord::<IgnoredAny, IgnoredAny>::deserialize(deserializer)?, Skipped::default());
        let message = GeminiMessage::of(&record, 0, &mut skipped);
        Ok(Listed { id: record.id.owned(), message, skipped })
    }
}

/// The state of a session after the edits so far.
#[derive(Default)]
struct Log {
    session: Option<String>,
    directory: Option<String>,
    messages: Vec<(String, GeminiMessage)>,
    /// The index of each id in `messages`.
    places: HashMap<String, usize>,
    /// Messages beyond the limit.
    lost: u64,
    /// Whether a list had as many messages as are read of one.
    is_cut: bool,
}

/// A person's answers in the calls of a message. They are taken while the list is read, since results are long.
#[derive(Default)]
struct ToolAnswers(Option<String>);

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ToolCall<'a> {
    #[serde(borrow)]
    name: Field<'a>,
    result_display: Field<'a>,
}

impl<'de> Deserialize<'de> for ToolAnswers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let calls = Field::<'de, ToolCall<'de>>::deserialize(deserializer)?;
        let asked = calls.elements().iter().filter_map(Field::object).filter(|call| call.name.text() == Some(QUESTION));
        let answers = asked.filter_map(|call| trimmed(call.result_display.text()?.trim().strip_prefix(ANSWERED)?));
        Ok(ToolAnswers(join(answers)))
    }
}

/// A message as it was written last.
struct GeminiMessage {
    /// Role and text, or why the message is left out.
    said: Result<(Role, String), &'static str>,
    /// A person's answers to questions of a tool that the message calls.
    answers: Option<String>,
    at: Option<i64>,
    model: Option<String>,
    line: u64,
}

impl GeminiMessage {
    fn of<M, S>(record: &GeminiRecord<'_, M, S>, line: u64, skipped: &mut Skipped) -> Self {
        let said = match record.kind.text() {
            Some("user") => user(record, skipped).map(|text| (Role::User, text)),
            // Files of the first versions say `model`.
            Some("gemini" | "model") => {
                let text = join(texts(&record.content)).map(|text| (Role::Assistant, text));
                text.ok_or_else(|| why_skipped(&record.content))
            }
            Some("info" | "error" | "warning") => Err("notice"),
            _ => Err(UNKNOWN),
        };
        let answers = record.tool_calls.0.clone();
        GeminiMessage { said, answers, at: record.timestamp.time(), model: record.model.owned(), line }
    }
}

fn user<M, S>(record: &GeminiRecord<'_, M, S>, skipped: &mut Skipped) -> Result<String, &'static str> {
    let content = match &record.display_content {
        Field::Nothing => &record.content,
        shown => shown,
    };
    let mut not_said = false;
    let said = typed(content, skipped).filter(|text| {
        let begins = NOT_SAID.iter().any(|start| text.starts_with(start));
        not_said |= begins;
        !begins
    });
    let said = join(said);
    said.ok_or_else(|| if not_said { "not typed" } else { why_skipped(content) })
}

impl Log {
    fn take(&mut self, record: LogLine<'_>, batch: &mut Batch, line: u64) {
        if let Some(id) = record.rewind_to.owned() {
            return self.rewind(&id);
        }
        if let Some(id) = record.id.owned() {
            return self.put(id, GeminiMessage::of(&record, line, &mut batch.skipped));
        }
        match record.set.object() {
            Some(set) => self.session(set),
            None if record.session_id.text().is_some() => self.session(&record),
            None => return batch.skipped.count(UNKNOWN),
        }
        let (messages, is_set) = match record.set {
            Field::Object(set) => (set.messages, true),
            _ => (record.messages, false),
        };
        if let Field::List(list) = &messages {
            self.is_cut |= list.len() >= MAX_LIST;
            if is_set {
                self.rewind("");
            }
            for listed in objects(messages) {
                batch.skipped.add(listed.skipped);
                match listed.id {
                    Some(id) => self.put(id, GeminiMessage { line, ..listed.message }),
                    None => batch.skipped.count("no id"),
                }
            }
        }
    }

    fn session<M, S>(&mut self, record: &GeminiRecord<'_, M, S>) {
        let session = record.session_id.owned().filter(|id| id.len() <= MAX_ID);
        self.session = session.or(self.session.take());
        self.directory = record.directories.elements().first().and_then(Field::owned).or(self.directory.take());
    }

    fn put(&mut self, id: String, message: GeminiMessage) {
        match self.places.get(&id).and_then(|&place| self.messages.get_mut(place)) {
            Some((_, old)) => *old = message,
            None if self.places.len() >= MAX_MESSAGES => self.lost += 1,
            None => {
                self.places.insert(id.clone(), self.messages.len());
                self.messages.push((id, message));
            }
        }
    }

    /// Removes a message and those after it. If there is no such message, all are removed.
    fn rewind(&mut self, id: &str) {
        let place = self.places.get(id).copied().unwrap_or_default();
        for (id, _) in self.messages.drain(place..) {
            self.places.remove(&id);
        }
    }

    fn finish(self, path: &Path, batch: &mut Batch) {
        if self.lost > 0 {
            batch.skipped.add(Skipped { counts: [("too many messages", self.lost)].into(), ..Skipped::default() });
        }
        // Those that are missing may have been read before, and are not gone.
        batch.whole &= self.lost == 0 && !self.is_cut;
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let own = self.session.unwrap_or_else(|| stem.into_owned());
        // A subagent's file stands in a folder that is named like the session that started it.
        let parent = path.parent().filter(|folder| parent_is_chats(folder)).and_then(Path::file_name);
        let session = parent.map_or_else(|| own.clone(), |parent| parent.to_string_lossy().into_owned());
        let cwd = root(path).or(self.directory).filter(|cwd| cwd.len() * self.messages.len() <= MAX_FOLDERS);
        for (id, message) in self.messages {
            let turn = |id, role, text, model| Turn {
                id,
                at: message.at,
                cwd: cwd.clone(),
                model,
                subagent: parent.is_some().then(|| own.clone()),
                ..Turn::new(session.clone(), role, text, (message.line, message.line))
            };
            let answers = message.answers.map(|text| turn(format!("{own}:{id}:answers"), Role::User, text, None));
            match message.said {
                Ok((role, text)) => batch.turns.push(turn(format!("{own}:{id}"), role, text, message.model)),
                Err(reason) => batch.skipped.count(reason),
            }
            batch.turns.extend(answers);
        }
    }
}

/// The working folder: a file beside `chats` says it, or the list of all projects.
fn root(path: &Path) -> Option<String> {
    #[derive(Deserialize)]
    struct Projects {
        projects: BTreeMap<String, String>,
    }
    let project = path.ancestors().skip(1).find(|folder| folder.ends_with("chats"))?.parent()?;
    let root = foreign::lone(&project.join(".project_root"), MAX_PROJECTS).ok();
    if let Some(root) = root.and_then(|root| trimmed(str::from_utf8(&root).ok()?)) {
        return Some(label(&root));
    }
    let projects = foreign::lone(&project.parent()?.parent()?.join("projects.json"), MAX_PROJECTS).ok()?;
    let Projects { projects } = serde_json::from_slice(&projects).ok()?;
    projects.into_iter().find(|(_, id)| project.ends_with(id)).map(|(root, _)| label(&root))
}

fn parent_is_chats(path: &Path) -> bool {
    path.parent().is_some_and(|parent| parent.ends_with("chats"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::corpus;
    use super::*;

    #[test]
    fn transcripts_are_known_by_their_path() {
        let machine = Machine::new("/h", []);
        let chats = [
            "/h/.gemini/tmp/p/chats/session-2026-11-02T09-00-0a0a0a0a.jsonl",
            "/h/.gemini/tmp/p/chats/session-2025-11-02T09-00-0a0a0a0a.json",
            "/h/.gemini/tmp/p/chats/S/explorer.jsonl",
        ];
        let others = [
            "/h/.gemini/tmp/p/logs.json",
            "/h/.gemini/tmp/p/chats/notes.jsonl",
            "/h/.gemini/tmp/p/chats/S/explorer.json",
            "/h/.gemini/tmp/p/chats/S/T/explorer.jsonl",
            "/h/.gemini/settings.json",
        ];
        assert_eq!(corpus::transcripts(&Gemini, &machine, &[&chats[..], &others].concat()), chats);
        let moved = Machine::new("/h", [("GEMINI_CLI_HOME", "/m")]);
        assert_eq!(Gemini.places(&moved), [PathBuf::from("/m/.gemini/tmp")]);
    }

    #[test]
    fn a_file_that_did_not_change_is_not_read_again() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.jsonl", "a.json"] {
            let path = folder.path().join(name);
            fs::write(
                &path,
                "{\"sessionId\":\"S\",\"messages\":[{\"id\":\"m\",\"type\":\"user\",\"content\":\"hi\"}]}\n",
            )
            .unwrap();
            let first = Gemini.read(&path, None).unwrap();
            assert_eq!((first.turns.len(), first.whole), (1, true), "{name}");
            let second = Gemini.read(&path, Some(&first.cursor)).unwrap();
            assert_eq!(second, Batch { cursor: first.cursor, ..Batch::default() });
            fs::write(&path, "{\"sessionId\":\"S\"}\n").unwrap();
            let third = Gemini.read(&path, Some(&second.cursor)).unwrap();
            assert_eq!((third.turns.len(), third.whole), (0, true), "{name}");
        }
        let path = folder.path().join("a.jsonl");
        let cursor = Gemini.read(&path, None).unwrap().cursor;
        fs::write(&path, "").unwrap();
        assert!(Gemini.read(&path, Some(&cursor)).unwrap().whole);
    }

    #[test]
    fn messages_beyond_the_limit_are_not_gone() {
        let folder = tempfile::tempdir().unwrap();
        let message = |number| format!("{{\"id\":\"{number}\",\"type\":\"user\",\"content\":\"x\"}}");
        let of = |count| (0..count).map(message).collect::<Vec<_>>();
        for (count, whole) in [(MAX_MESSAGES, true), (MAX_MESSAGES + 1, false)] {
            let path = folder.path().join("a.jsonl");
            fs::write(&path, of(count).join("\n") + "\n").unwrap();
            let batch = Gemini.read(&path, None).unwrap();
            assert_eq!((batch.turns.len(), batch.whole), (MAX_MESSAGES, whole), "lines");
        }
        // Of a list, fewer elements are read.
        let path = folder.path().join("a.json");
        fs::write(&path, format!("{{\"messages\":[{}]}}", of(100_001).join(","))).unwrap();
        let batch = Gemini.read(&path, None).unwrap();
        assert_eq!((batch.turns.len(), batch.whole), (100_000, false), "an object");
    }

    #[test]
    fn a_torn_object_removes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        fs::write(&path, "{\"sessionId\":\"S\",\"mess").unwrap();
        let batch = Gemini.read(&path, None).unwrap();
        assert_eq!((batch.whole, batch.skipped.counts[UNREADABLE], batch.cursor), (false, 1, Cursor::default()));
    }
}
