//! Rows of scopes.

use crate::error::{Error, Result};
use crate::records::transaction::{SelectExt, Tx};
use crate::types::Scope;

/// The row of the scope of no agent and no project.
const GLOBAL: i64 = 1;

/// The row of this scope, made where there is none.
pub(super) fn scope_id(tx: &dyn Tx, scope: &Scope) -> Result<i64> {
    if *scope == Scope::default() {
        return Ok(GLOBAL);
    }
    let names = [scope.agent.as_deref().into(), scope.project.as_deref().into()];
    tx.execute("INSERT INTO scopes (agent, project) VALUES (?1, ?2) ON CONFLICT DO NOTHING", &names)?;
    let sql = "SELECT id FROM scopes WHERE coalesce(agent, '') = coalesce(?1, '') AND coalesce(project, '') = coalesce(?2, '')";
    let id = tx.first(sql, &names, |row| row.get(0))?;
    id.ok_or_else(|| Error::unreadable("a scope is missing that was made just now"))
}
