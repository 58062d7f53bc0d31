//! Tests of the whole product from outside. One binary, because each links the whole engine.
//!
//! | file | what it tests |
//! |---|---|
//! | `store.rs` | writes are found in every mode, before and after they are indexed |
//! | `searching.rs` | the results of a search, their order, and its remarks |
//! | `own_vectors.rs` | vectors that the program makes itself |
//! | `pages.rs` | the pages of a search are pieces of one ranking |
//! | `filters.rs` | every filter, alone and combined, against the same rule in plain code |
//! | `bodies.rs` | bodies: saved, changed, searched, refused |
//! | `history.rs` | versions and rollback |
//! | `tidy.rs` | tidying up: a killed run is undone, and only copies are certain |
//! | `saving.rs` | secrets in new records, and similar records |
//! | `threads.rs` | memories of a session are judged together, and hidden turns add no words |
//! | `links.rs` | links, chains, superseded records and their visibility, digests |
//! | `model.rs` | random sequences of everything, against a simple model |
//! | `first_save.rs` | the first save of a session gets the hints of later ones, and the handshake waits for no model |
//! | `racing.rs` | filters are kept, and nothing is lost, while searches race with writers and publishing |
//! | `recall.rs` | automatic recall: a turn is given what it needs, and mostly nothing |
//! | `recovery.rs` | missing, old and foreign indexes |
//! | `read_only.rs` | a read-only store is readable |
//! | `damage.rs` | damaged index files, by the thousands |
//! | `damage_to_records.rs` | a damaged memory.db: what can be salvaged is salvaged and found |
//! | `exchange/` | export and import: equal stores, equal bytes, and merging |
//! | `sources.rs` | notes and transcripts of a made home, as a user adds and searches them; a reading that is killed |
//! | `pdf.rs` | PDFs: pages are places, and the process that reads them has its limits |
//! | `moving.rs` | `memorist import --from`, as a user runs it |
//! | `passages.rs` | texts that do not fit into the model's window |
//! | `rerank.rs` | the first results, read by a second model |
//! | `reembed.rs` | a change of the embedding model: models are never mixed |
//! | `providers.rs` | embeddings of a provider that fails, refuses, waits, and comes back |
//! | `provider_server.rs` | the provider of these tests |
//! | `jobs.rs`, `job_provider.rs` | batch jobs of a provider, and a provider that takes them |
//! | `bad_input.rs` | invalid input is refused, and nothing is lost by it |
//! | `hooks/` | hooks of clients: their answers, whatever goes wrong, and a server that answers them |
//! | `commands.rs` | the commands for bodies, links, versions, digests and purging, as a user runs them |
//! | `connect.rs` | agents are connected and disconnected, and the plugins run commands that exist |
//! | `packages.rs` | contents of packages: the version, manual pages, the page of the explorer, files beside the program |
//! | `settings.rs` | a project and an agent in the settings, and what overrides them |
//! | `terminal.rs` | no command prints terminal control characters |
//! | `code.rs` | no code of the working folder runs, and no library except the pinned one |
//! | `files.rs` | files that users name: others beside them stay, and only plain files are read |
//! | `hostile.rs` | files that are made to harm an import, with little memory and a deadline |
//! | `bench.rs`, `bench_quality.rs` | `memorist bench`, as a user runs it; the same with `--quality` |
//! | `crash.rs` | a writer killed at any moment and at every step of publishing |
//! | `disk/` | a disk that loses what was not synced, or fails a write |
//! | `serving.rs` | the server over HTTP and on stdio: access, memory use, and a response to every request |
//! | `explorer.rs` | the explorer as a page and attackers see it: access, what it changes and what it does not |
//! | `connection.rs` | a connection over HTTP, byte by byte |
//! | `space.rs` | deletes free space |
//! | `forget.rs` | purged data is in no file, and expired records are deleted |
//! | `planted.rs` | a text in everything that commands and hooks take: purged, it is in no file; a secret never was |
//! | `processes.rs` | eight processes that write concurrently see all writes at once |
//! | `lost_database.rs` | a store that lost its memory.db is no new one |
//! | `no_store.rs` | commands that read make no store |
//! | `orphans.rs` | a server whose client was killed ends, also where another process has the pipe |
//! | `lock_holder.rs` | eight processes, of which the one with the writer lock is killed every second |
//! | `paused.rs` | a process that is stopped while it holds a lock |
//! | `large.rs` | 20,000 memories, 100,000 for `.ci/nightly`, killed in the middle of a merge |
//! | `meaning.rs` | the examples of the specification, on the real model |
//! | `fuzz_corpus.rs` | the fuzzing corpus, run through the fuzz targets |
//! | `team/` | nodes of a team store: nothing acknowledged is missed or lost, and all answer alike |
//! | `team_server.rs` | `memorist team`, as an operator of a team store runs it |
//! | `watching.rs` | a server reads files that change, and writes the daily log |
//! | `scripts.rs` | "probably not here" in every script, with three models |
//! | `docs.rs` | the documents name files that exist, and every row of the specification has a test |
//! | `process.rs`, `support.rs` | child processes with a protocol; stores and other helpers |

mod bad_input;
mod bench;
mod bench_quality;
mod benchmarks;
mod bodies;
#[cfg(unix)]
mod code;
mod commands;
mod connect;
#[cfg(unix)]
mod connection;
#[cfg(unix)]
mod crash;
mod damage;
mod damage_to_records;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod disk;
mod docs;
mod exchange;
#[cfg(unix)]
mod explorer;
mod files;
mod filters;
mod first_save;
#[cfg(unix)]
mod forget;
mod fuzz_corpus;
#[cfg(unix)]
mod history;
#[cfg(target_os = "linux")]
mod hooks;
mod hostile;
mod job_provider;
mod jobs;
mod languages;
mod large;
mod links;
#[cfg(target_os = "linux")]
mod lock_holder;
mod lost_database;
mod meaning;
mod model;
mod moving;
mod no_store;
#[cfg(target_os = "linux")]
mod orphans;
mod own_vectors;
mod packages;
mod pages;
mod passages;
#[cfg(target_os = "linux")]
mod paused;
mod pdf;
#[cfg(unix)]
mod planted;
#[cfg(unix)]
mod process;
#[cfg(unix)]
mod processes;
mod provider_server;
mod providers;
mod racing;
#[cfg(unix)]
mod read_only;
mod recall;
mod recovery;
mod reembed;
mod rerank;
mod saving;
mod scripts;
mod searching;
#[cfg(target_os = "linux")]
mod serving;
mod settings;
mod sources;
mod space;
mod store;
mod suggestions;
mod support;
#[cfg(unix)]
mod team;
#[cfg(unix)]
mod team_server;
mod terminal;
mod threads;
mod tidy;
mod undo;
#[cfg(unix)]
mod watching;
