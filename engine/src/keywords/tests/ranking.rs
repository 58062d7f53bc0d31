//! Scores, filters and the best k, against simple reference computations.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::super::scoring::PHRASE_BONUS;
use super::*;
use crate::types::{Reach, Viewer};

/// An index of several segments with deletes in them, and the records that are live in it.
fn built_in_steps(folder: &Path, seed: u64, count: i64) -> (TantivyIndex, Vec<Record>) {
    let mut random = TextGenerator(seed);
    let index = TantivyIndex::create(folder, STORE).unwrap();
    let mut live: Vec<Record> = Vec::new();
    let mut next = 1;
    for step in 1..=3 {
        let fresh: Vec<Record> = (0..count / 3).map(|_| varied(&mut random, &mut next)).collect();
        let gone: Vec<RecordId> = live.iter().map(|record| record.id).filter(|_| random.below(10) == 0).collect();
        live.retain(|record| !gone.contains(&record.id));
        index.apply(&fresh, &gone, step.into()).unwrap();
        live.extend(fresh);
    }
    (index, live)
}

pub(super) fn varied(random: &mut TextGenerator, next: &mut i64) -> Record {
    let words = 3 + random.below(20);
    let mut record = record(*next, &random.text(words, 300));
    *next += 1 + random.below(3) as i64;
    record.kind = Kind::ALL[random.below(Kind::ALL.len())];
    record.importance = 1 + random.below(10) as i64;
    record.confidence = random.below(11) as f64 / 10.0;
    record.tags = (0..random.below(4)).map(|_| format!("tag {}", random.below(6))).collect();
    record.tags.dedup();
    record.scope.project = [None, Some("-"), Some("alpha"), Some("")][random.below(4)].map(str::to_owned);
    record.scope.agent = [None, Some("one"), Some("two")][random.below(3)].map(str::to_owned);
    record.context = (random.below(3) == 0).then(|| random.text(8, 300));
    let mut date = || (random.below(3) == 0).then(|| 1_700_000_000_000 + random.below(900) as i64);
    (record.valid.from, record.valid.to) = (date(), date());
    record
}

/// The inverse document frequency of a word that so many of all documents have.
fn idf(frequency: f32, docs: f32) -> f32 {
    (1.0 + (docs - frequency + 0.5) / (frequency + 0.5)).ln()
}

#[test]
fn in_a_long_text_the_words_of_one_passage_count() {
    let around = |words: usize| "filler ".repeat(words);
    let texts = [
        format!("{} boiler {} invoice {} vienna", around(10), around(900), around(900)),
        format!("{} boiler {} vienna of the invoice", around(900), around(50)),
        format!("boiler {} invoice {} vienna", around(60), around(60)),
    ];
    // The words are not rare.
    let others = (4..40).map(|id| record(id, ["boiler", "invoice", "vienna"][id as usize % 3]));
    let mut all: Vec<Record> = (1..).zip(&texts).map(|(id, text)| record(id, text)).chain(others).collect();
    all[0].tags = vec!["vienna".to_owned()];
    let ids = [1, 2, 3].map(RecordId::from);
    let query = KeywordQuery::new("boiler invoice vienna");
    let folder = tempfile::tempdir().unwrap();
    let index = index_of(folder.path(), &all);
    let empty = tempfile::tempdir().unwrap();
    let in_memory = index_of(empty.path(), &[]);
    let tail = tail_of(&all);
    for (snapshot, tail) in [(index.snapshot().unwrap(), None), (in_memory.snapshot().unwrap(), Some(&tail))] {
        let matches = snapshot.matches(&query, &ids, tail).unwrap().into_iter().map(Option::unwrap);
        let shares: Vec<(f32, bool)> =
            matches.map(|found| ((found.share * 3.0).round(), found.is_singled_out)).collect();
        assert_eq!(
            shares,
            [(2.0, false), (3.0, true), (3.0, true)],
            "a tag is near every passage; the third is not long"
        );
    }
}

/// Long texts, of which one passage counts, have over 800 tokens of characters or over 200 of words.
#[test]
fn cjk_texts_count_as_long_later_and_frequent_words_everywhere() {
    let folder = tempfile::tempdir().unwrap();
    let texts = [
        format!("電車{}切符", "あ".repeat(150)),
        format!("電車{}切符", "あ".repeat(450)),
        format!("{}{}invoice", "boiler ".repeat(65), "filler ".repeat(900)),
        format!("{}{}invoice", "boiler ".repeat(60), "filler ".repeat(900)),
    ];
    let index = index_of(folder.path(), &records(&texts.each_ref().map(String::as_str)));
    let snapshot = index.snapshot().unwrap();
    let share = |query: &str, id: i64| {
        let found = snapshot.matches(&KeywordQuery::new(query), &[id.into()], None).unwrap();
        found[0].unwrap().share
    };
    assert_eq!([share("電車 切符", 1), share("boiler invoice", 3)], [1.0, 1.0]);
    assert!(share("電車 切符", 2) < 0.8 && share("boiler invoice", 4) < 0.8);
}

#[test]
fn the_score_of_a_term_is_bm25_of_texts_of_160_words_at_least() {
    let folder = tempfile::tempdir().unwrap();
    let index = index_of(folder.path(), &records(&["apple pie", "apple apple tart pie crust", "plum cake"]));
    let snapshot = index.snapshot().unwrap();
    let scores =
        super::scores_of(&*snapshot, &KeywordQuery::new("apple"), &[1, 2, 3, 4].map(RecordId::from), None).unwrap();
    // Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009
    let bm25 = |tf: f32, length: f32| idf(2.0, 3.0) * 2.2 * tf / (tf + 1.2 * (0.25 + 0.75 * length / 160.0));
    let expected = [Some(bm25(1.0, 2.0)), Some(bm25(2.0, 5.0)), Some(0.0), None];
    for (score, expected) in scores.iter().zip(expected) {
        match (score, expected) {
            (Some(score), Some(expected)) => assert!((score - expected).abs() < 1e-5, "{score} {expected}"),
            (score, expected) => assert_eq!(*score, expected),
        }
    }
}

/// Each word weighs as much as it is rare; one that no record has as the rarest.
#[test]
fn the_share_of_a_query_is_that_of_its_rarity() {
    let folder = tempfile::tempdir().unwrap();
    let index = index_of(folder.path(), &records(&["apple pie", "apple tart", "plum cake"]));
    let snapshot = index.snapshot().unwrap();
    let shares = |query: &str| {
        let ids = [1, 2, 3].map(RecordId::from);
        let matches = snapshot.matches(&KeywordQuery::new(query), &ids, None).unwrap();
        matches.into_iter().map(|found| found.unwrap().share).collect::<Vec<_>>()
    };
    let idf = |frequency| idf(frequency, 3.0);
    let close = |shares: Vec<f32>, expected: [f32; 3]| {
        assert!(shares.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6), "{shares:?} {expected:?}");
    };
    close(shares("apple"), [1.0, 1.0, 0.0]);
    let all = idf(2.0) + idf(1.0);
    close(shares("apple pie"), [1.0, idf(2.0) / all, 0.0]);
    let all = idf(1.0) + idf(0.0);
    close(shares("plum pudding"), [0.0, 0.0, idf(1.0) / all]);
    close(shares("zebra"), [0.0, 0.0, 0.0]);
}

/// As a word is rare that one passage of the store has. 1,800 words are thirty passages.
#[test]
fn query_information_is_a_multiple_of_chance_information() {
    let information = |contents: &[&str], query: &str| {
        let folder = tempfile::tempdir().unwrap();
        let index = index_of(folder.path(), &records(contents));
        let snapshot = index.snapshot().unwrap();
        snapshot.query(&KeywordQuery::new(query), None).unwrap().matches(&[]).unwrap().information
    };
    let close = |left: f32, right: f32| assert!((left - right).abs() < 1e-5, "{left} {right}");
    let short = ["apple pie", "apple tart", "plum cake"];
    close(information(&short, "apple plum pie"), (idf(2.0, 3.0) + 2.0 * idf(1.0, 3.0)) / idf(1.0, 3.0));
    close(information(&short, "apple"), 1.0);
    // The only word that occurs is all that there can be.
    close(information(&short, "apple pudding"), (idf(2.0, 3.0) + idf(0.0, 3.0)) / idf(2.0, 3.0));
    let long = ["apple pie", "apple tart", &"plum ".repeat(1_796)];
    close(information(&long, "apple plum pie tart"), (idf(2.0, 3.0) + 3.0 * idf(1.0, 3.0)) / idf(1.0, 30.0));
}

#[test]
fn words_that_stand_together_score_more() {
    let folder = tempfile::tempdir().unwrap();
    let contents = [
        "memory bank of the house", "bank the memory of house", "house bank vault key memory lane", "state of the art",
    ];
    let index = index_of(folder.path(), &records(&contents));
    let snapshot = index.snapshot().unwrap();
    let hits = search(snapshot.as_ref(), "memory bank", 10, None);
    assert_eq!((hits[0].0, hits[1].0), (1.into(), 2.into()));
    let ratio = hits[0].1 / hits[1].1;
    assert!((ratio - 1.0 - PHRASE_BONUS).abs() < 1e-5, "{ratio}");
    let art = search(snapshot.as_ref(), "state of the art", 10, None)[0].1;
    let apart = search(snapshot.as_ref(), "art state", 10, None)[0].1;
    assert!(art > apart, "stop words between them keep their distance: {art} {apart}");
}

#[test]
fn the_best_k_are_those_of_a_full_sort_whatever_k() {
    let folder = tempfile::tempdir().unwrap();
    let seed = 7;
    let (index, live) = built_in_steps(folder.path(), seed, 9_000);
    let snapshot = index.snapshot().unwrap();
    let mut random = TextGenerator(seed + 1);
    let all: Vec<RecordId> = live.iter().map(|record| record.id).collect();
    for round in 0..40 {
        let words = 1 + random.below(8);
        let query = KeywordQuery::new(&random.text(words, 300));
        let filter = match round % 4 {
            0 => Filter { min_importance: Some(10), viewer: Viewer::of_agent("one"), ..Filter::default() },
            1 => Filter { kinds: vec![Kind::Fact, Kind::Task], ..Filter::default() },
            _ => Filter::default(),
        };
        let except: RoaringTreemap = all.iter().filter(|_| random.below(5) == 0).map(|id| id.key()).collect();
        let mut expected: Vec<(RecordId, f32)> = live
            .iter()
            .zip(super::scores_of(&*snapshot, &query, &all, None).unwrap())
            .filter(|(record, _)| filter.allows(record) && !except.contains(record.id.key()))
            .map(|(record, score)| (record.id, score.unwrap()))
            .filter(|&(_, score)| score > 0.0)
            .collect();
        expected.sort_by(|left, right| right.1.total_cmp(&left.1).then(left.0.cmp(&right.0)));
        for k in [0, 1, 10, 50, 20_000] {
            let found = snapshot.search(&query, k, &filter, &except, None).unwrap();
            assert_eq!(found, expected[..k.min(expected.len())], "seed {seed}, round {round}, k {k}");
        }
    }
}

#[test]
fn equal_scores_are_ordered_by_id_and_cut_by_id() {
    let folder = tempfile::tempdir().unwrap();
    let index = TantivyIndex::create(folder.path(), STORE).unwrap();
    // the smaller ids are added to the index later
    for (step, ids) in [(1, 3_001..6_001), (2, 1..3_001)] {
        let batch: Vec<Record> = ids.map(|id| record(id, "the user prefers dark mode")).collect();
        index.apply(&batch, &[], step.into()).unwrap();
    }
    let snapshot = index.snapshot().unwrap();
    let query = "user prefers dark themes";
    assert_eq!(ids(snapshot.as_ref(), query), (1..=100).collect::<Vec<_>>());
    assert_eq!(search(snapshot.as_ref(), query, 7, None).len(), 7);
    assert_eq!(search(snapshot.as_ref(), query, 7, None)[..], search(snapshot.as_ref(), query, 70, None)[..7]);
}

#[test]
fn a_record_in_the_tail_scores_as_if_it_were_applied() {
    let (whole, part) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut random = TextGenerator(11);
    let mut next = 1;
    let all: Vec<Record> = (0..600).map(|_| varied(&mut random, &mut next)).collect();
    let applied = index_of(whole.path(), &all).snapshot().unwrap();
    let behind = index_of(part.path(), &all[..500]).snapshot().unwrap();
    let tail = tail_of(&all[500..]);
    assert_eq!(tail.ids().len(), 100);
    let ids: Vec<RecordId> = all.iter().map(|record| record.id).collect();
    for _ in 0..20 {
        let text = random.text(5, 300);
        let query = KeywordQuery::new(&text);
        let filter = Filter::of(Viewer::in_project("alpha"));
        for filter in [Filter::default(), filter] {
            let except: RoaringTreemap = [3, ids[550].key()].into_iter().collect();
            let expected = applied.search(&query, 30, &filter, &except, None).unwrap();
            let found = behind.search(&query, 30, &filter, &except, Some(&tail)).unwrap();
            assert_eq!(found, expected, "{text}");
            assert!(!found.is_empty());
        }
        assert_eq!(
            super::scores_of(&*behind, &query, &ids, Some(&tail)).unwrap(),
            super::scores_of(&*applied, &query, &ids, None).unwrap()
        );
    }
}

#[test]
fn the_tail_hides_older_versions() {
    let folder = tempfile::tempdir().unwrap();
    let snapshot = index_of(folder.path(), &records(&["old wording", "another"])).snapshot().unwrap();
    let first = tail_of(&[record(1, "first try"), record(3, "brand new wording")]);
    let tail = grown(&first, &[record(1, "second try")], &[]);
    let find = |query| {
        search(snapshot.as_ref(), query, 10, Some(&tail)).into_iter().map(|hit| hit.0.get()).collect::<Vec<_>>()
    };
    assert_eq!(find("wording"), [3]);
    assert_eq!(find("second"), [1]);
    assert_eq!(find("first"), [] as [i64; 0]);
    assert_eq!(find("try another"), [2, 1], "both words are equally rare, the second record is shorter");
    let scores =
        super::scores_of(&*snapshot, &KeywordQuery::new("old"), &[1, 3].map(RecordId::from), Some(&tail)).unwrap();
    assert_eq!(scores, [Some(0.0), Some(0.0)]);
    let empty = tail_of(&[]);
    assert!(empty.ids().is_empty());
    assert_eq!(search(snapshot.as_ref(), "wording", 10, Some(&empty)).len(), 1);
}

#[test]
fn a_tail_that_grew_finds_what_a_new_one_does() {
    let folder = tempfile::tempdir().unwrap();
    let snapshot = index_of(folder.path(), &[]).snapshot().unwrap();
    let (mut random, mut next) = (TextGenerator(29), 1);
    let mut live = BTreeMap::new();
    let mut tail = TailIndex::default();
    for step in 0..60 {
        let mut upserts: Vec<Record> = (0..random.below(9)).map(|_| varied(&mut random, &mut next)).collect();
        let old: Vec<RecordId> = live.keys().copied().filter(|_| random.below(12) == 0).collect();
        let (changed, deleted) = old.split_at(old.len() / 2);
        upserts.extend(changed.iter().map(|id| Record { id: *id, ..varied(&mut random, &mut next) }));
        tail = grown(&tail, &upserts, deleted);
        deleted.iter().for_each(|id| drop(live.remove(id)));
        live.extend(upserts.into_iter().map(|record| (record.id, record)));
        let whole = tail_of(&live.values().cloned().collect::<Vec<_>>());
        assert_eq!(tail.ids(), whole.ids(), "step {step}");
        let query = KeywordQuery::new(&random.text(4, 100));
        let none = RoaringTreemap::new();
        for filter in [Filter::default(), Filter::of(Viewer::in_project("alpha"))] {
            let found = |tail| {
                let hits = snapshot.search(&query, 1_000, &filter, &none, Some(tail)).unwrap();
                hits.into_iter().map(|(id, _)| id).collect::<BTreeSet<_>>()
            };
            assert_eq!(found(&tail), found(&whole), "step {step}");
        }
    }
    assert!(live.len() > 50, "{}", live.len());
}

pub(super) fn some_filter() -> impl Strategy<Value = Filter> {
    let scope = |names: &'static [&'static str]| {
        let own = prop::sample::select(names).prop_map(|name| Reach::Own(name.to_owned()));
        prop_oneof![Just(Reach::Every), Just(Reach::Shared), own]
    };
    let moment = || prop::option::of(1_699_999_999_990i64..1_700_000_001_000);
    (
        prop::collection::vec(prop::sample::select(&Kind::ALL[..]), 0..4),
        prop::collection::vec((0..8u8).prop_map(|tag| format!("tag {tag}")), 0..3),
        prop::option::of(0..12i64),
        prop::option::of((0..11u8).prop_map(|tenth| f64::from(tenth) / 10.0)),
        scope(&["alpha", "beta", "-", "", "=alpha"]),
        scope(&["one", "three"]),
        ((moment(), moment()), (moment(), moment()), (moment(), moment())),
    )
        .prop_map(
            |(
                kinds,
                tags,
                min_importance,
                min_confidence,
                project,
                agent,
                ((created_after, created_before), (updated_after, updated_before), (happens_after, happens_before)),
            )| Filter {
                kinds,
                tags,
                min_importance,
                min_confidence,
                viewer: Viewer { agent, project },
                created_after,
                created_before,
                updated_after,
                updated_before,
                happens_after,
                happens_before,
                metadata: None,
            },
        )
}

#[test]
fn a_filter_passes_what_it_allows() {
    let folder = tempfile::tempdir().unwrap();
    let (index, live) = built_in_steps(folder.path(), 5, 600);
    let snapshot = index.snapshot().unwrap();
    let query = KeywordQuery::new("word0 word1 word2 word3");
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let check = |filter: Filter| {
        let allowed: RoaringTreemap =
            live.iter().filter(|record| filter.allows(record)).map(|record| record.id.key()).collect();
        prop_assert_eq!(snapshot.matching(&filter).unwrap(), allowed.clone());
        prop_assert_eq!(snapshot.matching(&filter).unwrap(), allowed.clone(), "kept");
        let none = RoaringTreemap::new();
        let unfiltered = snapshot.search(&query, 1_000, &Filter::default(), &none, None).unwrap();
        let filtered = snapshot.search(&query, 1_000, &filter, &none, None).unwrap();
        let expected: Vec<_> = unfiltered.into_iter().filter(|&(id, _)| allowed.contains(id.key())).collect();
        prop_assert_eq!(filtered, expected);
        Ok(())
    };
    runner.run(&some_filter(), check).unwrap();
}

/// The columns of a small segment are narrow: a whole filter may be below or above all their values.
#[test]
fn a_filter_passes_what_it_allows_among_few_records() {
    let query = KeywordQuery::new("common");
    let none = RoaringTreemap::new();
    let config = proptest::test_runner::Config { cases: 64, ..Default::default() };
    let deterministic = proptest::test_runner::TestRng::deterministic_rng(Default::default());
    let mut runner = proptest::test_runner::TestRunner::new_with_rng(config, deterministic);
    let check = |(seed, count, filter): (u64, usize, Filter)| {
        let (mut random, mut next) = (TextGenerator(seed), 1);
        let records: Vec<Record> =
            (0..count).map(|_| Record { content: "common".into(), ..varied(&mut random, &mut next) }).collect();
        let folder = tempfile::tempdir().unwrap();
        let snapshot = index_of(folder.path(), &records).snapshot().unwrap();
        let found = snapshot.search(&query, 10, &filter, &none, None).unwrap();
        let found: RoaringTreemap = found.into_iter().map(|(id, _)| id.key()).collect();
        let allowed: RoaringTreemap =
            records.iter().filter(|record| filter.allows(record)).map(|record| record.id.key()).collect();
        prop_assert_eq!(&found, &allowed);
        prop_assert_eq!(&snapshot.matching(&filter).unwrap(), &allowed);
        Ok(())
    };
    runner.run(&(any::<u64>(), 1..4usize, some_filter()), check).unwrap();
}
