//! Parameters and results of the memory tools of Mudpuppy, by its API reference: memorist's own, with fewer fields. As
//! there, parameters that it does not know are passed over.

use memorist_engine::types::{Kind, MAX_LIMIT, Mode, Side};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::results;
use super::values::{Importance, Int};
use super::{Detail, When};

// The types that it knows. Memories of others are not seen.
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

/// See [`EntryType`].
pub const KINDS: [Kind; 6] = [Kind::Fact, Kind::Preference, Kind::Event, Kind::Insight, Kind::Task, Kind::Relationship];

impl From<EntryType> for Kind {
    fn from(entry_type: EntryType) -> Self {
        KINDS[entry_type as usize]
    }
}

/// `memory_add`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AddParams {
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

impl From<AddParams> for super::AddParams {
    fn from(params: AddParams) -> Self {
        super::AddParams {
            content: params.content,
            entry_type: Some(params.entry_type.into()),
            source: Some(params.source),
            context: params.context,
            confidence: Some(params.confidence),
            importance: Some(Importance(params.importance.0)),
            tags: params.tags,
            // The engine refuses what looks like seconds.
            expires_at: params.expires_at.map(|Int(at)| When(at)),
            ..Default::default()
        }
    }
}

/// The answer of `memory_add`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AddResult {
    pub id: i64,
    pub created: bool,
    pub duplicate: bool,
}

impl From<results::AddResult> for AddResult {
    fn from(result: results::AddResult) -> Self {
        AddResult { id: result.id, created: result.created, duplicate: result.duplicate }
    }
}

/// `memory_search`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SearchParams {
    /// Search query text.
    pub query: String,
    /// Search mode.
    #[serde(default)]
    #[schemars(schema_with = "super::params::mode_schema")]
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

impl From<SearchParams> for super::SearchParams {
    fn from(params: SearchParams) -> Self {
        let kinds: Vec<Kind> = params.entry_types.unwrap_or_default().into_iter().map(Kind::from).collect();
        super::SearchParams {
            query: params.query,
            mode: Some(params.mode),
            // The document has no bound.
            limit: Some(Int(params.limit.0.min(super::count(MAX_LIMIT as u64)))),
            entry_types: Some(if kinds.is_empty() { KINDS.to_vec() } else { kinds }),
            min_importance: params.min_importance.map(|Int(least)| Importance(least)),
            min_confidence: params.min_confidence,
            tags: params.tags,
            detail: Some(Detail::Full),
            ..Default::default()
        }
    }
}

/// The answer of `memory_search`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SearchResult {
    pub results: Vec<SearchHit>,
    pub total: i64,
}

/// One result of a search.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SearchHit {
    pub id: i64,
    pub content: String,
    #[schemars(with = "String")]
    pub entry_type: Kind,
    pub source: String,
    pub context: Option<String>,
    pub confidence: f64,
    pub importance: i64,
    pub tags: Vec<String>,
    pub score: f64,
    #[schemars(with = "Vec<String>")]
    pub matched_by: Vec<Side>,
    pub created_at: i64,
}

impl From<results::SearchResult> for SearchResult {
    fn from(result: results::SearchResult) -> Self {
        SearchResult { total: result.total, results: result.results.into_iter().map(SearchHit::from).collect() }
    }
}

impl From<results::SearchHit> for SearchHit {
    fn from(hit: results::SearchHit) -> Self {
        // Asked for in full, a hit has them all.
        SearchHit {
            id: hit.id,
            content: hit.content.unwrap_or_default(),
            entry_type: hit.entry_type,
            source: hit.source.unwrap_or_default(),
            context: hit.context.flatten(),
            confidence: hit.confidence.unwrap_or_default(),
            importance: hit.importance.unwrap_or_default(),
            tags: hit.tags.unwrap_or_default(),
            score: hit.score,
            matched_by: hit.matched_by,
            created_at: hit.created_at,
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

/// The answer of `memory_get`: an entry, or why there is none.
#[derive(Debug, Serialize, JsonSchema)]
pub struct GetResult {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Entry")]
    pub entry: Option<Entry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub error: Option<String>,
}

/// A whole record.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    pub id: i64,
    pub content: String,
    pub content_hash: String,
    #[schemars(with = "String")]
    pub entry_type: Kind,
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
}

impl From<results::GetResult> for GetResult {
    fn from(result: results::GetResult) -> Self {
        GetResult { entry: result.entry.map(Entry::from), error: result.error }
    }
}

impl From<results::Entry> for Entry {
    fn from(entry: results::Entry) -> Self {
        Entry {
            id: entry.id,
            content: entry.content,
            content_hash: entry.content_hash,
            entry_type: entry.entry_type,
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
        }
    }
}

/// `memory_stats`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct StatsParams {}

/// The answer of `memory_stats`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StatsResult {
    pub total_entries: i64,
    pub by_type: std::collections::BTreeMap<String, i64>,
    pub avg_importance: f64,
    pub avg_confidence: f64,
    pub total_accesses: i64,
    pub oldest_entry: Option<i64>,
    pub newest_entry: Option<i64>,
}

impl From<results::StatsResult> for StatsResult {
    fn from(stats: results::StatsResult) -> Self {
        StatsResult {
            total_entries: stats.total_entries,
            by_type: stats.by_type,
            avg_importance: stats.avg_importance,
            avg_confidence: stats.avg_confidence,
            total_accesses: stats.total_accesses,
            oldest_entry: stats.oldest_entry,
            newest_entry: stats.newest_entry,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_types_are_those_of_the_same_name() {
        for (at, kind) in KINDS.into_iter().enumerate() {
            let named: EntryType = serde_json::from_value(kind.as_str().into()).unwrap();
            assert_eq!((named as usize, Kind::from(named)), (at, kind));
        }
    }
}
