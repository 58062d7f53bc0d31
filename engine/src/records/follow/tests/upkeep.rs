//! Purges of other nodes, access counts, and what one node does for all.

use super::*;
use crate::records::transaction::SelectExt;
use crate::records::{Access, AccessKind};
use crate::types::Purge;

#[test]
fn a_purge_of_one_node_is_one_of_every_other() {
    let Some(team) = team("a_purge_of_one_node_is_one_of_every_other") else { return };
    let (first, second) = (Node::of(&team.address()), Node::of(&team.address()));
    let owner = &Viewer::OWNER;
    let secret = first.add(&new("the secret harbour"), NOW).unwrap().id;
    first.add(&new("all else"), NOW).unwrap();
    let asked = Access { id: secret, kind: AccessKind::Search, score: None, query: Some("secret?"), counts: false };
    second.follow().unwrap();
    second.record_access(&[asked], NOW).unwrap();
    let removed = first.purge(&Purge::Text("secret".into()), owner, &NoProgress).unwrap();
    assert_eq!(removed.records, 1);
    assert_eq!(first.unfinished_purge().unwrap(), Some(removed.mark.clone()), "with its own mark");
    assert_eq!(second.unfinished_purge().unwrap(), None);
    second.follow().unwrap();
    assert!(second.get(secret, owner, NOW).unwrap().is_none());
    let mark = second.unfinished_purge().unwrap().expect("to be cleaned here, too");
    let queries = "SELECT count(*) FROM access_log WHERE query_text IS NOT NULL";
    let left = second.reader().unwrap().first(queries, &[], |row| row.get::<i64>(0)).unwrap();
    assert_eq!(left, Some(0));
    for (node, mark) in [(&first, &removed.mark), (&second, &mark)] {
        node.end_purge(mark).unwrap();
        assert_eq!(node.unfinished_purge().unwrap(), None);
        node.follow().unwrap();
        assert_eq!(node.unfinished_purge().unwrap(), None, "it is not begun again");
    }
    // A node that comes later never had it.
    let late = Node::of(&team.address());
    late.follow().unwrap();
    assert_eq!(late.unfinished_purge().unwrap(), None);
    // The next purge takes over nothing.
    let other = first.add(&new("another secret"), NOW).unwrap().id;
    let again = first.purge(&Purge::Ids(vec![other]), owner, &NoProgress).unwrap();
    assert_ne!(again.mark, removed.mark);
    second.follow().unwrap();
    assert!(second.unfinished_purge().unwrap().is_some());
}

#[test]
fn accesses_count_locally_at_once_and_everywhere_once_sent() {
    let Some(team) = team("accesses_count_locally_at_once") else { return };
    let (first, second) = (Node::of(&team.address()), Node::of(&team.address()));
    let id = first.add(&new("text"), NOW).unwrap().id;
    let count = |node: &Node| node.get(id, &Viewer::OWNER, NOW).unwrap().unwrap().access_count;
    let access = Access { id, kind: AccessKind::Get, score: None, query: None, counts: true };
    first.record_access(&[access, access], NOW + 5).unwrap();
    first.count_accesses(&[id], NOW + 6).unwrap();
    assert_eq!((count(&first), count(&second)), (3, 0));
    // A change of another node brings the row over the one that was counted here.
    second.update(id, &RecordUpdate { importance: Some(8), ..Default::default() }, &Viewer::OWNER, NOW + 7).unwrap();
    assert_eq!((count(&first), count(&second)), (3, 0));
    first.keep_up().unwrap();
    assert_eq!((count(&first), count(&second)), (3, 3));
    first.keep_up().unwrap();
    second.count_accesses(&[id], NOW + 8).unwrap();
    second.keep_up().unwrap();
    assert_eq!((count(&first), count(&second)), (4, 4));
    assert_eq!(second.get(id, &Viewer::OWNER, NOW).unwrap().unwrap().last_accessed_at, Some(NOW + 8));
    first.assert_sound();
}

#[test]
fn a_lease_is_held_by_one_node_and_old_changes_are_trimmed() {
    let Some(team) = team("a_lease_is_held_by_one_node") else { return };
    let (first, second) = (Node::of(&team.address()), Node::of(&team.address()));
    assert!(first.claims("embedding").unwrap() && first.claims("embedding").unwrap());
    assert!(!second.claims("embedding").unwrap() && second.claims("another").unwrap());
    team.execute("UPDATE memorist.leases SET until = now() - interval '1 second'");
    assert!(second.claims("embedding").unwrap());
    first.add(&new("old"), NOW).unwrap();
    second.follow().unwrap();
    team.execute("UPDATE memorist.changes SET changed_at = now() - interval '8 days'");
    first.add(&new("new"), NOW).unwrap();
    first.keep_up().unwrap();
    let left = |table: &str| {
        let row = team.client().query_one(&format!("SELECT count(*) FROM memorist.{table}"), &[]).unwrap();
        row.get::<_, i64>(0)
    };
    assert_eq!((left("changes"), left("sync_log"), left("nodes")), (1, 1, 1));
    // It knew all that was trimmed, but not what came after: it is compared, and misses nothing.
    assert_eq!((second.export(), second.matching_count()), (first.export(), 2));
}

#[test]
fn the_clock_of_the_server_is_everybody_s() {
    let Some(team) = team("the_clock_of_the_server") else { return };
    let node = Node::of(&team.address());
    node.follow().unwrap();
    assert!(node.clock_ahead().abs() < 60_000, "{}", node.clock_ahead());
}
