//! Parameters and texts of the core profile. Its answers are text, a line for a memory: most clients show a model
//! nothing but the structured form of an answer that has both, and JSON costs twice the tokens.
//!
//! | file | job |
//! |---|---|
//! | `params.rs` | parameters that other profiles have not |
//! | `line.rs` | a memory as a line |
//! | `page.rs` | lines within a number of tokens |

mod line;
mod page;
mod params;

pub use line::{MemoryLine, beginning, one_line};
pub use page::Page;
pub use params::{
    CoreDeleteParams, CoreDigestParams, CoreGetParams, CoreUpdateParams, SaveParams, UndoMany, UndoParams,
};
