//! The lines of an export, field by field: documented in `exchange.rs`.

use memorist_engine::types::{
    AccessKind, Accessed, Carried, Earlier, Exported, Kind, LinkKind, Millis, Model, NewRecord, Place, Portable,
    PortableLink, PortablePassage, PortableTombstone, Replaced, Scope, Span,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::exchange_embedding::Embedding;
use super::exchange_tombstones::{TombstoneLine, UnlinkLine};
use super::values::{Importance, When};

/// The newest supported format, which is also the one that is written.
pub const FORMAT: i64 = 4;

/// The `type` of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Type {
    Memorist,
    Record,
    Link,
    Entity,
    Relation,
    /// Deletion of a memory; only between the machines of one person.
    Tombstone,
    /// Deletion of a link; only between these machines, too.
    Unlink,
}

/// A line of an export.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum ExportLine {
    /// A memory.
    Record(Box<RecordLine>),
    /// A link.
    Link(LinkLine),
    /// The first line.
    Header(HeaderLine),
    /// The end of a memory.
    Tombstone(TombstoneLine),
    /// The end of a link.
    Unlink(UnlinkLine),
}

impl ExportLine {
    /// The first line.
    pub fn header(model: Option<Model>) -> Self {
        ExportLine::Header(HeaderLine { r#type: Type::Memorist, format: FORMAT, model: model.map(ModelFields::from) })
    }
}

impl From<Exported> for ExportLine {
    fn from(exported: Exported) -> Self {
        match exported {
            Exported::Model(model) => ExportLine::header(Some(model)),
            Exported::Record(portable) => ExportLine::Record(Box::new((*portable).into())),
            Exported::Link(link) => ExportLine::Link(link.into()),
        }
    }
}

impl From<Carried> for ExportLine {
    fn from(carried: Carried) -> Self {
        match carried {
            Carried::Exported(exported) => exported.into(),
            Carried::Tombstone(tombstone) => tombstone.into(),
        }
    }
}

impl From<PortableTombstone> for ExportLine {
    fn from(tombstone: PortableTombstone) -> Self {
        match tombstone {
            PortableTombstone::Memory(gone) => ExportLine::Tombstone(gone.into()),
            PortableTombstone::Link(gone) => ExportLine::Unlink(gone.into()),
        }
    }
}

/// See `exchange.rs`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeaderLine {
    r#type: Type,
    format: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<ModelFields>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ModelFields {
    name: String,
    weights_sha256: String,
    pooling: String,
    dims: usize,
}

impl HeaderLine {
    /// Returns the model that the header names.
    pub fn into_model(self) -> Option<Model> {
        self.model.map(|ModelFields { name, weights_sha256, pooling, dims }| Model {
            name,
            weights_sha256,
            pooling,
            dims,
        })
    }
}

impl From<Model> for ModelFields {
    fn from(Model { name, weights_sha256, pooling, dims }: Model) -> Self {
        ModelFields { name, weights_sha256, pooling, dims }
    }
}

/// See `exchange.rs`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RecordLine {
    r#type: Type,
    ulid: String,
    #[serde(default = "first")]
    version: i64,
    content: String,
    entry_type: Option<Kind>,
    source: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<String>,
    confidence: Option<f64>,
    importance: Option<Importance>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<String>,
    created_at: When,
    updated_at: Option<When>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<When>,
    #[serde(skip_serializing_if = "Option::is_none")]
    valid_from: Option<Millis>,
    #[serde(skip_serializing_if = "Option::is_none")]
    valid_to: Option<Millis>,
    #[serde(default)]
    access_count: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_accessed_at: Option<When>,
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    turn: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<Place>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    versions: Vec<VersionLine>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    accesses: Vec<AccessLine>,
    #[serde(skip_serializing_if = "Option::is_none")]
    embedding: Option<Embedding>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    passages: Vec<PassageLine>,
}

/// A passage of a memory after its beginning.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PassageLine {
    from: usize,
    to: usize,
    embedding: Embedding,
}

impl From<PortablePassage> for PassageLine {
    fn from(PortablePassage { from, to, embedding }: PortablePassage) -> Self {
        PassageLine { from, to, embedding: Embedding(embedding) }
    }
}

impl From<PassageLine> for PortablePassage {
    fn from(PassageLine { from, to, embedding: Embedding(embedding) }: PassageLine) -> Self {
        PortablePassage { from, to, embedding }
    }
}

fn first() -> i64 {
    1
}

/// An earlier version.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct VersionLine {
    version: i64,
    since: When,
    until: When,
    reason: String,
    content: String,
    entry_type: Kind,
    source: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<String>,
    confidence: f64,
    importance: i64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<When>,
    #[serde(skip_serializing_if = "Option::is_none")]
    valid_from: Option<Millis>,
    #[serde(skip_serializing_if = "Option::is_none")]
    valid_to: Option<Millis>,
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<Value>,
}

/// An entry of the access log.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct AccessLine {
    at: When,
    r#type: AccessKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    query: Option<String>,
}

/// See `exchange.rs`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LinkLine {
    r#type: Type,
    from: String,
    link_type: LinkKind,
    to: String,
    created_at: When,
}

impl From<Portable> for RecordLine {
    fn from(portable: Portable) -> Self {
        let text = portable.text;
        RecordLine {
            r#type: Type::Record,
            ulid: portable.ulid,
            version: portable.version,
            content: text.content,
            entry_type: Some(text.kind),
            source: Some(text.source),
            context: text.context,
            confidence: Some(text.confidence),
            importance: Some(Importance(text.importance)),
            tags: text.tags,
            project: text.scope.project,
            agent: text.scope.agent,
            created_at: When(portable.created_at),
            updated_at: Some(When(portable.updated_at)),
            expires_at: text.expires_at.map(When),
            valid_from: text.valid.from,
            valid_to: text.valid.to,
            access_count: portable.access_count,
            last_accessed_at: portable.last_accessed_at.map(When),
            body: text.body,
            session: text.session,
            turn: text.turn,
            place: text.place,
            versions: portable.earlier.into_iter().map(VersionLine::from).collect(),
            accesses: portable.accesses.into_iter().map(AccessLine::from).collect(),
            embedding: portable.embedding.map(Embedding),
            passages: portable.passages.into_iter().map(PassageLine::from).collect(),
        }
    }
}

impl From<RecordLine> for Portable {
    fn from(line: RecordLine) -> Self {
        let scope = Scope { agent: line.agent, project: line.project };
        let mut text = NewRecord::new(line.content);
        text.kind = line.entry_type.unwrap_or(text.kind);
        text.source = line.source.unwrap_or(text.source);
        text.context = line.context;
        text.confidence = line.confidence.unwrap_or(text.confidence);
        text.importance = line.importance.map_or(text.importance, |Importance(importance)| importance);
        text.tags = line.tags;
        text.expires_at = line.expires_at.map(|When(at)| at);
        text.valid = Span { from: line.valid_from, to: line.valid_to };
        text.body = line.body;
        text.session = line.session;
        text.turn = line.turn;
        text.place = line.place;
        text.scope = scope.clone();
        Portable {
            ulid: line.ulid,
            version: line.version,
            text,
            created_at: line.created_at.0,
            updated_at: line.updated_at.unwrap_or(line.created_at).0,
            access_count: line.access_count,
            last_accessed_at: line.last_accessed_at.map(|When(at)| at),
            earlier: line.versions.into_iter().map(|version| version.into_earlier(&scope)).collect(),
            accesses: line.accesses.into_iter().map(Accessed::from).collect(),
            embedding: line.embedding.map(|Embedding(numbers)| numbers),
            passages: line.passages.into_iter().map(PortablePassage::from).collect(),
        }
    }
}

impl From<Earlier> for VersionLine {
    fn from(Earlier { version, since, replaced, text }: Earlier) -> Self {
        VersionLine {
            version,
            since: When(since),
            until: When(replaced.at),
            reason: replaced.reason,
            content: text.content,
            entry_type: text.kind,
            source: text.source,
            context: text.context,
            confidence: text.confidence,
            importance: text.importance,
            tags: text.tags,
            expires_at: text.expires_at.map(When),
            valid_from: text.valid.from,
            valid_to: text.valid.to,
            body: text.body,
        }
    }
}

impl VersionLine {
    fn into_earlier(self, scope: &Scope) -> Earlier {
        Earlier {
            version: self.version,
            since: self.since.0,
            replaced: Replaced { at: self.until.0, reason: self.reason },
            text: NewRecord {
                content: self.content,
                kind: self.entry_type,
                source: self.source,
                context: self.context,
                confidence: self.confidence,
                importance: self.importance,
                tags: self.tags,
                expires_at: self.expires_at.map(|When(at)| at),
                valid: Span { from: self.valid_from, to: self.valid_to },
                scope: scope.clone(),
                body: self.body,
                session: None,
                turn: None,
                place: None,
            },
        }
    }
}

impl From<Accessed> for AccessLine {
    fn from(Accessed { at, kind, score, query }: Accessed) -> Self {
        AccessLine { at: When(at), r#type: kind, score, query }
    }
}

impl From<AccessLine> for Accessed {
    fn from(line: AccessLine) -> Self {
        Accessed { at: line.at.0, kind: line.r#type, score: line.score, query: line.query }
    }
}

impl From<PortableLink> for LinkLine {
    fn from(PortableLink { from, kind, to, created_at }: PortableLink) -> Self {
        LinkLine { r#type: Type::Link, from, link_type: kind, to, created_at: When(created_at) }
    }
}

impl From<LinkLine> for PortableLink {
    fn from(line: LinkLine) -> Self {
        PortableLink { from: line.from, kind: line.link_type, to: line.to, created_at: line.created_at.0 }
    }
}
