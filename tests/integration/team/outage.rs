//! Three nodes, eight writers, a promoted standby and a killed node in one run.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use memorist_engine::progress::NoProgress;
use memorist_engine::types::{Mode, NewRecord, Query, RecordId, Viewer};
use postgres_testing::Options;

use super::{kill, make, node, settle, setup};
use crate::exchange::{everything, exported, found, import};
use crate::process::{Answer, Ask, Process, WORDS};
use crate::support::{Store, hashed_with, number_from};

const WRITERS: usize = 8;
/// The last two writers are processes on a node of their own.
const PROCESSES: usize = 2;

/// The acknowledged writes, and how many were tried and failed.
#[derive(Default)]
struct WriteTally {
    acknowledged: BTreeMap<RecordId, String>,
    tried: u64,
    failed: u64,
}

/// Writes until it is over, with something that saves a text, or says that it could not.
fn write(writer: usize, is_over: &AtomicBool, mut save: impl FnMut(&str) -> Option<RecordId>) -> WriteTally {
    let mut written = WriteTally::default();
    while !is_over.load(Ordering::Relaxed) {
        let words = [WORDS[written.tried as usize % 8], WORDS[written.tried as usize / 8 % 8]];
        let text = format!("{} and {}, memory {} of writer {writer}", words[0], words[1], written.tried);
        written.tried += 1;
        match save(&text) {
            Some(id) => assert_eq!(written.acknowledged.insert(id, text), None, "{id} was given twice"),
            None => {
                written.failed += 1;
                thread::sleep(Duration::from_millis(20));
            }
        }
    }
    written
}

/// Writes by a process, which is started again when it was killed.
fn write_by_process(
    writer: usize,
    folder: &Path,
    address: &str,
    process: &Mutex<u32>,
    is_over: &AtomicBool,
) -> WriteTally {
    let start = || {
        let started = Process::start_node(folder, address);
        *process.lock().unwrap() = started.id();
        started
    };
    let mut running = start();
    write(writer, is_over, |text| match running.ask(&Ask::TryAdd(text.to_owned())) {
        Some(Answer::Tried(saved)) => saved.ok(),
        Some(other) => panic!("{other:?} is no answer to that"),
        None => {
            running = start();
            None
        }
    })
}

#[test]
fn acknowledged_writes_survive_failover_and_a_killed_node() {
    const TEST: &str = "acknowledged_writes_survive_failover_and_a_killed_node";
    let Some(primary) = postgres_testing::start(TEST, Options::default()) else { return };
    let database = primary.database_from("team", make);
    let standby = primary.standby("second");
    let Some(pooler) = primary.pgbouncer(TEST, database.name()) else { return };
    primary.set("synchronous_standby_names", "second");
    let address = pooler.address();
    let span = Duration::from_secs(number_from("MEMORIST_TEAM_SECONDS", 6)) / 3;
    let nodes = [node(&address), node(&address)];
    let third = tempfile::tempdir().unwrap();
    let is_over = AtomicBool::new(false);
    let processes = [(); PROCESSES].map(|()| Mutex::new(0));
    let written: Vec<WriteTally> = thread::scope(|scope| {
        let (is_over, address, third) = (&is_over, &address, third.path());
        let by_node = (0..WRITERS - PROCESSES).map(|writer| {
            let engine = &nodes[writer % 2].engine;
            scope.spawn(move || {
                write(writer, is_over, |text| engine.add(&NewRecord::new(text)).ok().map(|saved| saved.id))
            })
        });
        let by_node: Vec<_> = by_node.collect();
        let by_process = processes.iter().enumerate().map(|(at, process)| {
            let writer = WRITERS - PROCESSES + at;
            scope.spawn(move || write_by_process(writer, third, address, process, is_over))
        });
        let by_process: Vec<_> = by_process.collect();
        thread::sleep(span);
        processes.iter().for_each(|process| kill(*process.lock().unwrap()));
        thread::sleep(span);
        primary.kill();
        standby.promote();
        pooler.retarget(&standby);
        thread::sleep(span);
        is_over.store(true, Ordering::Relaxed);
        by_node.into_iter().chain(by_process).map(|writer| writer.join().expect("a writer")).collect()
    });
    let tried: u64 = written.iter().map(|written| written.tried).sum();
    assert!(written.iter().all(|written| !written.acknowledged.is_empty()), "each has written");
    assert!(written.iter().any(|written| written.failed > 0), "nobody has noticed anything");
    let acknowledged: BTreeMap<_, _> = written.iter().flat_map(|written| written.acknowledged.clone()).collect();
    let count: usize = written.iter().map(|written| written.acknowledged.len()).sum();
    assert_eq!(acknowledged.len(), count, "an id was given twice");
    eprintln!("{tried} writes, of which {count} were acknowledged");

    // The third node is opened again in the folder that it was killed in.
    let third = Store { engine: setup(&address).open(third.path()).unwrap(), folder: third };
    let nodes: Vec<Store> = nodes.into_iter().chain([third]).collect();
    for node in &nodes {
        for (id, text) in &acknowledged {
            assert_eq!(
                &node.engine.viewed_by(&Viewer::OWNER).get(*id).unwrap().expect("it was acknowledged").content,
                text
            );
        }
        assert!((count as u64..=tried).contains(&node.engine.stats(&<_>::default()).unwrap().total));
    }
    settle(&nodes.iter().map(|node| &node.engine).collect::<Vec<_>>());
    let local = Store::new(hashed_with(|config| config.log_searches = false));
    let all = exported(&nodes[0].engine, &everything());
    import(&local.engine, &Viewer::OWNER, &all);
    local.settle();
    for node in &nodes {
        assert_eq!(node.engine.compare_with_server(&NoProgress).unwrap().differed, 0);
        assert!(node.engine.doctor(false, &NoProgress).unwrap().is_sound());
        assert_eq!(exported(&node.engine, &everything()), all);
        // What came twice counts twice in the statistics of the words, until its segment is merged.
        node.engine.rebuild(&NoProgress).unwrap();
        for (word, mode) in
            WORDS.iter().flat_map(|word| [Mode::Keyword, Mode::Vector, Mode::Hybrid].map(|mode| (word, mode)))
        {
            let query = Query { mode, limit: 20, ..Query::new(format!("{word} of writer 3")) };
            assert_eq!(found(&node.engine, &query), found(&local.engine, &query), "{query:?}");
        }
    }
}
