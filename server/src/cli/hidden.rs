//! Notes about a project that no memory has, and about an agent whose view leaves others out.

use memorist_engine::Engine;
use memorist_engine::types::{Reach, Viewer};

use super::App;
use crate::exit::Failure;
use crate::ops::core::missing_project;

/// Notes what the project and the agent of the call hide from a search or a list that found so much.
pub fn note(app: &App, engine: &Engine, found: usize) -> Result<(), Failure> {
    let settings = app.settings();
    let defaults = &settings.context.defaults;
    // One that comes from the working folder is no mistake.
    let project = defaults.project().filter(|name| !settings.project_is_open && *name != Reach::EVERY);
    if let Some(project) = project
        && let Some(what) = missing_project(engine, project, "`memorist stats` names the projects")?
    {
        app.output().note(format!("no memory belongs to a {what}"));
    }
    let agent = defaults.agent().filter(|name| *name != Reach::EVERY && found == 0);
    if let Some(agent) = agent
        && engine.viewed_by(&Viewer::OWNER).names()?.agents.iter().any(|(name, _)| name != agent)
    {
        app.output().note(format!(
            "only memories of agent {agent:?} and those without an agent were searched; --agent \"*\" is all"
        ));
    }
    Ok(())
}
