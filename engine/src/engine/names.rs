//! The names in use: projects, and tags.

use super::Engine;
use crate::error::Result;
use crate::types::bounds::check_limit;
use crate::types::{Names, Viewer};

/// Memories whose tags are counted.
const NEWEST: usize = 2_000;

impl Engine {
    /// The projects with a memory that `viewer` sees, ordered by name: at most `limit` that begin with `start`,
    /// ignoring case.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid) names what is out of bounds.
    pub fn projects(&self, viewer: &Viewer, start: &str, limit: usize) -> Result<Vec<String>> {
        viewer.validate()?;
        check_limit(limit)?;
        self.store.records.snapshot()?.projects(viewer, start, limit, self.store.now())
    }

    /// Whether a record that `viewer` sees, live or expired, belongs to this project.
    pub fn has_project(&self, name: &str, viewer: &Viewer) -> Result<bool> {
        viewer.validate()?;
        self.store.records.snapshot()?.has_project(name, viewer)
    }

    /// A notice about a project that this node of a team does not follow: its memories are saved on the server, and not found
    /// here. `None` if they are found here.
    pub fn unfollowed(&self, project: &str) -> Result<Option<String>> {
        self.store.records.unfollowed(project)
    }

    /// A notice for a viewer some of whose memories are on the server alone; `None` for others.
    pub fn unfollowed_of(&self, viewer: &Viewer) -> Result<Option<String>> {
        self.store.records.unfollowed_of(viewer)
    }

    /// The projects in use, of what `viewer` sees, those with the most memories first, each with how many it has: what has
    /// expired is counted until it is removed.
    pub fn project_sizes(&self, viewer: &Viewer) -> Result<Vec<(String, u64)>> {
        viewer.validate()?;
        self.store.records.snapshot()?.project_sizes(viewer)
    }

    /// The projects and agents in use, and the tags of the newest 2,000 memories: of what `viewer` sees, each with how many
    /// have it. What has expired is counted until it is removed.
    pub fn names(&self, viewer: &Viewer) -> Result<Names> {
        viewer.validate()?;
        self.store.records.snapshot()?.names(viewer, NEWEST)
    }

    /// The tags of the memories that `viewer` sees, ordered and limited like [`Engine::projects`].
    ///
    /// # Errors
    /// As [`Engine::projects`].
    pub fn tags(&self, viewer: &Viewer, start: &str, limit: usize) -> Result<Vec<String>> {
        viewer.validate()?;
        check_limit(limit)?;
        self.store.records.snapshot()?.tags(viewer, start, limit, self.store.now())
    }
}
