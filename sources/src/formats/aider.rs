//! Aider: `.aider.chat.history.md` in a project, all sessions in it one after the other.
//!
//! Prompts are behind `#### `, texts of the program behind `> `, and everything else is the answer. So quotes in an answer are
//! lost, as when aider itself reads the file.

use std::path::{Path, PathBuf};

use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::field::label;
use super::markdown::{self, History, Session};
use super::records::trimmed;
use super::{Batch, Cursor, Format, ReadError, Role};
use crate::foreign::Foreign;
use crate::machine::Machine;

/// Reads aider's histories, whose times are of a time zone.
pub struct Aider {
    /// The time zone of the machine.
    pub zone: fn() -> TimeZone,
}

/// How a session begins.
const STARTED: &str = "# aider chat started at ";
const TYPED: &str = "#### ";
/// Commands whose text goes to the model.
const SAID: [&str; 4] = ["/ask", "/code", "/architect", "/context"];

impl Format for Aider {
    fn name(&self) -> &'static str {
        "aider"
    }

    fn places(&self, _: &Machine) -> Vec<PathBuf> {
        Vec::new()
    }

    fn places_in(&self, folder: &Path) -> Vec<PathBuf> {
        vec![folder.join(".aider.chat.history.md")]
    }

    fn is_transcript(&self, path: &Path) -> bool {
        path.file_name().is_some_and(|name| name == ".aider.chat.history.md")
    }

    fn read_file(&self, file: Foreign<'_>, since: Option<&Cursor>) -> Result<Batch, ReadError> {
        let zone = (self.zone)();
        markdown::read(file, since, |history, text| take(file.path, &zone, history, text))
    }
}

/// Whether a text begins as aider's histories do.
pub fn is_history(head: &str) -> bool {
    head.lines().any(|line| line.starts_with(STARTED))
}

fn take(path: &Path, zone: &TimeZone, history: &mut History, text: &str) {
    let folder = path.parent().unwrap_or(path);
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let cwd = trimmed(&label(&folder.to_string_lossy()));
    let (mut is_output, mut is_code) = (false, false);
    for (line, number) in text.lines().zip(1..) {
        if let Some(started) = line.strip_prefix(STARTED) {
            let started = started.trim();
            let at = DateTime::strptime("%Y-%m-%d %H:%M:%S", started).ok();
            let at = at.and_then(|at| Some(at.to_zoned(zone.clone()).ok()?.timestamp().as_millisecond()));
            let name = format!("{name} {}", label(started));
            history.begin_session(Session { name, title: None, at, cwd: cwd.clone() });
            (is_output, is_code) = (false, false);
        } else if let Some(typed) = line.strip_prefix(TYPED) {
            if history.role() != Some(Role::User) {
                begin_typed(history, number, typed);
            }
            history.add(number, typed.trim_end());
            (is_output, is_code) = (false, false);
        } else if line.starts_with('>') && !is_code {
            if !is_output {
                history.end();
                history.batch.skipped.count("tool output");
            }
            is_output = true;
        } else if is_output {
            // A long message of the program has lines without the mark.
            is_output = !line.trim().is_empty();
        } else {
            let is_blank = line.trim().is_empty();
            if history.role() != Some(Role::Assistant) && !is_blank {
                history.begin(Role::Assistant, number);
            }
            is_code ^= line.starts_with("```");
            if history.role() == Some(Role::Assistant) {
                history.add(number, line);
            }
        }
    }
}

/// Begins what a person typed, unless it is a command to the program.
fn begin_typed(history: &mut History, line: u64, text: &str) {
    history.end();
    let command = text.split(' ').next().unwrap_or_default();
    let is_name =
        |name: &str| !name.is_empty() && name.chars().all(|letter| letter.is_ascii_lowercase() || letter == '-');
    match command.strip_prefix('/').is_some_and(is_name) && !SAID.contains(&command) {
        true => history.batch.skipped.count("command"),
        false => drop(history.begin(Role::User, line)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::corpus;
    use super::*;

    const AIDER: Aider = Aider { zone: || TimeZone::UTC };

    #[test]
    fn the_corpus_says_what_it_should() {
        corpus::check_all(&AIDER);
    }

    #[test]
    fn a_broken_file_is_read() {
        corpus::check_mutations(&AIDER);
    }

    #[test]
    fn times_are_those_of_the_zone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(".aider.chat.history.md");
        std::fs::write(&path, "\n# aider chat started at 2026-07-01 10:00:00\n\n#### hello  \n").unwrap();
        let at = |zone| Aider { zone }.read(&path, None).unwrap().turns[0].at.unwrap();
        let earlier = at(|| TimeZone::fixed(jiff::tz::offset(2)));
        assert_eq!(at(|| TimeZone::UTC) - earlier, 2 * 3_600_000);
    }

    #[test]
    fn an_answer_that_grows_is_the_same_turn() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(".aider.chat.history.md");
        let begin = "# aider chat started at 2026-07-01 10:00:00\n\n#### why?  \n\nBecause\n";
        std::fs::write(&path, begin).unwrap();
        let first = AIDER.read(&path, None).unwrap();
        std::fs::write(&path, format!("{begin}of this.\n\n> Tokens: 1k sent\n")).unwrap();
        let second = AIDER.read(&path, Some(&first.cursor)).unwrap();
        assert_eq!(second.turns[1].text, "Because\nof this.");
        assert_eq!(second.turns[1].id, first.turns[1].id);
    }
}
