//! A model with a name, run by this program.

use std::sync::Arc;

use super::packed::{PackedModel, open_or_make};
use crate::embedder::{Embedder, Languages, Refusal};
use crate::error::{Error, Result};
use crate::identity::ModelIdentity;
use crate::named::NamedModel;
use crate::progress::{NoProgress, Progress};
use crate::provision::ModelFiles;
use crate::tokenizer::Tokenizer;
use crate::window::{MAX_TOKENS, beginning};

/// A model with a name.
///
/// Queries run on the thread of their caller, so that they wait for nobody. Many texts run on all cores.
pub(crate) struct LocalEmbedder {
    named: NamedModel,
    identity: ModelIdentity,
    tokenizer: Tokenizer,
    model: PackedModel,
}

impl LocalEmbedder {
    /// Opens the packed weights, or makes them, and reads the tokenizer.
    pub(crate) fn load(named: NamedModel, files: &ModelFiles) -> Result<Self> {
        let model = PackedModel::open(named.recipe(), &files.model)?;
        let tokenizer = named.tokenizer(files, &model.model())?;
        Ok(LocalEmbedder { named, identity: named.identity(), tokenizer, model })
    }

    /// The tokens of a text that the model reads.
    fn tokens(&self, prefix: &str, text: &str) -> Vec<u32> {
        let [first, last] = self.named.marks();
        let mut tokens = vec![first];
        let text = beginning(text);
        match prefix {
            "" => self.tokenizer.push_ids(text, &mut tokens),
            prefix => self.tokenizer.push_ids(&[prefix, text].concat(), &mut tokens),
        }
        tokens.truncate(MAX_TOKENS - 1);
        tokens.push(last);
        tokens
    }

    /// The vectors of the texts, or of the first ones if it is cancelled.
    fn embed_many(&self, texts: &[&str], progress: &dyn Progress) -> Result<Vec<Vec<f32>>> {
        let tokens: Vec<Vec<u32>> = texts.iter().map(|text| self.tokens(self.named.text_prefix(), text)).collect();
        let tokens: Vec<&[u32]> = tokens.iter().map(Vec::as_slice).collect();
        self.model.run(|model| model.embed_many(&tokens, || progress.cancelled()))
    }
}

impl Embedder for LocalEmbedder {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn embed_query(&self, text: &str) -> Result<Vec<f32>> {
        let tokens = self.tokens(self.named.query_prefix(), text);
        self.model.run(|model| model.embed(&tokens))
    }

    fn embed_batch(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>> {
        self.embed_many(texts, &NoProgress)
    }

    fn embed_each(&self, texts: &[&str], progress: &dyn Progress) -> Result<Vec<Result<Vec<f32>, Refusal>>> {
        let made = self.embed_many(texts, progress)?;
        if made.is_empty() && !texts.is_empty() {
            return Err(Error::Cancelled);
        }
        Ok(made.into_iter().map(Ok).collect())
    }

    fn has_word(&self, word: &str) -> Option<bool> {
        Some(self.tokenizer.has_word(word))
    }

    fn unknown_share(&self, text: &str) -> Option<f64> {
        Some(self.tokenizer.unknown_share(beginning(text)))
    }

    fn languages(&self) -> Languages {
        self.named.languages()
    }
}

/// The tokenizer that is packed with the weights of these files.
pub(crate) fn packed_tokenizer(files: &ModelFiles) -> Result<Tokenizer> {
    let named = files.named.ok_or_else(|| Error::Failed("a model without a name is not packed".to_owned()))?;
    named.tokenizer(files, &Arc::new(open_or_make(named.recipe(), &files.model)?))
}
