//! The model that reads a question and a memory together.

use memorist_bert::{Shape, pack_ms_marco};

use super::kind::word_piece;
use super::packed::{PackedModel, Recipe};
use crate::embedder::Reranker;
use crate::error::{Error, Result};
use crate::provision::{ModelFiles, Provision};
use crate::settings::ModelSettings;
use crate::window::{MAX_TOKENS, beginning};
use crate::wordpiece::WordPiece;

const RECIPE: Recipe = Recipe { shape: Shape::MS_MARCO, pack: |file| Ok(pack_ms_marco(file)?) };
/// The marks before the question, and after each of both texts.
const CLS: u32 = 101;
const SEP: u32 = 102;
/// The most tokens of a question; the memory gets the others.
const MAX_QUESTION: usize = 128;
/// A pair of which the logit is known.
const GOLDEN: (&str, &str, f32) =
    ("how many people live in berlin", "Berlin has a population of 3,520,031 registered inhabitants.", 9.1);
/// Maximum deviation of its logit.
const GOLDEN_APART: f32 = 0.5;

/// ms-marco-MiniLM-L-12-v2. It knows English only.
pub(crate) struct LocalReranker {
    words: WordPiece,
    model: PackedModel,
}

impl LocalReranker {
    /// The model, if its files are on this machine.
    pub(crate) fn find(settings: &ModelSettings) -> Result<Option<Self>> {
        // Without a cache there is no reranker.
        let Ok(provision) = Provision::of_reranker(settings) else { return Ok(None) };
        let files = provision.locate()?;
        files.map(|files| Self::load(&files)).transpose()
    }

    pub(crate) fn load(files: &ModelFiles) -> Result<Self> {
        Ok(LocalReranker { words: word_piece(&files.tokenizer)?, model: PackedModel::open(RECIPE, &files.model)? })
    }

    /// Checks that the logit of a known pair is right.
    pub(crate) fn checked(self) -> Result<Self> {
        let (question, text, expected) = GOLDEN;
        let logit = self.judge(question, text)?;
        match (logit - expected).abs() <= GOLDEN_APART {
            true => Ok(self),
            false => Err(Error::Failed(format!("the reranker gives {logit:.2} where {expected:.2} is right"))),
        }
    }

    /// The tokens of both texts with the marks, and where those of the second begin.
    fn tokens(&self, question: &str, text: &str) -> (Vec<u32>, usize) {
        let mut tokens = vec![CLS];
        self.words.push_ids(beginning(question), &mut tokens);
        tokens.truncate(MAX_QUESTION);
        tokens.push(SEP);
        let second = tokens.len();
        self.words.push_ids(beginning(text), &mut tokens);
        tokens.truncate(MAX_TOKENS - 1);
        tokens.push(SEP);
        (tokens, second)
    }
}

impl Reranker for LocalReranker {
    fn judge(&self, question: &str, text: &str) -> Result<f32> {
        let (tokens, second) = self.tokens(question, text);
        self.model.run(|model| model.judge(&tokens, second))
    }
}
