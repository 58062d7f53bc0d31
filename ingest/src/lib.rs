//! Brings notes and transcripts into a store, and keeps them up to date.
//!
//! | row | module | job |
//! |---|---|---|
//! | 0 | [`settings`] | how files are read, and when |
//! | 0 | [`project`] | the project of a folder |
//! | 0 | `origins` | what identifies a chunk, a turn, or a memory of another system |
//! | 0 | `stamp` | by what a file is known to be unchanged |
//! | 0 | `log_lines` | lines of memories in the files of a daily log |
//! | 0 | `lock` | one process at a time |
//! | 0 | [`detect`] | what a file or a folder has |
//! | 0 | [`noted`] | transcripts that hooks of clients have named |
//! | 0 | `delta` | whether a transcript has grown enough |
//! | 0 | [`pdf`] | PDFs, read in a process of their own |
//! | 1 | `listing` | the files of a source |
//! | 1 | [`note`] | a note, read into chunks |
//! | 1 | `session` | a transcript, read into turns |
//! | 1 | [`moving`] | the stores of other memory systems, brought in |
//! | 2 | `reading` | files of one source, read and saved together |
//! | 2 | [`daily_log`] | a file a day, with a line for each memory saved |
//! | 3 | [`log_purge`] | lines of the daily log go with what was purged |
//! | 3 | [`sync`] | all files of all sources that have changed |
//! | 4 | [`refit`] | a source whose format was taken for another one |
//! | 4 | [`remove`] | a source, removed with what was read of it |
//! | 4 | [`watch`] | the same whenever a file changes |

pub mod daily_log;
mod delta;
pub mod detect;
mod listing;
mod lock;
mod log_lines;
pub mod log_purge;
pub mod moving;
pub mod note;
pub mod noted;
mod origins;
pub mod pdf;
pub mod project;
mod reading;
pub mod refit;
pub mod remove;
mod session;
pub mod settings;
mod stamp;
pub mod sync;
pub mod watch;

pub use memorist_sources as sources;
