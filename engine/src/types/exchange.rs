//! Memories on their way from one store to another. Record ids mean nothing there: a memory is identified by its ULID,
//! in links and in references from bodies (`"ulid:…"`).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use ulid::Ulid;

use super::bounds::{check_label, check_length, check_millis};
use super::embedding;
use super::filter::Filter;
use super::link::{Link, LinkKind};
use super::model::Model;
use super::record::{NewRecord, Replaced};
use super::units::{Millis, RecordId};
use super::{MAX_QUERY_BYTES, Scope, Viewer};
use crate::error::{Error, Result};

/// With these bytes begins the random part of the ULID of a memory of another system.
pub(crate) const MOVED: [u8; 2] = *b"MV";
/// Most dimensions of an embedding.
const MAX_DIMS: usize = 1 << 16;

/// Options of an export.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Export {
    /// These memories, and the links between them.
    pub filter: Filter,
    /// Only those of them that have these ids.
    pub ids: Option<Vec<RecordId>>,
    /// With their embeddings.
    pub embeddings: bool,
    /// With their access logs. These contain queries, of any viewer, only if the filter's viewer sees every project and
    /// agent.
    pub accesses: bool,
}

impl Export {
    /// Everything that `viewer` sees. Access logs require a viewer who sees everything: they contain the queries of
    /// others.
    pub fn of(viewer: Viewer) -> Self {
        Export { accesses: viewer == Viewer::OWNER, filter: Filter::of(viewer), ..Export::default() }
    }
}

/// A piece of an export, in order: the model, if embeddings are requested and there are any; memories by ULID; links by
/// the ULID of their source, their kind, and the ULID of their target.
#[derive(Debug, Clone, PartialEq)]
pub enum Exported {
    /// The model of the embeddings.
    Model(Model),
    /// A memory.
    Record(Box<Portable>),
    /// A link between two memories that were exported.
    Link(PortableLink),
}

/// A piece of what one machine of a person sends to another, in order: tombstones, then the pieces of an export.
#[derive(Debug, Clone, PartialEq)]
pub enum Carried {
    /// A tombstone.
    Tombstone(PortableTombstone),
    /// A memory, a link, or the model.
    Exported(Exported),
}

/// The bytes of a ULID.
pub type UlidBytes = [u8; 16];

/// The state of memories as a number each. What differs between two stores has other numbers.
pub type Stamps = BTreeMap<UlidBytes, u64>;

/// A memory with everything that belongs to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Portable {
    /// Its id in every store.
    pub ulid: String,
    /// The number of its newest version.
    pub version: i64,
    /// Its newest version.
    pub text: NewRecord,
    /// When it was first saved.
    pub created_at: Millis,
    /// When it last changed (or was saved again).
    pub updated_at: Millis,
    /// How often it was fetched by id.
    pub access_count: i64,
    /// When it was last fetched by id.
    pub last_accessed_at: Option<Millis>,
    /// The earlier versions, oldest first.
    pub earlier: Vec<Earlier>,
    /// The entries of its access log, oldest first.
    pub accesses: Vec<Accessed>,
    /// The embedding of its newest version: of its beginning, where the text is long.
    pub embedding: Option<Vec<f32>>,
    /// The embeddings of its passages after the beginning.
    pub passages: Vec<PortablePassage>,
}

impl Portable {
    /// A memory that was saved at this time, and never replaced or fetched. It has no embeddings.
    pub fn new(ulid: impl Into<String>, version: i64, text: NewRecord, at: Millis) -> Self {
        Portable {
            ulid: ulid.into(),
            version,
            text,
            created_at: at,
            updated_at: at,
            access_count: 0,
            last_accessed_at: None,
            earlier: Vec::new(),
            accesses: Vec::new(),
            embedding: None,
            passages: Vec::new(),
        }
    }
}

/// The embedding of a passage of a memory.
#[derive(Debug, Clone, PartialEq)]
pub struct PortablePassage {
    /// The first byte of the content that it has.
    pub from: usize,
    /// The byte after the last.
    pub to: usize,
    /// The vector, of length 1.
    pub embedding: Vec<f32>,
}

/// An earlier version of a memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Earlier {
    /// Its number.
    pub version: i64,
    /// When it became the newest.
    pub since: Millis,
    /// When and why it was replaced.
    pub replaced: Replaced,
    /// Its content.
    pub text: NewRecord,
}

/// An entry of the access log.
#[derive(Debug, Clone, PartialEq)]
pub struct Accessed {
    /// When.
    pub at: Millis,
    /// How.
    pub kind: AccessKind,
    /// The score that the memory had in the search.
    pub score: Option<f64>,
    /// The query text.
    pub query: Option<String>,
}

/// How a record was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", remote = "Self")]
pub enum AccessKind {
    /// It was fetched by id.
    Get,
    /// A search returned it.
    Search,
}

crate::read_by_name!(AccessKind);

impl AccessKind {
    /// Its name, in the database and on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            AccessKind::Get => "get",
            AccessKind::Search => "search",
        }
    }
}

/// A link between memories of any store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortableLink {
    /// The source: the memory that the link is about.
    pub from: String,
    /// Its kind.
    pub kind: LinkKind,
    /// The target.
    pub to: String,
    /// When it was made.
    pub created_at: Millis,
}

/// A tombstone: something is gone in another store, and must not come back from this one. It has no text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PortableTombstone {
    /// A memory.
    Memory(MemoryTombstone),
    /// A link.
    Link(LinkTombstone),
}

/// A memory that was deleted, purged or united with its twin, or some of whose versions were purged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryTombstone {
    /// Its ULID.
    pub ulid: String,
    /// Its scope.
    pub scope: Scope,
    /// When it was deleted last. It lives on if its newest version began later.
    pub deleted_at: Option<Millis>,
    /// Whether it was purged.
    pub is_purged: bool,
    /// The ULID of its twin, with which it was united: a smaller one.
    pub into: Option<String>,
    /// When its purged versions became the newest.
    pub purged_versions: Vec<Millis>,
}

/// A link that was removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkTombstone {
    /// The source.
    pub from: String,
    /// Its kind.
    pub kind: LinkKind,
    /// The target.
    pub to: String,
    /// When it was removed last.
    pub removed_at: Millis,
}

/// The outcome of an import of a memory or a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Imported {
    /// It is new.
    Created,
    /// It replaced an older version.
    Replaced,
    /// It was changed in both stores: its history has the versions of both, and the newest of all is the newest.
    United {
        /// The memory.
        id: RecordId,
        /// The version that was the newest in the store whose newest is an earlier one now.
        version: i64,
    },
    /// It was there already, in this version or a newer one.
    Unchanged,
    /// Another memory of its scope has its text. In a store of one's own their histories unite; else that one is used instead.
    Duplicate,
    /// It has expired, or an end of the link has.
    Expired,
    /// Somebody deleted it, or removed the link: see [`Import::restore_deleted`](crate::Import::restore_deleted).
    Deleted,
    /// The link would close a circle of memories that supersede one another. This link, the oldest of the circle, is gone.
    Turned(Link),
    /// It refers to a memory with this ULID that does not exist yet: offer it again after the others.
    Waits(String),
}

impl Portable {
    /// Checks every bound except those of the bodies, which are checked once their references are resolved.
    pub(crate) fn validate(&self) -> Result<()> {
        parse_ulid("ulid", &self.ulid)?;
        check_version("version", self.version)?;
        self.text.validate_fields()?;
        check_millis("created_at", self.created_at)?;
        check_millis("updated_at", self.updated_at)?;
        self.last_accessed_at.map_or(Ok(()), |at| check_millis("last_accessed_at", at))?;
        if self.access_count < 0 {
            return Err(Error::invalid("access_count", format!("{} is negative", self.access_count)));
        }
        let mut before = 0;
        for earlier in &self.earlier {
            if !(before + 1..self.version).contains(&earlier.version) {
                let why = format!(
                    "{} does not lie between {before} and {}; give them in order",
                    earlier.version, self.version
                );
                return Err(Error::invalid("versions", why));
            }
            before = earlier.version;
            earlier.validate().map_err(|error| Error::invalid("versions", format!("{before}: {error}")))?;
        }
        self.accesses
            .iter()
            .try_for_each(Accessed::validate)
            .map_err(|error| Error::invalid("accesses", error.to_string()))?;
        let passages = self.passages.iter().map(|passage| passage.embedding.as_slice());
        self.embedding.as_deref().into_iter().chain(passages).try_for_each(check_embedding)
    }
}

impl Earlier {
    fn validate(&self) -> Result<()> {
        self.text.validate_fields()?;
        check_millis("since", self.since)?;
        check_millis("until", self.replaced.at)?;
        check_label("reason", &self.replaced.reason)
    }
}

impl Accessed {
    fn validate(&self) -> Result<()> {
        check_millis("at", self.at)?;
        self.query.as_deref().map_or(Ok(()), |query| check_length("query", query, MAX_QUERY_BYTES))
    }
}

/// The ULID of a memory of another system, which is the same on every run: `identity` is a hash of what identifies it
/// there. Once it is deleted here, [`Import::of_another_system`](crate::Import::of_another_system) leaves it out.
pub fn moved_ulid(created_at: Millis, identity: [u8; 8]) -> String {
    let bytes = MOVED.into_iter().chain(identity);
    let random = bytes.fold(0_u128, |before, byte| before << 8 | u128::from(byte));
    Ulid::from_parts(created_at.max(0).unsigned_abs(), random).to_string()
}

/// The bytes of a ULID in its canonical spelling.
///
/// # Errors
/// [`Error::Invalid`] names `field`.
pub(crate) fn parse_ulid(field: &'static str, text: &str) -> Result<[u8; 16]> {
    let ulid = Ulid::from_string(text).ok().filter(|ulid| ulid.to_string() == text);
    let ulid = ulid.ok_or_else(|| {
        Error::invalid(field, format!("{text:?} is not a ULID: 26 digits and capital letters, of Crockford's base 32"))
    })?;
    Ok(ulid.to_bytes())
}

/// Checks an import's model of embeddings.
pub(crate) fn check_model(model: &Model) -> Result<()> {
    let is_hash = model.weights_sha256.len() == 64 && model.weights_sha256.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !is_hash || !(1..=MAX_DIMS).contains(&model.dims) {
        let why = format!("its weightsSha256 must be 64 hex digits, its dims 1 to {MAX_DIMS}");
        return Err(Error::invalid("model", why));
    }
    check_label("model", &model.name)?;
    check_label("model", &model.pooling)
}

fn check_version(field: &'static str, version: i64) -> Result<()> {
    // The last number could never be incremented.
    const MOST: i64 = u32::MAX as i64;
    if (1..=MOST).contains(&version) {
        return Ok(());
    }
    Err(Error::invalid(field, format!("{version} is outside 1 to {MOST}")))
}

fn check_embedding(vector: &[f32]) -> Result<()> {
    let length = embedding::length(vector);
    if embedding::is_one(length) {
        return Ok(());
    }
    Err(Error::invalid("embedding", format!("its length must be 1, not {length}; leave it out to have it computed")))
}
