//! Amp: `~/.local/share/amp/threads/T-<id>.json`.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer};

use super::blocks::{COMMON, typed};
use super::editors::{folder_of, user_folders};
use super::field::{Field, label, parse};
use super::object::{KeptMessage, WholeSession, objects, read_object, session_name};
use super::records::{join, trimmed};
use super::{Batch, Cursor, Format, ReadError, Role};
use crate::foreign::Foreign;
use crate::machine::Machine;

/// Reads threads of Amp.
pub struct Amp;

impl Format for Amp {
    fn name(&self) -> &'static str {
        "amp"
    }

    fn places(&self, machine: &Machine) -> Vec<PathBuf> {
        let own = machine.path("XDG_DATA_HOME", ".local/share").join("amp/threads");
        let of_extension = user_folders(machine).map(|user| user.join("globalStorage/sourcegraph.amp/threads3"));
        std::iter::once(own).chain(of_extension).collect()
    }

    fn is_transcript(&self, path: &Path) -> bool {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let folder = path.parent().and_then(Path::file_name).unwrap_or_default();
        name.starts_with("T-") && name.ends_with(".json") && (folder == "threads" || folder == "threads3")
    }

    fn takes_back(&self) -> bool {
        true
    }

    fn read_file(&self, file: Foreign<'_>, since: Option<&Cursor>) -> Result<Batch, ReadError> {
        read_object(file, since, |bytes, batch| read(file.path, bytes, batch))
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct AmpThread<'a> {
    #[serde(borrow)]
    id: Field<'a>,
    title: Field<'a>,
    created: Field<'a>,
    env: Field<'a, Environment<'a>>,
    messages: Field<'a, AmpMessage>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Environment<'a> {
    #[serde(borrow)]
    initial: Field<'a, Initial<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Initial<'a> {
    #[serde(borrow)]
    cwd: Field<'a>,
    trees: Field<'a, WorkTree<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WorkTree<'a> {
    #[serde(borrow)]
    uri: Field<'a>,
}

fn read(path: &Path, bytes: &[u8], batch: &mut Batch) -> bool {
    let mut mended = Vec::new();
    let Some(thread) = parse::<AmpThread<'_>>(bytes, &mut mended) else { return false };
    let stem = || path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let initial = thread.env.object().and_then(|env| env.initial.object());
    let tree = initial.and_then(|initial| initial.trees.elements().first()?.object()?.uri.text());
    let session = WholeSession {
        id: session_name(&thread.id).unwrap_or_else(stem),
        title: thread.title.text().and_then(|title| trimmed(&label(title))),
        cwd: initial.and_then(|initial| initial.cwd.text()).or(tree).and_then(folder_of),
        ..WholeSession::default()
    };
    // A time of its own is only with what a person said.
    let mut at = thread.created.time();
    let messages = objects(thread.messages).map(|AmpMessage(kept)| {
        at = kept.at.or(at);
        KeptMessage { at, ..kept }
    });
    session.push(messages, batch);
    true
}

struct AmpMessage(KeptMessage);

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct AmpFields<'a> {
    #[serde(borrow)]
    message_id: Field<'a>,
    role: Field<'a>,
    content: Field<'a, AmpBlock<'a>>,
    meta: Field<'a, AmpMeta<'a>>,
    usage: Field<'a, AmpUsage<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct AmpMeta<'a> {
    #[serde(borrow)]
    sent_at: Field<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct AmpUsage<'a> {
    #[serde(borrow)]
    model: Field<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct AmpBlock<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    text: Field<'a>,
    summary: Field<'a, AmpSummary<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct AmpSummary<'a> {
    #[serde(borrow)]
    summary: Field<'a>,
}

impl<'de> Deserialize<'de> for AmpMessage {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let fields = AmpFields::deserialize(deserializer)?;
        let id = match fields.message_id {
            Field::Number(id) => Some(id.to_string()),
            ref id => id.owned(),
        };
        let mut kept = KeptMessage {
            id,
            at: fields.meta.object().and_then(|meta| meta.sent_at.time()),
            model: fields.usage.object().and_then(|usage| usage.model.owned()),
            ..KeptMessage::default()
        };
        take(&fields, &mut kept);
        Ok(AmpMessage(kept))
    }
}

fn take(fields: &AmpFields<'_>, kept: &mut KeptMessage) {
    let role = match fields.role.text() {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        // A notice of the program, which may have a summary.
        Some("info") => Role::Summary,
        _ => return kept.skipped.count("unknown role"),
    };
    let mut texts = Vec::new();
    for block in fields.content.elements().iter().filter_map(Field::object) {
        let said = match (block.kind.text(), role) {
            (Some("text"), Role::User) => {
                block.text.text().and_then(|text| typed(text, &COMMON, &mut kept.skipped)).ok_or("no text")
            }
            (Some("text"), Role::Assistant) => block.text.text().and_then(trimmed).ok_or("no text"),
            (Some("summary"), Role::Summary) => {
                block.summary.object().and_then(|summary| trimmed(summary.summary.text()?)).ok_or("notice")
            }
            (_, Role::Summary) => Err("notice"),
            (Some("tool_use"), _) => Err("tool call"),
            (Some("tool_result"), _) => Err("tool output"),
            (Some("thinking" | "redacted_thinking"), _) => Err("thinking"),
            (Some("image"), _) => Err("image"),
            _ => Err("no text"),
        };
        match said {
            Ok(text) => texts.push(text),
            Err(reason) => kept.skipped.count(reason),
        }
    }
    kept.said.extend(join(texts).map(|text| (role, text)));
}

#[cfg(test)]
mod tests {
    use super::super::corpus;
    use super::*;

    #[test]
    fn threads_are_known_by_their_path() {
        let machine = Machine::new("/h", []);
        let threads = [
            "/h/.local/share/amp/threads/T-7f1a0001-0000-4000-8000-000000000001.json",
            "/h/.config/Code/User/globalStorage/sourcegraph.amp/threads3/T-7f1a0002-0000-4000-8000-000000000002.json",
        ];
        let others = ["/h/.local/share/amp/threads/index.json", "/h/.local/share/amp/T-1.json"];
        assert_eq!(corpus::transcripts(&Amp, &machine, &[&threads[..], &others].concat()), threads);
    }
}
