//! Inserts slots into a graph in batches (as ParlayANN does, Manohar and others, PPoPP 2024): the neighbours of all slots
//! of a batch are searched for in the graph as it was before the batch, then all their links are put in. So no two
//! threads write what another one reads, and the result does not depend on how many there are.

use std::io;

use rayon::prelude::*;

use super::carry::Carried;
use super::connect;
use super::duplicates::Duplicates;
use super::nodes::{Graph, NewLinks};
use super::seek::Seeker;
use super::vectors::Vectors;
use crate::ids::{Key, Slot};
use crate::options::IndexOptions;
use crate::progress::{Cancelled, OnProgress, Stage, Work};
use crate::random::of_key;

/// A batch has no more slots than were inserted before it, because they do not find one another. Where there are many, it has
/// at most one of this many.
const BATCH_PART: usize = 100;
/// Where there are few, it has at most this many.
const LEAST_BATCH: usize = 32;
/// Entries for the root of the number of slots: with fewer, the way from the best of them is longer, with more, the pass over
/// all of them.
const ENTRIES_PER_ROOT: f64 = 2.0;

/// Why there is no graph.
pub(crate) enum Error {
    Cancelled,
    Memory(io::Error),
}

impl From<Cancelled> for Error {
    fn from(Cancelled: Cancelled) -> Self {
        Self::Cancelled
    }
}

/// Builds the graph of `vectors`. The first slots take over the links of `carried`, the others are inserted. It runs in
/// the rayon pool it is called in.
pub(crate) fn build(
    vectors: &Vectors<'_>,
    keys: &[Key],
    carried: Option<&Carried<'_>>,
    options: &IndexOptions,
    on_progress: OnProgress<'_>,
) -> Result<Graph, Error> {
    let first_new = carried.map_or(0, Carried::count) as Slot;
    let duplicates = Duplicates::find(&vectors.codes, first_new);
    // Neighbours often come one after another, and would not find each other in a batch: so in random order.
    let mut order: Vec<Slot> = (0..keys.len() as Slot).filter(|&slot| !duplicates.contains(slot)).collect();
    order.par_sort_unstable_by_key(|&slot| (of_key(options.seed, keys[slot as usize]), slot));
    let wanted = (ENTRIES_PER_ROOT * (keys.len() as f64).sqrt()) as usize;
    let (carried_entries, new_entries): (Vec<Slot>, Vec<Slot>) =
        order.iter().take(wanted).copied().partition(|&slot| slot < first_new);
    order.retain(|&slot| slot >= first_new);

    let entries = carried_entries.len() + new_entries.len();
    let mut graph = Graph::new(&vectors.codes, options.layout, options.m, entries).map_err(Error::Memory)?;
    if let Some(carried) = carried {
        let mending = Work::new(Stage::Mending, carried.count(), on_progress);
        carried.put_into(vectors, &mut graph, &mending);
        mending.finish()?;
    }
    graph.enter_at(vectors, &carried_entries);
    let linking = Work::new(Stage::Linking, order.len(), on_progress);
    let most = (keys.len() / BATCH_PART).max(LEAST_BATCH);
    let mut done = 0;
    while done < order.len() && !linking.is_cancelled() {
        let batch = &order[done..order.len().min(done + done.clamp(1, most))];
        let view = graph.view();
        let links = |seeker: &mut Seeker, &slot: &Slot| linking.go_on(|| seeker.links(&view, vectors, slot, options));
        let new: Option<Vec<NewLinks>> = batch.par_iter().map_init(Seeker::default, links).collect();
        let Some(new) = new else { break };
        graph.link(vectors, new);
        // The first of the order are entries from now on.
        let entered = done.min(new_entries.len())..(done + batch.len()).min(new_entries.len());
        graph.enter_at(vectors, &new_entries[entered]);
        done += batch.len();
    }
    if !linking.is_cancelled() {
        duplicates.link(vectors, &mut graph);
        connect::connect_unreachable(&mut graph, vectors, options.ef_construction, &linking);
    }
    linking.finish()?;
    Ok(graph)
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::graph::GraphView;
    use crate::graph::nodes::tests::{DIMS, LAYOUTS, assert_sound, clustered};
    use crate::layout::Layout;
    use crate::progress::Progress;
    use crate::quantize::Quantized;

    fn options() -> IndexOptions {
        let mut options = IndexOptions::new(DIMS);
        options.ef_construction = 40;
        options
    }

    fn keys(count: usize) -> Vec<Key> {
        (0..count as Key).map(|slot| 3 * slot + 7).collect()
    }

    fn built(layout: Layout, quantized: &Quantized, keys: &[Key], carried: Option<&Carried<'_>>) -> Graph {
        let vectors = Vectors::of(quantized, DIMS);
        let mut options = options();
        options.layout = layout;
        let built = build(&vectors, keys, carried, &options, &|_| ControlFlow::Continue(()));
        built.unwrap_or_else(|_| panic!("nobody has stopped it"))
    }

    /// Every fifth repeats the one before it.
    fn with_duplicates(count: usize, spread: f32) -> Quantized {
        let vectors = clustered(count, 20, spread);
        let mut quantized = Quantized::default();
        (0..count).for_each(|slot| quantized.push_row(vectors.row(slot - usize::from(slot % 5 == 4))));
        quantized
    }

    /// The slots that should be entries: those with the lowest hashes, of all that repeat none.
    fn lowest(keys: &[Key], repeats: impl Fn(Slot) -> bool) -> Vec<Slot> {
        let mut slots: Vec<Slot> = (0..keys.len() as Slot).filter(|&slot| !repeats(slot)).collect();
        slots.sort_by_key(|&slot| of_key(options().seed, keys[slot as usize]));
        slots.truncate((2.0 * (keys.len() as f64).sqrt()) as usize);
        slots
    }

    fn assert_reachable(graph: &GraphView<'_>, count: usize) {
        let seen = connect::reachable(graph, count);
        let lost: Vec<usize> = (0..count).filter(|&slot| !seen[slot]).collect();
        assert!(lost.is_empty(), "{lost:?} cannot be reached");
    }

    #[test]
    fn the_entries_have_the_lowest_hashes_of_all_that_repeat_none() {
        for (count, entries) in [(1, 1), (2, 2), (5, 4), (700, 52)] {
            let (quantized, keys) = (with_duplicates(count, 0.5), keys(count));
            let graph = built(Layout::Standard, &quantized, &keys, None);
            let expected = lowest(&keys, |slot| slot % 5 == 4);
            assert_eq!((graph.view().entries(), expected.len()), (&expected[..], entries));
            assert_sound(&graph.view(), &Vectors::of(&quantized, DIMS));
        }
    }

    #[test]
    fn a_duplicate_links_to_the_first_and_from_the_previous_copy() {
        let mut quantized = Quantized::default();
        let vectors = clustered(500, 20, 0.5);
        (0..500).for_each(|slot| quantized.push_row(vectors.row(slot - slot % 5)));
        for layout in LAYOUTS {
            let graph = built(layout, &quantized, &keys(500), None);
            for slot in (0..500).filter(|slot| slot % 5 > 0) {
                let (first, previous) = (slot - slot % 5, slot - 1);
                assert!(graph.view().neighbours(previous).contains(&slot), "{slot}");
                assert!(graph.view().neighbours(slot).contains(&first), "{slot}");
            }
            assert_sound(&graph.view(), &Vectors::of(&quantized, DIMS));
        }
    }

    #[test]
    fn every_slot_is_reachable_among_distant_clusters() {
        let quantized = clustered(3000, 20, 0.01);
        for layout in LAYOUTS {
            let graph = built(layout, &quantized, &keys(3000), None);
            assert_eq!(graph.view().has_edges(), layout == Layout::Standard);
            assert_sound(&graph.view(), &Vectors::of(&quantized, DIMS));
            assert_reachable(&graph.view(), 3000);
        }
    }

    #[test]
    fn a_build_that_is_stopped_ends_with_the_batch() {
        let (quantized, keys) = (clustered(600, 10, 0.5), keys(600));
        let vectors = Vectors::of(&quantized, DIMS);
        for stop_at in [1, 300, 600] {
            let calls = AtomicUsize::new(0);
            let stop = |now: Progress| {
                assert_eq!((now.stage, now.total), (Stage::Linking, 600));
                calls.fetch_add(1, Ordering::Relaxed);
                if now.done >= stop_at { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            let stopped = build(&vectors, &keys, None, &options(), &stop);
            assert!(matches!(stopped, Err(Error::Cancelled)), "{stop_at}");
            let calls = calls.into_inner();
            assert!((stop_at..stop_at + LEAST_BATCH).contains(&calls), "{calls} were searched for, not {stop_at}");
        }
    }

    /// An older graph of 800, of which the slots that are not a multiple of 3 remain, and 267 new ones.
    fn carried(layout: Layout, spread: f32) -> (Quantized, Vec<Key>, Graph) {
        let quantized = with_duplicates(800 + 267, spread);
        let older: Quantized = (0..800).fold(Quantized::default(), |mut older, slot| {
            older.push_row(quantized.row(slot));
            older
        });
        let graph = built(layout, &older, &keys(800), None);
        let kept: Vec<Slot> = (0..800).filter(|slot| slot % 3 != 0).collect();
        let mut merged = Quantized::default();
        let slots = || kept.iter().copied().chain(800..800 + 267);
        slots().for_each(|slot| merged.push_row(quantized.row(slot as usize)));
        let keys: Vec<Key> = slots().map(|slot| 3 * Key::from(slot) + 7).collect();
        let graph = {
            let view = graph.view();
            built(layout, &merged, &keys, Some(&Carried::new(view, kept, 800)))
        };
        (merged, keys, graph)
    }

    #[test]
    fn a_reused_graph_is_sound_with_the_entries_of_a_new_build() {
        // Also where most are nearer to a neighbour than rounding can tell.
        for (spread, layout) in [0.5, 0.003].into_iter().flat_map(|spread| LAYOUTS.map(|layout| (spread, layout))) {
            let (quantized, keys, graph) = carried(layout, spread);
            let vectors = Vectors::of(&quantized, DIMS);
            assert_sound(&graph.view(), &vectors);
            assert_reachable(&graph.view(), keys.len());
            let mut entries = graph.view().entries().to_vec();
            let mut expected = lowest(&keys, |slot| (0..slot).any(|other| vectors.row(other) == vectors.row(slot)));
            assert_eq!(entries.len(), 56);
            let carried = entries.iter().filter(|&&slot| slot < 533).count();
            assert!(carried > 10 && carried < 46 && entries[..carried].iter().all(|&slot| slot < 533), "{entries:?}");
            entries.sort_unstable();
            expected.sort_unstable();
            assert_eq!(entries, expected);
        }
    }

    #[test]
    fn graph_reuse_is_deterministic_across_thread_counts() {
        for layout in LAYOUTS {
            let in_threads = |threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| carried(layout, 0.5)).2
            };
            let (one, three) = (in_threads(1), in_threads(3));
            let (one, three) = (one.view(), three.view());
            assert!(one.nodes == three.nodes && one.firm == three.firm && one.entries == three.entries);
        }
    }
}
