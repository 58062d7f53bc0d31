//! Seeded corpora with known answers, for the demo, the benches and the tests.
//!
//! # Memories
//! [`memories()`] generates believable memories of an AI agent: what its users like, decided, repaired, cooked, must
//! not forget. They are of all kinds, on ten topics, with people, projects, dates, paths, error codes and identifiers;
//! about 3 in 100 are near-duplicates of an earlier one, and none is an exact duplicate. [`write_jsonl`] writes them
//! for `memorist import`.
//!
//! # Questions
//! [`questions()`] generates questions about them, by meaning, by word, and by both, with their answers: hand-written
//! memories and pairs of facts are planted at fixed positions, and every other memory has a unique mark (a ticket, an
//! order, a moment).
//!
//! # Conversations, changes, and what nobody knows
//! [`conversations()`] generates small talk of two speakers, among it questions whose answers have none of their words, and
//! queries for these answers. [`changes()`] generates facts that a later one supersedes, and [`unanswerable()`] questions
//! about what occurs in none of these texts.
//!
//! # Dialogues
//! [`dialogues()`] generates what was saved in earlier sessions, and turns of later ones that need it, or nothing;
//! [`trade_dialogues()`] more, in words of the trade, and [`coded_dialogues()`] those with a code, a path or a name. [`languages()`] has
//! memories and questions in eight languages, and [`language_dialogues()`] makes dialogues of them.
//!
//! # Notes
//! [`vault()`] generates a vault of notes in nested folders, as people write them; [`note_facts`] asks for lines of them.
//!
//! # Sessions
//! [`sessions()`] generates sessions of coding agents, with what their tools print, and each with a [`SessionFact`].
//! [`transcripts`] writes them in the formats of the agents.
//!
//! # Vectors
//! [`vectors`] generates unit vectors that are as hard to search as real sentence embeddings, and others that are
//! harder; [`unusual`] has cases in which graph indexes miss neighbours, [`profile`] measures how near neighbours are, and
//! [`real`] loads real embeddings from a directory, if there is one.
//!
//! # The same bytes everywhere
//! Everything depends on a seed, and item `i` on the seed and `i` only. So any corpus is a prefix of every larger one
//! with the same seed, items can be generated in any order, on any thread, and none is kept in memory. The values are
//! the same on every platform: draws come from ChaCha8 with ranges of our own, and no function is used whose rounding
//! depends on the platform. The tests compare the first items with a checksum. A change to a vocabulary file changes
//! the corpora, and the checksums with them.
//!
//! ```
//! let corpus: Vec<_> = bench_data::memories(42, 100).collect();
//! let question = &bench_data::questions(42, 100, 1)[0];
//! assert_eq!(question.text, "what theme does the user like");
//! assert_eq!(corpus[question.answers[0]].content, "User prefers dark mode for all applications");
//! ```

mod actions;
mod changes;
mod code;
mod coded;
mod conversations;
mod dialogues;
mod draws;
mod grammar;
mod identifiers;
mod mark;
mod memories;
mod phrases;
mod planted;
pub mod profile;
mod prose;
mod questions;
pub mod real;
mod sessions;
mod style;
pub mod transcripts;
mod unanswerable;
pub mod unusual;
mod vault;
pub mod vectors;
mod vocabulary;
mod wording;

pub use actions::{ActionClass, Actions, AgentAction, SessionAction, actions};
pub use changes::{Change, changes};
pub use coded::{InLanguage, coded_dialogues, language_dialogues, languages};
pub use conversations::{Conversations, Lookup, Turn, conversations};
pub use dialogues::{DialogueTurn, Dialogues, Need, dialogues, trade_dialogues};
pub use identifiers::{Identified, identifiers};
pub use memories::{MemoryRecord, memories, memory, near_duplicate_of, write_jsonl};
pub use questions::{Question, questions};
pub use sessions::{LEFT_OUT, Session, SessionFact, SessionTurn, ToolCall, session, sessions};
pub use style::Style;
pub use unanswerable::unanswerable;
pub use vault::{Note, NoteFact, note, note_facts, vault};
