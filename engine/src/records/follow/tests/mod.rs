//! Nodes of one server: each is what the server has.

mod attacks;
mod failover;
mod members;
mod messages;
mod projects;
mod restored;
mod rights;
mod set_aside;
mod tenants;
mod upkeep;
mod writing;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use postgres_testing::{Database as TeamDatabase, Pooler, Stop, port_of};
use tempfile::TempDir;

use crate::address::ServerAddress;
use crate::config::{ExportFormat, TeamSettings};
use crate::error::Error;
use crate::paths::StorePaths;
use crate::progress::{NoProgress, Progress};
use crate::records::Records;
use crate::records::postgres::connection::ConnectionPool;
use crate::records::postgres::migrate::migrate;
use crate::records::rules::trash;
use crate::records::sqlite::testing::{NOW, model, new};
use crate::types::{Export, Exported, Filter, Link, LinkKind, NewRecord, RecordId, RecordUpdate, Scope, Viewer};

/// A node in a folder that goes with it.
struct Node {
    records: Records,
    folder: TempDir,
}

impl std::ops::Deref for Node {
    type Target = Records;

    fn deref(&self) -> &Records {
        &self.records
    }
}

#[derive(Debug)]
struct Lines;

impl ExportFormat for Lines {
    fn header(&self) -> String {
        "header".into()
    }

    fn line(&self, lost: Exported) -> String {
        match lost {
            Exported::Record(portable) => format!("{} {}", portable.ulid, portable.text.content),
            Exported::Link(link) => format!("link {} {} {}", link.from, link.kind, link.to),
            Exported::Model(model) => format!("{model:?}"),
        }
    }
}

fn settings(address: &str, follow: &[&str]) -> TeamSettings {
    let follow = follow.iter().map(|name| (*name).to_owned()).collect();
    TeamSettings { follow, lost: &Lines, ..TeamSettings::new(ServerAddress::parse(address).unwrap(), "test") }
}

impl Node {
    fn of(address: &str) -> Self {
        Self::following(address, &[])
    }

    fn following(address: &str, follow: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let records = Records::open_node(&StorePaths::new(folder.path()), &settings(address, follow)).unwrap();
        Node { records, folder }
    }

    fn follow(&self) -> crate::error::Result<()> {
        self.records.follow(&NoProgress)
    }

    /// Everything that an export has, as text.
    fn export(&self) -> Vec<String> {
        export(&self.records)
    }

    /// The ULIDs of the memories in the files of what was lost, each once for every file that has it.
    fn lost(&self) -> Vec<String> {
        let memories = self.lost_lines().into_iter().filter(|line| !line.starts_with("link "));
        memories.map(|line| line[..26].to_owned()).collect()
    }

    /// The lines of these files but for the first ones.
    fn lost_lines(&self) -> Vec<String> {
        let files = std::fs::read_dir(self.folder.path()).unwrap().map(|entry| entry.unwrap().path());
        let lost = files.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with("lost-"));
        lost.flat_map(|path| {
            let text = std::fs::read_to_string(path).unwrap();
            text.lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
        })
        .collect()
    }

    fn ulid(&self, id: RecordId) -> String {
        self.get(id, &Viewer::OWNER, NOW).unwrap().unwrap().ulid.to_string()
    }

    fn assert_sound(&self) {
        assert_eq!(self.integrity().unwrap(), Vec::<String>::new());
    }
}

/// Stops after so many steps.
struct Steps(AtomicUsize);

impl Progress for Steps {
    fn start(&self, _what: &str, _total: Option<u64>) {}
    fn advance(&self, _units: u64) {}
    fn finish(&self) {}

    fn cancelled(&self) -> bool {
        self.0.fetch_sub(1, Ordering::Relaxed) == 0
    }
}

fn export(records: &Records) -> Vec<String> {
    let mut all = Vec::new();
    let everything = Export { embeddings: true, ..Export::of(Viewer::OWNER) };
    let keep = |exported: Exported| {
        all.push(format!("{exported:?}"));
        Ok::<(), Error>(())
    };
    records.snapshot().unwrap().export(&everything, NOW, keep).unwrap();
    all
}

/// How long a load lasts; a longer run is requested with `MEMORIST_TEAM_SECONDS`.
fn seconds(usual: u64) -> u64 {
    std::env::var("MEMORIST_TEAM_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

fn make(address: &str) {
    migrate(&mut ConnectionPool::new(ServerAddress::parse(address).unwrap()).lend().unwrap()).unwrap();
}

fn team(test: &str) -> Option<TeamDatabase<'static>> {
    Some(postgres_testing::shared(test)?.database_from("team", make))
}

/// Everything that a store is used for.
fn use_store(records: &Records) {
    let owner = &Viewer::OWNER;
    let add = |text: &str, project: Option<&str>| {
        let scope = Scope { agent: None, project: project.map(Into::into) };
        records.add(&NewRecord { scope, tags: vec!["Tag".into()], ..new(text) }, NOW).unwrap().id
    };
    let (one, two) = (add("one", None), add("caf\u{e9} \u{1f980} \"quoted\" \\ two", Some("atlas")));
    let (three, four) = (add("three", Some("hermes")), add(&"a long text of many words. ".repeat(400), None));
    let own = records.model(&model(2)).unwrap();
    let pending = records.pending(own, usize::MAX, NOW).unwrap();
    let vectors: Vec<_> = pending.iter().map(|text| (text.hash, vec![0.6_f32, 0.8])).collect();
    records.store_embeddings(own, &vectors).unwrap();
    let change = RecordUpdate { content: Some("one, changed".into()), ..Default::default() };
    records.update(one, &change, owner, NOW + 1).unwrap();
    records.link(Link { from: one, kind: LinkKind::Supersedes, to: four }, owner, NOW + 2).unwrap();
    records.link(Link { from: two, kind: LinkKind::Related, to: one }, owner, NOW + 2).unwrap();
    assert!(records.delete(three, owner, NOW + 3).unwrap());
    records.update(four, &RecordUpdate { importance: Some(9), ..Default::default() }, owner, NOW + 4).unwrap();
    assert!(records.delete(four, owner, NOW + 5).unwrap());
    trash::restore(records, four, owner, NOW + 6).unwrap();
}

/// Without ULIDs, which every store has of its own.
fn masked(lines: &[String]) -> Vec<String> {
    let ulids = regex::Regex::new(r"\b[0-9A-HJKMNP-TV-Z]{26}\b").unwrap();
    // Their order is that of ULIDs, which are random within a millisecond.
    let mut masked: Vec<String> = lines.iter().map(|line| ulids.replace_all(line, "ULID").into_owned()).collect();
    masked.sort();
    masked
}

#[test]
fn every_node_equals_the_server_and_a_local_store() {
    let Some(team) = team("every_node_equals_the_server") else { return };
    let (first, second) = (Node::of(&team.address()), Node::of(&team.address()));
    use_store(&first);
    let local = crate::records::sqlite::testing::TestStore::new();
    use_store(&local);
    assert_eq!(masked(&first.export()), masked(&export(&local)), "one store or two: one product");
    let late = Node::of(&team.address());
    for node in [&second, &late] {
        assert_eq!(node.export(), first.export());
        assert_eq!(node.matching_count(), first.matching_count());
        node.assert_sound();
    }
    let compared = second.compare(&NoProgress).unwrap();
    assert_eq!(compared.differed, 0, "{compared:?}");
}

impl Node {
    fn matching_count(&self) -> u64 {
        self.snapshot().unwrap().matching(&Filter::default(), NOW).unwrap().len()
    }
}

#[test]
fn a_write_on_one_node_is_in_the_next_read_on_another() {
    let Some(team) = team("a_write_on_one_node") else { return };
    let (first, second) = (Node::of(&team.address()), Node::of(&team.address()));
    for at in 0..50 {
        let (writer, reader) = if at % 2 == 0 { (&first, &second) } else { (&second, &first) };
        let id = writer.add(&new(&format!("text {at}")), NOW).unwrap().id;
        assert_eq!(reader.get(id, &Viewer::OWNER, NOW).unwrap().unwrap().content, format!("text {at}"));
        let seen = reader.snapshot().unwrap();
        assert!(seen.tail(0.into(), usize::MAX).unwrap().iter().any(|entry| entry.record_id == id));
    }
    assert_eq!(first.export(), second.export());
}

/// Rule 1: writers whose transactions last differently long, so that numbers become visible out of order; two nodes are behind a
/// pooler in transaction mode.
#[test]
fn every_committed_entry_reaches_every_node() {
    const TEST: &str = "every_committed_entry_reaches_every_node";
    let Some(team) = team(TEST) else { return };
    let pooler = postgres_testing::shared(TEST).and_then(|cluster| cluster.pgbouncer(TEST, team.name()));
    let pooled = pooler.as_ref().map_or_else(|| team.address(), Pooler::address);
    let nodes = [team.address(), pooled.clone(), pooled].map(|address| Node::of(&address));
    let is_over = AtomicBool::new(false);
    let written: u64 = thread::scope(|scope| {
        let writers: Vec<_> = (0..8)
            .map(|writer| {
                let (node, is_over, team) = (&nodes[writer % 3], &is_over, &team);
                scope.spawn(move || {
                    let mut written = 0;
                    let mut slow = team.client();
                    while !is_over.load(Ordering::Relaxed) {
                        // An open transaction that commits late, with changes that others overtake.
                        if writer == 0 {
                            let mut tx = slow.transaction().unwrap();
                            tx.batch_execute("INSERT INTO memorist.changes (number, id) VALUES (4, 1)").unwrap();
                            thread::sleep(Duration::from_millis(50));
                            tx.commit().unwrap();
                        }
                        node.add(&new(&format!("{writer} {written}")), NOW).unwrap();
                        written += 1;
                    }
                    written
                })
            })
            .collect();
        let readers: Vec<_> = nodes
            .iter()
            .map(|node| {
                let is_over = &is_over;
                scope.spawn(move || {
                    while !is_over.load(Ordering::Relaxed) {
                        node.follow().unwrap();
                    }
                })
            })
            .collect();
        thread::sleep(Duration::from_secs(seconds(3)));
        is_over.store(true, Ordering::Relaxed);
        readers.into_iter().for_each(|reader| reader.join().unwrap());
        writers.into_iter().map(|writer| writer.join().unwrap()).sum()
    });
    assert!(written > 20);
    for node in &nodes {
        node.follow().unwrap();
        assert_eq!(node.matching_count(), written);
        // What was copied before the first pull may come again.
        let tail = node.snapshot().unwrap().tail(0.into(), usize::MAX).unwrap();
        let logged: std::collections::BTreeSet<_> = tail.iter().map(|entry| entry.record_id).collect();
        assert_eq!(logged.len() as u64, written);
        node.assert_sound();
        let compared = node.compare(&NoProgress).unwrap();
        assert_eq!(compared.differed, 0, "the log has missed something");
    }
}

#[test]
fn a_node_follows_some_projects_and_what_is_global() {
    let Some(team) = team("a_node_follows_some_projects") else { return };
    let all = Node::of(&team.address());
    let some = Node::following(&team.address(), &["atlas"]);
    use_store(&all);
    let scopes = |node: &Node| {
        let mut projects: Vec<_> = node
            .export()
            .iter()
            .filter_map(|line| line.split("project: ").nth(1).map(|rest| rest[..12].to_owned()))
            .collect();
        projects.dedup();
        projects.sort();
        projects.dedup();
        projects
    };
    all.add(&NewRecord { scope: Scope { agent: None, project: Some("hermes".into()) }, ..new("hidden") }, NOW).unwrap();
    assert!(scopes(&all).iter().any(|name| name.contains("hermes")));
    let seen = scopes(&some);
    assert!(
        seen.iter().any(|name| name.contains("atlas")) && !seen.iter().any(|name| name.contains("hermes")),
        "{seen:?}"
    );
    some.assert_sound();
    let late = Node::following(&team.address(), &["atlas"]);
    assert_eq!(late.export(), some.export());
    assert_eq!(late.compare(&NoProgress).unwrap().differed, 0);
}

/// Rule 6: its sources, and what it leases, stay its own.
#[test]
fn a_node_whose_folder_was_deleted_is_the_same_node() {
    let Some(team) = team("a_node_whose_folder_was_deleted") else { return };
    let beside = tempfile::tempdir().unwrap();
    let id = || {
        let folder = tempfile::tempdir().unwrap();
        let team = TeamSettings { lost_folder: Some(beside.path().to_owned()), ..settings(&team.address(), &[]) };
        Records::open_node(&StorePaths::new(folder.path()), &team).unwrap().node().unwrap().node
    };
    assert_eq!(id(), id());
    assert_ne!(Node::of(&team.address()).node().unwrap().node, id(), "another one");
}

/// Rule 8.
#[test]
fn without_the_server_searches_go_on_and_writes_say_what_to_do() {
    let Some(cluster) = postgres_testing::start("without_the_server", Default::default()) else { return };
    let team = cluster.database_from("team", make);
    let node = Node::of(&team.address());
    let id = node.add(&new("known"), NOW).unwrap().id;
    assert!(node.node().unwrap().error.is_none());
    cluster.stop(Stop::Immediate);
    let read = || node.get(id, &Viewer::OWNER, NOW).unwrap().unwrap().content;
    assert_eq!(read(), "known");
    let state = node.node().unwrap();
    assert!(state.error.unwrap().contains("cannot be reached") && state.as_of.is_some());
    let refused = node.add(&new("lost?"), NOW).unwrap_err().to_string();
    assert!(refused.contains("writes fail until it is back"), "{refused}");
    cluster.start_again();
    node.follow().unwrap();
    assert!(node.node().unwrap().error.is_none());
    let after = node.add(&new("after"), NOW).unwrap().id;
    assert_eq!(node.get(after, &Viewer::OWNER, NOW).unwrap().unwrap().content, "after");
    // One that has stopped without a word is not waited for, either.
    cluster.pause();
    let started = std::time::Instant::now();
    let mut times = 0;
    let beside = node.records.read(|| {
        times += 1;
        node.copy().get(id, &Viewer::OWNER, NOW)
    });
    assert_eq!((beside.unwrap().unwrap().content.as_str(), times), ("known", 2));
    // It was waited for once.
    assert!(started.elapsed() < Duration::from_secs(4));
    assert_eq!((read(), read()), ("known".into(), "known".into()));
    assert!(started.elapsed() < Duration::from_secs(4));
    cluster.resume();
}

/// Rule 2.
#[test]
fn an_early_read_is_repeated_if_the_server_has_changes() {
    let Some(team) = team("an_early_read_is_repeated") else { return };
    let (writer, reader) = (Node::of(&team.address()), Node::of(&team.address()));
    reader.follow().unwrap();
    let read = || {
        let mut counts = Vec::new();
        let last = reader.records.read(|| {
            counts.push(reader.copy().snapshot()?.live_count(NOW)?);
            Ok(counts.last().copied())
        });
        (last.unwrap(), counts)
    };
    assert_eq!(read(), (Some(0), vec![0]));
    for at in 1..=3 {
        writer.add(&new(&format!("memory {at}")), NOW).unwrap();
        assert_eq!(read(), (Some(at), vec![at - 1, at]));
        assert_eq!(read(), (Some(at), vec![at]));
    }
    // Those who read at the same time share a pull: their answers are as new.
    writer.add(&new("memory 4"), NOW).unwrap();
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..8).map(|_| scope.spawn(|| read().0)).collect();
        assert!(readers.into_iter().all(|reader| reader.join().unwrap() == Some(4)));
    });
    let state = reader.node().unwrap();
    assert_eq!((state.failed, state.error), (0, None));
}

/// Rule 6: a node is a cache.
#[test]
fn an_old_or_foreign_folder_is_resynced_with_the_server() {
    let Some(team) = team("an_old_or_foreign_folder") else { return };
    let Some(other) = self::team("a_folder_of_another_store") else { return };
    let first = Node::of(&team.address());
    use_store(&first);
    let elsewhere = Node::of(&other.address());
    elsewhere.add(&new("of another team"), NOW).unwrap();
    // The folder of one team, opened for another one.
    let paths = StorePaths::new(elsewhere.folder.path());
    drop(elsewhere.records);
    let moved = Records::open_node(&paths, &settings(&team.address(), &[])).unwrap();
    assert_eq!(export(&moved), first.export());
    assert_eq!(moved.integrity().unwrap(), Vec::<String>::new());
    // One that was away for longer than the changes are kept.
    first.add(&new("while it was away"), NOW).unwrap();
    team.client()
        .batch_execute(
            "DELETE FROM memorist.changes; UPDATE memorist.server SET value = '9999999' WHERE key = 'trimmed_below'",
        )
        .unwrap();
    assert_eq!(export(&moved), first.export());
    assert!(moved.snapshot().unwrap().tail(0.into(), usize::MAX).unwrap().len() > 1);
}

/// 40.5.
#[test]
fn a_call_asks_once_and_reads_what_was_saved_before_it() {
    let Some(database) = team("a_call_asks_once_and_reads_what_was_saved_before_it") else { return };
    let [one, other] = [(); 2].map(|()| Node::of(&database.address()));
    let pulls = || one.node().unwrap().pulls;
    let read = || one.read(|| Ok(one.copy().get(1.into(), &Viewer::OWNER, NOW)?.is_some())).unwrap();
    let get = |id: i64| one.get(id.into(), &Viewer::OWNER, NOW).unwrap().is_some();
    let total = || one.snapshot().unwrap().stats(&Filter::default(), NOW).unwrap().total;
    for (at, text) in (1..).zip(["one", "two", "three"]) {
        other.add(&new(text), NOW).unwrap();
        let before = pulls();
        crate::records::in_one_call(|| {
            assert!(read() && get(at));
            // It is not brought what comes meanwhile, and one's own is there.
            one.add(&new(&format!("{text} of its own")), NOW).unwrap();
            assert_eq!(total(), 2 * at as u64);
        });
        assert!(pulls() - before <= 3, "one question, one to read again, and one for what was written");
        let before = pulls();
        crate::records::in_one_call(|| assert!(read() && get(at) && total() > 0));
        assert_eq!(pulls() - before, 1);
        let before = pulls();
        assert!(read() && get(at) && total() > 0);
        assert_eq!(pulls() - before, 3, "outside of a call each asks");
    }
}

/// 40.5, 40.6.
#[test]
fn a_single_process_pulls_for_all_processes_of_a_node() {
    let Some(database) = team("a_single_process_pulls_for_all_processes_of_a_node") else { return };
    let first = Node::of(&database.address());
    let open =
        || Records::open_node(&StorePaths::new(first.folder.path()), &settings(&database.address(), &[])).unwrap();
    let second = open();
    let (pulls, node) =
        (|records: &Records| records.node().unwrap().pulls, |records: &Records| records.node().unwrap());
    assert!(first.follow_for_all(&NoProgress).unwrap());
    let other = Node::of(&database.address());
    other.add(&new("one"), NOW).unwrap();
    assert!(!second.follow_for_all(&NoProgress).unwrap());
    assert_eq!(pulls(&second), 0);
    assert!(node(&second).age.is_some(), "it is as new as the other one");
    assert!(first.follow_for_all(&NoProgress).unwrap());
    assert!(second.copy().get(1.into(), &Viewer::OWNER, NOW).unwrap().is_some(), "they share the copy");
    // One that does not follow any more, such as a paused one, is not relied on.
    let lock = std::fs::File::options().write(true).open(StorePaths::new(first.folder.path()).follow_lock()).unwrap();
    lock.set_modified(std::time::SystemTime::now() - Duration::from_secs(60)).unwrap();
    assert!(!second.follow_for_all(&NoProgress).unwrap());
    assert_eq!(pulls(&second), 1);
    drop(first.records);
    assert!(second.follow_for_all(&NoProgress).unwrap(), "the next one takes over");
}

/// 40.6.
#[test]
fn connections_that_are_idle_are_closed() {
    let Some(database) = team("connections_that_are_idle_are_closed") else { return };
    let pool = ConnectionPool::new(ServerAddress::parse(&database.address()).unwrap());
    let lent: Vec<_> = (0..4).map(|_| pool.lend().unwrap()).collect();
    lent.into_iter().for_each(crate::records::postgres::connection::Lent::give_back);
    pool.close_idle();
    assert_eq!(pool.idle(), 4, "they may be needed again");
    thread::sleep(Duration::from_secs(6));
    pool.close_idle();
    assert_eq!(pool.idle(), 1);
}
