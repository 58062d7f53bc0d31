//! The searches that are kept.

use super::*;
use crate::progress::NoProgress;
use crate::records::purge::patterns::PurgeText;
use crate::records::rules::purge::{purge_ids, purge_searches, purge_text};
use crate::records::rules::searches::{MAX_SEARCHES, record_searches};
use crate::types::{Mode, SearchTrace};

fn search(query: &str) -> SearchTrace {
    SearchTrace {
        at: NOW,
        tool: "memory_search".into(),
        mode: Mode::Keyword,
        filters: Some(r#"{"tags":["a"]}"#.into()),
        hits: 1,
        no_answer: false,
        best_score: Some(0.5),
        micros: 1_500,
        ..SearchTrace::sample(query, Viewer::in_project("atlas"))
    }
}

fn a_search_is_kept_with_what_it_found_and_changes_no_record(store: &impl Subject) {
    let [one, two] = ["one", "two"].map(|text| store.add(&new(text), NOW).id);
    let head = store.head();
    let nothing = SearchTrace { hits: 0, no_answer: true, best_score: None, filters: None, ..search("none") };
    record_searches(store.authority(), &[(search("one"), vec![one, two]), (nothing, vec![])]).unwrap();
    let kept = format!(
        "SELECT count(*) FROM searches WHERE searched_at = {NOW} AND agent = '*' AND project = 'atlas'
             AND tool = 'memory_search' AND query = 'one' AND mode = 'keyword' AND filters = '{{\"tags\":[\"a\"]}}'
             AND hits = 1 AND unanswered = 0 AND best_score = 0.5 AND best_cosine IS NULL AND micros = 1500"
    );
    assert_eq!(store.number(&kept), 1);
    assert_eq!(store.number("SELECT count(*) FROM searches WHERE hits = 0 AND unanswered = 1 AND filters IS NULL"), 1);
    assert_eq!((store.count("search_hits"), store.count("access_log"), store.head()), (2, 0, head));
    assert_eq!(store.record(one, NOW).unwrap().access_count, 0);
    store.assert_sound();
}

fn only_the_newest_searches_are_kept(store: &impl Subject) {
    let id = store.add(&new("text"), NOW).id;
    let many: Vec<_> = (0..MAX_SEARCHES / 2 + 1).map(|_| (search("old"), vec![id])).collect();
    record_searches(store.authority(), &many).unwrap();
    record_searches(store.authority(), &many).unwrap();
    assert_eq!((store.count("searches"), store.count("search_hits")), (MAX_SEARCHES, MAX_SEARCHES));
    record_searches(store.authority(), &[(search("new"), vec![])]).unwrap();
    assert_eq!((store.count("searches"), store.count("search_hits")), (MAX_SEARCHES, MAX_SEARCHES - 1));
    assert_eq!(store.number("SELECT count(*) FROM searches WHERE query = 'new'"), 1);
}

/// A purge may have taken it away since, and must not leave its words in a query.
fn a_search_that_found_what_is_gone_is_not_kept(store: &impl Subject) {
    let [kept, deleted, purged] = ["kept", "deleted", "purged"].map(|text| store.add(&new(text), NOW).id);
    store.delete(deleted);
    purge_ids(store.authority(), &[purged], &Viewer::OWNER, &NoProgress).unwrap();
    let of = |query, found| (search(query), found);
    record_searches(store.authority(), &[of("both", vec![kept, deleted]), of("gone", vec![kept, purged])]).unwrap();
    assert_eq!(store.number("SELECT count(*) FROM searches WHERE query = 'both'"), 1);
    assert_eq!(store.count("searches"), 1);
}

fn a_purge_of_a_record_takes_the_searches_that_found_it(store: &impl Subject) {
    let [one, text, deleted, other] =
        ["one", "the secret", "deleted", "other"].map(|text| store.add(&new(text), NOW).id);
    let of = |query, found| (search(query), found);
    let searches =
        [of("a", vec![one, other]), of("b", vec![text]), of("c", vec![other, deleted]), of("d", vec![other])];
    record_searches(store.authority(), &searches).unwrap();
    store.delete(deleted);
    assert_eq!(store.count("searches"), 4, "a deleted one can come back");
    let removed = purge_ids(store.authority(), &[one, deleted], &Viewer::OWNER, &NoProgress).unwrap();
    assert_eq!((removed.records, removed.queries), (2, 0), "they go with it, as accesses do");
    let secret = PurgeText::new("secret");
    purge_text(store.authority(), &secret, &[text.key()].into_iter().collect(), &Viewer::OWNER, &NoProgress).unwrap();
    assert_eq!(store.count("searches"), 1);
    assert_eq!(store.number("SELECT count(*) FROM searches WHERE query = 'd'"), 1);
    store.assert_sound();
}

fn searches_are_purged_and_counted(store: &impl Subject) {
    let id = store.add(&new("text"), NOW).id;
    record_searches(store.authority(), &[(search("secret"), vec![id]), (search("other"), vec![id])]).unwrap();
    let text = PurgeText::new("secret");
    let none = roaring::RoaringTreemap::new();
    let mut removed = purge_text(store.authority(), &text, &none, &Viewer::OWNER, &NoProgress).unwrap();
    let entry = store.number("SELECT id FROM searches WHERE query = 'secret'") as u64;
    purge_searches(store.authority(), &[entry].into_iter().collect(), &mut removed, &NoProgress).unwrap();
    assert_eq!((removed.queries, store.count("searches"), store.count("search_hits")), (1, 1, 1));
    assert!(store.contents().iter().all(|row| !row.contains("secret")));
}

on_every_database![
    ; of the owner:
    a_search_is_kept_with_what_it_found_and_changes_no_record,
    only_the_newest_searches_are_kept,
    a_search_that_found_what_is_gone_is_not_kept,
    a_purge_of_a_record_takes_the_searches_that_found_it,
    searches_are_purged_and_counted,
];
