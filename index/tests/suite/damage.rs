//! Damaged files: an error when they are opened, or a search that stays sound in memory and a verify that tells.

use std::fs;
use std::path::Path;

use memorist_index::{Effort, Filter, OpenError, Reader, SearchParams, WriteError, Writer};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use roaring::RoaringTreemap;
use tempfile::TempDir;

use crate::support::{World, clustered, small};

const DIMS: usize = 8;
const SEED: u64 = 50;

/// A segment with a graph and tombstones, and a flat one.
fn world() -> World {
    let mut world = World::filled(small(DIMS, 150), &clustered(SEED, 400, DIMS, 5), 400);
    world.apply((390..420).zip(clustered(51, 30, DIMS, 5)).collect(), &[1, 2, 3]);
    world
}

/// A copy in which one file has other bytes.
fn damaged(original: &Path, name: &str, bytes: &[u8]) -> TempDir {
    let to = tempfile::tempdir().unwrap();
    for file in fs::read_dir(original).unwrap() {
        let file = file.unwrap();
        if file.file_name() != name {
            fs::copy(file.path(), to.path().join(file.file_name())).unwrap();
        }
    }
    fs::write(to.path().join(name), bytes).unwrap();
    to
}

fn names(directory: &Path) -> Vec<String> {
    let name = |file: std::io::Result<fs::DirEntry>| file.unwrap().file_name().into_string().unwrap();
    fs::read_dir(directory).unwrap().map(name).collect()
}

/// Everything that can be asked of an index. None of it may panic; a merge may fail.
fn use_everything(directory: &Path) {
    let snapshot = Reader::open(directory).unwrap().snapshot();
    let some: RoaringTreemap = (0..500).filter(|key| key % 3 == 0).collect();
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
    if let Ok(mut writer) = Writer::open(directory, small(DIMS, 20)) {
        let vector = [1.0f32; DIMS];
        writer.apply(&[(7, &vector)], &[8, 9], b"").unwrap();
        let _ = writer.maintain(&|_| std::ops::ControlFlow::Continue(()));
    }
}

#[test]
fn every_flipped_bit_is_found_and_harmless() {
    let world = world();
    let mut random = ChaCha8Rng::seed_from_u64(SEED);
    for name in names(world.directory.path()) {
        let bytes = fs::read(world.directory.path().join(&name)).unwrap();
        let (mut refused, mut reported) = (0, 0);
        for attempt in 0..250 {
            let mut flipped = bytes.clone();
            // The first bytes are the ones with a meaning of their own.
            let end = if attempt % 3 == 0 { flipped.len().min(128) } else { flipped.len() };
            let position = random.random_range(0..end);
            flipped[position] ^= 1 << random.random_range(0..8);
            let copy = damaged(world.directory.path(), &name, &flipped);
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

#[test]
fn large_damage_is_found_and_harmless() {
    let world = world();
    let mut random = ChaCha8Rng::seed_from_u64(SEED);
    for name in names(world.directory.path()).into_iter().filter(|name| name != "manifest") {
        let bytes = fs::read(world.directory.path().join(&name)).unwrap();
        for fill in [Some(0u8), Some(0xff), Some(0x7f), None] {
            for _ in 0..15 {
                let mut broken = bytes.clone();
                let start = random.random_range(128..broken.len());
                let end = (start + random.random_range(1..8000)).min(broken.len());
                broken[start..end].iter_mut().for_each(|byte| *byte = fill.unwrap_or_else(|| random.random()));
                let copy = damaged(world.directory.path(), &name, &broken);
                if broken != bytes {
                    assert_ne!(Reader::open(copy.path()).unwrap().snapshot().verify(), [], "{name} from {start}");
                }
                use_everything(copy.path());
            }
        }
    }
}

#[test]
fn a_sound_segment_is_compared_with_its_checksums_once() {
    let mut world = world();
    let reader = Reader::open(world.directory.path()).unwrap();
    let size = |name: &String| fs::metadata(world.directory.path().join(name)).unwrap().len();
    let segments: u64 = names(world.directory.path()).iter().filter(|name| *name != "manifest").map(size).sum();
    assert_eq!(reader.snapshot().unchecked_bytes(), segments);
    reader.snapshot().check().unwrap();
    assert_eq!(reader.snapshot().unchecked_bytes(), 0);
    world.apply(vec![(1_000, vec![1.0; DIMS])], &[]);
    assert!(reader.refresh().unwrap());
    let unchecked = reader.snapshot().unchecked_bytes();
    assert!(unchecked > 0 && unchecked < segments, "only what is new: {unchecked}");
}

#[test]
fn damage_is_not_merged_into_a_sound_segment() {
    let world = world();
    for name in names(world.directory.path()).into_iter().filter(|name| name != "manifest") {
        let mut bytes = fs::read(world.directory.path().join(&name)).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        let copy = damaged(world.directory.path(), &name, &bytes);
        // Everything there is would be merged.
        let mut options = small(DIMS, 20);
        options.merge_percent = 1;
        let mut writer = Writer::open(copy.path(), options).unwrap();
        let merged = writer.maintain(&|_| std::ops::ControlFlow::Continue(()));
        assert!(matches!(merged, Err(WriteError::Open(OpenError::Damaged { .. }))), "{name}: {merged:?}");
    }
}

#[test]
fn a_graph_that_leads_nowhere_still_gives_the_k_nearest() {
    let world = world();
    for name in names(world.directory.path()).into_iter().filter(|name| name != "manifest") {
        let mut bytes = fs::read(world.directory.path().join(&name)).unwrap();
        let node = 32 * 4 + 32 * 4 + 32 * 256 / 8;
        if bytes.len() < 128 + 400 * node {
            continue; // the flat segment
        }
        bytes[128..128 + 400 * node].chunks_mut(node).for_each(|node| node[..32 * 4].fill(0xff));
        let copy = damaged(world.directory.path(), &name, &bytes);
        let snapshot = Reader::open(copy.path()).unwrap().snapshot();
        let query = clustered(54, 1, DIMS, 1).remove(0);
        for filter in [Filter::All, Filter::Except(&(0..20).collect())] {
            // An effort so small that a walk is worth its while.
            let hits = snapshot.search(&query, &SearchParams { k: 5, effort: Effort::Ef(5) }, filter).unwrap();
            let exact: Vec<u64> = world.exact(&query, 5, filter).into_iter().map(|(key, _)| key).collect();
            assert!(hits.iter().map(|hit| hit.key).eq(exact));
        }
    }
}

#[test]
fn every_truncation_and_every_longer_file_is_refused() {
    let world = world();
    let mut random = ChaCha8Rng::seed_from_u64(SEED);
    for name in names(world.directory.path()) {
        let bytes = fs::read(world.directory.path().join(&name)).unwrap();
        let lengths = (0..20).chain((0..60).map(|_| random.random_range(0..bytes.len())));
        for len in lengths {
            let copy = damaged(world.directory.path(), &name, &bytes[..len]);
            let error = Reader::open(copy.path()).expect_err("a file that was cut off");
            assert!(
                matches!(error, OpenError::Damaged { .. } | OpenError::NotAnIndex { .. }),
                "{name} cut to {len}: {error}"
            );
        }
        let copy = damaged(world.directory.path(), &name, &[&bytes[..], b"x"].concat());
        assert!(matches!(Reader::open(copy.path()), Err(OpenError::Damaged { .. })));
    }
}

#[test]
fn a_segment_of_another_index_is_refused() {
    let (one, other) = (world(), World::filled(small(DIMS, 150), &clustered(53, 400, DIMS, 5), 400));
    let segment = |world: &World| {
        let mut names = names(world.directory.path());
        names.sort();
        names.into_iter().find(|name| name.starts_with("segment")).unwrap()
    };
    let foreign = fs::read(other.directory.path().join(segment(&other))).unwrap();
    let copy = damaged(one.directory.path(), &segment(&one), &foreign);
    let error = Reader::open(copy.path()).unwrap_err();
    assert!(matches!(error, OpenError::Damaged { .. }), "{error}");
}
