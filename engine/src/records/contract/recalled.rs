//! Memories that automatic recall has injected into sessions.

use super::*;
use crate::records::rules::recalled::{MAX_RECALLED, forget, note};

const DAY: Millis = 24 * 60 * 60 * 1000;

fn a_session_has_a_record_once_with_the_newest_version(store: &impl Subject) {
    let id = store.add(&new("text"), NOW).id;
    let head = store.head();
    for (session, version) in [("a", 1), ("b", 1), ("a", 2)] {
        note(store.authority(), session, &[(id, version), (77.into(), 1)], NOW).unwrap();
    }
    assert_eq!(store.count("recalled"), 2, "one that is gone is passed over");
    assert_eq!(store.number("SELECT CAST(sum(version) AS BIGINT) FROM recalled"), 3);
    assert_eq!((store.count("access_log"), store.head()), (0, head));
    forget(store.authority(), "a").unwrap();
    assert_eq!(store.number("SELECT version FROM recalled"), 1, "that of the other session");
    store.delete(id);
    assert_eq!(store.count("recalled"), 0);
    store.assert_sound();
}

fn old_notes_go_and_the_oldest_of_too_many(store: &impl Subject) {
    let id = store.add(&new("text"), NOW).id;
    note(store.authority(), "old", &[(id, 1)], NOW).unwrap();
    note(store.authority(), "new", &[(id, 1)], NOW + 30 * DAY).unwrap();
    assert_eq!(store.count("recalled"), 2);
    note(store.authority(), "new", &[(id, 1)], NOW + 30 * DAY + 1).unwrap();
    assert_eq!(store.count("recalled"), 1);
    let sql = "INSERT INTO recalled VALUES (?1, ?2, 1, ?3)";
    store.write(|tx| {
        (1..=MAX_RECALLED).try_for_each(|number| {
            let session = text::embedding_hash(None, &number.to_string());
            tx.queue(sql, &[(&session).into(), id.into(), (NOW + 30 * DAY + number).into()])
        })
    });
    note(store.authority(), "newest", &[(id, 1)], NOW + 50 * DAY).unwrap();
    assert_eq!(store.count("recalled"), MAX_RECALLED);
    assert_eq!(store.number(&format!("SELECT count(*) FROM recalled WHERE recalled_at = {}", NOW + 50 * DAY)), 1);
}

on_every_database![
    ; of the owner:
    a_session_has_a_record_once_with_the_newest_version,
    old_notes_go_and_the_oldest_of_too_many,
];
