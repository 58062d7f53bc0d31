//! all-MiniLM-L6-v2, run by this program.

use std::sync::Arc;

use memorist_bert::Model;
use parking_lot::RwLock;

use super::packed;
use crate::embedder::{Embedder, Languages};
use crate::error::{Error, Result};
use crate::identity::ModelIdentity;
use crate::provision::{ModelFiles, SourceFile};
use crate::window::{MAX_BYTES, MAX_TOKENS};
use crate::wordpiece::WordPiece;

/// The tokens that mark the beginning and the end of a text, `[CLS]` and `[SEP]`.
const MARKS: [u32; 2] = [101, 102];

/// The default model.
///
/// Queries run on the thread of their caller, so that they wait for nobody. Many texts run on all cores.
pub(crate) struct LocalEmbedder {
    identity: ModelIdentity,
    tokenizer: WordPiece,
    weights: SourceFile,
    model: RwLock<Arc<Model>>,
}

impl LocalEmbedder {
    /// Opens the packed weights, or makes them, and reads the tokenizer.
    pub(crate) fn load(files: &ModelFiles) -> Result<Self> {
        let json = files.tokenizer.read()?;
        let tokenizer = std::str::from_utf8(&json).ok().and_then(WordPiece::from_tokenizer_json).ok_or_else(|| {
            Error::Failed(format!("{} cannot be used as a tokenizer", files.tokenizer.path().display()))
        })?;
        Ok(LocalEmbedder {
            identity: ModelIdentity::default_model(),
            tokenizer,
            weights: files.model.clone(),
            model: RwLock::new(Arc::new(packed::open_or_make(&files.model)?)),
        })
    }

    /// The tokens of a text that the model reads.
    fn tokens(&self, text: &str) -> Vec<u32> {
        let mut tokens = vec![MARKS[0]];
        self.tokenizer.push_ids(&text[..text.floor_char_boundary(MAX_BYTES)], &mut tokens);
        tokens.truncate(MAX_TOKENS - 1);
        tokens.push(MARKS[1]);
        tokens
    }

    /// Runs the model. Weights that were damaged meanwhile are packed again, once.
    fn run<T>(&self, work: impl Fn(&Model) -> Result<T, memorist_bert::Error>) -> Result<T> {
        let failed = |error: memorist_bert::Error| Error::Failed(error.to_string());
        let model = self.model.read().clone();
        match work(&model) {
            Err(memorist_bert::Error::Unusable(why)) => {
                tracing::warn!("{why}; it is packed again");
                let made = Arc::new(packed::make(&self.weights)?);
                *self.model.write() = made.clone();
                work(&made).map_err(failed)
            }
            made => made.map_err(failed),
        }
    }
}

impl Embedder for LocalEmbedder {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn embed_query(&self, text: &str) -> Result<Vec<f32>> {
        let tokens = self.tokens(text);
        self.run(|model| model.embed(&tokens))
    }

    fn embed_batch(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>> {
        let tokens: Vec<Vec<u32>> = texts.iter().map(|text| self.tokens(text)).collect();
        let tokens: Vec<&[u32]> = tokens.iter().map(Vec::as_slice).collect();
        self.run(|model| model.embed_many(&tokens))
    }

    fn has_word(&self, word: &str) -> Option<bool> {
        Some(self.tokenizer.has_word(word))
    }

    fn unknown_share(&self, text: &str) -> Option<f64> {
        Some(self.tokenizer.unknown_share(&text[..text.floor_char_boundary(MAX_BYTES)]))
    }

    fn languages(&self) -> Languages {
        Languages::English
    }
}
