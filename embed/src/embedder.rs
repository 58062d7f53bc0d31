//! The interfaces of an embedding model and of a reranker, whatever runs them.

use crate::error::Result;
use crate::identity::ModelIdentity;
use crate::jobs::BatchJobs;
use crate::progress::Progress;

/// Why a model makes no vector of a text. It does not repeat the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal(pub String);

/// The languages that a model was trained on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Languages {
    /// English only: it reads texts in others letter by letter.
    English,
    /// About a hundred.
    Many,
    /// Not known.
    Unknown,
}

/// Turns text into vectors of length 1.
pub trait Embedder: Send + Sync {
    /// Which model this is.
    fn identity(&self) -> &ModelIdentity;

    /// Numbers per vector.
    fn dims(&self) -> usize {
        self.identity().dims
    }

    /// The vector of a query. It may differ from that of the same text as one that is stored. Text beyond the model's limit is ignored (the default model reads 256 tokens).
    fn embed_query(&self, text: &str) -> Result<Vec<f32>>;

    /// The vectors of `texts` that are stored, in order. Called with many at once, so that they can run in batches. Text beyond the model's
    /// limit is ignored.
    fn embed_batch(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>>;

    /// Like [`Embedder::embed_batch`], for a model that may refuse a text, fail halfway, or take long: the outcomes of the
    /// first texts, in order; of at least one. An error means that there is not even one. Ends early when `progress` is
    /// cancelled. A provider answers one request, so that what it made can be stored before it is asked again.
    fn embed_each(&self, texts: &[&str], _progress: &dyn Progress) -> Result<Vec<Result<Vec<f32>, Refusal>>> {
        Ok(self.embed_batch(texts)?.into_iter().map(Ok).collect())
    }

    /// Whether it is worth calling now: a provider that failed a moment ago is not.
    fn is_available(&self) -> bool {
        true
    }

    /// Whether a caller that saves a text may wait for its vector.
    fn is_quick(&self) -> bool {
        true
    }

    /// Whether its vocabulary has a word whole, as it has most ordinary words, and some names. Most names are of pieces, and so are
    /// words of the trade ("timeout", "config") and rarer ones ("broccoli"). `None` if that is not known.
    fn has_word(&self, _word: &str) -> Option<bool> {
        None
    }

    /// The share of a text's characters, from 0 to 1, that it reads as unknown tokens, of which it knows no more than that
    /// something is there. White space does not count. `None` if that is not known.
    fn unknown_share(&self, _text: &str) -> Option<f64> {
        None
    }

    /// The languages that it was trained on.
    fn languages(&self) -> Languages {
        Languages::Unknown
    }

    /// Whether built-in sentences may be embedded to learn which cosines unrelated texts have.
    fn is_measurable(&self) -> bool {
        true
    }

    /// Its batch jobs, if it is a provider that takes them.
    fn batch_jobs(&self) -> Option<&dyn BatchJobs> {
        None
    }
}

/// Judges how well a text answers a question.
pub trait Reranker: Send + Sync {
    /// A logit: above 0, it probably does. About -12 to 11.
    fn judge(&self, question: &str, text: &str) -> Result<f32>;
}
