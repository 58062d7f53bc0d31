//! Differences between the named models.

use std::sync::Arc;

use memorist_bert::{E5File, Model, Shape, pack_e5, pack_minilm};

use super::packed::Recipe;
use crate::embedder::Languages;
use crate::error::{Error, Result};
use crate::named::NamedModel;
use crate::provision::{ModelFiles, SourceFile};
use crate::tokenizer::Tokenizer;
use crate::unigram::{self, Shared, Unigram};
use crate::wordpiece::WordPiece;

impl NamedModel {
    /// How its weights are packed, with its vocabulary if it is in the same file.
    pub(super) fn recipe(self) -> Recipe {
        match self {
            NamedModel::MiniLm => Recipe { shape: Shape::MINILM, pack: |file| Ok(pack_minilm(file)?) },
            NamedModel::E5Small => Recipe {
                shape: Shape::E5_SMALL,
                pack: |file| {
                    let vocabulary = unigram::make(&E5File::read(&file)?)?;
                    Ok(pack_e5(&file, &vocabulary)?)
                },
            },
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

    /// The prefix of a query.
    pub(super) fn query_prefix(self) -> &'static str {
        match self {
            NamedModel::MiniLm => "",
            NamedModel::E5Small => "query: ",
        }
    }

    /// The prefix of a text that is stored.
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

    /// Its tokenizer.
    pub(super) fn tokenizer(self, files: &ModelFiles, model: &Arc<Model>) -> Result<Tokenizer> {
        let tokenizer = match self {
            NamedModel::MiniLm => return Ok(Tokenizer::WordPiece(Box::new(word_piece(&files.tokenizer)?))),
            NamedModel::E5Small => {
                let vocabulary: Shared = Arc::new(PackedVocabulary(model.clone()));
                Unigram::new(vocabulary).map(Tokenizer::Unigram)
            }
        };
        tokenizer.ok_or_else(|| no_tokenizer(&files.tokenizer))
    }
}

/// Reads a `tokenizer.json`.
pub(super) fn word_piece(file: &SourceFile) -> Result<WordPiece> {
    let json = file.read()?;
    let words = std::str::from_utf8(&json).ok().and_then(WordPiece::from_tokenizer_json);
    words.ok_or_else(|| no_tokenizer(file))
}

fn no_tokenizer(file: &SourceFile) -> Error {
    Error::Failed(format!("{} cannot be used as a tokenizer", file.path().display()))
}

/// The vocabulary that is packed with a model.
struct PackedVocabulary(Arc<Model>);

impl AsRef<[u8]> for PackedVocabulary {
    fn as_ref(&self) -> &[u8] {
        self.0.rest()
    }
}
