//! What goes over every door: the parameters and results that MCP tools, `--json` and import share, by the names of
//! the specification.
//!
//! | file | job |
//! |---|---|
//! | `values.rs` | numbers, times and nullable fields as JSON clients really write them |
//! | `params.rs` | what a tool takes |
//! | `results.rs` | what a tool answers |
//! | `graph.rs`, `history.rs` | both, of links and the digest, and of versions and forgetting |
//! | `cursor.rs` | where a search goes on |
//! | `exchange.rs` | the format of export and import, on one page; what a line says |
//! | `exchange_lines.rs` | its lines, field by field |
//! | `exchange_tools.rs` | what the tools for both take and answer |
//! | `knowledge_graph.rs` | the lines of the reference memory server |
//! | `lines.rs` | the lines of a file |
//! | `convert.rs` | between those and the engine's types |
//! | `snippet.rs` | the passage of a long text that is shown |
//! | `parse.rs` | JSON to parameters, with errors that name the field |
//! | `mudpuppy.rs`, `memorizer.rs`, `krolik.rs` | what the tools of other systems take and answer |
//! | `schema.rs` | JSON Schema of both, without what clients warn about |

mod convert;
mod cursor;
mod exchange;
mod exchange_lines;
mod exchange_tools;
mod graph;
mod history;
mod knowledge_graph;
pub mod krolik;
mod lines;
pub mod memorizer;
pub mod mudpuppy;
mod params;
mod parse;
mod results;
mod schema;
mod snippet;
mod values;

pub use convert::{
    brief, count, entry, new_record, query, record_update, search_result, size, size_up_to, suggestions,
};
pub use exchange::{Line, Unread, read};
pub use exchange_lines::ExportLine;
pub use exchange_tools::{DEFAULT_FILE, ExportParams, ExportResult, ImportParams, ImportResult};
pub use graph::{
    ChainHit, ChainParams, ChainResult, DigestParams, DigestResult, LinkParams, LinkResult, OutdatedParams,
    OutdatedResult, Step, Summary, UnlinkResult, chain_result, digest, markdown, outdated, step, summary, titled,
};
pub use history::{
    HistoryParams, HistoryResult, PurgeParams, PurgeResult, RollbackParams, VersionEntry, purged, version,
};
pub use lines::Lines;
pub use params::{AddParams, DeleteParams, Detail, GetParams, ListParams, SearchParams, StatsParams, UpdateParams};
pub use parse::parse;
pub use results::{
    AddResult, DeleteResult, Entry, GetResult, IndexCounts, ListResult, SearchHit, SearchResult, StatsResult,
    UpdateResult,
};
pub use schema::{input_schema, output_schema};
pub use values::{Importance, Int, Iso, Patch, When};

use memorist_engine::types::{Reach, Viewer};

/// Settings of this process that fill in what a call leaves out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Defaults {
    /// The project of new memories, and of who looks.
    pub project: Option<String>,
    /// The agent of new memories, and of who looks.
    pub agent: Option<String>,
    /// What is seen where neither the call nor these name one: all, for a person at the command line.
    pub otherwise: Reach,
}

impl Defaults {
    /// Who looks, by what a call says of project and agent: a name is that one's and the global memories, null the
    /// global ones alone, and `*` all.
    pub fn viewer(&self, project: &Patch<String>, agent: &Patch<String>) -> Viewer {
        Viewer { project: self.reach(project, &self.project), agent: self.reach(agent, &self.agent) }
    }

    /// Who looks where a call cannot say.
    pub fn own_viewer(&self) -> Viewer {
        self.viewer(&Patch::Absent, &Patch::Absent)
    }

    fn reach(&self, given: &Patch<String>, default: &Option<String>) -> Reach {
        match (given, default) {
            (Patch::Value(name), _) if name == Reach::EVERY => Reach::Every,
            (Patch::Value(name), _) | (Patch::Absent, Some(name)) => Reach::Own(name.clone()),
            (Patch::Null, _) => Reach::Shared,
            (Patch::Absent, None) => self.otherwise.clone(),
        }
    }
}
