//! Removes a source with the records that were read from it.

use memorist_engine::progress::Progress;
use memorist_engine::types::{SourceId, SourceKind};
use memorist_engine::{Engine, Error, Result};

use crate::sync::{SyncOptions, Syncer};

/// Removes a source, with the records that were read from it if `with_records`: these may be read again by another one. A
/// turn that a transcript of another source repeats stays. Returns how many records were deleted; `None` if there is no such
/// source.
///
/// # Errors
/// Errors of the store.
pub fn remove_source(
    syncer: &Syncer,
    engine: &Engine,
    id: SourceId,
    with_records: bool,
    progress: &dyn Progress,
) -> Result<Option<u64>> {
    let known = engine.sources()?.into_iter().find(|source| source.id == id);
    // First the source, so that nobody saves what was read of it meanwhile.
    let Some((source, paths)) = known.zip(engine.remove_source(id, with_records)?) else { return Ok(None) };
    if !with_records {
        return Ok(Some(0));
    }
    if source.source.kind == SourceKind::Sessions {
        let others = engine.sources()?.into_iter().filter(|other| other.source.format == source.source.format);
        for other in others {
            let options = SyncOptions { source: Some(other.id), force: false };
            match syncer.sync(engine, &options, progress) {
                Ok(_) => {}
                // What it repeats comes back when it is read.
                Err(Error::Cancelled) => break,
                Err(error) => tracing::warn!("{} cannot be read now: {error}", other.source.path),
            }
        }
    }
    engine.remove_read(&paths.into_iter().collect()).map(Some)
}
