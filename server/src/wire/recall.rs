//! Automatic recall: parameters and result of `memory_recall`.

use memorist_engine::Result;
use memorist_engine::types::{Filter, Kind, Millis, Recall, RecallRequest};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::convert::{BYTES_PER_TOKEN, count, size};
use super::fence::recall_block;
use super::{Defaults, Int, Patch};

/// `memory_recall`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RecallParams {
    /// The user's message.
    pub user_message: String,
    /// Previous messages, newest last; context for a short message.
    pub recent_messages: Option<Vec<String>>,
    /// Maximum memories, default 5.
    #[schemars(range(min = 1, max = 50))]
    pub max_results: Option<Int>,
    /// Token budget, default 500.
    #[schemars(range(min = 1))]
    pub max_tokens: Option<Int>,
    /// Minimum relevance, default 0.3.
    #[schemars(range(min = 0, max = 1))]
    pub min_score: Option<f64>,
    /// Session id; memories it already received are skipped.
    pub session: Option<String>,
    /// See memory_search.
    #[serde(default)]
    pub project: Patch<String>,
    /// See memory_search.
    #[serde(default, alias = "agent")]
    pub agent_id: Patch<String>,
}

impl RecallParams {
    /// The request of these parameters.
    ///
    /// # Errors
    /// [`Error::Invalid`](memorist_engine::Error::Invalid) names the parameter that is out of bounds.
    pub fn request(self, defaults: &Defaults) -> Result<RecallRequest> {
        let default = RecallRequest::new(self.user_message);
        Ok(RecallRequest {
            before: self.recent_messages.unwrap_or_default(),
            filter: Filter::of(defaults.viewer(&self.project, &self.agent_id)?),
            session: self.session,
            max_results: size("maxResults", self.max_results, default.max_results)?,
            max_tokens: size("maxTokens", self.max_tokens, default.max_tokens)?,
            min_score: self.min_score.unwrap_or(default.min_score),
            ..default
        })
    }
}

/// The result of `memory_recall`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecallResult {
    /// A text for the context of the model, marked as data; null if no memory is relevant to the message.
    pub context: Option<String>,
    /// The memories in it, the most relevant first.
    pub memories: Vec<RecalledMemory>,
    /// About how many tokens `context` has.
    pub tokens: i64,
    /// Reasons why memories may be missing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// A memory of a recall.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecalledMemory {
    pub id: i64,
    #[schemars(schema_with = "super::results::kind_schema")]
    pub entry_type: Kind,
    /// The part of it that is shown.
    pub content: String,
    /// 0 to 1.
    pub relevance: f64,
    pub created_at: Millis,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub contradicted_by: Vec<i64>,
}

/// A recall within a number of tokens.
pub fn recall_result(recall: &Recall, max_tokens: usize) -> RecallResult {
    let context = recall_block(recall, max_tokens.saturating_mul(BYTES_PER_TOKEN));
    let (context, shown) = context.map_or((None, 0), |(text, shown)| (Some(text), shown));
    let tokens = context.as_ref().map_or(0, |text| text.len().div_ceil(BYTES_PER_TOKEN));
    let memories = recall.memories.iter().take(shown).map(|memory| RecalledMemory {
        id: memory.record.id.get(),
        entry_type: memory.record.kind,
        content: memory.text.clone(),
        relevance: memory.relevance,
        created_at: memory.record.created_at,
        contradicted_by: memory.contradicted_by.iter().map(|id| id.get()).collect(),
    });
    let warnings = recall.warnings.clone();
    RecallResult { memories: memories.collect(), tokens: count(tokens as u64), context, warnings }
}
