//! What the explorer is answered.

use std::collections::BTreeMap;

use memorist_engine::types::{Kind, LinkKind, Tier, Weights};
use serde::Serialize;
use serde_json::Value;

use super::super::results::{Best, Entry, SearchHit};

/// A name, and how many memories have it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Named {
    pub name: String,
    pub count: i64,
}

/// The result of `overview`.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OverviewResult {
    /// Whether the store can only be read.
    pub read_only: bool,
    /// The project that is seen; null: none alone. `*`: every one.
    pub project: Option<String>,
    pub agent: Option<String>,
    pub model: Option<String>,
    pub total: i64,
    pub by_type: BTreeMap<String, i64>,
    /// Those with the most memories first.
    pub projects: Vec<Named>,
    pub agents: Vec<Named>,
    pub oldest: Option<i64>,
    pub newest: Option<i64>,
    pub pending_embeddings: i64,
    pub searches: KeptSearches,
    pub warnings: Vec<String>,
}

/// The searches that are kept.
#[derive(Debug, Clone, Serialize)]
pub struct KeptSearches {
    pub kept: i64,
    /// Of the last hundred, without an answer.
    pub nothing: i64,
}

/// The result of `search`: that of `memory_search`, with more of each result.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FindResult {
    pub results: Vec<FindHit>,
    pub total: i64,
    pub nothing: bool,
    pub best: Option<Best>,
    pub missing: Vec<String>,
    pub weaker: i64,
    pub next_cursor: Option<String>,
    pub tier: Tier,
    pub warnings: Vec<String>,
    pub explain: Option<Value>,
}

/// A result of it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FindHit {
    #[serde(flatten)]
    pub hit: SearchHit,
    /// What of its text matches, as it is spelt there.
    pub words: Vec<String>,
    /// What its meaning adds to its score.
    pub vector_part: f64,
    /// What its words add.
    pub keyword_part: f64,
}

/// The result of `why`.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WhyResult {
    pub id: i64,
    /// Whether the search finds it.
    pub found: bool,
    /// From 1; null: beyond what was ranked.
    pub rank: Option<i64>,
    /// Most results of the search.
    pub limit: i64,
    pub score: Option<f64>,
    pub vector_score: Option<f64>,
    pub keyword_score: Option<f64>,
    pub vector_part: Option<f64>,
    pub keyword_part: Option<f64>,
    pub relevance: Option<f64>,
    /// Its place among what meaning finds, from 1; null: beyond what was ranked.
    pub vector_rank: Option<i64>,
    pub keyword_rank: Option<i64>,
    pub weights: Weights,
    pub words: Vec<String>,
    /// What kept it out.
    pub rule: Option<&'static str>,
    /// Which parameter, if it is a filter or a threshold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<&'static str>,
    pub message: String,
}

/// The result of `memory`.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MemoryResult {
    pub entry: Entry,
    pub superseded_by: Vec<i64>,
    pub contradicted_by: Vec<i64>,
    /// The newest searches that found it.
    pub found_by: Vec<FoundByEntry>,
    /// Null for one that is here.
    pub gone: Option<GoneEntry>,
}

/// A search that found a memory.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FoundByEntry {
    pub query: String,
    pub at: i64,
    pub tool: String,
    pub score: Option<f64>,
}

/// How a memory went that can come back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GoneEntry {
    /// `deleted` or `expired`.
    pub why: &'static str,
    pub at: i64,
}

/// The result of `graph`.
#[derive(Debug, Clone, Serialize)]
pub struct GraphResult {
    /// The start, then the nearest first.
    pub nodes: Vec<GraphNode>,
    /// All links between them.
    pub edges: Vec<GraphEdge>,
    /// There are more memories.
    pub truncated: bool,
}

/// A memory of a graph.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GraphNode {
    pub id: i64,
    /// Its beginning.
    pub content: String,
    pub entry_type: Kind,
    /// Links away from the start.
    pub depth: i64,
    /// Nothing supersedes it.
    pub is_current: bool,
}

/// A link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GraphEdge {
    pub from: i64,
    pub to: i64,
    pub link_type: LinkKind,
}

/// The result of `similar`.
#[derive(Debug, Clone, Serialize)]
pub struct SimilarResult {
    /// The most similar first.
    pub results: Vec<SimilarHit>,
}

/// A similar memory.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SimilarHit {
    pub id: i64,
    pub content: String,
    pub entry_type: Kind,
    /// 0 to 1: of the words or the meaning, whichever is more.
    pub similarity: f64,
    /// What of its text both have, as it is spelt there.
    pub words: Vec<String>,
}

/// The result of `timeline`.
#[derive(Debug, Clone, Serialize)]
pub struct TimelineResult {
    /// How long a bucket is: `day`, `week` or `month`.
    pub unit: &'static str,
    /// Those in which something happened, the oldest first.
    pub buckets: Vec<Bucket>,
}

/// What happened in a day, a week or a month.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Bucket {
    pub start: i64,
    pub saved: BTreeMap<String, i64>,
    pub changed: i64,
    pub superseded: i64,
    pub expired: i64,
    pub deleted: i64,
}

/// The result of `cleanup`.
#[derive(Debug, Clone, Serialize)]
pub struct CleanupResult {
    pub groups: Vec<CleanupGroup>,
    /// There may be more: ask again with this as `cursor`. A page may have no group, and a next one.
    pub next: Option<String>,
    /// How many there are, where that is known.
    pub total: Option<i64>,
}

/// Memories of which something is to be decided.
#[derive(Debug, Clone, Serialize)]
pub struct CleanupGroup {
    pub why: String,
    pub similarity: Option<f64>,
    pub members: Vec<Member>,
}

/// A memory of a group.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Member {
    pub id: i64,
    pub content: String,
    pub entry_type: Kind,
    pub version: i64,
    pub importance: i64,
    pub created_at: i64,
    pub updated_at: i64,
    pub access_count: i64,
    pub project: Option<String>,
    pub agent: Option<String>,
    pub expires_at: Option<i64>,
    /// Nothing supersedes it.
    pub is_current: bool,
}

/// The result of `merge`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MergeResult {
    pub id: i64,
    pub version: i64,
    /// `undo` of these, one after another, takes it back.
    pub undo: Vec<i64>,
}
