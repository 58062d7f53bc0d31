//! Searches that were made.

use std::borrow::Cow;

use super::bounds::check_limit;
use super::query::Mode;
use super::scope::Viewer;
use super::units::Millis;
use crate::error::Result;

/// The entry of a search in the search log.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchTrace {
    /// When it was answered.
    pub at: Millis,
    /// Who searched.
    pub viewer: Viewer,
    /// [`Query::tool`](super::Query::tool).
    pub tool: Cow<'static, str>,
    /// The beginning of the query, without secrets.
    pub query: String,
    /// Which indexes were asked.
    pub mode: Mode,
    /// The filter, thresholds and limit that differ from the defaults, as a JSON object.
    pub filters: Option<String>,
    /// How many results it had.
    pub hits: u64,
    /// Whether the store seemed to have no answer ([`SearchReply::no_answer`](super::SearchReply::no_answer)).
    pub no_answer: bool,
    /// The score of the best result.
    pub best_score: Option<f64>,
    /// The highest cosine of a result.
    pub best_cosine: Option<f64>,
    /// How long it took, in microseconds.
    pub micros: u64,
}

#[cfg(test)]
impl SearchTrace {
    /// A search that found nothing.
    pub(crate) fn sample(query: &str, viewer: Viewer) -> Self {
        SearchTrace {
            at: 1_700_000_000_000,
            viewer,
            tool: "search".into(),
            query: query.into(),
            mode: Mode::Hybrid,
            filters: None,
            hits: 0,
            no_answer: true,
            best_score: None,
            best_cosine: None,
            micros: 7,
        }
    }
}

/// A search that is kept.
#[derive(Debug, Clone, PartialEq)]
pub struct PastSearch {
    /// Its number: later searches have larger ones.
    pub id: i64,
    /// Its entry.
    pub trace: SearchTrace,
}

/// A search that found a memory.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundBy {
    /// The beginning of the query, without secrets.
    pub query: String,
    /// When it was answered.
    pub at: Millis,
    /// [`Query::tool`](super::Query::tool).
    pub tool: String,
    /// The score of the memory, as far as the access log still has it.
    pub score: Option<f64>,
}

/// A page of the searches that are kept, the newest first.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchesQuery {
    /// Only those with a smaller number: the last one of the page before.
    pub before: Option<i64>,
    /// Most searches, 1 to [`MAX_LIMIT`](super::MAX_LIMIT).
    pub limit: usize,
    /// Only those to which the store seemed to have no answer.
    pub no_answer: bool,
    /// Only those with at most this many results.
    pub most_hits: Option<u64>,
    /// Only those to which the store seemed to have an answer, but nothing [near](SearchesQuery::NEAR) by meaning.
    pub weak: bool,
    /// Only those whose results were never fetched afterwards.
    pub unopened: bool,
    /// Who asks: only its own searches are seen ([`Viewer::made`]).
    pub viewer: Viewer,
}

impl SearchesQuery {
    /// The cosine from which a result is near.
    pub const NEAR: f64 = 0.4;

    /// The newest fifty that `viewer` made.
    pub fn new(viewer: Viewer) -> Self {
        let (weak, unopened) = (false, false);
        SearchesQuery { before: None, limit: 50, no_answer: false, most_hits: None, weak, unopened, viewer }
    }

    /// Checks every bound.
    pub fn validate(&self) -> Result<()> {
        check_limit(self.limit)?;
        self.viewer.validate()
    }
}

/// How many searches are kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SearchCounts {
    /// All of them.
    pub logged: u64,
    /// The newest of them, at most [`SearchCounts::LAST`].
    pub last: u64,
    /// To how many of these the store seemed to have no answer.
    pub no_answer: u64,
}

impl SearchCounts {
    /// How many of the newest are looked at.
    pub const LAST: u64 = 100;
}
