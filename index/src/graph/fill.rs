//! Fills the rows of the lowest level up. Selection leaves many rows a third empty; a walk estimates all neighbours of a slot
//! in one pass, full row or not, so near slots in the free places cost it nothing and shorten its way.

use rayon::prelude::*;

use super::GraphView;
use super::codes::Codes;
use super::memory::Graph;
use super::ranked::Ranked;
use super::scratch::Scratch;
use crate::Slot;
use crate::format::view::row_links;
use crate::progress::{Cancelled, OnProgress, Stage, Work};

/// So many of the nearest are asked whether they lie in a direction of their own.
const MOST_ASKED: usize = 32;
/// A direction is one's own when no neighbour there is nearer than the distance (1 - cosine) divided by this. The alpha of
/// DiskANN (Subramanya and others, NeurIPS 2019), squared; selection has used 1.
const ALPHA: f32 = 1.2;

/// Between two reports of progress a thread fills so many rows.
const ROWS_AT_ONCE: usize = 256;

/// Puts neighbours of the neighbours into the free places of each row: the nearest that lie in a direction of their own, then
/// the nearest of the others.
pub(crate) fn fill(graph: &mut Graph, codes: &Codes<'_>, on_progress: OnProgress<'_>) -> Result<(), Cancelled> {
    let width = graph.width;
    let mut filled = graph.links.clone();
    let view = graph.view();
    let work = Work::new(Stage::Filling, codes.count(), on_progress);
    filled.par_chunks_mut(width * ROWS_AT_ONCE).enumerate().for_each(|(position, rows)| {
        if work.is_cancelled() {
            return;
        }
        let first = (position * ROWS_AT_ONCE) as Slot;
        for (row, slot) in rows.chunks_mut(width).zip(first..) {
            let linked = row_links(row).len();
            if linked < width {
                let (links, free) = row.split_at_mut(linked);
                let more = Scratch::with(|scratch| near(&view, codes, slot, links, free.len(), scratch));
                free.iter_mut().zip(more).for_each(|(place, slot)| *place = slot);
            }
        }
        work.advance(rows.len() / width);
    });
    graph.links = filled;
    work.finish()
}

/// Up to `most` of the neighbours' neighbours.
fn near(
    graph: &GraphView<'_>,
    codes: &Codes<'_>,
    slot: Slot,
    links: &[Slot],
    most: usize,
    scratch: &mut Scratch,
) -> Vec<Slot> {
    let Scratch { visited, fresh, .. } = scratch;
    visited.reset(codes.count());
    fresh.clear();
    visited.insert(slot);
    for &link in links {
        visited.insert(link);
    }
    for &behind in links.iter().flat_map(|&link| graph.neighbours(link, 0)) {
        if visited.insert(behind) {
            codes.prefetch(behind);
            fresh.push(behind);
        }
    }
    let query = codes.query(slot);
    let mut found: Vec<Ranked> = fresh.iter().map(|&slot| Ranked::new(codes.similarity(query, slot), slot)).collect();
    found.sort_unstable_by(|a, b| b.cmp(a));
    let mut chosen = Vec::with_capacity(most);
    for candidate in found.iter().take(MOST_ASKED) {
        if chosen.len() == most {
            return chosen;
        }
        let query = codes.query(candidate.slot());
        let reach = (1.0 - candidate.similarity()) / ALPHA;
        let is_apart = |&other: &Slot| 1.0 - codes.similarity(query, other) > reach;
        if links.iter().all(is_apart) && chosen.iter().all(is_apart) {
            chosen.push(candidate.slot());
        }
    }
    let asked: Vec<Slot> = chosen.clone();
    let others = found.iter().map(|found| found.slot()).filter(|slot| !asked.contains(slot));
    chosen.extend(others.take(most - asked.len()));
    chosen
}
