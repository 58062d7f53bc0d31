//! Results of the tools. `--json` prints the same structures.

use std::collections::BTreeMap;

use memorist_engine::Error;
use memorist_engine::types::{
    Direction, EmbeddingState, Kind, LinkKind, MatchSource, NearMiss, RecordId, Threshold, Tier, UpdateOutcome,
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::Value;

use super::place::PlaceInfo;
use super::schema::{EmbeddingName, KindName, LinkKindName, ThresholdName, TierName};
use super::sources::FileProblem;
use crate::wording::Worded as _;

/// The result of `memory_add`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AddResult {
    /// The memory; of a text that was saved already, the one that has it.
    pub id: i64,
    /// Whether it is new.
    pub created: bool,
    /// Whether the text was saved already.
    pub duplicate: bool,
    /// `pending`: keyword search only, until the memory is embedded.
    #[schemars(with = "EmbeddingName")]
    pub embedding: EmbeddingState,
    /// Near duplicates.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Suggested links.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "suggestions_schema")]
    pub suggestions: Vec<Suggestion>,
    /// Warnings about this memory.
    #[serde(skip)]
    pub notes: Vec<String>,
    /// Links that this call created.
    #[serde(skip)]
    pub linked: Vec<(LinkKind, RecordId)>,
}

/// A memory that resembles a new one, with a suggested link.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Suggestion {
    /// The other memory.
    pub id: i64,
    /// The kind of link from the new one.
    #[schemars(with = "LinkKindName")]
    pub link_type: LinkKind,
    /// 0 to 1.
    pub similarity: f64,
    /// Beginning of its text.
    pub content: String,
    /// Whether it is suggested because the new text reports a change.
    #[serde(skip)]
    pub is_change: bool,
}

/// The result of `memory_search`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SearchResult {
    /// Best first.
    pub results: Vec<SearchHit>,
    /// Number of results.
    pub total: i64,
    /// Whether the store probably has no answer: no hit, or no relevant one.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub no_answer: bool,
    /// Best hit below a threshold.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "NearMissInfo")]
    pub near_miss: Option<NearMissInfo>,
    /// Identifiers, codes and paths of the query that no memory has.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// Number of further hits below the minimum relevance.
    #[serde(skip_serializing_if = "is_zero")]
    pub weaker: i64,
    /// The `cursor` of the next page.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub next_cursor: Option<String>,
    /// How it was answered: in full, by keywords alone, or by parts of words (substring).
    #[schemars(with = "TierName")]
    pub tier: Tier,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Times in microseconds and candidate counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "object_schema")]
    pub explain: Option<Value>,
}

/// Best hit that a threshold excluded.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NearMissInfo {
    pub id: i64,
    /// Beginning of its text.
    pub content: String,
    #[schemars(schema_with = "threshold_schema")]
    pub threshold: Threshold,
    /// Its value: a search with this as the threshold finds it.
    pub actual: f64,
}

impl From<NearMiss> for NearMissInfo {
    fn from(missed: NearMiss) -> Self {
        NearMissInfo {
            id: missed.id.get(),
            content: missed.beginning,
            threshold: missed.threshold,
            actual: missed.actual,
        }
    }
}

/// One result of a search. Without text if only ids were requested. Times are Unix milliseconds.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SearchHit {
    pub id: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub content: Option<String>,
    #[schemars(schema_with = "kind_schema")]
    pub entry_type: Kind,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub source: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<Option<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f64")]
    pub confidence: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64")]
    pub importance: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<String>")]
    pub tags: Option<Vec<String>>,
    /// 0 to 1, relative to the other candidates of this search.
    pub score: f64,
    #[schemars(schema_with = "sides_schema")]
    pub matched_by: Vec<MatchSource>,
    pub created_at: i64,
    /// Cosine similarity, -1 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f64")]
    pub vector_score: Option<f64>,
    /// BM25.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f64")]
    pub keyword_score: Option<f64>,
    /// Logit of the reranker: above 0, the memory probably answers the query.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f32")]
    pub logit: Option<f32>,
    /// Likelihood that it answers the query, 0 to 1; comparable between queries.
    pub relevance: f64,
    /// Reason why it ranks above a more relevant hit or below a less relevant one, or what it merely resembles.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub why: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub project: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub agent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub session: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64")]
    pub turn: Option<i64>,
    /// File and lines that it was read from.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "place_schema")]
    pub place: Option<PlaceInfo>,
    /// Neighbors in its session whose words counted for it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub boosted_by: Vec<i64>,
    /// Neighbors in its session, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub neighbors: Vec<Neighbor>,
    /// Memories that contradict it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub contradicted_by: Vec<i64>,
    /// Whether content or context is a passage of the whole text.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "bool")]
    pub truncated: Option<bool>,
}

/// A memory before or after a result in its session.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Neighbor {
    pub id: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64")]
    pub turn: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub content: Option<String>,
}

/// A memory in a list. Without text if only ids were requested.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Brief {
    pub id: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "string_schema")]
    pub content: Option<String>,
    #[schemars(schema_with = "kind_schema")]
    pub entry_type: Kind,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "string_schema")]
    pub source: Option<String>,
    pub importance: i64,
    pub tags: Vec<String>,
    pub created_at: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "string_schema")]
    pub project: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "string_schema")]
    pub agent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "boolean_schema")]
    pub truncated: Option<bool>,
}

/// The result of `memory_list`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ListResult {
    pub results: Vec<Brief>,
    /// Next `after`, if there may be more.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "integer_schema")]
    pub next: Option<i64>,
    /// Next `offset`, for an order that is not that of ids.
    #[serde(rename = "nextOffset", skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "integer_schema")]
    pub next_offset: Option<i64>,
}

/// The result of `memory_get`: an entry, or why there is none.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct GetResult {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "entry_schema")]
    pub entry: Option<Entry>,
    /// Reason why there is no entry.
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
    /// Its links, at most 50.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "steps_schema")]
    pub links: Vec<Step>,
    /// Whether it has more links than these.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "bool")]
    pub more_links: Option<bool>,
    /// The id that survives export and import.
    pub ulid: String,
    /// The fields of its type beside the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "object_schema")]
    pub body: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub session: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64")]
    pub turn: Option<i64>,
    /// File and lines that it was read from.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "place_schema")]
    pub place: Option<PlaceInfo>,
}

/// A link, seen from one of its ends.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    /// The memory at the other end.
    pub id: i64,
    #[schemars(with = "LinkKindName")]
    pub link_type: LinkKind,
    /// Forward: to the other end; backward: from it.
    #[schemars(with = "String", extend("enum" = ["forward", "backward"]))]
    pub direction: Direction,
}

/// The result of `memory_stats`.
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
    /// Memories that only keyword search finds until they are embedded.
    pub pending_embeddings: i64,
    /// Sizes of the indexes: vectors, documents, unapplied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub indexes: Option<IndexCounts>,
    /// Embedding model.
    pub model: Option<String>,
    /// The search log: logged, last, noAnswer.
    pub searches: SearchTotals,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unread: Option<UnreadFiles>,
}

/// Source files that could not be read.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct UnreadFiles {
    pub count: i64,
    /// The first five.
    pub files: Vec<FileProblem>,
}

impl UnreadFiles {
    /// Number, first files, and reasons.
    pub fn text(&self) -> String {
        let named = self.files.iter().map(|file| format!("{}: {}", file.path, file.why));
        let more = self.count.saturating_sub_unsigned(self.files.len() as u64);
        let more = (more > 0).then(|| format!("and {more} more"));
        format!("{} ({})", self.count, named.chain(more).collect::<Vec<_>>().join("; "))
    }
}

/// The caller's own searches.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SearchTotals {
    pub logged: i64,
    /// Number of newest searches that were examined.
    pub last: i64,
    /// Number of these without an answer.
    pub no_answer: i64,
}

/// Sizes of the indexes.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct IndexCounts {
    pub vectors: i64,
    pub documents: i64,
    /// Changes that are not indexed yet; searches scan them exactly.
    pub unapplied: i64,
}

/// The result of `memory_delete`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct DeleteResult {
    pub success: bool,
    pub deleted: bool,
}

/// The result of `memory_update`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct UpdateResult {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "integer_schema")]
    pub id: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "boolean_schema")]
    pub updated: Option<bool>,
    /// Increases with each change.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "integer_schema")]
    pub version: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "EmbeddingName")]
    pub embedding: Option<EmbeddingState>,
    /// Reason why nothing was updated.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "string_schema")]
    pub error: Option<String>,
}

impl UpdateResult {
    /// For a memory that was changed.
    pub fn of(outcome: &UpdateOutcome) -> Self {
        UpdateResult {
            id: Some(outcome.record.id.get()),
            updated: Some(true),
            version: Some(outcome.record.version),
            embedding: Some(outcome.embedding),
            error: None,
        }
    }

    /// For a memory that does not exist.
    pub fn none(error: &Error) -> Self {
        UpdateResult { id: None, updated: None, version: None, embedding: None, error: Some(error.worded()) }
    }
}

fn is_zero(number: &i64) -> bool {
    *number == 0
}

/// The schema of a field. `published` is short, as a model understands the field by its name. `results.json` has `T`.
fn short<T: JsonSchema>(generator: &mut SchemaGenerator, published: Schema) -> Schema {
    // A published schema is one without references.
    if generator.settings().inline_subschemas { published } else { generator.subschema_for::<T>() }
}

pub(super) fn kind_schema(generator: &mut SchemaGenerator) -> Schema {
    // The parameters have the list of kinds: once is enough.
    short::<KindName>(generator, json_schema!({ "type": "string" }))
}

pub(super) fn steps_schema(generator: &mut SchemaGenerator) -> Schema {
    short::<Vec<Step>>(generator, json_schema!({ "type": "array" }))
}

fn suggestions_schema(generator: &mut SchemaGenerator) -> Schema {
    short::<Vec<Suggestion>>(generator, json_schema!({ "type": "array", "items": { "type": "object" } }))
}

fn place_schema(generator: &mut SchemaGenerator) -> Schema {
    short::<PlaceInfo>(generator, json_schema!({ "type": "object" }))
}

fn threshold_schema(generator: &mut SchemaGenerator) -> Schema {
    short::<ThresholdName>(generator, json_schema!({ "type": "string" }))
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

pub(super) fn items_schema(_: &mut SchemaGenerator) -> Schema {
    // The content is self-explanatory.
    json_schema!({ "type": "array" })
}

pub(super) fn objects_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "array", "items": { "type": "object" } })
}

pub(super) fn object_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "object" })
}

fn entry_schema(generator: &mut SchemaGenerator) -> Schema {
    Entry::json_schema(generator)
}

fn sides_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "array", "items": { "type": "string", "enum": ["vector", "keyword", "part"] } })
}
