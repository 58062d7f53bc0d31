//! What can be read of a damaged database, saved into a new one.
//!
//! SQLite comes to a row by way of the pages above it, so that one damaged page hides thousands of sound ones. Here
//! every page is looked at for itself. Nothing is saved that may have been altered, and nothing comes back that was
//! deleted: a row is checked against its own hashes and against the indexes, and what fails goes to a file for people.
//! What neither an index nor a hash repeats (source, body, provenance, the end of a long context, some dates) is taken
//! as it stands.
//!
//! | file | job |
//! |---|---|
//! | `report.rs` | what could be saved, and what not |
//! | `pages.rs` | the bytes of a page as rows and index entries |
//! | `tables.rs` | which pages belong to which table, also below a damaged one |
//! | `roots.rs` | where the tables and indexes begin |
//! | `evidence.rs` | what the indexes say about the records |
//! | `rows.rs` | what a row says, and what is wrong with it |
//! | `transfer.rs` | row by row into the new database |
//! | `finish.rs` | what the new database needs once the rows are in it |
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
