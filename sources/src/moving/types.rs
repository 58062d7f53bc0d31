//! Memories and links that are read from a store.

use std::collections::BTreeMap;

use serde_json::Value;

/// A piece of a store: all memories come first, then the links between them.
#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    Memory(Box<Memory>),
    Link(Link),
}

/// A memory of another system, within the bounds of memorist.
#[derive(Debug, Clone, PartialEq)]
pub struct Memory {
    /// Its identity in that store: the same on every run.
    pub key: String,
    /// Its text. Empty if memorist makes the text of its body.
    pub content: String,
    /// A kind of memorist.
    pub kind: String,
    pub source: String,
    pub context: Option<String>,
    /// 0 to 1.
    pub confidence: f64,
    /// 1 to 10.
    pub importance: i64,
    /// Labels, without repeats.
    pub tags: Vec<String>,
    /// The agent that it belongs to.
    pub agent: Option<String>,
    /// The project that it belongs to.
    pub project: Option<String>,
    /// When it was saved, in Unix milliseconds, as are all times here.
    pub created_at: Option<i64>,
    /// When it last changed.
    pub updated_at: Option<i64>,
    pub expires_at: Option<i64>,
    /// When it was last used.
    pub last_accessed_at: Option<i64>,
    /// How often it was used.
    pub access_count: i64,
    /// The fields of its kind. A reference to another memory is an object with its key: see [`Memory::resolve`].
    pub body: Option<Value>,
    /// The session, conversation or file that it belongs to.
    pub session: Option<String>,
    /// Its position there.
    pub turn: Option<i64>,
    /// The part of a file that it is.
    pub place: Option<FileSpan>,
    /// The versions before this one, oldest first.
    pub earlier: Vec<Earlier>,
    /// The entries of its access log, oldest first.
    pub accesses: Vec<Access>,
}

/// A part of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSpan {
    /// Its path, as the store has it: mostly below the folder of the agent.
    pub path: String,
    /// The first line, counted from 1.
    pub first: i64,
    /// The last line.
    pub last: i64,
}

/// A version of a memory before the newest.
#[derive(Debug, Clone, PartialEq)]
pub struct Earlier {
    /// Its text, as [`Memory::content`].
    pub content: String,
    /// Its fields, as [`Memory::body`].
    pub body: Option<Value>,
    /// When it was replaced.
    pub replaced_at: Option<i64>,
    pub reason: String,
}

/// An entry of an access log.
#[derive(Debug, Clone, PartialEq)]
pub struct Access {
    pub at: i64,
    /// `get` or `search`.
    pub kind: &'static str,
    /// The score that the memory had in the search.
    pub score: Option<f64>,
    pub query: Option<String>,
}

/// A link between two memories.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Link {
    /// The key of the memory that the link is of.
    pub from: String,
    /// The key of the other.
    pub to: String,
    /// A kind of link of memorist.
    pub kind: &'static str,
    /// When it was made.
    pub created_at: Option<i64>,
}

/// The outcome of reading a store.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// Content that was not moved, or only after a repair: why, in words for a person, and how often.
    pub not_brought: BTreeMap<String, u64>,
}

impl Memory {
    /// A fact with the defaults of memorist.
    pub fn new(key: impl Into<String>, content: impl Into<String>) -> Self {
        Memory {
            key: key.into(),
            content: content.into(),
            kind: "fact".into(),
            source: "manual".into(),
            context: None,
            confidence: 1.0,
            importance: 5,
            tags: Vec::new(),
            agent: None,
            project: None,
            created_at: None,
            updated_at: None,
            expires_at: None,
            last_accessed_at: None,
            access_count: 0,
            body: None,
            session: None,
            turn: None,
            place: None,
            earlier: Vec::new(),
            accesses: Vec::new(),
        }
    }

    /// Replaces each reference of its body to another memory by the result of `id` for that memory's key.
    pub fn resolve(&mut self, mut id: impl FnMut(&str) -> Value) {
        let Some(Value::Object(fields)) = &mut self.body else { return };
        for name in REFERRING {
            match fields.get_mut(name) {
                Some(Value::Array(items)) => items.iter_mut().for_each(|item| replace(item, &mut id)),
                Some(one) => replace(one, &mut id),
                None => {}
            }
        }
    }
}

/// The fields of bodies that may refer to memories.
const REFERRING: [&str; 2] = ["primary_contact_id", "participants"];

/// A reference to the memory with this key, in a body.
pub(super) fn reference(key: &str) -> Value {
    serde_json::json!({ "key": key })
}

fn replace(value: &mut Value, id: &mut impl FnMut(&str) -> Value) {
    if let Some(key) = value.get("key").and_then(Value::as_str).map(str::to_owned) {
        *value = id(&key);
    }
}

impl Report {
    pub(super) fn count(&mut self, reason: impl Into<String>) {
        self.count_many(reason, 1);
    }

    /// Counts some for a reason.
    pub(super) fn count_many(&mut self, reason: impl Into<String>, many: u64) {
        if many > 0 {
            *self.not_brought.entry(reason.into()).or_default() += many;
        }
    }
}
