//! Damaged files: an error when they are opened, or a search that stays sound in memory and a verify that finds it.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use memorist_index::{Effort, Filter, Layout, OpenError, Reader, SearchParams, WriteError, Writer};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tempfile::TempDir;

use crate::support::{World, clustered, files, shape, shapes, small, with_layout};

const DIMS: usize = 8;
const SEED: u64 = 50;

in_both_layouts!(
    every_flipped_bit_is_found_and_harmless,
    large_damage_is_found_and_harmless,
    a_sound_segment_is_compared_with_its_checksums_once,
    damage_is_not_merged_into_a_sound_segment,
    a_graph_that_leads_nowhere_still_gives_the_k_nearest,
    verify_reports_each_invalid_graph_structure,
    every_truncation_and_every_longer_file_is_refused,
    a_segment_of_another_index_is_refused,
    a_scale_that_is_no_number_costs_its_own_vector_only,
);

/// A segment with a graph and tombstones, and a flat one.
fn world(layout: Layout) -> World {
    let mut world = World::filled(with_layout(layout, small(DIMS, 150)), &clustered(SEED, 400, DIMS, 5), 400);
    world.apply((390..420).zip(clustered(51, 30, DIMS, 5)).collect(), &[1, 2, 3]);
    world
}

/// Bytes of the codes of a vector, which fill 256 numbers.
fn code_bytes(layout: Layout) -> usize {
    if layout == Layout::Standard { 2 * 256 } else { 256 }
}

/// Bytes of a node of 32 links.
fn node_bytes(layout: Layout) -> usize {
    let edges = 64 + 64 + 4 * 256;
    if layout == Layout::Standard { 32 * 4 + edges } else { 32 * 4 }
}

/// A copy in which one file has other bytes.
fn damaged(original: &Path, name: &str, bytes: &[u8]) -> TempDir {
    let to = tempfile::tempdir().unwrap();
    for file in files(original).into_iter().filter(|file| file != name) {
        fs::copy(original.join(&file), to.path().join(&file)).unwrap();
    }
    fs::write(to.path().join(name), bytes).unwrap();
    to
}

/// Everything that can be done with an index. None of it may panic; a merge may fail.
fn use_everything(folder: &Path) {
    let snapshot = Reader::open(folder).unwrap().snapshot();
    let some: BTreeSet<u64> = (0..500).filter(|key| key % 3 == 0).collect();
    for query in clustered(52, 3, DIMS, 3) {
        // With little effort a walk is worth its while even here, with the default a scan is.
        let efforts = [Effort::Ef(1), Effort::Ef(3), Effort::BALANCED, Effort::HIGH, Effort::Exact];
        for (k, effort) in [1, 3, 10, 1000, 5].into_iter().zip(efforts) {
            for filter in [Filter::All, Filter::Only(&some), Filter::Except(&some)] {
                let hits = snapshot.search(&query, &SearchParams { k, effort }, filter).unwrap();
                assert!(hits.len() <= k);
            }
        }
        snapshot.scores(&query, &[0, 5, 395, u64::MAX]).unwrap();
    }
    assert!(snapshot.keys().count() <= 430);
    if let Ok(mut writer) = Writer::open(folder, small(DIMS, 20)) {
        let vector = [1.0f32; DIMS];
        writer.apply(&[(7, &vector)], &[8, 9], b"").unwrap();
        let _ = writer.maintain(&|_| std::ops::ControlFlow::Continue(()));
    }
}

fn every_flipped_bit_is_found_and_harmless(layout: Layout) {
    let world = world(layout);
    let attempts = if std::env::var_os("MEMORIST_NIGHTLY").is_some() { 250 } else { 50 };
    let mut random = ChaCha8Rng::seed_from_u64(SEED);
    for name in files(world.folder.path()) {
        let bytes = fs::read(world.folder.path().join(&name)).unwrap();
        let (mut refused, mut reported) = (0, 0);
        for attempt in 0..attempts {
            let mut flipped = bytes.clone();
            // The first bytes are the ones with a meaning of their own.
            let end = if attempt % 3 == 0 { flipped.len().min(128) } else { flipped.len() };
            let position = random.random_range(0..end);
            flipped[position] ^= 1 << random.random_range(0..8);
            let copy = damaged(world.folder.path(), &name, &flipped);
            match Reader::open(copy.path()) {
                Err(error) => {
                    assert!(error.to_string().contains("rebuild"), "the way out: {error}");
                    refused += 1;
                }
                Ok(reader) => {
                    let damaged = reader.snapshot().check();
                    assert!(matches!(damaged, Err(OpenError::Damaged { .. })), "{name}, byte {position}, seed {SEED}");
                    assert_ne!(reader.snapshot().verify(), [], "{name}, byte {position}, seed {SEED}");
                    use_everything(copy.path());
                    reported += 1;
                }
            }
        }
        println!("{name}: {refused} flips refused, {reported} reported by verify");
        assert!(refused > 0 && (reported > 0 || name == "manifest"));
    }
}

fn large_damage_is_found_and_harmless(layout: Layout) {
    let world = world(layout);
    let mut random = ChaCha8Rng::seed_from_u64(SEED);
    for name in files(world.folder.path()).into_iter().filter(|name| name != "manifest") {
        let bytes = fs::read(world.folder.path().join(&name)).unwrap();
        for fill in [Some(0u8), Some(0xff), Some(0x7f), None] {
            for _ in 0..15 {
                let mut broken = bytes.clone();
                let start = random.random_range(128..broken.len());
                let end = (start + random.random_range(1..8000)).min(broken.len());
                broken[start..end].iter_mut().for_each(|byte| *byte = fill.unwrap_or_else(|| random.random()));
                let copy = damaged(world.folder.path(), &name, &broken);
                if broken != bytes {
                    assert_ne!(Reader::open(copy.path()).unwrap().snapshot().verify(), [], "{name} from {start}");
                }
                use_everything(copy.path());
            }
        }
    }
}

fn a_sound_segment_is_compared_with_its_checksums_once(layout: Layout) {
    let mut world = world(layout);
    let reader = Reader::open(world.folder.path()).unwrap();
    let size = |name: &String| fs::metadata(world.folder.path().join(name)).unwrap().len();
    let segments: u64 = files(world.folder.path()).iter().filter(|name| *name != "manifest").map(size).sum();
    assert_eq!(reader.snapshot().unchecked_bytes(), segments);
    reader.snapshot().check().unwrap();
    assert_eq!(reader.snapshot().unchecked_bytes(), 0);
    world.apply(vec![(1_000, vec![1.0; DIMS])], &[]);
    assert!(reader.refresh().unwrap());
    let unchecked = reader.snapshot().unchecked_bytes();
    assert!(unchecked > 0 && unchecked < segments, "only what is new: {unchecked}");
}

fn damage_is_not_merged_into_a_sound_segment(layout: Layout) {
    let world = world(layout);
    for name in files(world.folder.path()).into_iter().filter(|name| name != "manifest") {
        let mut bytes = fs::read(world.folder.path().join(&name)).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        let copy = damaged(world.folder.path(), &name, &bytes);
        // Everything there is would be merged.
        let mut options = small(DIMS, 20);
        options.merge_percent = 1;
        let mut writer = Writer::open(copy.path(), options).unwrap();
        let merged = writer.maintain(&|_| std::ops::ControlFlow::Continue(()));
        assert!(matches!(merged, Err(WriteError::Open(OpenError::Damaged { .. }))), "{name}: {merged:?}");
    }
}

fn a_graph_that_leads_nowhere_still_gives_the_k_nearest(layout: Layout) {
    let world = world(layout);
    for name in files(world.folder.path()).into_iter().filter(|name| name != "manifest") {
        let mut bytes = fs::read(world.folder.path().join(&name)).unwrap();
        let batch = 32 * 4 + 32 * 256 / 8;
        let (entries, node) = (64 * 4 + 2 * batch, node_bytes(layout));
        if shape(&bytes) == (30, 0) {
            continue; // the flat segment
        }
        assert_eq!(shape(&bytes), (400, 32));
        bytes[128..128 + 64 * 4].fill(0xff);
        let nodes = 128 + entries..128 + entries + 400 * node;
        bytes[nodes].chunks_mut(node).for_each(|node| node[..32 * 4].fill(0xff));
        let copy = damaged(world.folder.path(), &name, &bytes);
        let snapshot = Reader::open(copy.path()).unwrap().snapshot();
        let query = clustered(54, 1, DIMS, 1).remove(0);
        for filter in [Filter::All, Filter::Except(&(0..20).collect::<BTreeSet<u64>>())] {
            // An effort so small that a walk is worth its while.
            let hits = snapshot.search(&query, &SearchParams { k: 5, effort: Effort::Ef(5) }, filter).unwrap();
            let exact = SearchParams { k: 5, effort: Effort::Exact };
            assert_eq!(hits, snapshot.search(&query, &exact, filter).unwrap());
            let exact: Vec<u64> = world.exact(&query, 5, filter).into_iter().map(|(key, _)| key).collect();
            assert!(hits.iter().map(|hit| hit.key).eq(exact));
        }
    }
}

/// Checksums find all of it too, but not where a faulty writer has made them.
fn verify_reports_each_invalid_graph_structure(layout: Layout) {
    // As the page of the format says.
    const BATCH: usize = 64 + 64 + 4 * 256;
    const ENTRIES: usize = 128;
    const NODES: usize = ENTRIES + 64 * 4 + 2 * BATCH;
    let node = node_bytes(layout);
    let firm_links = NODES + 400 * (node + code_bytes(layout) + 4);
    let world = world(layout);
    let read = |name: String| (fs::read(world.folder.path().join(&name)).unwrap(), name);
    let mut files = files(world.folder.path()).into_iter().map(read);
    let (bytes, name) = files.find(|(bytes, name)| name != "manifest" && shape(bytes) == (400, 32)).unwrap();
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let entry = |place: usize| ENTRIES + 4 * place;
    let link = |slot: usize, place: usize| NODES + slot * node + 4 * place;
    assert!(word(entry(39)) < 400 && word(entry(40)) == u32::MAX, "40 entries");
    let first = word(entry(0));
    // All its links are there, and some of them only fill it up.
    let is_full = |slot: &usize| word(link(*slot, 31)) < 400 && bytes[firm_links + slot] < 30;
    let full = (0..400).find(is_full).unwrap();

    let expect = |sections: &[&str], damage: &[(usize, &[u8])], expected: &[&str]| {
        let mut broken = bytes.clone();
        damage.iter().for_each(|&(at, bytes)| broken[at..at + bytes.len()].copy_from_slice(bytes));
        let copy = damaged(world.folder.path(), &name, &broken);
        let problems = Reader::open(copy.path()).unwrap().snapshot().verify();
        let found: Vec<String> = problems.into_iter().map(|problem| problem.what).collect();
        let checksums = sections.iter().map(|name| format!("the section \"{name}\" does not match its checksum"));
        let expected: Vec<String> = checksums.chain(expected.iter().map(|what| (*what).to_owned())).collect();
        assert_eq!(found, expected);
        use_everything(copy.path());
    };
    let flipped = |at: usize| [bytes[at] ^ 1];
    let end = u32::MAX.to_le_bytes();

    let edges = "the edges of the entries are not those of their codes";
    let entries = |damage: (usize, &[u8]), expected: &[&str]| expect(&["entries"], &[damage], expected);
    entries((entry(1), &400u32.to_le_bytes()), &["the entries: a wrong link to 400", edges]);
    entries((entry(1), &first.to_le_bytes()), &[&format!("the entries: a wrong link to {first}"), edges]);
    entries((entry(39), &end), &["there are not as many entries as the header says", edges]);
    entries((entry(41), &5u32.to_le_bytes()), &["the entries: links after their end"]);
    let batches = entry(64);
    // A slope, an offset, a sign, and one beside a link that is not there.
    for at in [batches + 2, batches + BATCH + 64, batches + 128, batches + BATCH + 2 * 8] {
        entries((at, &flipped(at)), &[edges]);
    }

    // A compact index has no edges beside its links.
    let has_edges = layout == Layout::Standard;
    let edges = format!("the edges of slot {full} are not those of its links and codes");
    let nodes = |damage: (usize, &[u8]), expected: &[&str]| {
        let edges = has_edges.then_some(&*edges);
        expect(&["nodes"], &[damage], &expected.iter().copied().chain(edges).collect::<Vec<_>>());
    };
    for other in [400, full as u32, word(link(full, 4))] {
        nodes((link(full, 5), &other.to_le_bytes()), &[&format!("slot {full}: a wrong link to {other}")]);
    }
    nodes((link(full, 30), &end), &[&format!("slot {full}: links after their end")]);
    let swapped = [link(full, 6), link(full, 5)].map(|at| word(at).to_le_bytes()).concat();
    nodes((link(full, 5), &swapped), &[]);
    let batch = link(full, 32);
    for at in [batch, batch + 64, batch + 128, batch + BATCH - 1].into_iter().filter(|_| has_edges) {
        nodes((at, &flipped(at)), &[]);
    }
    let firm = |firm: u8, expected: &[&str]| expect(&["firm links"], &[(firm_links + full, &[firm])], expected);
    firm(32, &[]);
    firm(33, &[&format!("slot {full} has fewer links than firm ones")]);

    // No way leads out of the first entry.
    let alone = (link(first as usize, 0), &[0xff; 32 * 4][..]);
    let edges = format!("the edges of slot {first} are not those of its links and codes");
    let lost = "399 of 400 vectors cannot be reached from the first entry";
    let expected = if has_edges { vec![lost, &edges] } else { vec![lost] };
    expect(&["nodes", "firm links"], &[alone, (firm_links + first as usize, &[0])], &expected);
}

fn every_truncation_and_every_longer_file_is_refused(layout: Layout) {
    let world = world(layout);
    let mut random = ChaCha8Rng::seed_from_u64(SEED);
    for name in files(world.folder.path()) {
        let bytes = fs::read(world.folder.path().join(&name)).unwrap();
        let lengths = (0..20).chain((0..60).map(|_| random.random_range(0..bytes.len())));
        for len in lengths {
            let copy = damaged(world.folder.path(), &name, &bytes[..len]);
            let error = Reader::open(copy.path()).expect_err("a file that was cut off");
            assert!(
                matches!(error, OpenError::Damaged { .. } | OpenError::NotAnIndex { .. }),
                "{name} cut to {len}: {error}"
            );
        }
        let copy = damaged(world.folder.path(), &name, &[&bytes[..], b"x"].concat());
        assert!(matches!(Reader::open(copy.path()), Err(OpenError::Damaged { .. })));
    }
}

fn a_segment_of_another_index_is_refused(layout: Layout) {
    let (one, other) =
        (world(layout), World::filled(with_layout(layout, small(DIMS, 150)), &clustered(53, 400, DIMS, 5), 400));
    let segment = |world: &World| {
        let mut names = files(world.folder.path());
        names.sort();
        names.into_iter().find(|name| name.starts_with("segment")).unwrap()
    };
    let foreign = fs::read(other.folder.path().join(segment(&other))).unwrap();
    let copy = damaged(one.folder.path(), &segment(&one), &foreign);
    let error = Reader::open(copy.path()).unwrap_err();
    assert!(matches!(error, OpenError::Damaged { .. }), "{error}");
}

/// A scale that is no number makes its vector neither the best of all nor the end of the others.
fn a_scale_that_is_no_number_costs_its_own_vector_only(layout: Layout) {
    const COUNT: u32 = 30;
    let vectors = clustered(54, COUNT as usize, DIMS, 5);
    let world = World::filled(with_layout(layout, small(DIMS, 150)), &vectors, COUNT as usize);
    assert_eq!(shapes(world.folder.path()), [(COUNT, 0)], "flat: it is scanned");
    let name = files(world.folder.path()).into_iter().find(|name| name.starts_with("segment-")).unwrap();
    let mut bytes = fs::read(world.folder.path().join(&name)).unwrap();
    // Behind the header and the codes, 256 to a vector.
    let scale = 128 + code_bytes(layout) * COUNT as usize;
    bytes[scale..scale + 4].copy_from_slice(&f32::NAN.to_le_bytes());
    let copy = damaged(world.folder.path(), &name, &bytes);
    let snapshot = Reader::open(copy.path()).unwrap().snapshot();
    for effort in [Effort::BALANCED, Effort::Exact] {
        for (key, vector) in (0..).zip(&vectors).skip(1) {
            let hits = snapshot.search(vector, &SearchParams { k: 1, effort }, Filter::All).unwrap();
            assert_eq!(hits.iter().map(|hit| hit.key).collect::<Vec<u64>>(), [key], "{effort:?}");
        }
    }
}
