//! Results of a search, their order, and its remarks.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use memorist_engine::embed::{self, Embedder, HashEmbedder, ModelIdentity};
use memorist_engine::progress::NoProgress;
use memorist_engine::types::{
    DOUBTFUL, EmbeddingState, Filter, Hit, MatchSource, Mode, NewRecord, Period, Query, Scale, Span, Threshold, Tier,
    Viewer, Weights,
};

use crate::support::{DIMS, Store, hashed, with_embedder, words_only};

fn query(text: &str, mode: Mode) -> Query {
    Query { mode, ..Query::new(text) }
}

const MODES: [Mode; 3] = [Mode::Hybrid, Mode::Vector, Mode::Keyword];

/// Q1, Q6, Q8, Q10.
#[test]
fn results_say_which_side_found_them_and_by_how_much() {
    let store = Store::new(hashed());
    let both = store.add("quarterly budget review in the blue room");
    let vector_only = store.add("nothing in common with the question at all");
    store.settle();
    let reply = store.engine.search(&query("quarterly budget", Mode::Hybrid)).unwrap();
    assert_eq!(reply.tier, Tier::Full);
    let best = &reply.hits[0];
    assert_eq!((best.record.id, &best.matched_by[..]), (both, &[MatchSource::Vector, MatchSource::Keyword][..]));
    assert!((best.score - 1.0).abs() < 1e-9 && best.keyword_score.unwrap() > 0.0 && best.vector_score.unwrap() > 0.3);
    let other = reply.hits.iter().find(|hit| hit.record.id == vector_only).unwrap();
    assert_eq!((&other.matched_by[..], other.keyword_score), (&[MatchSource::Vector][..], Some(0.0)));

    let words = Query { weights: Some(Weights { vector: 0.0, keyword: 2.0 }), ..Query::new("quarterly budget") };
    let reply = store.engine.search(&words).unwrap();
    assert_eq!(reply.explain.weights, Weights { vector: 0.0, keyword: 1.0 });
}

/// Q2.
#[test]
fn the_first_of_ten_is_the_first_of_one() {
    let store = Store::new(hashed());
    for at in 0..120 {
        store.add(&format!("meeting {at} on topic {} with team {}", at % 7, at % 11));
    }
    store.settle();
    for mode in MODES {
        let ten = store.find(&Query { limit: 10, ..query("topic 3 with team 5", mode) });
        let one = store.find(&Query { limit: 1, ..query("topic 3 with team 5", mode) });
        assert_eq!(ten[..1], one[..], "{mode:?}");
    }
}

/// Q11, Q21, X4.
#[test]
fn without_a_model_words_answer_and_say_so() {
    let store = Store::new(words_only());
    let outcome = store.engine.add(&NewRecord::new("the harbour is closed")).unwrap();
    assert_eq!(outcome.embedding, EmbeddingState::Pending);
    let reply = store.engine.search(&Query::new("harbour")).unwrap();
    assert_eq!((reply.tier, reply.hits.len()), (Tier::Keyword, 1));
    assert!(reply.warnings[0].contains("keyword search only"), "{:?}", reply.warnings);
    let by_meaning = store.engine.search(&query("harbour", Mode::Vector)).unwrap();
    assert_eq!(
        (by_meaning.tier, by_meaning.hits[0].score),
        (Tier::Keyword, 0.0),
        "keywords say nothing about similarity"
    );
    let asked_for_words = store.engine.search(&query("harbour", Mode::Keyword)).unwrap();
    assert_eq!((asked_for_words.tier, asked_for_words.warnings.len()), (Tier::Full, 0));
}

/// Q12.
#[test]
fn a_part_of_a_word_is_found_as_a_last_resort() {
    let store = Store::new(words_only());
    let id = store.add("The Supercalifragilistic show was sold out");
    let reply = store.engine.search(&Query::new("califragil")).unwrap();
    assert_eq!((reply.tier, reply.hits[0].record.id), (Tier::Substring, id));
    let without = Query { substring_tier: false, ..Query::new("califragil") };
    assert!(store.find(&without).is_empty(), "a save that looks for what resembles it does without");
    assert!(reply.hits[0].matched_by.is_empty());
}

/// Q12: each word by itself.
#[test]
fn the_last_resort_looks_for_each_word() {
    let store = Store::new(words_only());
    let [show, ice] = ["The Supercalifragilistic show", "An emperor penguin"].map(|text| store.add(text));
    let found = |text: &str| {
        let reply = store.engine.search(&Query::new(text)).unwrap();
        let mut ids: Vec<_> = reply.hits.iter().map(|hit| hit.record.id).collect();
        ids.sort_unstable();
        (reply.tier, ids, reply.terms)
    };
    let pieces = |pieces: &[&str]| pieces.iter().map(|piece| (*piece).to_owned()).collect::<Vec<_>>();
    assert_eq!(found("engui, zzz"), (Tier::Substring, vec![ice], pieces(&["engui", "zzz"])));
    assert_eq!(found("the califragil or engui?"), (Tier::Substring, vec![show, ice], pieces(&["califragil", "engui"])));
    // Where a word is found by itself, parts of words are results like others.
    let (tier, ids, _) = found("show engui");
    assert_eq!((tier, ids), (Tier::Keyword, vec![show, ice]));
}

/// Beside vectors, what has a word of the query within another is a candidate, by the keyword index.
#[test]
fn a_part_of_a_word_is_found_beside_vectors() {
    let store = Store::new(hashed());
    let penguin = store.add("The penguin lives on the ice");
    for number in 0..30 {
        store.add(&format!("unrelated note {number} of the harbour"));
    }
    store.engine.embed_pending(&NoProgress).unwrap();
    let search = |query: &Query| store.engine.search(query).unwrap();
    for text in ["engui", "engui zzz"] {
        for applied in [false, true] {
            let reply = search(&Query::new(text));
            let hit = reply.hits.iter().find(|hit| hit.record.id == penguin).expect("it is found");
            assert!(hit.matched_by.contains(&MatchSource::Part) && !hit.matched_by.contains(&MatchSource::Keyword));
            assert!(reply.tier == Tier::Full && hit.keyword_score > Some(0.0), "{text}, {applied}");
            assert!(reply.hits.iter().all(|hit| hit.record.id == penguin || hit.keyword_score == Some(0.0)));
            store.engine.flush(&NoProgress).unwrap();
        }
    }
    assert!(!search(&Query::new("engui")).no_answer);
    let without = search(&Query { substring_tier: false, ..Query::new("engui") });
    assert!(without.hits.iter().all(|hit| hit.matched_by == [MatchSource::Vector]));
    let word = search(&Query::new("penguin"));
    assert!(word.hits[0].record.id == penguin && word.hits[0].matched_by.contains(&MatchSource::Keyword));
}

/// More text than one search reads stands between the newest memory and the oldest: the dictionary leads to that all the
/// same, and what it does not have is said to be looked for in the newest alone.
#[test]
fn a_part_of_a_word_is_found_however_much_text_there_is() {
    let store = Store::new(words_only());
    let id = store.add("The Supercalifragilistic shows");
    let applied = |text: &str| {
        store.engine.flush(&NoProgress).unwrap();
        let reply = store.engine.search(&Query::new(text)).unwrap();
        let ids: Vec<_> = reply.hits.iter().map(|hit| hit.record.id).collect();
        (reply.tier, ids, reply.warnings.iter().any(|warning| warning.contains("newest memories only")))
    };
    assert_eq!(applied("ows"), (Tier::Substring, vec![id], false), "an ending that the stemmer takes off");
    for number in 0..17 {
        store.add(&format!("{number}{}", ".".repeat(1_000_000)));
    }
    assert_eq!(applied("califragil"), (Tier::Substring, vec![id], false));
    assert_eq!(applied("The Supercalifragil"), (Tier::Substring, vec![id], false));
    assert_eq!(applied("ows"), (Tier::Keyword, Vec::new(), true));
    let last = store.add("And tramontane");
    assert_eq!(applied("ramont"), (Tier::Substring, vec![last], false));
}

/// Q7.
#[test]
fn thresholds_drop_what_is_below_them_but_no_exact_hit() {
    let store = Store::new(hashed());
    let exact = store.add("error code E4242 in the login service");
    for at in 0..60 {
        store.add(&format!("meeting {at} with the billing team about invoices"));
    }
    store.add("unlike any of the queries");
    store.settle();
    let scale = Some(Scale::Pool);
    let all = Query { limit: 100, scale, ..query("E4242 meeting with the billing team", Mode::Hybrid) };
    assert!(store.engine.search(&all).unwrap().hits.iter().any(|hit| hit.score < 0.35));
    let kept = store.engine.search(&Query { min_score: Some(0.35), ..all.clone() }).unwrap();
    let above = |score: f64, by: &[MatchSource]| score >= 0.35 || by == [MatchSource::Keyword];
    assert!(kept.hits.iter().all(|hit| above(hit.score, &hit.matched_by)), "{:?}", kept.hits);
    assert!(kept.hits.len() < 62 && kept.hits.iter().any(|hit| hit.record.id == exact));

    let relevant = |least| Query { min_relevance: Some(least), scale: None, min_score: None, ..all.clone() };
    let kept = store.engine.search(&relevant(0.5)).unwrap();
    assert!(kept.hits.iter().any(|hit| hit.record.id == exact), "its code is its own");
    let is_kept = |hit: &Hit| hit.relevance >= 0.5 || hit.record.id == exact;
    assert!(kept.hits.iter().all(is_kept) && kept.hits.len() < 62, "{:?}", kept.hits);
    assert!(store.engine.search(&relevant(1.0)).unwrap().hits.len() <= 1);

    let similar = |least| Query { min_similarity: Some(least), limit: 100, ..query("E4242", Mode::Hybrid) };
    let kept = store.engine.search(&similar(0.99)).unwrap();
    assert_eq!(kept.hits.iter().map(|hit| hit.record.id).collect::<Vec<_>>(), [exact]);
    assert_eq!(kept.hits[0].matched_by, [MatchSource::Keyword], "its cosine is below, its word is there");
    let nothing = store.engine.search(&Query { mode: Mode::Vector, ..similar(1.0) }).unwrap();
    assert!(nothing.hits.is_empty() && nothing.tier == Tier::Full, "a threshold does not start the substring search");
    let nearest = nothing.near_miss.expect("what there was is named");
    assert!(nearest.id == exact && nearest.minimum == 1.0 && nearest.actual < 1.0, "{nearest:?}");
    assert_eq!(nearest.threshold, Threshold::Similarity);
    for (bad, field) in [
        (Query { min_score: Some(1.5), ..Query::new("x") }, "min_score"),
        (Query { min_relevance: Some(-0.1), ..Query::new("x") }, "min_relevance"),
        (Query { min_similarity: Some(f64::NAN), ..Query::new("x") }, "min_similarity"),
        (Query { weights: Some(Weights { vector: 0.7, keyword: -1.0 }), ..Query::new("x") }, "keyword_weight"),
        (Query { weights: Some(Weights { vector: -1.0, keyword: 0.3 }), ..Query::new("x") }, "vector_weight"),
    ] {
        let error = store.engine.search(&bad).unwrap_err().to_string();
        assert!(error.starts_with(field), "{error}");
    }
}

/// A memory below a threshold is no result, but the best of them is named, and how to get it.
#[test]
fn a_search_reports_no_answer_and_the_nearest_miss() {
    let store = Store::new(hashed());
    for number in 0..30 {
        store.add(&format!("Note {number} about herons, otters and the river"));
    }
    store.settle();
    let search = |query: &Query| store.engine.search(query).unwrap();
    for (text, mode) in [("herons and otters", Mode::Hybrid), ("note 7", Mode::Keyword)] {
        let reply = search(&Query { mode, ..Query::new(text) });
        assert!(!reply.no_answer && reply.near_miss.is_none() && !reply.hits.is_empty(), "{text}: {reply:?}");
    }
    let unknown = query("quantum chromodynamics", Mode::Hybrid);
    let reply = search(&unknown);
    assert!(reply.no_answer && reply.near_miss.is_none() && !reply.hits.is_empty(), "{reply:?}");
    assert!(reply.hits.iter().all(|hit| hit.relevance < DOUBTFUL));
    let page = search(&Query { offset: 10, ..query("herons and otters", Mode::Hybrid) });
    let past = search(&Query { offset: 900, ..query("herons and otters", Mode::Hybrid) });
    assert!(!page.no_answer && !past.no_answer && past.hits.is_empty(), "a page is not all there is");

    let missed_by = |query: Query| {
        let reply = search(&query);
        assert!(reply.no_answer && reply.hits.is_empty() && reply.tier == Tier::Full, "{reply:?}");
        reply.near_miss.expect("the best there was")
    };
    let relevant = |least| Query { min_relevance: Some(least), ..unknown.clone() };
    let missed = missed_by(relevant(0.9));
    let best = reply.hits.iter().map(|hit| hit.relevance).fold(0.0, f64::max);
    assert_eq!((missed.threshold, missed.minimum), (Threshold::Relevance, 0.9));
    assert!(missed.actual <= best && best < missed.actual + 0.01, "{missed:?}");
    assert!(search(&relevant(missed.actual)).hits.iter().any(|hit| hit.record.id == missed.id), "{missed:?}");
    // The words, of which none is there, add nothing: 0.7 is the most.
    let scored = |least| Query { min_score: Some(least), ..unknown.clone() };
    let missed = missed_by(scored(0.9));
    assert_eq!((missed.threshold, missed.actual), (Threshold::Score, 0.7));
    // Of those that are equally good, the newer is shown first.
    assert!(search(&scored(0.7)).hits.iter().any(|hit| hit.record.id == missed.id), "{missed:?}");

    let reply = search(&query("tter", Mode::Keyword));
    assert!(reply.tier == Tier::Substring && !reply.no_answer, "it is there, as a part of words");
}

/// A fragment of a word is no typo of another.
#[test]
fn a_part_of_a_word_is_found_where_only_a_typo_would_be() {
    let store = Store::new(words_only());
    let [part, typo] = ["Tune the postgres cache", "I wrote a blog post"].map(|text| store.add(text));
    let reply = store.engine.search(&query("postg", Mode::Keyword)).unwrap();
    assert_eq!((reply.tier, reply.hits[0].record.id, reply.hits.len()), (Tier::Substring, part, 1));
    let reply = store.engine.search(&query("blogg", Mode::Keyword)).unwrap();
    assert_eq!((reply.tier, reply.hits[0].record.id), (Tier::Full, typo));
    assert!(reply.explain.only_corrected);
    assert!(!store.engine.search(&query("blog", Mode::Keyword)).unwrap().explain.only_corrected);
}

#[test]
fn the_period_of_a_query_lifts_what_is_of_it() {
    const DAY: i64 = 86_400_000;
    let store = Store::new(hashed());
    let happened = |day: i64| {
        let valid = Span { from: Some(day * DAY), to: None };
        let new =
            NewRecord { valid, ..NewRecord::new(format!("meeting {day} with the harbour board about the crane")) };
        store.engine.add(&new).unwrap().id
    };
    let ids: Vec<_> = (1..=60).map(happened).collect();
    store.settle();
    let period = |from: i64, until: i64| Some(Period { from: from * DAY, until: until * DAY });
    let ask =
        |period, scale| Query { period, scale, limit: 60, ..query("the meeting with the harbour board", Mode::Hybrid) };
    let without = store.find(&ask(None, None));
    assert_eq!(without.len(), 60);
    let with = store.find(&ask(period(30, 32), None));
    assert_eq!(with.len(), 60, "nothing is filtered");
    assert_eq!(with[..2].iter().copied().collect::<HashSet<_>>(), HashSet::from([ids[29], ids[30]]));
    let scored = |period| Query { min_score: Some(0.8), ..ask(period, None) };
    let kept = store.find(&scored(None));
    let lifted = store.find(&scored(period(30, 32)));
    assert!(kept.iter().all(|id| lifted.contains(id)) && !kept.is_empty());
    let pool = Some(Scale::Pool);
    assert_eq!(
        store.find(&ask(period(30, 32), pool)),
        store.find(&ask(None, pool)),
        "that is the letter of another system"
    );
    let today = memorist_engine::now() / DAY;
    assert_eq!(store.find(&ask(period(today - 1, today + 2), None)), without, "saved today, but it happened before");
    let saved = store.add("another meeting with the harbour board");
    assert_eq!(store.find(&ask(period(today - 1, today + 2), None))[0], saved);
}

/// Texts with "ZX" are far from all others, and the shorter, the nearer: only keywords can find them.
struct BlindToNames(ModelIdentity);

impl Embedder for BlindToNames {
    fn identity(&self) -> &ModelIdentity {
        &self.0
    }

    fn embed_query(&self, text: &str) -> embed::Result<Vec<f32>> {
        let angle = match text {
            "what does error ZX-4417 mean" => 0.0,
            named if named.contains("ZX") => 1.5_f32,
            other => 0.01 * other.len() as f32,
        };
        let mut vector = vec![0.0; DIMS];
        (vector[0], vector[1]) = (angle.cos(), angle.sin());
        Ok(vector)
    }

    fn embed_batch(&self, texts: &[&str]) -> embed::Result<Vec<Vec<f32>>> {
        texts.iter().map(|text| self.embed_query(text)).collect()
    }
}

/// Q7.
#[test]
fn a_threshold_keeps_the_exact_hit_at_any_store_size() {
    let identity = HashEmbedder::new(DIMS).identity().clone();
    let store = Store::new(with_embedder(Arc::new(BlindToNames(identity))));
    let exact = store.add("ZX-4417 is shown when the tank of the coffee machine is empty");
    let alike = ["error budget is spent", "no error so far", "an error in the bill", "what do you mean"];
    let alike = alike.map(|text| store.add(text));
    for at in 0..6 {
        store.add(&format!("lunch with team {at}"));
    }
    // All candidates fit into one answer, so that only the threshold drops any.
    let all = Query { limit: 100, pool: Some(50), ..query("what does error ZX-4417 mean", Mode::Hybrid) };
    let ask = |least| Query { min_score: Some(least), ..all.clone() };
    let kept = |least: f64| {
        store.settle();
        store.engine.search(&ask(least)).unwrap().hits
    };
    for size in [11, 71, 571] {
        for at in store.engine.stats(&Filter::default()).unwrap().total..size {
            store.add(&format!("a walk of {at} steps along the canal"));
        }
        for least in [0.35, 0.9] {
            let hits = kept(least);
            let found = hits.iter().find(|hit| hit.record.id == exact);
            assert!(found.is_some(), "{least} of {size} memories: {hits:?}");
        }
        let by_one_word: Vec<_> = kept(0.9).into_iter().filter(|hit| alike.contains(&hit.record.id)).collect();
        assert!(by_one_word.iter().all(|hit| hit.score >= 0.9), "{size} memories: {by_one_word:?}");
    }
}

/// T21, Q2, Q3, Q15.
#[test]
fn the_settings_weights_count_and_the_pool_is_wide() {
    let mut setup = hashed();
    setup.config.weights = Weights { vector: 0.2, keyword: 0.8 };
    let store = Store::new(setup);
    store.add("quarterly budget review");
    store.settle();
    let explained = |query: Query| store.engine.search(&query).unwrap().explain;
    let plain = explained(Query::new("budget"));
    assert_eq!((plain.weights, plain.pool), (Weights { vector: 0.2, keyword: 0.8 }, 50));
    assert_eq!(explained(Query { limit: 40, ..Query::new("budget") }).pool, 160);
    assert_eq!(explained(query("budget", Mode::Vector)).weights, Weights { vector: 1.0, keyword: 0.0 });
    assert_eq!(explained(query("budget", Mode::Keyword)).weights, Weights { vector: 0.0, keyword: 1.0 });
}

/// R27: the time of the last recall orders substring matches; a memory that was never recalled uses its creation time.
#[test]
fn the_last_tier_has_the_memory_recalled_last_before_newer_ones() {
    let store = Store::new(words_only());
    let older = store.add("the xylophones of 1911");
    let newer = store.add("the xylophones of 1912");
    let found = || {
        let reply = store.engine.search(&query("lophon", Mode::Keyword)).unwrap();
        assert_eq!(reply.tier, Tier::Substring);
        reply.hits.iter().map(|hit| hit.record.id).collect::<Vec<_>>()
    };
    std::thread::sleep(Duration::from_millis(5));
    assert_eq!(store.engine.viewed_by(&Viewer::OWNER).access(newer).unwrap().access_count, 1);
    assert_eq!(found(), [newer, older]);
    std::thread::sleep(Duration::from_millis(5));
    store.engine.viewed_by(&Viewer::OWNER).access(older).unwrap();
    assert_eq!(found(), [older, newer]);
}

/// Q17: each index separately, with its own measure.
#[test]
fn each_index_can_be_searched_separately() {
    let store = Store::new(hashed());
    let ids =
        ["a heron in the reeds", "a kingfisher on the bridge", "the bridge is closed"].map(|text| store.add(text));
    store.settle();
    let engine = &store.engine;
    let vector = engine.embed_query("a kingfisher on the bridge").unwrap();
    let nearest = engine.vector_search(vector.clone(), 3, Filter::default()).unwrap();
    assert_eq!((nearest.len(), nearest[0].0), (3, ids[1]));
    assert!(nearest[0].1.abs() < 1e-4 && nearest.is_sorted_by(|a, b| a.1 <= b.1), "{nearest:?}");
    assert_eq!(engine.vector_search(vector, 1, Filter::default()).unwrap(), nearest[..1]);
    let words = engine.keyword_search("bridge kingfisher", 9, Filter::default()).unwrap();
    assert_eq!(words.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [ids[1], ids[2]]);
    assert!(words[0].1 > words[1].1 && words[1].1 > 0.0, "{words:?}");
    let unimportant = Filter { min_importance: Some(6), ..Filter::default() };
    assert_eq!(engine.keyword_search("bridge", 9, unimportant).unwrap(), []);
    assert_eq!(engine.keyword_search("ingfishe", 9, Filter::default()).unwrap(), [], "no part of a word");
    assert!(engine.vector_search(vec![1.0], 3, Filter::default()).is_err());
}
