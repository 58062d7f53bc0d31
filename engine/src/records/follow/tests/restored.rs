//! A server that is what it was before: restored from a backup, or a standby that had not received the last moments.

use postgres_testing::Database as TeamDatabase;

use super::*;
use crate::records::rules::embeddings;
use crate::types::Purge;

/// What the server has now, to be put back later, as a restored backup is another server.
struct Backup {
    name: String,
}

impl Backup {
    fn of(team: &TeamDatabase<'_>) -> Self {
        let name = format!("backup_of_{}", team.name());
        let cluster = postgres_testing::shared("backup").unwrap();
        let end = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = ";
        cluster.execute(&format!("{end}'{}'", team.name()));
        std::thread::sleep(std::time::Duration::from_millis(300));
        cluster.execute(&format!("CREATE DATABASE {name} TEMPLATE {}", team.name()));
        Backup { name }
    }

    /// The database gets what it had, under another oid: another incarnation.
    fn restore(&self, team: &TeamDatabase<'_>) {
        let cluster = postgres_testing::shared("backup").unwrap();
        cluster.execute(&format!("DROP DATABASE {} WITH (FORCE)", team.name()));
        cluster.execute(&format!("ALTER DATABASE {} RENAME TO {}", self.name, team.name()));
    }
}

fn project(name: &str, text: &str) -> NewRecord {
    NewRecord { scope: Scope { agent: None, project: Some(name.into()) }, ..new(text) }
}

fn embed(node: &Node, dims: usize) {
    let model = node.model(&model(dims)).unwrap();
    let vectors: Vec<_> =
        node.pending(model, 99, NOW).unwrap().iter().map(|text| (text.hash, vec![1.0_f32; dims])).collect();
    embeddings::store_embeddings(&node.records, model, &vectors).unwrap();
}

#[test]
fn what_a_server_has_lost_of_scopes_models_and_numbers_keeps_no_node_from_following() {
    let Some(team) = team("what_a_server_has_lost_of_scopes") else { return };
    let node = Node::of(&team.address());
    node.add(&new("kept"), NOW).unwrap();
    let backup = Backup::of(&team);
    // Of a new project, with a new model, and vectors with numbers of their own.
    for at in 0..4 {
        node.add(&project("hermes", &format!("lost {at}")), NOW).unwrap();
    }
    embed(&node, 2);
    let lost: Vec<String> = node.export().into_iter().filter(|line| line.contains("lost")).collect();
    assert_eq!(lost.len(), 4);
    backup.restore(&team);
    // Somebody else writes first: ids, scopes, models and vectors get the numbers of what was lost, and in another order.
    let other = Node::of(&team.address());
    for at in (0..4).rev() {
        other.add(&project("atlas", &format!("lost {at}")), NOW).unwrap();
        other.add(&project("hermes", &format!("new {at}")), NOW).unwrap();
    }
    embed(&other, 2);
    node.follow().or_else(|_| node.follow()).unwrap();
    assert_eq!(node.export(), other.export());
    node.assert_sound();
    assert_eq!(node.compare(&NoProgress).unwrap().differed, 0);
    assert_eq!(node.lost().len(), 4);
}

#[test]
fn what_was_purged_while_a_node_was_away_is_not_kept_as_lost() {
    let Some(team) = team("what_was_purged_while_a_node_was_away") else { return };
    let (first, second) = (Node::of(&team.address()), Node::of(&team.address()));
    let owner = &Viewer::OWNER;
    let secret = first.add(&new("the secret harbour"), NOW).unwrap().id;
    let deleted = first.add(&new("deleted, and no longer in the trash"), NOW).unwrap().id;
    second.follow().unwrap();
    first.purge(&Purge::Ids(vec![secret]), owner, &NoProgress).unwrap();
    first.delete(deleted, owner, NOW).unwrap();
    first.empty_trash(NOW + 1, 9).unwrap();
    // Another incarnation, so that the second node compares.
    Backup::of(&team).restore(&team);
    second.follow().or_else(|_| second.follow()).unwrap();
    assert!(second.get(secret, owner, NOW).unwrap().is_none());
    assert!(second.lost().is_empty(), "{:?}", second.lost());
}

#[test]
fn a_vector_that_another_project_has_comes_with_the_record_that_is_followed() {
    let Some(team) = team("a_vector_that_another_project_has") else { return };
    let all = Node::of(&team.address());
    let some = Node::following(&team.address(), &["atlas"]);
    all.add(&project("hermes", "the same text"), NOW).unwrap();
    embed(&all, 2);
    some.follow().unwrap();
    all.add(&project("atlas", "the same text"), NOW).unwrap();
    some.follow().unwrap();
    assert!(some.export().iter().any(|line| line.contains("the same text") && !line.contains("embedding: None")));
    some.assert_sound();
}

fn link(node: &Node, from: RecordId, to: RecordId) {
    node.link(Link { from, kind: LinkKind::Related, to }, &Viewer::OWNER, NOW).unwrap();
}

/// 40.2: the scope of what was lost is lost, too.
#[test]
fn a_project_that_a_restored_server_lost_as_a_whole_is_kept_with_its_links() {
    let Some(team) = team("a_project_that_a_restored_server_lost") else { return };
    let node = Node::of(&team.address());
    let [one, two, deleted] = ["one", "two", "deleted there"].map(|text| node.add(&new(text), NOW).unwrap().id);
    link(&node, one, deleted);
    let unlinked = node.ulid(deleted);
    let backup = Backup::of(&team);
    let lost = [1, 2].map(|at| node.add(&project("hermes", &format!("lost {at}")), NOW).unwrap().id);
    link(&node, lost[0], lost[1]);
    link(&node, one, lost[0]);
    link(&node, one, two);
    let ulid = |id| node.ulid(id);
    let mut expected = vec![format!("{} lost 1", ulid(lost[0])), format!("{} lost 2", ulid(lost[1]))];
    for (from, to) in [(lost[0], lost[1]), (one, lost[0]), (one, two)] {
        expected.push(format!("link {} related {}", ulid(from), ulid(to)));
    }
    backup.restore(&team);
    // What somebody deletes on the restored server is not lost, nor are its links.
    let other = Node::of(&team.address());
    assert!(other.delete(deleted, &Viewer::OWNER, NOW).unwrap());
    node.follow().or_else(|_| node.follow()).unwrap();
    assert_eq!(node.export(), other.export());
    node.assert_sound();
    assert_eq!(node.compare(&NoProgress).unwrap().differed, 0);
    let mut kept = node.lost_lines();
    kept.sort();
    expected.sort();
    assert_eq!(kept, expected);
    assert!(!kept.iter().any(|line| line.contains(&unlinked)));
}
