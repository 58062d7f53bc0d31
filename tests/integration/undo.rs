//! The last thing that was done to a memory can be undone.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use memorist_engine::config::Clock;
use memorist_engine::types::{Link, LinkKind, NewRecord, Query, Reach, RecordId, RecordUpdate, Viewer};
use memorist_engine::{Error, Undone};

use crate::support::{Store, hashed_with};

const START: i64 = 1_767_225_600_000;

/// A store whose clock is a minute later after each call of the function.
fn store_with_clock() -> (Store, impl Fn()) {
    let time = Arc::new(AtomicI64::new(START));
    let clock = time.clone();
    let store = Store::new(hashed_with(|config| config.clock = Clock::new(move || clock.load(Ordering::Relaxed))));
    (store, move || _ = time.fetch_add(60_000, Ordering::Relaxed))
}

fn content(text: &str) -> RecordUpdate {
    RecordUpdate { content: Some(text.into()), ..RecordUpdate::default() }
}

#[test]
fn the_last_change_link_expiry_or_deletion_is_undone() {
    let (store, later) = store_with_clock();
    let engine = &store.engine;
    let owner = &Viewer::OWNER;
    let undo = |id: RecordId| {
        later();
        engine.viewed_by(owner).undo(id)
    };
    let [id, other] = ["the ferry leaves at six", "the pier has two cranes"].map(|text| store.add(text));
    assert!(undo(id).unwrap_err().to_string().contains("has no changes or links since it was saved"));

    later();
    engine.viewed_by(owner).update(id, &content("the ferry leaves at seven")).unwrap();
    later();
    let link = Link { from: other, to: id, kind: LinkKind::Contradicts };
    engine.viewed_by(owner).link(link).unwrap();
    assert_eq!(undo(id).unwrap(), Undone::Link(link), "the link is newer than the change");
    assert_eq!(engine.viewed_by(owner).links(id, 9).unwrap(), []);
    assert!(undo(id).unwrap_err().to_string().contains("undone already"));
    later();
    engine.viewed_by(owner).update(id, &content("the ferry leaves at eight")).unwrap();
    let Undone::Change(back) = undo(id).unwrap() else { panic!() };
    assert_eq!(back.record.content, "the ferry leaves at seven");
    assert!(undo(id).unwrap_err().to_string().contains("undone already"), "an undo is not undone");
    let again = engine.viewed_by(owner).roll_back(id, 4, None, None).unwrap();
    assert_eq!(again.record.content, "the ferry leaves at eight", "but any version comes back");

    later();
    engine.viewed_by(owner).delete(id).unwrap();
    let Undone::Deletion(back) = undo(id).unwrap() else { panic!() };
    assert_eq!(
        (back.record.content.as_str(), engine.viewed_by(owner).access(id).is_ok()),
        ("the ferry leaves at eight", true)
    );
    assert_eq!(store.find(&Query { limit: 1, ..Query::new("ferry eight") }), [id]);
    assert!(undo(id).unwrap_err().to_string().contains("undone already"), "not the change before its deletion");

    let expires_at = Some(START + 3_600_000);
    let brief = engine.add(&NewRecord { expires_at, ..NewRecord::new("the gate is open") }).unwrap().id;
    (0..60).for_each(|_| later());
    assert!(matches!(engine.viewed_by(owner).access(brief), Err(Error::NotFound(_))));
    let Undone::Expiry(back) = undo(brief).unwrap() else { panic!() };
    assert_eq!((back.record.expires_at, engine.viewed_by(owner).access(brief).is_ok()), (None, true));
    assert!(matches!(undo(99.into()), Err(Error::NotFound(_))));
}

/// Saving a superseded text again is undone as a whole: the other one is current.
#[test]
fn changing_back_is_undone() {
    let (store, later) = store_with_clock();
    let (engine, owner) = (&store.engine, &Viewer::OWNER);
    let [jenkins, actions] = ["deploys go through Jenkins", "deploys go through Actions"].map(|text| store.add(text));
    engine.viewed_by(owner).link(Link { from: actions, to: jenkins, kind: LinkKind::Supersedes }).unwrap();
    let current = || store.find(&Query::new("deploys go through"));
    assert_eq!(current(), [actions]);
    later();
    assert_eq!(engine.add(&NewRecord::new("deploys go through Jenkins")).unwrap().supersedes_again, [actions]);
    assert_eq!(current(), [jenkins]);
    later();
    assert_eq!(engine.viewed_by(owner).undo(jenkins).unwrap(), Undone::CurrentAgain(vec![actions]));
    assert_eq!(current(), [actions]);
    later();
    assert!(engine.viewed_by(owner).undo(jenkins).is_err(), "only once");
    assert_eq!(current(), [actions]);
}

/// Two that superseded it, one of which has expired; undone, both links are back that can be.
#[test]
fn changing_back_turns_every_link_and_so_does_its_undo() {
    let (store, later) = store_with_clock();
    let (engine, owner) = (&store.engine, &Viewer::OWNER);
    let [a, x, y] = ["tea at four", "tea at five", "tea at six"].map(|text| store.add(text));
    let brief = NewRecord { expires_at: Some(START + 90_000), ..NewRecord::new("tea at seven, today") };
    let brief = engine.add(&brief).unwrap().id;
    let supersedes = |from, to| Link { from, to, kind: LinkKind::Supersedes };
    for from in [x, y, brief] {
        engine.viewed_by(owner).link(supersedes(from, a)).unwrap();
    }
    engine.viewed_by(owner).link(supersedes(y, x)).unwrap();
    (0..3).for_each(|_| later());
    let again = engine.add(&NewRecord::new("tea at four")).unwrap();
    assert_eq!((again.id, again.supersedes_again), (a, vec![y]), "the newest that is live");
    assert_eq!(store.find(&Query::new("tea at")), [a]);
    later();
    assert_eq!(engine.viewed_by(owner).undo(a).unwrap(), Undone::CurrentAgain(vec![x, y]));
    assert_eq!(store.find(&Query::new("tea at")), [y]);
    let mut links: Vec<_> = engine.viewed_by(owner).links(a, 9).unwrap();
    links.sort_by_key(|link| link.from);
    assert_eq!(links, [supersedes(x, a), supersedes(y, a)]);
}

/// A text whose superseder has expired, alone, was hidden by it until that was removed: saved again, it is found.
#[test]
fn a_text_saved_again_is_found_after_its_superseder_expired() {
    let (store, later) = store_with_clock();
    let a = store.add("the west gate opens at six");
    let brief = NewRecord { expires_at: Some(START + 60_000), ..NewRecord::new("the west gate opens at nine today") };
    let brief = store.engine.add(&brief).unwrap().id;
    store.engine.viewed_by(&Viewer::OWNER).link(Link { from: brief, to: a, kind: LinkKind::Supersedes }).unwrap();
    later();
    assert_eq!(store.find(&Query::new("west gate")), []);
    assert_eq!(store.add("the west gate opens at six"), a);
    assert_eq!(store.find(&Query::new("west gate")), [a]);
}

/// N supersedes A, over D too, which A's project does not see: A is current, and no circle comes of it.
#[test]
fn saving_a_text_again_turns_no_link_into_a_cycle() {
    let (store, _) = store_with_clock();
    let engine = &store.engine;
    let scoped = |text: &str, project: Option<&str>| {
        let mut new = NewRecord::new(text);
        new.scope.project = project.map(Into::into);
        engine.add(&new).unwrap().id
    };
    let (a, n) = (scoped("A", None), scoped("N", None));
    let d = scoped("D", Some("atlas"));
    for (from, to) in [(n, a), (n, d), (d, a)] {
        engine.viewed_by(&Viewer::OWNER).link(Link { from, to, kind: LinkKind::Supersedes }).unwrap();
    }
    let again = &engine.add_batch(&[NewRecord::new("A"), NewRecord::new("B")]).unwrap()[0];
    let again = again.as_ref().unwrap();
    assert_eq!((again.id, again.supersedes_again.as_slice()), (a, &[][..]));
}

/// A user's reason is a reason: it makes no change an undo.
#[test]
fn a_reason_does_not_stop_an_undo() {
    let (store, later) = store_with_clock();
    let id = store.add("one");
    for reason in ["restored", "undo", "current again", "undo of a link"] {
        later();
        let update = RecordUpdate { reason: Some(reason.into()), ..content(reason) };
        store.engine.viewed_by(&Viewer::OWNER).update(id, &update).unwrap();
        let Undone::Change(back) = store.engine.viewed_by(&Viewer::OWNER).undo(id).unwrap() else { panic!("{reason}") };
        assert_eq!(back.record.content, "one");
    }
}

/// Behind a wall, a link between one's own memory and another's is removed, and the other's history is not written.
#[test]
fn undo_of_a_link_writes_no_history_of_another_s_memory() {
    let (store, later) = store_with_clock();
    let engine = &store.engine;
    let shared = store.add("shared by all");
    let mut own = NewRecord::new("our own");
    own.scope.project = Some("atlas".into());
    let own = engine.add(&own).unwrap().id;
    let wall = Viewer { agent: Reach::Every, project: Reach::Only("atlas".into()) };
    later();
    engine.viewed_by(&wall).link(Link { from: own, to: shared, kind: LinkKind::Related }).unwrap();
    assert!(matches!(engine.viewed_by(&wall).undo(shared), Ok(Undone::Link(_))));
    assert_eq!(engine.viewed_by(&Viewer::OWNER).get(shared).unwrap().unwrap().version, 1);
    assert!(engine.viewed_by(&wall).undo(shared).is_err());
    engine.viewed_by(&Viewer::OWNER).update(shared, &content("shared, changed")).unwrap();
    assert!(engine.viewed_by(&wall).undo(shared).unwrap_err().to_string().contains("belongs to no project"));
}

/// Memories that a viewer does not see cannot be undone by that viewer, or found among the deleted ones.
#[test]
fn undo_is_for_what_is_seen() {
    let (store, _) = store_with_clock();
    let engine = &store.engine;
    let mut ours = NewRecord::new("ours alone");
    ours.scope.project = Some("atlas".into());
    let id = engine.add(&ours).unwrap().id;
    engine.viewed_by(&Viewer::OWNER).update(id, &content("ours, changed")).unwrap();
    let theirs = Viewer::in_project("borealis");
    assert!(matches!(engine.viewed_by(&theirs).undo(id), Err(Error::NotFound(_))));
    engine.viewed_by(&Viewer::OWNER).delete(id).unwrap();
    assert!(matches!(engine.viewed_by(&theirs).undo(id), Err(Error::NotFound(_))));
    assert!(engine.viewed_by(&theirs).get_gone(id).unwrap().is_none());
    assert!(engine.viewed_by(&Viewer::in_project("atlas")).undo(id).is_ok());
}
