//! Rows of scopes.

use crate::error::{Error, Result};
use crate::records::transaction::{SelectExt, Tx};
use crate::types::{Scope, label, spellings};

/// The row of the scope of no agent and no project.
const GLOBAL: i64 = 1;

/// The row of this scope, created if it is missing. An earlier version may have made one with names as they were typed.
pub(super) fn scope_id(tx: &dyn Tx, scope: &Scope) -> Result<i64> {
    if *scope == Scope::default() {
        return Ok(GLOBAL);
    }
    let written = |name: &Option<String>| name.as_deref().map_or_else(|| vec![String::new()], spellings);
    let (agents, projects) = (written(&scope.agent), written(&scope.project));
    let known = |agent: &String, project: &String| {
        let sql = "SELECT id FROM scopes WHERE coalesce(agent, '') = ?1 AND coalesce(project, '') = ?2";
        tx.first(sql, &[agent.into(), project.into()], |row| row.get(0))
    };
    for agent in &agents {
        for project in &projects {
            if let Some(id) = known(agent, project)? {
                return Ok(id);
            }
        }
    }
    let name = |of: &Option<String>| of.as_deref().map(|name| label(name).into_owned());
    let (agent, project) = (name(&scope.agent), name(&scope.project));
    let names = [agent.as_deref().into(), project.as_deref().into()];
    tx.execute("INSERT INTO scopes (agent, project) VALUES (?1, ?2) ON CONFLICT DO NOTHING", &names)?;
    let id = known(&agents[0], &projects[0])?;
    id.ok_or_else(|| Error::unreadable("a scope is missing that was made just now"))
}
