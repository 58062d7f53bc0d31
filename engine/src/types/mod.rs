//! The words of the engine: what a record is, what is asked of a search, and what comes back.
//!
//! All times are Unix milliseconds. Bounds are checked in one place, [`NewRecord::validate`] and its siblings, so that
//! every door (MCP, command line, import) refuses the same things with the same words.
//!
//! | file | job |
//! |---|---|
//! | `units.rs` | ids, times, places in the log |
//! | `bounds.rs` | the bounds of every field and their checks |
//! | `kind.rs` | what a record is about |
//! | `scope.rs` | whose it is, and who sees it |
//! | `link.rs` | how memories hang together |
//! | `chain.rs` | what hangs together with a memory, and what others have taken the place of |
//! | `digest.rs` | what a project's memories come to |
//! | `record.rs` | a record: to be saved, changed, and as it is stored |
//! | `model.rs` | what makes embeddings comparable |
//! | `named.rs` | enums that are read by their name |
//! | `exchange.rs` | memories on their way from one store to another |
//! | `filter.rs` | which records may be returned |
//! | `query.rs` | what is asked of a search |
//! | `reply.rs` | what it answers |
//! | `purge.rs` | what is to be forgotten for good, and what was |
//! | `stats.rs` | what a store holds |

pub(crate) mod bounds;
mod chain;
mod digest;
pub(crate) mod exchange;
mod filter;
mod kind;
mod link;
mod model;
mod named;
mod purge;
mod query;
mod record;
mod reply;
mod scope;
mod stats;
mod units;

pub use bounds::{
    MAX_CONTENT_BYTES, MAX_CONTEXT_BYTES, MAX_LABEL_BYTES, MAX_LIMIT, MAX_POOL, MAX_QUERY_BYTES, MAX_TAGS,
    MIN_PLAUSIBLE_MILLIS,
};
pub use chain::{Chain, ChainQuery, Direction, Hop, MAX_CHAIN_DEPTH, Outdated, OutdatedQuery};
pub use digest::{ByImportance, Digest, DigestQuery};
pub use exchange::{AccessKind, Accessed, Earlier, Export, Exported, Imported, Portable, PortableLink};
pub use filter::Filter;
pub use kind::Kind;
pub use link::{Link, LinkKind, Linked};
pub use model::{Model, ModelId};
pub use named::ByName;
pub use purge::{Purge, Purged};
pub use query::{ListQuery, Mode, Query, Weights};
pub use record::{AddOutcome, EmbeddingState, NewRecord, Record, RecordUpdate, Replaced, UpdateOutcome, Version};
pub use reply::{Explain, Hit, SearchReply, Side, Similar, Tier};
pub use scope::{Reach, Scope, Viewer};
pub use stats::Stats;
pub use units::{Millis, RecordId, Seq};
