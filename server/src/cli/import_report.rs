//! The report of an import, line by line for refused lines.

use std::fmt::Write;

use serde::Serialize;

use super::format;
use crate::wire::{ChangedInBoth, ImportResult};

/// The outcome of an import, and its result with `--json`.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ImportReport {
    /// The lines.
    #[serde(flatten)]
    pub read: ImportResult,
    /// Texts embedded.
    pub embedded: u64,
}

impl ImportReport {
    /// The text for people.
    pub fn text(&self) -> String {
        let read = &self.read;
        let number = |number: i64| format::thousands(number.unsigned_abs());
        let mut text = format!(
            "{} read: {} saved, {} replaced, {} duplicates, {} links, {} rejected; {} embedded",
            number(read.lines),
            number(read.created),
            number(read.replaced),
            number(read.duplicates + read.unchanged),
            number(read.links),
            number(read.refused),
            format::thousands(self.embedded),
        );
        // Writing to a string cannot fail.
        if read.expired > 0 {
            let _ = write!(text, "\n  {} skipped (expired)", number(read.expired));
        }
        if read.united > 0 {
            let _ = write!(
                text,
                "\n  {} changed in both stores: the newer text wins, the other is an earlier version",
                number(read.united)
            );
        }
        for ChangedInBoth { id, version } in &read.changed_in_both {
            let _ =
                write!(text, "\n    memory {id}: version {version}; `memorist rollback {id} {version}` restores it");
        }
        if read.deleted > 0 {
            let what = number(read.deleted);
            let _ = write!(text, "\n  {what} skipped (deleted here); --restore-deleted restores them");
        }
        if read.circles > 0 {
            let what = number(read.circles);
            let _ = write!(text, "\n  {what} links closed a cycle of supersedes links; the oldest one was removed");
        }
        for refusal in &read.errors {
            let _ = write!(text, "\n  line {}: {}", refusal.line, refusal.error);
        }
        let unlisted = read.refused - read.errors.len() as i64;
        if unlisted > 0 {
            let _ = write!(text, "\n  and {} more", number(unlisted));
        }
        for warning in &read.warnings {
            let _ = write!(text, "\n{warning}");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_lines_are_listed_up_to_a_limit_and_counted_beyond_it() {
        let mut report = ImportReport::default();
        (1..=60).for_each(|line| report.read.refuse(line, "is broken".into()));
        let text = report.text();
        assert!(text.contains("60 rejected") && text.contains("line 50: is broken"), "{text}");
        assert!(!text.contains("line 51:") && text.ends_with("and 10 more"), "{text}");
    }
}
