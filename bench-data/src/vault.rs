//! A vault of notes in nested folders.
//!
//! | file | job |
//! |---|---|
//! | `names.rs` | titles and paths, and links between them |
//! | `blocks.rs` | the content of a note |
//! | `marks.rs` | lists, tasks and tables, which Markdown and org write nearly alike |
//! | `markdown.rs`, `org.rs`, `plain.rs` | the syntaxes that notes are written in |

mod blocks;
mod markdown;
mod marks;
mod names;
mod org;
mod plain;

use self::blocks::Draft;
use self::names::{Name, Syntax};
use crate::draws::{Draws, Purpose};
use crate::prose::{Fact, Prose};

/// A file of a vault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Its path below the vault, with `/` between folders.
    pub path: String,
    pub text: String,
}

/// A question, and the line of a note that answers it. Both have a mark, such as `NF-0123456`, that occurs nowhere else in the
/// vault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteFact {
    pub question: String,
    pub path: String,
    /// The line, counted from 1.
    pub line: usize,
    /// The text of the line.
    pub answer: String,
    pub mark: String,
}

/// One note in this many has a fact.
const FACTS: usize = 10;
/// The index of the first note with a fact.
const FACT: usize = 3;

/// The first `notes` notes of `seed`: Markdown with front matter, headings, lists, tables, fences and links; a few are
/// plain text or org files, a few are long, some have Chinese, Japanese or Korean paragraphs, and every fifth is a short
/// one about a day.
///
/// A note depends on the seed and its index only, its links lead to notes before it.
pub fn vault(seed: u64, notes: usize) -> impl Iterator<Item = Note> {
    (0..notes).map(move |index| note(seed, index))
}

pub fn note(seed: u64, index: usize) -> Note {
    let name = Name::of(seed, index);
    let mut draws = Draws::of(seed, Purpose::Note, index as u64);
    let fact = fact(seed, index).map(|fact| fact.text);
    let draft = Draft::of(&name, seed, fact, &mut draws);
    let text = match name.syntax {
        Syntax::Markdown => markdown::write(&name, &draft, &mut draws),
        Syntax::Org => org::write(&name, &draft),
        Syntax::Plain => plain::write(&name, &draft),
    };
    Note { path: name.path, text }
}

/// The facts in the first `notes` notes of `seed`: every tenth has one.
pub fn note_facts(seed: u64, notes: usize) -> impl Iterator<Item = NoteFact> {
    (FACT..notes).step_by(FACTS).filter_map(move |index| {
        let fact = fact(seed, index)?;
        let mark = fact.question.split_whitespace().find(|word| word.starts_with("NF-"))?.to_owned();
        let note = note(seed, index);
        let (line, answer) = note.text.lines().enumerate().find(|(_, line)| line.contains(&mark))?;
        Some(NoteFact { question: fact.question, line: line + 1, answer: answer.to_owned(), path: note.path, mark })
    })
}

/// The fact of a note, if it has one.
fn fact(seed: u64, index: usize) -> Option<Fact> {
    let mut draws = Draws::of(seed, Purpose::Note, index as u64).fork();
    (index % FACTS == FACT).then(|| Prose::get().fact(Prose::get().noted, seed, index, &mut draws))
}
