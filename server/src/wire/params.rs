//! Parameters of the tools. The doc comments are the descriptions that a model reads: keep them short, as every session
//! pays for them.

use memorist_engine::types::{Kind, Millis, Mode, Scale, WEAK};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::schema::{KindName, ModeName};
use super::source_names::{SourceName, sources_schema};
use super::times::{Future, FutureEnd, Past, PastEnd};
use super::values::{Importance, Int, Patch, Where};

/// `memory_add`, and a line of an import file.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AddParams {
    /// One self-contained statement that makes sense without this conversation.
    #[schemars(length(min = 1))]
    pub content: String,
    /// Default fact.
    #[serde(default, alias = "category", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "KindName")]
    pub entry_type: Option<Kind>,
    /// Source label, default manual.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Context, embedded with the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// Default 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    pub confidence: Option<f64>,
    /// Default 5.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub importance: Option<Importance>,
    /// Labels to filter by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<String>>,
    /// Expiry, hidden afterwards: ISO 8601, "30d".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Future>,
    /// Event date or start of validity: 2026-12-31T09:00, yesterday, 7d (ago).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid_from: Option<Past>,
    /// End of validity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid_to: Option<Past>,
    /// Task status, default open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "status_schema")]
    pub status: Option<String>,
    /// Due date of a task: 2026-12-31, tomorrow, 7d (from now). It stays visible.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub due: Option<Future>,
    /// Ids of memories this one replaces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub supersedes: Option<Vec<Int>>,
    /// Ids of memories this one contradicts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contradicts: Option<Vec<Int>>,
    /// Ids of related memories.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub related: Option<Vec<Int>>,
    /// Owning project; "" = global. Default: the server's. Calls by id need the same, or "*".
    #[serde(default, skip_serializing_if = "Patch::is_absent")]
    pub project: Patch<String>,
    /// Owning agent, same rules.
    #[serde(default, skip_serializing_if = "Patch::is_absent")]
    pub agent: Patch<String>,
    /// Fields of the type. contact: name, email, company, role, type; decision, pattern, bugfix: title, description, feature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "object_schema")]
    pub body: Option<Value>,
    /// Your own keys, to filter by with where. Values: string, number, boolean or a list of these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "object_schema")]
    pub metadata: Option<Value>,
    /// Session of a conversation turn. Search ranks a turn together with its neighbors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Turn number in the session. Default: append.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<Int>,
}

/// `memory_search`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SearchParams {
    /// Question, phrase, name, identifier or error code.
    #[schemars(length(min = 1))]
    pub query: String,
    /// hybrid (default), vector (semantic) or keyword (BM25).
    #[serde(default)]
    #[schemars(with = "ModeName")]
    pub mode: Option<Mode>,
    /// Maximum hits, default 10.
    #[schemars(range(min = 1, max = 1000))]
    pub limit: Option<Int>,
    /// Only these types.
    #[serde(default)]
    #[schemars(with = "Vec<KindName>")]
    pub entry_types: Option<Vec<Kind>>,
    /// Minimum importance.
    pub min_importance: Option<Importance>,
    /// Minimum confidence.
    #[schemars(range(min = 0, max = 1))]
    pub min_confidence: Option<f64>,
    /// Only with any of these tags.
    pub tags: Option<Vec<String>>,
    /// Metadata filter: {"year": {"$gte": 2024}, "lang": "de"}. $eq, $ne, $gt, $gte, $lt, $lte, $in, $nin, $exists; $and, $or, $not.
    #[serde(rename = "where")]
    pub with_metadata: Option<Where>,
    /// Only from these: note files, session transcripts, saved memories.
    #[serde(default)]
    #[schemars(schema_with = "sources_schema")]
    pub sources: Option<Vec<SourceName>>,
    /// Search this project and global memories; "" = global only, "*" = all. Default: the server's.
    #[serde(default)]
    pub project: Patch<String>,
    /// Agent scope, same rules.
    #[serde(default)]
    pub agent: Patch<String>,
    /// Saved since: ISO 8601, "7d", "last week".
    pub created_after: Option<Past>,
    /// Saved before this time, or by the end of this day.
    pub created_before: Option<PastEnd>,
    /// Saved or updated since.
    pub updated_after: Option<Past>,
    /// Last updated before; see createdBefore.
    pub updated_before: Option<PastEnd>,
    /// Happens then or later (validFrom to validTo, or due).
    pub happens_after: Option<Future>,
    /// Happens before, or by the end of a day. Same day in both: on it.
    pub happens_before: Option<FutureEnd>,
    /// Weight of vector search in hybrid mode, default 0.7.
    #[schemars(range(min = 0))]
    pub vector_weight: Option<f64>,
    /// Weight of keyword search, default 0.3.
    #[schemars(range(min = 0))]
    pub keyword_weight: Option<f64>,
    /// Minimum cosine similarity of vector-only hits; 0.3 drops unrelated memories. Usually omitted.
    #[schemars(range(min = -1, max = 1))]
    pub min_similarity: Option<f64>,
    /// Minimum relevance, e.g. 0.4. Exact keyword matches stay.
    #[schemars(range(min = 0, max = 1))]
    pub min_relevance: Option<f64>,
    /// Minimum score, which is relative to the other hits. Exact keyword matches stay.
    #[schemars(range(min = 0, max = 1))]
    pub min_score: Option<f64>,
    /// Score normalization: by theoretical bounds (default) or from the lowest candidate (pool).
    #[serde(default)]
    #[schemars(schema_with = "scale_schema")]
    pub scale: Option<Scale>,
    /// Include superseded memories.
    pub include_superseded: Option<bool>,
    /// Rerank the first hits with a second model, if set up: better order, about 50 ms. Default: the setting (true).
    pub rerank: Option<bool>,
    /// Add N turns before and after each session hit.
    #[serde(alias = "neighbours")]
    #[schemars(range(min = 0, max = 5))]
    pub neighbors: Option<Int>,
    /// Token budget for all results.
    #[schemars(range(min = 1))]
    pub max_tokens: Option<Int>,
    /// nextCursor of the previous page; repeat all else unchanged.
    pub cursor: Option<String>,
    /// Text per memory: beginning at most (ids), up to 700 characters (snippet, default), all (full).
    #[serde(default)]
    #[schemars(schema_with = "detail_schema")]
    pub detail: Option<Detail>,
    /// Return times and candidate counts.
    pub explain: Option<bool>,
    /// Whether the last word may be a prefix. Only the web UI sets it, while the user types.
    #[serde(skip)]
    pub prefix: bool,
}

impl SearchParams {
    /// Excludes results that are [`WEAK`], unless a minimum relevance is given.
    pub fn without_weak(self) -> Self {
        SearchParams { min_relevance: self.min_relevance.or(Some(WEAK)), ..self }
    }
}

/// How much of each result a search returns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Detail {
    /// No text.
    Ids,
    /// Whole text up to 700 characters; of a longer one, the passage around the query terms.
    #[default]
    Snippet,
    /// The whole text.
    Full,
}

/// `memory_get`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetParams {
    /// Memory id.
    pub id: Int,
    /// See memory_search.
    #[serde(default)]
    pub project: Patch<String>,
    /// See memory_search.
    #[serde(default)]
    pub agent: Patch<String>,
}

/// `memory_delete`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeleteParams {
    /// Memory id.
    pub id: Int,
    /// See memory_search.
    #[serde(default)]
    pub project: Patch<String>,
    /// See memory_search.
    #[serde(default)]
    pub agent: Patch<String>,
}

/// The state of the memories in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum ListState {
    /// Tasks that are neither done nor dropped.
    Open,
    /// Open tasks whose date has passed.
    Overdue,
    /// Replaced by another.
    Superseded,
    /// Contradicted by another.
    Contradicted,
    /// Memories that will expire.
    Expiring,
    /// Expired, and not removed yet.
    Expired,
    /// Deleted, and not removed yet.
    Deleted,
}

/// The order of a list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum ListSort {
    /// Latest created first.
    #[default]
    #[serde(alias = "saved")]
    #[value(alias = "saved")]
    Created,
    /// Latest updated first.
    Updated,
    /// Earliest due first.
    Due,
}

/// `memory_list`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ListParams {
    /// Only these types.
    #[schemars(with = "Vec<KindName>")]
    pub entry_types: Option<Vec<Kind>>,
    /// Only with any of these tags.
    pub tags: Option<Vec<String>>,
    /// Metadata filter, see memory_search.
    #[serde(rename = "where")]
    pub with_metadata: Option<Where>,
    /// Minimum importance.
    pub min_importance: Option<Importance>,
    /// Continue after this id.
    pub after: Option<Int>,
    /// Saved since: ISO 8601, "7d", "last week".
    pub created_after: Option<Past>,
    /// Saved before this time, or by the end of this day.
    pub created_before: Option<PastEnd>,
    /// Saved or updated since.
    pub updated_after: Option<Past>,
    /// Last updated before; see createdBefore.
    pub updated_before: Option<PastEnd>,
    /// Happens then or later (validFrom to validTo, or due).
    pub happens_after: Option<Future>,
    /// Happens before, or by the end of a day. Same day in both: on it.
    pub happens_before: Option<FutureEnd>,
    /// Only memories in this state; open and overdue: tasks.
    #[serde(alias = "only")]
    #[schemars(schema_with = "state_schema")]
    pub state: Option<ListState>,
    /// Latest created (default) or updated first, or earliest due.
    #[serde(alias = "order")]
    #[schemars(schema_with = "sort_schema")]
    pub sort: Option<ListSort>,
    /// Memories to skip.
    #[schemars(range(min = 0))]
    pub offset: Option<Int>,
    /// Maximum memories, default 50.
    #[schemars(range(min = 1, max = 1000))]
    pub limit: Option<Int>,
    /// See memory_search.
    #[schemars(range(min = 1))]
    pub max_tokens: Option<Int>,
    /// Default true; false for due and expiring.
    pub newest_first: Option<bool>,
    /// See memory_search.
    #[schemars(schema_with = "detail_schema")]
    pub detail: Option<Detail>,
    /// See memory_search.
    pub project: Patch<String>,
    /// See memory_search.
    pub agent: Patch<String>,
}

/// `memory_stats`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StatsParams {
    /// See memory_search.
    pub project: Patch<String>,
    /// See memory_search.
    pub agent: Patch<String>,
}

/// `memory_update`. An omitted field stays unchanged.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UpdateParams {
    /// Memory id.
    pub id: Int,
    /// New text.
    #[schemars(length(min = 1))]
    pub content: Option<String>,
    /// New type.
    #[serde(alias = "category")]
    #[schemars(with = "Option<String>")]
    pub entry_type: Option<Kind>,
    /// New source.
    pub source: Option<String>,
    /// New context; "" removes it.
    #[serde(default)]
    pub context: Patch<String>,
    /// New confidence.
    #[schemars(range(min = 0, max = 1))]
    pub confidence: Option<f64>,
    /// New importance.
    pub importance: Option<Importance>,
    /// New tags, replacing all.
    #[schemars(extend("x-empty" = "kept"))]
    pub tags: Option<Vec<String>>,
    /// Tags to add.
    pub add_tags: Option<Vec<String>>,
    /// Tags to remove.
    pub remove_tags: Option<Vec<String>>,
    /// New expiry; "" removes it.
    #[serde(default)]
    pub expires_at: Patch<Future>,
    /// New date or start; "" removes it.
    #[serde(default)]
    pub valid_from: Patch<Past>,
    /// New end; "" removes it.
    #[serde(default)]
    pub valid_to: Patch<Past>,
    /// New task status.
    #[serde(default)]
    #[schemars(schema_with = "status_schema")]
    pub status: Option<String>,
    /// New due date of a task; "" removes it.
    #[serde(default)]
    pub due: Patch<Future>,
    /// New fields of the type, replacing all; null removes them.
    #[serde(default)]
    #[schemars(schema_with = "object_schema")]
    pub body: Patch<Value>,
    /// New metadata, replacing all; null removes it. A new body keeps it.
    #[serde(default)]
    #[schemars(schema_with = "object_schema")]
    pub metadata: Patch<Value>,
    /// Reason, kept in the history.
    pub reason: Option<String>,
    /// Words it must contain, or its version; else nothing changes. Guards against a wrong id.
    #[serde(default)]
    #[schemars(schema_with = "expect_schema")]
    pub expect: Option<Value>,
    /// See memory_search.
    #[serde(default)]
    pub project: Patch<String>,
    /// See memory_search.
    #[serde(default)]
    pub agent: Patch<String>,
}

impl AddParams {
    /// Counts distances from now by another clock, which is `ahead` of this machine's.
    pub fn by_clock(self, ahead: Millis) -> Self {
        AddParams {
            expires_at: self.expires_at.map(|at| at.by_clock(ahead)),
            valid_from: self.valid_from.map(|at| at.by_clock(ahead)),
            valid_to: self.valid_to.map(|at| at.by_clock(ahead)),
            due: self.due.map(|at| at.by_clock(ahead)),
            ..self
        }
    }
}

impl UpdateParams {
    /// See [`AddParams::by_clock`].
    pub fn by_clock(self, ahead: Millis) -> Self {
        UpdateParams {
            expires_at: self.expires_at.map(|at| at.by_clock(ahead)),
            valid_from: self.valid_from.map(|at| at.by_clock(ahead)),
            valid_to: self.valid_to.map(|at| at.by_clock(ahead)),
            due: self.due.map(|at| at.by_clock(ahead)),
            ..self
        }
    }
}

pub(super) fn object_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "object" })
}

pub(super) fn state_schema(_: &mut SchemaGenerator) -> Schema {
    let names = ["open", "overdue", "superseded", "contradicted", "expiring", "expired", "deleted"];
    json_schema!({ "type": "string", "enum": names })
}

pub(super) fn sort_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "enum": ["created", "updated", "due"] })
}

fn status_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "enum": ["open", "done", "dropped"] })
}

pub(super) fn expect_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "anyOf": [{ "type": "string" }, { "type": "integer" }] })
}

pub(super) fn scale_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "enum": ["theoretical", "pool"] })
}

pub(super) fn detail_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "enum": ["ids", "snippet", "full"] })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{from_value, json};

    #[test]
    fn the_other_names_of_the_specification_are_understood() {
        let add: AddParams = from_value(json!({ "content": "x", "category": "task", "importance": "high" })).unwrap();
        assert_eq!((add.entry_type, add.importance), (Some(Kind::Task), Some(Importance(8))));
        for (name, number) in [("critical", 10), ("medium", 5), ("low", 2)] {
            let add: AddParams = from_value(json!({ "content": "x", "importance": name })).unwrap();
            assert_eq!(add.importance, Some(Importance(number)));
        }
    }

    #[test]
    fn a_timestamp_in_seconds_is_refused_but_an_early_date_is_not() {
        let asked = |at| from_value::<SearchParams>(json!({ "query": "x", "createdAfter": at }));
        assert!(asked(json!(1_738_540_800)).unwrap_err().to_string().contains("1738540800000"));
        assert_eq!(asked(json!(0)).unwrap().created_after.map(Past::at), Some(0));
        assert_eq!(asked(json!("1970-01-02T00:00Z")).unwrap().created_after.map(Past::at), Some(86_400_000));
    }
}
