//! A purge as a whole: the rows that it finds, and removes from the tables.

use super::columns::{Care, cared_for};
use super::mark::PurgeMark;
use crate::progress::{NoProgress, Progress};
use crate::records::rules::purge::STEP;
use crate::records::rules::{next_model, searches::record_searches};
use crate::records::sqlite::testing::{NOW, TestStore, model, new};
use crate::records::{Access, AccessKind, Removed};
use crate::types::{Kind, NewRecord, NewSource, Purge, RecordId, RecordUpdate, Scope, SearchTrace, SourceKind, Viewer};
use parking_lot::Mutex;

const SECRET: &str = "kestrel \"vault\"";

/// Purges, and returns the removed records, versions and queries.
fn purge(store: &TestStore, purge: Purge) -> (u64, u64, u64) {
    let removed = purge_as(store, &purge, &Viewer::OWNER);
    (removed.records, removed.versions, removed.queries)
}

fn purge_as(store: &TestStore, purge: &Purge, viewer: &Viewer) -> Removed {
    let mut removed = store.purge(purge, viewer, &NoProgress).unwrap();
    store.purge_queries(purge, viewer, &mut removed, &NoProgress).unwrap();
    removed
}

fn text(text: &str) -> Purge {
    Purge::Text(text.into())
}

fn update(store: &TestStore, id: RecordId, update: RecordUpdate) {
    store.update(id, &update, &Viewer::OWNER, NOW).unwrap();
}

fn content(text: &str) -> RecordUpdate {
    RecordUpdate { content: Some(text.into()), ..RecordUpdate::default() }
}

fn assert_sound(store: &TestStore) {
    assert_eq!(store.integrity().unwrap(), Vec::<String>::new());
}

#[test]
fn a_text_is_removed_from_every_field_and_nothing_else_is() {
    let store = TestStore::new();
    let holding = [
        new(&format!("before {SECRET} after")),
        NewRecord { context: Some(format!("in {SECRET}")), ..new("context") },
        NewRecord { source: SECRET.into(), ..new("source") },
        NewRecord { tags: vec!["other".into(), SECRET.into()], ..new("tag") },
        NewRecord { expires_at: Some(NOW - 1), ..new(&format!("expired {SECRET}")) },
    ];
    for new in &holding {
        store.add(new, NOW - 2).unwrap();
    }
    for column in ["body", "provenance"] {
        let id = store.add(&new(column), NOW).unwrap().id;
        store.sql(&format!("UPDATE records SET {column} = json_object('k', json_array('{SECRET}')) WHERE id = {id}"));
    }
    let kept = [new("kestrel vault"), new("Kestrel \"vault\""), new("a kestrel \"vaul")];
    let kept: Vec<_> = kept.iter().map(|new| store.add(new, NOW).unwrap().id).collect();
    let head = store.head().unwrap();
    assert!(store.has_text(SECRET));
    assert_eq!(purge(&store, text(SECRET)), (7, 0, 0));
    assert!(!store.has_text(SECRET));
    assert_eq!(store.view().live_ids_after(RecordId::START, 99, i64::MIN).unwrap(), kept);
    assert_eq!(store.head().unwrap().since(head), 7, "the log has each");
    assert_eq!(purge(&store, text(SECRET)), (0, 0, 0));
    assert_sound(&store);
}

#[test]
fn a_purge_removes_only_matching_versions_and_their_embeddings() {
    let store = TestStore::new();
    let models = [store.model(&model(1)).unwrap(), next_model::begin_next_model(&*store, &model(2)).unwrap().unwrap()];
    let id = store.add(&new("one"), NOW).unwrap().id;
    let other = store.add(&new("another"), NOW).unwrap().id;
    for text in [SECRET, "three", &format!("{SECRET} again"), "five"] {
        update(&store, id, content(text));
        let waiting = store.pending(models[0], 9, NOW).unwrap();
        let vectors: Vec<_> = waiting.iter().map(|waiting| (waiting.hash, vec![1.0])).collect();
        store.store_embeddings(models[0], &vectors).unwrap();
        let vectors: Vec<_> = waiting.iter().map(|waiting| (waiting.hash, vec![1.0; 2])).collect();
        next_model::store_next(&*store, models[1], &vectors).unwrap();
    }
    update(&store, other, content("another one"));
    let embeddings = "SELECT count(*) FROM embeddings";
    let before = store.number(embeddings);
    assert_eq!(purge(&store, text(SECRET)), (0, 2, 0));
    assert_eq!(store.number(embeddings), before - 4, "of both models");
    assert_eq!(store.number(&format!("SELECT sum(version * version) FROM versions WHERE record_id = {id}")), 1 + 9);
    assert_eq!(store.get(id, &Viewer::OWNER, NOW).unwrap().unwrap().content, "five");
    assert_sound(&store);

    update(&store, other, content(&format!("{SECRET} for a while")));
    update(&store, other, content("clean"));
    assert_eq!(purge(&store, text(SECRET)), (0, 1, 0));
    let lost = "SELECT group_concat(j.value) = '1,2' FROM meta m, json_each(m.value) j WHERE m.key = 'versions_lost'";
    assert_eq!(store.number(lost), 1);
    assert!(!store.has_text(SECRET));
    assert_sound(&store);
}

#[test]
fn a_version_goes_for_the_reason_that_names_the_text() {
    let store = TestStore::new();
    let id = store.add(&new("one"), NOW).unwrap().id;
    update(&store, id, content("two"));
    update(&store, id, content("three"));
    store.sql("UPDATE versions SET reason = 'because of a kestrel' WHERE version = 2");
    assert_eq!(purge(&store, text("a kestrel")), (0, 1, 0));
    assert_sound(&store);
}

#[test]
fn searches_for_the_text_go_from_the_access_log() {
    let store = TestStore::new();
    let [kept, gone] = ["kept", SECRET].map(|text| store.add(&new(text), NOW).unwrap().id);
    let access = |id, query| Access { id, kind: AccessKind::Search, score: None, query, counts: false };
    let query = format!("where is the {SECRET}?");
    let accesses = [(kept, Some("kept")), (kept, None), (kept, Some(query.as_str())), (gone, Some(query.as_str()))];
    store.record_access(&accesses.map(|(id, query)| access(id, query)), NOW).unwrap();
    assert_eq!(purge(&store, text(SECRET)), (1, 0, 1), "the other went with its record");
    assert_eq!(store.number(&format!("SELECT count(*) FROM access_log WHERE record_id = {kept}")), 2);
    assert!(!store.has_text(SECRET));
}

fn searched(query: &str, tag: &str, viewer: &Viewer) -> SearchTrace {
    let filters = Some(serde_json::json!({ "tags": [tag] }).to_string());
    SearchTrace { filters, ..SearchTrace::sample(query, viewer.clone()) }
}

#[test]
fn searches_for_the_text_go_also_where_nothing_was_found() {
    let store = TestStore::new();
    let (mine, theirs) = (Viewer::in_project("mine"), Viewer::in_project("theirs"));
    let searches = [
        searched(&format!("where is the {SECRET}?"), "a", &mine),
        searched("a query", SECRET, &mine),
        searched("cafe\u{301} au lait", "a", &mine),
        searched("tags", "a", &mine),
        searched(SECRET, "a", &theirs),
    ];
    record_searches(&*store, &searches.map(|search| (search, vec![]))).unwrap();
    assert_eq!(purge_as(&store, &text("tags\":"), &mine).queries, 0, "that is how JSON is written");
    assert_eq!(purge_as(&store, &text("caf\u{e9} au"), &mine).queries, 1, "in another form");
    assert_eq!(purge_as(&store, &text(SECRET), &mine).queries, 2, "what others searched for is theirs");
    assert_eq!(store.number("SELECT count(*) FROM searches"), 2);
    assert_eq!(purge_as(&store, &text(SECRET), &Viewer::OWNER).queries, 1);
    assert!(!store.has_text(SECRET));
    assert_sound(&store);
}

#[test]
fn searches_that_quote_a_record_go_with_it() {
    let store = TestStore::new();
    let (mine, theirs) = (Viewer::in_project("mine"), Viewer::in_project("theirs"));
    let id = store.add(&new("the amber key is in the boat"), NOW).unwrap().id;
    update(&store, id, content("blue"));
    let quoting = ["is the amber key is in the boat true", "blue", "a blue one"];
    let searches = quoting.map(|query| (searched(query, "a", &mine), vec![]));
    record_searches(&*store, &searches).unwrap();
    record_searches(&*store, &[(searched("blue", "a", &theirs), vec![])]).unwrap();
    assert_eq!(purge_as(&store, &Purge::Ids(vec![id]), &mine).queries, 2);
    assert_eq!(store.number("SELECT count(*) FROM searches"), 2);
}

#[test]
fn records_are_purged_by_id_in_any_number() {
    let store = TestStore::new();
    let news: Vec<_> = (0..2 * STEP + 10).map(|n| new(&format!("text {n}"))).collect();
    let ids: Vec<_> = store.add_batch(&news, NOW).unwrap().into_iter().map(|outcome| outcome.unwrap().id).collect();
    let (kept, gone) = ids.split_at(5);
    let ids = [gone, &[99_999.into(), (-1).into(), gone[0]]].concat();
    assert_eq!(purge(&store, Purge::Ids(ids)), (gone.len() as u64, 0, 0));
    assert_eq!(store.view().live_ids_after(RecordId::START, 99, NOW).unwrap(), kept);
    assert_eq!(purge(&store, text("text ")), (5, 0, 0));
    assert_sound(&store);
}

#[test]
fn memories_hidden_from_the_viewer_are_not_purged_or_counted() {
    let store = TestStore::new();
    let of = |project: Option<&str>| Scope { agent: None, project: project.map(Into::into) };
    let search = |id| Access { id, kind: AccessKind::Search, score: None, query: Some(SECRET), counts: false };
    let (mut holding, mut others) = (Vec::new(), Vec::new());
    for project in [None, Some("mine"), Some("theirs")] {
        holding.push(store.add(&NewRecord { scope: of(project), ..new(SECRET) }, NOW).unwrap().id);
        let other = store.add(&NewRecord { scope: of(project), ..new(&format!("was {SECRET}")) }, NOW).unwrap().id;
        update(&store, other, content("clean"));
        store.record_access(&[search(other)], NOW).unwrap();
        others.push(other);
    }
    let mine = Viewer::in_project("mine");
    let purge = |purge| purge_as(&store, &purge, &mine);
    let by_text = purge(text(SECRET));
    assert_eq!((by_text.records, by_text.versions, by_text.queries), (2, 2, 2));
    let by_id = purge(Purge::Ids(vec![holding[2], others[2], others[1]]));
    assert_eq!((by_id.records, by_id.versions), (1, 0));
    assert_eq!(store.view().live_ids_after(RecordId::START, 9, NOW).unwrap(), [others[0], holding[2], others[2]]);
    assert_eq!(store.number("SELECT count(*) FROM versions"), 1);
    assert_eq!(store.number("SELECT count(*) FROM access_log"), 1);
    assert_sound(&store);
}

#[test]
fn many_records_that_have_a_text_are_purged_in_steps() {
    let store = TestStore::new();
    let news: Vec<_> = (0..2 * STEP + 10).map(|n| new(&format!("{} {n}", n % 2))).collect();
    store.add_batch(&news, NOW).unwrap();
    assert_eq!(purge(&store, text("1 ")), (STEP as u64 + 5, 0, 0));
    assert_eq!(store.view().live_count(NOW).unwrap(), STEP as u64 + 5);
    assert_sound(&store);
}

#[test]
fn a_purge_text_like_json_or_a_field_name_removes_nothing() {
    let store = TestStore::new();
    let contact = NewRecord {
        kind: Kind::Contact,
        body: Some(serde_json::json!({"name": "Ada", "company": "Acme", "email": "ada@acme.test"})),
        ..new("Ada of Acme")
    };
    store.add(&contact, NOW).unwrap();
    let id = store.add(&NewRecord { tags: vec!["one".into(), "two".into()], ..new("tagged") }, NOW).unwrap().id;
    update(&store, id, content("tagged again"));
    for ours in ["\",\"", "\"", "{", "company", "email"] {
        assert_eq!(purge(&store, text(ours)), (0, 0, 0), "{ours}");
    }
    assert_eq!(purge(&store, text("ada@acme")), (1, 0, 0));
    assert_eq!(purge(&store, text("two")), (1, 0, 0));
}

#[test]
fn a_purge_looks_for_everything_that_another_has_left() {
    let store = TestStore::new();
    let ids: Vec<_> = ["one", "other"].map(|text| store.add(&new(text), NOW).unwrap().id).to_vec();
    let is_unknown = |removed: &Removed| removed.patterns.is_in(&b""[..]).unwrap();
    let first = purge_as(&store, &Purge::Ids(vec![ids[0]]), &Viewer::OWNER);
    assert!(!is_unknown(&first));
    let second = purge_as(&store, &text("other"), &Viewer::OWNER);
    assert!(is_unknown(&second), "the first has not ended");
    store.end_purge(&first.mark).unwrap();
    assert_eq!(store.unfinished_purge().unwrap(), Some(second.mark.clone()));
    store.end_purge(&second.mark).unwrap();
    assert!(!is_unknown(&purge_as(&store, &text("more"), &Viewer::OWNER)));
}

/// Ends the mark that it saw last time, as a worker does that has cleaned the files since.
struct Cleaner<'a> {
    store: &'a TestStore,
    seen: Mutex<Vec<PurgeMark>>,
}

impl Progress for Cleaner<'_> {
    fn start(&self, _what: &str, _total: Option<u64>) {}
    fn advance(&self, _units: u64) {}
    fn finish(&self) {}

    fn cancelled(&self) -> bool {
        let mut seen = self.seen.lock();
        if let Some(last) = seen.last() {
            self.store.end_purge(last).unwrap();
        }
        seen.push(self.store.unfinished_purge().unwrap().expect("what was removed since has a mark"));
        false
    }
}

#[test]
fn memories_purged_during_a_cleanup_keep_their_mark() {
    let store = TestStore::new();
    let news: Vec<_> = (0..2 * STEP + 10).map(|n| new(&format!("text {n}"))).collect();
    let ids: Vec<_> = store.add_batch(&news, NOW).unwrap().into_iter().map(|outcome| outcome.unwrap().id).collect();
    let cleaner = Cleaner { store: &store, seen: Mutex::default() };
    let removed = store.purge(&Purge::Ids(ids), &Viewer::OWNER, &cleaner).unwrap();
    assert_eq!(cleaner.seen.lock().len(), 3, "a step at a time");
    assert_eq!(store.unfinished_purge().unwrap(), Some(removed.mark));
}

/// A store with a row in each table that has a text.
fn with_rows() -> TestStore {
    let store = TestStore::new();
    let scope = Scope { agent: Some("ann".into()), project: Some("atlas".into()) };
    let new = |text: &str| NewRecord { scope: scope.clone(), tags: vec!["tag".into()], ..new(text) };
    let [id, gone] = ["one", "other"].map(|text| store.add(&new(text), NOW).unwrap().id);
    [id, gone].into_iter().for_each(|id| update(&store, id, content(&format!("{id} again"))));
    assert!(store.delete(gone, &Viewer::OWNER, NOW).unwrap());
    let access = Access { id, kind: AccessKind::Search, score: None, query: Some("query"), counts: false };
    store.record_access(&[access], NOW).unwrap();
    record_searches(&*store, &[(searched("query", "a", &Viewer::in_project("atlas")), vec![])]).unwrap();
    store.model(&model(1)).unwrap();
    let path = "/notes".to_owned();
    let source = NewSource { kind: SourceKind::Notes, path, format: None, globs: vec!["*.md".into()], scope };
    store.add_source(&source, NOW).unwrap();
    store.sql(
        "INSERT INTO files (source_id, path, thread, size, modified, device, inode, read_at)
             VALUES (1, '/notes/a.md', '/notes/a.md', 1, 1, 1, 1, 1);
         INSERT INTO tokens (sha256, label, rights, created_at) VALUES (zeroblob(32), 'label', 'read', 1)",
    );
    store
}

/// 39.6: wherever a text is, it is removed or named. `columns.rs` has all columns.
#[test]
fn a_text_goes_from_every_column_or_is_named() {
    for (table, column, care) in cared_for(|care| care != Care::Ours) {
        // Those are made of others.
        if matches!(column, "vector" | "tag") || table == "record_metadata" {
            continue;
        }
        let (store, at) = (with_rows(), format!("{table}.{column}"));
        let json = matches!(column, "tags" | "body" | "provenance" | "cursor" | "skipped" | "filters" | "globs");
        let value = if json { r#"json_object('tags', json_array('a kestrel'))"# } else { "'a kestrel'" };
        let condition = if column == "tags" { "json_array('a kestrel')" } else { value };
        let rows = if table == "scopes" { "WHERE id <> 1" } else { "" };
        store.sql(&format!("UPDATE {table} SET {column} = {condition} {rows}"));
        let found = format!("SELECT count(*) FROM {table} WHERE {column} LIKE '%kestrel%'");
        assert_eq!(store.number(&found), 1, "{at}");
        let removed = purge_as(&store, &text("kestrel"), &Viewer::OWNER);
        let stays: Vec<_> = removed.stays.iter().map(|stays| stays.what).collect();
        match care {
            Care::Named(what) => assert_eq!((stays, store.number(&found)), (vec![what], 1), "{at}"),
            _ => assert_eq!(store.number(&found), 0, "{at}"),
        }
        if !matches!(care, Care::Named(_)) && at != "files.path" {
            assert_eq!(removed.stays, [], "{at}");
        }
    }
}

/// 39.6: a name that nobody has any more goes.
#[test]
fn the_names_of_a_scope_go_with_its_last_memory() {
    let store = with_rows();
    let names = |removed: Removed| removed.stays.into_iter().map(|stays| stays.what).collect::<Vec<_>>();
    let named = ["the name of an agent", "the agent of a source"];
    assert_eq!(names(purge_as(&store, &text("ann"), &Viewer::OWNER)), named);
    store.sql("DELETE FROM sources");
    assert_eq!(purge_as(&store, &text("ann"), &Viewer::in_project("atlas")).stays, [], "of those who see all");
    assert_eq!(purge(&store, Purge::Ids(vec![1.into(), 2.into()])), (2, 0, 0));
    assert_eq!(names(purge_as(&store, &text("ann"), &Viewer::OWNER)), [""; 0]);
    assert_eq!(store.number("SELECT count(*) FROM scopes"), 1);
    assert_sound(&store);
}

/// 39.6: the part of the contents that a line of a log may have.
#[test]
fn the_beginnings_of_all_that_was_removed_are_told() {
    let store = TestStore::new();
    let beginnings = |removed: Removed| removed.beginnings.into_iter().collect::<Vec<_>>();
    let id = store.add(&new(&format!("first\n{}", "x".repeat(300))), NOW).unwrap().id;
    update(&store, id, content("a kestrel"));
    update(&store, id, content("third"));
    assert_eq!(beginnings(purge_as(&store, &text("kestrel"), &Viewer::OWNER)), ["a kestrel"]);
    let first = format!("first {}", "x".repeat(194));
    assert_eq!(beginnings(purge_as(&store, &Purge::Ids(vec![id]), &Viewer::OWNER)), [first, "third".into()]);
}
