//! Rule 5: a promoted server wins, and nothing vanishes in silence.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use postgres_testing::{Cluster, Database as TeamDatabase, Options, Pooler};

use super::{Node, make, seconds, use_store};
use crate::progress::NoProgress;
use crate::records::sqlite::testing::{NOW, new};
use crate::records::{Access, AccessKind, Records};
use crate::types::{Link, LinkKind, NewRecord, RecordId, RecordUpdate, Viewer};

fn add(records: &Records, text: &str) -> RecordId {
    records.add(&new(text), NOW).unwrap().id
}

fn update(records: &Records, id: RecordId, text: &str) {
    let update = RecordUpdate { content: Some(text.into()), ..RecordUpdate::default() };
    records.update(id, &update, &Viewer::OWNER, NOW + 10).unwrap();
}

/// More than a server notes in its log at once as numbers that it may have given.
const LOST: usize = 40;

/// The transactions of the changes that a server has.
fn transactions(cluster: &Cluster, team: &TeamDatabase<'_>) -> BTreeSet<i64> {
    let sql = "SELECT DISTINCT xid::text::bigint FROM memorist.changes";
    cluster.client(team.name()).query(sql, &[]).unwrap().iter().map(|row| row.get(0)).collect()
}

/// A server, and a standby of it, behind a pooler.
fn servers<'a>(primary: &'a Cluster, test: &str) -> Option<(TeamDatabase<'a>, Cluster, Pooler)> {
    let team = primary.database_from("team", make);
    let standby = primary.standby("second");
    let pooler = primary.pgbouncer(test, team.name())?;
    Some((team, standby, pooler))
}

#[test]
fn nodes_adopt_a_promoted_standby_and_keep_its_lost_writes() {
    const TEST: &str = "nodes_adopt_a_promoted_standby";
    let Some(primary) = postgres_testing::start(TEST, Options::default()) else { return };
    let Some((team, standby, pooler)) = servers(&primary, TEST) else { return };
    // One has both addresses, and takes that which accepts writes.
    let both = format!(
        "{}@127.0.0.1:{},127.0.0.1:{}/{}?target_session_attrs=read-write",
        team.address().rsplit_once('@').unwrap().0,
        primary.port(),
        standby.port(),
        team.name()
    );
    let nodes = [Node::of(&pooler.address()), Node::of(&pooler.address()), Node::of(&both)];
    let [first, second, third] = &nodes;
    use_store(first);
    let kept: Vec<_> = (0..4).map(|at| add(first, &format!("kept {at}"))).collect();
    nodes.iter().for_each(|node| node.follow().unwrap());
    standby.catch_up_with(&primary);
    standby.set("primary_conninfo", "");
    let before = transactions(&primary, &team);
    let mut lost: BTreeSet<String> = BTreeSet::new();
    let numbers: Vec<RecordId> =
        (0..LOST).map(|at| add(if at % 2 == 0 { first } else { third }, &format!("lost {at}"))).collect();
    lost.extend(numbers.iter().map(|id| first.ulid(*id)));
    // Of one between a memory that is lost and one that is not, both ends are named.
    for to in [kept[3], numbers[0]] {
        first.link(Link { from: kept[0], kind: LinkKind::Related, to }, &Viewer::OWNER, NOW + 10).unwrap();
    }
    let links: BTreeSet<String> =
        [kept[3], numbers[0]].map(|to| format!("link {} related {}", first.ulid(kept[0]), first.ulid(to))).into();
    // A new version, and one that others will have changed meanwhile.
    for (at, id) in kept.iter().enumerate().take(2) {
        update(first, *id, &format!("lost as a change {at}"));
        lost.insert(first.ulid(*id));
    }
    // What comes back does not vanish.
    assert!(first.delete(kept[2], &Viewer::OWNER, NOW + 10).unwrap());
    nodes.iter().take(2).for_each(|node| node.follow().unwrap());
    third.follow().unwrap();
    let lost_transactions: BTreeSet<i64> = transactions(&primary, &team).difference(&before).copied().collect();
    primary.kill();
    standby.promote();
    pooler.retarget(&standby);
    // Somebody who is not a node of before writes first: numbers of transactions are given again.
    let other = Node::of(&standby.address(team.name()));
    let new: Vec<RecordId> = (0..LOST + 12).map(|at| add(&other, &format!("new {at}"))).collect();
    assert!(new.iter().all(|id| !numbers.contains(id)), "the number of a lost memory is given to another");
    // What is saved again there is another memory, once.
    let again = add(&other, "lost 1");
    update(&other, kept[1], "changed by another");
    update(&other, kept[1], "changed again by another");
    let is_disjoint = transactions(&standby, &team).is_disjoint(&lost_transactions);
    assert!(!is_disjoint, "no number was given again: this tests nothing");
    for node in &nodes {
        // The first pull may find its connections closed.
        node.follow().or_else(|_| node.follow()).unwrap();
        assert_eq!(node.export(), other.export());
        assert_eq!(node.compare(&NoProgress).unwrap().differed, 0);
        node.assert_sound();
        let found = node.lost();
        assert_eq!(found.iter().cloned().collect::<BTreeSet<_>>(), lost, "in the file of what was lost");
        assert_eq!(found.len(), lost.len(), "each once");
        let lines = node.lost_lines().into_iter().filter(|line| line.starts_with("link "));
        assert_eq!(lines.collect::<BTreeSet<_>>(), links);
        assert!(numbers.iter().all(|id| node.get(*id, &Viewer::OWNER, NOW).unwrap().is_none()));
        let count = node.export().iter().filter(|line| line.contains("\"lost 1\"")).count();
        assert!(count == 1 && node.get(again, &Viewer::OWNER, NOW).unwrap().is_some(), "{count}");
        for (at, id) in new.iter().enumerate() {
            let record = node.get(*id, &Viewer::OWNER, NOW).unwrap().unwrap();
            assert_eq!(record.content, format!("new {at}"));
            let tail = node.snapshot().unwrap().tail(0.into(), usize::MAX).unwrap();
            assert!(tail.iter().any(|entry| entry.record_id == *id), "the indexes learn of it");
        }
    }
    // And it goes on.
    let after = add(second, "after");
    assert_eq!(third.get(after, &Viewer::OWNER, NOW).unwrap().unwrap().content, "after");
    assert!(other.lost().is_empty());
}

/// Eight writers while the primary is killed.
#[test]
fn with_a_synchronous_standby_no_acknowledged_write_is_lost() {
    const TEST: &str = "with_a_synchronous_standby";
    let Some(primary) = postgres_testing::start(TEST, Options::default()) else { return };
    let Some((_team, standby, pooler)) = servers(&primary, TEST) else { return };
    primary.set("synchronous_standby_names", "second");
    let nodes = [(); 3].map(|()| Node::of(&pooler.address()));
    let (is_over, seen_errors) = (AtomicBool::new(false), AtomicBool::new(false));
    let written: Vec<(Vec<(RecordId, String)>, u64)> = thread::scope(|scope| {
        let writers: Vec<_> = (0..8)
            .map(|writer| {
                let (node, is_over, seen_errors) = (&nodes[writer % 3], &is_over, &seen_errors);
                scope.spawn(move || {
                    let (mut acknowledged, mut tried) = (Vec::new(), 0);
                    while !is_over.load(Ordering::Relaxed) {
                        let text = format!("{writer} {tried}");
                        tried += 1;
                        match node.add(&NewRecord::new(text.clone()), NOW) {
                            Ok(outcome) => acknowledged.push((outcome.id, text)),
                            Err(_) => {
                                seen_errors.store(true, Ordering::Relaxed);
                                thread::sleep(Duration::from_millis(20));
                            }
                        }
                    }
                    (acknowledged, tried)
                })
            })
            .collect();
        thread::sleep(Duration::from_millis(1000));
        primary.kill();
        standby.promote();
        pooler.retarget(&standby);
        thread::sleep(Duration::from_secs(seconds(2)));
        is_over.store(true, Ordering::Relaxed);
        writers.into_iter().map(|writer| writer.join().unwrap()).collect()
    });
    assert!(seen_errors.load(Ordering::Relaxed), "nobody has noticed that the primary was killed");
    let tried: u64 = written.iter().map(|(_, tried)| tried).sum();
    let acknowledged: Vec<_> = written.iter().flat_map(|(acknowledged, _)| acknowledged).collect();
    for node in &nodes {
        node.follow().unwrap();
        for (id, text) in &acknowledged {
            let record = node.get(*id, &Viewer::OWNER, NOW).unwrap();
            assert_eq!(record.map(|record| record.content).as_ref(), Some(text), "acknowledged as {id}");
        }
        assert_eq!(node.lost(), Vec::<String>::new());
        assert!((acknowledged.len() as u64..=tried).contains(&node.matching_count()));
        assert_eq!(node.compare(&NoProgress).unwrap().differed, 0);
        node.assert_sound();
    }
}

/// A standby that is not promoted has less than the primary, and a copy is not made from it.
#[test]
fn a_standby_is_no_server_for_nodes() {
    const TEST: &str = "a_standby_is_no_server_for_nodes";
    let Some(primary) = postgres_testing::start(TEST, Options::default()) else { return };
    let Some((team, standby, pooler)) = servers(&primary, TEST) else { return };
    let node = Node::of(&pooler.address());
    let id = add(&node, "known");
    standby.catch_up_with(&primary);
    pooler.retarget(&standby);
    let is_standby = |said: &str| said.contains("it is a standby") && said.contains("give the address of the primary");
    // The pooler changes over between two transactions.
    for _ in 0..50 {
        if node.follow().is_err() {
            break;
        }
        thread::sleep(Duration::from_millis(20));
    }
    let said = node.follow().unwrap_err().to_string();
    assert!(is_standby(&said), "{said}");
    assert_eq!(node.get(id, &Viewer::OWNER, NOW).unwrap().unwrap().content, "known");
    let said = node.add(&new("refused"), NOW).unwrap_err().to_string();
    assert!(is_standby(&said), "{said}");
    let fresh = Node::of(&standby.address(team.name()));
    let said = fresh.snapshot().err().expect("nothing is no answer").to_string();
    assert!(is_standby(&said), "{said}");
    assert!(is_standby(&fresh.node().unwrap().error.unwrap()));
    pooler.retarget(&primary);
    let after = (0..50).find_map(|_| {
        thread::sleep(Duration::from_millis(20));
        node.add(&new("after"), NOW).ok()
    });
    assert_eq!(node.get(after.unwrap().id, &Viewer::OWNER, NOW).unwrap().unwrap().content, "after");
}

/// A server that crashes and starts again by itself, as the same one, forgets the numbers of transactions that were rolled back.
#[test]
fn transaction_numbers_that_a_crash_gives_again() {
    let Some(cluster) = postgres_testing::start("transaction_numbers_that_a_crash_gives_again", Options::default())
    else {
        return;
    };
    cluster.set("wal_writer_delay", "10s");
    let team = cluster.database_from("team", make);
    let [node, other] = [(); 2].map(|()| Node::of(&team.address()));
    add(&other, "before");
    // Whatever the server writes to its log by itself meanwhile keeps the numbers.
    for attempt in 0..8 {
        let mut client = team.client();
        let rolled_back: BTreeSet<i64> = (0..8)
            .map(|_| {
                let mut tx = client.transaction().unwrap();
                tx.query_one("SELECT pg_current_xact_id()::text::bigint", &[]).unwrap().get(0)
            })
            .collect();
        node.follow().unwrap();
        let process: i32 = client.query_one("SELECT pg_backend_pid()", &[]).unwrap().get(0);
        let killed = std::process::Command::new("kill").args(["-9", &process.to_string()]).status().unwrap();
        assert!(killed.success());
        // All sessions end before anything is written again.
        while client.batch_execute("SELECT 1").is_ok() {
            thread::sleep(Duration::from_millis(5));
        }
        let saved = |at| loop {
            match other.add(&new(&format!("after {attempt}, {at}")), NOW) {
                Ok(outcome) => break outcome.id,
                Err(_) => thread::sleep(Duration::from_millis(20)),
            }
        };
        let after: Vec<RecordId> = (0..5).map(saved).collect();
        node.follow().or_else(|_| node.follow()).unwrap();
        for id in after {
            assert!(node.get(id, &Viewer::OWNER, NOW).unwrap().is_some(), "{id} was missed");
        }
        if !transactions(&cluster, &team).is_disjoint(&rolled_back) {
            assert_eq!(node.compare(&NoProgress).unwrap().differed, 0);
            return;
        }
    }
    panic!("no number was given again: this tests nothing");
}

/// 40.7.
#[test]
fn a_missing_synchronous_standby_is_named_and_blocks_only_saves() {
    let test = "a_missing_synchronous_standby_is_named_and_blocks_only_saves";
    let Some(primary) = postgres_testing::start(test, Options::default()) else { return };
    let team = primary.database_from("team", make);
    let node = Node::of(&team.address());
    let first = add(&node, "before");
    node.get(first, &Viewer::OWNER, NOW).unwrap().unwrap();
    primary.set("synchronous_standby_names", "absent");
    let said = node.add(&new("meanwhile"), NOW).unwrap_err().to_string();
    assert!(said.contains("waits for its synchronous standby (absent)"), "{said}");
    let used = Access { id: first, kind: AccessKind::Get, score: None, query: None, counts: true };
    node.record_access(&[used], NOW).unwrap();
    node.follow().unwrap();
    node.keep_up().unwrap();
    assert!(node.claims("embedding").unwrap());
    assert!(node.get(first, &Viewer::OWNER, NOW).unwrap().is_some());
    let waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
    let waiting: i64 = primary.client("postgres").query_one(waiting, &[]).unwrap().get(0);
    assert_eq!(waiting, 1, "the save");
    primary.set("synchronous_standby_names", "");
    node.follow().unwrap();
    let all = node.export();
    assert!(all.iter().any(|line| line.contains("meanwhile")), "{all:?}");
    assert!(all.iter().any(|line| line.contains("access_count: 1")), "{all:?}");
}
