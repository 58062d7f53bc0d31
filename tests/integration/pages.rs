//! The pages of a search are pieces of one ranking.

use memorist_engine::types::{MAX_LIMIT, MAX_RESULTS, Mode, Query, RecordId, Tier, Viewer};

use crate::support::{Store, hashed, words_only};

const QUERY: &str = "topic 3 with team 5";

fn meetings(store: &Store) {
    for at in 0..300 {
        store.add(&format!("meeting {at} on topic {} with team {}", at % 7, at % 11));
    }
    store.settle();
}

/// Every page, with these page sizes in turn, as a caller sees them.
fn pages(store: &Store, first: &Query, sizes: &[usize]) -> Vec<Vec<(RecordId, f64)>> {
    let mut pages = Vec::new();
    let mut query = Query { pool: Some(first.pool()), ..first.clone() };
    for size in sizes.iter().cycle() {
        query.limit = *size;
        let reply = store.engine.search(&query).unwrap();
        assert!(reply.hits.len() == query.limit || !reply.more, "a page is full while there is more");
        query.offset += reply.hits.len();
        pages.push(reply.hits.iter().map(|hit| (hit.record.id, hit.score)).collect());
        if !reply.more {
            break;
        }
    }
    pages
}

/// Q1, Q6.
#[test]
fn pages_are_the_pieces_of_one_result() {
    let store = Store::new(hashed());
    meetings(&store);
    for mode in [Mode::Hybrid, Mode::Vector, Mode::Keyword] {
        for limit in [1, 7, 10, 40] {
            let first = Query { mode, limit, ..Query::new(QUERY) };
            let whole = Query { limit: MAX_LIMIT, pool: Some(first.pool()), ..first.clone() };
            let whole: Vec<_> =
                store.engine.search(&whole).unwrap().hits.iter().map(|hit| (hit.record.id, hit.score)).collect();
            assert!(whole.len() >= first.pool(), "{mode:?} {limit}");
            for sizes in [&[limit][..], &[limit, 3, 50]] {
                let pages = pages(&store, &first, sizes);
                assert!(pages.len() > 1, "{mode:?} {limit} {sizes:?}");
                assert_eq!(pages.concat(), whole, "{mode:?} {limit} {sizes:?}");
            }
            let alone: Vec<_> = store.engine.search(&first).unwrap().hits.iter().map(|hit| hit.record.id).collect();
            let begin: Vec<_> = whole[..limit].iter().map(|(id, _)| *id).collect();
            assert_eq!(alone, begin, "{mode:?} {limit}: the first page is what a search without pages finds");
        }
    }
}

#[test]
fn a_memory_deleted_between_pages_is_on_no_later_page() {
    let store = Store::new(hashed());
    meetings(&store);
    let first = Query { limit: 10, pool: Some(50), ..Query::new(QUERY) };
    let whole = store.find(&Query { limit: 50, ..first.clone() });
    store.engine.viewed_by(&Viewer::OWNER).delete(whole[12]).unwrap();
    let second = store.find(&Query { offset: 10, ..first });
    assert_eq!(second.len(), 10);
    assert!(!second.contains(&whole[12]));
}

/// Q12.
#[test]
fn pages_of_the_last_resort_are_pieces_too() {
    let store = Store::new(words_only());
    for at in 0..25 {
        store.add(&format!("The Supercalifragilistic show {at} was sold out"));
    }
    let first = Query { limit: 10, ..Query::new("califragil") };
    let whole = store.engine.search(&Query { limit: 100, ..first.clone() }).unwrap();
    assert_eq!((whole.tier, whole.hits.len(), whole.more), (Tier::Substring, 25, false));
    let pages = pages(&store, &first, &[10]);
    assert_eq!(pages.iter().map(Vec::len).collect::<Vec<_>>(), [10, 10, 5]);
    let whole: Vec<_> = whole.hits.iter().map(|hit| (hit.record.id, hit.score)).collect();
    assert_eq!(pages.concat(), whole);
}

#[test]
fn a_page_beyond_the_bounds_is_refused_by_field() {
    let store = Store::new(words_only());
    let refusal = |query: Query| store.engine.search(&query).unwrap_err().to_string();
    assert!(refusal(Query { offset: MAX_RESULTS - 9, ..Query::new("x") }).contains("offset"));
    assert!(refusal(Query { offset: usize::MAX, ..Query::new("x") }).contains("offset"));
    assert!(refusal(Query { pool: Some(0), ..Query::new("x") }).contains("pool"));
    assert!(refusal(Query { pool: Some(usize::MAX), ..Query::new("x") }).contains("pool"));
}
