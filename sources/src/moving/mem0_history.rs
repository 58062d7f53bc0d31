//! mem0's `history.db`: memories that were added, changed and deleted. It has the texts, but no owners.

use std::collections::BTreeMap;
use std::path::Path;

use super::database::StoreDatabase;
use super::files::StoreFiles;
use super::mend::is_blank;
use super::types::{Earlier, Report};
use super::{MoveError, StoreError, System};

const TABLE: &str = "history";
/// The last messages of a session, which mem0 reads again to extract memories.
const MESSAGES: &str = "messages";

/// The changes of a memory.
#[derive(Debug, Default)]
pub struct MemoryHistory {
    /// Its newest text.
    pub text: String,
    /// The texts before, oldest first.
    pub earlier: Vec<Earlier>,
    /// Whether it was deleted.
    pub deleted: bool,
    /// When it was made.
    pub created_at: Option<i64>,
    /// When it last changed.
    pub updated_at: Option<i64>,
}

/// The histories by the id of their memory.
///
/// # Errors
/// If the database has no history.
pub fn read<E>(
    files: &StoreFiles,
    path: &Path,
    report: &mut Report,
) -> Result<BTreeMap<String, MemoryHistory>, MoveError<E>> {
    let database = StoreDatabase::open(files, path)?;
    let table = database.needed_table(System::Mem0, TABLE)?;
    if !table.has("memory_id") {
        let why = "its table history has no memory_id, so it is of another program";
        return Err(StoreError::unexpected(System::Mem0, path, why).into());
    }
    let mut histories: BTreeMap<String, MemoryHistory> = BTreeMap::new();
    // As they were saved: a change has the time at which its memory was made, too.
    table.each(&[], |row| {
        let history = histories.entry(row.key("memory_id")).or_default();
        let at = report.time(row.first(&["updated_at", "created_at", "timestamp"]));
        let made = report.time(row.first(&["created_at", "timestamp"]));
        let event = row.get("event").as_str().unwrap_or_default().trim().to_uppercase();
        history.created_at = history.created_at.or(made);
        history.updated_at = at.or(history.updated_at);
        if event == "DELETE" || row.get("is_deleted").as_i64() == Some(1) {
            history.deleted = true;
            return Ok(());
        }
        let text = row.first(&["new_memory", "new_value"]);
        if is_blank(text) {
            return Ok(());
        }
        let newest = report.content(text);
        let before = report.content(row.first(&["old_memory", "prev_value"]));
        let before = if before.trim().is_empty() { history.text.clone() } else { before };
        if !before.trim().is_empty() && before != newest && !history.deleted {
            let reason = if event.is_empty() { "changed".into() } else { event.to_lowercase() };
            history.earlier.push(Earlier { content: before, body: None, replaced_at: at, reason });
        }
        history.text = newest;
        history.deleted = false;
        Ok(())
    })?;
    if let Some(messages) = database.table(MESSAGES)? {
        report.count_many("recent messages that mem0 keeps beside memories", messages.count()?);
    }
    database.count_unknown_tables(&[TABLE, MESSAGES], report)?;
    Ok(histories)
}
