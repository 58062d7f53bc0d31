//! The memories of a store that a viewer sees.

use super::Engine;
use crate::types::Viewer;

/// The memories of a store that one viewer sees, and what the viewer may do with them: [`Engine::viewed_by`]. To it, a memory
/// that it does not see does not exist.
///
/// A query or a filter names its viewer itself ([`Engine::search`], [`Engine::list`]).
///
/// # Errors
/// Methods fail with [`Error::Invalid`](crate::Error::Invalid) if a name of the viewer is out of bounds.
#[derive(Clone, Copy)]
pub struct Memories<'a> {
    pub(super) engine: &'a Engine,
    pub(super) viewer: &'a Viewer,
}

impl Engine {
    /// The memories that `viewer` sees.
    ///
    /// ```
    /// # use memorist_engine::{Engine, config::Config};
    /// use memorist_engine::types::{NewRecord, RecordUpdate, Viewer};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let engine = Engine::open(folder.path(), Config::without_model())?;
    /// let saved = engine.add(&NewRecord::new("The deploy key expires in May"))?;
    /// let own = engine.viewed_by(&Viewer::OWNER);
    /// own.update(saved.id, &RecordUpdate { importance: Some(9), ..RecordUpdate::default() })?;
    /// assert_eq!(own.history(saved.id, None, 10)?.len(), 2);
    /// assert!(own.delete(saved.id)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn viewed_by<'a>(&'a self, viewer: &'a Viewer) -> Memories<'a> {
        Memories { engine: self, viewer }
    }
}
