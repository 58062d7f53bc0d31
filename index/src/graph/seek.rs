//! Finds the neighbours of a slot in a graph that grows.

use super::GraphView;
use super::nodes::NewLinks;
use super::ranked::Ranked;
use super::scratch::Scratch;
use super::select::choose;
use super::vectors::Vectors;
use super::walk::{WalkParams, walk};
use crate::ids::Slot;
use crate::options::IndexOptions;
use crate::simd::query::EdgeQuery;

/// Seeks the neighbours of a slot, again and again.
#[derive(Default)]
pub(crate) struct Seeker {
    vector: Vec<f32>,
    edges: EdgeQuery,
    scratch: Scratch,
}

impl Seeker {
    /// The links that a new slot gets.
    pub(super) fn links(
        &mut self,
        graph: &GraphView<'_>,
        vectors: &Vectors<'_>,
        slot: Slot,
        options: &IndexOptions,
    ) -> NewLinks {
        let found = self.seek(graph, vectors, slot, options.ef_construction);
        let mut links = Vec::with_capacity(graph.width);
        let firm = choose(&vectors.codes, found, graph.width, &mut links);
        NewLinks { slot, links, firm }
    }

    /// Walks to a slot. Returns the slots that it finds, best first.
    pub(crate) fn seek(&mut self, graph: &GraphView<'_>, vectors: &Vectors<'_>, slot: Slot, ef: usize) -> &[Ranked] {
        let Self { vector, edges, scratch } = self;
        vectors.row(slot).into_iter().for_each(|row| row.decode_into(vector));
        edges.fill(vector);
        let params = WalkParams { vector, codes: vectors.codes.query(slot), edges, ef, enough: ef, patience: None };
        walk(graph, vectors, params, |_| true, |_| (), scratch);
        scratch.seen.sort_unstable_by(|a, b| b.cmp(a));
        &scratch.seen
    }
}
