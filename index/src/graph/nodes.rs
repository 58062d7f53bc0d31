//! A graph in memory, laid out as in its file, so that it is walked while it grows.

use std::io;

use rayon::prelude::*;

use super::GraphView;
use super::codes::Codes;
use super::edges::Encoder;
use super::select::choose;
use super::vectors::Vectors;
use crate::format::NO_SLOT;
use crate::format::node::{BATCH, entry_words, links_of, node_words, row_links};
use crate::ids::Slot;
use crate::layout::Layout;
use crate::sys::map::Zeroed;

/// Nodes that a thread works on at once.
const NODES_AT_ONCE: usize = 256;

/// A graph that grows. The first links of a node are firm: they were selected, or lead back to where it was selected.
/// The loose ones behind them only fill the node up and give way, at first those that were chosen last.
pub(crate) struct Graph {
    width: usize,
    stride: usize,
    nodes: Zeroed,
    /// How many links of each node are firm.
    firm: Vec<u8>,
    entry_width: usize,
    entries: Vec<u32>,
}

/// The links of a new slot, as they were chosen, and how many of them are firm.
#[derive(Default)]
pub(crate) struct NewLinks {
    pub(crate) slot: Slot,
    pub(crate) links: Vec<Slot>,
    pub(crate) firm: usize,
}

impl Graph {
    /// A graph for the slots of `codes` and this many entries, without links.
    ///
    /// # Errors
    /// When there is not enough memory.
    pub(crate) fn new(codes: &Codes<'_>, layout: Layout, m: usize, entries: usize) -> io::Result<Self> {
        let width = links_of(m);
        let stride = node_words(layout, width, codes.stride());
        let mut nodes = Zeroed::new(4 * stride * codes.count())?;
        nodes.words_mut().par_chunks_exact_mut(stride).for_each(|node| node[..width].fill(NO_SLOT));
        let entry_width = entries.next_multiple_of(BATCH);
        let mut entries = vec![0; entry_words(entry_width, codes.stride())];
        entries[..entry_width].fill(NO_SLOT);
        Ok(Self { width, stride, nodes, firm: vec![0; codes.count()], entry_width, entries })
    }

    pub(crate) fn view(&self) -> GraphView<'_> {
        let Self { width, stride, entry_width, .. } = *self;
        let (nodes, firm, entries) = (self.nodes.words(), &self.firm, &self.entries);
        GraphView { width, stride, nodes, firm, entry_width, entries }
    }

    fn all(&mut self) -> Nodes<'_> {
        let Self { width, stride, ref mut nodes, ref mut firm, .. } = *self;
        Nodes { first: 0, width, stride, words: nodes.words_mut(), firm }
    }

    /// The node of each slot, one after another.
    pub(crate) fn nodes_mut(&mut self) -> impl IndexedParallelIterator<Item = Node<'_>> {
        let width = self.width;
        let words = self.nodes.words_mut().par_chunks_exact_mut(self.stride);
        words.zip(&mut self.firm).map(move |(words, firm)| Node::new(words, width, firm))
    }

    /// Lets walks begin at these slots too.
    pub(crate) fn enter_at(&mut self, vectors: &Vectors<'_>, slots: &[Slot]) {
        let mut encoder = Encoder::default();
        encoder.centre_on_zero(vectors);
        let (links, edges) = self.entries.split_at_mut(self.entry_width);
        let len = row_links(links).len();
        for (&slot, place) in slots.iter().zip(len..) {
            links[place] = slot;
            encoder.put(vectors, slot, place, edges);
        }
    }

    /// Puts the links of new slots into their nodes, and links back to them where their firm ones lead.
    pub(crate) fn link(&mut self, vectors: &Vectors<'_>, mut new: Vec<NewLinks>) {
        new.par_sort_unstable_by_key(|new| new.slot);
        let back = |new: &NewLinks| new.links[..new.firm].iter().map(|&to| (to, new.slot)).collect::<Vec<_>>();
        let mut back: Vec<(Slot, Slot)> = new.iter().flat_map(back).collect();
        back.par_sort_unstable();
        let (width, stride) = (self.width, self.stride);
        let nodes = self.nodes.words_mut().par_chunks_mut(stride * NODES_AT_ONCE);
        let groups = nodes.zip(self.firm.par_chunks_mut(NODES_AT_ONCE)).enumerate();
        groups.for_each_init(Linker::default, |linker, (group, (words, firm))| {
            let (first, end) = (group * NODES_AT_ONCE, (group + 1) * NODES_AT_ONCE);
            let mut nodes = Nodes { first, width, stride, words, firm };
            for new in within(&new, first, end, |new| new.slot) {
                linker.encoder.centre_on(vectors, new.slot);
                nodes.node(new.slot).set(vectors, &mut linker.encoder, &new.links, new.firm);
            }
            for back in within(&back, first, end, |back| back.0).chunk_by(|a, b| a.0 == b.0) {
                let slot = back[0].0;
                linker.encoder.centre_on(vectors, slot);
                linker.link(vectors, slot, nodes.node(slot), back.iter().map(|back| back.1));
            }
        });
    }

    /// Puts a firm link into a node. What has to give way to it is returned.
    pub(crate) fn force_link(&mut self, vectors: &Vectors<'_>, from: Slot, to: Slot) -> Option<Slot> {
        let mut nodes = self.all();
        let mut node = nodes.node(from);
        let mut encoder = Encoder::default();
        encoder.centre_on(vectors, from);
        if node.has_room() {
            return node.push(vectors, &mut encoder, to);
        }
        (!node.links.contains(&to)).then(|| node.put(vectors, &mut encoder, node.links.len() - 1, to))
    }
}

/// The items whose slots are in `first..end`. They are sorted by slot.
fn within<T>(items: &[T], first: usize, end: usize, slot: impl Fn(&T) -> Slot) -> &[T] {
    let from = |bound: usize| items.partition_point(|item| (slot(item) as usize) < bound);
    &items[from(first)..from(end)]
}

/// The nodes of the slots from `first` on.
struct Nodes<'a> {
    first: usize,
    width: usize,
    stride: usize,
    words: &'a mut [u32],
    firm: &'a mut [u8],
}

impl Nodes<'_> {
    fn node(&mut self, slot: Slot) -> Node<'_> {
        let at = slot as usize - self.first;
        Node::new(&mut self.words[at * self.stride..][..self.stride], self.width, &mut self.firm[at])
    }
}

/// The links of a slot, and their edges.
pub(crate) struct Node<'a> {
    pub(crate) links: &'a mut [Slot],
    pub(crate) edges: &'a mut [u32],
    pub(crate) firm: &'a mut u8,
}

impl<'a> Node<'a> {
    fn new(words: &'a mut [u32], width: usize, firm: &'a mut u8) -> Self {
        let (links, edges) = words.split_at_mut(width);
        Self { links, edges, firm }
    }

    /// Links to these slots, the first of them firmly, which are no fewer than before. The encoder is centred on the
    /// node.
    pub(crate) fn set(&mut self, vectors: &Vectors<'_>, encoder: &mut Encoder, links: &[Slot], firm: usize) {
        links.iter().for_each(|&link| vectors.prefetch(link));
        let (firm_links, loose) = links.split_at(firm);
        for (place, &link) in firm_links.iter().chain(loose.iter().rev()).enumerate() {
            self.put(vectors, encoder, place, link);
        }
        *self.firm = firm as u8;
    }

    /// Whether another link can be firm.
    fn has_room(&self) -> bool {
        usize::from(*self.firm) < self.links.len()
    }

    /// Adds a firm link, where there is room. What has to give way to it is returned.
    fn push(&mut self, vectors: &Vectors<'_>, encoder: &mut Encoder, link: Slot) -> Option<Slot> {
        let firm = usize::from(*self.firm);
        // A loose link becomes a firm one; else the farthest loose one moves to a place that is free.
        let place = self.links.iter().position(|&other| other == link || other == NO_SLOT);
        if place.is_some_and(|place| place < firm) {
            return None;
        }
        *self.firm += 1;
        let moved = self.put(vectors, encoder, firm, link);
        match place {
            Some(place) if place > firm => {
                self.put(vectors, encoder, place, moved);
                None
            }
            Some(_) => None,
            None => Some(moved),
        }
    }

    /// Puts a link and its edge at a place. What was there is returned.
    fn put(&mut self, vectors: &Vectors<'_>, encoder: &mut Encoder, place: usize, link: Slot) -> Slot {
        encoder.put(vectors, link, place, self.edges);
        std::mem::replace(&mut self.links[place], link)
    }
}

/// Working memory of linking.
#[derive(Default)]
struct Linker {
    chosen: Vec<Slot>,
    encoder: Encoder,
}

impl Linker {
    /// Links from a slot, which the encoder is centred on, to others. Where there are more firm links than there is
    /// room for, all are selected again.
    fn link(&mut self, vectors: &Vectors<'_>, slot: Slot, mut node: Node<'_>, mut others: impl Iterator<Item = Slot>) {
        let Self { chosen, encoder } = self;
        while node.has_room() {
            let Some(other) = others.next() else { return };
            node.push(vectors, encoder, other);
        }
        chosen.clear();
        chosen.extend(others.filter(|other| !node.links.contains(other)));
        if chosen.is_empty() {
            return;
        }
        let candidates = vectors.codes.ranked(slot, node.links.iter().chain(chosen.iter()).copied());
        chosen.clear();
        let firm = choose(&vectors.codes, &candidates, node.links.len(), chosen);
        node.set(vectors, encoder, chosen, firm);
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;
    use rand::seq::SliceRandom;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::format::node::batch_words;
    use crate::quantize::Quantized;
    use crate::rotate::Rotation;

    pub(crate) const DIMS: usize = 8;
    pub(crate) const LAYOUTS: [Layout; 2] = [Layout::Standard, Layout::Compact];

    /// Vectors near some centres, the row modulo `clusters` is the number of the centre.
    pub(crate) fn clustered(count: usize, clusters: usize, spread: f32) -> Quantized {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let mut point = |spread: f32| [(); DIMS].map(|()| spread * (random.random::<f32>() - 0.5));
        let centres: Vec<[f32; DIMS]> = (0..clusters).map(|_| point(1.0)).collect();
        let (rotation, mut unit, mut vectors) = (Rotation::new(DIMS), Vec::new(), Quantized::default());
        for centre in centres.iter().cycle().take(count) {
            let noise = point(spread);
            let vector: Vec<f32> = centre.iter().zip(noise).map(|(centre, noise)| centre + noise).collect();
            rotation.unit(&vector, &mut unit).unwrap();
            vectors.push(&unit);
        }
        vectors
    }

    /// All that a graph promises but that every slot is reached: links to other slots, each there once, and their
    /// edges.
    pub(crate) fn assert_sound(graph: &GraphView<'_>, vectors: &Vectors<'_>) {
        let mut encoder = Encoder::default();
        for slot in 0..vectors.codes.count() as Slot {
            let (places, edges) = graph.links_and_edges(slot);
            let links = row_links(places);
            assert!(places[links.len()..].iter().all(|&link| link == NO_SLOT), "{slot}: {places:?}");
            for (at, link) in links.iter().enumerate() {
                assert!((*link as usize) < vectors.codes.count() && *link != slot, "{slot}: {links:?}");
                assert!(!links[..at].contains(link), "{slot} is linked to {link} twice: {links:?}");
            }
            assert!(usize::from(graph.firm[slot as usize]) <= links.len());
            encoder.centre_on(vectors, slot);
            assert!(edges == encoder.edges(vectors, links, edges.len()), "the edges of {slot}");
        }
        encoder.centre_on_zero(vectors);
        let (_, edges) = graph.entries_and_edges();
        assert!(edges == encoder.edges(vectors, graph.entries(), edges.len()), "the edges of the entries");
    }

    /// A graph whose nodes are full early: with fewer places than one from [`Graph::new`] has.
    fn narrow(vectors: &Vectors<'_>, width: usize) -> Graph {
        let (count, stride) = (vectors.codes.count(), width + batch_words(vectors.codes.stride()));
        let mut nodes = Zeroed::new(4 * stride * count).unwrap();
        nodes.words_mut().chunks_exact_mut(stride).for_each(|node| node[..width].fill(NO_SLOT));
        Graph { width, stride, nodes, firm: vec![0; count], entry_width: 0, entries: Vec::new() }
    }

    impl Graph {
        fn with_node<T>(
            &mut self,
            vectors: &Vectors<'_>,
            slot: Slot,
            work: impl FnOnce(Node<'_>, &mut Encoder) -> T,
        ) -> T {
            let mut nodes = self.all();
            let mut encoder = Encoder::default();
            encoder.centre_on(vectors, slot);
            work(nodes.node(slot), &mut encoder)
        }

        fn set(&mut self, vectors: &Vectors<'_>, slot: Slot, links: &[Slot], firm: usize) {
            self.with_node(vectors, slot, |mut node, encoder| node.set(vectors, encoder, links, firm));
        }

        fn push(&mut self, vectors: &Vectors<'_>, slot: Slot, link: Slot) -> Option<Slot> {
            self.with_node(vectors, slot, |mut node, encoder| node.push(vectors, encoder, link))
        }

        /// The firm links of a node, and the loose ones.
        fn links(&self, slot: Slot) -> (&[Slot], &[Slot]) {
            let view = self.view();
            view.neighbours(slot).split_at(view.firm[slot as usize].into())
        }
    }

    #[test]
    fn loose_links_are_kept_farthest_first_and_give_way_so() {
        let quantized = clustered(20, 3, 1.0);
        let vectors = Vectors::of(&quantized, DIMS);
        let mut graph = narrow(&vectors, 5);
        graph.set(&vectors, 1, &[5, 6, 7, 8, 9], 2);
        assert_eq!(graph.links(1), (&[5, 6][..], &[9, 8, 7][..]));
        assert_eq!(graph.push(&vectors, 1, 10), Some(9));
        assert_eq!(graph.push(&vectors, 1, 11), Some(8));
        assert_eq!(graph.links(1), (&[5, 6, 10, 11][..], &[7][..]));
        assert_sound(&graph.view(), &vectors);
    }

    #[test]
    fn a_loose_link_becomes_firm_and_a_firm_one_stays_where_it_is() {
        let quantized = clustered(20, 3, 1.0);
        let vectors = Vectors::of(&quantized, DIMS);
        let mut graph = narrow(&vectors, 5);
        graph.set(&vectors, 1, &[5, 6, 7, 8], 1);
        assert_eq!(graph.push(&vectors, 1, 6), None);
        assert_eq!(graph.links(1), (&[5, 6][..], &[7, 8][..]), "the farthest loose one has moved");
        assert_eq!(graph.push(&vectors, 1, 5), None);
        assert_eq!(graph.push(&vectors, 1, 6), None);
        assert_eq!(graph.links(1), (&[5, 6][..], &[7, 8][..]));
        assert_sound(&graph.view(), &vectors);
    }

    #[test]
    fn a_free_place_is_used_before_a_loose_link_is_lost() {
        let quantized = clustered(20, 3, 1.0);
        let vectors = Vectors::of(&quantized, DIMS);
        let mut graph = narrow(&vectors, 5);
        assert_eq!(graph.push(&vectors, 1, 5), None);
        assert_eq!(graph.links(1), (&[5][..], &[][..]));
        graph.set(&vectors, 1, &[5, 6, 7], 1);
        assert_eq!(graph.push(&vectors, 1, 8), None);
        assert_eq!(graph.push(&vectors, 1, 9), None);
        let (firm, loose) = graph.links(1);
        assert_eq!((firm, loose.len()), (&[5, 8, 9][..], 2));
        assert!(loose.contains(&6) && loose.contains(&7), "{loose:?}");
        assert_sound(&graph.view(), &vectors);
    }

    #[test]
    fn a_forced_link_replaces_the_last_if_all_are_firm() {
        let quantized = clustered(20, 3, 1.0);
        let vectors = Vectors::of(&quantized, DIMS);
        let mut graph = narrow(&vectors, 3);
        graph.set(&vectors, 1, &[5, 6, 7], 2);
        assert_eq!(graph.force_link(&vectors, 1, 8), Some(7), "the loose one");
        assert_eq!(graph.links(1), (&[5, 6, 8][..], &[][..]));
        assert_eq!(graph.force_link(&vectors, 1, 9), Some(8));
        assert_eq!(graph.force_link(&vectors, 1, 5), None, "it is there");
        assert_eq!(graph.links(1), (&[5, 6, 9][..], &[][..]));
        assert_eq!(graph.links(2), (&[][..], &[][..]), "nor does it touch another node");
        assert_sound(&graph.view(), &vectors);
    }

    #[derive(Debug, Clone)]
    enum LinkOperation {
        Set { links: Vec<Slot>, firm: usize },
        Push(Slot),
        Force(Slot),
    }

    fn operation(width: usize) -> impl Strategy<Value = LinkOperation> {
        let slots: Vec<Slot> = (0..12).filter(|&slot| slot != 1).collect();
        let links = prop::sample::subsequence(slots, 0..=width).prop_shuffle();
        prop_oneof![
            1 => (links, 0..=width).prop_map(|(links, firm)| LinkOperation::Set { firm: firm.min(links.len()), links }),
            4 => (2 as Slot..12).prop_map(LinkOperation::Push),
            2 => (2 as Slot..12).prop_map(LinkOperation::Force),
        ]
    }

    proptest! {
        #[test]
        fn any_sequence_of_changes_is_as_in_two_lists(
            (width, operations) in (1usize..=6)
                .prop_flat_map(|width| (Just(width), prop::collection::vec(operation(width), 1..30)))
        ) {
            let quantized = clustered(12, 3, 1.0);
            let vectors = Vectors::of(&quantized, DIMS);
            let mut graph = narrow(&vectors, width);
            let (mut firm, mut loose) = (Vec::new(), VecDeque::new());
            for operation in operations {
                let has_room = firm.len() < width;
                match operation {
                    LinkOperation::Set { links, firm: firm_len } => {
                        // No fewer than before.
                        if links.len() < firm.len() + loose.len() {
                            continue;
                        }
                        graph.set(&vectors, 1, &links, firm_len);
                        firm = links[..firm_len].to_vec();
                        loose = links[firm_len..].iter().rev().copied().collect();
                    }
                    LinkOperation::Force(link) if !has_room => {
                        let expected = (!firm.contains(&link)).then(|| std::mem::replace(&mut firm[width - 1], link));
                        prop_assert_eq!(graph.force_link(&vectors, 1, link), expected);
                    }
                    LinkOperation::Push(_) if !has_room => continue,
                    LinkOperation::Push(link) | LinkOperation::Force(link) => {
                        let mut expected = None;
                        if !firm.contains(&link) {
                            if let Some(at) = loose.iter().position(|&other| other == link) {
                                loose.swap_remove_front(at);
                            } else if firm.len() + loose.len() < width {
                                loose.rotate_left(loose.len().min(1));
                            } else {
                                expected = loose.pop_front();
                            }
                            firm.push(link);
                        }
                        let moved = match operation {
                            LinkOperation::Push(_) => graph.push(&vectors, 1, link),
                            _ => graph.force_link(&vectors, 1, link),
                        };
                        prop_assert_eq!(moved, expected);
                    }
                }
                prop_assert_eq!(graph.links(1), (&firm[..], loose.make_contiguous() as &[Slot]));
                assert_sound(&graph.view(), &vectors);
            }
        }
    }

    /// Slots on both sides of where another thread begins.
    const HOT: [Slot; 8] = [0, 1, 2, 3, 254, 255, 256, 257];
    const MANY: usize = 300;

    /// Links to the hot slots and to these, so many at most, and how many of them are firm.
    fn some_of(slots: &[Slot], most: usize, random: &mut ChaCha8Rng) -> (Vec<Slot>, usize) {
        let slot = |random: &mut ChaCha8Rng| {
            let slots = if random.random_bool(0.75) { &HOT } else { slots };
            slots[random.random_range(0..slots.len())]
        };
        let mut links: Vec<Slot> = (0..most).map(|_| slot(random)).collect();
        links.sort_unstable();
        links.dedup();
        links.shuffle(random);
        let firm = random.random_range(0..=links.len());
        (links, firm)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

        #[test]
        fn links_lead_back_firmly_or_were_selected_among_all(width in 1usize..=6, batch in 1usize..30, seed: u64) {
            let quantized = clustered(MANY, 10, 1.0);
            let vectors = Vectors::of(&quantized, DIMS);
            let mut graph = narrow(&vectors, width);
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            let mut new: Vec<Slot> = (0..MANY as Slot).filter(|slot| !HOT.contains(slot)).collect();
            new.shuffle(&mut random);
            let mut there = HOT.to_vec();
            for slots in new[..60].chunks(batch) {
                let new_links = |&slot: &Slot| (slot, some_of(&there, width, &mut random));
                let batch: Vec<(Slot, (Vec<Slot>, usize))> = slots.iter().map(new_links).collect();
                there.extend(slots);
                let links = |graph: &Graph, slot| {
                    let (firm, loose) = graph.links(slot);
                    (firm.to_vec(), loose.to_vec())
                };
                let before: Vec<(Vec<Slot>, Vec<Slot>)> = (0..MANY as Slot).map(|slot| links(&graph, slot)).collect();
                let new = batch.iter().cloned().map(|(slot, (links, firm))| NewLinks { slot, links, firm });
                graph.link(&vectors, new.collect());
                assert_sound(&graph.view(), &vectors);
                for slot in 0..MANY as Slot {
                    let (firm, loose) = links(&graph, slot);
                    if let Some((_, (links, firm_len))) = batch.iter().find(|new| new.0 == slot) {
                        prop_assert_eq!(&firm, &links[..*firm_len], "as they were given");
                        prop_assert!(loose.iter().eq(links[*firm_len..].iter().rev()));
                        continue;
                    }
                    let leads_here = |new: &&(Slot, (Vec<Slot>, usize))| new.1.0[..new.1.1].contains(&slot);
                    let mut back: Vec<Slot> = batch.iter().filter(leads_here).map(|new| new.0).collect();
                    back.sort_unstable();
                    let (firm_before, loose_before) = &before[slot as usize];
                    if firm_before.len() + back.len() <= width {
                        prop_assert_eq!(&firm, &[&firm_before[..], &back].concat());
                        let free = width - firm_before.len() - loose_before.len();
                        let lost = back.len().saturating_sub(free).min(loose_before.len());
                        prop_assert_eq!(loose.len(), loose_before.len() - lost);
                        prop_assert!(loose.iter().all(|link| loose_before.contains(link)));
                    } else {
                        let all = vectors.codes.ranked(slot, firm_before.iter().chain(&back).copied());
                        let mut chosen = Vec::new();
                        let firm_count = choose(&vectors.codes, &all, width, &mut chosen);
                        prop_assert_eq!(&firm, &chosen[..firm_count]);
                        prop_assert!(loose.iter().rev().eq(&chosen[firm_count..]));
                    }
                }
            }
        }
    }

    #[test]
    fn links_are_the_same_by_any_number_of_threads() {
        const COUNT: usize = 20 * NODES_AT_ONCE;
        let quantized = clustered(COUNT, 40, 1.0);
        let vectors = Vectors::of(&quantized, DIMS);
        let linked = |threads: usize| {
            let mut graph = narrow(&vectors, 4);
            let mut random = ChaCha8Rng::seed_from_u64(2);
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            for start in (200..COUNT).step_by(600) {
                let new = (start..COUNT.min(start + 600)).map(|slot| {
                    let first = random.random_range(0..start as Slot);
                    let links = (0..4).map(|step| (first + 37 * step) % start as Slot).collect();
                    NewLinks { slot: slot as Slot, links, firm: random.random_range(0..=4) }
                });
                let new: Vec<NewLinks> = new.rev().collect();
                pool.install(|| graph.link(&vectors, new));
            }
            graph
        };
        let (one, four) = (linked(1), linked(4));
        assert!(one.nodes.words() == four.nodes.words() && one.firm == four.firm);
    }
}
