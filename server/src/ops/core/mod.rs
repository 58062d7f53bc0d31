//! The tools of the core profile: the operations of all profiles, with answers as text.
//!
//! | file | job |
//! |---|---|
//! | `find.rs` | searching, getting, listing, following links |
//! | `change.rs` | saving, changing, deleting, linking, undoing |
//! | `many.rs` | changing and deleting the memories that a search finds, after a preview |
//! | `answers.rs` | answers and notes that several tools share |
//! | `changes.rs` | differences between two versions, in words |
//! | `overview.rs` | the digest and the statistics |

mod answers;
mod change;
mod changes;
mod find;
mod many;
mod overview;

pub use answers::missing_project;
pub use change::{add, delete, link, undo, update};
pub use find::{chain, get, list, search, search_with_records};
pub use overview::{digest, stats};
