//! The last thing that was done to a memory can be undone.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use memorist_engine::config::Clock;
use memorist_engine::types::{Link, LinkKind, NewRecord, Query, RecordId, RecordUpdate, Viewer};
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
        engine.undo(id, owner)
    };
    let [id, other] = ["the ferry leaves at six", "the pier has two cranes"].map(|text| store.add(text));
    assert!(undo(id).unwrap_err().to_string().contains("was not changed or linked since it was saved"));

    later();
    engine.update(id, &content("the ferry leaves at seven"), owner).unwrap();
    later();
    let link = Link { from: other, to: id, kind: LinkKind::Contradicts };
    engine.link(link, owner).unwrap();
    assert_eq!(undo(id).unwrap(), Undone::Link(link), "the link is newer than the change");
    assert_eq!(engine.links(id, owner, 9).unwrap(), []);
    assert!(undo(id).unwrap_err().to_string().contains("undone already"));
    later();
    engine.update(id, &content("the ferry leaves at eight"), owner).unwrap();
    let Undone::Change(back) = undo(id).unwrap() else { panic!() };
    assert_eq!(back.record.content, "the ferry leaves at seven");
    let Undone::Change(again) = undo(id).unwrap() else { panic!() };
    assert_eq!(again.record.content, "the ferry leaves at eight", "an undone change can be made again");

    later();
    engine.delete(id, owner).unwrap();
    let Undone::Deletion(back) = undo(id).unwrap() else { panic!() };
    assert_eq!((back.record.content.as_str(), engine.get(id, owner).is_ok()), ("the ferry leaves at eight", true));
    assert_eq!(store.find(&Query { limit: 1, ..Query::new("ferry eight") }), [id]);
    assert!(undo(id).unwrap_err().to_string().contains("undone already"), "not the change before its deletion");

    let expires_at = Some(START + 3_600_000);
    let brief = engine.add(&NewRecord { expires_at, ..NewRecord::new("the gate is open") }).unwrap().id;
    (0..60).for_each(|_| later());
    assert!(matches!(engine.get(brief, owner), Err(Error::NotFound(_))));
    let Undone::Expiry(back) = undo(brief).unwrap() else { panic!() };
    assert_eq!((back.record.expires_at, engine.get(brief, owner).is_ok()), (None, true));
    assert!(matches!(undo(99.into()), Err(Error::NotFound(_))));
}

/// What saving a superseded text again did is undone as a whole: the other one is current.
#[test]
fn changing_back_is_undone() {
    let (store, later) = store_with_clock();
    let (engine, owner) = (&store.engine, &Viewer::OWNER);
    let [jenkins, actions] = ["deploys go through Jenkins", "deploys go through Actions"].map(|text| store.add(text));
    engine.link(Link { from: actions, to: jenkins, kind: LinkKind::Supersedes }, owner).unwrap();
    let current = || store.find(&Query::new("deploys go through"));
    assert_eq!(current(), [actions]);
    later();
    assert_eq!(engine.add(&NewRecord::new("deploys go through Jenkins")).unwrap().supersedes_again, [actions]);
    assert_eq!(current(), [jenkins]);
    later();
    assert!(matches!(engine.undo(jenkins, owner), Ok(Undone::Link(_))));
    assert_eq!(current(), [actions]);
    later();
    assert!(engine.undo(jenkins, owner).is_err(), "only once");
    assert_eq!(current(), [actions]);
}

/// What another project or agent does not see cannot be undone, or found among what is gone.
#[test]
fn undo_is_for_what_is_seen() {
    let (store, _) = store_with_clock();
    let engine = &store.engine;
    let mut ours = NewRecord::new("ours alone");
    ours.scope.project = Some("atlas".into());
    let id = engine.add(&ours).unwrap().id;
    engine.update(id, &content("ours, changed"), &Viewer::OWNER).unwrap();
    let theirs = Viewer::in_project("borealis");
    assert!(matches!(engine.undo(id, &theirs), Err(Error::NotFound(_))));
    engine.delete(id, &Viewer::OWNER).unwrap();
    assert!(matches!(engine.undo(id, &theirs), Err(Error::NotFound(_))));
    assert!(engine.gone(id, &theirs).unwrap().is_none());
    assert!(engine.undo(id, &Viewer::in_project("atlas")).is_ok());
}
