//! Rule 4: connections are cut before a COMMIT is passed on, or before its answer comes back, and writers are killed there.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use memorist_engine::progress::NoProgress;
use memorist_engine::types::{Kind, NewRecord, RecordId};
use postgres_testing::{Database, Proxy, When, port_of};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{kill, make, node, settle, setup};
use crate::exchange::{everything, exported};
use crate::process::{Answer, Ask, Process};
use crate::support::{Store, amount_from, number_from};

/// Commits that are cut, unless MEMORIST_COMMIT_CUTS says otherwise.
const CUTS: u64 = 60;
/// One in this many cuts of a process kills it, too.
const KILLED: u32 = 4;
/// Writers of each of two nodes of this process; two more writers are processes on nodes of their own.
const WRITERS: usize = 2;
/// Words of the message with a COMMIT.
const COMMIT: &str = "; COMMIT";
/// A writer commits within this time.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Saves one text after another, each until it is acknowledged. Returns what was.
fn write(
    writer: &str,
    is_over: &AtomicBool,
    mut save: impl FnMut(String) -> Option<RecordId>,
) -> Vec<(RecordId, String)> {
    let mut acknowledged = Vec::new();
    while !is_over.load(Ordering::Relaxed) {
        let text = format!("The memory {} of the writer {writer}", acknowledged.len());
        let since = Instant::now();
        let id = loop {
            match save(text.clone()) {
                Some(id) => break id,
                None => assert!(since.elapsed() < TIMEOUT, "{text}: not saved"),
            }
        };
        acknowledged.push((id, text));
    }
    acknowledged
}

/// A writer saves one of two kinds: a chunk that is saved twice is there twice, and a fact once.
fn write_on(node: &Store, writer: usize, is_over: &AtomicBool) -> Vec<(RecordId, String)> {
    let kind = [Kind::Chunk, Kind::Fact][writer % 2];
    write(&format!("{writer} ({kind})"), is_over, |text| {
        let saved = node.engine.add(&NewRecord { kind, ..NewRecord::new(text) });
        saved.ok().map(|saved| saved.id)
    })
}

/// Saves by a process, which is started again when it was killed.
fn write_by_process(
    (name, folder): (&str, &Path),
    address: &str,
    process: &AtomicU32,
    is_over: &AtomicBool,
) -> Vec<(RecordId, String)> {
    let start = || {
        let started = Process::start_node(folder, address);
        process.store(started.id(), Ordering::SeqCst);
        started
    };
    let mut running = start();
    write(name, is_over, |text| match running.ask(&Ask::TryAdd(text)) {
        Some(Answer::Tried(saved)) => saved.ok(),
        Some(other) => panic!("{other:?} is no answer to that"),
        None => {
            running = start();
            None
        }
    })
}

/// Each transaction is there as a whole, or not at all.
fn assert_whole(team: &Database<'_>) {
    let mut client = team.client();
    client.batch_execute("SET search_path = memorist, pg_catalog").unwrap();
    for (what, of, lacks) in [
        ("memories without an entry of the log", "records r", "sync_log l WHERE l.record_id = r.id AND l.op = 1"),
        ("memories without a change for other nodes", "records r", "changes c WHERE c.number = 4 AND c.id = r.id"),
        ("entries of the log without a memory", "sync_log l", "records r WHERE r.id = l.record_id"),
        ("vectors without a memory", "embeddings e", "records r WHERE r.embedding_id = e.id"),
    ] {
        let sql = format!("SELECT 1 FROM {of} WHERE NOT EXISTS (SELECT FROM {lacks})");
        let wrong = client.query(&sql, &[]).unwrap();
        assert!(wrong.is_empty(), "{} {what}", wrong.len());
    }
    let sql = "SELECT count(*) FILTER (WHERE was_given_up) FROM writes";
    let given_up: i64 = client.query_one(sql, &[]).unwrap().get(0);
    assert!(given_up > 0, "no COMMIT was cut before the server had it");
}

#[test]
fn commits_that_are_cut_lose_and_double_nothing() {
    const TEST: &str = "commits_that_are_cut_lose_and_double_nothing";
    let Some(cluster) = postgres_testing::shared(TEST) else { return };
    let team = cluster.database_from("team", make);
    let Some(pooler) = cluster.pgbouncer(TEST, team.name()) else { return };
    // Two nodes of this process, of which one has a pooler, and two of other processes.
    let addresses = [team.address(), pooler.address(), team.address(), pooler.address()];
    let proxies = addresses.each_ref().map(|address| Proxy::before(port_of(address)));
    let [one, other, first, second] = [0, 1, 2, 3].map(|at| proxies[at].of(&addresses[at]));
    let nodes = [node(&one), node(&other)];
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let processes = [(); 2].map(|()| Arc::new(AtomicU32::new(0)));
    let is_over = AtomicBool::new(false);
    let seed = number_from("MEMORIST_SEED", rand::random::<u32>().into());
    eprintln!("MEMORIST_SEED={seed}");
    let (cuts, killed) = (amount_from("MEMORIST_COMMIT_CUTS", CUTS), Mutex::new(0));
    let written: Vec<(RecordId, String)> = thread::scope(|scope| {
        let (is_over, nodes) = (&is_over, &nodes);
        let mut writers: Vec<_> = (0..2 * WRITERS)
            .map(|writer| scope.spawn(move || write_on(&nodes[writer / WRITERS], writer, is_over)))
            .collect();
        for (at, address) in [first, second].into_iter().enumerate() {
            let (folder, process) = (folders[at].path(), &processes[at]);
            let name = ["of a process", "of another process"][at];
            writers.push(scope.spawn(move || write_by_process((name, folder), &address, process, is_over)));
        }
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        for cut in 0..cuts {
            let at = random.random_range(0..proxies.len());
            let when = if random.random_bool(0.5) { When::Before } else { When::After };
            let process =
                at.checked_sub(2).map(|at| processes[at].clone()).filter(|_| random.random_range(0..KILLED) == 0);
            *killed.lock().unwrap() += u64::from(process.is_some());
            proxies[at].at_words(
                COMMIT,
                when,
                true,
                Box::new(move || {
                    process.into_iter().for_each(|process| kill(process.load(Ordering::SeqCst)));
                }),
            );
            let since = Instant::now();
            while !proxies[at].is_sprung() {
                assert!(since.elapsed() < TIMEOUT, "cut {cut}: the writers of node {at} do not write");
                thread::sleep(Duration::from_millis(1));
            }
        }
        is_over.store(true, Ordering::Relaxed);
        writers.into_iter().flat_map(|writer| writer.join().expect("a writer")).collect()
    });
    let count = written.len();
    let acknowledged: BTreeMap<RecordId, String> = written.into_iter().collect();
    assert_eq!(acknowledged.len(), count, "an id was given twice");
    eprintln!("{count} memories, {cuts} commits were cut, {} writers killed there", killed.into_inner().unwrap());

    let on_server = team.client().query("SELECT id, content FROM memorist.records", &[]).unwrap();
    let mut on_server: Vec<(RecordId, String)> =
        on_server.iter().map(|row| (RecordId::from(row.get::<_, i64>(0)), row.get(1))).collect();
    on_server.sort();
    assert!(on_server.iter().eq(&acknowledged.into_iter().collect::<Vec<_>>()), "lost, doubled, or never acknowledged");
    assert_whole(&team);
    let [first, second] =
        folders.map(|folder| Store { engine: setup(&team.address()).open(folder.path()).unwrap(), folder });
    let nodes: Vec<Store> = nodes.into_iter().chain([first, second]).collect();
    settle(&nodes.iter().map(|node| &node.engine).collect::<Vec<_>>());
    let all = exported(&nodes[0].engine, &everything());
    for node in &nodes {
        assert_eq!(node.engine.compare_with_server(&NoProgress).unwrap().differed, 0);
        assert_eq!(exported(&node.engine, &everything()), all);
        let diagnosis = node.engine.doctor(false, &NoProgress).unwrap();
        assert!(diagnosis.is_sound(), "{:?}", diagnosis.checks);
    }
}
