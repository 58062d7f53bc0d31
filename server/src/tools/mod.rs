//! The tools by name: parameters and results as JSON. MCP, the library for other languages and the explorer's page are
//! views of them.
//!
//! | file | job |
//! |---|---|
//! | `problem.rs` | errors of tools, by kind |
//! | `tool.rs` | a tool: texts, schemas, function |
//! | `table.rs` | **the registry**: every tool of memorist |

mod problem;
mod table;
mod tool;

pub use problem::{Problem, ProblemKind};
pub use table::{TOOLS, named, recall};
pub use tool::{Tool, ToolEffect, ToolOutput, call_strictly, parse_params, to_json};
