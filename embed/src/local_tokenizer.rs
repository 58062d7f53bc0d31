//! The tokenizer of the model, if it is on this machine.

use crate::local::packed_tokenizer;
use crate::provision::{Provision, TokenizerFile};
use crate::settings::ModelSettings;
use crate::tokenizer::Tokenizer;
use crate::wordpiece::WordPiece;

/// The tokenizer of the model that `settings` name. Loads neither the model nor ONNX Runtime, and fetches nothing.
///
/// `None` if there is no such file yet, if others could have changed it, or if it is of another kind.
pub fn local_tokenizer(settings: &ModelSettings) -> Option<Tokenizer> {
    let read = match Provision::new(settings).ok()?.tokenizer()? {
        TokenizerFile::Json(file) => file.read().map(|json| {
            let words = std::str::from_utf8(&json).ok().and_then(WordPiece::from_tokenizer_json);
            words.map(|words| Tokenizer::WordPiece(Box::new(words)))
        }),
        TokenizerFile::Packed(files) => packed_tokenizer(&files).map(Some),
    };
    read.inspect_err(|error| tracing::debug!("tokens are not counted: {error}")).ok()?
}
