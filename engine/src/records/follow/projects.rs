//! Which projects a node follows. Its processes share one copy, so they follow the same ones: those in the settings of the
//! process that was opened last.

use crate::error::{Error, Result};
use crate::records::meta;
use crate::records::sqlite::store::Database;
use crate::records::transaction::Authority;

/// The entry of `meta` with the projects, as JSON.
const KEY: &str = "follows";

/// Sets the projects that the node follows. If they differ from before, the next pull compares: it copies the new
/// projects, and removes those that are no longer followed.
pub(super) fn set(database: &Database, projects: &[String]) -> Result<()> {
    let mut projects = projects.to_vec();
    projects.sort();
    projects.dedup();
    let json = serde_json::to_string(&projects).expect("texts alone");
    if meta::text(&*database.reader()?, KEY)?.as_ref() == Some(&json) {
        return Ok(());
    }
    database.write(|tx| meta::put(tx, KEY, (&json).into()))
}

/// The projects that the node follows; empty is every project.
pub(super) fn of(database: &Database) -> Result<Vec<String>> {
    let json = meta::text(&*database.reader()?, KEY)?;
    let projects = json.and_then(|json| serde_json::from_str(&json).ok());
    projects.ok_or_else(|| Error::unreadable("the copy does not say which projects it follows"))
}

/// Whether a project that was followed no longer is. An empty list is every project.
pub(super) fn leave_some(before: &[String], now: &[String]) -> bool {
    !now.is_empty() && (before.is_empty() || before.iter().any(|project| !now.contains(project)))
}
