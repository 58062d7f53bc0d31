//! Searches that race with writes, with the worker that publishes them, and with a second opener of the same folder.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use memorist_engine::Engine;
use memorist_engine::progress::NoProgress;
use memorist_engine::types::{Filter, Kind, Mode, NewRecord, Query, RecordId, RecordUpdate, Viewer};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::support::{Store, hashed, number_from};

/// How long the race lasts, unless MEMORIST_RACE_SECONDS says otherwise.
const SECONDS: u64 = 3;
/// A writer keeps at most this many records: all of them fit into one answer.
const MOST: usize = 300;
const WORDS: [&str; 6] = ["heron", "budget", "login", "river", "deploy", "preference"];
const TAGS: [&str; 3] = ["ui", "sport", "security"];

fn some_kind(random: &mut ChaCha8Rng) -> Kind {
    Kind::ALL[random.random_range(0..4)]
}

fn some_text(random: &mut ChaCha8Rng) -> String {
    let mut word = || WORDS[random.random_range(0..WORDS.len())];
    format!("every one {} {} {}", word(), word(), random.random::<u32>())
}

fn some_record(random: &mut ChaCha8Rng) -> NewRecord {
    let mut record = NewRecord::new(some_text(random));
    record.kind = some_kind(random);
    record.importance = random.random_range(1..=10);
    record.tags = TAGS.iter().filter(|_| random.random_bool(0.3)).map(|tag| (*tag).into()).collect();
    record.scope.project = random.random_bool(0.5).then(|| "atlas".into());
    record
}

fn some_filter(random: &mut ChaCha8Rng) -> Filter {
    Filter {
        kinds: (0..random.random_range(0..3)).map(|_| some_kind(random)).collect(),
        tags: TAGS.iter().filter(|_| random.random_bool(0.2)).map(|tag| (*tag).into()).collect(),
        min_importance: random.random_bool(0.5).then(|| random.random_range(1..=10)),
        viewer: if random.random_bool(0.3) { Viewer::in_project("atlas") } else { Viewer::OWNER },
        ..Filter::default()
    }
}

/// Adds, changes and deletes at random until it is stopped. Returns the remaining records of this writer.
fn write(engine: &Engine, random: &mut ChaCha8Rng, stop: &AtomicBool) -> BTreeSet<RecordId> {
    let mut mine: Vec<RecordId> = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        let at = if mine.is_empty() { 0 } else { random.random_range(0..mine.len()) };
        match random.random_range(0..10) {
            0..5 if mine.len() < MOST => mine.push(engine.add(&some_record(random)).expect("a sound record").id),
            5..7 if !mine.is_empty() => {
                assert!(engine.viewed_by(&Viewer::OWNER).delete(mine.swap_remove(at)).expect("deletes"));
            }
            _ if !mine.is_empty() => {
                let update = RecordUpdate {
                    kind: Some(some_kind(random)),
                    importance: Some(random.random_range(1..=10)),
                    content: random.random_bool(0.5).then(|| some_text(random)),
                    ..RecordUpdate::default()
                };
                engine.viewed_by(&Viewer::OWNER).update(mine[at], &update).expect("updates");
            }
            _ => {}
        }
        if random.random_bool(0.05) {
            std::thread::sleep(Duration::from_millis(random.random_range(0..30)));
        }
    }
    mine.into_iter().collect()
}

/// Searches until it is stopped. The engine itself panics, in a build with debug assertions, if an index passes a
/// record that the filter refuses. Returns the number of searches.
fn search(engine: &Engine, random: &mut ChaCha8Rng, stop: &AtomicBool) -> usize {
    let mut searches = 0;
    while !stop.load(Ordering::Relaxed) {
        let mode = [Mode::Hybrid, Mode::Vector, Mode::Keyword][random.random_range(0..3)];
        let query = Query {
            mode,
            limit: random.random_range(1..200),
            filter: some_filter(random),
            ..Query::new(WORDS[random.random_range(0..WORDS.len())])
        };
        let reply = engine.search(&query).expect("a sound query");
        let ids: BTreeSet<RecordId> = reply.hits.iter().map(|hit| hit.record.id).collect();
        assert_eq!(ids.len(), reply.hits.len(), "nothing twice");
        assert!(reply.hits.iter().all(|hit| query.filter.allows(&hit.record)), "{query:?}");
        searches += 1;
    }
    searches
}

#[test]
fn a_filter_holds_while_writers_and_the_worker_race_the_search() {
    let store = Store::new(hashed());
    let other = hashed().open(store.folder.path()).expect("a second opener");
    race(&store, &other);
}

/// Races on one store, which two have open.
pub fn race(store: &Store, other: &Engine) {
    let seconds = number_from("MEMORIST_RACE_SECONDS", SECONDS);
    let seed = number_from("MEMORIST_SEED", memorist_engine::now() as u64);
    eprintln!("MEMORIST_SEED={seed}");
    let first = store.add("every one is here before the race");
    store.settle();
    let stop = AtomicBool::new(false);
    let random = |thread: u64| ChaCha8Rng::seed_from_u64(seed ^ thread);

    let (searches, left) = std::thread::scope(|scope| {
        let started = Instant::now();
        let engines = [&store.engine, other];
        let writers: Vec<_> = (0..2)
            .map(|at| (engines[at], random(at as u64)))
            .map(|(engine, mut random)| {
                scope.spawn({
                    let stop = &stop;
                    move || write(engine, &mut random, stop)
                })
            })
            .collect();
        let searchers: Vec<_> = (0..4)
            .map(|at| (engines[at % 2], random(10 + at as u64)))
            .map(|(engine, mut random)| {
                scope.spawn({
                    let stop = &stop;
                    move || search(engine, &mut random, stop)
                })
            })
            .collect();
        while started.elapsed() < Duration::from_secs(seconds)
            && !searchers.iter().any(|searcher| searcher.is_finished())
        {
            std::thread::sleep(Duration::from_millis(40));
            // Publishes concurrently, as a busy worker would.
            store.engine.flush(&NoProgress).expect("applies");
        }
        stop.store(true, Ordering::Relaxed);
        let searches: usize = searchers.into_iter().map(|searcher| searcher.join().expect("no search fails")).sum();
        let mut left = BTreeSet::from([first]);
        writers.into_iter().for_each(|writer| left.extend(writer.join().expect("no write fails")));
        (searches, left)
    });
    assert!(searches > 20, "{searches} searches are not a race");

    store.settle();
    for engine in [&store.engine, other] {
        for mode in [Mode::Hybrid, Mode::Vector, Mode::Keyword] {
            let query = Query { mode, limit: 1_000, ..Query::new("every one") };
            let found: BTreeSet<RecordId> =
                engine.search(&query).unwrap().hits.iter().map(|hit| hit.record.id).collect();
            assert_eq!(found, left, "{mode:?}");
        }
    }
    assert!(store.engine.doctor(false, &NoProgress).unwrap().is_sound());
    eprintln!("{searches} searches, {} records left", left.len());
}
