//! Notes about a project that no memory has, and about an agent whose view leaves others out.

use memorist_engine::Engine;
use memorist_engine::types::{Reach, Viewer};

use super::App;
use crate::exit::Failure;
use crate::ops::core::nearest;

/// How like a name of a project must be to one that was meant.
const LIKE: f64 = 0.8;

/// Notes what the project and the agent of the call hide from a search or a list that found so much.
pub fn note(app: &App, engine: &Engine, found: usize) -> Result<(), Failure> {
    let settings = app.settings();
    let defaults = &settings.context.defaults;
    // One that comes from the working folder is no mistake.
    let project = defaults.project().filter(|name| !settings.project_is_open && *name != Reach::EVERY);
    if let Some(project) = project
        && !engine.has_project(project, &Viewer::OWNER)?
        && engine.unfollowed(project)?.is_none()
    {
        let projects = engine.project_sizes(&Viewer::OWNER)?;
        let hint = match nearest(&projects, project) {
            Some((likeness, known)) if likeness > LIKE => format!("did you mean {known:?}?"),
            _ => "`memorist stats` names the projects".to_owned(),
        };
        app.output().note(format!("no memory belongs to a project {project:?}: {hint}"));
    }
    let agent = defaults.agent().filter(|name| *name != Reach::EVERY && found == 0);
    if let Some(agent) = agent
        && engine.names(&Viewer::OWNER)?.agents.iter().any(|(name, _)| name != agent)
    {
        app.output()
            .note(format!("only memories of agent {agent:?} and shared ones were looked at; --agent \"*\" is all"));
    }
    Ok(())
}
