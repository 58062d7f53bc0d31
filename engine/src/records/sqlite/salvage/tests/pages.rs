//! Damaged pages and flipped bits change no memory, and cost only what they hit.

use std::collections::{BTreeSet, HashSet};

use rusqlite::Connection;

use super::super::super::testing::{NOW, new};
use super::super::{Salvage, salvage};
use super::testing::{DamagedStore, PAGE, SplitMix64, check_pages, sound, with_pages};
use crate::nightly::step;
use crate::progress::NoProgress;
use crate::records::Records;

#[test]
fn a_sound_database_is_salvaged_whole() {
    let (salvaged, saved) = DamagedStore::new(&sound().bytes).saved("sound");
    assert_eq!(saved, sound().contents);
    assert_eq!(salvaged, Salvage { records: saved.records.len() as u64, deleted: 60, ..Salvage::default() });
}

/// 39.9: every page destroyed alone, the first too, which has the header of the file.
#[test]
fn a_damaged_page_loses_only_its_own_rows() {
    let everything: BTreeSet<_> = sound().contents.records.keys().copied().collect();
    let count = sound().bytes.len() / PAGE;
    let mut random = SplitMix64(1);
    for page in (1..=count).step_by(step()) {
        let damaged = BTreeSet::from([page]);
        let case = format!("page {page} of {count}");
        let bytes = if page.is_multiple_of(2) {
            with_pages(&damaged, |bytes| bytes.fill(0))
        } else {
            with_pages(&damaged, |bytes| random.fill(bytes))
        };
        let salvaged = check_pages(&case, &damaged, &bytes);
        let named = &salvaged.doubtful | &salvaged.unreadable;
        let saved = &everything - &named;
        assert_eq!(salvaged.records, saved.len() as u64, "{case}: each memory is saved or named");
        assert_eq!(salvaged.total(), everything.len() as u64, "{case}");
    }
}

/// 39.9: each block of the first page, its header, and the first 600 bytes. No memory is on it.
#[test]
fn damage_to_the_first_page_costs_nothing() {
    let mut random = SplitMix64(9);
    let blocks = (0..PAGE).step_by(512).map(|start| start..start + 512);
    for hit in blocks.chain([0..600, 0..100, 0..16, 0..PAGE]) {
        for noise in [false, true] {
            let case = format!("bytes {hit:?}, noise: {noise}");
            let bytes = with_pages(&BTreeSet::from([1]), |page| {
                let hit = &mut page[hit.clone()];
                if noise { random.fill(hit) } else { hit.fill(0) }
            });
            let (salvaged, saved) = DamagedStore::new(&bytes).saved(&case);
            assert_eq!(saved, sound().contents, "{case}");
            assert_eq!(salvaged.total(), salvaged.records, "{case}");
        }
    }
}

/// 39.9: the header, byte by byte. SQLite believes it where the number of pages, the format or the owner is wrong.
#[test]
fn a_damaged_byte_of_the_header_costs_nothing() {
    for at in (0..28).chain(32..60).chain(64..68).chain(72..100).step_by(step()) {
        let case = format!("byte {at}");
        let bytes = with_pages(&BTreeSet::from([1]), |page| page[at] ^= if at % 2 == 0 { 0xFF } else { 1 });
        let (_, saved) = DamagedStore::new(&bytes).saved(&case);
        assert!(saved == sound().contents, "{case}");
    }
}

/// 39.9: the header says which pages are free. Where no index knows the memories either, one may have been deleted.
#[test]
fn without_the_header_what_may_have_been_deleted_is_in_doubt() {
    let leaves: BTreeSet<_> = sound().pages.values().flatten().copied().collect();
    let inner = sound().pages_of["records"].iter().filter(|page| !leaves.contains(page));
    let indexes =
        sound().pages_of.iter().filter(|(name, _)| name.starts_with("records_by_")).flat_map(|(_, pages)| pages);
    let mut damaged: BTreeSet<_> = inner.chain(indexes).copied().collect();
    let all = sound().contents.records.len() as u64;
    for (what, saved) in [("with the header", all), ("without it", 0)] {
        let (salvaged, _) = DamagedStore::new(&with_pages(&damaged, |page| page.fill(0xA5))).saved(what);
        assert_eq!((salvaged.records, salvaged.total()), (saved, all), "{what}");
        damaged.insert(1);
    }
}

/// The roots of the table, and pages on the way to its leaves: SQLite reaches nothing below them.
#[test]
fn rows_below_a_damaged_inner_page_are_saved() {
    let leaves: BTreeSet<_> = sound().pages.values().flatten().copied().collect();
    for table in ["records", "versions", "embeddings"] {
        let inner: Vec<_> = sound().pages_of[table].iter().filter(|page| !leaves.contains(page)).take(1).collect();
        assert!(!inner.is_empty(), "{table} has a root of its own");
        let damaged = inner.into_iter().copied().collect();
        let bytes = with_pages(&damaged, |page| page.fill(0xA5));
        let (salvaged, saved) = DamagedStore::new(&bytes).saved(table);
        assert_eq!(saved, sound().contents, "{table}");
        assert_eq!((salvaged.doubtful.len(), salvaged.unreadable.len(), salvaged.to_embed), (0, 0, 0), "{table}");
    }
}

#[test]
fn damaged_indexes_cost_nothing() {
    for (index, pages) in &sound().pages_of {
        let tables =
            ["records", "versions", "embeddings", "links", "scopes", "models", "meta", "access_log", "sync_log"];
        let is_table =
            tables.contains(&index.as_str()) || ["trash", "trash_versions", "trash_links"].contains(&index.as_str());
        if is_table || index.starts_with("sqlite_s") {
            continue;
        }
        let bytes = with_pages(&pages.iter().copied().collect(), |page| page.fill(0));
        let (_, saved) = DamagedStore::new(&bytes).saved(index);
        assert_eq!(saved, sound().contents, "{index}");
    }
}

/// Rows that an index lacks or has alone, as after a lost write.
#[test]
fn an_index_that_misses_a_row_is_rebuilt() {
    let store = DamagedStore::new(&sound().bytes);
    let conn = Connection::open(store.paths().database()).unwrap();
    conn.pragma_update(None, "writable_schema", true).unwrap();
    let hide = "UPDATE sqlite_schema SET sql = sql || ' WHERE id > 0' WHERE name = 'records_by_embedding'";
    conn.execute_batch(hide).unwrap();
    drop(conn);
    let (_, saved) = store.saved("a changed index");
    assert_eq!(saved, sound().contents);
}

#[test]
fn ids_and_numbers_of_the_log_are_never_used_twice() {
    for (what, pages) in [("nothing", vec![]), ("the sequences", sound().pages_of["sqlite_sequence"].clone())] {
        let store = DamagedStore::new(&with_pages(&pages.into_iter().collect(), |page| page.fill(0)));
        salvage(&store.paths(), &NoProgress).unwrap();
        let records = Records::open(&store.paths()).unwrap();
        assert!(records.head().unwrap().get() >= sound().head, "{what}");
        assert!(records.add(&new("new"), NOW).unwrap().id > sound().last_id, "{what}");
    }
}

#[test]
fn random_damage_alters_no_row_and_loses_only_rows_it_hits() {
    let count = sound().bytes.len() / PAGE;
    for seed in (0..100).step_by(step()) {
        let case = format!("seed {seed}");
        let mut random = SplitMix64(seed);
        let mut damaged: BTreeSet<_> = (0..1 + random.below(12)).map(|_| 2 + random.below(count - 1)).collect();
        let bytes = match seed % 4 {
            0 => with_pages(&damaged, |page| random.fill(page)),
            1 => with_pages(&damaged, |page| {
                let sector = 512 * random.below(8);
                random.fill(&mut page[sector..sector + 512]);
            }),
            // Written to the wrong place.
            2 => {
                let from = random.below(count);
                let other = sound().bytes[from * PAGE..(from + 1) * PAGE].to_vec();
                with_pages(&damaged, |page| page.copy_from_slice(&other))
            }
            _ => {
                let length = PAGE + random.below(sound().bytes.len() - PAGE);
                damaged = (length / PAGE + 1..=count).collect();
                sound().bytes[..length].to_vec()
            }
        };
        // Where the list of free pages or the scopes are hit too, what cannot be proven any more is in doubt, and said.
        let store = DamagedStore::new(&bytes);
        let (salvaged, saved) = store.saved(&case);
        for (id, original) in &sound().contents.records {
            let is_hit = sound().pages[id].iter().any(|page| damaged.contains(page));
            match saved.records.get(id) {
                Some(record) => assert_eq!(record, original, "{case}: memory {id}"),
                None => assert!(is_hit || salvaged.doubtful.contains(id), "{case}: memory {id} is lost"),
            }
        }
        for (hash, vector) in &saved.vectors {
            assert_eq!(vector, &sound().contents.vectors[hash], "{case}: a vector");
        }
    }
}

#[test]
fn flipped_bits_change_no_memory() {
    let mut doubts = 0;
    for seed in (0..200).step_by(step()) {
        let mut random = SplitMix64(seed);
        let mut bytes = sound().bytes.clone();
        // A record or a link and its entries in the indexes are not damaged together, nor where the indexes are: no one could tell which
        // is right.
        let is_spared = |name: &str| match seed % 2 {
            0 => matches!(name, "records" | "links_to"),
            _ => name.starts_with("records_by_") || matches!(name, "sqlite_schema" | "links"),
        };
        let spared: HashSet<usize> =
            sound().pages_of.iter().filter(|(name, _)| is_spared(name)).flat_map(|(_, pages)| pages.clone()).collect();
        for _ in 0..1 + random.below(60) {
            let at = 100 + random.below(bytes.len() - 100);
            let bit = 1 << random.below(8);
            if !spared.contains(&(at / PAGE + 1)) {
                bytes[at] ^= bit;
            }
        }
        let (salvaged, saved) = DamagedStore::new(&bytes).saved(&format!("seed {seed}"));
        doubts += salvaged.doubtful.len();
        let lost = sound().contents.records.keys().filter(|id| !saved.records.contains_key(id));
        assert!(lost.count() < 80, "seed {seed}: a bit costs a record, not a page");
    }
    assert!(doubts > 60 / step(), "{doubts} is too few for the flips to have met texts");
}
