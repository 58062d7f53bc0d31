//! The words of the engine: what a record is, what is asked of a search, and what comes back.
//!
//! All times are Unix milliseconds. Bounds are checked in one place, [`NewRecord::validate`] and its siblings, so that
//! every door (MCP, command line, import) refuses the same things with the same words.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// The id of a record: positive, never used twice, the number that the tools speak.
pub type RecordId = i64;

/// A position in the sync log. 0 is "before the first entry".
pub type Seq = u64;

/// Unix time in milliseconds.
pub type Millis = i64;

/// Longest content, in bytes of UTF-8 (1 MiB). Longer text is a file, not a memory.
pub const MAX_CONTENT_BYTES: usize = 1 << 20;
/// Longest context, source, tag, project or agent, in bytes (64 KiB for context, 1 KiB for the others).
pub const MAX_CONTEXT_BYTES: usize = 64 << 10;
/// See [`MAX_CONTEXT_BYTES`].
pub const MAX_LABEL_BYTES: usize = 1 << 10;
/// Most tags of one record.
pub const MAX_TAGS: usize = 64;
/// Longest query, in bytes.
pub const MAX_QUERY_BYTES: usize = 64 << 10;
/// Most results of one search.
pub const MAX_LIMIT: usize = 1_000;
/// Times before this are refused as seconds mistaken for milliseconds (10^11 ms is March 1973).
pub const MIN_PLAUSIBLE_MILLIS: Millis = 100_000_000_000;

/// What a record is about (`entryType` on the wire).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Something true about the user or the world.
    Fact,
    /// What someone likes or wants.
    Preference,
    /// Something that happened.
    Event,
    /// A conclusion drawn.
    Insight,
    /// Something to do.
    Task,
    /// How people or things relate.
    Relationship,
    /// A choice and its reasons.
    Decision,
    /// A way of doing things that recurs.
    Pattern,
    /// A defect and its cure.
    Bugfix,
    /// Long-lived background about a person or place.
    Background,
    /// A person and how to reach them.
    Contact,
    /// An undertaking.
    Project,
    /// A procedure the agent can carry out.
    Skill,
    /// What is known of one person, as a whole.
    Profile,
    /// A turn of a conversation.
    Conversation,
    /// A piece of a file or transcript.
    Chunk,
}

impl Kind {
    /// Every kind, in the order in which they are stored and listed. The position is the code on disk: append only.
    pub const ALL: [Kind; 16] = [
        Kind::Fact,
        Kind::Preference,
        Kind::Event,
        Kind::Insight,
        Kind::Task,
        Kind::Relationship,
        Kind::Decision,
        Kind::Pattern,
        Kind::Bugfix,
        Kind::Background,
        Kind::Contact,
        Kind::Project,
        Kind::Skill,
        Kind::Profile,
        Kind::Conversation,
        Kind::Chunk,
    ];

    /// The name on the wire and in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Fact => "fact",
            Kind::Preference => "preference",
            Kind::Event => "event",
            Kind::Insight => "insight",
            Kind::Task => "task",
            Kind::Relationship => "relationship",
            Kind::Decision => "decision",
            Kind::Pattern => "pattern",
            Kind::Bugfix => "bugfix",
            Kind::Background => "background",
            Kind::Contact => "contact",
            Kind::Project => "project",
            Kind::Skill => "skill",
            Kind::Profile => "profile",
            Kind::Conversation => "conversation",
            Kind::Chunk => "chunk",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Kind {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Kind::ALL.into_iter().find(|kind| kind.as_str() == name).ok_or_else(|| {
            let known: Vec<_> = Kind::ALL.iter().map(|kind| kind.as_str()).collect();
            Error::invalid("entryType", format!("unknown kind {name:?}; use one of {}", known.join(", ")))
        })
    }
}

/// Whose memory it is. `None` is global: seen by every project, or every agent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Scope {
    /// The agent that owns the record.
    pub agent: Option<String>,
    /// The project that the record belongs to.
    pub project: Option<String>,
}

/// A record to be saved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NewRecord {
    /// The text that is remembered, indexed and embedded. 1 to [`MAX_CONTENT_BYTES`] bytes, not only white space.
    pub content: String,
    /// What it is about.
    pub kind: Kind,
    /// Where it came from.
    pub source: String,
    /// What surrounded it; embedded before the content.
    pub context: Option<String>,
    /// 0 to 1.
    pub confidence: f64,
    /// 1 to 10.
    pub importance: i64,
    /// Labels, kept in the order given, without repeats.
    pub tags: Vec<String>,
    /// When it stops being shown.
    pub expires_at: Option<Millis>,
    /// Whose it is.
    pub scope: Scope,
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
            scope: Scope::default(),
        }
    }

    /// Checks every bound. Errors name the field as the wire does (`importance`, `expiresAt`, ...).
    pub fn validate(&self) -> Result<()> {
        check_content(&self.content)?;
        check_label("source", &self.source)?;
        if let Some(context) = &self.context {
            check_context(context)?;
        }
        check_confidence(self.confidence)?;
        check_importance(self.importance)?;
        check_tags(&self.tags)?;
        if let Some(at) = self.expires_at {
            check_millis("expiresAt", at)?;
        }
        if let Some(agent) = &self.scope.agent {
            check_label("agent", agent)?;
        }
        if let Some(project) = &self.scope.project {
            check_label("project", project)?;
        }
        Ok(())
    }
}

/// A change to a record: `None` leaves a field as it is. For fields that may be empty, `Some(None)` empties them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RecordUpdate {
    /// New text; the record is embedded anew.
    pub content: Option<String>,
    /// New kind.
    pub kind: Option<Kind>,
    /// New source.
    pub source: Option<String>,
    /// New context, or none; the record is embedded anew.
    pub context: Option<Option<String>>,
    /// New confidence, 0 to 1.
    pub confidence: Option<f64>,
    /// New importance, 1 to 10.
    pub importance: Option<i64>,
    /// New tags, all of them.
    pub tags: Option<Vec<String>>,
    /// New expiry, or none.
    pub expires_at: Option<Option<Millis>>,
}

impl RecordUpdate {
    /// Whether nothing would change.
    pub fn is_empty(&self) -> bool {
        *self == RecordUpdate::default()
    }

    /// Checks the bounds of the fields that are given; an update of nothing is refused.
    pub fn validate(&self) -> Result<()> {
        if self.is_empty() {
            return Err(Error::invalid("update", "nothing to change; give at least one field"));
        }
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
        if let Some(Some(at)) = self.expires_at {
            check_millis("expiresAt", at)?;
        }
        Ok(())
    }
}

/// A record as it is stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The id the tools speak.
    pub id: RecordId,
    /// The id that survives export and sync: 26 characters of Crockford base 32.
    pub ulid: String,
    /// 1 for a record never changed; grows with each change.
    pub version: i64,
    /// The text, as it was given.
    pub content: String,
    /// SHA-256 of the NFC-normalised content, 64 lower-case hex digits; unique within the scope.
    pub content_hash: String,
    /// What it is about.
    pub kind: Kind,
    /// Where it came from.
    pub source: String,
    /// What surrounded it.
    pub context: Option<String>,
    /// 0 to 1.
    pub confidence: f64,
    /// 1 to 10.
    pub importance: i64,
    /// Labels.
    pub tags: Vec<String>,
    /// Whose it is.
    pub scope: Scope,
    /// When it was first saved.
    pub created_at: Millis,
    /// When it last changed (or was saved again).
    pub updated_at: Millis,
    /// When it stops being shown.
    pub expires_at: Option<Millis>,
    /// How often it was fetched by id.
    pub access_count: i64,
    /// When it was last fetched by id.
    pub last_accessed_at: Option<Millis>,
}

/// What saving a record did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AddOutcome {
    /// The record's id: the new one, or that of the record which already had this text in this scope.
    pub id: RecordId,
    /// False when the text was there already.
    pub created: bool,
    /// Whether its vector is at hand.
    pub embedding: EmbeddingState,
}

/// Whether a record can be found by meaning yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EmbeddingState {
    /// Its embedding is stored.
    Ready,
    /// It waits for the model; it is found by its words until then.
    Pending,
}

/// Which side or sides answer a query.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Meaning and words, merged.
    #[default]
    Hybrid,
    /// Meaning alone.
    Vector,
    /// Words alone.
    Keyword,
}

impl FromStr for Mode {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "hybrid" => Ok(Mode::Hybrid),
            "vector" => Ok(Mode::Vector),
            "keyword" => Ok(Mode::Keyword),
            _ => Err(Error::invalid("mode", format!("unknown mode {name:?}; use hybrid, vector or keyword"))),
        }
    }
}

/// One of the two sides of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// Found by meaning.
    Vector,
    /// Found by words.
    Keyword,
}

/// Which records may be returned. An empty filter lets every live record pass.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Filter {
    /// Any of these kinds; empty is all.
    pub kinds: Vec<Kind>,
    /// Any of these tags; empty is all.
    pub tags: Vec<String>,
    /// At least this importance, 1 to 10.
    pub min_importance: Option<i64>,
    /// At least this confidence, 0 to 1.
    pub min_confidence: Option<f64>,
    /// Records of this project and global ones; `None` is every project.
    pub project: Option<String>,
    /// Records of this agent and shared ones; `None` is every agent.
    pub agent: Option<String>,
    /// Created at or after.
    pub created_after: Option<Millis>,
    /// Created before.
    pub created_before: Option<Millis>,
}

impl Filter {
    /// Whether it lets every record pass.
    pub fn is_empty(&self) -> bool {
        *self == Filter::default()
    }

    /// Whether `record` passes. The same rule as the indexes apply, for records they have not seen yet.
    pub fn allows(&self, record: &Record) -> bool {
        (self.kinds.is_empty() || self.kinds.contains(&record.kind))
            && (self.tags.is_empty() || self.tags.iter().any(|tag| record.tags.contains(tag)))
            && self.min_importance.is_none_or(|least| record.importance >= least)
            && self.min_confidence.is_none_or(|least| record.confidence >= least)
            && in_scope(&self.project, &record.scope.project)
            && in_scope(&self.agent, &record.scope.agent)
            && self.created_after.is_none_or(|at| record.created_at >= at)
            && self.created_before.is_none_or(|at| record.created_at < at)
    }

    /// Checks the bounds.
    pub fn validate(&self) -> Result<()> {
        if let Some(least) = self.min_importance {
            check_range("minImportance", least)?;
        }
        if let Some(least) = self.min_confidence {
            check_unit("minConfidence", least)?;
        }
        check_tags(&self.tags)
    }
}

/// How much each side counts in a hybrid search. Only their ratio matters.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Weights {
    /// Weight of meaning.
    pub vector: f64,
    /// Weight of words.
    pub keyword: f64,
}

impl Default for Weights {
    fn default() -> Self {
        Weights { vector: 0.7, keyword: 0.3 }
    }
}

impl Weights {
    /// The weights scaled to a sum of 1. Refuses negative or non-finite ones, and two zeros.
    pub fn normalised(self) -> Result<Self> {
        let sum = self.vector + self.keyword;
        if !(self.vector >= 0.0 && self.keyword >= 0.0 && sum > 0.0 && sum.is_finite()) {
            return Err(Error::invalid(
                if self.vector >= 0.0 && self.vector.is_finite() && sum != 0.0 {
                    "keywordWeight"
                } else {
                    "vectorWeight"
                },
                format!("the weights are {} and {}: both must be 0 or more, and not both 0", self.vector, self.keyword),
            ));
        }
        Ok(Weights { vector: self.vector / sum, keyword: self.keyword / sum })
    }
}

/// A search.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// What is looked for, in any words; never parsed as a syntax.
    pub text: String,
    /// Which sides answer.
    pub mode: Mode,
    /// Most results, 1 to [`MAX_LIMIT`].
    pub limit: usize,
    /// Which records may be returned.
    pub filter: Filter,
    /// Weights of this query; `None` takes the store's.
    pub weights: Option<Weights>,
    /// Least cosine, -1 to 1, of what meaning finds. What words find stays.
    pub min_similarity: Option<f64>,
    /// Least merged score, 0 to 1. What words alone find is measured by their side alone, so that a threshold above the
    /// weight of words drops no exact hit.
    pub min_score: Option<f64>,
}

impl Query {
    /// A hybrid search for `text`, ten results, no filter.
    pub fn new(text: impl Into<String>) -> Self {
        Query {
            text: text.into(),
            mode: Mode::Hybrid,
            limit: 10,
            filter: Filter::default(),
            weights: None,
            min_similarity: None,
            min_score: None,
        }
    }

    /// Checks every bound.
    pub fn validate(&self) -> Result<()> {
        if self.text.trim().is_empty() {
            return Err(Error::invalid("query", "is empty; say what you are looking for"));
        }
        if self.text.len() > MAX_QUERY_BYTES {
            return Err(Error::invalid(
                "query",
                format!("is {} bytes long; at most {MAX_QUERY_BYTES} are searched for", self.text.len()),
            ));
        }
        if self.limit == 0 || self.limit > MAX_LIMIT {
            return Err(Error::invalid("limit", format!("{} is outside 1 to {MAX_LIMIT}", self.limit)));
        }
        if let Some(weights) = self.weights {
            weights.normalised()?;
        }
        if let Some(least) = self.min_similarity.filter(|least| !(-1.0..=1.0).contains(least)) {
            return Err(Error::invalid("minSimilarity", format!("{least} is outside -1 to 1")));
        }
        if let Some(least) = self.min_score {
            check_unit("minScore", least)?;
        }
        self.filter.validate()
    }
}

/// One result of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The record, whole.
    pub record: Record,
    /// The merged score, 0 to 1, relative to the other candidates of this search.
    pub score: f64,
    /// Which sides found it.
    pub matched_by: Vec<Side>,
    /// Raw cosine similarity to the query, -1 to 1, where the record has a vector and the query too.
    pub vector_score: Option<f64>,
    /// Raw BM25 score, where the search used words (0: none of them occurs in it).
    pub keyword_score: Option<f64>,
}

/// How a search was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// By every side that was asked for.
    Full,
    /// By words alone, because no query embedding could be had.
    Keyword,
    /// By substring, because the other sides found nothing.
    Substring,
}

/// The answer to a search.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchReply {
    /// The results, best first, at most `limit`.
    pub hits: Vec<Hit>,
    /// How it was answered.
    pub tier: Tier,
    /// What the caller should know: a side that was missing, records that still wait for their embedding, a rebuild.
    pub warnings: Vec<String>,
    /// Where the time went and how many candidates each side brought.
    pub explain: Explain,
}

/// The inside of one search: candidate counts and times in microseconds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Explain {
    /// Candidates asked of each side.
    pub pool: usize,
    /// Weights after scaling to a sum of 1.
    pub weights: Weights,
    /// Records that pass the filter, where one was given and counted.
    pub allowed: Option<u64>,
    /// Candidates found by meaning.
    pub vector_candidates: usize,
    /// Candidates found by words.
    pub keyword_candidates: usize,
    /// Log entries that the indexes had not applied and that were searched exactly.
    pub tail: usize,
    /// Embedding the query.
    pub embed_us: u64,
    /// Turning the filter into a set of ids.
    pub filter_us: u64,
    /// The vector side.
    pub vector_us: u64,
    /// The keyword side.
    pub keyword_us: u64,
    /// Merging, and filling in missing scores.
    pub merge_us: u64,
    /// Loading the records.
    pub load_us: u64,
    /// All of it.
    pub total_us: u64,
}

/// What the store holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Stats {
    /// Live records (not deleted, not expired).
    pub total: u64,
    /// Live records of each kind; kinds without any are absent.
    pub by_kind: Vec<(Kind, u64)>,
    /// Mean importance; 0 for an empty store.
    pub avg_importance: f64,
    /// Mean confidence; 0 for an empty store.
    pub avg_confidence: f64,
    /// Sum of the access counts of the live records.
    pub total_accesses: u64,
    /// Creation time of the oldest live record.
    pub oldest: Option<Millis>,
    /// Creation time of the newest live record.
    pub newest: Option<Millis>,
    /// Live records that wait for an embedding.
    pub pending_embeddings: u64,
}

fn in_scope(wanted: &Option<String>, own: &Option<String>) -> bool {
    match (wanted, own) {
        (None, _) | (_, None) => true,
        (Some(wanted), Some(own)) => wanted == own,
    }
}

fn check_content(content: &str) -> Result<()> {
    if content.trim().is_empty() {
        return Err(Error::invalid("content", "is empty; give the text to remember"));
    }
    check_length("content", content, MAX_CONTENT_BYTES)
}

fn check_context(context: &str) -> Result<()> {
    check_length("context", context, MAX_CONTEXT_BYTES)
}

fn check_length(field: &'static str, text: &str, most: usize) -> Result<()> {
    if text.len() > most {
        return Err(Error::invalid(
            field,
            format!("is {} bytes long; at most {most} are kept: split it into several memories", text.len()),
        ));
    }
    check_nul(field, text)
}

fn check_nul(field: &'static str, text: &str) -> Result<()> {
    if text.contains('\0') {
        return Err(Error::invalid(field, "contains a NUL character; remove it"));
    }
    Ok(())
}

fn check_label(field: &'static str, label: &str) -> Result<()> {
    if label.trim().is_empty() {
        return Err(Error::invalid(field, "is empty; leave it out instead"));
    }
    if label.len() > MAX_LABEL_BYTES {
        return Err(Error::invalid(field, format!("is {} bytes long; at most {MAX_LABEL_BYTES}", label.len())));
    }
    check_nul(field, label)
}

fn check_tags(tags: &[String]) -> Result<()> {
    if tags.len() > MAX_TAGS {
        return Err(Error::invalid("tags", format!("{} tags; at most {MAX_TAGS}", tags.len())));
    }
    tags.iter().try_for_each(|tag| check_label("tags", tag))
}

fn check_confidence(confidence: f64) -> Result<()> {
    check_unit("confidence", confidence)
}

fn check_unit(field: &'static str, value: f64) -> Result<()> {
    if !(0.0..=1.0).contains(&value) {
        return Err(Error::invalid(field, format!("{value} is outside 0 to 1")));
    }
    Ok(())
}

fn check_importance(importance: i64) -> Result<()> {
    check_range("importance", importance)
}

fn check_range(field: &'static str, value: i64) -> Result<()> {
    if !(1..=10).contains(&value) {
        return Err(Error::invalid(field, format!("{value} is outside 1 to 10")));
    }
    Ok(())
}

fn check_millis(field: &'static str, at: Millis) -> Result<()> {
    match at {
        ..1 => Err(Error::invalid(field, format!("{at} is before 1970; give Unix milliseconds"))),
        1..MIN_PLAUSIBLE_MILLIS => Err(Error::invalid(
            field,
            format!("{at} looks like seconds; give Unix milliseconds ({})", at.saturating_mul(1000)),
        )),
        MIN_PLAUSIBLE_MILLIS.. => Ok(()),
    }
}
