//! Parameters of the tools. The doc comments are the descriptions that a model reads: keep them short, as every session
//! pays for them.

use memorist_engine::types::{Kind, Millis, Mode, Scale, WEAK};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

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
    #[schemars(schema_with = "kind_schema")]
    pub entry_type: Option<Kind>,
    /// Where it came from. Default manual.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// What surrounded it; helps to find it by meaning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// Default 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    pub confidence: Option<f64>,
    /// Default 5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub importance: Option<Importance>,
    /// Labels to filter by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<String>>,
    /// When to stop showing it: ISO 8601, "30d".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Future>,
    /// When it happened or begins: 2026-12-31T09:00, yesterday, 7d (ago).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_from: Option<Past>,
    /// Until when.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_to: Option<Past>,
    /// Of a task: open (default), done or dropped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "status_schema")]
    pub status: Option<String>,
    /// When a task is due: 2026-12-31, tomorrow, 7d (from now). It stays visible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due: Option<Future>,
    /// Ids of memories that this one replaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supersedes: Option<Vec<Int>>,
    /// Ids that it contradicts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contradicts: Option<Vec<Int>>,
    /// Ids that it has to do with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub related: Option<Vec<Int>>,
    /// Project it belongs to; "": global. Default: the server's. Calls by id need the same, or "*".
    #[serde(default, skip_serializing_if = "Patch::is_absent")]
    pub project: Patch<String>,
    /// Agent it belongs to, likewise.
    #[serde(default, skip_serializing_if = "Patch::is_absent")]
    pub agent: Patch<String>,
    /// Fields of the type: of a contact name, email, company, role, type; of a decision, pattern, bugfix title, description, feature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "object_schema")]
    pub body: Option<Value>,
    /// Keys of your own, each with a text, a number, true or false, or a list of them: to filter by with where.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "object_schema")]
    pub metadata: Option<Value>,
    /// Of a turn of a conversation: which. A search judges each turn with those around it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Its number there. Default: after the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<Int>,
}

/// `memory_search`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SearchParams {
    /// What you look for: a question, phrase, name, identifier or error code.
    #[schemars(length(min = 1))]
    pub query: String,
    /// By meaning and words (hybrid, default), meaning (vector) or words (keyword).
    #[serde(default)]
    #[schemars(schema_with = "mode_schema")]
    pub mode: Option<Mode>,
    /// Most results, default 10.
    #[serde(default)]
    #[schemars(range(min = 1, max = 1000))]
    pub limit: Option<Int>,
    /// Only these types.
    #[serde(default)]
    #[schemars(schema_with = "kinds_schema")]
    pub entry_types: Option<Vec<Kind>>,
    /// Least importance.
    #[serde(default)]
    pub min_importance: Option<Importance>,
    /// Least confidence.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1))]
    pub min_confidence: Option<f64>,
    /// With any of these.
    #[serde(default)]
    pub tags: Option<Vec<String>>,
    /// With such metadata: {"year": {"$gte": 2024}, "lang": "de"}. $eq, $ne, $gt, $gte, $lt, $lte, $in, $nin, $exists; $and, $or, $not.
    #[serde(default, rename = "where")]
    pub with_metadata: Option<Where>,
    /// Only from these: files of notes, transcripts of sessions, saved memories.
    #[serde(default)]
    #[schemars(schema_with = "sources_schema")]
    pub sources: Option<Vec<SourceName>>,
    /// See this project and global memories; "": global alone, "*": all. Default: the server's.
    #[serde(default)]
    pub project: Patch<String>,
    /// The same for agents.
    #[serde(default)]
    pub agent: Patch<String>,
    /// Saved since: ISO 8601, "7d", "last week".
    #[serde(default)]
    pub created_after: Option<Past>,
    /// Saved until: before a time, or on a day.
    #[serde(default)]
    pub created_before: Option<PastEnd>,
    /// Saved or changed since.
    #[serde(default)]
    pub updated_after: Option<Past>,
    /// Last changed until.
    #[serde(default)]
    pub updated_before: Option<PastEnd>,
    /// Happens (validFrom to validTo, or due) since.
    #[serde(default)]
    pub happens_after: Option<Future>,
    /// Happens until. A day as both: on it.
    #[serde(default)]
    pub happens_before: Option<FutureEnd>,
    /// Weight of meaning in hybrid mode, default 0.7.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub vector_weight: Option<f64>,
    /// Weight of words, default 0.3.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub keyword_weight: Option<f64>,
    /// Least cosine of what only meaning finds, -1 to 1; 0.3 drops unrelated memories. Mostly left out.
    #[serde(default)]
    #[schemars(range(min = -1, max = 1))]
    pub min_similarity: Option<f64>,
    /// Least relevance, as 0.4; what the words find exactly stays.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1))]
    pub min_relevance: Option<f64>,
    /// Least score, which is relative to the other results; what the words find exactly stays.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1))]
    pub min_score: Option<f64>,
    /// How both sides are scaled: from what there can be (theoretical, default), or from the least candidate (pool).
    #[serde(default)]
    #[schemars(schema_with = "scale_schema")]
    pub scale: Option<Scale>,
    /// Also what is superseded.
    #[serde(default)]
    pub include_superseded: Option<bool>,
    /// Have a second model read the first results, if it is set up: better order, some 50 ms (default: the setting, which is true).
    #[serde(default)]
    pub rerank: Option<bool>,
    /// So many turns before and after each that is of a session.
    #[serde(default)]
    #[schemars(range(min = 0, max = 5))]
    pub neighbours: Option<Int>,
    /// Most tokens of all results together.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub max_tokens: Option<Int>,
    /// nextCursor of the page before; all else unchanged.
    #[serde(default)]
    pub cursor: Option<String>,
    /// Text per result: its beginning at most (ids), up to 700 characters (snippet, default) or all (full).
    #[serde(default)]
    #[schemars(schema_with = "detail_schema")]
    pub detail: Option<Detail>,
    /// Add times and candidate counts.
    #[serde(default)]
    pub explain: Option<bool>,
    /// The last word is also the beginning of one. The explorer alone says so, while somebody types.
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
    /// A text of up to 700 characters whole, of a longer one the passage around the query's words.
    #[default]
    Snippet,
    /// The whole text.
    Full,
}

/// `memory_get`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetParams {
    /// Memory entry ID.
    pub id: Int,
    /// As in memory_search.
    #[serde(default)]
    pub project: Patch<String>,
    /// As in memory_search.
    #[serde(default)]
    pub agent: Patch<String>,
}

/// `memory_delete`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeleteParams {
    /// Memory entry ID.
    pub id: Int,
    /// As in memory_search.
    #[serde(default)]
    pub project: Patch<String>,
    /// As in memory_search.
    #[serde(default)]
    pub agent: Patch<String>,
}

/// The state of the memories in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Only {
    /// Tasks that are neither done nor dropped.
    Open,
    /// Open tasks whose date has passed.
    Overdue,
    /// Replaced by another.
    Superseded,
    /// Contradicted by another.
    Contradicted,
    /// Those that will expire.
    Expiring,
    /// Expired, and not removed yet.
    Expired,
    /// Deleted, and not removed yet.
    Deleted,
}

/// The order of a list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// The last saved first.
    #[default]
    Saved,
    /// The last changed first.
    Updated,
    /// The first due first.
    Due,
}

/// `memory_list`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListParams {
    /// Only these types.
    #[serde(default)]
    #[schemars(schema_with = "kinds_schema")]
    pub entry_types: Option<Vec<Kind>>,
    /// With any of these.
    #[serde(default)]
    pub tags: Option<Vec<String>>,
    /// With such metadata, as in memory_search.
    #[serde(default, rename = "where")]
    pub with_metadata: Option<Where>,
    /// Least importance.
    #[serde(default)]
    pub min_importance: Option<Importance>,
    /// Those that come after this id.
    #[serde(default)]
    pub after: Option<Int>,
    /// Saved since: ISO 8601, "7d", "last week".
    #[serde(default)]
    pub created_after: Option<Past>,
    /// Saved until: before a time, or on a day.
    #[serde(default)]
    pub created_before: Option<PastEnd>,
    /// Saved or changed since.
    #[serde(default)]
    pub updated_after: Option<Past>,
    /// Last changed until.
    #[serde(default)]
    pub updated_before: Option<PastEnd>,
    /// Happens (validFrom to validTo, or due) since.
    #[serde(default)]
    pub happens_after: Option<Future>,
    /// Happens until. A day as both: on it.
    #[serde(default)]
    pub happens_before: Option<FutureEnd>,
    /// Only open or overdue tasks; what is superseded, contradicted, expiring, expired or deleted.
    #[serde(default)]
    #[schemars(schema_with = "only_schema")]
    pub only: Option<Only>,
    /// The last saved first (default), the last updated, or the first due.
    #[serde(default)]
    #[schemars(schema_with = "order_schema")]
    pub order: Option<Order>,
    /// Skip as many.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub offset: Option<Int>,
    /// Most memories, default 50.
    #[serde(default)]
    #[schemars(range(min = 1, max = 1000))]
    pub limit: Option<Int>,
    /// As in memory_search.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub max_tokens: Option<Int>,
    /// Default true.
    #[serde(default)]
    pub newest_first: Option<bool>,
    /// As in memory_search.
    #[serde(default)]
    #[schemars(schema_with = "detail_schema")]
    pub detail: Option<Detail>,
    /// As in memory_search.
    #[serde(default)]
    pub project: Patch<String>,
    /// As in memory_search.
    #[serde(default)]
    pub agent: Patch<String>,
}

/// `memory_stats`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StatsParams {
    /// As in memory_search.
    #[serde(default)]
    pub project: Patch<String>,
    /// As in memory_search.
    #[serde(default)]
    pub agent: Patch<String>,
}

/// `memory_update`. An omitted field stays unchanged.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UpdateParams {
    /// Memory entry ID.
    pub id: Int,
    /// New text.
    #[serde(default)]
    #[schemars(length(min = 1))]
    pub content: Option<String>,
    /// New type.
    #[serde(default, alias = "category")]
    #[schemars(with = "Option<String>")]
    pub entry_type: Option<Kind>,
    /// New source.
    #[serde(default)]
    pub source: Option<String>,
    /// New context; "" removes it.
    #[serde(default)]
    pub context: Patch<String>,
    /// New confidence.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1))]
    pub confidence: Option<f64>,
    /// New importance.
    #[serde(default)]
    pub importance: Option<Importance>,
    /// New tags, replacing all.
    #[serde(default)]
    #[schemars(extend("x-empty" = "kept"))]
    pub tags: Option<Vec<String>>,
    /// Tags to add.
    #[serde(default)]
    pub add_tags: Option<Vec<String>>,
    /// Tags to remove.
    #[serde(default)]
    pub remove_tags: Option<Vec<String>>,
    /// New expiry; "" removes it.
    #[serde(default)]
    pub expires_at: Patch<Future>,
    /// New date or beginning; "" removes it.
    #[serde(default)]
    pub valid_from: Patch<Past>,
    /// New end; "" removes it.
    #[serde(default)]
    pub valid_to: Patch<Past>,
    /// Of a task: open, done or dropped.
    #[serde(default)]
    #[schemars(schema_with = "status_schema")]
    pub status: Option<String>,
    /// Of a task: when it is due; "" removes it.
    #[serde(default)]
    pub due: Patch<Future>,
    /// All fields of its type; null removes them.
    #[serde(default)]
    #[schemars(schema_with = "object_schema")]
    pub body: Patch<Value>,
    /// New metadata, replacing all; null removes it. Another body leaves it.
    #[serde(default)]
    #[schemars(schema_with = "object_schema")]
    pub metadata: Patch<Value>,
    /// Why; kept in the history.
    #[serde(default)]
    pub reason: Option<String>,
    /// Words it must have, or its version; else nothing is changed. Guards against a wrong id.
    #[serde(default)]
    #[schemars(schema_with = "expect_schema")]
    pub expect: Option<Value>,
    /// As in memory_search.
    #[serde(default)]
    pub project: Patch<String>,
    /// As in memory_search.
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

fn kind_schema(_: &mut SchemaGenerator) -> Schema {
    let names: Vec<_> = Kind::ALL.iter().map(|kind| kind.as_str()).collect();
    json_schema!({ "type": "string", "enum": names })
}

fn kinds_schema(generator: &mut SchemaGenerator) -> Schema {
    let kind = kind_schema(generator);
    json_schema!({ "type": "array", "items": kind })
}

pub(super) fn only_schema(_: &mut SchemaGenerator) -> Schema {
    let names = ["open", "overdue", "superseded", "contradicted", "expiring", "expired", "deleted"];
    json_schema!({ "type": "string", "enum": names })
}

pub(super) fn order_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "enum": ["saved", "updated", "due"] })
}

fn status_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "enum": ["open", "done", "dropped"] })
}

pub(super) fn expect_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "anyOf": [{ "type": "string" }, { "type": "integer" }] })
}

pub(super) fn mode_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "enum": ["hybrid", "vector", "keyword"] })
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
