//! Walks over a graph: down the upper levels, then a beam on one level (algorithms 2 and 5 of the HNSW paper).

use super::codes::{Codes, QueryCodes};
use super::edges::{BATCH, EdgeQuery, Edges, batch_bytes};
use super::ranked::Ranked;
use super::scratch::Scratch;
use super::vectors::Vectors;
use super::{GraphView, Links};
use crate::Slot;

/// So many slots are on their way into the cache while the one before them is looked at.
const AHEAD: usize = 2;
/// The beam on the first level above the lowest, from which the walk must begin in the right region: where the vectors lie in
/// groups that have little to do with one another, as of two languages, hardly a link of the lowest level leads across.
const BEAM_ABOVE: usize = 4;

/// Goes from the slot `entry` down the levels above `level`, on each to the most similar slot that it finds.
pub(crate) fn descend(
    links: &impl Links,
    codes: &Codes<'_>,
    query: QueryCodes<'_>,
    entry: (Slot, u8),
    level: u8,
    scratch: &mut Scratch,
) -> Ranked {
    let (entry, top_level) = entry;
    let mut best = Ranked::new(codes.similarity(query, entry), entry);
    for level in (level + 1..=top_level).rev() {
        if level == 1 {
            beam(links, codes, query, level, BEAM_ABOVE, best, scratch);
            best = scratch.pool.iter().next().unwrap_or(best);
        } else {
            best = climb(links, codes, query, level, best);
        }
    }
    best
}

/// Goes on to the most similar neighbour for as long as there is one that is more similar.
fn climb(links: &impl Links, codes: &Codes<'_>, query: QueryCodes<'_>, level: u8, start: Ranked) -> Ranked {
    let mut best = start;
    loop {
        let here = best;
        links.each_neighbour(here.slot(), level, |slot| codes.prefetch(slot));
        links.each_neighbour(here.slot(), level, |slot| {
            if (slot as usize) < codes.count() {
                best = best.max(Ranked::new(codes.similarity(query, slot), slot));
            }
        });
        if best == here {
            return best;
        }
    }
}

/// Finds about the `ef` most similar slots on a level, from `start`; they are in the scratch's pool afterwards.
pub(crate) fn beam(
    links: &impl Links,
    codes: &Codes<'_>,
    query: QueryCodes<'_>,
    level: u8,
    ef: usize,
    start: Ranked,
    scratch: &mut Scratch,
) {
    let Scratch { visited, pool, fresh, .. } = scratch;
    visited.reset(codes.count());
    pool.reset(ef);
    visited.insert(start.slot());
    pool.insert(start);
    while let Some(slot) = pool.expand_next() {
        fresh.clear();
        links.each_neighbour(slot, level, |neighbour| {
            if visited.insert(neighbour) {
                codes.prefetch(neighbour);
                fresh.push(neighbour);
            }
        });
        if let Some(next) = pool.peek() {
            links.prefetch(next);
        }
        for &neighbour in fresh.iter() {
            pool.insert(Ranked::new(codes.similarity(query, neighbour), neighbour));
        }
    }
}

/// What a walk by estimates looks for.
pub(crate) struct Asked<'a> {
    /// Of length 1, rotated.
    pub(crate) vector: &'a [f32],
    pub(crate) edges: &'a EdgeQuery,
    /// How many of the best it returns.
    pub(crate) most: usize,
}

/// As [`beam`] on the lowest level of a finished graph, by estimates: what is estimated to be among the best `ef` is looked at and
/// expanded, the others are not looked at. The best of those looked at that `accept` lets pass are in the scratch's `accepted`
/// afterwards; the walk goes through the others. Returns how many it let pass.
pub(crate) fn estimated_beam(
    graph: &GraphView<'_>,
    vectors: &Vectors<'_>,
    asked: &Asked<'_>,
    ef: usize,
    start: Ranked,
    accept: impl Fn(Slot) -> bool,
    scratch: &mut Scratch,
) -> usize {
    let Asked { vector, edges, most } = *asked;
    let Scratch { visited, buckets, accepted, .. } = scratch;
    let kernel = vectors.codes.kernel();
    visited.reset(vectors.codes.count());
    buckets.reset(ef);
    accepted.reset(most);
    buckets.insert(start.similarity(), start.slot());
    let batch_words = batch_bytes(vector.len()) / 4;
    let mut estimates = [0f32; BATCH];
    let mut coming = [None; AHEAD];
    let mut turn = 0;
    let mut passed = 0;
    loop {
        // A slot that several neighbours have estimated is there several times.
        let mut next = buckets.pop();
        while next.is_some_and(|slot| !visited.insert(slot)) {
            buckets.discount();
            next = buckets.pop();
        }
        if let Some(next) = next {
            vectors.prefetch(next);
            graph.prefetch_node(next);
        }
        let now = std::mem::replace(&mut coming[turn % AHEAD], next);
        turn += 1;
        let Some(slot) = now else {
            if coming.iter().all(Option::is_none) {
                break;
            }
            continue;
        };
        let here = Ranked::new(vectors.cosine(vector, slot), slot);
        if accept(slot) {
            passed += 1;
            accepted.push(here);
        }
        let (links, rest) = graph.links_and_edges(slot);
        for (links, words) in links.as_chunks::<BATCH>().0.iter().zip(rest.chunks_exact(batch_words)) {
            let Some(batch) = Edges::parse(words) else { continue };
            let mut better = kernel.estimate(batch, edges, here.similarity(), buckets.bar(), &mut estimates);
            while better != 0 {
                let at = better.trailing_zeros() as usize;
                better &= better - 1;
                if !visited.contains(links[at]) {
                    buckets.insert(estimates[at], links[at]);
                }
            }
        }
    }
    passed
}
