//! Saving, finding, changing, deleting, listing.

use clap::{ArgGroup, Args};
use memorist_engine::types::{Kind, Mode};

use super::values::{id, kinds};
use crate::wire::{Detail, Future, FutureEnd, Importance, Only, Order, Past, PastEnd, SourceName, Where};

/// Fields of a memory that have a default.
#[derive(Debug, Clone, Default, Args)]
pub struct MemoryArgs {
    /// What it is about
    #[arg(short, long, visible_alias = "category", value_name = "KIND", value_parser = kinds())]
    pub kind: Option<Kind>,
    /// Where it came from
    #[arg(long, value_name = "TEXT")]
    pub source: Option<String>,
    /// What surrounded it; helps to find it by meaning
    #[arg(short, long, value_name = "TEXT")]
    pub context: Option<String>,
    /// How sure it is, 0 to 1
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub confidence: Option<f64>,
    /// 1 to 10, or low, medium, high, critical
    #[arg(short, long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub importance: Option<Importance>,
    /// A label; repeat for more
    #[arg(short, long = "tag", value_name = "TAG")]
    pub tags: Vec<String>,
    /// When to stop showing it: ISO 8601, Unix milliseconds, or 30d
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    pub expires_at: Option<Future>,
    /// When it happened, or since when it is true
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    pub valid_from: Option<Past>,
    /// Until when
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    pub valid_to: Option<Past>,
    /// Of a task: open, done or dropped
    #[arg(long, value_name = "STATUS", value_parser = ["open", "done", "dropped"])]
    pub status: Option<String>,
    /// Of a task: when it is due, as 2026-12-31 or 7d
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    pub due: Option<Future>,
    /// What its kind holds beside the text, as a JSON object; `-` reads it from stdin
    #[arg(long, value_name = "JSON")]
    pub body: Option<String>,
    /// Keys and values of your own, to filter by with --where, as a JSON object
    #[arg(long, value_name = "JSON")]
    pub metadata: Option<String>,
}

/// `add`.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("what").args(["text", "body"]).required(true).multiple(true))]
pub struct Add {
    /// The text to remember; `-` reads it from stdin. Left out, it is what the body says
    pub text: Option<String>,
    #[command(flatten)]
    pub fields: MemoryArgs,
    /// The session that it belongs to: a search judges each turn of a conversation with those around it
    #[arg(long, value_name = "NAME")]
    pub session: Option<String>,
    /// Its number in the session; left out, it is the last
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true, requires = "session")]
    pub turn: Option<i64>,
    /// A memory that this one replaces; repeat for more
    #[arg(long, value_name = "ID", value_parser = id)]
    pub supersedes: Vec<i64>,
    /// A memory that it contradicts; repeat for more
    #[arg(long, value_name = "ID", value_parser = id)]
    pub contradicts: Vec<i64>,
    /// A memory that it has to do with; repeat for more
    #[arg(long, value_name = "ID", value_parser = id)]
    pub related: Vec<i64>,
}

/// Which memories a search, a list or the interactive screen may return.
#[derive(Debug, Clone, Default, Args)]
pub struct Filters {
    /// Only this kind; repeat for more
    #[arg(short, long = "kind", value_name = "KIND", value_parser = kinds())]
    pub kinds: Vec<Kind>,
    /// Only with this label; repeat for any of several
    #[arg(short, long = "tag", value_name = "TAG")]
    pub tags: Vec<String>,
    /// Only with such metadata, as '{"year": {"$gte": 2024}}'
    #[arg(long = "where", value_name = "JSON")]
    pub with_metadata: Option<Where>,
    /// At least this importance
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub min_importance: Option<Importance>,
    /// At least this confidence
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub min_confidence: Option<f64>,
    /// Created at or after
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    pub created_after: Option<Past>,
    /// Created before a time, or on this day at the latest
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    pub created_before: Option<PastEnd>,
    /// Created or changed at or after, as 2026-11-20, 7d or "last week"
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    pub updated_after: Option<Past>,
    /// Last changed before a time, or on this day at the latest
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    pub updated_before: Option<PastEnd>,
    /// Happens, is true or is due at or after, as 2026-11-20 or "next week"
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    pub happens_after: Option<Future>,
    /// Happens, is true or is due before a time, or on this day at the latest
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    pub happens_before: Option<FutureEnd>,
}

/// `search`.
#[derive(Debug, Args)]
pub struct Search {
    /// What to look for
    #[arg(required = true)]
    pub query: Vec<String>,
    /// hybrid, vector (meaning alone) or keyword (words alone) [default: hybrid]
    #[arg(short, long)]
    pub mode: Option<Mode>,
    /// Most results [default: 10]
    #[arg(short = 'n', long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub limit: Option<i64>,
    #[command(flatten)]
    pub filters: Filters,
    /// Only from notes, sessions (transcripts) or memories; with commas for several
    #[arg(long, value_name = "NAME", value_enum, value_delimiter = ',')]
    pub sources: Vec<SourceName>,
    /// Weight of meaning in hybrid mode [default: 0.7]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub vector_weight: Option<f64>,
    /// Weight of words in hybrid mode [default: 0.3]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub keyword_weight: Option<f64>,
    /// Least cosine of what only meaning finds
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub min_similarity: Option<f64>,
    /// Least relevance; exact words count by themselves
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub min_relevance: Option<f64>,
    /// Least score, which is relative to the other results; exact words count by themselves
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub min_score: Option<f64>,
    /// Also superseded memories
    #[arg(long)]
    pub include_superseded: bool,
    /// Without the reranker
    #[arg(long)]
    pub no_rerank: bool,
    /// So many turns before and after each that is of a session
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub neighbours: Option<i64>,
    /// Most tokens of all results together
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub max_tokens: Option<i64>,
    /// The cursor of the previous page; all else unchanged
    #[arg(long, value_name = "CURSOR")]
    pub cursor: Option<String>,
    /// How much text to return
    #[arg(long, value_enum)]
    pub detail: Option<Detail>,
    /// Also show times and candidate counts
    #[arg(long)]
    pub explain: bool,
}

/// `searches`.
#[derive(Debug, Args)]
pub struct Searches {
    /// Only those to which the store seemed to have no answer
    #[arg(long)]
    pub nothing: bool,
    /// Most searches [default: 50]
    #[arg(short = 'n', long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub limit: Option<i64>,
    /// Those before this one, the last of a page
    #[arg(long, value_name = "ID", allow_negative_numbers = true)]
    pub before: Option<i64>,
}

/// `recall`.
#[derive(Debug, Args)]
pub struct Recall {
    /// What the user said; `-` reads it from stdin
    #[arg(required = true)]
    pub message: Vec<String>,
    /// A message before it, the newest last; repeat for more
    #[arg(long, value_name = "MESSAGE")]
    pub before: Vec<String>,
    /// The session that asks: it gets no memory twice
    #[arg(long, value_name = "NAME")]
    pub session: Option<String>,
    /// Most memories [default: 5]
    #[arg(short = 'n', long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub max_results: Option<i64>,
    /// Most tokens [default: 500]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub max_tokens: Option<i64>,
    /// Minimum relevance, 0 to 1 [default: 0.3]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub min_relevance: Option<f64>,
}

/// `browse`.
#[derive(Debug, Args)]
pub struct Browse {
    /// What to look for first
    pub query: Vec<String>,
    #[command(flatten)]
    pub filters: Filters,
}

/// `get`.
#[derive(Debug, Args)]
pub struct Get {
    /// Its id
    #[arg(allow_negative_numbers = true, value_parser = id)]
    pub id: i64,
}

/// `update`.
#[derive(Debug, Args)]
pub struct Update {
    /// Its id
    #[arg(allow_negative_numbers = true, value_parser = id)]
    pub id: i64,
    /// New text; `-` reads it from stdin
    #[arg(long, value_name = "TEXT")]
    pub content: Option<String>,
    #[command(flatten)]
    pub fields: MemoryArgs,
    /// Remove the context
    #[arg(long, conflicts_with = "context")]
    pub no_context: bool,
    /// A label to add; repeat for more
    #[arg(long = "add-tag", value_name = "TAG")]
    pub add_tags: Vec<String>,
    /// A label to remove; repeat for more
    #[arg(long = "remove-tag", value_name = "TAG")]
    pub remove_tags: Vec<String>,
    /// Remove all labels
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
    /// Why; kept in the history
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    /// Words that it must have, or its version; else nothing is changed
    #[arg(long, value_name = "WORDS")]
    pub expect: Option<String>,
}

/// `delete`.
#[derive(Debug, Args)]
pub struct Delete {
    /// Their ids
    #[arg(required = true, allow_negative_numbers = true, value_parser = id)]
    pub ids: Vec<i64>,
}

/// `list`.
#[derive(Debug, Args)]
pub struct List {
    /// Start after this id
    #[arg(long, value_name = "ID", default_value_t = 0, allow_negative_numbers = true, value_parser = id)]
    pub after: i64,
    /// Most memories to list
    #[arg(short = 'n', long, value_name = "NUMBER", default_value_t = 50, allow_negative_numbers = true)]
    pub limit: i64,
    /// Only open or overdue tasks; what is superseded, contradicted, expiring, expired or deleted
    #[arg(long, value_enum, conflicts_with = "after")]
    pub only: Option<Only>,
    /// The last saved first, the last updated, or the first due; left out, by id
    #[arg(long, value_enum, conflicts_with = "after")]
    pub order: Option<Order>,
    #[command(flatten)]
    pub filters: Filters,
}
