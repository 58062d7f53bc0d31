//! Parameters and results of Krolik's memory tools, by its document. As there, unknown parameters are ignored.

use std::collections::BTreeMap;

use memorist_engine::types::{
    Digest, Direction, Filter, Kind, LinkKind, Mark, Mode, NewRecord, Query, Reach, Record, RecordId, Scale, Scope,
    SearchReply, Tier, Viewer, Weights,
};
use memorist_engine::{Error, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::place::PlaceInfo;
use super::types::by_type;
use super::values::{Importance, Int, Iso, Patch};
use super::{Caller, Defaults, Suggestion, Summary, count, relevance, search_limit, summary, titled};
use crate::wording;

/// Project. Default: the server's.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct Project(Option<String>);

impl Project {
    /// The caller: this project, and global memories.
    pub fn caller(&self, defaults: &Defaults) -> Result<Caller> {
        defaults.caller(&self.0.clone().map_or(Patch::Absent, Patch::Value), &Patch::Absent)
    }

    /// The viewer of the caller.
    pub fn viewer(&self, defaults: &Defaults) -> Result<Viewer> {
        Ok(self.caller(defaults)?.viewer)
    }

    /// The project whose own memories are meant; `None` if the server has no project.
    pub fn strict(viewer: &Viewer) -> Option<String> {
        viewer.project.name().map(str::to_owned)
    }
}

/// A memory.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct KrolikMemory {
    pub id: i64,
    #[serde(rename = "type")]
    #[schemars(with = "String")]
    pub kind: MemoryType,
    pub title: String,
    pub description: String,
    #[schemars(with = "String")]
    pub importance: &'static str,
    pub project: Option<String>,
    pub feature: Option<String>,
    pub tags: Vec<String>,
    pub source: String,
    pub usage_count: i64,
    pub created_at: Iso,
    pub created_at_epoch: i64,
    /// The lines of a file that it is from.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "super::results::object_schema")]
    pub place: Option<PlaceInfo>,
}

impl From<Record> for KrolikMemory {
    fn from(record: Record) -> Self {
        let (title, description) = titled(&record);
        let feature = record.body.as_ref().and_then(|body| body.get("feature")).and_then(serde_json::Value::as_str);
        KrolikMemory {
            id: record.id.get(),
            kind: record.kind.into(),
            title,
            description,
            importance: Importance(record.importance).name(),
            feature: feature.map(str::to_owned),
            project: record.scope.project,
            tags: record.tags,
            source: record.source,
            usage_count: record.access_count,
            created_at: Iso(record.created_at),
            created_at_epoch: record.created_at,
            place: record.place.map(Into::into),
        }
    }
}

/// The types of a new memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum MemoryType {
    Decision,
    Pattern,
    Bugfix,
    Fact,
    Preference,
    Event,
    Insight,
    Task,
    Relationship,
    Background,
}

#[cfg(test)]
impl MemoryType {
    pub const ALL: [Self; 10] = [
        Self::Decision,
        Self::Pattern,
        Self::Bugfix,
        Self::Fact,
        Self::Preference,
        Self::Event,
        Self::Insight,
        Self::Task,
        Self::Relationship,
        Self::Background,
    ];
}

/// The kind of a new memory of this type.
impl From<MemoryType> for Kind {
    fn from(memory_type: MemoryType) -> Self {
        match memory_type {
            MemoryType::Decision => Kind::Decision,
            MemoryType::Pattern => Kind::Pattern,
            MemoryType::Bugfix => Kind::Bugfix,
            MemoryType::Fact => Kind::Fact,
            MemoryType::Preference => Kind::Preference,
            MemoryType::Event => Kind::Event,
            MemoryType::Insight => Kind::Insight,
            MemoryType::Task => Kind::Task,
            MemoryType::Relationship => Kind::Relationship,
            MemoryType::Background => Kind::Background,
        }
    }
}

/// The type that a memory of this kind is shown as: people are relationships, a turn of a conversation is an event, a
/// piece of a file is a fact, and a description of somebody or something as a whole is background. No other kind
/// becomes a decision, pattern or bug fix, so that a digest counts what it lists.
impl From<Kind> for MemoryType {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Decision => MemoryType::Decision,
            Kind::Pattern => MemoryType::Pattern,
            Kind::Bugfix => MemoryType::Bugfix,
            Kind::Fact | Kind::Chunk => MemoryType::Fact,
            Kind::Preference => MemoryType::Preference,
            Kind::Event | Kind::Conversation => MemoryType::Event,
            Kind::Insight => MemoryType::Insight,
            Kind::Task => MemoryType::Task,
            Kind::Relationship | Kind::Contact => MemoryType::Relationship,
            Kind::Background | Kind::Project | Kind::Skill | Kind::Profile => MemoryType::Background,
        }
    }
}

/// The importance of a memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum Degree {
    Critical = 10,
    High = 8,
    #[default]
    Medium = 5,
    Low = 2,
}

/// `krolik_mem_save`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Save {
    /// What it is about.
    #[serde(rename = "type")]
    pub kind: MemoryType,
    /// Short title.
    #[schemars(length(min = 1))]
    pub title: String,
    /// What there is to know, with its reasons.
    #[schemars(length(min = 1))]
    pub description: String,
    /// How much it matters.
    #[serde(default)]
    pub importance: Degree,
    /// Project that it belongs to.
    #[serde(default)]
    pub project: Project,
    /// Feature that it belongs to.
    pub feature: Option<String>,
    /// Labels.
    pub tags: Option<Vec<String>>,
}

impl Save {
    /// The record to save: its text is title and description.
    pub fn into_record(self, scope: Scope) -> Result<NewRecord> {
        let mut body = json!({ "title": self.title, "description": self.description });
        if let Some(feature) = self.feature {
            body["feature"] = feature.into();
        }
        let mut record = NewRecord::of_body(self.kind.into(), body)?;
        record.importance = self.importance as i64;
        record.tags = self.tags.unwrap_or_default();
        record.scope = scope;
        Ok(record)
    }
}

/// The result of `krolik_mem_save`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct KrolikSaveResult {
    pub memory: KrolikMemory,
    /// False: a memory with this title and description existed already, and is unchanged.
    pub created: bool,
    /// Memories that are nearly the same.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Suggested links: id, linkType, similarity, content.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "super::results::objects_schema")]
    pub suggestions: Vec<Suggestion>,
}

/// `krolik_mem_semantic_search`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KrolikSearchParams {
    /// Natural language query (e.g., "how do we handle user sessions")
    pub query: String,
    #[serde(default)]
    pub project: Project,
    #[serde(default = "ten")]
    #[schemars(with = "f64")]
    pub limit: Int,
    /// Minimum cosine similarity (0-1)
    #[serde(default = "half")]
    pub min_similarity: f64,
    /// Combine with BM25 keyword search
    #[serde(default = "yes")]
    pub hybrid: bool,
}

fn ten() -> Int {
    Int(10)
}

fn half() -> f64 {
    0.5
}

fn yes() -> bool {
    true
}

impl KrolikSearchParams {
    /// The query.
    pub fn query(&self, defaults: &Defaults) -> Result<Query> {
        Ok(Query {
            mode: if self.hybrid { Mode::Hybrid } else { Mode::Vector },
            limit: search_limit(self.limit)?,
            weights: Some(Weights { vector: 0.5, keyword: 0.5 }),
            scale: Some(Scale::Pool),
            min_similarity: Some(self.min_similarity),
            // Its document leaves none out.
            include_superseded: true,
            filter: Filter::of(self.project.viewer(defaults)?),
            ..Query::new(self.query.clone())
        })
    }
}

/// The result of `krolik_mem_semantic_search`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct KrolikSearchResult {
    pub results: Vec<Match>,
    pub count: i64,
    /// Warnings.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// A memory that was found.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct Match {
    pub memory: KrolikMemory,
    /// 0 to 100.
    pub relevance: f64,
    /// Cosine similarity.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f64")]
    pub vector_score: Option<f64>,
    /// BM25.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f64")]
    pub keyword_score: Option<f64>,
    /// The memories that replaced it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub superseded_by: Vec<i64>,
}

impl KrolikSearchResult {
    /// The results of a search, and what is said of them. Without keywords, relevance is the similarity itself.
    pub fn of(reply: SearchReply, marks: &BTreeMap<RecordId, Vec<Mark>>, hybrid: bool) -> Self {
        let by_similarity = !hybrid && reply.tier == Tier::Full;
        let warnings = wording::warnings(&reply);
        let results: Vec<Match> = reply
            .hits
            .into_iter()
            .map(|hit| Match {
                relevance: relevance(hit.vector_score.filter(|_| by_similarity).unwrap_or(hit.score)),
                vector_score: hit.vector_score,
                keyword_score: hit.keyword_score,
                superseded_by: marks
                    .get(&hit.record.id)
                    .into_iter()
                    .flatten()
                    .filter(|mark| mark.is_of_successor())
                    .map(|mark| mark.other.get())
                    .collect(),
                memory: hit.record.into(),
            })
            .collect();
        KrolikSearchResult { count: count(results.len() as u64), results, warnings }
    }
}

/// `krolik_mem_link`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KrolikLinkParams {
    /// Source memory ID
    #[schemars(with = "f64")]
    pub from_id: Int,
    /// Target memory ID
    #[schemars(with = "f64")]
    pub to_id: Int,
    /// Type of relationship
    #[schemars(with = "super::schema::LinkKindName")]
    pub link_type: LinkKind,
    /// Not of the document: for memories of another project than the server's.
    #[serde(default)]
    #[schemars(skip)]
    pub project: Project,
}

/// The result of `krolik_mem_link`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Linked {
    pub from_id: i64,
    pub to_id: i64,
    #[schemars(with = "String")]
    pub link_type: LinkKind,
    /// False: it was there already.
    pub created: bool,
}

/// `krolik_mem_chain`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KrolikChainParams {
    /// Starting memory ID
    #[schemars(with = "f64")]
    pub memory_id: Int,
    /// Traversal direction
    #[serde(default)]
    #[schemars(schema_with = "super::graph::direction_schema")]
    pub direction: Direction,
    #[serde(default = "three")]
    #[schemars(with = "f64")]
    pub max_depth: Int,
    /// Not of the document: for memories of another project than the server's.
    #[serde(default)]
    #[schemars(skip)]
    pub project: Project,
}

fn three() -> Int {
    Int(3)
}

/// The result of `krolik_mem_chain`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct KrolikChainResult {
    /// Each before those that it leads to, the start first.
    pub memories: Vec<Linkage>,
    pub count: i64,
    /// Why there is none, or not all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// The error for an unknown id. The calls of the document that take an id name no project.
pub fn not_found(id: RecordId, viewer: &Viewer) -> String {
    let why = Error::NotFound(id);
    match viewer.project {
        Reach::Every | Reach::Only(_) => why.to_string(),
        Reach::Own(_) | Reach::Shared | Reach::WithMain(_) => {
            format!("{why}; if it is of another project, give that as project, or \"*\" for any")
        }
    }
}

/// A memory of a chain.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Linkage {
    #[serde(flatten)]
    pub memory: KrolikMemory,
    /// Distance from the start in links.
    pub depth: i64,
}

/// `krolik_mem_outdated`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct KrolikOutdatedParams {
    #[serde(default)]
    pub project: Project,
}

/// The result of `krolik_mem_outdated`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct KrolikOutdatedResult {
    /// Newest first.
    pub memories: Vec<KrolikMemory>,
    pub count: i64,
}

/// `krolik_mem_digest`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct KrolikDigestParams {
    #[serde(default)]
    pub project: Project,
    /// Filter by feature
    pub feature: Option<String>,
}

/// `krolik_context`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ContextParams {
    #[serde(default)]
    pub project: Project,
    /// Filter by feature
    pub feature: Option<String>,
    /// What the user said: what is known that it needs comes along
    pub message: Option<String>,
}

/// The result of `krolik_context`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ContextResult {
    pub digest: KrolikDigestResult,
    /// A block for the context of the turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recalled: Option<String>,
}

/// The result of `krolik_mem_digest`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KrolikDigestResult {
    pub project: Option<String>,
    pub generated_at: Iso,
    pub summary: Summary,
    pub key_decisions: Vec<KrolikMemory>,
    pub active_patterns: Vec<KrolikMemory>,
    pub recent_bugfixes: Vec<KrolikMemory>,
    pub outdated_count: i64,
}

impl From<Digest> for KrolikDigestResult {
    fn from(digest: Digest) -> Self {
        let memories = |records: Vec<Record>| records.into_iter().map(KrolikMemory::from).collect();
        let summary = summary(&digest);
        KrolikDigestResult {
            summary: Summary { by_type: by_type::<MemoryType>(summary.by_type), ..summary },
            project: digest.project,
            generated_at: Iso(digest.generated_at),
            key_decisions: memories(digest.key_decisions),
            active_patterns: memories(digest.active_patterns),
            recent_bugfixes: memories(digest.recent_bugfixes),
            outdated_count: count(digest.outdated),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_degrees_are_those_of_the_same_name() {
        for name in ["critical", "high", "medium", "low"] {
            let degree: Degree = serde_json::from_value(name.into()).unwrap();
            assert_eq!(name.parse(), Ok(Importance(degree as i64)));
            assert_eq!(Importance(degree as i64).name(), name);
        }
    }

    #[test]
    fn both_sides_of_a_search_weigh_the_same() {
        let asked: KrolikSearchParams = serde_json::from_value(json!({ "query": "x" })).unwrap();
        let query = asked.query(&Defaults::default()).unwrap();
        assert_eq!(query.weights, Some(Weights { vector: 0.5, keyword: 0.5 }));
        assert_eq!((query.mode, query.limit, query.min_similarity), (Mode::Hybrid, 10, Some(0.5)));
    }
}
