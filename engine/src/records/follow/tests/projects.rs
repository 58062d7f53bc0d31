//! A node that follows some projects: what it says of others, and a change of what it follows.

use std::path::{Path, PathBuf};

use postgres_testing::Options;

use super::super::cursor::Cursor;
use super::*;
use crate::records::Change;
use crate::records::purge::mark::PurgeMark;
use crate::records::transaction::SelectExt;
use crate::types::Purge;

fn of(project: &str) -> NewRecord {
    NewRecord { scope: Scope { agent: None, project: Some(project.into()) }, ..new(&format!("of {project}")) }
}

fn open(folder: &Path, team: &TeamDatabase<'_>, follow: &[&str]) -> Records {
    Records::open_node(&StorePaths::new(folder), &settings(&team.address(), follow)).unwrap()
}

fn texts(records: &Records) -> Vec<String> {
    records.follow(&NoProgress).unwrap();
    let sql = "SELECT content FROM records ORDER BY content";
    records.reader().unwrap().all(sql, &[], |row| row.get::<String>(0)).unwrap()
}

/// 40.3.
#[test]
fn a_follow_list_change_drops_the_rest_for_all_processes() {
    let Some(team) = team("a_follow_list_change_drops_the_rest") else { return };
    let all = Node::of(&team.address());
    all.add(&new("global"), NOW).unwrap();
    for project in ["atlas", "hermes", "zephyr"] {
        all.add(&of(project), NOW).unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    let first = open(folder.path(), &team, &["hermes"]);
    assert_eq!(texts(&first), ["global", "of hermes"]);
    let second = open(folder.path(), &team, &["zephyr", "atlas"]);
    for records in [&second, &first, &second] {
        assert_eq!(texts(records), ["global", "of atlas", "of zephyr"]);
        assert_eq!(records.compare(&NoProgress).unwrap().differed, 0);
        assert!(records.unfollowed("hermes").unwrap().is_some() && records.unfollowed("atlas").unwrap().is_none());
    }
    let tail = second.snapshot().unwrap().tail(0.into(), usize::MAX).unwrap();
    assert!(
        tail.iter().any(|entry| matches!(entry.change, Change::Delete { .. })),
        "the indexes lose it, too: {tail:?}"
    );
    assert_eq!(second.integrity().unwrap(), Vec::<String>::new());
    // In another order it is the same.
    let pulls_all = || Cursor::stored(&*second.reader().unwrap()).unwrap().unwrap().follow;
    open(folder.path(), &team, &["atlas", "zephyr"]);
    assert_eq!(pulls_all(), ["atlas", "zephyr"]);
    assert_eq!(texts(&open(folder.path(), &team, &[])), texts(&all));
}

/// 40.3: a copy that is stopped on its way from one list to another is of neither.
#[test]
fn a_stopped_and_reverted_follow_list_change_leaves_nothing() {
    let Some(team) = team("a_stopped_and_reverted_follow_list_change") else { return };
    let all = Node::of(&team.address());
    for project in ["atlas", "hermes"] {
        all.add(&of(project), NOW).unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(texts(&open(folder.path(), &team, &["hermes"])), ["of hermes"]);
    let sql = "SELECT content FROM records ORDER BY content";
    let here = |node: &Records| node.copy().reader().unwrap().all(sql, &[], |row| row.get::<String>(0)).unwrap();
    for steps in 0.. {
        let node = open(folder.path(), &team, &["atlas", "hermes"]);
        let stopped = node.compare(&Steps(steps.into())).is_err();
        let seen = here(&node);
        drop(node);
        let node = open(folder.path(), &team, &["hermes"]);
        assert_eq!(texts(&node), ["of hermes"], "after {steps} steps");
        let mark = node.unfinished_purge().unwrap().expect("its files may have more");
        node.end_purge(&mark).unwrap();
        if !stopped {
            assert_eq!(seen.len(), 2);
            break;
        }
    }
}

/// 40.3: what is here of before is no answer about what is followed now.
#[test]
fn a_node_answers_for_a_new_follow_list_only_after_copying_it() {
    let Some(cluster) = postgres_testing::start("a_node_answers_for_a_new_follow_list", Options::default()) else {
        return;
    };
    let team = cluster.database_from("team", make);
    let folder = tempfile::tempdir().unwrap();
    let node = open(folder.path(), &team, &["hermes"]);
    node.add(&of("atlas"), NOW).unwrap();
    node.add(&of("hermes"), NOW).unwrap();
    drop(node);
    cluster.stop(Stop::Immediate);
    assert!(open(folder.path(), &team, &["hermes"]).snapshot().is_ok());
    let said = open(folder.path(), &team, &["atlas"]).snapshot().err().expect("nothing is no answer").to_string();
    assert!(said.contains("cannot be reached"), "{said}");
}

/// 40.3: earlier versions made a copy for each list of projects, which no purge reached.
#[test]
fn old_copies_of_a_node_are_removed() {
    let Some(team) = team("old_copies_of_a_node") else { return };
    let nodes = tempfile::tempdir().unwrap();
    let name = settings(&team.address(), &[]).address.folder_name();
    let [copy, old, other] =
        [name.clone(), format!("{name}-0a1b2c3d"), "another".into()].map(|name| nodes.path().join(name));
    for folder in [&old, &other] {
        std::fs::create_dir_all(folder).unwrap();
        std::fs::write(folder.join("memory.db"), "the secret harbour").unwrap();
    }
    open(&copy, &team, &["hermes"]);
    assert!(copy.exists() && other.exists() && !old.exists());
}

/// 40.3: the same server by another address has another folder.
#[test]
fn a_purge_removes_copies_of_the_same_team_that_nobody_has_open() {
    let Some(team) = team("a_purge_removes_copies_of_the_same_team") else { return };
    let Some(other_team) = self::team("a_purge_leaves_copies_of_another_team") else { return };
    // Else it is a copy of the same one.
    let id = ulid::Ulid::generate();
    other_team.execute(&format!("UPDATE memorist.meta SET value = '{id}' WHERE key = 'store_id'"));
    let nodes = tempfile::tempdir().unwrap();
    let copy_of = |address: &str| nodes.path().join(settings(address, &[]).address.folder_name());
    let spelled = team.address().replace("127.0.0.1", "localhost");
    assert_ne!(spelled, team.address());
    let [own, same, other] =
        [team.address(), spelled, other_team.address()].map(|address| (copy_of(&address), address));
    let open = |(copy, address): &(PathBuf, String)| {
        Records::open_node(&StorePaths::new(copy), &settings(address, &[])).unwrap()
    };
    let node = open(&own);
    let [beside, elsewhere] = [open(&same), open(&other)];
    assert!(beside.follow_for_all(&NoProgress).unwrap());
    elsewhere.follow(&NoProgress).unwrap();
    let purge = |text: &str| {
        let id = node.add(&new(text), NOW).unwrap().id;
        let removed = node.purge(&Purge::Ids(vec![id]), &Viewer::OWNER, &NoProgress).unwrap();
        node.end_purge(&removed.mark).unwrap();
    };
    purge("the secret harbour");
    assert!(same.0.exists(), "who has it open cleans it");
    drop((beside, elsewhere));
    node.end_purge(&PurgeMark::unwritten()).unwrap();
    assert!(same.0.exists(), "nothing was purged");
    purge("another secret harbour");
    assert!(own.0.exists() && other.0.exists() && !same.0.exists());
}
