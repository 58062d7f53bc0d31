//! A node that follows some projects: what it says of others, and a change of what it follows.

use std::path::Path;

use postgres_testing::Options;

use super::super::cursor::Cursor;
use super::*;
use crate::records::Change;
use crate::records::transaction::SelectExt;

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
fn a_change_of_what_is_followed_removes_the_rest_and_holds_for_all_processes_of_the_node() {
    let Some(team) = team("a_change_of_what_is_followed") else { return };
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
fn a_change_of_what_is_followed_that_is_stopped_and_undone_leaves_nothing() {
    let Some(team) = team("a_change_of_what_is_followed_that_is_stopped") else { return };
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
fn a_node_that_follows_something_else_answers_only_once_it_has_copied_that() {
    let Some(cluster) = postgres_testing::start("a_node_that_follows_something_else", Options::default()) else {
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
