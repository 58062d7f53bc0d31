//! The tokenizer of the model, if it is on this machine.

use crate::provision::Provision;
use crate::settings::ModelSettings;
use crate::wordpiece::WordPiece;

/// The tokenizer of the model that `settings` name. Loads neither the model nor ONNX Runtime, and fetches nothing.
///
/// `None` if there is no such file yet, if others could have changed it, or if it is of another kind.
pub fn local_tokenizer(settings: &ModelSettings) -> Option<WordPiece> {
    let file = Provision::new(settings).ok()?.tokenizer()?;
    let json = file.read().inspect_err(|error| tracing::debug!("tokens are not counted: {error}")).ok()?;
    WordPiece::from_tokenizer_json(std::str::from_utf8(&json).ok()?)
}
