//! Inserts slots into a growing graph (algorithm 1 of the HNSW paper), by one thread or several.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::codes::Codes;
use super::duplicates::Duplicates;
use super::memory::{Graph, GrowingGraph, LinkScratch, random_level};
use super::scratch::Scratch;
use super::select::select;
use super::vectors::Vectors;
use super::{carry, connect, fill, walk};
use crate::options::IndexOptions;
use crate::progress::{Cancelled, OnProgress, Stage, Work};
use crate::{Key, Slot};

/// Between two reports of progress a thread inserts so many slots.
const REPORT_EVERY: usize = 64;

/// Builds the graph of `vectors`. The first slots take over the links of `carried`, the others are inserted. It runs in the
/// rayon pool it is called in; with one thread there, the result is always the same.
pub(crate) fn build(
    vectors: &Vectors<'_>,
    keys: &[Key],
    carried: Option<&carry::Carried<'_>>,
    options: &IndexOptions,
    on_progress: OnProgress<'_>,
) -> Result<Graph, Cancelled> {
    let codes = &vectors.codes;
    let first_new = carried.map_or(0, |carried| carried.count());
    let duplicates = Duplicates::find(codes, first_new);
    let levels = (keys.iter().enumerate())
        .map(|(slot, &key)| match carried {
            Some(carried) if slot < first_new => carried.level(slot as Slot, options.m),
            _ if duplicates.contains(slot as Slot) => 0,
            _ => random_level(options.seed, key, options.m),
        })
        .collect();
    let graph = GrowingGraph::new(options.m, levels);
    // Slot 0 is no duplicate, so the highest is none: of equally high ones it is the first.
    // Where a walk begins while the graph grows: at the highest slot of all once it is in, and before that there is none to
    // insert but itself.
    let old_entry = carried.and_then(|carried| carried.copy_links(codes, &graph));
    let highest = graph.highest();
    let builder = Builder { codes, graph: &graph, ef: options.ef_construction, m: options.m };
    let entry = match old_entry {
        Some(entry) if graph.level(entry) >= graph.level(highest) => entry,
        Some(entry) => {
            builder.insert(highest, entry, &mut Scratch::default(), &mut LinkScratch::default());
            highest
        }
        None => highest,
    };
    let todo = keys.len() - first_new;
    let next = AtomicUsize::new(first_new);
    let linking = Work::new(Stage::Linking, todo, on_progress);
    let work = || {
        let (mut scratch, mut link_scratch) = (Scratch::default(), LinkScratch::default());
        while !linking.is_cancelled() {
            let start = next.fetch_add(REPORT_EVERY, Ordering::Relaxed);
            if start >= keys.len() {
                break;
            }
            for slot in start..keys.len().min(start + REPORT_EVERY) {
                if slot as Slot != entry && !duplicates.contains(slot as Slot) {
                    builder.insert(slot as Slot, entry, &mut scratch, &mut link_scratch);
                }
            }
            linking.advance(REPORT_EVERY.min(keys.len() - start));
        }
    };
    if rayon::current_num_threads() > 1 {
        rayon::scope(|scope| (0..rayon::current_num_threads()).for_each(|_| scope.spawn(|_| work())));
    } else {
        work();
    }
    linking.finish()?;
    duplicates.link(codes, &graph);
    let mut graph = graph.finish(entry);
    connect::connect_unreachable(&mut graph, codes, options.ef_construction);
    fill::fill(&mut graph, codes, on_progress)?;
    Ok(graph)
}

struct Builder<'a> {
    codes: &'a Codes<'a>,
    graph: &'a GrowingGraph,
    ef: usize,
    m: usize,
}

impl Builder<'_> {
    /// Finds the neighbours of a slot on each of its levels that the entry has, and links it with them both ways.
    fn insert(&self, slot: Slot, entry: Slot, scratch: &mut Scratch, link_scratch: &mut LinkScratch) {
        let query = self.codes.query(slot);
        let entry_level = self.graph.level(entry);
        let level = self.graph.level(slot).min(entry_level);
        let mut start = walk::descend(self.graph, self.codes, query, (entry, entry_level), level, scratch);
        let mut neighbours = Vec::with_capacity(self.m);
        for level in (0..=level).rev() {
            walk::beam(self.graph, self.codes, query, level, self.ef, start, scratch);
            // It finds itself where another thread has linked it meanwhile.
            link_scratch.candidates.clear();
            link_scratch.candidates.extend(scratch.pool.iter().filter(|found| found.slot() != slot));
            let Some(&best) = link_scratch.candidates.first() else { continue };
            select(self.codes, &link_scratch.candidates, self.m, &mut neighbours);
            for &neighbour in &neighbours {
                self.graph.connect(self.codes, slot, neighbour, level, link_scratch);
            }
            for &neighbour in &neighbours {
                self.graph.connect(self.codes, neighbour, slot, level, link_scratch);
            }
            start = best;
        }
    }
}
