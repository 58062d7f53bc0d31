//! The names in use: projects, and tags.

use super::{Engine, Memories};
use crate::error::Result;
use crate::types::Names;
use crate::types::bounds::check_limit;

/// Memories whose tags are counted.
const NEWEST: usize = 2_000;

impl Engine {
    /// A notice about a project that this node of a team does not follow: its memories are saved on the server, and not found
    /// here. `None` if they are found here.
    pub fn unfollowed(&self, project: &str) -> Result<Option<String>> {
        self.store.records.unfollowed(project)
    }
}

impl Memories<'_> {
    /// The projects with a memory that the viewer sees, ordered by name: at most `limit` that begin with `start`,
    /// ignoring case.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid) names what is out of bounds.
    pub fn projects(&self, start: &str, limit: usize) -> Result<Vec<String>> {
        self.viewer.validate()?;
        check_limit(limit)?;
        self.engine.store.records.snapshot()?.projects(self.viewer, start, limit, self.engine.store.now())
    }

    /// Whether a record that the viewer sees, live or expired, belongs to this project.
    pub fn has_project(&self, name: &str) -> Result<bool> {
        self.viewer.validate()?;
        self.engine.store.records.snapshot()?.has_project(name, self.viewer)
    }

    /// A notice if some memories of the viewer are on the server alone; `None` if none are.
    pub fn unfollowed(&self) -> Result<Option<String>> {
        self.engine.store.records.unfollowed_of(self.viewer)
    }

    /// The projects in use, of what the viewer sees, those with the most memories first, each with how many it has: what has
    /// expired is counted until it is removed.
    pub fn project_sizes(&self) -> Result<Vec<(String, u64)>> {
        self.viewer.validate()?;
        self.engine.store.records.snapshot()?.project_sizes(self.viewer)
    }

    /// The projects and agents in use, and the tags of the newest 2,000 memories: of what the viewer sees, each with how many
    /// have it. What has expired is counted until it is removed.
    pub fn names(&self) -> Result<Names> {
        self.viewer.validate()?;
        self.engine.store.records.snapshot()?.names(self.viewer, NEWEST)
    }

    /// The tags of the memories that the viewer sees, ordered and limited like [`Memories::projects`].
    ///
    /// # Errors
    /// As [`Memories::projects`].
    pub fn tags(&self, start: &str, limit: usize) -> Result<Vec<String>> {
        self.viewer.validate()?;
        check_limit(limit)?;
        self.engine.store.records.snapshot()?.tags(self.viewer, start, limit, self.engine.store.now())
    }
}
