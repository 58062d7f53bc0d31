//! Makes every slot reachable from the entry over the links of the lowest level.
//!
//! Selection drops links, so a slot can lose the last one that leads to it; among thousands of duplicates many do.

use super::codes::Codes;
use super::memory::Graph;
use super::scratch::Scratch;
use super::{GraphView, walk};
use crate::Slot;
use crate::format::NO_SLOT;

/// Which slots can be reached from the entry over the links of the lowest level.
pub(crate) fn reachable(graph: &GraphView<'_>, count: usize) -> Vec<bool> {
    let mut seen = vec![false; count];
    spread(graph, graph.entry, &mut seen);
    seen
}

fn spread(graph: &GraphView<'_>, from: Slot, seen: &mut [bool]) {
    let mut todo = vec![from];
    if let Some(first) = seen.get_mut(from as usize) {
        *first = true;
    }
    while let Some(slot) = todo.pop() {
        for &neighbour in graph.neighbours(slot, 0) {
            if let Some(is_seen) = seen.get_mut(neighbour as usize)
                && !*is_seen
            {
                *is_seen = true;
                todo.push(neighbour);
            }
        }
    }
}

/// Links every slot that cannot be reached from a near one that can.
pub(crate) fn connect_unreachable(graph: &mut Graph, codes: &Codes<'_>, ef: usize) {
    let mut seen = reachable(&graph.view(), codes.count());
    for lost in 0..codes.count() {
        if !seen[lost] {
            let lost = lost as Slot;
            Scratch::with(|scratch| splice_in(graph, codes, lost, &seen, ef, scratch));
            spread(&graph.view(), lost, &mut seen);
        }
    }
}

/// Links `lost` from the nearest reachable slot that has room. Where none has, `lost` takes the place of a link of the
/// nearest one and takes that link over, so that nothing that could be reached no longer can.
fn splice_in(graph: &mut Graph, codes: &Codes<'_>, lost: Slot, seen: &[bool], ef: usize, scratch: &mut Scratch) {
    let query = codes.query(lost);
    {
        let view = graph.view();
        let start = walk::descend(&view, codes, query, (graph.entry, graph.top_level), 0, scratch);
        walk::beam(&view, codes, query, 0, ef, start, scratch);
    }
    // What the upper levels lead to need not be reachable over the lowest one.
    let mut found = scratch.pool.iter().map(|found| found.slot()).filter(|&slot| seen[slot as usize]);
    let nearest = found.next().unwrap_or(graph.entry);
    let with_room = std::iter::once(nearest).chain(found).find(|&slot| row_of(graph, slot).contains(&NO_SLOT));
    match with_room {
        Some(slot) => append(graph, slot, lost),
        None => {
            let last = graph.width - 1;
            let moved = std::mem::replace(&mut row_of(graph, nearest)[last], lost);
            if !row_of(graph, lost).contains(&moved) {
                append(graph, lost, moved);
            }
        }
    }
}

/// Appends a link to a row; the last one gives way where the row is full.
fn append(graph: &mut Graph, from: Slot, to: Slot) {
    let row = row_of(graph, from);
    let position = row.iter().position(|&slot| slot == NO_SLOT).unwrap_or(row.len() - 1);
    row[position] = to;
}

fn row_of(graph: &mut Graph, slot: Slot) -> &mut [Slot] {
    let width = graph.width;
    &mut graph.links[slot as usize * width..][..width]
}
