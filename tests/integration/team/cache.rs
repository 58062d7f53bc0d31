//! Rule 6: a node is a cache. Killed while it copies, it ends as what the server has.

use std::thread;
use std::time::Duration;

use memorist_engine::progress::NoProgress;
use memorist_engine::types::{NewRecord, RecordUpdate, Viewer};

use super::{kill, make, node, settle, setup};
use crate::exchange::{everything, exported};
use crate::process::{Ask, Process};

/// More than one range of a comparison.
const MEMORIES: usize = 2_500;
/// The node is killed so often, each time a little later.
const KILLED: u64 = 6;

#[test]
fn a_node_killed_while_pulling_ends_with_the_server_state() {
    let Some(cluster) = postgres_testing::shared("a_node_killed_while_pulling_ends_with_the_server_state") else {
        return;
    };
    let team = cluster.database_from("memorist", make);
    let first = node(&team.address());
    let texts: Vec<_> = (0..MEMORIES).map(|at| NewRecord::new(format!("The heron {at} sits at the harbour"))).collect();
    let ids: Vec<_> = first.engine.add_batch(&texts).unwrap().into_iter().map(|outcome| outcome.unwrap().id).collect();
    let folder = tempfile::tempdir().unwrap();
    for at in 0..KILLED {
        let mut process = Process::start_node(folder.path(), &team.address());
        let id = process.id();
        let asking = thread::spawn(move || while process.ask(&Ask::Count).is_some() {});
        for step in 0..=at {
            let changed = RecordUpdate { content: Some(format!("changed {at} {step}")), ..RecordUpdate::default() };
            first.engine.viewed_by(&Viewer::OWNER).update(ids[(at * KILLED + step) as usize], &changed).unwrap();
            thread::sleep(Duration::from_millis(50));
        }
        kill(id);
        asking.join().unwrap();
    }
    let second = setup(&team.address()).open(folder.path()).unwrap();
    assert_eq!(second.stats(&<_>::default()).unwrap().total, MEMORIES as u64);
    assert_eq!(second.compare_with_server(&NoProgress).unwrap().differed, 0);
    settle(&[&first.engine, &second]);
    assert!(second.doctor(false, &NoProgress).unwrap().is_sound());
    assert_eq!(exported(&second, &everything()), exported(&first.engine, &everything()));
}
