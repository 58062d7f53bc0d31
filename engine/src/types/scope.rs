//! Whose memory it is, and who sees it.

use serde::{Deserialize, Serialize};

use super::bounds::check_label;
use super::units::RecordId;
use crate::error::{Error, Result};

/// Whose memory it is. `None` is global: seen by every project, or every agent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Scope {
    /// The agent that owns the record.
    pub agent: Option<String>,
    /// The project that the record belongs to.
    pub project: Option<String>,
}

impl Scope {
    /// Checks both names.
    pub fn validate(&self) -> Result<()> {
        for (field, name) in [("agent", &self.agent), ("project", &self.project)] {
            if let Some(name) = name {
                check_name(field, name)?;
            }
        }
        Ok(())
    }
}

/// How far a viewer sees among projects, or among agents.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub enum Reach {
    /// All of them.
    #[default]
    Every,
    /// None of them: only what belongs to no one.
    Shared,
    /// This one, and what belongs to no one.
    Own(String),
    /// The same to read. What belongs to no one is not changed.
    Only(String),
}

impl Reach {
    /// Stands for [`Reach::Every`] where a name is given; no project and no agent can have it.
    pub const EVERY: &str = "*";

    /// Whether what belongs to `owner` is seen.
    pub fn sees(&self, owner: Option<&str>) -> bool {
        match (self, owner) {
            (Reach::Every, _) | (_, None) => true,
            (Reach::Own(name) | Reach::Only(name), Some(owner)) => name == owner,
            (Reach::Shared, Some(_)) => false,
        }
    }

    /// Whether what belongs to `owner` may be changed.
    pub fn changes(&self, owner: Option<&str>) -> bool {
        self.sees(owner) && !(matches!(self, Reach::Only(_)) && owner.is_none())
    }

    /// The one whose memories are meant, where it is one.
    pub fn name(&self) -> Option<&str> {
        match self {
            Reach::Every | Reach::Shared => None,
            Reach::Own(name) | Reach::Only(name) => Some(name),
        }
    }
}

/// Who looks: what a viewer does not see is to him as if it did not exist, for every call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Viewer {
    /// Whose agents' memories.
    pub agent: Reach,
    /// Which projects' memories.
    pub project: Reach,
}

impl Viewer {
    /// Sees every memory.
    pub const OWNER: Viewer = Viewer { agent: Reach::Every, project: Reach::Every };

    /// Sees this project's memories and the global ones, of every agent.
    pub fn in_project(name: impl Into<String>) -> Self {
        Viewer { project: Reach::Own(name.into()), ..Viewer::OWNER }
    }

    /// Sees this agent's memories and the shared ones, of every project.
    pub fn of_agent(name: impl Into<String>) -> Self {
        Viewer { agent: Reach::Own(name.into()), ..Viewer::OWNER }
    }

    /// Who a memory of this scope is for.
    pub fn of(scope: &Scope) -> Self {
        let reach = |name: &Option<String>| name.clone().map_or(Reach::Shared, Reach::Own);
        Viewer { agent: reach(&scope.agent), project: reach(&scope.project) }
    }

    /// Whether a memory of this scope is seen.
    pub fn sees(&self, scope: &Scope) -> bool {
        self.agent.sees(scope.agent.as_deref()) && self.project.sees(scope.project.as_deref())
    }

    /// Whether a memory of this scope may be changed, deleted or linked.
    pub fn changes(&self, scope: &Scope) -> bool {
        self.agent.changes(scope.agent.as_deref()) && self.project.changes(scope.project.as_deref())
    }

    /// Checks that a memory that is seen may be changed, too.
    ///
    /// # Errors
    /// [`Error::Invalid`] says whose memories may be.
    pub fn check_change(&self, id: RecordId, scope: &Scope) -> Result<()> {
        let owners = [("project", &self.project, &scope.project), ("agent", &self.agent, &scope.agent)];
        for (owner, reach, own) in owners {
            if !reach.changes(own.as_deref()) {
                let whose = reach.name().unwrap_or_default();
                let why =
                    format!("memory {id} belongs to no {owner}; only memories of {owner} {whose:?} may be changed");
                return Err(Error::invalid("id", why));
            }
        }
        Ok(())
    }

    /// Checks the names.
    pub fn validate(&self) -> Result<()> {
        for (field, reach) in [("agent", &self.agent), ("project", &self.project)] {
            if let Some(name) = reach.name() {
                check_name(field, name)?;
            }
        }
        Ok(())
    }
}

fn check_name(field: &'static str, name: &str) -> Result<()> {
    if name == Reach::EVERY {
        return Err(Error::invalid(field, format!("{name:?} stands for every {field}, and cannot be the name of one")));
    }
    check_label(field, name)
}
