//! Parameters and results of Gimli's memory tools, by its document.

use std::collections::BTreeMap;

use memorist_engine::snippet;
use memorist_engine::types::{Kind, Record};
use memorist_ingest::sync::SourceReport;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::RecallParams;
use super::convert::count;
use super::core::one_line;
use super::values::{Int, Patch};

/// Characters of a snippet.
const SNIPPET_CHARS: usize = 700;

/// `memory_search`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GimliSearchParams {
    /// What to look for.
    pub query: String,
    /// Most results.
    #[schemars(with = "Option<f64>", extend("default" = 6))]
    pub max_results: Option<Int>,
    /// Least score, 0 to 1; what the words find exactly stays.
    #[schemars(extend("default" = 0.35))]
    pub min_score: Option<f64>,
}

/// The result of `memory_search`; or why there is no search.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct GimliSearchResult {
    pub results: Vec<FoundLines>,
    /// Where embeddings are made.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub provider: Option<String>,
    /// The embedding model.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub model: Option<String>,
    /// Warnings.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    #[serde(flatten)]
    #[schemars(with = "OptionalOff")]
    pub off: Option<Off>,
}

/// Why memory cannot be searched or read.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Off {
    pub disabled: bool,
    pub unavailable: bool,
    pub error: String,
    pub warning: &'static str,
    pub action: String,
}

/// Schema of [`Off`]: each field may be missing.
#[derive(Serialize, JsonSchema)]
struct OptionalOff {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "bool")]
    disabled: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "bool")]
    unavailable: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    warning: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    action: Option<String>,
}

impl Off {
    /// Says that memory is off because of `error`; `action` says what to do about it.
    pub fn because(error: impl Into<String>, action: impl Into<String>) -> Self {
        let warning = "memory was not searched: an answer from it would be a guess";
        Off { disabled: true, unavailable: true, error: error.into(), warning, action: action.into() }
    }
}

/// Lines that were found.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct FoundLines {
    pub path: String,
    pub start_line: i64,
    pub end_line: i64,
    /// 0 to 1, relative to the other candidates.
    pub score: f64,
    pub snippet: String,
    #[schemars(with = "String")]
    pub source: GimliSourceName,
}

/// Where a memory comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum GimliSourceName {
    /// Files, and memories that were saved.
    Memory,
    /// Transcripts.
    Sessions,
}

impl From<Kind> for GimliSourceName {
    fn from(kind: Kind) -> Self {
        if kind == Kind::Conversation { GimliSourceName::Sessions } else { GimliSourceName::Memory }
    }
}

/// Prefix of the path of a memory that has no file.
const MEMORY: &str = "memory:";

/// The path of a memory that has no file.
pub fn memory_path(id: impl std::fmt::Display) -> String {
    format!("{MEMORY}{id}")
}

/// The id in such a path.
pub fn memory_id(path: &str) -> Option<i64> {
    path.strip_prefix(MEMORY)?.trim().parse().ok()
}

/// A turn as it is shown, `User: …`; any other memory as it is.
pub fn said(record: &Record) -> String {
    let role = record.place.as_ref().and_then(|place| place.role.as_deref());
    let speaker = match (record.kind, role) {
        (Kind::Conversation, Some("user")) => "User: ",
        (Kind::Conversation, Some("assistant")) => "Assistant: ",
        (Kind::Conversation, Some("summary")) => "Summary: ",
        _ => return record.content.clone(),
    };
    format!("{speaker}{}", one_line(&record.content))
}

/// The passage of a memory around the words of the query.
pub fn passage(record: &Record, query: &str) -> String {
    let text = said(record);
    let Some((speaker, rest)) = text.split_once(": ").filter(|_| text != record.content) else {
        return snippet::cut_to(&text, query, SNIPPET_CHARS).unwrap_or(text);
    };
    let room = SNIPPET_CHARS - speaker.chars().count() - 2;
    snippet::cut_to(rest, query, room).map_or_else(|| text.clone(), |cut| format!("{speaker}: {cut}"))
}

/// `memory_get`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct GimliGetParams {
    /// A path of memory_search, or the end of one.
    pub path: String,
    /// First line, from 1.
    #[schemars(with = "Option<f64>")]
    pub from: Option<Int>,
    /// How many lines.
    #[schemars(with = "Option<f64>")]
    pub lines: Option<Int>,
}

/// The result of `memory_get`; or why nothing is read.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GimliGetResult {
    pub path: String,
    pub text: String,
    /// The first line.
    pub from: i64,
    /// How many lines.
    pub lines: i64,
    /// There is more from here.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64")]
    pub next_from: Option<i64>,
    /// Why the text is not that of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub warning: Option<&'static str>,
    #[serde(flatten)]
    #[schemars(with = "OptionalOff")]
    pub off: Option<Off>,
}

/// `memory_recall`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProactiveParams {
    /// Message of the user.
    pub user_message: String,
    /// Agent whose memories are seen. Default: the server's.
    #[serde(default)]
    pub agent_id: Patch<String>,
    /// Number of memories, at most.
    #[schemars(with = "Option<f64>", extend("default" = 5))]
    pub max_results: Option<Int>,
    /// Tokens of the text, at most.
    #[schemars(with = "Option<f64>", extend("default" = 500))]
    pub max_tokens: Option<Int>,
    /// Least relevance, 0 to 1.
    #[schemars(extend("default" = 0.3))]
    pub min_score: Option<f64>,
}

impl From<ProactiveParams> for RecallParams {
    fn from(params: ProactiveParams) -> Self {
        let ProactiveParams { user_message, agent_id, max_results, max_tokens, min_score } = params;
        RecallParams { user_message, agent_id, max_results, max_tokens, min_score, ..RecallParams::default() }
    }
}

/// `apply_recency_buffer`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct RecencyParams {
    /// The conversation, oldest message first.
    #[schemars(schema_with = "super::results::objects_schema")]
    pub messages: Vec<Value>,
    /// How many of the newest messages are preserved whole.
    #[schemars(with = "Option<f64>", extend("default" = 10))]
    pub size: Option<Int>,
    /// Save what was said in the others, a memory a message, so that it can be found later.
    #[serde(default)]
    pub save: bool,
    /// The session that these are saved with.
    pub session: Option<String>,
}

/// The result of `apply_recency_buffer`: one after the other, both are the conversation.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Buffered {
    #[schemars(schema_with = "super::results::objects_schema")]
    pub to_summarize: Vec<Value>,
    #[schemars(schema_with = "super::results::objects_schema")]
    pub preserved: Vec<Value>,
    /// How many memories are saved now.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64")]
    pub saved: Option<i64>,
}

/// `memory_sync`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct SyncParams {
    /// Read all files again, not only those that changed.
    #[serde(default)]
    pub force: bool,
}

/// The result of `memory_sync`.
#[derive(Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Synced {
    pub sources: Vec<GimliSyncedSource>,
    /// Memories that were added, changed and removed.
    pub added: i64,
    pub changed: i64,
    pub removed: i64,
}

/// Counts of a synced source.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct GimliSyncedSource {
    pub path: String,
    #[schemars(with = "String")]
    pub source: &'static str,
    pub files: i64,
    /// Files that were read.
    pub read: i64,
    /// Files that are gone.
    pub gone: i64,
    pub failed: i64,
    /// Skipped files, by reason.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(schema_with = "super::results::object_schema")]
    pub skipped: BTreeMap<String, u64>,
    /// The first problems.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
}

impl Synced {
    /// Adds what was read of a source.
    pub fn add(&mut self, report: SourceReport) {
        self.added += count(report.changes.added);
        self.changed += count(report.changes.changed);
        self.removed += count(report.changes.removed);
        self.sources.push(GimliSyncedSource {
            path: report.source.source.path,
            source: report.source.source.kind.as_str(),
            files: count(report.files),
            read: count(report.read),
            gone: count(report.gone),
            failed: count(report.failed),
            skipped: report.skipped,
            problems: report.problems.into_iter().map(|(path, why)| format!("{path}: {why}")).collect(),
        });
    }
}
