//! A record: new, changed, and stored.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::bounds::{
    check_confidence, check_content, check_context, check_importance, check_label, check_millis, check_tags,
    check_thread,
};
use super::kind::Kind;
use super::place::Place;
use super::scope::Scope;
use super::span::Span;
use super::units::{Millis, RecordId};
use crate::body::{Body, METADATA};
use crate::error::{Error, Result};

/// A record to be saved.
#[derive(Debug, Clone, PartialEq)]
pub struct NewRecord {
    /// The text that is remembered, indexed and embedded. 1 to [`MAX_CONTENT_BYTES`](super::MAX_CONTENT_BYTES) bytes, not only white space.
    pub content: String,
    /// Its kind.
    pub kind: Kind,
    /// Where it came from.
    pub source: String,
    /// Its context; embedded before the content.
    pub context: Option<String>,
    /// 0 to 1.
    pub confidence: f64,
    /// 1 to 10.
    pub importance: i64,
    /// Labels, in the given order, without repeats.
    pub tags: Vec<String>,
    /// When it expires.
    pub expires_at: Option<Millis>,
    /// When it happened, or when it was true.
    pub valid: Span,
    /// Its owner.
    pub scope: Scope,
    /// The fields of its kind beside the text: see [`crate::body`].
    pub body: Option<Value>,
    /// The thread that it belongs to: a session, a conversation or a file. The records of one scope with the same session
    /// are a thread; a search judges each with those around it.
    pub session: Option<String>,
    /// Its place in the thread, 0 to [`MAX_TURN`](super::MAX_TURN), in any steps. With a session and no turn it comes last.
    pub turn: Option<i64>,
    /// Where it was read.
    pub place: Option<Place>,
}

impl NewRecord {
    /// A record of `content` with the defaults of the specification: a fact, by hand, importance 5, confidence 1.
    pub fn new(content: impl Into<String>) -> Self {
        NewRecord {
            content: content.into(),
            kind: Kind::Fact,
            source: "manual".into(),
            context: None,
            confidence: 1.0,
            importance: 5,
            tags: Vec::new(),
            expires_at: None,
            valid: Span::default(),
            scope: Scope::default(),
            body: None,
            session: None,
            turn: None,
            place: None,
        }
    }

    /// A record of `kind` with the text of its body.
    ///
    /// # Errors
    /// [`Error::Invalid`] names what is wrong with the body, or says that it has no text.
    pub fn of_body(kind: Kind, body: Value) -> Result<Self> {
        let checked = Body::new(kind, body)?;
        let content = checked.text().ok_or_else(|| Error::invalid("body", "has no searchable text"))?;
        Ok(NewRecord { kind, body: Some(checked.into_value()), ..NewRecord::new(content) })
    }

    /// Checks every bound. Errors name the field as the wire does (`importance`, `expiresAt`, ...).
    pub fn validate(&self) -> Result<()> {
        self.validated().map(drop)
    }

    /// As [`NewRecord::validate`]. Returns the body, checked for the kind.
    pub(crate) fn validated(&self) -> Result<Option<Body>> {
        self.validate_fields()?;
        self.body.clone().map(|body| Body::new(self.kind, body)).transpose()
    }

    /// Checks every bound except those of the body.
    pub(crate) fn validate_fields(&self) -> Result<()> {
        check_content(&self.content)?;
        check_label("source", &self.source)?;
        if let Some(context) = &self.context {
            check_context(context)?;
        }
        check_confidence(self.confidence)?;
        check_importance(self.importance)?;
        check_tags(&self.tags)?;
        if let Some(at) = self.expires_at {
            check_millis("expires_at", at)?;
        }
        self.valid.validate()?;
        check_thread(self.session.as_deref(), self.turn)?;
        self.place.as_ref().map_or(Ok(()), Place::validate)?;
        self.scope.validate()
    }
}

/// A change to a record: `None` leaves a field unchanged. For optional fields, `Some(None)` clears them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RecordUpdate {
    /// New text; the record is embedded again.
    pub content: Option<String>,
    /// New kind.
    pub kind: Option<Kind>,
    /// New source.
    pub source: Option<String>,
    /// New context, or none; the record is embedded again.
    pub context: Option<Option<String>>,
    /// New confidence, 0 to 1.
    pub confidence: Option<f64>,
    /// New importance, 1 to 10.
    pub importance: Option<i64>,
    /// New tags, replacing all.
    pub tags: Option<Vec<String>>,
    /// Tags that it gets beside those.
    pub add_tags: Vec<String>,
    /// Tags that it loses, in upper or lower case.
    pub remove_tags: Vec<String>,
    /// New expiry, or none.
    pub expires_at: Option<Option<Millis>>,
    /// New beginning of its [`Record::valid`], or none.
    pub valid_from: Option<Option<Millis>>,
    /// New end of its [`Record::valid`], or none.
    pub valid_to: Option<Option<Millis>>,
    /// New body, replacing all, or none. Without new content, a text that came from the old body is taken from the new
    /// one.
    pub body: Option<Option<Value>>,
    /// New values of single fields of the body; null removes one.
    pub body_fields: Map<String, Value>,
    /// The reason: kept with the version that it replaces.
    pub reason: Option<String>,
    /// A precondition; if the record does not meet it, nothing is changed.
    pub expect: Option<Expect>,
}

/// A precondition for a change or a deletion of a record: a guard against a wrong id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expect {
    /// It has this version.
    Version(i64),
    /// Each of these words, at least one, is a word of its content, context, source or tags, in upper or lower case.
    Words(String),
}

impl Expect {
    /// Checks it.
    ///
    /// # Errors
    /// [`Error::Invalid`] shows what the record is.
    pub fn check(&self, record: &Record) -> Result<()> {
        let begins: String = record.content.chars().take(120).collect();
        let why = match self {
            Expect::Version(version) if *version == record.version => return Ok(()),
            Expect::Version(version) => format!("memory {} has version {}, not {version}", record.id, record.version),
            Expect::Words(words) if words_of(words).next().is_none() => {
                return Err(Error::invalid("expect", format!("{words:?} has no word; nothing was changed")));
            }
            Expect::Words(words) => match missing_word(words, record) {
                None => return Ok(()),
                Some(word) => format!("memory {} does not have the word {word:?}", record.id),
            },
        };
        Err(Error::invalid("expect", format!("{why}; nothing was changed. It is: {begins:?}")))
    }
}

/// A word that no text of the record has.
fn missing_word(words: &str, record: &Record) -> Option<String> {
    let texts = [Some(&record.content), record.context.as_ref(), Some(&record.source)].into_iter().flatten();
    let has: HashSet<String> = texts.chain(&record.tags).flat_map(|text| words_of(text)).collect();
    words_of(words).find(|word| !has.contains(word))
}

/// The words of a text, in lower case.
fn words_of(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

impl RecordUpdate {
    /// Whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        let (reason, expect) = (self.reason.clone(), self.expect.clone());
        *self == RecordUpdate { reason, expect, ..RecordUpdate::default() }
    }

    /// Checks the bounds of the given fields; an empty update is refused.
    pub fn validate(&self) -> Result<()> {
        if self.is_empty() {
            return Err(Error::invalid("update", "nothing to change; give at least one field"));
        }
        self.validate_fields()
    }

    /// Checks the bounds of the given fields, if there are some.
    pub(crate) fn validate_fields(&self) -> Result<()> {
        if let Some(content) = &self.content {
            check_content(content)?;
        }
        if let Some(source) = &self.source {
            check_label("source", source)?;
        }
        if let Some(Some(context)) = &self.context {
            check_context(context)?;
        }
        if let Some(confidence) = self.confidence {
            check_confidence(confidence)?;
        }
        if let Some(importance) = self.importance {
            check_importance(importance)?;
        }
        if let Some(tags) = &self.tags {
            check_tags(tags)?;
        }
        check_tags(&self.add_tags)?;
        if let Some(Some(at)) = self.expires_at {
            check_millis("expires_at", at)?;
        }
        Span { from: self.valid_from.flatten(), to: self.valid_to.flatten() }.validate()?;
        if let Some(reason) = &self.reason {
            check_label("reason", reason)?;
        }
        Ok(())
    }
}

/// A record as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// The id that the tools use.
    pub id: RecordId,
    /// The id that survives export and sync: 26 characters of Crockford base 32.
    pub ulid: String,
    /// 1 for a record never changed; grows with each change.
    pub version: i64,
    /// The text, as it was given.
    pub content: String,
    /// SHA-256 of the NFC-normalised content, 64 lower-case hex digits; unique within the scope.
    pub content_hash: String,
    /// Its kind.
    pub kind: Kind,
    /// Where it came from.
    pub source: String,
    /// Its context.
    pub context: Option<String>,
    /// 0 to 1.
    pub confidence: f64,
    /// 1 to 10.
    pub importance: i64,
    /// Labels.
    pub tags: Vec<String>,
    /// Its owner.
    pub scope: Scope,
    /// When it was first saved.
    pub created_at: Millis,
    /// When it last changed (or was saved again).
    pub updated_at: Millis,
    /// When it expires.
    pub expires_at: Option<Millis>,
    /// When it happened, or when it was true.
    pub valid: Span,
    /// How often it was fetched by id, or shown by a tool whose results count as used.
    pub access_count: i64,
    /// When that was last.
    pub last_accessed_at: Option<Millis>,
    /// The fields of its kind beside the text.
    pub body: Option<Body>,
    /// The thread that it belongs to.
    pub session: Option<String>,
    /// Its place in the thread.
    pub turn: Option<i64>,
    /// Where it was read.
    pub place: Option<Place>,
}

impl Record {
    /// When a task is due.
    pub fn due(&self) -> Option<Millis> {
        self.body.as_ref().filter(|_| self.kind == Kind::Task)?.get("due")?.as_i64()
    }

    /// Whether it has metadata: a program keeps it.
    pub fn has_metadata(&self) -> bool {
        self.body.as_ref().is_some_and(|body| body.get(METADATA).is_some())
    }

    /// When it happens, its first and its last moment: [`Record::valid`], else when it is due.
    pub fn happening(&self) -> Option<(Millis, Millis)> {
        self.valid.ends().or_else(|| self.due().map(|at| (at, at)))
    }
}

/// A version of a record, the newest or an earlier one.
#[derive(Debug, Clone, PartialEq)]
pub struct Version {
    /// 1 for the first.
    pub version: i64,
    /// When it became the newest.
    pub since: Millis,
    /// When and why it was replaced; `None` for the newest.
    pub replaced: Option<Replaced>,
    /// Its text.
    pub content: String,
    /// Its kind.
    pub kind: Kind,
    /// Where it came from.
    pub source: String,
    /// Its context.
    pub context: Option<String>,
    /// 0 to 1.
    pub confidence: f64,
    /// 1 to 10.
    pub importance: i64,
    /// Labels.
    pub tags: Vec<String>,
    /// When it expires.
    pub expires_at: Option<Millis>,
    /// When it happened, or when it was true.
    pub valid: Span,
    /// The fields of its kind beside the text.
    pub body: Option<Body>,
}

impl Version {
    /// The newest version of a record.
    pub(crate) fn newest(record: &Record) -> Self {
        Version {
            version: record.version,
            since: record.updated_at,
            replaced: None,
            content: record.content.clone(),
            kind: record.kind,
            source: record.source.clone(),
            context: record.context.clone(),
            confidence: record.confidence,
            importance: record.importance,
            tags: record.tags.clone(),
            expires_at: record.expires_at,
            valid: record.valid,
            body: record.body.clone(),
        }
    }
}

/// A record that is not live any more and can come back.
#[derive(Debug, Clone, PartialEq)]
pub struct Gone {
    /// The record.
    pub record: Record,
    /// When it was deleted; `None` if it has expired.
    pub deleted_at: Option<Millis>,
}

/// How a version came to be an earlier one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replaced {
    /// When.
    pub at: Millis,
    /// Why.
    pub reason: String,
}

/// The outcome of saving a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddOutcome {
    /// The record's id: the new one, or that of the record with this text in this scope.
    pub id: RecordId,
    /// False when the text was there already.
    pub created: bool,
    /// If the text was there and superseded, it is current again: the records that it supersedes now.
    pub supersedes_again: Vec<RecordId>,
    /// Whether its vector is stored.
    pub embedding: EmbeddingState,
}

/// Whether the vector search can find a record yet, all of its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EmbeddingState {
    /// Its embeddings are stored.
    Ready,
    /// It waits for the model, or a passage of its text does; until then the keyword search finds it.
    Pending,
}

/// The outcome of an update.
#[derive(Debug, Clone, PartialEq)]
pub struct UpdateOutcome {
    /// The record after it.
    pub record: Record,
    /// The record before it; `None` if it was not there, but deleted.
    pub before: Option<Record>,
    /// Whether its new text has no significant word of the old one: the change was perhaps meant for another record.
    pub nothing_in_common: bool,
    /// Whether its current text has its vector yet.
    pub embedding: EmbeddingState,
}
