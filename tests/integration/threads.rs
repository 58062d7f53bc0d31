//! Threads: a memory of a session is judged together with those around it, as far as they may be found at all.

use memorist_engine::progress::NoProgress;
use memorist_engine::types::{
    Filter, Hit, Kind, Link, LinkKind, Mode, NewRecord, Query, RecordId, Scale, Scope, ThreadRules, Viewer,
};

use crate::support::{Store, hashed, hashed_with, words_only};

const ASKED: &str = "Where did Ada hide the amber key?";
const ANSWERED: &str = "Under the third stone.";

fn said(session: &str, turn: i64, text: &str) -> NewRecord {
    NewRecord { kind: Kind::Conversation, session: Some(session.into()), turn: Some(turn), ..NewRecord::new(text) }
}

/// Others that have some words of the query, in sessions of their own.
fn others(store: &Store) {
    for at in 0..40 {
        let text = format!("Note {at}: the key figures of project {at} and what Bert thinks about them");
        store.engine.add(&said(&format!("session {}", at % 5), at, &text)).unwrap();
    }
}

fn hits(store: &Store, query: &Query) -> Vec<Hit> {
    store.engine.search(query).unwrap().hits
}

fn hit(store: &Store, query: &Query, id: RecordId) -> Option<Hit> {
    hits(store, query).into_iter().find(|hit| hit.record.id == id)
}

fn query(text: &str) -> Query {
    Query { limit: 50, ..Query::new(text) }
}

/// Each hit with its score and who lent it words.
fn judged(hits: &[Hit]) -> Vec<(RecordId, String, Vec<RecordId>)> {
    hits.iter().map(|hit| (hit.record.id, format!("{:.9}", hit.score), hit.boosted_by.clone())).collect()
}

#[test]
fn an_answer_is_found_by_its_question_before_and_after_indexing() {
    for setup in [hashed(), words_only()] {
        let store = Store::new(setup.clone());
        others(&store);
        let settle = |store: &Store| match setup.embedder {
            Some(_) => store.settle(),
            None => store.engine.flush(&NoProgress).unwrap(),
        };
        settle(&store);
        let asked = store.engine.add(&said("s", 7, ASKED)).unwrap().id;
        // Split over an index and a tail, then all in one.
        for step in 0..2 {
            if step == 0 {
                settle(&store);
            }
            let answered = store.engine.add(&said("s", 8 + step, &format!("{ANSWERED} {step}"))).unwrap().id;
            let found = hit(&store, &query("where is the amber key"), answered).expect("found");
            assert_eq!(found.boosted_by, [asked], "{found:?}");
            assert_eq!(found.keyword_score, Some(0.0), "its own score stays its own");
            let alone = Query { threads: ThreadRules::NONE, ..query("where is the amber key") };
            assert!(hit(&store, &alone, answered).is_none_or(|alone| alone.score < found.score));
        }
        settle(&store);
        let ranked = hits(&store, &query("where is the amber key"));
        let reopened = store.reopen(setup.clone());
        assert_eq!(judged(&hits(&reopened, &query("where is the amber key"))), judged(&ranked));
        assert!(ranked[..3].iter().filter(|hit| hit.record.session.as_deref() == Some("s")).count() == 3);
    }
}

#[test]
fn the_order_of_saving_makes_no_thread() {
    // Nothing is indexed between two searches: scores of an index differ in the sixth place.
    let store = Store::new(hashed_with(|config| config.index_writer = false));
    for at in 0..30 {
        store.add(&format!("Note {at} about amber and other stones?"));
        store.add(&format!("Some answer {at}"));
    }
    for _ in 0..2 {
        let with = hits(&store, &query("amber stones"));
        let without = hits(&store, &Query { threads: ThreadRules::NONE, ..query("amber stones") });
        assert_eq!(judged(&with), judged(&without));
        assert!(!with.is_empty() && with.iter().all(|hit| hit.boosted_by.is_empty()));
        store.settle();
    }
}

#[test]
fn other_modes_and_the_pools_scale_judge_each_memory_by_itself() {
    let store = Store::new(hashed());
    others(&store);
    for (turn, text) in [(1, ASKED), (2, ANSWERED)] {
        store.engine.add(&said("s", turn, text)).unwrap();
    }
    store.settle();
    for (mode, scale) in [(Mode::Keyword, None), (Mode::Vector, None), (Mode::Hybrid, Some(Scale::Pool))] {
        let with = Query { mode, scale, ..query("where is the amber key") };
        let without = Query { threads: ThreadRules::NONE, ..with.clone() };
        assert_eq!(judged(&hits(&store, &with)), judged(&hits(&store, &without)), "{mode:?}");
    }
}

/// A session of two, of which one may not be seen.
struct Unseen {
    store: Store,
    answered: RecordId,
    neighbor: RecordId,
    /// The store where the two are of different sessions.
    apart: Store,
}

/// The first of the two is as `change` makes it.
fn unseen(change: impl Fn(&mut NewRecord)) -> Unseen {
    let [(store, neighbor, answered), (apart, ..)] = ["s", "another"].map(|session| {
        // Nothing is indexed by itself: a cosine from the index differs in the seventh digit.
        let store = Store::new(hashed_with(|config| config.index_writer = false));
        others(&store);
        let mut first = said(session, 1, ASKED);
        change(&mut first);
        let neighbor = store.engine.add(&first).unwrap().id;
        let ours = Scope { agent: None, project: Some("ours".into()) };
        let second = NewRecord { scope: ours, tags: vec!["kept".into()], ..said("s", 2, ANSWERED) };
        let answered = store.engine.add(&second).unwrap().id;
        store.engine.embed_pending(&NoProgress).unwrap();
        (store, neighbor, answered)
    });
    Unseen { store, answered, neighbor, apart }
}

impl Unseen {
    /// It is neither a result nor a lender, indexed or not.
    fn lends_nothing(&self, filter: &Filter) {
        for _ in 0..2 {
            let mut found = 0;
            for text in ["where is the amber key", "the third stone", "Ada"] {
                let query = Query { filter: filter.clone(), ..query(text) };
                let (with, apart) = (hits(&self.store, &query), hits(&self.apart, &query));
                assert_eq!(judged(&with), judged(&apart), "{text}");
                assert!(with.iter().all(|hit| hit.record.id != self.neighbor), "{text}");
                found += with.iter().filter(|hit| hit.record.id == self.answered).count();
            }
            assert!(found > 0);
            self.store.settle();
            self.apart.settle();
        }
    }

    /// Its words count where it is visible.
    fn lends(&self, filter: &Filter) {
        let query = Query { filter: filter.clone(), ..query("where is the amber key") };
        assert_eq!(hit(&self.store, &query, self.answered).expect("found").boosted_by, [self.neighbor]);
    }
}

/// A session of the same name, in another project or of another agent, is another session.
#[test]
fn a_thread_of_others_lends_nothing() {
    let seen = Filter::of(Viewer::of(&Scope { agent: Some("me".into()), project: Some("ours".into()) }));
    for (agent, project) in [(None, Some("theirs")), (Some("them"), Some("ours"))] {
        let scope = Scope { agent: agent.map(Into::into), project: project.map(Into::into) };
        let unseen = unseen(|new| new.scope = scope.clone());
        unseen.lends_nothing(&seen);
        // One who sees both sees two sessions.
        let all = hits(&unseen.store, &query("where is the amber key"));
        assert!(all.iter().any(|hit| hit.record.id == unseen.neighbor));
        assert!(all.iter().filter(|hit| hit.record.id == unseen.answered).all(|hit| hit.boosted_by.is_empty()));
    }
}

#[test]
fn filtered_turns_do_not_boost_neighbors() {
    let filters = [
        Filter { kinds: vec![Kind::Conversation], ..Filter::default() },
        Filter { min_importance: Some(5), ..Filter::default() },
        Filter { tags: vec!["kept".into()], ..Filter::default() },
    ];
    let unseen = unseen(|new| {
        let ours = Scope { agent: None, project: Some("ours".into()) };
        (new.kind, new.importance, new.scope) = (Kind::Fact, 1, ours);
    });
    unseen.lends(&Filter::default());
    filters.iter().for_each(|filter| unseen.lends_nothing(filter));
    unseen.lends(&Filter::default());
}

#[test]
fn superseded_or_deleted_turns_do_not_boost_neighbors() {
    for is_deleted in [false, true] {
        let unseen = unseen(|new| new.scope = Scope { agent: None, project: Some("ours".into()) });
        unseen.lends(&Filter::default());
        for store in [&unseen.store, &unseen.apart] {
            store.settle();
            if is_deleted {
                store.engine.viewed_by(&Viewer::OWNER).delete(unseen.neighbor).unwrap();
            } else {
                let link = Link { from: unseen.answered, kind: LinkKind::Supersedes, to: unseen.neighbor };
                store.engine.viewed_by(&Viewer::OWNER).link(link).unwrap();
            }
        }
        unseen.lends_nothing(&Filter::default());
    }
}

/// A deleted turn leaves no gap, before and after the index follows; one that is only hidden keeps its place.
#[test]
fn a_deleted_turn_leaves_no_gap() {
    let store = Store::new(hashed());
    others(&store);
    let ids: Vec<RecordId> = [ASKED, "It is a fine day.", ANSWERED]
        .iter()
        .zip(1..)
        .map(|(text, turn)| store.engine.add(&said("s", turn, text)).unwrap().id)
        .collect();
    store.settle();
    let query = query("where is the amber key");
    let before = hit(&store, &query, ids[2]).expect("found").score;
    store.engine.viewed_by(&Viewer::OWNER).delete(ids[1]).unwrap();
    let deleted = hit(&store, &query, ids[2]).expect("found").score;
    store.settle();
    let applied = hit(&store, &query, ids[2]).expect("found").score;
    assert!(before + 0.01 < deleted, "{before} {deleted}");
    assert!((deleted - applied).abs() < 1e-3, "{deleted} {applied}");
}

/// An answer is as relevant as its question says.
#[test]
fn a_least_relevance_keeps_an_answer_with_its_question() {
    let store = Store::new(hashed());
    others(&store);
    let ids = [(1, ASKED), (2, ANSWERED)].map(|(turn, text)| store.engine.add(&said("s", turn, text)).unwrap().id);
    store.settle();
    let relevant = Query { min_relevance: Some(0.4), ..query("where is the amber key") };
    let found: Vec<RecordId> = hits(&store, &relevant).iter().map(|hit| hit.record.id).collect();
    assert!(ids.iter().all(|id| found.contains(id)) && found.len() < 6, "{found:?}");
    let alone = Query { threads: ThreadRules::NONE, ..relevant };
    assert!(hit(&store, &alone, ids[1]).is_none());
}

/// The ids of a hit's neighbors.
fn around(store: &Store, query: &Query, id: RecordId) -> Vec<RecordId> {
    let hit = hit(store, query, id).expect("found");
    hit.neighbors.iter().map(|record| record.id).collect()
}

#[test]
fn neighbors_come_in_order_if_the_search_may_return_them() {
    let store = Store::new(words_only());
    let mut ids = Vec::new();
    // Saved in another order than that of their turns.
    for turn in [3, 1, 5, 2, 4] {
        let mut new = said("s", turn, &format!("turn number{turn}"));
        new.tags = vec![format!("tag {}", turn % 2)];
        ids.push((turn, store.engine.add(&new).unwrap().id));
    }
    ids.sort_unstable();
    let ids: Vec<_> = ids.into_iter().map(|(_, id)| id).collect();
    let alone = store.add("number3 without a session");
    let third = |neighbors| Query { neighbors, mode: Mode::Keyword, ..query("number3") };
    assert_eq!(around(&store, &third(0), ids[2]), []);
    assert_eq!(around(&store, &third(1), ids[2]), [ids[1], ids[3]]);
    assert_eq!(around(&store, &third(5), ids[2]), [ids[0], ids[1], ids[3], ids[4]]);
    assert_eq!(around(&store, &third(5), alone), []);
    let odd = Filter { tags: vec!["tag 1".into()], ..Filter::default() };
    assert_eq!(around(&store, &Query { filter: odd, ..third(5) }, ids[2]), [ids[0], ids[4]]);
    store.engine.viewed_by(&Viewer::OWNER).delete(ids[0]).unwrap();
    let link = Link { from: ids[4], kind: LinkKind::Supersedes, to: ids[3] };
    store.engine.viewed_by(&Viewer::OWNER).link(link).unwrap();
    assert_eq!(around(&store, &third(5), ids[2]), [ids[1], ids[4]]);
    assert_eq!(around(&store, &Query { include_superseded: true, ..third(5) }, ids[2]), [ids[1], ids[3], ids[4]]);
    let refused = store.engine.search(&third(6)).expect_err("too many");
    assert!(refused.to_string().contains("neighbors"), "{refused}");
}
