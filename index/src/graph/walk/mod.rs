//! The walk over a graph: a beam search (algorithm 2 of the HNSW paper).
//!
//! | file | job |
//! |---|---|
//! | `params.rs` | the query of a walk, and its effort |
//! | `patience.rs` | when it has found what it seeks |
//! | `estimates.rs` | the walk of a standard index: neighbors are estimated from the edges beside their links |
//! | `codes.rs` | the walk of a compact index, which has no such edges: neighbors are compared by their codes |

pub(crate) use self::params::WalkParams;
use super::GraphView;
use super::scratch::Scratch;
use super::vectors::Vectors;
use crate::ids::Slot;

mod codes;
mod estimates;
mod params;
mod patience;

/// Looks at what is among the best `ef`, as far as the walk knows, best first, and goes on to its neighbors. It begins
/// with the entries. What it has looked at and accepts is in the scratch's `seen` afterwards, with about its similarity;
/// it goes through the others. What `accept` will be called with is given to `prepare` before. Returns whether it ended because it
/// had found enough.
#[inline]
pub(crate) fn walk(
    graph: &GraphView<'_>,
    vectors: &Vectors<'_>,
    params: WalkParams<'_>,
    accept: impl Fn(Slot) -> bool,
    prepare: impl Fn(Slot),
    scratch: &mut Scratch,
) -> bool {
    scratch.reset(vectors.codes.count(), params.ef);
    if graph.has_edges() {
        estimates::walk(graph, vectors, params, accept, prepare, scratch)
    } else {
        codes::walk(graph, vectors, params, accept, prepare, scratch)
    }
}
