//! A server that is what it was before: restored from a backup, or a standby that had not received the last moments.

use postgres_testing::Database as TeamDatabase;

use super::*;
use crate::records::rules::{embeddings, trash};
use crate::records::transaction::SelectExt;
use crate::types::Purge;

/// A copy of the server's database, to be restored later as another incarnation.
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

    /// Restores the database under another oid: another incarnation.
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
fn a_node_resyncs_after_a_restore_lost_scopes_and_models() {
    let Some(team) = team("a_node_resyncs_after_a_restore") else { return };
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
fn memories_purged_while_a_node_was_away_are_not_kept_as_lost() {
    let Some(team) = team("memories_purged_while_a_node_was_away") else { return };
    let (first, second) = (Node::of(&team.address()), Node::of(&team.address()));
    let owner = &Viewer::OWNER;
    let secret = first.add(&new("the secret harbour"), NOW).unwrap().id;
    let deleted = first.add(&new("deleted, and no longer in the trash"), NOW).unwrap().id;
    second.follow().unwrap();
    first.purge(&Purge::Ids(vec![secret]), owner, &NoProgress).unwrap();
    first.delete(deleted, owner, NOW).unwrap();
    trash::empty(&*first, NOW + 1, 9).unwrap();
    // Another incarnation, so that the second node compares.
    Backup::of(&team).restore(&team);
    second.follow().or_else(|_| second.follow()).unwrap();
    assert!(second.get(secret, owner, NOW).unwrap().is_none());
    assert!(second.lost().is_empty(), "{:?}", second.lost());
}

#[test]
fn a_followed_memory_gets_a_vector_of_an_unfollowed_project() {
    let Some(team) = team("a_followed_memory_gets_a_vector") else { return };
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
fn a_project_lost_by_a_restore_is_kept_with_its_links() {
    let Some(team) = team("a_project_lost_by_a_restore") else { return };
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

/// The numbers of the scopes here, with their projects.
fn scopes(node: &Node) -> Vec<(i64, Option<String>)> {
    let sql = "SELECT id, project FROM scopes ORDER BY id";
    node.copy().reader().unwrap().all(sql, &[], |row| Ok((row.get(0)?, row.get(1)?))).unwrap()
}

/// 40.2: a scope goes before the memories that have it.
#[test]
fn a_comparison_stopped_at_any_step_leaves_a_usable_node() {
    let Some(team) = team("a_comparison_stopped_at_any_step") else { return };
    let node = Node::of(&team.address());
    let add = |node: &Node, name: &str, at: u32| node.add(&project(name, &format!("of {name} {at}")), NOW).unwrap().id;
    add(&node, "kept", 1);
    let backup = Backup::of(&team);
    for name in ["hermes", "zephyr", "icarus"] {
        let [first, second, deleted] = [1, 2, 3].map(|at| add(&node, name, at));
        link(&node, first, second);
        assert!(node.delete(deleted, &Viewer::OWNER, NOW).unwrap());
    }
    let before = scopes(&node);
    backup.restore(&team);
    // One is lost, one has another number, and one has given its number away.
    let other = Node::of(&team.address());
    add(&other, "zephyr", 1);
    add(&other, "atlas", 1);
    let after = scopes(&other);
    let number =
        |of: &[(i64, Option<String>)], name: &str| of.iter().find(|(_, is)| is.as_deref() == Some(name)).unwrap().0;
    assert_eq!(number(&before, "hermes"), number(&after, "zephyr"));
    assert_eq!(number(&before, "zephyr"), number(&after, "atlas"));
    let sql = "SELECT content, project FROM records JOIN scopes s ON s.id = scope_id
         UNION ALL SELECT content, project FROM trash JOIN scopes s ON s.id = scope_id";
    let total = "SELECT (SELECT count(*) FROM records) + (SELECT count(*) FROM trash)";
    let mut is_between = false;
    for steps in 0.. {
        let compared = node.compare(&Steps(steps.into()));
        let reader = node.copy().reader().unwrap();
        let all = reader.all(sql, &[], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        assert_eq!(
            reader.first(total, &[], |row| row.get(0)).unwrap(),
            Some(all.len() as i64),
            "{steps}: a scope is gone"
        );
        for (content, project) in &all {
            let (content, project): (&String, &String) = (content, project);
            assert!(content.starts_with(&format!("of {project} ")), "{steps}: {content:?} is in {project}");
        }
        let has_lost = all.iter().any(|(_, project)| project == "hermes");
        is_between |= has_lost && scopes(&node).contains(&(number(&after, "zephyr"), Some("zephyr".into())));
        match compared {
            Err(Error::Cancelled) => {}
            // Its connection is still to the server of before.
            Err(Error::Server { .. }) if steps == 0 => {}
            compared => {
                compared.unwrap();
                break;
            }
        }
    }
    assert!(is_between, "the scopes came over, and the memories not yet");
    node.follow().unwrap();
    assert_eq!(scopes(&node), after);
    assert_eq!(node.export(), other.export());
    node.assert_sound();
    assert_eq!(node.compare(&NoProgress).unwrap().differed, 0);
}
