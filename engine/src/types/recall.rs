//! Automatic recall: the memories that are injected into a turn of an agent.

use super::bounds::{check_label, check_unit};
use super::filter::Filter;
use super::query::Mode;
use super::record::Record;
use super::units::RecordId;
use crate::error::{Error, Result};

/// Most memories of one recall.
const MAX_RECALLED: usize = 50;

/// A request for the memories that a beginning turn needs.
#[derive(Debug, Clone, PartialEq)]
pub struct RecallRequest {
    /// The message to the agent, of any length. Of a long one the beginning and the end count.
    pub message: String,
    /// The messages before, the newest last. A short question continues the last question among them.
    pub before: Vec<String>,
    /// Which memories may come.
    pub filter: Filter,
    /// The session that asks. It gets no memory twice, nor its own turns.
    pub session: Option<String>,
    /// Most memories, 1 to 50.
    pub max_results: usize,
    /// Most tokens of their texts.
    pub max_tokens: usize,
    /// Minimum relevance, 0 to 1 ([`Hit::relevance`](super::Hit::relevance)).
    pub min_score: f64,
    /// How it is searched: by words alone where nobody can wait for the model.
    pub mode: Mode,
}

impl RecallRequest {
    /// Five memories and 500 tokens at most, of relevance 0.3 and more.
    pub fn new(message: impl Into<String>) -> Self {
        RecallRequest {
            message: message.into(),
            before: Vec::new(),
            filter: Filter::default(),
            session: None,
            max_results: 5,
            max_tokens: 500,
            min_score: 0.3,
            mode: Mode::Hybrid,
        }
    }

    /// Checks every bound. No message is too long, and none too short.
    pub fn validate(&self) -> Result<()> {
        if !(1..=MAX_RECALLED).contains(&self.max_results) {
            let why = format!("{} is outside 1 to {MAX_RECALLED}", self.max_results);
            return Err(Error::invalid("max_results", why));
        }
        if self.max_tokens == 0 {
            return Err(Error::invalid("max_tokens", "must be greater than 0"));
        }
        check_unit("min_score", self.min_score)?;
        self.session.as_deref().map_or(Ok(()), |session| check_label("session", session))?;
        self.filter.validate()
    }
}

/// The memories for a turn: usually none.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Recall {
    /// The memories, the most relevant first.
    pub memories: Vec<Recalled>,
    /// The tokens of their texts, at four characters each.
    pub tokens: usize,
    /// Why there may be less than is known: as [`SearchReply::warnings`](super::SearchReply::warnings).
    pub warnings: Vec<String>,
}

impl Recall {
    /// The memories, each with its version, as they are noted for the session that was given them.
    pub fn given(&self) -> Vec<(RecordId, i64)> {
        self.memories.iter().map(|memory| (memory.record.id, memory.record.version)).collect()
    }

    /// Whether nothing is known that is worth the turn's attention.
    pub fn is_silent(&self) -> bool {
        self.memories.is_empty()
    }
}

/// A memory about exactly the file, the command or the error of an action.
#[derive(Debug, Clone, PartialEq)]
pub struct Reminder {
    /// Its subject: the path of the file, the command or the code of the error, in at most 120 characters.
    pub about: String,
    /// The memory, with at most 320 characters of its text.
    pub memory: Recalled,
}

/// A memory that a turn is given.
#[derive(Debug, Clone, PartialEq)]
pub struct Recalled {
    /// The memory. One that is superseded never comes.
    pub record: Record,
    /// The part of its text that fits, on whatever lines it has.
    pub text: String,
    /// How likely it answers the message, 0 to 1.
    pub relevance: f64,
    /// Its merged score in the search.
    pub score: f64,
    /// The memories that contradict it, by id.
    pub contradicted_by: Vec<RecordId>,
}
