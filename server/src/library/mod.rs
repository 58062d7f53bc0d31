//! A store for programs in other languages: the tools by their names, with the settings of the command line.
//!
//! Parameters and results are those of the tools, as JSON objects; vectors that the program makes itself come beside them.
//!
//! | file | job |
//! |---|---|
//! | `open.rs` | [`Library`]: opening a store, and the source of its embeddings |
//! | `tools.rs` | the tools |
//! | `vectors.rs` | the tools with vectors of the program |
//! | `files.rs` | sync, export and import: work that takes a while |

mod files;
mod open;
mod tools;
mod vectors;

pub use crate::tools::{Problem, ProblemKind};
pub use open::{Embeds, Library, Options, own_model};
