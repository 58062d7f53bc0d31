//! A memory of another system, as an import takes it.

use memorist_engine::types::{
    AccessKind, Accessed, Earlier, Kind, Millis, NewRecord, Place, Portable, Replaced, Scope, moved_ulid,
};
use memorist_engine::{Error, Result};
use memorist_sources::moving::{self, Memory, System};
use serde_json::Value;

use crate::origins;

/// Begins a reference to a memory, in a body.
const ULID_PREFIX: &str = "ulid:";

/// Converts memories of one system.
pub struct Mover<'a> {
    pub system: System,
    /// The project and the agent of memories that have none.
    pub defaults: &'a Scope,
    /// The time of memories without one.
    pub now: Millis,
}

impl Mover<'_> {
    /// The ULID of a memory: the same on every run. Without a time, its first text is needed too, as two stores may have the
    /// same keys.
    pub fn ulid(&self, memory: &Memory) -> String {
        let first = memory.earlier.first();
        let (content, body) = first.map_or((&memory.content, &memory.body), |first| (&first.content, &first.body));
        let body = body.as_ref().map(Value::to_string).unwrap_or_default();
        let text = if memory.created_at.is_some() { [""; 2] } else { [content.as_str(), body.as_str()] };
        let [text, fields] = text;
        let identity = origins::identity(&["memory", self.system.name(), &memory.key, text, fields]);
        moved_ulid(memory.created_at.unwrap_or(0), identity)
    }

    /// The memory for an import, and how many earlier versions have no content to keep. `ulid_of` finds the memories that its
    /// body refers to.
    ///
    /// # Errors
    /// [`Error::Invalid`] says why it cannot be moved.
    pub fn portable(
        &self,
        mut memory: Memory,
        ulid: String,
        ulid_of: impl Fn(&str) -> Option<String>,
    ) -> Result<(Portable, u64)> {
        let kind: Kind = memory.kind.parse()?;
        let content = content_of(kind, &memory)?;
        memory.resolve(|key| ulid_of(key).map_or(Value::Null, |ulid| format!("{ULID_PREFIX}{ulid}").into()));
        let created_at = self.created_at(&memory);
        let updated_at = memory.updated_at.unwrap_or(created_at);
        let (place, context) = self.place(&memory);
        let is_file = memory.place.is_some();
        let session = memory.session.as_deref().map(|session| match is_file {
            true => origins::moved_thread(self.system, session),
            false => session.to_owned(),
        });
        let text = NewRecord {
            kind,
            source: memory.source,
            context,
            confidence: memory.confidence,
            importance: memory.importance,
            tags: memory.tags,
            expires_at: memory.expires_at,
            scope: Scope {
                agent: memory.agent.or_else(|| self.defaults.agent.clone()),
                project: memory.project.or_else(|| self.defaults.project.clone()),
            },
            body: memory.body,
            turn: memory.turn.filter(|_| session.is_some()),
            session,
            place,
            ..NewRecord::new(content)
        };
        let (earlier, lost) = earlier_versions(memory.earlier, &text, created_at);
        let version = 1 + lost as i64 + earlier.len() as i64;
        let accesses = memory.accesses.into_iter().map(accessed).collect();
        let portable = Portable {
            updated_at,
            access_count: memory.access_count,
            last_accessed_at: memory.last_accessed_at,
            earlier,
            accesses,
            ..Portable::new(ulid, version, text, created_at)
        };
        Ok((portable, lost))
    }

    fn created_at(&self, memory: &Memory) -> Millis {
        let replaced = memory.earlier.iter().find_map(|earlier| earlier.replaced_at);
        memory.created_at.or(replaced).or(memory.updated_at).unwrap_or(self.now)
    }

    /// The location of a chunk, and its context. An absolute path goes into the context only: the chunk must not be taken for one
    /// of a file that is read here.
    fn place(&self, memory: &Memory) -> (Option<Place>, Option<String>) {
        let Some(place) = &memory.place else { return (None, memory.context.clone()) };
        let moving::FileSpan { path, first, last } = place;
        if is_absolute(path) {
            let lines = format!("{path}:{first}-{last}");
            let context = memory.context.as_ref().map_or(lines.clone(), |context| format!("{context}\n{lines}"));
            return (None, Some(context));
        }
        let origin = origins::moved(self.system.name(), &memory.key);
        (Some(Place::new(origin, path, first.unsigned_abs(), last.unsigned_abs())), memory.context.clone())
    }
}

/// Whether a path is absolute, also on another platform than that of the store.
fn is_absolute(path: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphabetic();
    path.starts_with(['/', '\\']) || path.starts_with(is_letter) && path.get(1..2) == Some(":")
}

/// The text of a memory, or else of its body. References are left out.
fn content_of(kind: Kind, memory: &Memory) -> Result<String> {
    let mut plain = Memory::new("", "");
    plain.body = memory.body.clone();
    plain.resolve(|_| 1.into());
    text_of(kind, &memory.content, plain.body)
}

fn text_of(kind: Kind, content: &str, body: Option<Value>) -> Result<String> {
    match body {
        Some(body) if content.trim().is_empty() => Ok(NewRecord::of_body(kind, body)?.content),
        _ => Ok(content.to_owned()),
    }
}

/// The versions before the newest, and how many have no content.
fn earlier_versions(versions: Vec<moving::Earlier>, newest: &NewRecord, created_at: Millis) -> (Vec<Earlier>, u64) {
    let mut since = created_at;
    let (mut kept, mut lost) = (Vec::with_capacity(versions.len()), 0);
    for (version, earlier) in (1..).zip(versions) {
        let at = earlier.replaced_at.unwrap_or(since);
        let content = text_of(newest.kind, &earlier.content, earlier.body.clone());
        match content.ok().filter(|content| !content.trim().is_empty()) {
            Some(content) => kept.push(Earlier {
                version,
                since,
                replaced: Replaced { at, reason: earlier.reason },
                text: NewRecord {
                    content,
                    body: earlier.body,
                    session: None,
                    turn: None,
                    place: None,
                    ..newest.clone()
                },
            }),
            None => lost += 1,
        }
        since = at;
    }
    (kept, lost)
}

fn accessed(access: moving::Access) -> Accessed {
    let kind = if access.kind == AccessKind::Get.as_str() { AccessKind::Get } else { AccessKind::Search };
    Accessed { at: access.at, kind, score: access.score, query: access.query }
}

/// Why a memory was refused, in words for a person.
pub fn reason(error: &Error) -> String {
    match error {
        Error::Duplicate(_) => "texts that another memory here has".into(),
        error => error.to_string(),
    }
}
