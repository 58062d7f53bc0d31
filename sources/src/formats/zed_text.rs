//! Zed's text threads: `~/.local/share/zed/conversations/<title> - <number>.zed.json`.
//!
//! A thread is one text, which a person may edit anywhere, and a list of the places where another one begins to speak. Nothing
//! of it has a time.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::blocks::{COMMON, typed};
use super::field::{Field, MAX_LIST, label, parse};
use super::object::{KeptMessage, WholeSession, objects, read_object, session_name};
use super::records::trimmed;
use super::{Batch, Cursor, Format, ReadError, Role};
use crate::foreign::Foreign;
use crate::machine::Machine;

/// Reads text threads of Zed.
pub struct ZedText;

/// How the names of their files end.
const ENDING: &str = ".zed.json";

impl Format for ZedText {
    fn name(&self) -> &'static str {
        "zed-text"
    }

    fn places(&self, machine: &Machine) -> Vec<PathBuf> {
        let folders = [
            machine.path("XDG_DATA_HOME", ".local/share").join("zed"),
            // On macOS, whatever the environment says.
            machine.home().join(".config/zed"),
            machine.path("LOCALAPPDATA", "AppData/Local").join("Zed"),
        ];
        folders.map(|folder| folder.join("conversations")).into()
    }

    fn is_transcript(&self, path: &Path) -> bool {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.ends_with(ENDING) && path.parent().is_some_and(|folder| folder.ends_with("conversations"))
    }

    fn takes_back(&self) -> bool {
        true
    }

    fn ids_are_of_files(&self) -> bool {
        true
    }

    fn read_file(&self, file: Foreign<'_>, since: Option<&Cursor>) -> Result<Batch, ReadError> {
        read_object(file, since, |bytes, batch| read(file.path, bytes, batch))
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SavedText<'a> {
    #[serde(borrow)]
    id: Field<'a>,
    summary: Field<'a>,
    text: Field<'a>,
    messages: Field<'a, Anchor<'a>>,
    /// In older versions the roles are here, by the identifiers of messages.
    message_metadata: Roles,
    slash_command_output_sections: Field<'a, Section<'a>>,
}

/// Where somebody begins to speak.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Anchor<'a> {
    /// A number, or a clock.
    #[serde(borrow)]
    id: Field<'a, Clock<'a>>,
    start: Field<'a>,
    metadata: Field<'a, AnchorMetadata<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Clock<'a> {
    #[serde(borrow)]
    replica_id: Field<'a>,
    value: Field<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct AnchorMetadata<'a> {
    #[serde(borrow)]
    role: Field<'a>,
}

/// A part that a command put in, such as a file.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Section<'a> {
    #[serde(borrow)]
    range: Field<'a, SectionRange<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SectionRange<'a> {
    #[serde(borrow)]
    start: Field<'a>,
    end: Field<'a>,
}

fn read(path: &Path, bytes: &[u8], batch: &mut Batch) -> bool {
    let mut mended = Vec::new();
    let Some(saved) = parse::<SavedText<'_>>(bytes, &mut mended) else { return false };
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let stem = label(name.strip_suffix(ENDING).unwrap_or(&name));
    let text = saved.text.text().unwrap_or_default();
    let sections = sections(saved.slash_command_output_sections, text);
    let roles = saved.message_metadata.0;
    let mut anchors: Vec<(usize, Option<String>, Option<Speaker>)> = objects(saved.messages)
        .map(|anchor| {
            let id = id(&anchor.id);
            let own = anchor.metadata.object().and_then(|metadata| Speaker::named(metadata.role.text()?));
            let listed = || id.as_ref().and_then(|id| roles.get(id)).copied();
            (place(&anchor.start, text).unwrap_or(text.len()), id.clone(), own.or_else(listed))
        })
        .collect();
    anchors.sort_by_key(|(start, ..)| *start);
    let ends: Vec<usize> = anchors.iter().skip(1).map(|(start, ..)| *start).chain([text.len()]).collect();
    let session = WholeSession {
        id: session_name(&saved.id).unwrap_or(stem),
        title: saved.summary.text().and_then(|title| trimmed(&label(title))),
        ..WholeSession::default()
    };
    let messages = anchors.into_iter().zip(ends).map(|((start, id, speaker), end)| {
        let mut kept = KeptMessage { id, ..KeptMessage::default() };
        let said = without(text, start..end, &sections, &mut kept);
        match speaker {
            Some(Speaker::User) => {
                let said = typed(&said, &COMMON, &mut kept.skipped);
                kept.add(Role::User, said.ok_or("no text"));
            }
            Some(Speaker::Assistant) => kept.add(Role::Assistant, trimmed(&said).ok_or("no text")),
            Some(Speaker::System) => kept.skipped.count("system text"),
            None => kept.skipped.count("unknown role"),
        }
        kept
    });
    session.push(messages, batch);
    true
}

fn id(id: &Field<'_, Clock<'_>>) -> Option<String> {
    match id {
        Field::Number(id) => Some(id.to_string()),
        Field::Object(clock) => match (&clock.replica_id, &clock.value) {
            (Field::Number(replica), Field::Number(value)) => Some(format!("{replica}.{value}")),
            _ => None,
        },
        _ => None,
    }
}

/// A place of the text: the beginning of a letter.
fn place(place: &Field<'_>, text: &str) -> Option<usize> {
    let Field::Number(place) = place else { return None };
    usize::try_from(*place).ok().map(|place| text.floor_char_boundary(place.min(text.len())))
}

/// The parts of the text that commands put in, in their order.
fn sections(sections: Field<'_, Section<'_>>, text: &str) -> Vec<Range<usize>> {
    let ranges = objects(sections).filter_map(|section| {
        let range = section.range.object()?;
        Some(place(&range.start, text)?..place(&range.end, text)?)
    });
    let mut ranges: Vec<_> = ranges.filter(|range| !range.is_empty()).collect();
    ranges.sort_unstable_by_key(|range| (range.start, range.end));
    ranges
}

/// A part of the text without sections, which are counted where they begin.
fn without(text: &str, part: Range<usize>, sections: &[Range<usize>], kept: &mut KeptMessage) -> String {
    let (mut said, mut from) = (String::new(), part.start);
    // One that begins before may reach in here: at most as far as the longest.
    let later = sections.partition_point(|section| section.start < part.end);
    for section in &sections[..later] {
        if section.end <= from {
            continue;
        }
        if section.start >= part.start {
            kept.skipped.count("file");
        }
        said.push_str(text.get(from..section.start).unwrap_or_default());
        from = section.end.min(part.end);
    }
    said + text.get(from..part.end).unwrap_or_default()
}

#[derive(Clone, Copy)]
enum Speaker {
    User,
    Assistant,
    System,
}

impl Speaker {
    fn named(name: &str) -> Option<Self> {
        match name {
            "user" => Some(Speaker::User),
            "assistant" => Some(Speaker::Assistant),
            "system" => Some(Speaker::System),
            _ => None,
        }
    }
}

/// Roles by the identifiers of messages.
#[derive(Default)]
struct Roles(HashMap<String, Speaker>);

impl<'de> Deserialize<'de> for Roles {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let map = Field::<'de, RoleMap>::deserialize(deserializer)?;
        Ok(if let Field::Object(RoleMap(roles)) = map { Roles(roles) } else { Roles::default() })
    }
}

struct RoleMap(HashMap<String, Speaker>);

impl<'de> Deserialize<'de> for RoleMap {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(RoleVisitor).map(RoleMap)
    }
}

/// Reads as many roles as messages are read.
struct RoleVisitor;

impl<'de> Visitor<'de> for RoleVisitor {
    type Value = HashMap<String, Speaker>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("roles")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut roles = HashMap::new();
        while roles.len() < MAX_LIST
            && let Some((id, metadata)) = map.next_entry::<Cow<'de, str>, Field<'de, AnchorMetadata<'de>>>()?
        {
            let role = metadata.object().and_then(|metadata| Speaker::named(metadata.role.text()?));
            roles.extend(role.map(|role| (label(&id), role)));
        }
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(roles)
    }
}

#[cfg(test)]
mod tests {
    use super::super::corpus;
    use super::*;

    #[test]
    fn text_threads_are_known_by_their_path() {
        let machine = Machine::new("/h", []);
        let threads =
            ["/h/.local/share/zed/conversations/A plan - 1.zed.json", "/h/.config/zed/conversations/B - 2.zed.json"];
        let others = ["/h/.local/share/zed/conversations/a.json", "/h/.local/share/zed/threads/threads.db"];
        assert_eq!(corpus::transcripts(&ZedText, &machine, &[&threads[..], &others].concat()), threads);
    }

    /// Each section is left out of every message that it reaches into, and counted once.
    #[test]
    fn a_section_over_several_messages_is_left_out() {
        let json = r#"{"text":"abcdefgh","messages":[{"id":0,"start":0},{"id":1,"start":4}],
            "message_metadata":{"0":{"role":"user"},"1":{"role":"assistant"}},
            "slash_command_output_sections":[{"range":{"start":2,"end":6}},{"range":{"start":3,"end":5}},
                {"range":{"start":6,"end":6}},{"range":{"start":7,"end":900}},{"range":7}]}"#;
        let mut batch = Batch::default();
        assert!(read(Path::new("a - 1.zed.json"), json.as_bytes(), &mut batch));
        let said: Vec<_> = batch.turns.iter().map(|turn| turn.text.as_str()).collect();
        assert_eq!((said, batch.skipped.counts["file"]), (vec!["ab", "g"], 3));
    }
}
