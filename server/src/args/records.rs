//! Saving, finding, changing, deleting, listing.

use clap::{ArgGroup, Args};
use memorist_engine::types::{Kind, Mode};

use super::values::{id, kinds};
use crate::wire::{Detail, Future, FutureEnd, Importance, ListSort, ListState, Past, PastEnd, SourceName, Where};

/// Fields of a memory that have a default.
#[derive(Debug, Clone, Default, Args)]
pub struct MemoryArgs {
    /// Kind of memory
    #[arg(short, long, visible_alias = "category", value_name = "KIND", value_parser = kinds())]
    pub kind: Option<Kind>,
    /// Source label, for example "manual"
    #[arg(long, value_name = "TEXT")]
    pub source: Option<String>,
    /// Context, embedded together with the text
    #[arg(short, long, value_name = "TEXT")]
    pub context: Option<String>,
    /// Confidence, 0 to 1
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub confidence: Option<f64>,
    /// Importance: 1 to 10, or low, medium, high, critical
    #[arg(short, long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub importance: Option<Importance>,
    /// Tag (repeatable)
    #[arg(short, long = "tag", value_name = "TAG")]
    pub tags: Vec<String>,
    /// Expiry: ISO 8601, Unix milliseconds, or a duration such as 30d
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    pub expires_at: Option<Future>,
    /// Start of validity, or time of the event
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    pub valid_from: Option<Past>,
    /// End of validity
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    pub valid_to: Option<Past>,
    /// Task status: open, done or dropped
    #[arg(long, value_name = "STATUS", value_parser = ["open", "done", "dropped"])]
    pub status: Option<String>,
    /// Task due date, for example 2026-12-31 or 7d
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    pub due: Option<Future>,
    /// Structured fields of the kind, as JSON; `-` reads stdin
    #[arg(long, value_name = "JSON")]
    pub body: Option<String>,
    /// Your own keys and values for --where, as a JSON object
    #[arg(long, value_name = "JSON")]
    pub metadata: Option<String>,
}

/// `add`.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("what").args(["text", "body"]).required(true).multiple(true))]
pub struct Add {
    /// Text of the memory; `-` reads stdin [default: generated from --body]
    pub text: Option<String>,
    #[command(flatten)]
    pub fields: MemoryArgs,
    /// Session name; search ranks a turn together with its neighbors
    #[arg(long, value_name = "NAME")]
    pub session: Option<String>,
    /// Turn number in the session [default: append]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true, requires = "session")]
    pub turn: Option<i64>,
    /// Id of a memory that this one replaces (repeatable)
    #[arg(long, value_name = "ID", value_parser = id)]
    pub supersedes: Vec<i64>,
    /// Id of a memory that this one contradicts (repeatable)
    #[arg(long, value_name = "ID", value_parser = id)]
    pub contradicts: Vec<i64>,
    /// Id of a related memory (repeatable)
    #[arg(long, value_name = "ID", value_parser = id)]
    pub related: Vec<i64>,
}

/// Which memories a search, a list or the interactive screen may return.
#[derive(Debug, Clone, Default, Args)]
pub struct Filters {
    /// Only memories of this kind (repeatable)
    #[arg(short, long = "kind", value_name = "KIND", value_parser = kinds())]
    pub kinds: Vec<Kind>,
    /// Only memories with this tag (repeatable: any of them)
    #[arg(short, long = "tag", value_name = "TAG")]
    pub tags: Vec<String>,
    /// Metadata filter, for example '{"year": {"$gte": 2024}}'
    #[arg(long = "where", value_name = "JSON")]
    pub with_metadata: Option<Where>,
    /// Minimum importance, 1 to 10
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub min_importance: Option<Importance>,
    /// Minimum confidence, 0 to 1
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub min_confidence: Option<f64>,
    /// Created at or after this time
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    pub created_after: Option<Past>,
    /// Created before this time, or by the end of this day
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    pub created_before: Option<PastEnd>,
    /// Created or changed at or after this time, for example 2026-11-20, 7d or "last week"
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    pub updated_after: Option<Past>,
    /// Last changed before this time, or by the end of this day
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    pub updated_before: Option<PastEnd>,
    /// Valid or due at or after this time, for example 2026-11-20 or "next week"
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    pub happens_after: Option<Future>,
    /// Valid or due before this time, or by the end of this day
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    pub happens_before: Option<FutureEnd>,
}

/// `search`.
#[derive(Debug, Args)]
pub struct Search {
    /// Search query
    #[arg(required = true)]
    pub query: Vec<String>,
    /// hybrid, vector (semantic only) or keyword (BM25 only) [default: hybrid]
    #[arg(short, long)]
    pub mode: Option<Mode>,
    /// Maximum number of results [default: 10]
    #[arg(short = 'n', long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub limit: Option<i64>,
    #[command(flatten)]
    pub filters: Filters,
    /// Only hits from notes, sessions (transcripts) or memories; comma-separated
    #[arg(long, value_name = "NAME", value_enum, value_delimiter = ',')]
    pub sources: Vec<SourceName>,
    /// Weight of vector search in hybrid mode [default: 0.7]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub vector_weight: Option<f64>,
    /// Weight of keyword search in hybrid mode [default: 0.3]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub keyword_weight: Option<f64>,
    /// Minimum cosine similarity of vector-only hits
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub min_similarity: Option<f64>,
    /// Minimum relevance, 0 to 1 (exact keyword matches are always kept)
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub min_relevance: Option<f64>,
    /// Minimum score within this search (exact keyword matches are always kept)
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub min_score: Option<f64>,
    /// Include superseded memories
    #[arg(long)]
    pub include_superseded: bool,
    /// Disable the reranker
    #[arg(long)]
    pub no_rerank: bool,
    /// Also show N turns before and after each session hit
    #[arg(long, alias = "neighbours", value_name = "NUMBER", allow_negative_numbers = true)]
    pub neighbors: Option<i64>,
    /// Token budget for all results
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub max_tokens: Option<i64>,
    /// Cursor from the previous page; repeat the other options unchanged
    #[arg(long, value_name = "CURSOR")]
    pub cursor: Option<String>,
    /// Amount of text per hit
    #[arg(long, value_enum)]
    pub detail: Option<Detail>,
    /// Also print timings and candidate counts
    #[arg(long)]
    pub explain: bool,
}

/// `search-log`.
#[derive(Debug, Args)]
pub struct SearchLog {
    /// Only searches without an answer
    #[arg(long, alias = "nothing")]
    pub no_answer: bool,
    /// Maximum number of searches [default: 50]
    #[arg(short = 'n', long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub limit: Option<i64>,
    /// Only searches before this id, for the next page
    #[arg(long, value_name = "ID", allow_negative_numbers = true)]
    pub before: Option<i64>,
}

/// `recall`.
#[derive(Debug, Args)]
pub struct Recall {
    /// Message of the user; `-` reads stdin
    #[arg(required = true)]
    pub message: Vec<String>,
    /// Earlier message, oldest first (repeatable)
    #[arg(long = "previous", alias = "before", value_name = "MESSAGE")]
    pub before: Vec<String>,
    /// Session; memories it already received are skipped
    #[arg(long, value_name = "NAME")]
    pub session: Option<String>,
    /// Maximum number of memories [default: 5]
    #[arg(short = 'n', long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub max_results: Option<i64>,
    /// Token budget [default: 500]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub max_tokens: Option<i64>,
    /// Minimum relevance, 0 to 1 [default: 0.3]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub min_relevance: Option<f64>,
}

/// `browse`.
#[derive(Debug, Args)]
#[cfg_attr(not(feature = "browse"), allow(dead_code))]
pub struct Browse {
    /// Initial search query
    pub query: Vec<String>,
    #[command(flatten)]
    pub filters: Filters,
}

/// `get`.
#[derive(Debug, Args)]
pub struct Get {
    /// Memory id
    #[arg(allow_negative_numbers = true, value_parser = id)]
    pub id: i64,
}

/// `update`.
#[derive(Debug, Args)]
pub struct Update {
    /// Memory id
    #[arg(allow_negative_numbers = true, value_parser = id)]
    pub id: i64,
    /// New text; `-` reads stdin
    #[arg(long, value_name = "TEXT")]
    pub content: Option<String>,
    #[command(flatten)]
    pub fields: MemoryArgs,
    /// Remove the context
    #[arg(long, conflicts_with = "context")]
    pub no_context: bool,
    /// Tag to add (repeatable)
    #[arg(long = "add-tag", value_name = "TAG")]
    pub add_tags: Vec<String>,
    /// Tag to remove (repeatable)
    #[arg(long = "remove-tag", value_name = "TAG")]
    pub remove_tags: Vec<String>,
    /// Remove all tags
    #[arg(long, conflicts_with = "tags")]
    pub no_tags: bool,
    /// Remove the expiry
    #[arg(long, conflicts_with = "expires_at")]
    pub no_expiry: bool,
    /// Remove the body
    #[arg(long, conflicts_with = "body")]
    pub no_body: bool,
    /// Remove the metadata
    #[arg(long, conflicts_with = "metadata")]
    pub no_metadata: bool,
    /// Reason, kept in the history
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    /// Fail unless the memory contains these words or has this version
    #[arg(long, value_name = "WORDS")]
    pub expect: Option<String>,
}

/// `delete`.
#[derive(Debug, Args)]
pub struct Delete {
    /// Memory ids
    #[arg(required = true, allow_negative_numbers = true, value_parser = id)]
    pub ids: Vec<i64>,
}

/// `list`.
#[derive(Debug, Args)]
pub struct List {
    /// Start after this id
    #[arg(long, value_name = "ID", default_value_t = 0, allow_negative_numbers = true, value_parser = id)]
    pub after: i64,
    /// Maximum number of memories
    #[arg(short = 'n', long, value_name = "NUMBER", default_value_t = 50, allow_negative_numbers = true)]
    pub limit: i64,
    /// Only memories in this state: open or overdue tasks, superseded, contradicted, expiring, expired or deleted
    #[arg(long, alias = "only", value_enum, conflicts_with = "after")]
    pub state: Option<ListState>,
    /// Sort by creation, update or due date [default: id]
    #[arg(long, alias = "order", value_enum, conflicts_with = "after")]
    pub sort: Option<ListSort>,
    #[command(flatten)]
    pub filters: Filters,
}
