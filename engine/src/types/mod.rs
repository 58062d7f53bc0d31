//! The vocabulary of the engine: records, queries, and results.
//!
//! All times are Unix milliseconds. Bounds are checked in one place, [`NewRecord::validate`] and its siblings, so that
//! every entry point (MCP, command line, import) refuses the same things with the same messages.
//!
//! | file | job |
//! |---|---|
//! | `units.rs` | ids, times, positions in the log |
//! | `span.rs` | a span of time |
//! | `bounds.rs` | the bounds of every field and their checks |
//! | `kind.rs` | the kinds of records |
//! | `scope.rs` | the owner of a record, and who sees it |
//! | `label.rs` | the names of projects, agents and tags |
//! | `link.rs` | links between memories |
//! | `chain.rs` | chains of linked memories, and superseded memories |
//! | `cleanup.rs` | memories to clean up: copies and duplicates |
//! | `digest.rs` | a summary of a project's memories |
//! | `record.rs` | a record: new, changed, and stored |
//! | `save.rs` | a memory that is saved together with its links |
//! | `place.rs` | where a record was read |
//! | `source.rs` | files that are read, and what was read of them |
//! | `job.rs` | texts that a provider embeds in its own time |
//! | `merge.rs` | memories that become one |
//! | `model.rs` | embedding models, and whether their embeddings are comparable |
//! | `embedding.rs` | an embedding as bytes |
//! | `named.rs` | enums that are read by their name |
//! | `exchange.rs` | memories on their way from one store to another |
//! | `filter.rs` | which records may be returned |
//! | `query.rs` | a search query |
//! | `reply.rs` | a search reply |
//! | `recall.rs` | automatic recall: the memories for a turn of an agent |
//! | `searches.rs` | searches that were made |
//! | `purge.rs` | permanent removal |
//! | `stats.rs` | statistics of a store |
//! | `why.rs` | why a search does not find a memory |
//! | `node.rs` | the health of a node of a team store |
//! | `timeline.rs` | event counts of memories, by time |
//! | `token.rs` | the rights of a client of a team store |

pub(crate) mod bounds;
mod chain;
mod cleanup;
mod digest;
pub(crate) mod embedding;
pub(crate) mod exchange;
mod filter;
mod job;
mod kind;
mod label;
mod link;
mod merge;
mod metadata;
mod model;
mod named;
mod node;
mod period;
mod place;
mod purge;
mod query;
mod recall;
mod record;
mod reply;
mod save;
mod scope;
mod searches;
mod source;
mod span;
mod stats;
mod timeline;
mod token;
mod units;
mod why;

pub use bounds::{
    MAX_CONTENT_BYTES, MAX_CONTEXT_BYTES, MAX_LABEL_BYTES, MAX_LIMIT, MAX_NEIGHBORS, MAX_POOL, MAX_QUERY_BYTES,
    MAX_RESULTS, MAX_TAGS, MAX_TURN, MIN_PLAUSIBLE_MILLIS,
};
pub use chain::{Chain, ChainQuery, Direction, Hop, MAX_CHAIN_DEPTH, Outdated, OutdatedQuery};
pub use cleanup::{Copies, Duplicates, DuplicatesPage};
pub use digest::{ByImportance, Digest, DigestQuery};
pub use embedding::{embedding_bytes, embedding_of, of_length_one};
pub use exchange::{
    AccessKind, Accessed, Carried, Earlier, Export, Exported, Imported, LinkTombstone, MemoryTombstone, Portable,
    PortableLink, PortablePassage, PortableTombstone, Stamps, UlidBytes, moved_ulid,
};
pub use filter::Filter;
pub use job::{AboutJob, BatchJob, JobEnd};
pub use kind::Kind;
pub use label::label;
pub(crate) use label::{is_same_tag, spellings};
pub use link::{Link, LinkKind, Linked, Mark};
pub use merge::{Merge, Merged};
pub use metadata::{Comparison, MAX_COMPARISONS, MAX_SEARCHED_BYTES, MetadataFilter, Scalar};
pub use model::ForeignMemories;
pub use model::{Model, ModelId};
pub use named::ByName;
pub(crate) use node::FOLLOW_AGAIN;
pub use node::NodeState;
#[cfg(feature = "postgres")]
pub(crate) use node::clock_warning;
pub use period::Period;
pub use place::{Origin, Place};
pub use purge::{Purge, Purged, Stays};
pub use query::{ListOnly, ListOrder, ListQuery, Mode, Query, Scale, ThreadRules, Weights};
pub use recall::{Recall, RecallRequest, Recalled, Reminder};
pub use record::{
    AddOutcome, EmbeddingState, Expect, Gone, NewRecord, Record, RecordUpdate, Replaced, UpdateOutcome, Version,
};
pub use reply::{
    DOUBTFUL, Explain, Hit, MatchSource, NearMiss, Parts, Placed, RELEVANCE_VERSION, SearchReply, Similar, Threshold,
    Tier, WEAK,
};
pub use save::{GivenFields, Save, Saved};
pub use scope::{Reach, Scope, Viewer};
pub use searches::{FoundBy, PastSearch, SearchCounts, SearchTrace, SearchesQuery};
pub use source::{
    FileChanges, FileContent, FileReading, FileStamp, KnownFile, NewSource, PassedOver, Source, SourceFile, SourceId,
    SourceKind, SourceStats,
};
pub use span::Span;
pub use stats::{Names, Stats};
pub use timeline::{Happened, Timeline, TimelineUnit};
pub use token::{Rights, TokenRights};
pub use units::{DAY, Millis, RecordId, Seq};
pub use why::{KeptOut, Scores, Why};
