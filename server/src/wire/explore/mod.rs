//! Parameters and results of the explorer's requests, beside those of the tools.
//!
//! | file | job |
//! |---|---|
//! | `params.rs` | parameters |
//! | `results.rs` | results |

mod params;
mod results;

pub use params::{
    CleanupKind, CleanupParams, FindParams, GraphParams, MemoryParams, MergeParams, OverviewParams, SearchesOnly,
    SearchesParams, SeenVersion, SimilarParams, WhyParams,
};
pub use results::{
    Bucket, CleanupGroup, CleanupResult, FindHit, FindResult, FoundByEntry, GoneEntry, GraphEdge, GraphNode,
    GraphResult, LoggedSearches, Member, MemoryResult, MergeResult, NameCount, OverviewResult, SimilarHit,
    SimilarResult, TimelineResult, WhyResult,
};
