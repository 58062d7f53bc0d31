//! Sessions: the turn of a record, and when a record keeps it.

use super::*;
use crate::progress::NoProgress;
use crate::records::purge::patterns::PurgeText;
use crate::records::rules::import::{Aliases, import};
use crate::records::rules::purge::purge_text;
use crate::records::rules::update::roll_back;
use crate::types::{Imported, Kind, Portable};

fn said(session: &str, turn: impl Into<Option<i64>>, text: &str) -> NewRecord {
    NewRecord { session: Some(session.into()), turn: turn.into(), ..new(text) }
}

fn place(store: &impl Subject, id: RecordId) -> Option<(String, i64)> {
    let record = store.record(id, NOW).unwrap();
    assert_eq!(record.session.is_some(), record.turn.is_some());
    record.session.zip(record.turn)
}

fn a_turn_that_is_not_given_comes_after_the_last(store: &impl Subject) {
    let add = |new: NewRecord| place(store, store.add(&new, NOW).id).unwrap().1;
    assert_eq!(add(said("a", None, "1")), 1);
    assert_eq!(add(said("a", None, "2")), 2);
    assert_eq!(add(said("a", 70, "3")), 70);
    assert_eq!(add(said("a", 7, "4")), 7);
    assert_eq!(add(said("a", None, "5")), 71);
    assert_eq!(add(said("b", None, "6")), 1, "of another session");
    let elsewhere = NewRecord { scope: scope(None, Some("p")), ..said("a", None, "7") };
    assert_eq!(add(elsewhere), 1, "of another scope");
    assert_eq!(store.add(&new("8"), NOW).id, 8.into());
    assert_eq!(place(store, 8.into()), None, "the order of saving makes no thread");
    store.assert_sound();
}

fn a_turn_needs_a_session_and_bounds(store: &impl Subject) {
    let bad = [
        (NewRecord { turn: Some(1), ..new("x") }, "turn"),
        (said("s", -1, "x"), "turn"),
        (said("s", crate::types::MAX_TURN + 1, "x"), "turn"),
        (said(" ", 1, "x"), "session"),
        (said("a\0b", 1, "x"), "session"),
    ];
    for (record, named) in bad {
        let refused = add_one(store.authority(), &record, NOW);
        assert!(matches!(&refused, Err(Error::Invalid { field, .. }) if *field == named), "{record:?}: {refused:?}");
    }
    store.add(&said("s", crate::types::MAX_TURN, "last"), NOW);
    let after = add_one(store.authority(), &said("s", None, "after it"), NOW);
    assert!(matches!(&after, Err(Error::Invalid { field, .. }) if *field == "turn"), "{after:?}");
    assert_eq!(store.count("records"), 1);
}

/// A record keeps its session and turn when it is changed, or deleted and restored; one without them gets them when its
/// text is saved again.
fn a_record_keeps_its_place(store: &impl Subject) {
    let id = store.add(&new("text"), NOW).id;
    assert!(!store.add(&said("s", 5, "text"), NOW).created);
    assert_eq!(place(store, id), Some(("s".into(), 5)));
    store.add(&said("other", 1, "text"), NOW);
    store.add(&new("text"), NOW);
    store.update(id, &content("changed"), NOW).unwrap();
    assert!(store.delete(id));
    trash::restore(store.authority(), id, &Viewer::OWNER, NOW).unwrap();
    assert_eq!(place(store, id), Some(("s".into(), 5)));
    store.assert_sound();
}

/// A text said twice makes two turns; a turn saved twice makes one.
fn the_same_text_is_another_turn_of_another_place(store: &impl Subject) {
    let add = |new: NewRecord| store.add(&new, NOW);
    let first = add(said("a", 1, "Yes."));
    let others = [said("a", 3, "Yes."), said("b", 1, "Yes."), said("c", None, "Yes.")].map(add);
    assert!(first.created && others.iter().all(|other| other.created));
    for again in [said("a", 1, "Yes."), said("a", 3, "Yes."), said("b", None, "Yes."), new("Yes.")] {
        assert!(!add(again.clone()).created, "{again:?}");
    }
    assert_eq!(add(said("a", 3, "Yes.")).id, others[0].id);
    // A text of no session is one with each of them.
    let alone = add(new("No."));
    assert_eq!(add(said("a", 4, "No.")).id, alone.id);
    assert!(add(said("a", 5, "No.")).created);
    let taken = store.update(add(new("Perhaps.")).id, &content("No."), NOW);
    assert!(matches!(taken, Err(Error::Duplicate(_))), "{taken:?}");
    let turn = add(said("d", 1, "Perhaps not.")).id;
    assert!(store.update(turn, &content("No."), NOW).is_ok(), "as another turn");
    assert!(store.delete(others[0].id));
    let again = add(said("a", 3, "Yes."));
    assert!(again.created);
    let restored = trash::restore(store.authority(), others[0].id, &Viewer::OWNER, NOW);
    assert!(matches!(restored, Err(Error::Duplicate(twin)) if twin == again.id), "{restored:?}");
    assert!(store.delete(again.id));
    trash::restore(store.authority(), others[0].id, &Viewer::OWNER, NOW).unwrap();
    store.assert_sound();
}

/// Expired turns with a text make room for it, however many there are.
fn expired_turns_make_room_for_their_text(store: &impl Subject) {
    let expiring = |new: NewRecord, at: i64| NewRecord { expires_at: Some(NOW + at), ..new };
    store.add(&expiring(said("a", 1, "Yes."), 10), NOW);
    store.add(&expiring(said("b", 1, "Yes."), 10), NOW);
    assert!(store.add(&expiring(new("Yes."), 30), NOW + 20).created);
    assert_eq!(store.count("records"), 1);
    assert!(store.add(&said("a", 1, "Yes."), NOW + 40).created);
    assert_eq!(store.count("records"), 1);
    store.assert_sound();
}

fn a_conversation_moves_with_the_session_of_its_body(store: &impl Subject) {
    let body =
        |session: &str| serde_json::json!({ "session_id": session, "user_message": "Hi", "agent_response": "Yes" });
    let add = |session: &str| store.add(&NewRecord::of_body(Kind::Conversation, body(session)).unwrap(), NOW).id;
    let [moved, _, _] = ["wrong", "right", "right"].map(add);
    let update = RecordUpdate { body: Some(Some(body("right"))), ..RecordUpdate::default() };
    store.update(moved, &update, NOW).unwrap();
    assert_eq!(place(store, moved), Some(("right".into(), 3)));
    store.update(moved, &RecordUpdate { importance: Some(9), ..update }, NOW).unwrap();
    assert_eq!(place(store, moved), Some(("right".into(), 3)), "it stays");
    roll_back(store.authority(), moved, 1, None, None, &Viewer::OWNER, NOW).unwrap();
    assert_eq!(place(store, moved), Some(("wrong".into(), 1)));
    let placed = store
        .add(
            &NewRecord {
                turn: Some(8),
                session: Some("x".into()),
                ..NewRecord::of_body(Kind::Conversation, body("y")).unwrap()
            },
            NOW,
        )
        .id;
    let update = RecordUpdate { importance: Some(9), ..RecordUpdate::default() };
    store.update(placed, &update, NOW).unwrap();
    assert_eq!(place(store, placed), Some(("x".into(), 8)), "one that was given stays");
    store.assert_sound();
}

fn a_conversation_has_the_session_of_its_body(store: &impl Subject) {
    let body =
        |session: &str| serde_json::json!({ "session_id": session, "user_message": "Hi", "agent_response": "Yes" });
    let said = |session: &str| NewRecord::of_body(Kind::Conversation, body(session)).unwrap();
    let ids: Vec<RecordId> = ["a", "b", "a"].iter().map(|session| store.add(&said(session), NOW).id).collect();
    let places: Vec<_> = ids.iter().map(|id| place(store, *id).unwrap()).collect();
    assert_eq!(places, [("a".into(), 1), ("b".into(), 1), ("a".into(), 2)]);
    let given = NewRecord { session: Some("c".into()), turn: Some(9), ..said("a") };
    let given = store.add(&given, NOW).id;
    assert_eq!(place(store, given), Some(("c".into(), 9)));
}

fn an_import_brings_it_and_one_without_takes_none_away(store: &impl Subject) {
    const ULID: &str = "01HF7YAT00AAAAAAAAAAAAAAAA";
    let portable = |version: i64, text: NewRecord| Portable::new(ULID, version, text, NOW);
    let run = |portable: Portable| {
        let aliases = &mut Aliases::default();
        let outcome = import(store.authority(), &[portable], None, &Viewer::OWNER, false, aliases, NOW);
        outcome.unwrap().pop().unwrap().unwrap()
    };
    assert_eq!(run(portable(1, said("s", 3, "one"))), Imported::Created);
    assert_eq!(run(portable(2, new("two"))), Imported::Replaced);
    assert_eq!(place(store, 1.into()), Some(("s".into(), 3)));
    assert_eq!(run(portable(3, said("t", 9, "three"))), Imported::Replaced);
    assert_eq!(place(store, 1.into()), Some(("t".into(), 9)));
    store.add(&said("t", 40, "later"), NOW);
    assert_eq!(run(portable(4, said("t", None, "four"))), Imported::Replaced);
    assert_eq!(place(store, 1.into()), Some(("t".into(), 9)), "a turn that is not given is as it was");
    // What is here without a place gets that of the other store, whichever of the two it is here.
    let other = Portable { ulid: ULID.replace('A', "B"), ..portable(1, new("five")) };
    assert_eq!(run(other.clone()), Imported::Created);
    let placed = |ulid: &str, turn: i64| Portable { ulid: ulid.into(), text: said("t", turn, "five"), ..other.clone() };
    assert_eq!(run(placed(&other.ulid, 50)), Imported::Replaced);
    assert_eq!(place(store, 3.into()), Some(("t".into(), 50)));
    assert_eq!(run(placed(&other.ulid, 60)), Imported::Unchanged);
    let twin = store.add(&new("six"), NOW).id;
    let six = Portable { text: said("t", 70, "six"), ..placed(&ULID.replace('A', "C"), 70) };
    assert_eq!(run(six.clone()), Imported::Replaced);
    assert_eq!(place(store, twin), Some(("t".into(), 70)));
    // It is known by its text, or by its ULID where the store keeps tombstones.
    assert!(matches!(run(six), Imported::Duplicate | Imported::Unchanged));
    store.assert_sound();
}

fn a_purge_finds_a_text_in_the_name_of_a_session(store: &impl Subject) {
    let [has, deleted] = [said("with secret", 1, "one"), said("a secret", 1, "two")].map(|new| store.add(&new, NOW).id);
    store.update(has, &content("three"), NOW).unwrap();
    assert!(store.delete(deleted));
    let all = [has, deleted].map(RecordId::key).into_iter().collect();
    let removed = purge_text(store.authority(), &PurgeText::new("secret"), &all, &Viewer::OWNER, &NoProgress).unwrap();
    assert_eq!(removed.records, 2);
    assert!(store.contents().iter().all(|row| !row.contains("secret")));
}

on_every_database! {
    a_turn_that_is_not_given_comes_after_the_last,
    a_turn_needs_a_session_and_bounds,
    a_record_keeps_its_place,
    the_same_text_is_another_turn_of_another_place,
    expired_turns_make_room_for_their_text,
    a_conversation_moves_with_the_session_of_its_body,
    a_conversation_has_the_session_of_its_body,
    an_import_brings_it_and_one_without_takes_none_away,
    a_purge_finds_a_text_in_the_name_of_a_session,
}
