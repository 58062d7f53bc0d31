//! The tools by name: parameters and results as JSON. Programs in other languages and the explorer's page call them so.
//!
//! | file | job |
//! |---|---|
//! | `problem.rs` | errors of tools, by kind |
//! | `table.rs` | the tools |

mod problem;
mod table;

pub use problem::{Problem, ProblemKind};
pub use table::{TOOLS, Tool, call_strictly, parse_params, to_json};
