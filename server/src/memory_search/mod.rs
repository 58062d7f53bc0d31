//! The configuration of Gimli's memory: its `memorySearch` tree, as far as it means something here.
//!
//! | file | job |
//! |---|---|
//! | `settings.rs` | settings of the tools of that profile |
//! | `tree.rs` | finds the trees of a file, and their keys |
//! | `keys.rs` | every key of the tree |
//! | `paths.rs` | the store that it names |
//! | `apply.rs` | a key applied to the settings |

mod apply;
mod keys;
mod paths;
mod settings;
mod tree;

pub use settings::MemorySearch;
pub use tree::{Configured, read};
