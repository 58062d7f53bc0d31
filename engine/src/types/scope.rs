//! The owner of a memory, and who sees it.

use serde::{Deserialize, Serialize};

use super::bounds::check_label;
use super::label::is_same_label;
use super::units::RecordId;
use crate::error::{Error, Result};

/// The owner of a memory. `None` is global: visible to every project, or every agent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Scope {
    /// The agent that owns the record.
    pub agent: Option<String>,
    /// The project that the record belongs to.
    pub project: Option<String>,
}

impl Scope {
    /// Whether it is this one, however the names are typed.
    pub(crate) fn is(&self, other: &Scope) -> bool {
        let is_same = |one: &Option<String>, other: &Option<String>| match (one, other) {
            (Some(one), Some(other)) => is_same_label(one, other),
            _ => one.is_none() && other.is_none(),
        };
        is_same(&self.agent, &other.agent) && is_same(&self.project, &other.project)
    }

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

/// Which projects, or agents, a viewer sees.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub enum Reach {
    /// All of them.
    #[default]
    Every,
    /// None of them: only what is shared.
    Shared,
    /// This one, and what is shared.
    Own(String),
    /// Like [`Reach::Own`], but what is shared cannot be changed.
    Only(String),
    /// This agent if one is named, what is shared, and the memories of [`Reach::MAIN`].
    WithMain(Option<String>),
}

impl Reach {
    /// Stands for [`Reach::Every`] as a name; no project or agent can have it.
    pub const EVERY: &str = "*";

    /// The agent of callers that name none, in the systems where every memory belongs to an agent. What it has saved is for
    /// everyone there, as what is shared is here.
    pub const MAIN: &str = "main";

    /// Whether what belongs to `owner` is visible.
    pub fn sees(&self, owner: Option<&str>) -> bool {
        match (self, owner) {
            (Reach::Every, _) | (_, None) => true,
            (Reach::Shared, Some(_)) => false,
            (_, Some(owner)) => self.names().any(|name| is_same_label(name, owner)),
        }
    }

    /// The names whose memories are visible beside what is shared; none says nothing of [`Reach::Every`].
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let main = matches!(self, Reach::WithMain(_)).then_some(Reach::MAIN);
        self.name().into_iter().chain(main)
    }

    /// Whether a search with the reach `other` was its own.
    fn made(&self, other: &Reach) -> bool {
        match (self.name(), other.name()) {
            _ if *self == Reach::Every => true,
            (Some(name), Some(other)) => is_same_label(name, other),
            (None, None) => *other != Reach::Every,
            _ => false,
        }
    }

    /// Whether what belongs to `owner` may be changed.
    pub fn changes(&self, owner: Option<&str>) -> bool {
        self.sees(owner) && !(matches!(self, Reach::Only(_)) && owner.is_none())
    }

    /// The name, if it is a single one.
    pub fn name(&self) -> Option<&str> {
        match self {
            Reach::Every | Reach::Shared => None,
            Reach::Own(name) | Reach::Only(name) => Some(name),
            Reach::WithMain(name) => name.as_deref(),
        }
    }
}

/// The viewer of a call: what is not visible to it does not exist for it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Viewer {
    /// Visible agents.
    pub agent: Reach,
    /// Visible projects.
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

    /// The viewer that a memory of this scope is for.
    pub fn of(scope: &Scope) -> Self {
        let reach = |name: &Option<String>| name.clone().map_or(Reach::Shared, Reach::Own);
        Viewer { agent: reach(&scope.agent), project: reach(&scope.project) }
    }

    /// Whether a memory of this scope is visible.
    pub fn sees(&self, scope: &Scope) -> bool {
        self.agent.sees(scope.agent.as_deref()) && self.project.sees(scope.project.as_deref())
    }

    /// Whether a memory of this scope may be changed, deleted or linked.
    pub fn changes(&self, scope: &Scope) -> bool {
        self.agent.changes(scope.agent.as_deref()) && self.project.changes(scope.project.as_deref())
    }

    /// Whether a search by `other` was its own: of the same project and agent. A search says what somebody wanted to know, so
    /// that others do not see it, whatever was searched.
    pub fn made(&self, other: &Viewer) -> bool {
        self.agent.made(&other.agent) && self.project.made(&other.project)
    }

    /// Checks that a visible memory may be changed, too.
    ///
    /// # Errors
    /// [`Error::Invalid`] says which memories may be changed.
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
