//! Rows that a node cannot apply are set aside and named, and all others are still copied (issue 40, item 1). Here the
//! owner of the tables writes such rows, as a newer memorist might, or somebody who broke into the server.

use super::*;
use crate::types::{NewSource, SourceKind};

/// 40.1: after one such entry every search failed.
#[test]
fn an_entry_of_the_log_that_nobody_can_read_is_set_aside() {
    let Some(team) = team("an_entry_of_the_log_that_nobody_can_read") else { return };
    let node = Node::of(&team.address());
    let id = node.add(&new("one"), NOW).unwrap().id;
    let head = node.head().unwrap();
    team.execute(&format!(
        "BEGIN; INSERT INTO memorist.sync_log (op, record_id, payload) VALUES (1, {id}, '\\x00'), (9, 77, '\\x00');
         UPDATE memorist.records SET importance = 9 WHERE id = {id}; COMMIT",
        id = id.get()
    ));
    let later = node.add(&new("two"), NOW).unwrap().id;
    node.follow().unwrap();
    let tail = node.snapshot().unwrap().tail(head, usize::MAX).unwrap();
    let records: Vec<_> = tail.iter().map(|entry| entry.record_id).collect();
    assert_eq!(records, [id, later], "the record has changed, whatever the entry says");
    assert_eq!(node.get(id, &Viewer::OWNER, NOW).unwrap().unwrap().importance, 9);
    let said = node.set_aside_here().unwrap().join("\n");
    assert!(said.contains(&format!("sync_log of record {}", id.get())) && said.contains("record 77"), "{said}");
    node.assert_sound();
}

/// 40.1: each of these stopped every search, or every pull, of every node that got it.
#[test]
fn a_row_that_cannot_be_applied_is_set_aside_until_it_can() {
    let Some(team) = team("a_row_that_cannot_be_applied") else { return };
    let node = Node::of(&team.address());
    use_store(&node);
    let last = node.add(&new("the last one"), NOW).unwrap().id.get();
    node.follow().unwrap();
    for (poison, cure, named) in [
        (
            format!("records SET kind = 55 WHERE id = {last}"),
            format!("records SET kind = 0 WHERE id = {last}"),
            "records",
        ),
        (
            format!("records SET tags = 'no list' WHERE id = {last}"),
            format!("records SET tags = NULL WHERE id = {last}"),
            "records",
        ),
        (
            format!("records SET body = '[' WHERE id = {last}"),
            format!("records SET body = NULL WHERE id = {last}"),
            "records",
        ),
        ("versions SET kind = kind + 70".into(), "versions SET kind = kind - 70".into(), "versions"),
        ("links SET kind = kind + 70".into(), "links SET kind = kind - 70".into(), "links"),
        (
            "embeddings SET vector = vector || '\\x00'".into(),
            "embeddings SET vector = substr(vector, 1, length(vector) - 1)".into(),
            "embeddings",
        ),
    ] {
        team.execute(&format!("UPDATE memorist.{poison}"));
        let later = node.add(&new(&format!("after {poison}")), NOW).unwrap().id;
        assert!(node.get(later, &Viewer::OWNER, NOW).unwrap().is_some(), "{poison}");
        assert!(!node.export().is_empty(), "{poison}");
        let said = node.set_aside_here().unwrap().join("\n");
        assert!(said.contains(named), "{poison}: {said}");
        // A new node takes over the rest, too.
        let fresh = Node::of(&team.address());
        assert!(fresh.get(later, &Viewer::OWNER, NOW).unwrap().is_some(), "{poison}");
        assert!(!fresh.set_aside_here().unwrap().is_empty(), "{poison}");
        team.execute(&format!("UPDATE memorist.{cure}"));
        node.delete(later, &Viewer::OWNER, NOW).unwrap();
        node.follow().unwrap();
        assert_eq!(node.set_aside_here().unwrap(), Vec::<String>::new(), "{cure}");
        node.assert_sound();
    }
    let fresh = Node::of(&team.address());
    assert_eq!(fresh.export(), node.export());
}

/// 40.1: a source that somebody has written for this node, with all rights on the server.
#[test]
fn a_source_that_was_not_added_here_is_not_one_of_this_node() {
    let Some(team) = team("a_source_that_was_not_added_here") else { return };
    let source = |path: &str| NewSource {
        kind: SourceKind::Notes,
        path: path.into(),
        format: None,
        globs: Vec::new(),
        scope: Scope::default(),
    };
    let node = Node::of(&team.address());
    let (own, _) = node.add_source(&source("/home/ana/notes"), NOW).unwrap();
    team.execute(&format!(
        "INSERT INTO memorist.node_sources (node, kind, path, added_at) VALUES ('{}', 0, '/etc', 1)",
        node.node().unwrap().node
    ));
    node.follow().unwrap();
    let reads = || {
        let all = node.snapshot().unwrap().sources().unwrap();
        all.into_iter().map(|one| (one.source.path.clone(), node.is_own_source(&one.source))).collect::<Vec<_>>()
    };
    assert_eq!(reads(), [("/home/ana/notes".into(), true), ("/etc".into(), false)]);
    // The same path, read for somebody else.
    team.execute("UPDATE memorist.node_sources SET project = 'hermes' WHERE path = '/home/ana/notes'");
    node.follow().unwrap();
    assert!(reads().iter().all(|(_, is_own)| !is_own), "{:?}", reads());
    // Added again it is as it was.
    assert_eq!(node.add_source(&source("/home/ana/notes"), NOW).unwrap(), (own, false));
    assert!(reads().contains(&("/home/ana/notes".into(), true)));
    node.remove_source(own, false).unwrap();
    assert!(!node.is_own_source(&source("/home/ana/notes")));
}
