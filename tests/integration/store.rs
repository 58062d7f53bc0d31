//! Writes are found, in every mode, before and after they are indexed.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use memorist_engine::Error;
use memorist_engine::config::{Config, ModelSource};
use memorist_engine::embed::{self, Embedder, HashEmbedder, Loader, ModelIdentity, Plan};
use memorist_engine::paths::StorePaths;
use memorist_engine::progress::{NoProgress, Progress};
use memorist_engine::records::{AccessKind, Records};
use memorist_engine::sync::WriterLock;
use memorist_engine::types::{
    DOUBTFUL, EmbeddingState, Filter, Hit, MatchSource, Mode, NewRecord, Period, Query, RecordUpdate, Scale, Span,
    Threshold, Tier, Viewer, Weights,
};

use crate::support::{DIMS, Store, hashed, with_embedder, words_only};

fn query(text: &str, mode: Mode) -> Query {
    Query { mode, ..Query::new(text) }
}

const MODES: [Mode; 3] = [Mode::Hybrid, Mode::Vector, Mode::Keyword];

#[test]
fn a_write_is_found_by_the_next_search_and_after_every_change_of_state() {
    let store = Store::new(hashed());
    for at in 0..300 {
        store.add(&format!("note {at} about ordinary things"));
    }
    let heron = "the heron stands in the reeds";
    let id = store.add(heron);
    assert_eq!(store.find(&query("heron", Mode::Keyword)), [id], "by words, at once");
    store.engine.embed_pending(&NoProgress).unwrap();
    for mode in MODES {
        assert_eq!(store.find(&query(heron, mode))[0], id, "{mode:?}, embedded");
    }
    store.settle();
    for mode in MODES {
        assert_eq!(store.find(&query(heron, mode))[0], id, "{mode:?}, applied");
    }
    let store = store.reopen(hashed());
    for mode in MODES {
        assert_eq!(store.find(&query(heron, mode))[0], id, "{mode:?}, reopened");
    }
}

/// Z3: a deletion returns whether there was anything, and leaves nothing in either index.
#[test]
fn deleted_and_replaced_texts_are_gone_at_once() {
    let store = Store::new(hashed());
    let (heron, stork) = (store.add("the heron stands in the reeds"), store.add("a stork on the chimney"));
    for settled in [false, true] {
        let id = store.add(&format!("short lived kingfisher {settled}"));
        if settled {
            store.settle();
        }
        assert!(store.engine.delete(id, &Viewer::OWNER).unwrap());
        assert!(!store.engine.delete(id, &Viewer::OWNER).unwrap(), "nothing left to delete");
        for mode in MODES {
            let found = store.find(&query("short lived kingfisher", mode));
            assert!(!found.contains(&id), "{mode:?} settled {settled}");
        }
        assert!(matches!(store.engine.get(id, &Viewer::OWNER), Err(Error::NotFound(gone)) if gone == id));
    }
    let new = RecordUpdate { content: Some("a crane over the marsh".into()), ..RecordUpdate::default() };
    let outcome = store.engine.update(heron, &new, &Viewer::OWNER).unwrap();
    assert_eq!((outcome.record.version, outcome.record.id), (2, heron));
    for settled in [false, true] {
        if settled {
            store.settle();
        }
        assert!(store.find(&query("heron reeds", Mode::Keyword)).is_empty(), "settled {settled}");
        assert_eq!(store.find(&query("crane marsh", Mode::Keyword)), [heron]);
    }
    assert_eq!(store.find(&query("a crane over the marsh", Mode::Vector))[0], heron);
    assert_eq!(store.find(&query("stork", Mode::Keyword)), [stork]);
}

/// D1, Z4: duplicates are detected before saving.
#[test]
fn the_same_text_is_kept_once_per_scope() {
    let store = Store::new(words_only());
    let first = store.engine.add(&NewRecord::new("caf\u{e9} at nine")).unwrap();
    let again = store.engine.add(&NewRecord::new("cafe\u{301} at nine")).unwrap();
    assert_eq!((again.id, again.created), (first.id, false), "composed or not, it is the same text");
    let mut elsewhere = NewRecord::new("caf\u{e9} at nine");
    elsewhere.scope.project = Some("atlas".into());
    assert!(store.engine.add(&elsewhere).unwrap().created);
    let clash = RecordUpdate { content: Some("caf\u{e9} at nine".into()), ..RecordUpdate::default() };
    let other = store.add("tea at four");
    assert!(matches!(store.engine.update(other, &clash, &Viewer::OWNER), Err(Error::Duplicate(id)) if id == first.id));
}

/// R26.
#[test]
fn expired_records_are_never_shown() {
    let store = Store::new(hashed());
    let past = NewRecord { expires_at: Some(200_000_000_000), ..NewRecord::new("the ferry leaves at six") };
    let id = store.engine.add(&past).unwrap().id;
    let kept = store.add("the ferry takes bicycles");
    for settled in [false, true] {
        if settled {
            store.settle();
        }
        for mode in MODES {
            assert!(!store.find(&query("the ferry", mode)).contains(&id), "{mode:?} settled {settled}");
        }
        assert!(matches!(store.engine.get(id, &Viewer::OWNER), Err(Error::NotFound(_))));
    }
    assert_eq!(store.find(&query("the ferry", Mode::Hybrid)), [kept]);
    assert_eq!(store.engine.stats(&Filter::default()).unwrap().total, 1);
}

#[test]
fn a_record_that_expires_later_vanishes_from_what_is_indexed_already() {
    let store = Store::new(hashed());
    let soon = memorist_engine::now() + 1_500;
    let record = NewRecord { expires_at: Some(soon), ..NewRecord::new("the parking ticket is valid") };
    let id = store.engine.add(&record).unwrap().id;
    store.settle();
    assert_eq!(store.find(&query("parking ticket", Mode::Hybrid)), [id]);
    while memorist_engine::now() < soon {
        std::thread::sleep(Duration::from_millis(20));
    }
    for mode in MODES {
        assert!(store.find(&query("parking ticket", mode)).is_empty(), "{mode:?}");
    }
}

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
    assert!(reply.warnings[0].contains("words alone"), "{:?}", reply.warnings);
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
    assert!(!search(&Query::new("engui")).nothing);
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

/// Z1, Z2: add, get, search and stats, with the fields of the types.
#[test]
fn fetching_counts_and_searching_does_not() {
    let store = Store::new(words_only());
    let id = store.add("the boiler was serviced");
    assert_eq!(store.engine.get(id, &Viewer::OWNER).unwrap().access_count, 1, "the reply counts itself");
    store.find(&Query::new("boiler"));
    let again = store.engine.get(id, &Viewer::OWNER).unwrap();
    assert_eq!(again.access_count, 2);
    assert!(again.last_accessed_at.is_some());
    assert_eq!(store.engine.stats(&Filter::default()).unwrap().total_accesses, 2);
}

#[test]
fn two_engines_on_one_store_see_each_others_writes_at_once() {
    let ours = Store::new(hashed());
    let theirs = hashed().open(ours.folder.path()).unwrap();
    let id = ours.add("the lighthouse keeper's log");
    let found = theirs.search(&query("lighthouse", Mode::Keyword)).unwrap();
    assert_eq!(found.hits[0].record.id, id);
    ours.settle();
    let found = theirs.search(&query("the lighthouse keeper's log", Mode::Vector)).unwrap();
    assert_eq!(found.hits[0].record.id, id);
    theirs.delete(id, &Viewer::OWNER).unwrap();
    for mode in MODES {
        assert!(ours.find(&query("lighthouse", mode)).is_empty(), "{mode:?}");
    }
}

/// E9: a memory is saved and found by keywords before it has a vector.
#[test]
fn a_search_says_how_many_memories_wait_for_their_embedding() {
    let mut setup = hashed();
    setup.config.index_writer = false; // nothing is embedded before it is requested
    let store = Store::new(setup);
    store.add("the heron stands in the reeds");
    store.settle();
    let found = |mode| store.engine.search(&query("heron kingfisher", mode)).unwrap();
    assert_eq!(found(Mode::Hybrid).warnings, Vec::<String>::new());
    let waiting = [NewRecord::new("a kingfisher on the bridge"), NewRecord::new("another kingfisher")];
    store.engine.add_batch(&waiting).unwrap();
    let hybrid = found(Mode::Hybrid);
    assert_eq!(hybrid.hits.len(), 3, "words find them");
    assert_eq!(hybrid.warnings, ["2 memories wait for their embeddings, until then found by their words alone"]);
    let vector = found(Mode::Vector);
    assert_eq!(vector.hits.len(), 1);
    assert_eq!(vector.warnings, ["2 memories wait for their embeddings, until then not found by meaning"]);
    assert_eq!(found(Mode::Keyword).warnings, Vec::<String>::new(), "nothing is missing here");
    store.settle();
    assert_eq!(found(Mode::Vector).hits.len(), 3);
    assert_eq!(found(Mode::Vector).warnings, Vec::<String>::new());
}

/// T37: a few at a time, and at last nothing is left to do.
#[test]
fn a_backfill_embeds_no_more_than_it_should_and_ends() {
    let mut setup = hashed();
    setup.config.index_writer = false;
    let store = Store::new(setup);
    let waiting: Vec<NewRecord> = (0..7).map(|at| NewRecord::new(format!("heron number {at}"))).collect();
    store.engine.add_batch(&waiting).unwrap();
    let next = || store.engine.backfill(3, &NoProgress).unwrap();
    assert_eq!(
        [next(), next(), next(), next()].map(|done| (done.embedded, done.remaining)),
        [(3, 4), (3, 1), (1, 0), (0, 0)]
    );
    assert_eq!(store.engine.search(&query("heron", Mode::Vector)).unwrap().hits.len(), 7, "in the index already");
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
    assert!(nearest.id == exact && nearest.minimum == 1.0 && nearest.reached < 1.0, "{nearest:?}");
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

/// What is below a threshold is no result, but the best of it is named, and how to get it.
#[test]
fn a_search_says_when_the_store_has_no_answer_and_what_the_best_is() {
    let store = Store::new(hashed());
    for number in 0..30 {
        store.add(&format!("Note {number} about herons, otters and the river"));
    }
    store.settle();
    let search = |query: &Query| store.engine.search(query).unwrap();
    for (text, mode) in [("herons and otters", Mode::Hybrid), ("note 7", Mode::Keyword)] {
        let reply = search(&Query { mode, ..Query::new(text) });
        assert!(!reply.nothing && reply.near_miss.is_none() && !reply.hits.is_empty(), "{text}: {reply:?}");
    }
    let unknown = query("quantum chromodynamics", Mode::Hybrid);
    let reply = search(&unknown);
    assert!(reply.nothing && reply.near_miss.is_none() && !reply.hits.is_empty(), "{reply:?}");
    assert!(reply.hits.iter().all(|hit| hit.relevance < DOUBTFUL));
    let page = search(&Query { offset: 10, ..query("herons and otters", Mode::Hybrid) });
    let past = search(&Query { offset: 900, ..query("herons and otters", Mode::Hybrid) });
    assert!(!page.nothing && !past.nothing && past.hits.is_empty(), "a page is not all there is");

    let missed_by = |query: Query| {
        let reply = search(&query);
        assert!(reply.nothing && reply.hits.is_empty() && reply.tier == Tier::Full, "{reply:?}");
        reply.near_miss.expect("the best there was")
    };
    let relevant = |least| Query { min_relevance: Some(least), ..unknown.clone() };
    let missed = missed_by(relevant(0.9));
    let best = reply.hits.iter().map(|hit| hit.relevance).fold(0.0, f64::max);
    assert_eq!((missed.threshold, missed.minimum), (Threshold::Relevance, 0.9));
    assert!(missed.reached <= best && best < missed.reached + 0.01, "{missed:?}");
    assert!(search(&relevant(missed.reached)).hits.iter().any(|hit| hit.record.id == missed.id), "{missed:?}");
    // The words, of which none is there, add nothing: 0.7 is the most.
    let scored = |least| Query { min_score: Some(least), ..unknown.clone() };
    let missed = missed_by(scored(0.9));
    assert_eq!((missed.threshold, missed.reached), (Threshold::Score, 0.7));
    // Of those that are equally good, the newer is shown first.
    assert!(search(&scored(0.7)).hits.iter().any(|hit| hit.record.id == missed.id), "{missed:?}");

    let reply = search(&query("tter", Mode::Keyword));
    assert!(reply.tier == Tier::Substring && !reply.nothing, "it is there, as a part of words");
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
fn a_threshold_keeps_the_exact_hit_whatever_the_size_of_the_store() {
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
    assert_eq!(store.engine.get(newer, &Viewer::OWNER).unwrap().access_count, 1);
    assert_eq!(found(), [newer, older]);
    std::thread::sleep(Duration::from_millis(5));
    store.engine.get(older, &Viewer::OWNER).unwrap();
    assert_eq!(found(), [older, newer]);
}

/// R5, R6.
#[test]
fn gets_and_searches_are_in_the_access_log_and_only_gets_count() {
    let store = Store::new(hashed());
    let id = store.add("the ferry leaves at six");
    let rows = || {
        let records = Records::open(&StorePaths::new(store.folder.path())).unwrap();
        let counts = records.snapshot().unwrap().counts(memorist_engine::now()).unwrap();
        counts.accesses
    };
    assert_eq!(store.engine.peek(id, &Viewer::OWNER).unwrap().unwrap().access_count, 0);
    assert_eq!(rows(), 0, "peeking is not an access");
    assert_eq!(store.engine.get(id, &Viewer::OWNER).unwrap().access_count, 1);
    assert_eq!(rows(), 1);
    store.find(&query("ferry", Mode::Keyword));
    assert!(within(Duration::from_secs(20), || rows() == 2));
    assert_eq!(store.engine.peek(id, &Viewer::OWNER).unwrap().unwrap().access_count, 1, "a search does not count");
    store.engine.log_access(id, AccessKind::Search, Some(0.5), Some("ferry")).unwrap();
    assert_eq!((rows(), store.engine.peek(id, &Viewer::OWNER).unwrap().unwrap().access_count), (3, 2));
    assert_eq!(store.engine.peek((id.get() + 1).into(), &Viewer::OWNER).unwrap(), None);
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

/// The program that the engine is part of keeps all of rayon's own threads busy.
#[test]
fn a_search_does_not_wait_for_other_work_of_its_program() {
    let store = Store::new(hashed());
    let id = store.add("a heron in the reeds");
    store.settle();
    let (begun, done) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    let (beginning, end) = (begun.clone(), done.clone());
    rayon::spawn_broadcast(move |_| {
        beginning.fetch_add(1, Ordering::SeqCst);
        while !end.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(1));
        }
    });
    while begun.load(Ordering::SeqCst) < rayon::current_num_threads() {
        std::thread::yield_now();
    }
    let (answer, answered) = std::sync::mpsc::channel();
    let found = std::thread::scope(|scope| {
        scope.spawn(|| answer.send(store.find(&query("a heron", Mode::Hybrid))));
        let found = answered.recv_timeout(Duration::from_secs(20));
        done.store(true, Ordering::SeqCst);
        found
    });
    assert_eq!(found.expect("an answer meanwhile"), [id]);
}

/// X1.
#[test]
fn a_search_says_why_there_is_no_model() {
    let missing = |model| {
        let folder = tempfile::tempdir().unwrap();
        let mut config = Config::default();
        config.model.source = model;
        let engine = memorist_engine::Engine::open(folder.path(), config).unwrap();
        engine.add(&NewRecord::new("a heron")).unwrap();
        engine.search(&Query::new("heron")).unwrap().warnings.join("; ")
    };
    assert!(missing(ModelSource::None).contains("`model = \"none\"`"), "{}", missing(ModelSource::None));
    let nowhere = missing(ModelSource::Folder("/nowhere/at/all".into()));
    assert!(nowhere.contains("/nowhere/at/all"), "{nowhere}");
}

/// Loads an embedder, and counts how often.
struct Counting(Arc<AtomicUsize>);

impl Loader for Counting {
    fn identity(&self) -> Option<ModelIdentity> {
        Some(HashEmbedder::new(DIMS).identity().clone())
    }

    fn is_local(&self) -> embed::Result<bool> {
        Ok(true)
    }

    fn verify(&self) -> embed::Result<Option<String>> {
        Ok(None)
    }

    fn load(&self, _: &mut dyn FnMut(&Plan), _: &dyn Progress) -> embed::Result<Arc<dyn Embedder>> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Ok(Arc::new(HashEmbedder::new(DIMS)))
    }
}

#[test]
fn a_custom_model_is_loaded_when_it_is_needed() {
    let folder = tempfile::tempdir().unwrap();
    let loads = Arc::new(AtomicUsize::new(0));
    let loader = Box::new(Counting(loads.clone()));
    let engine = memorist_engine::Engine::open_with_loader(folder.path(), Config::default(), loader).unwrap();
    assert_eq!((engine.is_model_loaded(), loads.load(Ordering::SeqCst)), (false, 0));
    let id = engine.add(&NewRecord::new("a heron at the lake")).unwrap().id;
    engine.embed_pending(&NoProgress).unwrap();
    let reply = engine.search(&Query { mode: Mode::Vector, ..Query::new("heron lake") }).unwrap();
    assert_eq!((reply.hits[0].record.id, reply.tier), (id, Tier::Full));
    assert_eq!((engine.is_model_loaded(), loads.load(Ordering::SeqCst)), (true, 1));
}

/// An embedder that is asked and fails.
struct Failing(HashEmbedder);

impl Embedder for Failing {
    fn identity(&self) -> &ModelIdentity {
        self.0.identity()
    }

    fn embed_query(&self, _: &str) -> embed::Result<Vec<f32>> {
        Err(embed::Error::Failed("it always fails".into()))
    }

    fn embed_batch(&self, _: &[&str]) -> embed::Result<Vec<Vec<f32>>> {
        Err(embed::Error::Failed("it always fails".into()))
    }
}

/// X1.
#[test]
fn a_process_whose_model_fails_keeps_nobody_out_of_the_indexes() {
    let store = Store::new(with_embedder(Arc::new(Failing(HashEmbedder::new(DIMS)))));
    // The first builds the index, the second is applied to it.
    for documents in 1..=2 {
        store.engine.add_batch(&[NewRecord::new(format!("saved by the one whose model fails {documents}"))]).unwrap();
        let applied = || store.engine.index_stats().unwrap().documents == documents;
        assert!(within(Duration::from_secs(20), applied), "its words are applied all the same");
    }
    let other = hashed().open(store.folder.path()).unwrap();
    for at in 0..5 {
        other.add(&NewRecord::new(format!("saved by the other {at}"))).unwrap();
        other.embed_pending(&NoProgress).unwrap();
        other.flush(&NoProgress).unwrap();
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(other.index_stats().unwrap().unapplied, 0);
}

#[test]
fn searches_that_never_cease_do_not_keep_the_worker_from_its_work() {
    let store = Store::new(hashed());
    store.add("something to be found");
    store.settle();
    let waiting: Vec<_> = (0..20).map(|at| NewRecord::new(format!("found by meaning later {at}"))).collect();
    store.engine.add_batch(&waiting).unwrap();
    let embedded = || {
        store.find(&query("something", Mode::Keyword));
        store.engine.stats(&Filter::default()).unwrap().pending_embeddings == 0
    };
    assert!(within(Duration::from_secs(20), embedded));
}

/// X2.
#[test]
fn a_search_does_not_wait_for_another_process_that_writes_the_indexes() {
    let store = Store::new(words_only());
    store.add("found without an index");
    store.engine.flush(&NoProgress).unwrap();
    let Store { engine, folder } = store;
    engine.close();
    let _ = std::fs::remove_dir_all(folder.path().join("keywords"));
    let lock = WriterLock::new(StorePaths::new(folder.path()).writer_lock());
    let held = lock.try_acquire().unwrap().expect("free");
    let engine = words_only().open(folder.path()).unwrap();
    let started = std::time::Instant::now();
    let reply = engine.search(&query("found without", Mode::Keyword)).unwrap();
    assert!(started.elapsed() < Duration::from_secs(5));
    assert_eq!((reply.hits.len(), reply.tier), (1, Tier::Substring), "{:?}", reply.warnings);
    assert!(
        reply.warnings.iter().any(|warning| warning.contains("keyword index is out of use")),
        "{:?}",
        reply.warnings
    );
    drop(held);
}

/// The indexes of a new store are built in the background. Until then nothing is missing: everything is searched
/// exactly.
#[test]
fn the_first_search_of_a_new_store_warns_of_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let lock = WriterLock::new(StorePaths::new(folder.path()).writer_lock());
    let held = lock.try_acquire().unwrap().expect("free");
    let store = Store { engine: hashed().open(folder.path()).unwrap(), folder };
    for mode in [Mode::Hybrid, Mode::Vector, Mode::Keyword] {
        let reply = store.engine.search(&query("an empty store", mode)).unwrap();
        assert_eq!((reply.hits.len(), reply.warnings), (0, Vec::new()), "{mode:?}");
    }
    let heron = store.add("a heron in the reeds");
    store.add("the ferry leaves at six");
    for mode in [Mode::Hybrid, Mode::Vector, Mode::Keyword] {
        let reply = store.engine.search(&query("heron reeds", mode)).unwrap();
        assert_eq!((reply.hits[0].record.id, reply.tier, reply.warnings), (heron, Tier::Full, Vec::new()), "{mode:?}");
    }
    drop(held);
    store.settle();
    assert_eq!(store.find(&query("heron reeds", Mode::Hybrid))[0], heron);
}

/// Whether `condition` becomes true in time.
fn within(timeout: Duration, condition: impl Fn() -> bool) -> bool {
    let started = std::time::Instant::now();
    while started.elapsed() < timeout {
        if condition() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(30));
    }
    false
}

#[cfg(unix)]
#[test]
fn everything_in_a_store_is_for_its_user_alone() {
    use std::os::unix::fs::PermissionsExt;

    fn check(folder: &std::path::Path) -> usize {
        let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry"));
        let check_one = |entry: std::fs::DirEntry| {
            let metadata = entry.metadata().expect("its metadata");
            let wanted = if metadata.is_dir() { 0o700 } else { 0o600 };
            assert_eq!(metadata.permissions().mode() & 0o777, wanted, "{}", entry.path().display());
            if metadata.is_dir() { check(&entry.path()) } else { 1 }
        };
        entries.map(check_one).sum()
    }

    // The permissions of an existing folder stay; new files in it are private.
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("notes"), "").expect("writes");
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).expect("opens up");
    let store = Store { engine: hashed().open(folder.path()).expect("opens"), folder };
    for n in 0..30 {
        store.add(&format!("memory {n}"));
    }
    store.settle();
    assert!(store.engine.delete(3.into(), &Viewer::OWNER).expect("deletes"));
    store.settle();
    std::fs::remove_file(store.folder.path().join("notes")).expect("removes");
    let files = check(store.folder.path());
    assert!(files > 15, "{files}");
}
