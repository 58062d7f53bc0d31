//! The access log and the counts that it feeds.

use super::*;
use crate::records::rows::MOST_ACCESSES;
use crate::records::rules::access::{Access, MAX_ACCESS_ROWS, count_accesses, record_access};
use crate::types::AccessKind;

fn get(id: RecordId) -> Access<'static> {
    Access { id, kind: AccessKind::Get, score: None, query: None, counts: true }
}

/// R5, R6.
fn a_get_counts_and_a_search_need_not(store: &impl Subject) {
    let id = store.add(&new("text"), NOW).id;
    let head = store.head();
    record_access(store.authority(), &[get(id)], NOW + 1).unwrap();
    let search = Access { kind: AccessKind::Search, score: Some(0.5), query: Some("te"), counts: false, ..get(id) };
    record_access(store.authority(), &[search, get(99.into())], NOW + 2).unwrap();
    let record = store.record(id, NOW).unwrap();
    assert_eq!((record.access_count, record.last_accessed_at), (1, Some(NOW + 1)));
    assert_eq!(record.updated_at, NOW, "to be read is no change");
    assert_eq!(store.head(), head, "nothing that the indexes hold has changed");
    let rows = "SELECT count(*) FROM access_log WHERE";
    let got = format!("{rows} access_type = 'get' AND accessed_at = {} AND query_text IS NULL", NOW + 1);
    assert_eq!(store.number(&got), 1);
    let found = format!("{rows} access_type = 'search' AND relevance_score = 0.5 AND query_text = 'te'");
    assert_eq!(store.number(&found), 1);
    assert_eq!(store.count("access_log"), 2, "an absent record is passed over");
}

fn uses_are_counted_without_a_row_in_the_log(store: &impl Subject) {
    let [one, two] = ["one", "two"].map(|text| store.add(&new(text), NOW).id);
    let head = store.head();
    count_accesses(store.authority(), &[two, 99.into(), one, two], NOW + 5).unwrap();
    let record = |id| store.record(id, NOW).unwrap();
    assert_eq!((record(one).access_count, record(one).last_accessed_at), (1, Some(NOW + 5)));
    assert_eq!((record(two).access_count, record(two).last_accessed_at), (2, Some(NOW + 5)));
    assert_eq!((store.count("access_log"), store.head()), (0, head));
}

fn an_access_count_stays_at_its_maximum(store: &impl Subject) {
    let id = store.add(&new("text"), NOW).id;
    let set = "UPDATE records SET access_count = ?1 WHERE id = ?2";
    for count in [MOST_ACCESSES - 1, i64::MAX] {
        store.write(|tx| tx.execute(set, &[count.into(), id.into()]));
        record_access(store.authority(), &[get(id), get(id)], NOW).unwrap();
        assert_eq!(store.record(id, NOW).unwrap().access_count, MOST_ACCESSES);
    }
    store.assert_sound();
}

fn the_access_log_is_bounded(store: &impl Subject) {
    let id = store.add(&new("text"), NOW).id;
    // A statement each: access by access, a server would take minutes.
    for time in [NOW, NOW + 1] {
        let fill = format!(
            "INSERT INTO access_log (record_id, accessed_at, access_type)
             WITH RECURSIVE numbers (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number <= {})
             SELECT id, {time}, 'get' FROM records, numbers",
            MAX_ACCESS_ROWS / 2
        );
        store.write(|tx| tx.execute(&fill, &[]));
    }
    record_access(store.authority(), &[get(id)], NOW + 1).unwrap();
    assert_eq!(store.count("access_log"), MAX_ACCESS_ROWS);
    let first = format!("SELECT count(*) FROM access_log WHERE accessed_at = {NOW}");
    assert_eq!(store.number(&first), MAX_ACCESS_ROWS / 2 - 2);
    record_access(store.authority(), &[get(id)], NOW + 2).unwrap();
    assert_eq!(store.count("access_log"), MAX_ACCESS_ROWS);
}

on_every_database![
    a_get_counts_and_a_search_need_not,
    uses_are_counted_without_a_row_in_the_log,
    an_access_count_stays_at_its_maximum,
    the_access_log_is_bounded,
];
