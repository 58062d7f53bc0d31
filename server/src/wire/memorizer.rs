//! Parameters and results of Memorizer's tools, by its document: facts and conversations of one agent. If the document
//! only names a tool, the field names are those of that system. As there, unknown parameters are ignored.

use std::fmt;
use std::str::FromStr;

use memorist_engine::body::Body;
use memorist_engine::types::{
    Filter, Hit, Kind, Millis, NewRecord, Query, Reach, Record, RecordId, RecordUpdate, Scale, Scope, Viewer,
};
use memorist_engine::{Error, Result};
use memorist_secrets::scan;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::json;

use super::place::PlaceInfo;
use super::types::kinds_shown_as;
use super::values::{Int, Iso};
use super::{Caller, Defaults, Patch, relevance, search_limit};

const DAY_MILLIS: Millis = 86_400_000;

/// Category of a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum Category {
    Preference,
    Background,
    Pattern,
    Project,
    Contact,
    Decision,
}

#[cfg(test)]
impl Category {
    pub const ALL: [Self; 6] =
        [Self::Preference, Self::Background, Self::Pattern, Self::Project, Self::Contact, Self::Decision];
}

/// The kind of a new fact of this category.
impl From<Category> for Kind {
    fn from(category: Category) -> Self {
        match category {
            Category::Preference => Kind::Preference,
            Category::Background => Kind::Background,
            Category::Pattern => Kind::Pattern,
            Category::Project => Kind::Project,
            Category::Contact => Kind::Contact,
            Category::Decision => Kind::Decision,
        }
    }
}

/// The category that a memory of this kind is shown in: how things are done or fixed is a pattern, tasks belong to a
/// project, people are contacts, and the rest is background.
impl From<Kind> for Category {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Preference => Category::Preference,
            Kind::Fact | Kind::Event | Kind::Background | Kind::Profile | Kind::Conversation | Kind::Chunk => {
                Category::Background
            }
            Kind::Insight | Kind::Pattern | Kind::Bugfix | Kind::Skill => Category::Pattern,
            Kind::Project | Kind::Task => Category::Project,
            Kind::Contact | Kind::Relationship => Category::Contact,
            Kind::Decision => Category::Decision,
        }
    }
}

/// Kinds that are rows of a separate table if they have a body, and facts if they are a text.
pub const ROWS: [Kind; 4] = [Kind::Contact, Kind::Project, Kind::Skill, Kind::Profile];

/// The kinds of the facts of a category, or of all facts. Conversations have separate tools.
pub fn kinds(category: Option<Category>) -> Vec<Kind> {
    let kinds = category.map_or(Kind::ALL.to_vec(), |category| kinds_shown_as(&[category]));
    kinds.into_iter().filter(|kind| *kind != Kind::Conversation).collect()
}

/// Whether these tools show a memory as a fact.
pub fn is_fact(record: &Record) -> bool {
    record.kind != Kind::Conversation && (is_plain(record) || !ROWS.contains(&record.kind))
}

/// Whether it has no other fields than its text. These tools do not know metadata.
fn is_plain(record: &Record) -> bool {
    record.body.as_ref().is_none_or(Body::is_metadata_alone)
}

/// The agent of a call: the one that it names, or the server's.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct AgentId(#[schemars(with = "String")] Option<String>);

impl Serialize for AgentId {
    /// As the published default.
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        self.0.as_deref().unwrap_or(Reach::MAIN).serialize(serializer)
    }
}

impl AgentId {
    /// The caller: this agent, in the server's project.
    ///
    /// # Errors
    /// For an invalid name, `*` too, and for one that `defaults` do not allow.
    pub fn caller(&self, defaults: &Defaults) -> Result<Caller> {
        Scope { agent: self.0.clone(), project: None }.validate()?;
        defaults.caller(&Patch::Absent, &self.0.clone().map_or(Patch::Absent, Patch::Value))
    }

    /// The viewer of the caller.
    ///
    /// # Errors
    /// See [`caller`](AgentId::caller).
    pub fn viewer(&self, defaults: &Defaults) -> Result<Viewer> {
        Ok(self.caller(defaults)?.viewer)
    }
}

/// `export_memory`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ExportMemory {
    /// Whose memory to export.
    #[serde(default)]
    pub agent_id: AgentId,
    /// Plain name of the file; one of that name is replaced. Default memories.jsonl.
    pub file: Option<String>,
}

/// `import_memory`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ImportMemory {
    /// Whose memory to add to.
    #[serde(default)]
    pub agent_id: AgentId,
    /// Plain name of a file in the export folder.
    pub file: String,
}

/// `store_fact`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct StoreFact {
    /// Which agent is storing this fact.
    #[serde(default)]
    pub agent_id: AgentId,
    /// A concise, self-contained statement.
    #[schemars(length(min = 1))]
    pub fact: String,
    /// What the fact is about.
    pub category: Category,
    /// Where the fact came from.
    pub source: Option<String>,
    /// How sure it is.
    #[serde(default = "certain")]
    #[schemars(range(min = 0, max = 1))]
    pub confidence: f64,
}

fn certain() -> f64 {
    1.0
}

impl StoreFact {
    /// The record to save.
    pub fn into_record(self, scope: Scope) -> NewRecord {
        let mut record = NewRecord::new(self.fact);
        record.kind = self.category.into();
        record.confidence = self.confidence;
        record.source = self.source.unwrap_or(record.source);
        record.scope = scope;
        record
    }
}

/// The result of `store_fact`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct StoredFact {
    pub fact_id: i64,
    pub stored_at: Iso,
    /// Similar facts of the category.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub similar_existing: Vec<SimilarFact>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub message: Option<String>,
}

/// A fact that is similar to another.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct SimilarFact {
    pub id: i64,
    pub fact: String,
}

impl From<Record> for SimilarFact {
    fn from(record: Record) -> Self {
        SimilarFact { id: record.id.get(), fact: record.content }
    }
}

/// `list_facts`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ListFacts {
    /// Agent ID to filter by.
    #[serde(default)]
    pub agent_id: AgentId,
    /// Category to filter by.
    pub category: Option<Category>,
    /// Maximum number of facts to return.
    #[serde(default = "fifty")]
    #[schemars(with = "f64")]
    pub limit: Int,
}

fn fifty() -> Int {
    Int(50)
}

/// `backfill_embeddings`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct BackfillEmbeddings {
    /// How many to embed in this call.
    #[serde(default = "fifty")]
    #[schemars(with = "f64", range(min = 1, max = 200))]
    pub batch_size: Int,
}

/// The most texts of one call of `backfill_embeddings`.
const MOST_BACKFILLED: u64 = 200;

impl BackfillEmbeddings {
    /// Texts to embed: at least one, at most 200.
    pub fn texts(&self) -> u64 {
        u64::try_from(self.batch_size.0).unwrap_or(0).clamp(1, MOST_BACKFILLED)
    }
}

/// The result of `backfill_embeddings`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BackfilledEmbeddings {
    /// How many were embedded.
    pub processed: i64,
    /// How many still have no embedding. Call again until there are none.
    pub remaining: i64,
}

/// The result of `list_facts`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Facts {
    pub facts: Vec<Fact>,
    pub total_count: i64,
}

/// A fact.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Fact {
    pub id: i64,
    pub agent_id: Option<String>,
    pub fact: String,
    #[schemars(with = "String")]
    pub category: Category,
    pub source: String,
    pub confidence: f64,
    pub created_at: Iso,
    pub updated_at: Iso,
    pub last_accessed_at: Option<Iso>,
}

impl From<Record> for Fact {
    fn from(record: Record) -> Self {
        Fact {
            id: record.id.get(),
            agent_id: record.scope.agent,
            fact: record.content,
            category: record.kind.into(),
            source: record.source,
            confidence: record.confidence,
            created_at: Iso(record.created_at),
            updated_at: Iso(record.updated_at),
            last_accessed_at: record.last_accessed_at.map(Iso),
        }
    }
}

/// `update_fact`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct UpdateFact {
    /// The agent whose fact it is.
    #[serde(default)]
    pub agent_id: AgentId,
    /// The ID of the fact to update (use list_facts to find it).
    #[serde(alias = "id")]
    #[schemars(with = "f64")]
    pub fact_id: Int,
    /// The new fact text to replace the old one.
    #[schemars(length(min = 1))]
    pub fact: String,
    /// Optionally change the category.
    pub category: Option<Category>,
}

impl UpdateFact {
    /// The update.
    pub fn change(&self) -> RecordUpdate {
        RecordUpdate {
            content: Some(self.fact.clone()),
            kind: self.category.map(Kind::from),
            reason: Some("update_fact".into()),
            ..RecordUpdate::default()
        }
    }
}

/// The result of `update_fact`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct UpdatedFact {
    pub fact_id: i64,
    pub old_fact: String,
    pub new_fact: String,
    #[schemars(with = "String")]
    pub category: Category,
}

/// `delete_fact`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct DeleteFact {
    /// The agent whose fact it is.
    #[serde(default)]
    pub agent_id: AgentId,
    /// The ID of the fact to delete.
    #[serde(alias = "id")]
    #[schemars(with = "f64")]
    pub fact_id: Int,
}

/// The result of `delete_fact`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DeletedFact {
    pub deleted_fact: String,
}

/// `retrieve_memories`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct RetrieveMemories {
    /// Agent ID to filter by.
    #[serde(default)]
    pub agent_id: AgentId,
    /// What to look for.
    pub query: String,
    /// Maximum number of results of each sort.
    #[serde(default = "five")]
    #[schemars(with = "f64")]
    pub limit: Int,
    /// Whether to search conversations too.
    #[serde(default = "yes")]
    pub include_conversations: bool,
}

fn five() -> Int {
    Int(5)
}

fn yes() -> bool {
    true
}

/// The result of `retrieve_memories`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Memories {
    pub facts: Vec<FoundFact>,
    pub conversations: Vec<FoundConversation>,
    /// Warnings.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// The scores of a result.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Fit {
    /// 0 to 100, relative to the other candidates.
    pub relevance: f64,
    /// Cosine similarity.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f64")]
    pub vector_score: Option<f64>,
    /// BM25.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f64")]
    pub keyword_score: Option<f64>,
}

impl From<&Hit> for Fit {
    fn from(hit: &Hit) -> Self {
        Fit { relevance: relevance(hit.score), vector_score: hit.vector_score, keyword_score: hit.keyword_score }
    }
}

/// A fact that was found.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FoundFact {
    pub id: i64,
    pub fact: String,
    #[schemars(with = "String")]
    pub category: Category,
    pub confidence: f64,
    pub source: String,
    pub created_at: Iso,
    /// Before this search.
    pub last_accessed_at: Option<Iso>,
    #[serde(flatten)]
    pub fit: Fit,
}

impl From<Hit> for FoundFact {
    fn from(hit: Hit) -> Self {
        let fit = Fit::from(&hit);
        let record = hit.record;
        FoundFact {
            fit,
            last_accessed_at: record.last_accessed_at.map(Iso),
            id: record.id.get(),
            fact: record.content,
            category: record.kind.into(),
            confidence: record.confidence,
            source: record.source,
            created_at: Iso(record.created_at),
        }
    }
}

/// A conversation that was found.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FoundConversation {
    pub id: i64,
    pub user_message: String,
    pub agent_response: String,
    pub created_at: Iso,
    #[serde(flatten)]
    pub fit: Fit,
}

impl From<Hit> for FoundConversation {
    fn from(hit: Hit) -> Self {
        let fit = Fit::from(&hit);
        let record = hit.record;
        FoundConversation {
            fit,
            id: record.id.get(),
            user_message: said(&record, "user_message"),
            agent_response: said(&record, "agent_response"),
            created_at: Iso(record.created_at),
        }
    }
}

/// `store_conversation`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct StoreConversation {
    /// Which agent had this conversation.
    #[serde(default)]
    pub agent_id: AgentId,
    /// The session that it belongs to.
    pub session_id: Option<String>,
    /// What the user said.
    #[schemars(length(min = 1))]
    pub user_message: String,
    /// What the agent answered.
    #[schemars(length(min = 1))]
    pub agent_response: String,
    /// Tags for categorization.
    pub tags: Option<Vec<String>>,
}

impl StoreConversation {
    /// Maps an error of its record to the parameters of the call. The text of the record consists of both messages.
    pub fn reword(&self, error: Error) -> Error {
        let Error::Invalid { field, why } = error else { return error };
        let field = match field {
            "content" | "body" if scan(&self.user_message).is_empty() => "agent_response",
            "content" | "body" => "user_message",
            field => field.strip_prefix("body.").unwrap_or(field),
        };
        Error::Invalid { field, why }
    }

    /// The record to save.
    pub fn to_record(&self, defaults: &Defaults) -> Result<NewRecord> {
        let mut body = json!({ "user_message": self.user_message, "agent_response": self.agent_response });
        if let Some(session) = &self.session_id {
            body["session_id"] = session.as_str().into();
        }
        let mut record = NewRecord::of_body(Kind::Conversation, body)?;
        record.tags = self.tags.clone().unwrap_or_default();
        record.scope = self.agent_id.caller(defaults)?.scope;
        Ok(record)
    }
}

/// The result of `store_conversation`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct StoredConversation {
    pub conversation_id: i64,
    pub stored_at: Iso,
}

/// `search_conversations`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct SearchConversations {
    /// Agent ID to filter by.
    #[serde(default)]
    pub agent_id: AgentId,
    /// What to look for.
    pub query: String,
    /// Maximum number of conversations to return.
    #[serde(default = "ten")]
    #[schemars(with = "f64")]
    pub limit: Int,
    /// First day, as YYYY-MM-DD.
    #[schemars(with = "Option<String>")]
    pub date_from: Option<Day>,
    /// Last day, as YYYY-MM-DD.
    #[schemars(with = "Option<String>")]
    pub date_to: Option<Day>,
}

fn ten() -> Int {
    Int(10)
}

impl SearchConversations {
    /// The query.
    pub fn query(&self, defaults: &Defaults) -> Result<Query> {
        let mut query = search(&self.query, self.limit, vec![Kind::Conversation], self.agent_id.viewer(defaults)?)?;
        query.filter.created_after = self.date_from.map(|Day(start)| start);
        query.filter.created_before = self.date_to.map(|Day(start)| start + DAY_MILLIS);
        Ok(query)
    }
}

/// A search for memories of these kinds.
pub fn search(text: &str, limit: Int, kinds: Vec<Kind>, viewer: Viewer) -> Result<Query> {
    let limit = search_limit(limit)?;
    let filter = Filter { kinds, ..Filter::of(viewer) };
    Ok(Query { limit, scale: Some(Scale::Pool), filter, ..Query::new(text) })
}

/// A day, in UTC: its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Day(Millis);

impl TryFrom<String> for Day {
    type Error = String;

    fn try_from(text: String) -> std::result::Result<Self, String> {
        text.parse()
    }
}

impl FromStr for Day {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        text.parse::<jiff::civil::Date>()
            .and_then(|day| day.to_zoned(jiff::tz::TimeZone::UTC))
            .map(|start| Day(start.timestamp().as_millisecond()))
            .map_err(|_| format!("{text:?} is not a day; give it as YYYY-MM-DD"))
    }
}

/// The result of `search_conversations`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Conversations {
    pub conversations: Vec<Conversation>,
    /// How many were found; the list has the best of them.
    pub total_count: i64,
    /// Warnings.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// A turn of a conversation.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Conversation {
    pub id: i64,
    pub agent_id: Option<String>,
    pub session_id: Option<String>,
    pub user_message: String,
    pub agent_response: String,
    pub tags: Option<Vec<String>>,
    pub created_at: Iso,
    /// The lines of a file that it is from.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "super::results::object_schema")]
    pub place: Option<PlaceInfo>,
    #[serde(flatten)]
    pub fit: Fit,
}

impl From<Hit> for Conversation {
    fn from(hit: Hit) -> Self {
        let fit = Fit::from(&hit);
        let record = hit.record;
        Conversation {
            fit,
            id: record.id.get(),
            session_id: Some(said(&record, "session_id")).filter(|session| !session.is_empty()),
            user_message: said(&record, "user_message"),
            agent_response: said(&record, "agent_response"),
            agent_id: record.scope.agent,
            tags: Some(record.tags).filter(|tags| !tags.is_empty()),
            created_at: Iso(record.created_at),
            place: record.place.map(Into::into),
        }
    }
}

/// A text of a conversation's body. A conversation that was saved as a plain text is the user's message.
fn said(record: &Record, field: &str) -> String {
    let text = record.body.as_ref().and_then(|body| body.get(field)).and_then(serde_json::Value::as_str);
    match text {
        Some(text) => text.to_owned(),
        None if is_plain(record) && field == "user_message" => record.content.clone(),
        None => String::new(),
    }
}

/// Maps an error of a fact's record to the parameters of the call.
pub fn reword_fact_error(error: Error) -> Error {
    match error {
        Error::Invalid { field: "content", why } => Error::Invalid { field: "fact", why },
        other => other,
    }
}

/// There is no fact of this id.
#[derive(Debug)]
pub struct NoFact(pub RecordId);

impl fmt::Display for NoFact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fact with ID {} not found", self.0)
    }
}

/// The fact of this id belongs to no agent, so that every agent sees it.
#[derive(Debug)]
pub struct SharedFact(pub RecordId);

impl fmt::Display for SharedFact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SharedFact(id) = self;
        write!(
            f,
            "Fact with ID {id} belongs to no agent: every agent sees it and none may change it here; its owner can, with \
             `memorist update {id}` or `memorist delete {id}`"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use memorist_engine::sensitive::Sensitive;

    /// D5, T35.
    #[test]
    fn errors_name_the_parameters_of_the_call() {
        let error = |user: &str, agent: &str, session: &str| {
            let call = json!({ "user_message": user, "agent_response": agent, "session_id": session });
            let call: StoreConversation = serde_json::from_value(call).unwrap();
            let saved = call.to_record(&Defaults::default());
            let saved = saved.and_then(|record| Sensitive::Refuse.new_record(&record).map(drop));
            saved.map_err(|error| call.reword(error)).unwrap_err().to_string()
        };
        let long = "x".repeat(70_000);
        assert!(error(&long, "y", "z").starts_with("user_message: is 70000 bytes long; at most 65536: shorten it"));
        assert!(error("x", &long, "z").starts_with("agent_response: is 70000 bytes long"));
        assert!(error("x", "y", &long).starts_with("session_id: is 70000 bytes long"));
        assert!(error("x", "y", " ").starts_with("session_id: is empty"));
        let secret = concat!("the password", ": hunter2");
        assert!(error(secret, "y", "z").starts_with("user_message: contains a secret (password)"));
        assert!(error("x", secret, "z").starts_with("agent_response: contains a secret (password)"));
        let fact = reword_fact_error(Sensitive::Refuse.new_record(&NewRecord::new(secret)).unwrap_err());
        assert!(fact.to_string().starts_with("fact: contains a secret (password)"), "{fact}");
    }

    #[test]
    fn a_day_is_a_date() {
        assert_eq!("1970-01-02".parse(), Ok(Day(DAY_MILLIS)));
        for other in ["yesterday", "", "2026-13-01", "1767225600000"] {
            assert!(other.parse::<Day>().unwrap_err().contains("YYYY-MM-DD"), "{other}");
        }
    }
}
