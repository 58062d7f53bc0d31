//! The memory of exactly the file, the command or the error of an action: one or none.
//!
//! | row | file | job |
//! |---|---|---|
//! | 0 | `lists.rs` | words by which files, commands and errors are told apart |
//! | 1 | `named_file.rs` | a file that is changed, and whether a text names it |
//! | 2 | `command.rs` | the commands of a line for a shell, and whether a text names one |
//! | 2 | `error_names.rs` | codes, exceptions and other names in a line |
//! | 3 | `error_thing.rs` | whether a text with the code of an error is about the thing that failed |
//! | 4 | `error_line.rs` | the lines of an error that tell most, and whether a text is about one |

mod command;
mod error_line;
mod error_names;
mod error_thing;
mod lists;
mod named_file;

use std::collections::HashMap;

use command::{RunTarget, ShellCommand, commands};
use error_line::{ErrorLine, error_lines};
use named_file::NamedFile;

use crate::body::Body;
use crate::snippet;
use crate::types::{Hit, Kind, Millis, Recalled, Record, RecordId, Reminder};

/// Results of the search to choose from.
pub const ACTION_CANDIDATES: usize = 40;
/// Characters of the memory.
const MOST_CHARS: usize = 320;
/// Characters of the name of a subject.
const MOST_NAME_CHARS: usize = 120;
/// Bytes of the words that are searched for.
const MOST_QUERY_BYTES: usize = 1 << 10;
/// A word that so many results have or fewer is rare.
const RARE: usize = 5;

/// Kinds of memories that come before an action, and after a failure.
const BEFORE: &[Kind] =
    &[Kind::Decision, Kind::Bugfix, Kind::Pattern, Kind::Skill, Kind::Preference, Kind::Insight, Kind::Task];
const AFTER_FAILURE: &[Kind] = &[Kind::Bugfix, Kind::Decision, Kind::Pattern, Kind::Insight, Kind::Skill];

/// The thing that an action is about: something that a memory names or does not name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActionSubject(About);

#[derive(Debug, Clone, PartialEq, Eq)]
enum About {
    File(NamedFile),
    Command(ShellCommand),
    Error(ErrorLine),
}

impl ActionSubject {
    /// A file that is about to be changed, by its absolute path, in the git work tree `tree`.
    pub fn of_file(path: &str, tree: Option<&str>) -> Vec<Self> {
        NamedFile::new(path, tree).into_iter().map(|file| ActionSubject(About::File(file))).collect()
    }

    /// The commands of a line for a shell, at most three; none where it only looks.
    pub fn of_command(line: &str) -> Vec<Self> {
        let about = |run| match run {
            RunTarget::Command(command) => About::Command(command),
            RunTarget::Script(file) => About::File(file),
        };
        commands(line).into_iter().map(about).map(ActionSubject).collect()
    }

    /// The lines of the text of a failure that tell most, at most three.
    pub fn of_error(text: &str) -> Vec<Self> {
        error_lines(text).into_iter().map(|line| ActionSubject(About::Error(line))).collect()
    }

    /// The kinds of memories that may be about one of these.
    pub fn kinds(subjects: &[Self]) -> &'static [Kind] {
        let are_errors = subjects.iter().any(|subject| matches!(subject.0, About::Error(_)));
        if are_errors { AFTER_FAILURE } else { BEFORE }
    }

    /// The words to search for.
    pub fn query(subjects: &[Self]) -> String {
        let queries = subjects.iter().map(|subject| match &subject.0 {
            About::File(file) => file.query(),
            About::Command(command) => command.query(),
            About::Error(line) => line.query(),
        });
        let mut query = queries.collect::<Vec<_>>().join(" ");
        query.truncate(query.floor_char_boundary(MOST_QUERY_BYTES));
        query
    }

    /// The name by which a memory is about exactly this, and of an error how surely; `None` if it is not.
    fn named_in(&self, record: &Record, is_rare: impl Fn(&str) -> bool) -> Option<(String, usize)> {
        let texts = texts(record);
        match &self.0 {
            About::File(file) => file.is_in(texts).then(|| (file.path(), 0)),
            // A program alone in a tag or a context is a subject, and no command.
            About::Command(command) => {
                let mut named = texts.enumerate().filter_map(|(at, text)| command.named_in(text, at == 0));
                named.next().map(|name| (name.to_owned(), 0))
            }
            About::Error(line) => {
                let text = texts.collect::<Vec<_>>().join("\n");
                line.likeness(&text, is_rare).map(|count| (line.name().to_owned(), count))
            }
        }
    }
}

/// The one result that is about one of the subjects and that a session does not have at its version: a bug fix or a decision
/// first, then by importance, then the newest. Of an error, what is less surely about it than another result is about another error.
pub fn choose_one(
    hits: &[Hit],
    subjects: &[ActionSubject],
    known: &HashMap<RecordId, i64>,
    now: Millis,
) -> Option<Reminder> {
    let is_rare = |word: &str| {
        let has = |hit: &&Hit| texts(&hit.record).any(|text| text.to_lowercase().contains(word));
        hits.iter().filter(has).count() <= RARE
    };
    let named = hits.iter().filter(|hit| is_current(&hit.record, now)).filter_map(|hit| {
        let named = subjects.iter().filter_map(|subject| subject.named_in(&hit.record, is_rare));
        let (about, count) = named.max_by_key(|(_, count)| *count)?;
        Some((hit, about, count))
    });
    let named: Vec<_> = named.collect();
    let most = named.iter().map(|(.., count)| *count).max()?;
    let is_new = |hit: &Hit| known.get(&hit.record.id) != Some(&hit.record.version);
    let are_errors = subjects.iter().any(|subject| matches!(subject.0, About::Error(_)));
    let surest = named.into_iter().filter(|(.., count)| *count == most);
    // A session that has the memory of an error needs no other as sure.
    if are_errors && surest.clone().any(|(hit, ..)| !is_new(hit)) {
        return None;
    }
    let left = surest.filter(|(hit, ..)| is_new(hit));
    let (hit, about, _) = left.max_by_key(|(hit, ..)| {
        let record = &hit.record;
        let is_first = matches!(record.kind, Kind::Bugfix | Kind::Decision);
        (is_first, record.importance, record.updated_at, record.id)
    })?;
    let record = &hit.record;
    let shown = snippet::cut_near(&record.content, None, &ActionSubject::query(subjects), MOST_CHARS);
    let memory = Recalled {
        text: shown.unwrap_or_else(|| record.content.clone()),
        record: record.clone(),
        relevance: hit.relevance,
        score: hit.score,
        contradicted_by: hit.contradicted_by.clone(),
    };
    Some(Reminder { about: about.chars().take(MOST_NAME_CHARS).collect(), memory })
}

/// The texts of a memory that may name something.
fn texts(record: &Record) -> impl Iterator<Item = &str> {
    let own = [Some(&record.content), record.context.as_ref()].into_iter().flatten();
    own.chain(&record.tags).map(String::as_str)
}

/// Whether it is true now, and no task that is done or dropped.
fn is_current(record: &Record, now: Millis) -> bool {
    let status = record.body.as_ref().and_then(|body: &Body| body.get("status"));
    let is_open = record.kind != Kind::Task || status.is_none_or(|status| status == "open");
    is_open && record.valid.from.is_none_or(|from| from <= now) && record.valid.to.is_none_or(|to| to >= now)
}
