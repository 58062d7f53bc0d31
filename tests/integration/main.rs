//! The product as a whole, seen from outside. One binary, because each links the whole engine.
//!
//! | file | what it asks |
//! |---|---|
//! | `store.rs` | what is written is found, by every mode, before and after the indexes know of it |
//! | `pages.rs` | the pages of a search are its one ranking in pieces |
//! | `filters.rs` | every filter, alone and together, against the same rule applied by hand |
//! | `bodies.rs` | the bodies of kinds: kept, changed, found, refused by name |
//! | `history.rs` | versions, and going back to one |
//! | `saving.rs` | secrets in what is saved, and what resembles it |
//! | `links.rs` | links between memories: chains, what is superseded, and from whom it is hidden; digests |
//! | `model.rs` | random sequences of everything, against a plain model |
//! | `racing.rs` | filters hold, and nothing is lost, while searches race with writers and publishing |
//! | `recovery.rs` | indexes that are gone, old, or another's |
//! | `read_only.rs` | a store that cannot be written is read all the same |
//! | `damage.rs` | damaged index files, by the thousands |
//! | `damage_to_records.rs` | a damaged memory.db: what can be saved is saved and found |
//! | `exchange/` | everything into a file and from one: equal stores, equal bytes, and merging |
//! | `reembed.rs` | another embedding model: never mixed with the one before |
//! | `bad_input.rs` | what is refused, and that nothing is lost by it |
//! | `commands.rs` | the commands for bodies, links, versions, digests and purging, as a user runs them |
//! | `settings.rs` | a project and an agent in the settings, and what overrules them |
//! | `terminal.rs` | no command prints what a terminal obeys |
//! | `code.rs` | no code of the working folder runs, and no library but the pinned one |
//! | `files.rs` | files that people name: others beside them stay, and only plain ones are read |
//! | `bench.rs` | `memorist bench`, as a user runs it |
//! | `crash.rs` | a writer killed at any moment and at every step of publishing |
//! | `disk/` | a disk that loses what was not synced, or refuses a write |
//! | `serving.rs` | the server over HTTP and on stdio: who is answered, with how much memory, and that each is |
//! | `space.rs` | what is deleted gives its space back |
//! | `forget.rs` | what is purged is in no file any more, and what has expired is deleted |
//! | `processes.rs` | eight processes that write at once find at once what all of them wrote |
//! | `lock_holder.rs` | eight processes, of which the one that holds the writer lock is killed every second |
//! | `paused.rs` | a process that is stopped while it holds a lock |
//! | `large.rs` | 100,000 memories, killed in the middle of a merge |
//! | `meaning.rs` | the examples of the specification, on the real model |
//! | `fuzz_corpus.rs` | the bytes that fuzzing starts from and has found, read as it reads them |
//! | `docs.rs` | the documents name files that exist, and every row of the specification has a test |
//! | `process.rs`, `support.rs` | other processes that are asked; stores and what else the tests share |

mod bad_input;
mod bench;
mod bodies;
#[cfg(unix)]
mod code;
mod commands;
#[cfg(unix)]
mod crash;
mod damage;
mod damage_to_records;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod disk;
mod docs;
mod exchange;
mod files;
mod filters;
#[cfg(unix)]
mod forget;
mod fuzz_corpus;
#[cfg(unix)]
mod history;
mod large;
mod links;
#[cfg(target_os = "linux")]
mod lock_holder;
mod meaning;
mod model;
mod pages;
#[cfg(target_os = "linux")]
mod paused;
#[cfg(unix)]
mod process;
#[cfg(unix)]
mod processes;
mod racing;
#[cfg(unix)]
mod read_only;
mod recovery;
mod reembed;
mod saving;
#[cfg(target_os = "linux")]
mod serving;
mod settings;
mod space;
mod store;
mod support;
mod terminal;
