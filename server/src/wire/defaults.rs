//! Project and agent of a server or a command: the defaults of a call, and, with `--isolate`, the only values allowed.

use std::{iter, mem};

use memorist_engine::types::{MAX_LIMIT, MAX_RESULTS, Reach, Scope, Viewer};
use memorist_engine::{Error, Result};
use serde_json::{Map, Value};

use super::values::Patch;

/// Settings of this process that fill in what a call omits. The [`Caller`] of every tool and command is determined only
/// here, so that [`only`](Defaults::only) applies to all of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Defaults {
    /// The project of new memories, and of the viewer.
    project: Option<String>,
    /// The agent of new memories, and of the viewer.
    agent: Option<String>,
    /// Whether the viewer sees every project; new memories then have no project.
    every_project: bool,
    /// Whether the viewer sees every agent; new memories then have no agent.
    every_agent: bool,
    /// The visibility if neither the call nor these name one: everything, for a person at the command line.
    otherwise: Reach,
    /// Whether the memories of [`Reach::MAIN`] are visible where a call names no agent. Not with `--isolate`.
    with_main: bool,
    /// Reason why other names are rejected, if they are.
    only: Option<ScopeLock>,
    /// Maximum results of a search that a call may request, if not [`MAX_LIMIT`].
    most_results: Option<usize>,
}

/// Project and agent of a call, as the call and the settings say. An operation resolves them once ([`Defaults::caller`]), and
/// passes them on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The memories that the call sees.
    pub viewer: Viewer,
    /// The scope of new memories.
    pub scope: Scope,
}

/// The reason why a caller is limited to its project and agent.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ScopeLock {
    /// The server was started with `--isolate`.
    Server,
    /// The caller's token, which has these other projects, too: a call may name one of them.
    Token(Vec<String>),
}

impl Defaults {
    /// From names in the settings: `*` is all.
    ///
    /// # Errors
    /// [`Error::Invalid`] for an invalid name.
    pub fn named(project: Option<String>, agent: Option<String>) -> Result<Self> {
        let is_every = |name: &Option<String>| name.as_deref() == Some(Reach::EVERY);
        let (every_project, every_agent) = (is_every(&project), is_every(&agent));
        let scope = Scope { project: project.filter(|_| !every_project), agent: agent.filter(|_| !every_agent) };
        scope.validate()?;
        let Scope { project, agent } = scope;
        Ok(Defaults { project, agent, every_project, every_agent, ..Defaults::default() })
    }

    /// For agents: the memories of a project or an agent are visible only to callers that name it.
    pub fn for_agents(self) -> Self {
        Defaults { otherwise: Reach::Shared, ..self }
    }

    /// Makes the memories of another system's default agent visible, as if they were shared.
    pub fn with_main(self) -> Self {
        Defaults { with_main: true, ..self }
    }

    /// For a program: a search may return [`MAX_RESULTS`].
    pub fn with_many_results(self) -> Self {
        Defaults { most_results: Some(MAX_RESULTS), ..self }
    }

    /// Checks the limit of a search.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it is out of bounds.
    pub fn check_limit(&self, limit: usize) -> Result<()> {
        let most = self.most_results.unwrap_or(MAX_LIMIT);
        if !(1..=most).contains(&limit) {
            return Err(Error::invalid("limit", format!("{limit} is outside 1 to {most}")));
        }
        Ok(())
    }

    /// Sets the project, if none is named.
    pub fn or_project(self, name: Option<String>) -> Self {
        let project = self.project.or(name.filter(|_| !self.every_project));
        Defaults { project, ..self }
    }

    /// Sets the agent, if none is named.
    pub fn or_agent(self, name: &str) -> Self {
        let agent = self.agent.or_else(|| (!self.every_agent).then(|| name.to_owned()));
        Defaults { agent, ..self }
    }

    /// Makes every project visible, if none is named.
    pub fn or_every_project(self) -> Self {
        Defaults { every_project: self.every_project || self.project.is_none(), ..self }
    }

    /// With `--isolate`: a caller reads the memories of this project and agent and shared ones, changes only its own, and
    /// is refused any other name.
    ///
    /// # Errors
    /// [`Error::Invalid`] if neither a project nor an agent is named.
    pub fn only(self) -> Result<Self> {
        for (owner, every) in [("project", self.every_project), ("agent", self.every_agent)] {
            if every {
                return Err(Error::invalid(owner, format!("--isolate needs one {owner}; \"*\" is all of them")));
            }
        }
        if self.project.is_none() && self.agent.is_none() {
            let why = "--isolate needs a scope: pass --project NAME or --agent NAME";
            return Err(Error::invalid("project", why));
        }
        Ok(Defaults { only: Some(ScopeLock::Server), ..self })
    }

    /// Limits a caller to the project and agent of its token, like [`only`](Defaults::only). A call may name one of `others` as
    /// its project, and is then treated as one with a token for that project.
    pub fn bound(self, others: &[String]) -> Self {
        Defaults { only: Some(ScopeLock::Token(others.to_vec())), ..self }
    }

    /// The other projects that a call may name, by its token.
    pub fn others(&self) -> &[String] {
        if let Some(ScopeLock::Token(others)) = &self.only { others } else { &[] }
    }

    /// Whether other names are refused.
    pub fn is_only(&self) -> bool {
        self.only.is_some()
    }

    /// The project of new memories.
    pub fn project(&self) -> Option<&str> {
        self.project.as_deref()
    }

    /// The agent of new memories.
    pub fn agent(&self) -> Option<&str> {
        self.agent.as_deref()
    }

    /// The caller, from the project and agent of a call. For the viewer, a name means that one and global memories, null
    /// only global ones, and `*` all.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a name that `--isolate` or the token excludes.
    pub fn caller(&self, project: &Patch<String>, agent: &Patch<String>) -> Result<Caller> {
        self.check(project, agent)?;
        let own = self.own_viewer();
        let viewer = Viewer { project: self.reach(project, own.project), agent: self.reach(agent, own.agent) };
        let owner = |given: &Patch<String>, own: &Option<String>| match given {
            Patch::Absent => own.clone(),
            Patch::Null => None,
            Patch::Value(name) => Some(name.clone()),
        };
        let scope = Scope { project: owner(project, &self.project), agent: owner(agent, &self.agent) };
        Ok(Caller { viewer, scope })
    }

    /// The viewer of a call that saves nothing, as in [`caller`](Defaults::caller).
    ///
    /// # Errors
    /// See [`caller`](Defaults::caller).
    pub fn viewer(&self, project: &Patch<String>, agent: &Patch<String>) -> Result<Viewer> {
        Ok(self.caller(project, agent)?.viewer)
    }

    /// The viewer of a call without parameters for it.
    pub fn own_viewer(&self) -> Viewer {
        let reach = |name: &Option<String>, every: bool| match name {
            Some(name) if self.is_only() => Reach::Only(name.clone()),
            None if self.is_only() => Reach::Shared,
            Some(name) => Reach::Own(name.clone()),
            None if every => Reach::Every,
            None => self.otherwise.clone(),
        };
        let agent = match reach(&self.agent, self.every_agent) {
            Reach::Shared | Reach::Own(_) if self.with_main && !self.is_only() => Reach::WithMain(self.agent.clone()),
            agent => agent,
        };
        Viewer { project: reach(&self.project, self.every_project), agent }
    }

    /// The viewers of calls for each project that the token allows; the first is that of a call that names none.
    pub fn own_viewers(&self) -> impl Iterator<Item = Viewer> + '_ {
        let own = self.own_viewer();
        let others = self.others().iter().map(|name| Reach::Only(name.clone()));
        iter::once(own.project.clone()).chain(others).map(move |project| Viewer { project, ..own.clone() })
    }

    /// The scope of a new memory of a call without parameters for it.
    pub fn own_scope(&self) -> Scope {
        Scope { project: self.project.clone(), agent: self.agent.clone() }
    }

    /// The defaults of a call with these arguments, before they are parsed. With `--isolate` or a token, another name is refused,
    /// and another project of the token becomes the call's own. Both also hold if the tool has no such parameter: a call for
    /// another's memories must not be answered with its own. `is_nullable` tells whether null has a meaning for a parameter.
    ///
    /// # Errors
    /// See [`caller`](Defaults::caller).
    pub fn of_call(&self, arguments: &Map<String, Value>, is_nullable: impl Fn(&str) -> bool) -> Result<Self> {
        let given = |names: &[&str]| match names.iter().find_map(|name| arguments.get_key_value(*name)) {
            Some((_, Value::String(name))) => Patch::Value(name.clone()),
            Some((name, Value::Null)) if is_nullable(name) => Patch::Null,
            _ => Patch::Absent,
        };
        self.check(&given(&["project"]), &given(&["agent", "agent_id", "agentId"]))?;
        let mut of_call = self.clone();
        if let (Some(ScopeLock::Token(others)), Some(own), Some(Value::String(name))) =
            (&mut of_call.only, &mut of_call.project, arguments.get("project"))
            && let Some(named) = others.iter_mut().find(|other| *other == name)
        {
            mem::swap(own, named);
        }
        Ok(of_call)
    }

    fn reach(&self, given: &Patch<String>, own: Reach) -> Reach {
        match given {
            // Only the same value is left, or one of the token's.
            Patch::Value(name) if self.is_only() => Reach::Only(name.clone()),
            _ if self.is_only() => own,
            Patch::Absent => own,
            Patch::Null => Reach::Shared,
            Patch::Value(name) if name == Reach::EVERY => Reach::Every,
            Patch::Value(name) => Reach::Own(name.clone()),
        }
    }

    /// With `--isolate`, a call may repeat the configured value, or name another project of its token, and nothing else.
    fn check(&self, project: &Patch<String>, agent: &Patch<String>) -> Result<()> {
        let others = self.others();
        for (owner, given, own, others) in
            [("project", project, &self.project, others), ("agent", agent, &self.agent, &[])]
        {
            let is_own = match given {
                Patch::Absent => true,
                Patch::Null => own.is_none(),
                Patch::Value(name) => own.as_ref() == Some(name) || others.contains(name),
            };
            if let Some(only) = self.only.as_ref().filter(|_| !is_own) {
                let kept = match own {
                    Some(name) => format!("{owner} {name:?}"),
                    None => format!("memories of no {owner}"),
                };
                let why = match only {
                    ScopeLock::Server => {
                        format!("this server is limited to {kept} (it was started with --isolate); omit {owner}")
                    }
                    ScopeLock::Token(_) if others.is_empty() => {
                        format!("your token is bound to {kept}; omit {owner}")
                    }
                    ScopeLock::Token(_) => {
                        let others: String = others.iter().map(|name| format!(" or {name:?}")).collect();
                        format!("your token is bound to {kept}{others}; name one of them")
                    }
                };
                return Err(Error::invalid(owner, why));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(name: &str) -> Option<String> {
        Some(name.to_owned())
    }

    /// R24.
    #[test]
    fn a_star_means_all_for_viewers_and_none_for_new_memories() {
        let defaults = Defaults::named(name(Reach::EVERY), name("scout")).unwrap().for_agents();
        assert_eq!((defaults.project(), defaults.agent()), (None, Some("scout")));
        assert_eq!(defaults.own_viewer(), Viewer::of_agent("scout"));
        let viewer = defaults.viewer(&Patch::Null, &Patch::Value("main".into())).unwrap();
        assert_eq!(viewer, Viewer { project: Reach::Shared, agent: Reach::Own("main".into()) }, "a call beats them");
        let own = |project, agent| Defaults::named(project, agent).unwrap().for_agents().own_viewer();
        assert_eq!(own(None, name(Reach::EVERY)).agent, Reach::Every);
        assert_eq!(own(None, None).project, Reach::Shared);
    }

    #[test]
    fn main_is_visible_where_no_agent_is_named() {
        let of = |agent| Defaults::named(None, agent).unwrap().for_agents().with_main();
        assert_eq!(of(None).own_viewer().agent, Reach::WithMain(None));
        let scout = of(name("scout"));
        assert_eq!(scout.own_viewer().agent, Reach::WithMain(name("scout")));
        let by_call = |agent| scout.viewer(&Patch::Absent, &agent).unwrap().agent;
        assert_eq!(by_call(Patch::Value("scout".into())), Reach::Own("scout".into()), "a call names whose it wants");
        assert_eq!(by_call(Patch::Null), Reach::Shared);
        assert_eq!(of(name(Reach::EVERY)).own_viewer().agent, Reach::Every);
        let agent = |defaults: Defaults| defaults.own_viewer().agent;
        assert_eq!(agent(of(name("scout")).only().unwrap()), Reach::Only("scout".into()));
        assert_eq!(agent(of(None).or_project(name("alpha")).only().unwrap()), Reach::Shared);
        assert_eq!(scout.own_scope().agent, name("scout"), "what it saves is its own");
    }

    #[test]
    fn an_invalid_name_is_refused_with_its_field() {
        for (named, field) in
            [(Defaults::named(name(" "), None), "project"), (Defaults::named(None, name(" ")), "agent")]
        {
            let refused = named.unwrap_err().to_string();
            assert!(refused.contains(field), "{refused}");
        }
    }

    /// R23, R24.
    #[test]
    fn only_refuses_other_names() {
        let wall = Defaults::named(name("alpha"), None).unwrap().for_agents().only().unwrap();
        let viewer = Viewer { project: Reach::Only("alpha".into()), agent: Reach::Shared };
        let scope = Scope { project: name("alpha"), agent: None };
        let value = |name: &str| Patch::Value(name.to_owned());
        for (project, agent) in [
            (Patch::Absent, Patch::Absent),
            (value("alpha"), Patch::Absent),
            (Patch::Absent, Patch::Null),
            (value("alpha"), Patch::Null),
        ] {
            let (viewer, scope) = (viewer.clone(), scope.clone());
            assert_eq!(wall.caller(&project, &agent).unwrap(), Caller { viewer, scope });
        }
        for (project, agent, field) in [
            (value("beta"), Patch::Absent, "project: "),
            (value("*"), Patch::Absent, "project: "),
            (Patch::Null, Patch::Absent, "project: "),
            (Patch::Absent, value("ann"), "agent: "),
            (Patch::Absent, value("*"), "agent: "),
        ] {
            let refused = wall.caller(&project, &agent).unwrap_err().to_string();
            assert!(refused.starts_with(field) && refused.contains("--isolate"), "{refused}");
        }
        assert_eq!(wall.or_every_project().own_viewer(), viewer, "nor by another way");
        let bound = Defaults::named(name("alpha"), None).unwrap().bound(&[]);
        assert_eq!(bound.own_viewer(), viewer);
        let refused = bound.viewer(&value("beta"), &Patch::Absent).unwrap_err().to_string();
        assert!(refused.contains("your token is bound to project \"alpha\""), "{refused}");
        let agent = Defaults::named(None, name("ann")).unwrap().only().unwrap();
        assert_eq!(agent.or_every_project().own_viewer().project, Reach::Shared);
    }

    #[test]
    fn only_needs_a_project_or_an_agent() {
        for (project, agent, said) in
            [(None, None, "--agent NAME"), (name("*"), None, "all of them"), (name("alpha"), name("*"), "all of them")]
        {
            let refused = Defaults::named(project, agent).unwrap().only().unwrap_err().to_string();
            assert!(refused.contains("--isolate") && refused.contains(said), "{refused}");
        }
    }
}
