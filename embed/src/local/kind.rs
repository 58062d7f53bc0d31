//! What differs between the models with a name.

use std::sync::Arc;

use memorist_bert::{E5File, Model, Shape, pack_e5, pack_minilm};

use crate::embedder::Languages;
use crate::error::{Error, Result};
use crate::named::NamedModel;
use crate::provision::ModelFiles;
use crate::tokenizer::Tokenizer;
use crate::unigram::{self, Shared, Unigram};
use crate::wordpiece::WordPiece;

impl NamedModel {
    /// The sizes of its network.
    pub(super) fn shape(self) -> Shape {
        match self {
            NamedModel::MiniLm => Shape::MINILM,
            NamedModel::E5Small => Shape::E5_SMALL,
        }
    }

    /// The tokens that mark the beginning and the end of a text.
    pub(super) fn marks(self) -> [u32; 2] {
        match self {
            // [CLS] and [SEP]
            NamedModel::MiniLm => [101, 102],
            // <s> and </s>
            NamedModel::E5Small => [0, 2],
        }
    }

    /// What precedes a query.
    pub(super) fn query_prefix(self) -> &'static str {
        match self {
            NamedModel::MiniLm => "",
            NamedModel::E5Small => "query: ",
        }
    }

    /// What precedes a text that is stored.
    pub(super) fn text_prefix(self) -> &'static str {
        match self {
            NamedModel::MiniLm => "",
            NamedModel::E5Small => "passage: ",
        }
    }

    /// The languages that it was trained on.
    pub(super) fn languages(self) -> Languages {
        match self {
            NamedModel::MiniLm => Languages::English,
            NamedModel::E5Small => Languages::Many,
        }
    }

    /// Packs its weights, and its vocabulary if it is in the same file.
    pub(super) fn pack(self, file: Vec<u8>) -> Result<Vec<u8>> {
        let failed = |error: memorist_bert::Error| Error::Failed(error.to_string());
        match self {
            NamedModel::MiniLm => pack_minilm(file).map_err(failed),
            NamedModel::E5Small => {
                let vocabulary = unigram::make(&E5File::read(&file).map_err(failed)?)?;
                pack_e5(&file, &vocabulary).map_err(failed)
            }
        }
    }

    /// Its tokenizer.
    pub(super) fn tokenizer(self, files: &ModelFiles, model: &Arc<Model>) -> Result<Tokenizer> {
        let tokenizer = match self {
            NamedModel::MiniLm => {
                let json = files.tokenizer.read()?;
                let words = std::str::from_utf8(&json).ok().and_then(WordPiece::from_tokenizer_json);
                words.map(|words| Tokenizer::WordPiece(Box::new(words)))
            }
            NamedModel::E5Small => {
                let vocabulary: Shared = Arc::new(Vocabulary(model.clone()));
                Unigram::new(vocabulary).map(Tokenizer::Unigram)
            }
        };
        tokenizer
            .ok_or_else(|| Error::Failed(format!("{} cannot be used as a tokenizer", files.tokenizer.path().display())))
    }
}

/// What was packed with a model.
struct Vocabulary(Arc<Model>);

impl AsRef<[u8]> for Vocabulary {
    fn as_ref(&self) -> &[u8] {
        self.0.rest()
    }
}
