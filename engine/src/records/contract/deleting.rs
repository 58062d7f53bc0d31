//! Permanent deletion: expired records, and the records that a purge names.

use super::*;
use crate::progress::NoProgress;
use crate::records::purge::mark::PurgeMark;
use crate::records::purge::patterns::PurgeText;
use crate::records::rules::access::{Access, record_access};
use crate::records::rules::expiry::remove_expired;
use crate::records::rules::purge::{purge_ids, purge_queries, purge_text};
use crate::types::{AccessKind, LinkKind};

/// R26.
fn what_has_expired_goes_with_all_that_belongs_to_it_and_nothing_else_does(store: &impl Subject) {
    let model = store.adopt(1);
    let add = |text: &str, expires_at| store.add(&NewRecord { expires_at, ..new(text) }, NOW).id;
    let (kept, later) = (add("kept", None), add("later", Some(NOW + 11)));
    let gone: Vec<_> = [10, 9, 8].into_iter().map(|after| add(&format!("brief {after}"), Some(NOW + after))).collect();
    store.embed(model, 1);
    let tags = RecordUpdate { tags: Some(vec!["t".into()]), ..RecordUpdate::default() };
    store.update(gone[0], &tags, NOW).unwrap();
    let head = store.head();
    let remove = |by, limit| remove_expired(store.authority(), by, limit).unwrap();
    assert_eq!(remove(NOW + 7, 2), 0);
    assert_eq!(remove(NOW + 10, 2), 2);
    let last = format!("SELECT count(*) FROM records WHERE id = {}", gone[0]);
    assert_eq!(store.number(&last), 1, "the last to expire");
    assert_eq!(remove(NOW + 10, 2), 1);
    assert_eq!(store.log(head).iter().map(|(id, _)| *id).collect::<Vec<_>>(), [gone[2], gone[1], gone[0]]);
    assert!([kept, later].iter().all(|id| store.record(*id, NOW).is_some()));
    for (table, left) in [("records", 2), ("versions", 0), ("embeddings", 2)] {
        assert_eq!(store.count(table), left, "{table}");
    }
    store.assert_sound();
}

fn records_are_purged_by_id_where_they_are_seen(store: &impl Subject) {
    let add = |project: Option<&str>| store.add(&NewRecord { scope: scope(None, project), ..new("text") }, NOW).id;
    let [ours, theirs] = [Some("ours"), Some("theirs")].map(add);
    let ids = [ours, theirs, 99.into(), ours];
    let removed = purge_ids(store.authority(), &ids, &Viewer::in_project("ours"), &NoProgress).unwrap();
    assert_eq!(removed.records, 1);
    assert!(removed.patterns.is_in(&b"a text!"[..]).unwrap() && !removed.patterns.is_in(&b"other"[..]).unwrap());
    assert_eq!(store.write(|tx| PurgeMark::read(tx)), Some(removed.mark), "its traces are not removed yet");
    assert_eq!((store.record(ours, NOW), store.record(theirs, NOW).is_some()), (None, true));
    store.assert_sound();
}

fn a_text_is_purged_from_records_versions_and_queries(store: &impl Subject) {
    let model = store.adopt(1);
    let [has, had, other] = ["the secret", "a secret", "other"].map(|text| store.add(&new(text), NOW).id);
    store.embed(model, 1);
    store.update(had, &content("clean"), NOW).unwrap();
    store.update(had, &content("cleaner"), NOW).unwrap();
    let query = |query| Access { id: other, kind: AccessKind::Search, score: None, query: Some(query), counts: false };
    record_access(store.authority(), &[query("secret"), query("other")], NOW).unwrap();
    let (text, all) = (PurgeText::new("secret"), [has, had, other].map(RecordId::key).into_iter().collect());
    let mut removed = purge_text(store.authority(), &text, &all, &Viewer::OWNER, &NoProgress).unwrap();
    assert_eq!((removed.records, removed.versions), (1, 1));
    let entries = [store.number("SELECT id FROM access_log WHERE query_text = 'secret'") as u64].into_iter().collect();
    purge_queries(store.authority(), &entries, &mut removed, &NoProgress).unwrap();
    assert_eq!((removed.queries, store.count("access_log")), (1, 1));
    assert!(store.contents().iter().all(|row| !row.contains("secret")));
    assert_eq!(store.record(had, NOW).unwrap().content, "cleaner");
    assert_eq!((store.count("versions"), store.count("embeddings")), (1, 1), "what has the text goes, no more");
    let lost = format!("SELECT count(*) FROM meta WHERE key = 'versions_lost' AND value = '[{had}]'");
    assert_eq!(store.number(&lost), 1);
    store.assert_sound();
}

/// Two purges at once, or one that was killed: the process that ends a mark has cleaned everything removed up to it.
fn a_purge_takes_over_what_another_has_left(store: &impl Subject) {
    let [one, two, three] = ["one", "two", "three"].map(|text| store.add(&new(text), NOW).id);
    let purge = |id| purge_ids(store.authority(), &[id], &Viewer::OWNER, &NoProgress).unwrap();
    let is_unknown = |patterns: &crate::records::PurgePatterns| patterns.is_in(&b""[..]).unwrap();
    let first = purge(one);
    let second = purge(two);
    assert_eq!((is_unknown(&first.patterns), is_unknown(&second.patterns)), (false, true));
    store.write(|tx| first.mark.end(tx));
    assert_eq!(store.write(|tx| PurgeMark::read(tx)).as_ref(), Some(&second.mark), "it ends no other's");
    store.write(|tx| second.mark.end(tx));
    assert_eq!(store.write(|tx| PurgeMark::read(tx)), None);
    assert!(!is_unknown(&purge(three).patterns));
}

/// A record with rows in each table, with links to one that stays, and to one that is deleted, too.
fn what_was_deleted_comes_back_whole(store: &impl Subject) {
    let model = store.adopt(1);
    let [first, second, kept] = ["first", "second", "kept"].map(|text| store.add(&new(text), NOW).id);
    let changed = RecordUpdate { tags: Some(vec!["T".into()]), ..content("changed") };
    store.update(first, &changed, NOW).unwrap();
    store.embed(model, 1);
    let links = [(first, kept), (kept, first), (first, second)];
    for (from, to) in links {
        store.link(Link { from, to, kind: LinkKind::Caused }, &Viewer::OWNER, NOW + 2).unwrap();
    }
    let linked = || {
        let sql = "SELECT from_id, kind, to_id FROM links ORDER BY from_id, to_id";
        store.write(|tx| tx.all(sql, &[], rows::to_link)).into_iter().map(|l| (l.from, l.to)).collect::<Vec<_>>()
    };
    let (before, all) = (store.record(first, NOW).unwrap(), linked());
    let restore = |id, viewer: &Viewer| trash::restore(store.authority(), id, viewer, NOW + 3);
    assert!(store.delete(first) && store.delete(second));
    assert!(linked().is_empty() && store.record(first, NOW).is_none());
    assert_eq!(store.count("embeddings"), 1, "a text in the trash needs none");
    assert!(matches!(restore(kept, &Viewer::OWNER), Err(Error::NotFound(_))), "it is there");
    let head = store.head();
    let back = restore(first, &Viewer::OWNER).unwrap();
    let (version, updated_at) = (before.version + 1, NOW + 3);
    assert_eq!(back, Record { version, updated_at, ..before }, "its history says that it was restored");
    let put = |version, new_text| (first, Change::Put { version, new_text });
    assert_eq!(store.log(head), [put(2, true), put(3, false)]);
    assert_eq!(linked(), all.iter().copied().filter(|(_, to)| *to != second).collect::<Vec<_>>());
    assert_eq!(restore(second, &Viewer::OWNER).unwrap().content, "second");
    assert_eq!(linked(), all);
    assert_eq!(store.number("SELECT count(*) FROM versions WHERE content = 'first'"), 1);
    for table in ["trash", "trash_versions", "trash_links"] {
        assert_eq!(store.count(table), 0, "{table}");
    }
    assert!(matches!(restore(first, &Viewer::OWNER), Err(Error::NotFound(_))), "only once");
    store.assert_sound();
}

fn what_was_deleted_comes_back_only_where_there_is_room_and_to_whom_it_belongs(store: &impl Subject) {
    let ours = NewRecord { scope: scope(None, Some("ours")), ..new("text") };
    let id = store.add(&ours, NOW).id;
    store.delete(id);
    let restore = |viewer: &Viewer| trash::restore(store.authority(), id, viewer, NOW);
    assert!(matches!(restore(&Viewer::in_project("theirs")), Err(Error::NotFound(_))));
    let twin = store.add(&ours, NOW).id;
    assert!(matches!(restore(&Viewer::OWNER), Err(Error::Duplicate(other)) if other == twin));
    store.delete(twin);
    let brief = store.add(&NewRecord { expires_at: Some(NOW + 1), ..new("brief") }, NOW).id;
    store.delete(brief);
    assert_eq!(restore(&Viewer::in_project("ours")).unwrap().id, id);
    let back = trash::restore(store.authority(), brief, &Viewer::OWNER, NOW + 2).unwrap();
    assert_eq!(back.expires_at, None, "it would be gone again");
    store.assert_sound();
}

/// The ULID of a deleted record that an import has given to a record of another project since.
fn what_was_deleted_comes_back_without_a_ulid_that_others_have(store: &impl Subject) {
    let ours = NewRecord { scope: scope(None, Some("ours")), ..new("ours") };
    let id = store.add(&ours, NOW).id;
    let ulid = store.record(id, NOW).unwrap().ulid;
    store.delete(id);
    let theirs = store.add(&NewRecord { scope: scope(None, Some("theirs")), ..new("theirs") }, NOW).id;
    let sql = "UPDATE records SET ulid = (SELECT ulid FROM trash) WHERE id = ?1";
    store.write(|tx| tx.execute(sql, &[theirs.into()]));
    let restore = |viewer: &Viewer| trash::restore(store.authority(), id, viewer, NOW);
    assert!(matches!(restore(&Viewer::OWNER), Err(Error::Duplicate(other)) if other == theirs));
    let back = restore(&Viewer::in_project("ours")).unwrap();
    assert_eq!((back.content.as_str(), back.ulid != ulid), ("ours", true));
    store.assert_sound();
}

fn the_trash_is_emptied_by_time_and_by_a_purge(store: &impl Subject) {
    let ids = ["one", "the secret", "three", "four"].map(|text| store.add(&new(text), NOW).id);
    store.update(ids[3], &content("a clean one"), NOW).unwrap();
    store.update(ids[2], &RecordUpdate { reason: Some("the secret is out".into()), ..content("3") }, NOW).unwrap();
    for (id, at) in ids.into_iter().zip(NOW..) {
        trash::delete(store.authority(), id, None, &Viewer::OWNER, at).unwrap();
    }
    let text = PurgeText::new("secret");
    let all = ids.map(RecordId::key).into_iter().collect();
    let removed = purge_text(store.authority(), &text, &all, &Viewer::OWNER, &NoProgress).unwrap();
    assert_eq!((removed.records, store.count("trash")), (2, 2), "also where only a reason has the text");
    assert!(store.contents().iter().all(|row| !row.contains("secret")));
    let nobody = Viewer::in_project("none");
    let global = Viewer { project: crate::types::Reach::Only("none".into()), ..nobody };
    assert!(purge_ids(store.authority(), &ids[..1], &global, &NoProgress).is_err(), "it may see it and not change it");
    let removed = purge_ids(store.authority(), &ids[..1], &Viewer::OWNER, &NoProgress).unwrap();
    assert!(removed.records == 1 && removed.patterns.is_in(&b"x one y"[..]).unwrap());
    assert_eq!(trash::empty(store.authority(), NOW + 2, 9).unwrap(), 0);
    assert_eq!(trash::empty(store.authority(), NOW + 3, 9).unwrap(), 1);
    assert_eq!((store.count("trash"), store.count("trash_versions")), (0, 0));
    store.assert_sound();
}

on_every_database![
    what_was_deleted_comes_back_whole,
    what_was_deleted_comes_back_only_where_there_is_room_and_to_whom_it_belongs,
    the_trash_is_emptied_by_time_and_by_a_purge,
    what_has_expired_goes_with_all_that_belongs_to_it_and_nothing_else_does,
    records_are_purged_by_id_where_they_are_seen,
    a_text_is_purged_from_records_versions_and_queries,
    a_purge_takes_over_what_another_has_left,
    ; of the owner:
    what_was_deleted_comes_back_without_a_ulid_that_others_have,
];
