//! The wire format: the parameters and results that MCP tools, `--json` and import share, named as in the
//! specification.
//!
//! | file | job |
//! |---|---|
//! | `values.rs` | numbers, times and nullable fields as JSON clients really write them |
//! | `times.rs` | times as people and models say and read them |
//! | `periods.rs` | the period that a query names |
//! | `params.rs` | parameters of the tools |
//! | `results.rs` | results of the tools |
//! | `graph.rs`, `history.rs` | both, for links and digests, and for versions and purges |
//! | `recall.rs` | automatic recall: parameters and result |
//! | `hooks.rs` | requests of hooks, and answers to them |
//! | `fence.rs` | the fenced text that goes into a context |
//! | `searches.rs` | the search log |
//! | `explore` | parameters and results of the explorer's requests |
//! | `map.rs` | **the format** of the explorer's map, its mask, its state and its labels |
//! | `cursor.rs` | cursors of a search |
//! | `exchange.rs` | the format of export and import, on one page; parsing a line |
//! | `exchange_lines.rs` | its lines, field by field |
//! | `exchange_embedding.rs` | their embeddings |
//! | `exchange_tombstones.rs` | lines about what is gone, between the machines of a person |
//! | `exchange_tools.rs` | parameters and results of the tools for both |
//! | `knowledge_graph.rs` | the lines of the reference memory server |
//! | `lines.rs` | the lines of a file |
//! | `defaults.rs` | default project and agent, and `--isolate` |
//! | `convert.rs` | conversions to and from the engine's types |
//! | `place.rs` | the lines of a file that a memory is from |
//! | `source_names.rs` | notes, sessions and memories as sources of a search |
//! | `sources.rs` | sources, and the results of a sync |
//! | `lenient.rs` | parameters under other names, as models write them |
//! | `forms.rs` | values of parameters in the form that the schema has |
//! | `parse.rs` | JSON to parameters, with errors that name the field |
//! | `core` | parameters and texts of the core profile |
//! | `tidy.rs` | the plan and the results of `memorist tidy` |
//! | `memory_files.rs` | the commands of Claude's memory tool |
//! | `mudpuppy.rs`, `memorizer.rs`, `krolik.rs`, `gimli.rs` | parameters and results of the tools of other systems |
//! | `markdown.rs` | untrusted text within Markdown |
//! | `types.rs` | kinds as the types of those systems |
//! | `schema.rs` | JSON Schema of both, without what clients warn about |

mod convert;
pub mod core;
mod cursor;
mod defaults;
mod exchange;
mod exchange_embedding;
mod exchange_lines;
mod exchange_tombstones;
mod exchange_tools;
pub mod explore;
mod fence;
mod forms;
pub mod gimli;
mod graph;
mod history;
mod hooks;
mod knowledge_graph;
pub mod krolik;
mod lenient;
mod lines;
mod map;
mod markdown;
pub mod memorizer;
mod memory_files;
pub mod mudpuppy;
mod params;
mod parse;
mod periods;
mod place;
mod recall;
mod results;
mod schema;
mod searches;
mod source_names;
mod sources;
pub mod tidy;
mod times;
mod types;
mod values;

pub use convert::{
    BYTES_PER_TOKEN, brief, count, entry, expect, fit, new_record, query, record_update, relevance, search_limit,
    search_page, search_result, size, size_up_to, suggestions,
};
pub use defaults::{Caller, Defaults};
pub use exchange::{ImportLine, Unread, read};
pub use exchange_lines::ExportLine;
pub use exchange_tools::{ChangedInBoth, DEFAULT_FILE, ExportParams, ExportResult, ImportParams, ImportResult};
pub use fence::{recall_block, reminder_block, start_block};
pub use forms::{adapt_values, is_nullable};
pub use graph::{
    ChainHit, ChainParams, ChainResult, DigestParams, DigestResult, LinkParams, LinkResult, OutdatedParams,
    OutdatedResult, Summary, UnlinkResult, chain_result, digest, link_phrase, markdown, outdated, step, summary,
    titled,
};
pub use history::{
    HistoryParams, HistoryResult, PurgeParams, PurgeResult, RollbackParams, UndoResult, VersionEntry, purged, version,
};
pub use hooks::{HookReply, HookRequest, VERSION as HOOK_VERSION};
pub use lenient::{check_names, lenient};
pub use lines::Lines;
pub use map::{BuildMapResult, MapFrom, MapLabelsResult, MapStateResult, map_bytes, mask_bytes};
pub use memorist_engine::snippet::{cut_to, has_word_of};
pub use memory_files::{FileCommand, FileParams};
pub use params::{
    AddParams, DeleteParams, Detail, GetParams, ListParams, ListSort, ListState, SearchParams, StatsParams,
    UpdateParams,
};
pub use parse::{parse, parse_exactly};
pub use periods::period;
pub use place::PlaceInfo;
pub use recall::{RecallParams, RecallResult, recall_result};
pub use results::{
    AddResult, DeleteResult, Entry, GetResult, IndexCounts, ListResult, SearchHit, SearchResult, SearchTotals,
    StatsResult, Step, Suggestion, UnreadFiles, UpdateResult,
};
pub use schema::{input_schema, output_schema};
pub use searches::{SearchEntry, SearchesResult};
pub use source_names::{SourceName, kinds_of};
pub use sources::{
    DiscoverResult, FileProblem, PlaceEntry, SourceAddResult, SourceEntry, SourceRemoveResult, SourcesResult,
    SyncResult, SyncedSource,
};
pub use times::{Future, FutureEnd, Past, PastEnd, day, moment};
pub use values::{Importance, Int, Iso, Patch, When, Where};
