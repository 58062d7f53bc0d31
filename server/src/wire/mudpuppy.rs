//! Parameters and results of Mudpuppy's memory tools, by its API reference: memorist's own, with fewer fields. As
//! there, unknown parameters are ignored.

use memorist_engine::types::{Kind, MAX_LIMIT, MatchSource, Mode, Scale};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Detail;
use super::place::PlaceInfo;
use super::results;
use super::types::{by_type, kinds_shown_as};
use super::values::{Importance, Int};

/// What a memory is about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum EntryType {
    #[default]
    Fact,
    Preference,
    Event,
    Insight,
    Task,
    Relationship,
}

#[cfg(test)]
impl EntryType {
    pub const ALL: [Self; 6] =
        [Self::Fact, Self::Preference, Self::Event, Self::Insight, Self::Task, Self::Relationship];
}

/// The kind of a new memory of this type.
impl From<EntryType> for Kind {
    fn from(entry_type: EntryType) -> Self {
        match entry_type {
            EntryType::Fact => Kind::Fact,
            EntryType::Preference => Kind::Preference,
            EntryType::Event => Kind::Event,
            EntryType::Insight => Kind::Insight,
            EntryType::Task => Kind::Task,
            EntryType::Relationship => Kind::Relationship,
        }
    }
}

/// The type that a memory of this kind is shown as: conclusions and lessons are insights, people are relationships, a
/// turn of a conversation is an event, and the rest are facts.
impl From<Kind> for EntryType {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Fact | Kind::Background | Kind::Project | Kind::Skill | Kind::Profile | Kind::Chunk => {
                EntryType::Fact
            }
            Kind::Preference => EntryType::Preference,
            Kind::Event | Kind::Conversation => EntryType::Event,
            Kind::Insight | Kind::Decision | Kind::Pattern | Kind::Bugfix => EntryType::Insight,
            Kind::Task => EntryType::Task,
            Kind::Relationship | Kind::Contact => EntryType::Relationship,
        }
    }
}

/// `memory_add`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MudpuppyAddParams {
    /// The memory text.
    #[schemars(length(min = 1))]
    pub content: String,
    /// What it is about.
    #[serde(default)]
    pub entry_type: EntryType,
    /// Where the memory came from.
    #[serde(default = "manual")]
    pub source: String,
    /// Additional context.
    pub context: Option<String>,
    /// Confidence level.
    #[serde(default = "certain")]
    #[schemars(range(min = 0, max = 1))]
    pub confidence: f64,
    /// Importance level.
    #[serde(default = "medium")]
    #[schemars(with = "f64", range(min = 1, max = 10))]
    pub importance: Int,
    /// Tags for categorization.
    pub tags: Option<Vec<String>>,
    /// Unix timestamp for expiration, in milliseconds.
    #[schemars(with = "Option<f64>")]
    pub expires_at: Option<Int>,
}

fn manual() -> String {
    "manual".into()
}

fn certain() -> f64 {
    1.0
}

fn medium() -> Int {
    Int(5)
}

impl From<MudpuppyAddParams> for super::AddParams {
    fn from(params: MudpuppyAddParams) -> Self {
        super::AddParams {
            content: params.content,
            entry_type: Some(params.entry_type.into()),
            source: Some(params.source),
            context: params.context,
            confidence: Some(params.confidence),
            importance: Some(Importance(params.importance.0)),
            tags: params.tags,
            // The engine refuses times that look like seconds.
            expires_at: params.expires_at.map(|Int(at)| at.into()),
            ..Default::default()
        }
    }
}

/// The result of `memory_add`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MudpuppyAddResult {
    pub id: i64,
    pub created: bool,
    pub duplicate: bool,
}

impl From<results::AddResult> for MudpuppyAddResult {
    fn from(result: results::AddResult) -> Self {
        MudpuppyAddResult { id: result.id, created: result.created, duplicate: result.duplicate }
    }
}

/// `memory_search`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MudpuppySearchParams {
    /// Search query text.
    pub query: String,
    /// Search mode.
    #[serde(default)]
    #[schemars(with = "super::schema::ModeName")]
    pub mode: Mode,
    /// Max results to return.
    #[serde(default = "ten")]
    #[schemars(with = "f64")]
    pub limit: Int,
    /// Filter by entry types.
    pub entry_types: Option<Vec<EntryType>>,
    /// Minimum importance.
    #[schemars(with = "Option<f64>", range(min = 1, max = 10))]
    pub min_importance: Option<Int>,
    /// Minimum confidence.
    #[schemars(range(min = 0, max = 1))]
    pub min_confidence: Option<f64>,
    /// Filter by tags (any match).
    pub tags: Option<Vec<String>>,
}

fn ten() -> Int {
    Int(10)
}

impl From<MudpuppySearchParams> for super::SearchParams {
    fn from(params: MudpuppySearchParams) -> Self {
        super::SearchParams {
            query: params.query,
            mode: Some(params.mode),
            // The document has no maximum.
            limit: Some(Int(params.limit.0.min(super::count(MAX_LIMIT as u64)))),
            entry_types: params.entry_types.map(|types| kinds_shown_as(&types)),
            min_importance: params.min_importance.map(|Int(least)| Importance(least)),
            min_confidence: params.min_confidence,
            tags: params.tags,
            detail: Some(Detail::Full),
            scale: Some(Scale::Pool),
            ..Default::default()
        }
    }
}

/// The result of `memory_search`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MudpuppySearchResult {
    pub results: Vec<MudpuppySearchHit>,
    pub total: i64,
    /// Warnings.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// One result of a search.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MudpuppySearchHit {
    pub id: i64,
    pub content: String,
    #[schemars(with = "String")]
    pub entry_type: EntryType,
    pub source: String,
    pub context: Option<String>,
    pub confidence: f64,
    pub importance: i64,
    pub tags: Vec<String>,
    pub score: f64,
    #[schemars(with = "Vec<String>")]
    pub matched_by: Vec<MatchSource>,
    pub created_at: i64,
    /// Cosine similarity.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f64")]
    pub vector_score: Option<f64>,
    /// BM25.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f64")]
    pub keyword_score: Option<f64>,
    /// The lines of a file that it is from.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "super::results::object_schema")]
    pub place: Option<PlaceInfo>,
}

impl From<results::SearchResult> for MudpuppySearchResult {
    fn from(result: results::SearchResult) -> Self {
        MudpuppySearchResult {
            total: result.total,
            results: result.results.into_iter().map(MudpuppySearchHit::from).collect(),
            warnings: result.warnings,
        }
    }
}

fn of_two_sides(source: MatchSource) -> MatchSource {
    if source == MatchSource::Part { MatchSource::Keyword } else { source }
}

impl From<results::SearchHit> for MudpuppySearchHit {
    fn from(hit: results::SearchHit) -> Self {
        // With full detail, a hit has all of them.
        MudpuppySearchHit {
            id: hit.id,
            content: hit.content.unwrap_or_default(),
            entry_type: hit.entry_type.into(),
            source: hit.source.unwrap_or_default(),
            context: hit.context.flatten(),
            confidence: hit.confidence.unwrap_or_default(),
            importance: hit.importance.unwrap_or_default(),
            tags: hit.tags.unwrap_or_default(),
            score: hit.score,
            // Its agents know two sides.
            matched_by: hit.matched_by.into_iter().map(of_two_sides).collect(),
            created_at: hit.created_at,
            vector_score: hit.vector_score,
            keyword_score: hit.keyword_score,
            place: hit.place,
        }
    }
}

/// `memory_get` and `memory_delete`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct IdParams {
    /// Memory entry ID.
    #[schemars(with = "f64")]
    pub id: Int,
}

/// The result of `memory_get`: an entry, or why there is none.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MudpuppyGetResult {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "MudpuppyEntry")]
    pub entry: Option<MudpuppyEntry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub error: Option<String>,
}

/// A whole record.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MudpuppyEntry {
    pub id: i64,
    pub content: String,
    pub content_hash: String,
    #[schemars(with = "String")]
    pub entry_type: EntryType,
    pub source: String,
    pub context: Option<String>,
    pub confidence: f64,
    pub importance: i64,
    pub tags: Vec<String>,
    pub created_at: i64,
    pub updated_at: i64,
    pub expires_at: Option<i64>,
    pub access_count: i64,
    pub last_accessed_at: Option<i64>,
    /// The lines of a file that it is from.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "super::results::object_schema")]
    pub place: Option<PlaceInfo>,
}

impl From<results::GetResult> for MudpuppyGetResult {
    fn from(result: results::GetResult) -> Self {
        MudpuppyGetResult { entry: result.entry.map(MudpuppyEntry::from), error: result.error }
    }
}

impl From<results::Entry> for MudpuppyEntry {
    fn from(entry: results::Entry) -> Self {
        MudpuppyEntry {
            id: entry.id,
            content: entry.content,
            content_hash: entry.content_hash,
            entry_type: entry.entry_type.into(),
            source: entry.source,
            context: entry.context,
            confidence: entry.confidence,
            importance: entry.importance,
            tags: entry.tags,
            created_at: entry.created_at,
            updated_at: entry.updated_at,
            expires_at: entry.expires_at,
            access_count: entry.access_count,
            last_accessed_at: entry.last_accessed_at,
            place: entry.place,
        }
    }
}

/// `memory_stats`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct MudpuppyStatsParams {}

/// The result of `memory_stats`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MudpuppyStatsResult {
    pub total_entries: i64,
    pub by_type: std::collections::BTreeMap<String, i64>,
    pub avg_importance: f64,
    pub avg_confidence: f64,
    pub total_accesses: i64,
    pub oldest_entry: Option<i64>,
    pub newest_entry: Option<i64>,
}

impl From<results::StatsResult> for MudpuppyStatsResult {
    fn from(stats: results::StatsResult) -> Self {
        MudpuppyStatsResult {
            total_entries: stats.total_entries,
            by_type: by_type::<EntryType>(stats.by_type),
            avg_importance: stats.avg_importance,
            avg_confidence: stats.avg_confidence,
            total_accesses: stats.total_accesses,
            oldest_entry: stats.oldest_entry,
            newest_entry: stats.newest_entry,
        }
    }
}
