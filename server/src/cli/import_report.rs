//! What an import did, line by line where lines were refused.

use std::fmt::Write;

use serde::Serialize;

use super::format;

/// Refused lines that are listed; the others are counted.
const LISTED: usize = 50;

/// The counts of an import, and its result with `--json`.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Report {
    /// Lines read, without empty ones.
    pub lines: u64,
    /// New memories.
    pub created: u64,
    /// Lines whose text was there already.
    pub duplicates: u64,
    /// Lines that were refused.
    pub refused: u64,
    /// The first of them.
    pub errors: Vec<Refusal>,
    /// Texts embedded.
    pub embedded: u64,
    /// Why the texts could not be embedded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

/// A line that was refused, and why.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Refusal {
    /// Counted from 1.
    pub line: u64,
    /// What is wrong with it.
    pub error: String,
}

impl Report {
    /// Counts a refused line.
    pub fn refuse(&mut self, line: u64, error: String) {
        self.refused += 1;
        if self.errors.len() < LISTED {
            self.errors.push(Refusal { line, error });
        }
    }

    /// For people.
    pub fn text(&self) -> String {
        let mut text = format!(
            "{} read: {} saved, {} there already, {} refused; {} embedded",
            format::thousands(self.lines),
            format::thousands(self.created),
            format::thousands(self.duplicates),
            format::thousands(self.refused),
            format::thousands(self.embedded),
        );
        for refusal in &self.errors {
            // Writing to a string cannot fail.
            let _ = write!(text, "\n  line {}: {}", refusal.line, refusal.error);
        }
        let unlisted = self.refused - self.errors.len() as u64;
        if unlisted > 0 {
            let _ = write!(text, "\n  and {} more", format::thousands(unlisted));
        }
        if let Some(warning) = &self.warning {
            let _ = write!(text, "\nnot embedded, so found by their words alone for now: {warning}");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_lines_are_listed_up_to_a_limit_and_counted_beyond_it() {
        let mut report = Report { lines: 100, ..Report::default() };
        (1..=60).for_each(|line| report.refuse(line, "is broken".into()));
        let text = report.text();
        assert!(text.contains("60 refused") && text.contains("line 50: is broken"), "{text}");
        assert!(!text.contains("line 51:") && text.ends_with("and 10 more"), "{text}");
    }
}
