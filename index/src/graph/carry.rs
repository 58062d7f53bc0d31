//! Takes over the graph of an older segment. Links to slots that are dropped are replaced by links to what lies behind
//! them, selected as for a new node (the delete of FreshDiskANN, arXiv 2105.09613).

use rayon::prelude::*;

use super::GraphView;
use super::codes::Codes;
use super::memory::{GrowingGraph, random_level};
use super::ranked::Ranked;
use super::select::select;
use crate::Slot;
use crate::format::{MAX_LEVEL, NO_SLOT};

/// So many dropped slots are looked behind for one slot, so that a graph that lost most of them stays cheap to mend.
const MOST_DROPPED: usize = 64;

/// An older graph, and what remains of it.
pub(crate) struct Carried<'a> {
    graph: GraphView<'a>,
    /// The old slots that remain, in their order. Their position is their new slot.
    kept: Vec<Slot>,
    /// The new slot of each old one.
    new_slots: Vec<Slot>,
}

impl<'a> Carried<'a> {
    /// `kept` are the old slots that remain, ascending, of `old_count`.
    pub(crate) fn new(graph: GraphView<'a>, kept: Vec<Slot>, old_count: usize) -> Self {
        let mut new_slots = vec![NO_SLOT; old_count];
        for (new, &old) in kept.iter().enumerate() {
            new_slots[old as usize] = new as Slot;
        }
        Self { graph, kept, new_slots }
    }

    /// How many slots remain.
    pub(crate) fn count(&self) -> usize {
        self.kept.len()
    }

    /// The level of a new slot.
    pub(crate) fn level(&self, new: Slot, m: usize) -> u8 {
        let old = self.kept[new as usize];
        let level = self.graph.levels.get(old as usize).copied();
        level.map_or_else(|| random_level(0, u64::from(old), m), |level| level.min(MAX_LEVEL))
    }

    fn new_slot(&self, old: Slot) -> Option<Slot> {
        self.new_slots.get(old as usize).copied().filter(|&new| new != NO_SLOT)
    }

    /// Copies the links into the graph, which has the remaining slots first, and returns its entry.
    pub(crate) fn copy_links(&self, codes: &Codes<'_>, graph: &GrowingGraph) -> Option<Slot> {
        self.kept.par_iter().enumerate().for_each(|(new, &old)| {
            let new = new as Slot;
            for level in 0..=graph.level(new) {
                let neighbours = self.graph.neighbours(old, level);
                let is_whole = neighbours.len() <= graph.width(level)
                    && neighbours.iter().all(|&neighbour| self.new_slot(neighbour).is_some());
                if is_whole {
                    graph.set(new, level, neighbours.iter().filter_map(|&neighbour| self.new_slot(neighbour)));
                } else {
                    graph.set(new, level, self.mended(codes, new, old, level, graph.width(level)));
                }
            }
        });
        let old_entry = self.new_slot(self.graph.entry);
        old_entry.or_else(|| {
            let carried = 0..self.count() as Slot;
            carried.max_by_key(|&slot| (graph.level(slot), std::cmp::Reverse(slot)))
        })
    }

    /// New links for a slot that has lost some: chosen from those it has left, and from what the lost ones were linked to.
    fn mended(&self, codes: &Codes<'_>, new: Slot, old: Slot, level: u8, width: usize) -> Vec<Slot> {
        let mut found = Vec::new();
        let mut dropped = Vec::new();
        let mut sort = |neighbours: &[Slot], dropped: &mut Vec<Slot>| {
            for &neighbour in neighbours {
                match self.new_slot(neighbour) {
                    Some(slot) => found.push(slot),
                    None if dropped.len() < MOST_DROPPED && !dropped.contains(&neighbour) => dropped.push(neighbour),
                    None => {}
                }
            }
        };
        sort(self.graph.neighbours(old, level), &mut dropped);
        let mut next = 0;
        while let Some(&lost) = dropped.get(next) {
            sort(self.graph.neighbours(lost, level), &mut dropped);
            next += 1;
        }
        found.sort_unstable();
        found.dedup();
        let query = codes.query(new);
        let mut candidates: Vec<Ranked> = (found.iter().filter(|&&slot| slot != new))
            .map(|&slot| Ranked::new(codes.similarity(query, slot), slot))
            .collect();
        candidates.sort_unstable_by(|a, b| b.cmp(a));
        let mut chosen = Vec::new();
        select(codes, &candidates, width, &mut chosen);
        chosen
    }
}
