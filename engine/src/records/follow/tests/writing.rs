//! Rule 4: acknowledged writes are there, other writes are whole or absent, and none is there twice, whichever step of a
//! write fails.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use postgres_testing::{Action, Database as TeamDatabase, Options, Proxy, When};

use super::{Node, make, port_of, seconds, team};
use crate::address::ServerAddress;
use crate::progress::NoProgress;
use crate::records::rules::{save, update};
use crate::records::sqlite::testing::{NOW, model, new};
use crate::team::{Member, TeamServer};
use crate::text;
use crate::types::{EmbeddingState, LinkKind, NewRecord, RecordId, RecordUpdate, Save, Scope, Viewer};

/// More packets than a node sends for one write and the pull after it.
const MOST_PACKETS: usize = 60;
/// Delay of a distant server.
const DELAY: Duration = Duration::from_millis(20);
/// Text in the last packet of a write.
const COMMIT: &str = "; COMMIT";

/// Saves two texts, of which one has passages, and something happens meanwhile. Returns whether it did.
fn save(node: &Node, team: &TeamDatabase<'_>, proxy: &Proxy, name: &str) -> bool {
    let texts = [name.to_owned(), format!("{name}, long. {}.", "Many words are passages. ".repeat(80))];
    let news = texts.clone().map(|text| new(&text));
    let outcome = node.add_batch(&news, NOW);
    let has_happened = proxy.was_sprung();
    let saved = texts.each_ref().map(|text| {
        let sql = "SELECT id FROM memorist.records WHERE content = $1";
        team.client().query(sql, &[text]).unwrap().iter().map(|row| row.get(0)).collect::<Vec<i64>>()
    });
    match outcome {
        Ok(outcomes) => {
            let ids: Vec<_> = outcomes.iter().map(|outcome| vec![outcome.as_ref().unwrap().id.get()]).collect();
            assert_eq!(saved[..], ids, "{name}: it was acknowledged");
        }
        Err(error) => {
            assert!(has_happened, "{name}: {error}");
            assert!(saved.iter().all(Vec::is_empty), "{name}: {saved:?}, but {error}");
            // The next write succeeds all the same.
            let again = node.add_batch(&news, NOW).unwrap();
            assert!(again.iter().all(|outcome| outcome.as_ref().unwrap().created), "{name}");
        }
    }
    has_happened
}

/// Runs an event at each packet that a node sends for a write, or at some of them; at all of them in a long run.
fn at_each_step(
    node: &Node,
    team: &TeamDatabase<'_>,
    proxy: &Proxy,
    (name, every): (&str, usize),
    set: impl Fn(usize),
) {
    let every = if seconds(0) > 0 { 1 } else { every };
    let steps = (0..MOST_PACKETS).step_by(every).take_while(|step| {
        set(*step);
        save(node, team, proxy, &format!("{name} {step}"))
    });
    let steps = steps.count() * every;
    assert!((5..MOST_PACKETS).contains(&steps), "{steps} packets for a write");
    node.follow().unwrap();
    assert_eq!(node.compare(&NoProgress).unwrap().differed, 0);
    node.assert_sound();
}

fn nothing() -> Action {
    Box::new(|| ())
}

#[test]
fn a_connection_that_is_cut_at_any_step_of_a_write() {
    let Some(team) = team("a_connection_that_is_cut") else { return };
    let proxy = Proxy::before(port_of(&team.address()));
    let node = Node::of(&proxy.of(&team.address()));
    node.follow().unwrap();
    for when in [When::Before, When::After] {
        at_each_step(&node, &team, &proxy, (&format!("{when:?}"), 1), |step| proxy.at(step, when, true, nothing()));
    }
}

/// The server ends the sessions of a node, as an administrator does, with a pooler between and without.
#[test]
fn a_session_that_is_ended_at_any_step_of_a_write() {
    const TEST: &str = "a_session_that_is_ended_at_any_step_of_a_write";
    let Some(team) = team(TEST) else { return };
    let cluster = postgres_testing::shared(TEST).unwrap();
    let Some(pooler) = cluster.pgbouncer(TEST, team.name()) else { return };
    for (way, address) in [("directly", team.address()), ("by a pooler", pooler.address())] {
        let proxy = Proxy::before(port_of(&address));
        let node = Node::of(&proxy.of(&address));
        node.follow().unwrap();
        for when in [When::Before, When::After] {
            at_each_step(&node, &team, &proxy, (&format!("{way}, {when:?}"), 4), |step| {
                let of = format!("datname = '{}' AND usename = 'memorist'", team.name());
                let end = format!("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE {of}");
                proxy.at(step, when, false, Box::new(move || cluster.execute(&end)));
            });
        }
    }
}

#[test]
fn a_server_that_is_killed_or_stops_in_a_commit() {
    let Some(cluster) = postgres_testing::start("a_server_that_is_killed", Options::default()) else { return };
    let cluster = Arc::new(cluster);
    let team = cluster.database_from("team", make);
    let proxy = Proxy::before(cluster.port());
    let node = Node::of(&proxy.of(&team.address()));
    node.follow().unwrap();
    let kill = || -> Action {
        let cluster = cluster.clone();
        Box::new(move || {
            cluster.kill();
            cluster.start_again();
        })
    };
    let pause = || -> Action {
        let cluster = cluster.clone();
        Box::new(move || {
            cluster.pause();
            thread::sleep(Duration::from_millis(500));
            cluster.resume();
        })
    };
    for when in [When::Before, When::After] {
        proxy.at_words(COMMIT, when, false, kill());
        assert!(save(&node, &team, &proxy, &format!("killed {when:?}")));
        proxy.at_words(COMMIT, when, false, pause());
        assert!(save(&node, &team, &proxy, &format!("paused {when:?}")));
        if seconds(0) > 0 {
            at_each_step(&node, &team, &proxy, (&format!("{when:?}"), 1), |step| proxy.at(step, when, false, kill()));
        }
    }
    node.follow().unwrap();
    assert_eq!(node.compare(&NoProgress).unwrap().differed, 0);
}

/// The answer to the question whether a COMMIT succeeded is lost, too: asked again, the server knows which came first.
#[test]
fn a_lost_answer_about_a_lost_answer() {
    let Some(team) = team("a_lost_answer_about_a_lost_answer") else { return };
    let inner = Proxy::before(port_of(&team.address()));
    let proxy = Proxy::before(port_of(&inner.of(&team.address())));
    let node = Node::of(&proxy.of(&team.address()));
    node.follow().unwrap();
    for (when, cut) in [(When::Before, When::After), (When::After, When::After), (When::After, When::Before)] {
        // The COMMIT is cut, and then the question.
        inner.at_words("was_given_up", cut, true, nothing());
        proxy.at_words(COMMIT, when, true, nothing());
        assert!(save(&node, &team, &proxy, &format!("{when:?} {cut:?}")));
        assert!(inner.was_sprung());
    }
}

/// 40.5: what a far server costs.
#[test]
fn a_save_takes_three_round_trips() {
    let Some(team) = team("a_save_takes_three_round_trips") else { return };
    let proxy = Proxy::delaying(port_of(&team.address()), DELAY);
    let node = Node::of(&proxy.of(&team.address()));
    let scope = Scope { agent: Some("ana".into()), project: Some("atlas".into()) };
    let in_scope = |text: &str| NewRecord { scope: scope.clone(), ..new(text) };
    let long = "Many words are passages. ".repeat(120);
    let first = node.add(&in_scope("a first one"), NOW).unwrap().id;
    let model = node.model(&model(2)).unwrap();
    let save = |text: &str, links: &[RecordId]| {
        let links = links.iter().map(|to| (LinkKind::Related, *to)).collect();
        let save = Save { record: in_scope(text), links, given: None, viewer: Viewer::of(&scope) };
        let vectors = HashMap::from([(text::embedding_hash(None, text), vec![0.6_f32, 0.8])]);
        save::save(&*node, &[save], Some(&(model, vectors)), NOW).unwrap().remove(0).unwrap().added.embedding
    };
    let trips = |what: &str, most: usize, work: &dyn Fn()| {
        let (before, since) = (proxy.round_trips(), Instant::now());
        work();
        let (trips, took) = (proxy.round_trips() - before, since.elapsed());
        eprintln!("{what}: {trips} round trips, {} ms", took.as_millis());
        assert!(trips <= most, "{what}: {trips} round trips");
        assert!(took >= DELAY * u32::try_from(trips).unwrap(), "{what}: they were not counted");
    };
    trips("a save", 3, &|| assert_eq!(save("with a vector", &[]), EmbeddingState::Ready));
    trips("a long text", 3, &|| assert_eq!(save(&long, &[]), EmbeddingState::Pending));
    trips("a text that is there", 3, &|| assert_eq!(save("with a vector", &[]), EmbeddingState::Ready));
    trips("a save without a vector", 3, &|| drop(node.add(&in_scope("without"), NOW).unwrap()));
    trips("a save with a link", 7, &|| assert_eq!(save("with a link", &[first]), EmbeddingState::Ready));
    let change = RecordUpdate { importance: Some(9), ..RecordUpdate::default() };
    trips("an update", 4, &|| drop(node.update(first, &change, &Viewer::OWNER, NOW + 1).unwrap()));
    trips("an update with a new text", 6, &|| {
        let vectors = HashMap::from([(text::embedding_hash(None, "changed"), vec![0.8_f32, 0.6])]);
        let change = RecordUpdate { content: Some("changed".into()), ..RecordUpdate::default() };
        let change = [(first, Cow::Owned(change))];
        update::update(&*node, &change, Some(&(model, vectors)), &Viewer::OWNER, NOW + 2).unwrap();
        assert_eq!(node.embedding_state(first).unwrap(), EmbeddingState::Ready);
    });
    node.compare(&NoProgress).unwrap();
    let found = node.export();
    assert!(found.iter().any(|line| line.contains("with a vector") && line.contains("embedding: Some")), "{found:?}");
    node.assert_sound();
}

/// 40.4.
#[test]
fn a_node_that_is_too_old_for_the_tables_does_not_write_either() {
    let Some(team) = team("a_node_that_is_too_old") else { return };
    let node = Node::of(&team.address());
    let id = node.add(&new("before"), NOW).unwrap().id;
    node.keep_up().unwrap();
    node.count_accesses(&[id], NOW).unwrap();
    let state =
        "SELECT (SELECT count(*) FROM memorist.changes)::text || (SELECT max(seen_at)::text FROM memorist.nodes)";
    let state = || team.client().query_one(state, &[]).unwrap().get::<_, String>(0);
    let before = state();
    team.execute("UPDATE memorist.server SET value = '99' WHERE key = 'min_reader'");
    let says_so = |said: String| assert!(said.contains("update memorist on this node"), "{said}");
    says_so(node.add(&new("after"), NOW).unwrap_err().to_string());
    says_so(node.follow().unwrap_err().to_string());
    says_so(node.keep_up().unwrap_err().to_string());
    // Also where there is nothing to count.
    says_so(node.keep_up().unwrap_err().to_string());
    says_so(node.claims("embedding").unwrap_err().to_string());
    let server = TeamServer::new(ServerAddress::parse(&team.address()).unwrap());
    says_so(server.admit(&Member { role: "nobody".into(), projects: vec!["*".into()] }).unwrap_err().to_string());
    says_so(server.revoke_token(1).unwrap_err().to_string());
    assert_eq!(state(), before);
    assert_eq!(node.get(id, &Viewer::OWNER, NOW).unwrap().unwrap().content, "before", "it can be searched");
    team.execute("UPDATE memorist.server SET value = '1' WHERE key = 'min_reader'");
    node.add(&new("after"), NOW).unwrap();
}

/// 40.4: a write that begins while the tables are migrated sees what the migration has made.
#[test]
fn a_write_waits_for_a_migration_and_fails_on_an_outdated_node() {
    let Some(team) = team("a_write_waits_for_a_migration") else { return };
    let node = Node::of(&team.address());
    node.add(&new("before"), NOW).unwrap();
    let mut client = team.client();
    let mut migration = client.transaction().unwrap();
    migration.batch_execute("LOCK TABLE memorist.server IN ACCESS EXCLUSIVE MODE").unwrap();
    thread::scope(|scope| {
        let written = scope.spawn(|| node.add(&new("meanwhile"), NOW));
        thread::sleep(Duration::from_millis(500));
        migration.batch_execute("UPDATE memorist.server SET value = '99' WHERE key = 'min_reader'").unwrap();
        migration.commit().unwrap();
        let said = written.join().unwrap().unwrap_err().to_string();
        assert!(said.contains("update memorist on this node"), "{said}");
    });
}
