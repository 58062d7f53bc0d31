//! The records around one in its thread, against a sorted list of all of them.

use std::collections::BTreeMap;

use super::ranking::varied;
use super::*;
use crate::keywords::Window;

/// A record of one of a few threads, or of none. Turns repeat, and have gaps.
fn said(random: &mut TextGenerator, next: &mut i64) -> Record {
    let record = varied(random, next);
    let session = [None, Some("one"), Some("two"), Some("three")][random.below(4)];
    let question = ["", "?", " Why?\""][random.below(3)];
    Record {
        content: format!("{}{question}", record.content),
        session: session.map(str::to_owned),
        turn: session.map(|_| random.below(40) as i64),
        ..record
    }
}

/// The ids around `id`, by looking at every record.
fn expected(
    records: &BTreeMap<RecordId, Record>,
    id: RecordId,
    is_admitted: impl Fn(&Record) -> bool,
) -> Option<Vec<Option<(RecordId, bool)>>> {
    let own = &records[&id];
    own.session.as_ref()?;
    let mut thread: Vec<&Record> =
        records.values().filter(|other| (&other.scope, &other.session) == (&own.scope, &own.session)).collect();
    thread.sort_by_key(|record| (record.turn, record.id));
    let at = thread.iter().position(|record| record.id == id).unwrap();
    let reach = Window::REACH;
    let turn = |place: usize| {
        let record = *thread.get((at + place).checked_sub(reach)?)?;
        (record.id == id || is_admitted(record)).then(|| (record.id, record.content.ends_with(['?', '"'])))
    };
    Some((0..=2 * reach).map(turn).collect())
}

#[test]
fn a_window_is_right_over_segments_deletes_the_tail_and_filters() {
    for seed in 0..6 {
        check(seed);
    }
}

fn check(seed: u64) {
    let (mut random, mut next) = (TextGenerator(seed), 1);
    let folder = tempfile::tempdir().unwrap();
    let index = index_of(folder.path(), &[]);
    let mut live: BTreeMap<RecordId, Record> = BTreeMap::new();
    for step in 2..9 {
        let mut upserts: Vec<Record> = (0..60).map(|_| said(&mut random, &mut next)).collect();
        let touched: Vec<RecordId> = live.keys().copied().filter(|_| random.below(6) == 0).collect();
        let (replaced, deleted) = touched.split_at(touched.len() / 2);
        upserts.extend(replaced.iter().map(|&id| Record { id, ..said(&mut random, &mut next) }));
        index.apply(&upserts, deleted, step.into()).unwrap();
        deleted.iter().for_each(|id| drop(live.remove(id)));
        live.extend(upserts.into_iter().map(|record| (record.id, record)));
        // Searched before it changes again: what was computed for a segment stays with it.
        index
            .snapshot()
            .unwrap()
            .query(&KeywordQuery::new("word1"), None)
            .unwrap()
            .windows(&[], &Filter::default(), &RoaringTreemap::new())
            .unwrap();
    }
    let mut tail = TailIndex::default();
    for _ in 0..3 {
        let mut upserts: Vec<Record> = (0..15).map(|_| said(&mut random, &mut next)).collect();
        let replaced: Vec<RecordId> = live.keys().copied().filter(|_| random.below(10) == 0).collect();
        upserts.extend(replaced.iter().map(|&id| Record { id, ..said(&mut random, &mut next) }));
        let deleted: Vec<RecordId> =
            live.keys().copied().filter(|id| id.key() % 11 == random.below(11) as u64).collect();
        upserts.retain(|record| !deleted.contains(&record.id));
        tail = grown(&tail, &upserts, &deleted);
        deleted.iter().for_each(|id| drop(live.remove(id)));
        live.extend(upserts.into_iter().map(|record| (record.id, record)));
    }
    let snapshot = index.snapshot().unwrap();
    let ids: Vec<RecordId> = live.keys().copied().collect();
    let except: RoaringTreemap = ids.iter().filter(|_| random.below(5) == 0).map(|id| id.key()).collect();
    let important = Filter { min_importance: Some(5), ..Filter::default() };
    let mut with_turns = 0;
    for (filter, except) in
        [(Filter::default(), RoaringTreemap::new()), (Filter::default(), except.clone()), (important, except)]
    {
        let search = snapshot.query(&KeywordQuery::new("word1"), Some(&tail)).unwrap();
        let places: Vec<DocLocation> = search.places(&ids).unwrap().into_iter().map(Option::unwrap).collect();
        let windows = search.windows(&places, &filter, &except).unwrap();
        for (&id, window) in ids.iter().zip(windows) {
            let found = window.map(|window| {
                for turn in window.turns.iter().flatten() {
                    assert_eq!(search.places(&[turn.id]).unwrap(), [Some(turn.place)]);
                }
                window.turns.iter().map(|turn| turn.map(|turn| (turn.id, turn.is_question))).collect::<Vec<_>>()
            });
            let admitted = |record: &Record| filter.allows(record) && !except.contains(record.id.key());
            let expected = expected(&live, id, admitted);
            with_turns += expected.as_ref().map_or(0, |turns| turns.iter().flatten().count());
            assert_eq!(found, expected, "seed {seed}, record {id}");
        }
    }
    assert!(with_turns > 1_000, "{with_turns}");
}

#[test]
fn without_sessions_there_are_no_windows() {
    let folder = tempfile::tempdir().unwrap();
    let index = index_of(folder.path(), &records(&["one", "two", "three"]));
    let snapshot = index.snapshot().unwrap();
    let search = snapshot.query(&KeywordQuery::new("two"), None).unwrap();
    let places: Vec<DocLocation> = search.places(&[1.into(), 2.into()]).unwrap().into_iter().flatten().collect();
    let windows = search.windows(&places, &Filter::default(), &RoaringTreemap::new()).unwrap();
    assert_eq!(windows, [None, None]);
}

/// Each word adds the score of a query of that word alone.
#[test]
fn the_parts_of_a_score_are_those_of_its_words() {
    let folder = tempfile::tempdir().unwrap();
    let mut all = records(&["amber birch", "birch birch cedar", "cedar", "dune"]);
    all[2].tags = vec!["amber".into()];
    let index = index_of(folder.path(), &all);
    let snapshot = index.snapshot().unwrap();
    let ids: Vec<RecordId> = all.iter().map(|record| record.id).collect();
    let matches_of = |text: &str| {
        let search = snapshot.query(&KeywordQuery::new(text), None).unwrap();
        let places: Vec<DocLocation> = search.places(&ids).unwrap().into_iter().flatten().collect();
        search.matches(&places).unwrap()
    };
    let words = ["cedar", "amber", "birch"];
    let whole = matches_of("cedar absent amber birch");
    assert_eq!(whole.shares.len(), words.len());
    for (term, word) in words.iter().enumerate() {
        let alone = matches_of(word);
        for (record, found) in alone.records.iter().enumerate() {
            assert_eq!(whole.parts(record)[term], found.score, "{word} in record {record}");
        }
    }
    for (record, found) in whole.records.iter().enumerate() {
        let has = whole.parts(record).iter().zip(&whole.shares).filter(|(part, _)| **part > 0.0);
        assert!((has.map(|(_, share)| share).sum::<f32>() - found.share).abs() < 1e-6);
    }
}
