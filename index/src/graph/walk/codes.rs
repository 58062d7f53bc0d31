//! The walk of a compact index: neighbors are compared by their codes, each once. They lie anywhere in memory, so the walk has
//! two nodes on their way: while it compares the neighbors of one, the codes of the next one's come into the cache, and
//! the links of the one after that.

use super::params::WalkParams;
use super::patience::Watch;
use crate::best::Best;
use crate::format::node::{BATCH, Edges, batch_words, row_links};
use crate::graph::GraphView;
use crate::graph::buckets::Buckets;
use crate::graph::ranked::Ranked;
use crate::graph::scratch::{Scratch, Visited};
use crate::graph::vectors::Vectors;
use crate::ids::Slot;
use crate::simd;

/// Entries that are compared: those with the best estimates. With 8 to 64 of them a walk finds as much (measured).
const ENTERED: usize = 16;

/// Compares the neighbors of what is among the best `ef` so far, best first.
pub(super) fn walk(
    graph: &GraphView<'_>,
    vectors: &Vectors<'_>,
    params: WalkParams<'_>,
    accept: impl Fn(Slot) -> bool,
    prepare: impl Fn(Slot),
    scratch: &mut Scratch,
) -> bool {
    let mut watch = Watch::new(params.patience);
    let Scratch { visited, buckets, seen, here, coming } = scratch;
    let codes = &vectors.codes;
    let bring = |links: &[Slot], visited: &mut Visited, brought: &mut Vec<Slot>| {
        brought.clear();
        brought.extend(row_links(links).iter().filter(|&&link| visited.insert(link)));
        brought.iter().for_each(|&link| codes.prefetch(link));
    };
    let compare = |slots: &[Slot], buckets: &mut Buckets| {
        for &slot in slots {
            let similarity = codes.similarity(params.codes, slot);
            if similarity > buckets.bar() {
                prepare(slot);
                buckets.insert(similarity, slot);
            }
        }
    };
    bring(&best_entries(graph, vectors, &params), visited, here);
    let mut before = None;
    loop {
        let mut next = buckets.pop();
        while let Some(slot) = next
            && seen.len() >= params.enough
            && !accept(slot)
        {
            next = buckets.pop();
        }
        next.into_iter().for_each(|next| simd::prefetch(graph.links_and_edges(next).0));
        let is_last = next.is_none() && before.is_none();
        bring(before.map_or(&[], |before| graph.links_and_edges(before).0), visited, coming);
        compare(here, buckets);
        if is_last && here.is_empty() {
            return false;
        }
        std::mem::swap(here, coming);
        if let Some(slot) = next {
            let similarity = params.similarity(vectors, slot);
            // In a damaged file it can be no number, which would be the best of all.
            if similarity.is_finite() && accept(slot) {
                seen.push(Ranked::new(similarity, slot));
                if watch.ends_after(similarity, seen.len()) {
                    return true;
                }
            }
        }
        before = next;
    }
}

/// The entries with the best estimates.
fn best_entries(graph: &GraphView<'_>, vectors: &Vectors<'_>, params: &WalkParams<'_>) -> Vec<Slot> {
    let codes = &vectors.codes;
    let (links, edges) = graph.entries_and_edges();
    let mut best = Best::new(ENTERED);
    let mut estimates = [0f32; BATCH];
    for (links, words) in links.as_chunks::<BATCH>().0.iter().zip(edges.chunks_exact(batch_words(codes.stride()))) {
        let Some(batch) = Edges::parse(words) else { continue };
        codes.kernel().estimate(batch, params.edges, 0.0, 0.0, &mut estimates);
        let estimated = row_links(links).iter().zip(estimates).map(|(&link, estimate)| Ranked::new(estimate, link));
        estimated.for_each(|one| best.push(one));
    }
    best.into_sorted().into_iter().map(Ranked::slot).collect()
}
