//! A text that is there already, out of sight of the tools that are asked to save it.

use memorist_engine::types::{Record, RecordId, Viewer};
use memorist_engine::{Engine, Error, Result};

/// Checks that a new text, which was found to be that of memory `id`, is one that the profile `shows`: the store keeps a
/// text once, whatever its type, and to tell of a memory that no tool of the profile finds would be to say it was saved.
///
/// # Errors
/// [`Error::Invalid`] for `field` names the memory otherwise.
pub fn check_twin(
    engine: &Engine,
    field: &'static str,
    id: RecordId,
    viewer: &Viewer,
    shows: fn(&Record) -> bool,
) -> Result<()> {
    match engine.peek(id, viewer)? {
        Some(twin) if !shows(&twin) => {
            let why = format!(
                "is not saved: memory {id}, a {} that these tools do not show, has this text already; say it in other \
                 words, or delete that one with `memorist delete {id}`",
                twin.kind
            );
            Err(Error::invalid(field, why))
        }
        _ => Ok(()),
    }
}
