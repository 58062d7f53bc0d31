//! What the explorer asks and is answered, beside what the tools have.
//!
//! | file | job |
//! |---|---|
//! | `params.rs` | what it asks |
//! | `results.rs` | what it is answered |

mod params;
mod results;

pub use params::{
    CleanupKind, CleanupParams, FindParams, GraphParams, MemoryParams, MergeParams, OverviewParams, SearchesOnly,
    SearchesParams, SeenVersion, SimilarParams, WhyParams,
};
pub use results::{
    Bucket, CleanupGroup, CleanupResult, FindHit, FindResult, FoundByEntry, GoneEntry, GraphEdge, GraphNode,
    GraphResult, KeptSearches, Member, MemoryResult, MergeResult, Named, OverviewResult, SimilarHit, SimilarResult,
    TimelineResult, WhyResult,
};
