//! The walk of a standard index: neighbors are estimated from the edges beside their links.

use super::params::WalkParams;
use super::patience::Watch;
use crate::format::node::{BATCH, Edges, batch_words};
use crate::graph::GraphView;
use crate::graph::buckets::Buckets;
use crate::graph::ranked::Ranked;
use crate::graph::scratch::{Scratch, Visited};
use crate::graph::vectors::Vectors;
use crate::ids::Slot;

/// Looks at what is estimated to be among the best `ef`, best first, and estimates its neighbours; what is not
/// estimated to be one of the best is not looked at. It begins with the estimates of all entries.
pub(super) fn walk(
    graph: &GraphView<'_>,
    vectors: &Vectors<'_>,
    params: WalkParams<'_>,
    accept: impl Fn(Slot) -> bool,
    prepare: impl Fn(Slot),
    scratch: &mut Scratch,
) -> bool {
    let mut watch = Watch::new(params.patience);
    let Scratch { visited, buckets, seen, .. } = scratch;
    let codes = &vectors.codes;
    let kernel = codes.kernel();
    let batch_words = batch_words(codes.stride());
    let mut estimates = [0f32; BATCH];
    // Only so much can be on its way into the cache at once: so a third of the next node each time, between other work.
    let bring = |next: Option<Slot>, third| next.into_iter().for_each(|next| graph.prefetch_third(next, third));
    let mut look_round = |links: &[Slot], edges: &[u32], similarity, next, visited: &Visited, buckets: &mut Buckets| {
        for (links, words) in links.as_chunks::<BATCH>().0.iter().zip(edges.chunks_exact(batch_words)) {
            let Some(batch) = Edges::parse(words) else { continue };
            let mut better = kernel.estimate(batch, params.edges, similarity, buckets.bar(), &mut estimates);
            bring(next, 2);
            while better != 0 {
                let at = better.trailing_zeros() as usize;
                better &= better - 1;
                if !visited.contains(links[at]) {
                    buckets.insert(estimates[at], links[at]);
                }
            }
        }
    };
    let (entries, edges) = graph.entries_and_edges();
    look_round(entries, edges, 0.0, None, visited, buckets);
    let mut coming = None;
    loop {
        let mut next = buckets.pop();
        while let Some(slot) = next {
            if !visited.insert(slot) {
                // A slot that several neighbours have estimated is there several times.
                buckets.discount();
            } else if seen.len() < params.enough || accept(slot) {
                break;
            }
            next = buckets.pop();
        }
        if let Some(next) = next {
            codes.prefetch(next);
            prepare(next);
        }
        bring(next, 0);
        let Some(slot) = std::mem::replace(&mut coming, next) else {
            if next.is_none() {
                return false;
            }
            continue;
        };
        let similarity = params.similarity(vectors, slot);
        bring(next, 1);
        // In a damaged file it can be no number, which would be the best of all.
        if similarity.is_finite() && accept(slot) {
            seen.push(Ranked::new(similarity, slot));
            if watch.ends_after(similarity, seen.len()) {
                return true;
            }
        }
        let (links, edges) = graph.links_and_edges(slot);
        look_round(links, edges, similarity, next, visited, buckets);
    }
}
