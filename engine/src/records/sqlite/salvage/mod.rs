//! Salvage: saves what can be read of a damaged database into a new one.
//!
//! SQLite comes to a row by way of the pages above it, so that one damaged page hides thousands of sound ones. Here every
//! page is read by itself. No altered row is saved, and no deleted row comes back: each row is checked against its own
//! hashes and against the indexes, and the rows that fail go to a file for people.
//! Values that neither an index nor a hash repeats (source, body, provenance, the end of a long context, some dates) are
//! taken as they are.
//!
//! | file | job |
//! |---|---|
//! | `report.rs` | the report of what was saved and lost |
//! | `pages.rs` | the bytes of a page as rows and index entries |
//! | `tables.rs` | which pages belong to which table, also below a damaged one |
//! | `roots.rs` | where the tables and indexes begin |
//! | `evidence.rs` | evidence in the indexes about the records |
//! | `rows.rs` | checks of a row |
//! | `transfer.rs` | row by row into the new database |
//! | `finish.rs` | the last steps, once the rows are in the new database |
//! | `doubts.rs` | the file for people |
//! | `headless.rs` | a database of which SQLite cannot read the header |
//! | `in_place.rs` | replaces the damaged database, which is kept |

mod doubts;
mod evidence;
mod finish;
mod headless;
mod in_place;
mod pages;
mod report;
mod roots;
mod rows;
mod tables;
#[cfg(test)]
mod tests;
mod transfer;

pub use in_place::{salvage, survey};
pub use report::{Kept, Salvage};
