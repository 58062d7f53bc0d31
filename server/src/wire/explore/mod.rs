//! Parameters and results of the explorer's requests, beside those of the tools.
//!
//! | file | job |
//! |---|---|
//! | `params.rs` | parameters |
//! | `results.rs` | results |

mod params;
mod results;

pub use params::{
    CleanupKind, CleanupParams, ExplainParams, FindParams, GraphParams, MemoryParams, MergeParams, OverviewParams,
    SearchesOnly, SearchesParams, SeenVersion, SimilarParams,
};
pub use results::{
    Bucket, CleanupGroup, CleanupResult, ExplainResult, FindHit, FindResult, FoundByEntry, GraphEdge, GraphNode,
    GraphResult, LoggedSearches, Member, MemoryResult, MergeResult, NameCount, NearHit, NeighborsResult,
    OverviewResult, RecoverableEntry, SimilarHit, SimilarResult, TimelineResult,
};
