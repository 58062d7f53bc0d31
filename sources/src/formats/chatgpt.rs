//! ChatGPT's export: `conversations.json`, or `conversations-000.json` and further ones, in the archive or unpacked.
//!
//! A conversation is a tree of messages, `mapping`: an edited message or another answer begins a branch. Only the branch that
//! ends at `current_node` is read.

use std::fmt;

use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::blocks::{self, COMMON};
use super::branch::{MessageLink, branch};
use super::export::{Conversation, Export};
use super::field::{Field, MAX_LIST, label, parse};
use super::records::{MAX_ID, UNKNOWN, UNREADABLE, join, trimmed, turn_id};
use super::{Batch, Role, Turn};

/// Reads exports of ChatGPT.
pub const CHATGPT: Export = Export { name: "chatgpt", take };

/// Kinds of content that are no prose, and why they are left out.
const OTHER_CONTENT: [(&str, &str); 14] = [
    ("code", "tool call"),
    ("execution_output", "tool output"),
    ("computer_output", "tool output"),
    ("citable_code_output", "tool output"),
    ("tether_browsing_display", "tool output"),
    ("tether_browsing_code", "tool output"),
    ("tether_quote", "tool output"),
    ("sonic_webpage", "tool output"),
    ("system_error", "notice"),
    ("app_pairing_content", "not typed"),
    ("thoughts", "thinking"),
    ("reasoning_recap", "thinking"),
    ("user_editable_context", "system text"),
    ("model_editable_context", "system text"),
];
/// Characters around a mark in a text, and between the parts of one.
const MARK: [char; 3] = ['\u{E200}', '\u{E202}', '\u{E201}'];

#[derive(Default, Deserialize)]
#[serde(default)]
struct ChatGptConversation<'a> {
    #[serde(borrow)]
    id: Field<'a>,
    conversation_id: Field<'a>,
    title: Field<'a>,
    create_time: Field<'a>,
    current_node: Field<'a>,
    mapping: Field<'a, Tree>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RawNode<'a> {
    #[serde(borrow)]
    parent: Field<'a>,
    message: Field<'a, ChatGptMessage<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ChatGptMessage<'a> {
    #[serde(borrow)]
    id: Field<'a>,
    author: Field<'a, Author<'a>>,
    create_time: Field<'a>,
    recipient: Field<'a>,
    channel: Field<'a>,
    content: Field<'a, ChatGptContent<'a>>,
    metadata: Field<'a, ChatGptMetadata<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Author<'a> {
    #[serde(borrow)]
    role: Field<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ChatGptContent<'a> {
    #[serde(borrow)]
    content_type: Field<'a>,
    parts: Field<'a, ChatGptPart<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ChatGptPart<'a> {
    #[serde(borrow)]
    text: Field<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ChatGptMetadata<'a> {
    #[serde(borrow)]
    model_slug: Field<'a>,
    is_visually_hidden_from_conversation: Field<'a>,
    is_user_system_message: Field<'a>,
}

/// The messages of a conversation, in the order of the file.
#[derive(Default)]
struct Tree {
    nodes: Vec<Node>,
    /// Whether there are more than are read.
    is_cut: bool,
}

struct Node {
    id: String,
    parent: Option<String>,
    at: Option<i64>,
    /// The message, or why it is left out; `None` for a node without a message.
    said: Option<Result<TurnDraft, &'static str>>,
}

struct TurnDraft {
    id: Option<String>,
    role: Role,
    texts: Vec<String>,
    model: Option<String>,
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Nodes;
        impl<'de> Visitor<'de> for Nodes {
            type Value = Tree;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("messages by their identifiers")
            }

            // A message is made small before the next one is read.
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Tree, A::Error> {
                let mut nodes = Vec::new();
                while nodes.len() < MAX_LIST {
                    let Some(id) = map.next_key::<String>()? else { return Ok(Tree { nodes, is_cut: false }) };
                    let node: Field<'de, RawNode<'de>> = map.next_value()?;
                    nodes.extend(node.object().map(|node| Node::of(&id, node)));
                }
                let mut is_cut = false;
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {
                    is_cut = true;
                }
                Ok(Tree { nodes, is_cut })
            }
        }
        deserializer.deserialize_map(Nodes)
    }
}

impl Node {
    fn of(id: &str, node: &RawNode<'_>) -> Self {
        let message = node.message.object();
        Node {
            id: label(id),
            parent: node.parent.owned(),
            at: message.and_then(|message| message.create_time.time_of_seconds()),
            said: message.map(said),
        }
    }
}

/// The author and the texts of a message, or why it is left out.
fn said(message: &ChatGptMessage<'_>) -> Result<TurnDraft, &'static str> {
    let role = match message.author.object().and_then(|author| author.role.text()) {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("system") => return Err("system text"),
        Some("tool") => return Err("tool output"),
        _ => return Err(UNKNOWN),
    };
    let empty = ChatGptMetadata::default();
    let metadata = message.metadata.object().unwrap_or(&empty);
    if metadata.is_user_system_message.is_true() {
        return Err("system text");
    }
    if metadata.is_visually_hidden_from_conversation.is_true() {
        return Err("hidden");
    }
    if message.recipient.text().is_some_and(|recipient| recipient != "all") {
        return Err("tool call");
    }
    if message.channel.text() == Some("analysis") {
        return Err("thinking");
    }
    let Some(content) = message.content.object() else { return Err("no text") };
    let kind = content.content_type.text().unwrap_or_default();
    if let Some((_, reason)) = OTHER_CONTENT.iter().find(|(other, _)| *other == kind) {
        return Err(reason);
    }
    let texts = content.parts.elements().iter().filter_map(|part| match part {
        Field::Text(text) => Some(text.clone().into_owned()),
        // What was spoken.
        Field::Object(part) => part.text.text().map(str::to_owned),
        _ => None,
    });
    let texts: Vec<_> = texts.filter(|text| !text.trim().is_empty()).collect();
    if texts.is_empty() {
        let has_image = content.parts.elements().iter().any(|part| part.object().is_some());
        return Err(if has_image { "image" } else { "no text" });
    }
    Ok(TurnDraft { id: message.id.owned(), role, texts, model: metadata.model_slug.owned() })
}

fn take(conversation: &Conversation<'_>, batch: &mut Batch) {
    let mut mended = Vec::new();
    let Some(talk) = parse::<ChatGptConversation>(conversation.json, &mut mended) else {
        return batch.skipped.count(UNREADABLE);
    };
    let Field::Object(Tree { nodes, is_cut }) = talk.mapping else {
        return batch.skipped.count("conversation without messages");
    };
    if is_cut {
        batch.skipped.count("too many messages");
    }
    let links = nodes.iter().map(|node| MessageLink { id: &node.id, parent: node.parent.as_deref(), at: node.at });
    let branch = branch(&links.collect::<Vec<_>>(), talk.current_node.text());
    let own = talk.conversation_id.owned().or_else(|| talk.id.owned()).filter(|id| id.len() <= MAX_ID);
    let first = branch.first().map(|number| nodes[*number].id.chars().take(MAX_ID / 4).collect());
    let session: String = own.or(first).unwrap_or_default();
    let mut nodes: Vec<Option<Node>> = nodes.into_iter().map(Some).collect();
    let mut title = talk.title.text().and_then(|title| trimmed(&label(title)));
    for number in branch {
        let Some(Node { id, at, said: Some(said), .. }) = nodes[number].take() else { continue };
        let said = match said {
            Ok(said) => said,
            Err(reason) => {
                batch.skipped.count(reason);
                continue;
            }
        };
        let texts = said.texts.iter().filter_map(|text| match said.role {
            Role::User => blocks::typed(text, &COMMON, &mut batch.skipped),
            _ => trimmed(&without_marks(text)),
        });
        let Some(text) = join(texts) else {
            batch.skipped.count("no text");
            continue;
        };
        let id = said.id.unwrap_or(id);
        batch.turns.push(Turn {
            id: turn_id(&session, &id),
            title: title.take(),
            at: at.or_else(|| talk.create_time.time_of_seconds()),
            model: said.model,
            ..Turn::new(session.clone(), said.role, text, conversation.lines)
        });
    }
    let left = nodes.iter().flatten().filter(|node| matches!(node.said, Some(Ok(_)))).count();
    (0..left).for_each(|_| batch.skipped.count("in another branch"));
}

/// A text without the marks that the page makes links of. The names in the marks stay.
fn without_marks(text: &str) -> String {
    let [begin, between, end] = MARK;
    let (mut kept, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((before, mark)) = rest.split_once(begin) {
        kept.push_str(before);
        // The next mark ends one that has no end.
        let length = mark.find([begin, end]).unwrap_or(mark.len());
        let (mark, after) = mark.split_at(length);
        rest = after.strip_prefix(end).unwrap_or(after);
        let mut parts = mark.split(between);
        match (parts.next(), parts.next()) {
            (Some("entity"), Some(of)) => {
                let names: Vec<String> = serde_json::from_str(of).unwrap_or_default();
                kept.push_str(names.get(1).map_or("", |name| name));
            }
            (Some("url"), Some(named)) => kept.push_str(named),
            _ => {}
        }
    }
    kept + rest
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;
    use std::path::Path;

    use super::super::Format;
    use super::*;

    #[test]
    fn marks_are_removed_but_the_names_in_them_stay() {
        for (text, expected) in [
            ("no mark", "no mark"),
            ("a\u{E200}cite\u{E202}turn0search1\u{E202}turn0search2\u{E201}.", "a."),
            ("in \u{E200}entity\u{E202}[\"city\",\"Graz\",\"Austria\"]\u{E201}!", "in Graz!"),
            ("see \u{E200}url\u{E202}the page\u{E202}https://example.org\u{E201}", "see the page"),
            ("a\u{E200}cite\u{E202}x \u{E200}cite\u{E202}y\u{E201}b", "ab"),
            ("a\u{E200}entity\u{E202}broken\u{E201}b\u{E201}", "ab\u{E201}"),
        ] {
            assert_eq!(without_marks(text), expected, "{text:?}");
        }
    }

    fn conversation(number: usize) -> String {
        let text = format!("message {number}");
        let message = serde_json::json!({ "author": { "role": "user" }, "content": { "parts": [text] } });
        let mapping = serde_json::json!({ "a": { "message": message, "parent": null } });
        serde_json::json!({ "conversation_id": format!("c{number}"), "mapping": mapping }).to_string()
    }

    fn archive(path: &Path, files: &[(&str, &str)]) {
        let mut archive = zip::ZipWriter::new(fs::File::create(path).unwrap());
        for (name, text) in files {
            archive.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
            archive.write_all(text.as_bytes()).unwrap();
        }
        archive.finish().unwrap();
    }

    /// All batches of a file.
    fn read(path: &Path) -> Vec<Batch> {
        let mut batches = vec![CHATGPT.read(path, None).unwrap()];
        while batches.last().unwrap().more {
            batches.push(CHATGPT.read(path, Some(&batches.last().unwrap().cursor)).unwrap());
        }
        batches
    }

    fn texts(batches: &[Batch]) -> Vec<&str> {
        batches.iter().flat_map(|batch| &batch.turns).map(|turn| &*turn.text).collect()
    }

    #[test]
    fn an_archive_is_read_a_file_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("export.zip");
        let list = |numbers: &[usize]| {
            format!("[{}]", numbers.iter().map(|number| conversation(*number)).collect::<Vec<_>>().join(",\n"))
        };
        archive(
            &path,
            &[
                ("export/conversations-001.json", &list(&[3])),
                ("export/conversations-000.json", &list(&[1, 2])),
                ("export/shared_conversations.json", &list(&[4])),
                ("export/user.json", "{}"),
            ],
        );
        let batches = read(&path);
        assert_eq!(texts(&batches), ["message 1", "message 2", "message 3"]);
        assert_eq!(batches[0].turns[1].lines, (2, 2));
        let last = batches.last().unwrap();
        let again = CHATGPT.read(&path, Some(&last.cursor)).unwrap();
        assert_eq!((again.turns.len(), again.more, &again.cursor), (0, false, &last.cursor));
        archive(&path, &[("conversations.json", &list(&[1, 5]))]);
        let changed = CHATGPT.read(&path, Some(&last.cursor)).unwrap();
        assert_eq!((texts(std::slice::from_ref(&changed)), changed.whole), (vec!["message 1", "message 5"], true));
        fs::write(&path, "no archive").unwrap();
        let broken = CHATGPT.read(&path, None).unwrap();
        assert_eq!((broken.turns.len(), broken.whole, broken.skipped.counts[UNREADABLE]), (0, false, 1));
    }

    #[test]
    fn a_large_export_is_read_in_parts() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("conversations.json");
        let count = 100_000;
        let list: Vec<_> = (0..count).map(conversation).collect();
        fs::write(&path, format!("[{}]", list.join(",\n"))).unwrap();
        let batches = read(&path);
        assert!(batches.len() > 1 && !batches[0].whole);
        let expected: Vec<_> = (0..count).map(|number| format!("message {number}")).collect();
        assert!(texts(&batches) == expected);
        let last = batches.last().unwrap().turns.last().unwrap();
        assert_eq!(last.lines, (count as u64, count as u64));
    }

    #[test]
    fn conversations_before_a_truncated_end_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("conversations.json");
        fs::write(&path, format!("[{},{}", conversation(1), &conversation(2)[..40])).unwrap();
        let batch = CHATGPT.read(&path, None).unwrap();
        assert_eq!((texts(std::slice::from_ref(&batch)), batch.whole), (vec!["message 1"], false));
        assert_eq!(batch.skipped.counts[UNREADABLE], 1);
    }
}
