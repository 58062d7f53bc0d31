//! Results of the explorer's requests.

use std::collections::BTreeMap;

use memorist_engine::types::{Kind, LinkKind, Tier, Weights};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::super::results::{Entry, NearMissInfo, SearchHit};
use super::super::schema::{KindName, LinkKindName, TierName};

/// A name, and how many memories have it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NameCount {
    pub name: String,
    pub count: i64,
}

/// The result of `overview`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OverviewResult {
    /// Whether the store can only be read.
    pub read_only: bool,
    /// The visible project; null: only global memories; `*`: every project.
    pub project: Option<String>,
    pub agent: Option<String>,
    pub model: Option<String>,
    pub total: i64,
    pub by_type: BTreeMap<String, i64>,
    /// The projects, those with the most memories first.
    pub projects: Vec<NameCount>,
    pub agents: Vec<NameCount>,
    pub oldest: Option<i64>,
    pub newest: Option<i64>,
    pub pending_embeddings: i64,
    pub searches: LoggedSearches,
    pub warnings: Vec<String>,
}

/// The searches in the search log.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoggedSearches {
    pub logged: i64,
    /// Searches without an answer, of the last hundred.
    pub no_answer: i64,
}

/// The result of `search`: that of `memory_search`, with more of each result.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FindResult {
    pub results: Vec<FindHit>,
    pub total: i64,
    pub no_answer: bool,
    pub near_miss: Option<NearMissInfo>,
    pub missing: Vec<String>,
    pub weaker: i64,
    pub next_cursor: Option<String>,
    #[schemars(with = "TierName")]
    pub tier: Tier,
    pub warnings: Vec<String>,
    #[schemars(with = "Option<BTreeMap<String, Value>>")]
    pub explain: Option<Value>,
}

/// A result of `search`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FindHit {
    #[serde(flatten)]
    pub hit: SearchHit,
    /// The words of its text that match, as they are spelled there.
    pub words: Vec<String>,
    /// The part of its score from vector search.
    pub vector_part: f64,
    /// The part from keyword search.
    pub keyword_part: f64,
}

/// The result of `explain`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExplainResult {
    pub id: i64,
    /// Whether the search finds it.
    pub found: bool,
    /// Its rank, from 1; null: beyond the ranked candidates.
    pub rank: Option<i64>,
    /// Maximum results of the search.
    pub limit: i64,
    pub score: Option<f64>,
    pub vector_score: Option<f64>,
    pub keyword_score: Option<f64>,
    pub vector_part: Option<f64>,
    pub keyword_part: Option<f64>,
    pub relevance: Option<f64>,
    /// Its rank in vector search, from 1; null: beyond the ranked candidates.
    pub vector_rank: Option<i64>,
    pub keyword_rank: Option<i64>,
    #[schemars(with = "BTreeMap<String, f64>")]
    pub weights: Weights,
    pub words: Vec<String>,
    /// Rule that excluded it.
    pub rule: Option<&'static str>,
    /// The parameter, if the rule is a filter or a threshold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<&'static str>,
    pub message: String,
}

/// The result of `memory`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemoryResult {
    pub entry: Entry,
    pub superseded_by: Vec<i64>,
    pub contradicted_by: Vec<i64>,
    /// The newest searches that found it.
    pub found_by: Vec<FoundByEntry>,
    /// Null for a live memory.
    pub recoverable: Option<RecoverableEntry>,
}

/// A search that found a memory.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FoundByEntry {
    pub query: String,
    pub at: i64,
    pub tool: String,
    pub score: Option<f64>,
}

/// The deletion or expiry of a memory that can be restored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RecoverableEntry {
    #[schemars(extend("enum" = ["deleted", "expired"]))]
    pub why: &'static str,
    pub at: i64,
}

/// The result of `graph`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct GraphResult {
    /// The start, then the nearest first.
    pub nodes: Vec<GraphNode>,
    /// All links between them.
    pub edges: Vec<GraphEdge>,
    /// Whether there are more memories.
    pub truncated: bool,
}

/// A memory of a graph.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GraphNode {
    pub id: i64,
    /// Its beginning.
    pub content: String,
    #[schemars(with = "KindName")]
    pub entry_type: Kind,
    /// Distance from the start in links.
    pub depth: i64,
    /// Whether nothing supersedes it.
    pub is_current: bool,
}

/// A link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GraphEdge {
    pub from: i64,
    pub to: i64,
    #[schemars(with = "LinkKindName")]
    pub link_type: LinkKind,
}

/// The result of `similar`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SimilarResult {
    /// The most similar first.
    pub results: Vec<SimilarHit>,
}

/// A similar memory.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SimilarHit {
    pub id: i64,
    pub content: String,
    #[schemars(with = "KindName")]
    pub entry_type: Kind,
    /// 0 to 1: of the words or the meaning, whichever is more.
    pub similarity: f64,
    /// The words of its text that both have, as they are spelled there.
    pub words: Vec<String>,
}

/// The result of `neighbors`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct NeighborsResult {
    /// The nearest first.
    pub results: Vec<NearHit>,
}

/// A memory near another one.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct NearHit {
    pub id: i64,
    /// Cosine similarity of the vectors, -1 to 1.
    pub similarity: f32,
}

/// The result of `timeline`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TimelineResult {
    /// Length of a bucket.
    #[schemars(extend("enum" = ["day", "week", "month"]))]
    pub unit: &'static str,
    /// The buckets with events, the oldest first.
    pub buckets: Vec<Bucket>,
}

/// Event counts of one day, week or month.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Bucket {
    pub start: i64,
    pub saved: BTreeMap<String, i64>,
    pub changed: i64,
    pub superseded: i64,
    pub expired: i64,
    pub deleted: i64,
}

/// The result of `cleanup`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CleanupResult {
    pub groups: Vec<CleanupGroup>,
    /// The `cursor` of the next page, if there may be one. A page without groups may have a next one, too.
    pub next: Option<String>,
    /// The number of all groups, where it is known.
    pub total: Option<i64>,
}

/// Memories to decide about.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CleanupGroup {
    pub why: String,
    pub similarity: Option<f64>,
    pub members: Vec<Member>,
}

/// A memory of a group.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Member {
    pub id: i64,
    pub content: String,
    #[schemars(with = "KindName")]
    pub entry_type: Kind,
    pub version: i64,
    pub importance: i64,
    pub created_at: i64,
    pub updated_at: i64,
    pub access_count: i64,
    pub project: Option<String>,
    pub agent: Option<String>,
    pub expires_at: Option<i64>,
    /// Whether nothing supersedes it.
    pub is_current: bool,
}

/// The result of `merge`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MergeResult {
    pub id: i64,
    pub version: i64,
    /// Ids to pass to `undo`, in this order, to revert the merge.
    pub undo: Vec<i64>,
}
