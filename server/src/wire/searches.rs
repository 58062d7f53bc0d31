//! The result of `memorist searches`.

use memorist_engine::types::{Mode, PastSearch, Reach};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::count;
use super::schema::ModeName;

/// Searches that are kept.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SearchesResult {
    /// Newest first.
    pub results: Vec<SearchEntry>,
    /// There may be more: ask again with this as `before`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<i64>,
}

/// A search.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SearchEntry {
    pub id: i64,
    pub searched_at: i64,
    /// `*` is every one; null: it saw only what is shared.
    pub agent: Option<String>,
    pub project: Option<String>,
    pub tool: String,
    pub query: String,
    #[schemars(with = "ModeName")]
    pub mode: Mode,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filters: Option<Value>,
    pub hits: i64,
    /// The store seemed to have no answer.
    pub no_answer: bool,
    pub best_score: Option<f64>,
    pub best_cosine: Option<f64>,
    pub micros: i64,
}

impl From<PastSearch> for SearchEntry {
    fn from(PastSearch { id, trace }: PastSearch) -> Self {
        SearchEntry {
            id,
            searched_at: trace.at,
            agent: name(&trace.viewer.agent),
            project: name(&trace.viewer.project),
            tool: trace.tool.into_owned(),
            query: trace.query,
            mode: trace.mode,
            filters: trace.filters.and_then(|filters| serde_json::from_str(&filters).ok()),
            hits: count(trace.hits),
            no_answer: trace.no_answer,
            best_score: trace.best_score,
            best_cosine: trace.best_cosine,
            micros: count(trace.micros),
        }
    }
}

fn name(reach: &Reach) -> Option<String> {
    match reach {
        Reach::Every => Some(Reach::EVERY.to_owned()),
        reach => reach.name().map(str::to_owned),
    }
}
