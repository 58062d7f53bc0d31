//! A search query.

use std::borrow::Cow;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::bounds::{
    MAX_NEIGHBORS, MAX_POOL, MAX_QUERY_BYTES, MAX_RESULTS, check_label, check_limit_up_to, check_unit,
};
use super::filter::Filter;
use super::kind::Kind;
use super::period::Period;
use super::units::{Millis, RecordId};
use crate::error::{Error, Result};

/// Which indexes answer a query.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", remote = "Self")]
pub enum Mode {
    /// Vector and keyword search, merged.
    #[default]
    Hybrid,
    /// Vector search only.
    Vector,
    /// Keyword search only.
    Keyword,
}

crate::read_by_name!(Mode);

impl Mode {
    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Mode::Hybrid => "hybrid",
            Mode::Vector => "vector",
            Mode::Keyword => "keyword",
        }
    }
}

impl FromStr for Mode {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "hybrid" => Ok(Mode::Hybrid),
            "vector" => Ok(Mode::Vector),
            "keyword" => Ok(Mode::Keyword),
            _ => Err(Error::invalid("mode", format!("unknown mode {name:?}; use hybrid, vector or keyword"))),
        }
    }
}

/// The weight of each index in a hybrid search. Only their ratio matters.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Weights {
    /// Weight of the vector score.
    pub vector: f64,
    /// Weight of the keyword score.
    pub keyword: f64,
}

impl Default for Weights {
    fn default() -> Self {
        Weights { vector: 0.7, keyword: 0.3 }
    }
}

/// From where the scores of each side are scaled, before they are weighted and added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Scale {
    /// From the least score that there can be: -1 for a cosine, 0 for BM25 (Bruch, Gai, Ingber: An Analysis of Fusion Functions
    /// for Hybrid Retrieval, TOIS 2023). Of candidates that are all far from the query, the nearest is hardly above the others.
    /// And words count as far as they say something: by the share of the query's words that a candidate has, each weighted by
    /// its rarity, and little if some text would have as many by chance.
    #[default]
    Theoretical,
    /// From the least score among the candidates: min-max as it is mostly meant.
    #[serde(alias = "min-max")]
    Pool,
}

/// Which rules judge a record together with those around it in its thread. All of them by default; to measure what each
/// adds, and to search without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ThreadRules {
    /// The words of neighbors count.
    pub words: bool,
    /// The cosine is the mean with those of the neighbors.
    pub cosines: bool,
    /// A record after a question has most of its words.
    pub answers: bool,
    /// A question ranks lower.
    pub questions: bool,
    /// A long question is a message that says something, and a long turn is judged by its own cosine, and by the words of
    /// no neighbor but a question before it.
    pub lengths: bool,
}

impl ThreadRules {
    /// All of them.
    pub const ALL: ThreadRules =
        ThreadRules { words: true, cosines: true, answers: true, questions: true, lengths: true };
    /// None of them: each record by itself.
    pub const NONE: ThreadRules =
        ThreadRules { words: false, cosines: false, answers: false, questions: false, lengths: false };
}

impl Weights {
    /// The weights scaled to a sum of 1. Refuses negative or non-finite ones, and two zeros.
    pub fn normalised(self) -> Result<Self> {
        let sum = self.vector + self.keyword;
        if !(self.vector >= 0.0 && self.keyword >= 0.0 && sum > 0.0 && sum.is_finite()) {
            return Err(Error::invalid(
                if self.vector >= 0.0 && self.vector.is_finite() && sum != 0.0 {
                    "keyword_weight"
                } else {
                    "vector_weight"
                },
                format!("the weights are {} and {}: both must be 0 or more, and not both 0", self.vector, self.keyword),
            ));
        }
        Ok(Weights { vector: self.vector / sum, keyword: self.keyword / sum })
    }
}

/// A search.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// The query text, in any words; there is no query syntax. Empty in a query by a vector alone ([`Query::of_vector`]).
    pub text: String,
    /// The tool or command that searches: a label for [`Engine::searches`](crate::Engine::searches) of at most
    /// [`MAX_LABEL_BYTES`](super::MAX_LABEL_BYTES).
    pub tool: Cow<'static, str>,
    /// Which indexes answer.
    pub mode: Mode,
    /// Most results, 1 to [`MAX_RESULTS`](super::MAX_RESULTS).
    pub limit: usize,
    /// Results to skip: those of the previous pages. With `limit` at most [`MAX_RESULTS`](super::MAX_RESULTS).
    pub offset: usize,
    /// Candidates taken from each index; `None` takes what `limit` needs. Pages belong to one ranking if all use the
    /// pool of the first one: the candidates decide the scores.
    pub pool: Option<usize>,
    /// Which records may be returned.
    pub filter: Filter,
    /// Weights of this query; `None` uses the store's.
    pub weights: Option<Weights>,
    /// How each side is scaled; `None`: as [`Config::scale`](crate::config::Config::scale).
    pub scale: Option<Scale>,
    /// How threads count in a hybrid search with [`Scale::Theoretical`]; in every other they do not.
    pub threads: ThreadRules,
    /// The period that the query is about, which lifts the records of it; not a filter. It counts with
    /// [`Scale::Theoretical`].
    pub period: Option<Period>,
    /// Number of records before and after each result in its thread that come along, 0 to
    /// [`MAX_NEIGHBORS`](super::MAX_NEIGHBORS), as far as they pass the filter.
    pub neighbors: usize,
    /// Minimum cosine, -1 to 1, of vector matches. Keyword matches stay.
    pub min_similarity: Option<f64>,
    /// Minimum merged score, 0 to 1, before the reranker adds to it. A record that the words of the query single out (by an identifier, by a word that
    /// few memories have, or by all of them) may reach it by its keyword score alone, as a share of the best one, so
    /// that a threshold above the keyword weight drops no exact match.
    pub min_score: Option<f64>,
    /// Minimum relevance, 0 to 1 ([`Hit::relevance`](super::Hit::relevance)). What the words single out is kept as with
    /// [`Query::min_score`].
    pub min_relevance: Option<f64>,
    /// Whether the first results of a hybrid search are reranked by a model that reads query and memory together, if it is on
    /// this machine and the query may be in English. That takes about 50 ms.
    pub rerank: bool,
    /// Whether superseded memories are found, too.
    pub include_superseded: bool,
    /// Whether the last word, unless a space follows, is also the beginning of one: for a search while somebody types.
    pub prefix: bool,
    /// Whether a word that no record has is looked for within other words, and in a search that finds nothing else, within all
    /// texts: the last tier. That reads all of them, 1 ms for about a thousand.
    pub substring_tier: bool,
}

impl Query {
    /// A hybrid search for `text`, ten results, no filter.
    pub fn new(text: impl Into<String>) -> Self {
        Query {
            text: text.into(),
            tool: "search".into(),
            mode: Mode::Hybrid,
            limit: 10,
            offset: 0,
            pool: None,
            filter: Filter::default(),
            weights: None,
            scale: None,
            threads: ThreadRules::ALL,
            period: None,
            neighbors: 0,
            min_similarity: None,
            min_score: None,
            min_relevance: None,
            rerank: false,
            include_superseded: false,
            prefix: false,
            substring_tier: true,
        }
    }

    /// A search by the vector that [`Engine::search_with`](crate::Engine::search_with) gets, ten results, no filter. Without a
    /// vector index it finds nothing, and the reply has a warning.
    pub fn of_vector() -> Self {
        Query { mode: Mode::Vector, ..Query::new("") }
    }

    /// Whether there are words to search for.
    pub(crate) fn has_text(&self) -> bool {
        !self.text.trim().is_empty()
    }

    /// Candidates taken from each index, independent of small limits, so that the first of ten is the first of one.
    pub fn pool(&self) -> usize {
        self.pool.unwrap_or((4 * self.limit).max(50))
    }

    /// Checks every bound. The text must not be empty.
    pub fn validate(&self) -> Result<()> {
        if !self.has_text() {
            return Err(Error::invalid("query", "must not be empty"));
        }
        self.validate_with_vector()
    }

    /// Checks every bound of a query whose vector is given: in a vector search the text may be empty.
    pub fn validate_with_vector(&self) -> Result<()> {
        if self.mode != Mode::Vector && !self.has_text() {
            return Err(Error::invalid("query", "must not be empty"));
        }
        if self.text.len() > MAX_QUERY_BYTES {
            return Err(Error::invalid(
                "query",
                format!("is {} bytes long; at most {MAX_QUERY_BYTES} are searched for", self.text.len()),
            ));
        }
        if !self.tool.is_empty() {
            check_label("tool", &self.tool)?;
        }
        check_limit_up_to(self.limit, MAX_RESULTS)?;
        if self.offset > MAX_RESULTS - self.limit {
            let why = format!("{} and the limit are more than {MAX_RESULTS} together", self.offset);
            return Err(Error::invalid("offset", why));
        }
        if let Some(pool) = self.pool.filter(|pool| !(1..=MAX_POOL).contains(pool)) {
            return Err(Error::invalid("pool", format!("{pool} is outside 1 to {MAX_POOL}")));
        }
        if self.neighbors > MAX_NEIGHBORS {
            let why = format!("{} is outside 0 to {MAX_NEIGHBORS}", self.neighbors);
            return Err(Error::invalid("neighbors", why));
        }
        if let Some(weights) = self.weights {
            weights.normalised()?;
        }
        if let Some(least) = self.min_similarity.filter(|least| !(-1.0..=1.0).contains(least)) {
            return Err(Error::invalid("min_similarity", format!("{least} is outside -1 to 1")));
        }
        if let Some(least) = self.min_score {
            check_unit("min_score", least)?;
        }
        if let Some(least) = self.min_relevance {
            check_unit("min_relevance", least)?;
        }
        self.filter.validate()
    }
}

/// The order of a list. Ties are in the order of ids.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ListOrder {
    /// In which the records were saved.
    #[default]
    Saved,
    /// In which they were last changed.
    Updated,
    /// In which tasks are due; those without a date last.
    Due,
    /// In which they expire.
    Expiry,
}

/// A condition on the records of a list, beside the filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListOnly {
    /// Tasks that are neither done nor dropped.
    Open,
    /// Open tasks whose date has passed.
    Overdue,
    /// Records superseded by one that the viewer sees.
    Superseded,
    /// Records contradicted by one that the viewer sees, neither of the two superseded.
    Contradicted,
    /// Records that will expire.
    Expiring,
}

/// A page of records.
#[derive(Debug, Clone, Default)]
pub struct ListQuery {
    /// Only records after this id; [`RecordId::START`] for the first page.
    pub after: RecordId,
    /// The order; pages after an id are in that of [`ListOrder::Saved`].
    pub order: ListOrder,
    /// Only records that come after one with this expiry and the id `after`: for pages in the order of [`ListOrder::Expiry`],
    /// forwards or backwards.
    pub expires_after: Option<Millis>,
    /// Backwards: the largest ids, the last changes first.
    pub newest_first: bool,
    /// Records to skip.
    pub offset: usize,
    /// Only records that have this in common.
    pub only: Option<ListOnly>,
    /// Most records, 1 to [`MAX_LIMIT`](super::MAX_LIMIT).
    pub limit: usize,
    /// Which records.
    pub filter: Filter,
    /// Only those of this project, without the global ones.
    pub project: Option<String>,
    /// For these kinds, only records without a body.
    pub plain: Vec<Kind>,
}
