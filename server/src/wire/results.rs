//! What each tool answers. `--json` prints these very structures.

use std::collections::BTreeMap;

use memorist_engine::types::{EmbeddingState, Kind, Side, Tier};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::Value;

/// The answer of `memory_add`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AddResult {
    /// Its id.
    pub id: i64,
    /// Whether it is new.
    pub created: bool,
    /// Whether the same text was there already; `id` is then that one's.
    pub duplicate: bool,
    /// Pending: found by its words until it is embedded.
    #[schemars(schema_with = "embedding_schema")]
    pub embedding: EmbeddingState,
}

/// The answer of `memory_search`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SearchResult {
    /// Best first.
    pub results: Vec<SearchHit>,
    /// How many.
    pub total: i64,
    /// Full, or what answered instead: words alone (keyword), parts of words (substring).
    #[schemars(schema_with = "tier_schema")]
    pub tier: Tier,
    /// What you should know about this answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Times in microseconds and candidate counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "object_schema")]
    pub explain: Option<Value>,
}

/// One result of a search. Without text when only ids were asked for.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SearchHit {
    pub id: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    #[schemars(schema_with = "kind_schema")]
    pub entry_type: Kind,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<Option<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub importance: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<String>>,
    /// 0 to 1, relative to the other candidates.
    pub score: f64,
    #[schemars(schema_with = "sides_schema")]
    pub matched_by: Vec<Side>,
    /// Unix milliseconds.
    pub created_at: i64,
    /// Cosine similarity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vector_score: Option<f64>,
    /// BM25.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keyword_score: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Content or context is a passage; memory_get has it whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truncated: Option<bool>,
}

/// The answer of `memory_get`: an entry, or why there is none.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct GetResult {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "entry_schema")]
    pub entry: Option<Entry>,
    /// Why there is no entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "string_schema")]
    pub error: Option<String>,
}

/// A whole record. Times are Unix milliseconds.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    pub id: i64,
    pub content: String,
    /// SHA-256.
    pub content_hash: String,
    #[schemars(schema_with = "kind_schema")]
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
    pub project: Option<String>,
    pub agent: Option<String>,
    pub version: i64,
    pub ulid: String,
}

/// The answer of `memory_stats`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StatsResult {
    pub total_entries: i64,
    pub by_type: BTreeMap<String, i64>,
    pub avg_importance: f64,
    pub avg_confidence: f64,
    pub total_accesses: i64,
    pub oldest_entry: Option<i64>,
    pub newest_entry: Option<i64>,
    /// Found by their words alone until they are embedded.
    pub pending_embeddings: i64,
    pub indexes: IndexCounts,
    /// Embedding model.
    pub model: Option<String>,
}

/// How the indexes stand beside the records.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct IndexCounts {
    pub vectors: i64,
    pub documents: i64,
    /// Changes not indexed yet; searched all the same.
    pub unapplied: i64,
}

/// The answer of `memory_delete`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct DeleteResult {
    pub success: bool,
    pub deleted: bool,
}

/// The answer of `memory_update`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct UpdateResult {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "integer_schema")]
    pub id: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "boolean_schema")]
    pub updated: Option<bool>,
    /// Grows with each change.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "integer_schema")]
    pub version: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "embedding_schema")]
    pub embedding: Option<EmbeddingState>,
    /// Why nothing was updated.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "string_schema")]
    pub error: Option<String>,
}

fn kind_schema(_: &mut SchemaGenerator) -> Schema {
    // The list of kinds is in the parameters: once is enough.
    json_schema!({ "type": "string" })
}

fn string_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string" })
}

fn integer_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "integer" })
}

fn boolean_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "boolean" })
}

fn object_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "object" })
}

fn entry_schema(generator: &mut SchemaGenerator) -> Schema {
    Entry::json_schema(generator)
}

fn embedding_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "enum": ["ready", "pending"] })
}

fn tier_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "enum": ["full", "keyword", "substring"] })
}

fn sides_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "array", "items": { "type": "string", "enum": ["vector", "keyword"] } })
}
