//! Makes every slot reachable from the first entry.
//!
//! Selection drops links, so a slot can lose the last one that leads to it; among thousands of duplicates many do.

use super::GraphView;
use super::nodes::Graph;
use super::seek::Seeker;
use super::vectors::Vectors;
use crate::format::NO_SLOT;
use crate::ids::Slot;
use crate::progress::Work;

/// Which slots can be reached from the first entry.
pub(crate) fn reachable(graph: &GraphView<'_>, count: usize) -> Vec<bool> {
    let mut seen = vec![false; count];
    graph.entries().iter().take(1).for_each(|&entry| spread(graph, entry, &mut seen));
    seen
}

fn spread(graph: &GraphView<'_>, from: Slot, seen: &mut [bool]) {
    let mut todo = vec![from];
    if let Some(first) = seen.get_mut(from as usize) {
        *first = true;
    }
    while let Some(slot) = todo.pop() {
        for &neighbour in graph.neighbours(slot) {
            if let Some(is_seen) = seen.get_mut(neighbour as usize)
                && !*is_seen
            {
                *is_seen = true;
                todo.push(neighbour);
            }
        }
    }
}

/// Links every slot that cannot be reached from a near one that can, unless the work is stopped.
pub(crate) fn connect_unreachable(graph: &mut Graph, vectors: &Vectors<'_>, ef: usize, work: &Work<'_>) {
    let mut seen = reachable(&graph.view(), vectors.codes.count());
    let mut seeker = Seeker::default();
    for lost in 0..vectors.codes.count() {
        if !seen[lost] && !work.is_cancelled() {
            work.advance(0);
            let lost = lost as Slot;
            splice_in(graph, vectors, lost, &seen, ef, &mut seeker);
            spread(&graph.view(), lost, &mut seen);
        }
    }
}

/// Links `lost` from the nearest reachable slot that has room. Where none has, `lost` replaces a link of the
/// nearest one and takes that link over, so that nothing that could be reached no longer can.
fn splice_in(graph: &mut Graph, vectors: &Vectors<'_>, lost: Slot, seen: &[bool], ef: usize, seeker: &mut Seeker) {
    let view = graph.view();
    let found = seeker.seek(&view, vectors, lost, ef);
    // What other entries lead to need not be reachable from the first.
    let mut found = found.iter().map(|found| found.slot()).filter(|&slot| seen[slot as usize]);
    let has_room = |slot: &Slot| view.links_and_edges(*slot).0.contains(&NO_SLOT);
    let Some(nearest) = found.next().or_else(|| view.entries().first().copied()) else { return };
    let from = std::iter::once(nearest).chain(found).find(has_room).unwrap_or(nearest);
    if let Some(moved) = graph.force_link(vectors, from, lost) {
        graph.force_link(vectors, lost, moved);
    }
}
