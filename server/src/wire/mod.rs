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

use memorist_engine::Result;
use memorist_engine::types::{Reach, Scope, Viewer};

/// Settings of this process that fill in what a call leaves out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Defaults {
    /// The project of new memories, and of who looks.
    pub project: Option<String>,
    /// The agent of new memories, and of who looks.
    pub agent: Option<String>,
    /// Whether who looks sees every project; a new memory is then of none.
    pub every_project: bool,
    /// The same for agents.
    pub every_agent: bool,
    /// What is seen where neither the call nor these name one: all, for a person at the command line.
    pub otherwise: Reach,
}

impl Defaults {
    /// By what settings name: `*` is all.
    ///
    /// # Errors
    /// [`Error::Invalid`](memorist_engine::Error::Invalid) for what can be the name of none.
    pub fn named(project: Option<String>, agent: Option<String>) -> Result<Self> {
        let is_every = |name: &Option<String>| name.as_deref() == Some(Reach::EVERY);
        let (every_project, every_agent) = (is_every(&project), is_every(&agent));
        let scope = Scope { project: project.filter(|_| !every_project), agent: agent.filter(|_| !every_agent) };
        scope.validate()?;
        let Scope { project, agent } = scope;
        Ok(Defaults { project, agent, every_project, every_agent, ..Defaults::default() })
    }

    /// Who looks, by what a call says of project and agent: a name is that one's and the global memories, null the
    /// global ones alone, and `*` all.
    pub fn viewer(&self, project: &Patch<String>, agent: &Patch<String>) -> Viewer {
        Viewer {
            project: self.reach(project, &self.project, self.every_project),
            agent: self.reach(agent, &self.agent, self.every_agent),
        }
    }

    /// Who looks where a call cannot say.
    pub fn own_viewer(&self) -> Viewer {
        self.viewer(&Patch::Absent, &Patch::Absent)
    }

    fn reach(&self, given: &Patch<String>, default: &Option<String>, every: bool) -> Reach {
        match (given, default) {
            (Patch::Value(name), _) if name == Reach::EVERY => Reach::Every,
            (Patch::Value(name), _) | (Patch::Absent, Some(name)) => Reach::Own(name.clone()),
            (Patch::Null, _) => Reach::Shared,
            (Patch::Absent, None) if every => Reach::Every,
            (Patch::Absent, None) => self.otherwise.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R24.
    #[test]
    fn a_star_in_the_settings_is_all_for_who_looks_and_none_for_what_is_new() {
        let star = || Some(Reach::EVERY.to_owned());
        let shared = |defaults: Defaults| Defaults { otherwise: Reach::Shared, ..defaults };
        let defaults = shared(Defaults::named(star(), Some("scout".into())).unwrap());
        assert_eq!((defaults.project.as_deref(), defaults.agent.as_deref()), (None, Some("scout")));
        assert_eq!(defaults.own_viewer(), Viewer::of_agent("scout"));
        let viewer = defaults.viewer(&Patch::Null, &Patch::Value("main".into()));
        assert_eq!(viewer, Viewer { project: Reach::Shared, agent: Reach::Own("main".into()) }, "a call beats them");
        assert_eq!(shared(Defaults::named(None, star()).unwrap()).own_viewer().agent, Reach::Every);
        assert_eq!(shared(Defaults::named(None, None).unwrap()).own_viewer().project, Reach::Shared);
    }

    #[test]
    fn what_can_be_no_name_is_refused_by_its_field() {
        let name = || Some(" ".to_owned());
        for (named, field) in [(Defaults::named(name(), None), "project"), (Defaults::named(None, name()), "agent")] {
            let refused = named.unwrap_err().to_string();
            assert!(refused.contains(field), "{refused}");
        }
    }
}
