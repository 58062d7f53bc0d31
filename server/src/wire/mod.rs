//! What goes over every door: the parameters and results that MCP tools, `--json` and import share, by the names of
//! the specification.
//!
//! | file | job |
//! |---|---|
//! | `values.rs` | numbers, times and nullable fields as JSON clients really write them |
//! | `params.rs` | what a tool takes |
//! | `results.rs` | what a tool answers |
//! | `convert.rs` | between those and the engine's types |
//! | `snippet.rs` | the passage of a long text that is shown |
//! | `parse.rs` | JSON to parameters, with errors that name the field |
//! | `schema.rs` | JSON Schema of both, without what clients warn about |

mod convert;
mod params;
mod parse;
mod results;
mod schema;
mod snippet;
mod values;

pub use convert::{count, entry, export_line, new_record, query, record_update, search_result};
pub use params::{AddParams, DeleteParams, Detail, GetParams, SearchParams, StatsParams, UpdateParams};
pub use parse::parse;
pub use results::{
    AddResult, DeleteResult, Entry, GetResult, IndexCounts, SearchHit, SearchResult, StatsResult, UpdateResult,
};
pub use schema::{input_schema, output_schema};
pub use values::{Importance, Int, Patch, When};

/// Settings of this process that fill in what a call leaves out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Defaults {
    /// The project of new memories, and of searches.
    pub project: Option<String>,
    /// The agent of new memories, and of searches.
    pub agent: Option<String>,
}
