//! Parameters and results of `memory_export` and `memory_import`.

use memorist_engine::types::Imported;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::values::Patch;

/// The default file of an export.
pub const DEFAULT_FILE: &str = "memories.jsonl";
/// Maximum number of rejected lines that are listed; the others are only counted.
const LISTED: usize = 50;

/// `memory_export`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ExportParams {
    /// Plain file name in the export folder; an existing file is replaced. Default memories.jsonl.
    pub file: Option<String>,
    /// Include embeddings, so an import need not compute them.
    pub embeddings: Option<bool>,
    /// See memory_search.
    pub project: Patch<String>,
    /// See memory_search.
    pub agent: Patch<String>,
}

/// `memory_import`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImportParams {
    /// Plain file name in the export folder.
    pub file: String,
    /// See memory_search; memories of other scopes are rejected.
    #[serde(default)]
    pub project: Patch<String>,
    /// See memory_search.
    #[serde(default)]
    pub agent: Patch<String>,
}

/// Result of `memory_export`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ExportResult {
    /// Path of the file.
    pub file: String,
    /// Memories.
    pub memories: i64,
    /// Links between them.
    pub links: i64,
}

/// Result of `memory_import`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct ImportResult {
    /// Lines read, without empty ones.
    pub lines: i64,
    /// New memories.
    pub created: i64,
    /// Memories that replaced an older version.
    pub replaced: i64,
    /// Memories changed in both stores; their histories have the versions of both.
    pub united: i64,
    /// The first of them.
    #[serde(rename = "changedInBoth", skip_serializing_if = "Vec::is_empty")]
    pub changed_in_both: Vec<ChangedInBoth>,
    /// All of them.
    #[serde(skip)]
    pub conflicts: Vec<ChangedInBoth>,
    /// Memories whose text is already saved in their scope.
    pub duplicates: i64,
    /// Memories that exist in the same or a newer version.
    pub unchanged: i64,
    /// Memories that have expired.
    pub expired: i64,
    /// Memories and links that are deleted, here before or by this import.
    pub deleted: i64,
    /// Memories and versions that this import purged.
    #[serde(skip)]
    pub purged: u64,
    /// Cycles of `supersedes` links; each lost its oldest link.
    pub circles: i64,
    /// New links.
    pub links: i64,
    /// Rejected memories and links.
    pub refused: i64,
    /// The first rejected lines: line, error.
    pub errors: Vec<RefusedLine>,
    /// Other warnings.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// A rejected line, and why.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RefusedLine {
    /// Counted from 1.
    pub line: i64,
    /// Reason.
    pub error: String,
}

/// A memory that was changed in both stores.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ChangedInBoth {
    /// The memory.
    pub id: i64,
    /// Newest version of one store that is now an earlier one: memory_history shows it, memory_rollback restores it.
    pub version: i64,
}

impl ImportResult {
    /// Counts a rejected line.
    pub fn refuse(&mut self, line: u64, error: String) {
        self.refused += 1;
        if self.errors.len() < LISTED {
            self.errors.push(RefusedLine { line: super::count(line), error });
        }
    }

    /// Counts the outcome of a memory.
    pub fn count(&mut self, outcome: &Imported) {
        match outcome {
            Imported::Created => self.created += 1,
            Imported::Replaced => self.replaced += 1,
            Imported::United { id, version } => {
                self.united += 1;
                let conflict = ChangedInBoth { id: id.get(), version: *version };
                if self.changed_in_both.len() < LISTED {
                    self.changed_in_both.push(conflict.clone());
                }
                self.conflicts.push(conflict);
            }
            Imported::Duplicate => self.duplicates += 1,
            Imported::Unchanged => self.unchanged += 1,
            Imported::Expired => self.expired += 1,
            Imported::Deleted => self.deleted += 1,
            Imported::Turned(_) => self.circles += 1,
            // It is retried.
            Imported::Waits(_) => {}
        }
    }

    /// Number of memories of the file that the store has now.
    pub fn memories(&self) -> u64 {
        (self.created + self.replaced + self.united + self.duplicates + self.unchanged).unsigned_abs()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_lines_are_listed_up_to_a_limit_and_counted_beyond_it() {
        let mut result = ImportResult::default();
        (1..=60).for_each(|line| result.refuse(line, "is broken".into()));
        assert_eq!((result.refused, result.errors.len()), (60, LISTED));
        assert_eq!(result.errors[49].line, 50);
    }
}
