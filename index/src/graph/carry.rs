//! Takes over the graph of an older segment. Links to slots that are dropped are replaced by links to what lies behind
//! them, selected as for a new node (the delete of FreshDiskANN, arXiv 2105.09613).

use rayon::prelude::*;

use super::GraphView;
use super::edges::Encoder;
use super::nodes::{Graph, Node};
use super::ranked::Ranked;
use super::select::choose;
use super::vectors::Vectors;
use crate::format::NO_SLOT;
use crate::format::node::row_links;
use crate::ids::Slot;
use crate::progress::Work;

/// Most lost slots whose neighbors are searched for the links of one slot, so that it is cheap to mend the links round a
/// region that was lost whole.
const MOST_LOST: usize = 64;
/// Candidates per link that are enough for a node.
const ENOUGH: usize = 2;

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

    fn new_slot(&self, old: Slot) -> Option<Slot> {
        self.new_slots.get(old as usize).copied().filter(|&new| new != NO_SLOT)
    }

    /// Puts the links into the graph, which has the remaining slots first, unless the work is stopped.
    pub(crate) fn put_into(&self, vectors: &Vectors<'_>, graph: &mut Graph, work: &Work<'_>) {
        let slots = self.kept.par_iter().zip(0..self.kept.len() as Slot);
        graph.nodes_mut().zip(slots).for_each_init(Encoder::default, |encoder, (node, (&old, new))| {
            work.go_on(|| self.put(vectors, encoder, node, old, new));
        });
    }

    /// Puts the links of an old slot into the node of the new one.
    fn put(&self, vectors: &Vectors<'_>, encoder: &mut Encoder, mut node: Node<'_>, old: Slot, new: Slot) {
        let (links, edges) = self.graph.links_and_edges(old);
        let links = row_links(links);
        let firm = self.graph.firm.get(old as usize).map_or(0, |&firm| usize::from(firm).min(links.len()));
        let width = node.links.len();
        if links.len() <= width && links.iter().all(|&link| self.new_slot(link).is_some()) {
            let new_links = links.iter().filter_map(|&link| self.new_slot(link));
            node.links.iter_mut().zip(new_links).for_each(|(place, link)| *place = link);
            // They say the way from vector to vector, which is the same.
            let len = edges.len().min(node.edges.len());
            node.edges[..len].copy_from_slice(&edges[..len]);
            *node.firm = firm as u8;
        } else {
            let candidates = self.behind(vectors, new, links, firm, width);
            // The firm ones stay so: many a slot is found by those that lead back to it only.
            let mut chosen: Vec<Slot> = links[..firm].iter().filter_map(|&link| self.new_slot(link)).collect();
            chosen.truncate(width);
            let firm = choose(&vectors.codes, &candidates, width, &mut chosen);
            encoder.centre_on(vectors, new);
            node.set(vectors, encoder, &chosen, firm);
        }
    }

    /// Candidates for the links of a slot that has lost some, best first: those it has left, and what the lost ones
    /// were linked to. What lies behind the firm ones counts in any case, what lies behind others until there is enough
    /// to choose from.
    fn behind(&self, vectors: &Vectors<'_>, new: Slot, links: &[Slot], firm: usize, width: usize) -> Vec<Ranked> {
        let is_lost = |link: &&Slot| self.new_slot(**link).is_none();
        let lost_firm = links[..firm].iter().filter(is_lost).count();
        let mut lost: Vec<Slot> = links.iter().filter(is_lost).copied().collect();
        let mut found: Vec<Slot> = links.iter().filter_map(|&link| self.new_slot(link)).collect();
        let mut next = 0;
        while next < lost.len().min(MOST_LOST) && (next < lost_firm || found.len() < ENOUGH * width) {
            for &behind in self.graph.neighbours(lost[next]) {
                match self.new_slot(behind) {
                    Some(slot) if slot != new && !found.contains(&slot) => found.push(slot),
                    None if !lost.contains(&behind) => lost.push(behind),
                    _ => {}
                }
            }
            next += 1;
        }
        vectors.codes.ranked(new, found.into_iter())
    }
}
