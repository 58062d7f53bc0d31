//! Damaged index files: whatever the damage, a result is right, or reports a missing index; found damage is repaired,
//! and nothing panics.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use memorist_engine::Engine;
use memorist_engine::progress::NoProgress;
use memorist_engine::types::{Filter, Mode, NewRecord, Query, RecordId, Viewer};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::support::{Setup, Store, amount_from, hashed, hashed_with, number_from};

/// Number of damages, unless MEMORIST_DAMAGE_CASES says otherwise.
const CASES: u64 = 120;
/// After one in this many the store is opened by a process that may rebuild.
const REBUILT: u64 = 25;
/// Enough for a graph.
const RECORDS: usize = 2_500;
const FOLDERS: [&str; 2] = ["vectors", "keywords"];

/// The files of the two indexes, by their path below the store.
type Files = BTreeMap<PathBuf, Vec<u8>>;

/// The result of a search: ids and scores.
type ScoredIds = Vec<(RecordId, f64)>;

fn files(store: &Path) -> Files {
    let mut files = Files::new();
    for folder in FOLDERS {
        for entry in fs::read_dir(store.join(folder)).expect("the index is there") {
            let path = entry.expect("an entry").path();
            let bytes = fs::read(&path).expect("a file");
            files.insert(path.strip_prefix(store).expect("below the store").to_owned(), bytes);
        }
    }
    files
}

fn put_back(store: &Path, files: &Files) {
    for folder in FOLDERS {
        let _ = fs::remove_dir_all(store.join(folder));
        fs::create_dir(store.join(folder)).expect("a folder");
    }
    for (path, bytes) in files {
        fs::write(store.join(path), bytes).expect("writes");
    }
}

/// The purpose of a file: its name without what differs from one segment to the next.
fn kind(path: &Path) -> String {
    let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
    match name.split_once('.') {
        _ if name.starts_with("segment-") => "segment".into(),
        Some((stem, ending)) if stem.len() == 32 => ending.rsplit('.').next().unwrap_or(ending).into(),
        _ => name.into(),
    }
}

/// A store whose indexes have several segments each, one of the vectors' with a graph, and deleted records; and the
/// files that the indexes had some changes earlier.
fn store() -> (Store, Files) {
    let store = Store::new(hashed());
    let words = ["heron", "budget", "login", "river", "deploy", "theme", "meeting"];
    let record = |n: usize| {
        let text = format!("{} {} number {n}", words[n % words.len()], words[n / 7 % words.len()]);
        NewRecord { tags: vec![format!("tag{}", n % 5)], importance: 1 + (n % 10) as i64, ..NewRecord::new(text) }
    };
    let all: Vec<NewRecord> = (0..RECORDS).map(record).collect();
    store.engine.add_batch(&all).expect("adds");
    store.settle();
    let before = files(store.folder.path());
    for n in RECORDS..RECORDS + 40 {
        store.engine.add(&record(n)).expect("adds");
    }
    (5..300)
        .step_by(9)
        .for_each(|id| assert!(store.engine.viewed_by(&Viewer::OWNER).delete(id.into()).expect("deletes")));
    store.settle();
    (store, before)
}

fn queries() -> [Query; 4] {
    let importance = Filter { min_importance: Some(6), ..Filter::default() };
    let tagged = Filter { tags: vec!["tag3".into()], ..Filter::default() };
    [
        (Mode::Hybrid, Filter::default(), "heron river"),
        (Mode::Vector, importance, "budget 2510"),
        (Mode::Keyword, tagged.clone(), "theme meeting"),
        (Mode::Vector, tagged, "login deploy"),
    ]
    .map(|(mode, filter, text)| Query { mode, filter, limit: 20, ..Query::new(text) })
}

/// The result of each query, and whether it has a warning.
fn ask(engine: &Engine, case: &str) -> Vec<(ScoredIds, bool)> {
    let answer = |query: &Query| {
        let reply = engine.search(query).unwrap_or_else(|error| panic!("{case}: {error}"));
        for hit in &reply.hits {
            let number = hit.record.content.rsplit(' ').next().expect("a number");
            assert_eq!(number.parse::<i64>().expect("a number") + 1, hit.record.id.get(), "{case}: a wrong record");
            assert!(query.filter.allows(&hit.record), "{case}: {query:?}");
        }
        (reply.hits.iter().map(|hit| (hit.record.id, hit.score)).collect(), !reply.warnings.is_empty())
    };
    queries().iter().map(answer).collect()
}

/// One damage to `bytes`, with a description; `others` are files of the same kind.
fn damage(bytes: &mut Vec<u8>, others: &[&Vec<u8>], random: &mut ChaCha8Rng) -> String {
    let length = bytes.len();
    let some = |random: &mut ChaCha8Rng| if length == 0 { 0 } else { random.random_range(0..length) };
    let (at, to) = (some(random), some(random));
    match random.random_range(0..10) {
        0..4 if length > 0 => {
            let bit = random.random_range(0..8);
            bytes[at] ^= 1 << bit;
            format!("bit {bit} of byte {at} flipped")
        }
        4 if length > 0 => {
            bytes.truncate(at);
            format!("cut to {at}")
        }
        5 => {
            let more = random.random_range(1..200);
            let fill = if random.random() { 0 } else { random.random() };
            bytes.resize(length + more, fill);
            format!("{more} bytes of {fill} at its end")
        }
        6 if length > 0 => {
            let end = (at + random.random_range(1..600)).min(length);
            bytes[at..end].iter_mut().for_each(|byte| *byte = random.random());
            format!("noise from {at} to {end}")
        }
        7 if length > 0 => {
            let count = random.random_range(1..64).min(length - at.max(to));
            (0..count).for_each(|offset| bytes.swap(at + offset, to + offset));
            format!("{count} bytes at {at} and {to} changed places")
        }
        8 if !others.is_empty() => {
            let other = random.random_range(0..others.len());
            bytes.clone_from(others[other]);
            format!("another file of its kind, {other}, in its place")
        }
        _ => {
            bytes.clear();
            "emptied".into()
        }
    }
}

#[test]
fn no_damage_of_an_index_is_believed() {
    memorist_engine::log_contained_panics();
    let cases = amount_from("MEMORIST_DAMAGE_CASES", CASES);
    let seed = number_from("MEMORIST_SEED", memorist_engine::now() as u64);
    eprintln!("MEMORIST_SEED={seed}");
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let (store, before) = store();
    let Store { engine, folder } = store;
    engine.close();
    let root = folder.path();
    let sound = files(root);
    let read_only = hashed_with(|config| config.index_writer = false);
    let open = |setup: &Setup, case: &str| setup.open(root).unwrap_or_else(|error| panic!("{case}: {error}"));
    let right = ask(&open(&read_only, "sound"), "sound");
    assert!(right.iter().all(|(answer, warned)| !answer.is_empty() && !warned), "{right:?}");

    let kinds: BTreeSet<String> = sound.keys().map(|path| kind(path)).filter(|kind| !kind.ends_with(".lock")).collect();
    let (mut noticed, mut rebuilt) = (BTreeMap::<String, [u64; 2]>::new(), 0);
    for case in 0..cases {
        let wanted = kinds.iter().nth(case as usize % kinds.len()).expect("a kind");
        let of_kind: Vec<&PathBuf> = sound.keys().filter(|path| kind(path) == *wanted).collect();
        let path = of_kind[random.random_range(0..of_kind.len())];
        let others = sound.iter().chain(&before).filter(|(other, _)| kind(other) == *wanted);
        let others: Vec<&Vec<u8>> = others.map(|(_, bytes)| bytes).filter(|bytes| **bytes != sound[path]).collect();
        let mut bytes = sound[path].clone();
        let what = damage(&mut bytes, &others, &mut random);
        let what = format!("seed {seed}, case {case}, {}: {what}", path.display());
        fs::write(root.join(path), &bytes).expect("writes");

        let answers = ask(&open(&read_only, &what), &what);
        let counts = noticed.entry(wanted.clone()).or_default();
        counts[0] += 1;
        counts[1] += u64::from(answers.iter().any(|(_, warned)| *warned));
        for ((answer, warned), (right, _)) in answers.iter().zip(&right) {
            assert!(*warned || answer == right, "{what}: wrong, and no warning");
        }
        if case % REBUILT == 0 {
            let engine = open(&hashed(), &what);
            engine.flush(&NoProgress).unwrap_or_else(|error| panic!("{what}: {error}"));
            let again = ask(&engine, &what);
            let ids = |answers: &[(ScoredIds, bool)]| -> Vec<BTreeSet<RecordId>> {
                answers.iter().map(|(answer, _)| answer.iter().map(|(id, _)| *id).collect()).collect()
            };
            assert!(again.iter().all(|(_, warned)| !warned), "{what}: still out of use");
            assert_eq!(ids(&again), ids(&right), "{what}: rebuilt");
            let diagnosis = engine.doctor(false, &NoProgress).expect("looks");
            assert!(diagnosis.is_sound(), "{what}: {diagnosis:#?}");
            engine.close();
            rebuilt += 1;
            put_back(root, &sound);
        } else {
            fs::write(root.join(path), &sound[path]).expect("writes");
        }
    }
    for (kind, [tried, noticed]) in &noticed {
        eprintln!("{kind}: {tried} damages, {noticed} noticed");
    }
    eprintln!("{cases} damages, {rebuilt} times rebuilt");
    // What a search does not read, or a file that is its older self, is not noticed: of 50 a few, by chance.
    let searched = || noticed.iter().filter(|(kind, _)| !kind.starts_with('.')).map(|(_, counts)| counts);
    assert!(searched().all(|[tried, seen]| seen * 2 > *tried), "{noticed:?}");
    let [tried, seen] = searched().fold([0, 0], |[tried, seen], counts| [tried + counts[0], seen + counts[1]]);
    assert!(seen * 10 > tried * 9, "{noticed:?}");
}
