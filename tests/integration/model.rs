//! The store against a simple model of it: after any operations, in any order, by either of two openers of one folder, or by
//! either of two nodes of a team store, every search finds exactly what the model says.

use std::collections::{BTreeMap, BTreeSet};

use memorist_engine::embed::{Embedder, HashEmbedder};
use memorist_engine::progress::NoProgress;
use memorist_engine::types::{
    Filter, Hit, Kind, Mode, NewRecord, Query, RecordId, RecordUpdate, ThreadRules, Tier, Viewer,
};
use memorist_engine::{Engine, Error};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use tempfile::TempDir;

use crate::support::{DIMS, Setup, amount_from, hashed, stored};

/// Number of sequences, unless MEMORIST_MODEL_CASES says otherwise.
const CASES: u64 = 8;
const WORDS: [&str; 5] = ["heron", "budget", "login", "river", "deploy"];

/// A step. Records are identified by their position among all that were ever saved.
#[derive(Debug, Clone)]
enum Step {
    Add {
        word: usize,
        number: u8,
        kind: Kind,
        in_project: bool,
        expired: bool,
        session: Option<u8>,
        date: Option<i64>,
    },
    Change {
        which: usize,
        word: usize,
        number: u8,
    },
    ChangeKind {
        which: usize,
        kind: Kind,
    },
    ChangeDate {
        which: usize,
        date: Option<i64>,
    },
    Expire {
        which: usize,
    },
    Delete {
        which: usize,
    },
    Embed,
    Apply,
    Rebuild,
    Reopen,
    /// From here on the other opener is used.
    Switch,
}

fn step() -> impl Strategy<Value = Step> {
    let kind = || prop::sample::select(Kind::ALL[..3].to_vec());
    let word = || 0..WORDS.len();
    let date = || prop::option::of(0..4_i64);
    prop_oneof![
        8 => (word(), 0..30u8, kind(), any::<bool>(), prop::bool::weighted(0.1), prop::option::of(0..2u8), date()).prop_map(
            |(word, number, kind, in_project, expired, session, date)| {
                Step::Add { word, number, kind, in_project, expired, session, date }
            }
        ),
        3 => (any::<usize>(), word(), 0..30u8).prop_map(|(which, word, number)| Step::Change { which, word, number }),
        2 => (any::<usize>(), kind()).prop_map(|(which, kind)| Step::ChangeKind { which, kind }),
        2 => (any::<usize>(), date()).prop_map(|(which, date)| Step::ChangeDate { which, date }),
        1 => any::<usize>().prop_map(|which| Step::Expire { which }),
        3 => any::<usize>().prop_map(|which| Step::Delete { which }),
        2 => Just(Step::Embed),
        3 => Just(Step::Apply),
        1 => Just(Step::Rebuild),
        1 => Just(Step::Reopen),
        2 => Just(Step::Switch),
    ]
}

fn text(word: usize, number: u8) -> String {
    format!("common {} note{number}", WORDS[word])
}

/// The expected content of the store.
#[derive(Default)]
struct Model {
    /// Every id ever given.
    ids: Vec<RecordId>,
    live: BTreeMap<RecordId, Remembered>,
    /// Texts whose vector the store has.
    embedded: BTreeSet<String>,
}

#[derive(Debug, Clone, PartialEq)]
struct Remembered {
    text: String,
    kind: Kind,
    project: Option<String>,
    session: Option<String>,
    date: Option<i64>,
}

impl Model {
    fn pick(&self, which: usize) -> Option<RecordId> {
        (!self.ids.is_empty()).then(|| self.ids[which % self.ids.len()])
    }

    /// A record with this text in this project, but for other turns: those of other sessions, and if `is_turn` those of the
    /// same one.
    fn twin(&self, text: &str, project: &Option<String>, session: &Option<String>, is_turn: bool) -> Option<RecordId> {
        let is_other =
            |kept: &Remembered| session.is_some() && kept.session.is_some() && (is_turn || kept.session != *session);
        let is_twin = |kept: &Remembered| kept.text == text && kept.project == *project && !is_other(kept);
        self.live.iter().find(|(_, kept)| is_twin(kept)).map(|(id, _)| *id)
    }

    /// It is live, in its last state.
    fn assert_known(&self, hit: &Hit) {
        let record = &hit.record;
        let kept = self.live.get(&record.id).unwrap_or_else(|| panic!("a ghost: {record:?}"));
        assert_eq!((kept.text.as_str(), kept.kind), (record.content.as_str(), record.kind), "{record:?}");
    }

    fn allowed(&self, filter: &Filter) -> impl Iterator<Item = (RecordId, &Remembered)> {
        self.live
            .iter()
            .filter(|(_, kept)| filter.kinds.is_empty() || filter.kinds.contains(&kept.kind))
            .filter(|(_, kept)| filter.viewer.project.sees(kept.project.as_deref()))
            .filter(|(_, kept)| filter.happens_after.is_none_or(|after| kept.date.is_some_and(|date| date >= after)))
            .filter(|(_, kept)| filter.happens_before.is_none_or(|before| kept.date.is_some_and(|date| date < before)))
            .map(|(id, kept)| (*id, kept))
    }
}

/// Two openers of one store.
pub struct Pair {
    setup: Setup,
    /// A folder that both open, or one for each.
    folders: Vec<TempDir>,
    openers: [Option<Engine>; 2],
    active: usize,
}

impl Pair {
    pub fn of_one_folder(setup: Setup) -> Self {
        Self::new(setup, 1)
    }

    /// Two nodes, if the setup is that of a team store.
    #[cfg(unix)]
    pub fn of_two_folders(setup: Setup) -> Self {
        Self::new(setup, 2)
    }

    fn new(mut setup: Setup, folders: usize) -> Self {
        // Neither applies anything in the background, so that a failure can be played again.
        setup.config.index_writer = false;
        let folders = (0..folders).map(|_| tempfile::tempdir().expect("a folder")).collect();
        Pair { setup, folders, openers: [None, None], active: 0 }
    }

    fn engine(&mut self) -> &Engine {
        let (folder, setup) = (self.folders[self.active % self.folders.len()].path(), &self.setup);
        self.openers[self.active].get_or_insert_with(|| setup.open(folder).expect("the store opens"))
    }
}

fn perform(step: &Step, pair: &mut Pair, model: &mut Model) {
    match step {
        Step::Add { word, number, kind, in_project, expired, session, date } => {
            let mut new = NewRecord::new(text(*word, *number));
            new.kind = *kind;
            new.scope.project = in_project.then(|| "atlas".into());
            new.expires_at = expired.then_some(200_000_000_000);
            new.session = session.map(|session| format!("session {session}"));
            new.valid.from = *date;
            let twin = model.twin(&new.content, &new.scope.project, &new.session, false);
            let outcome = pair.engine().add(&new).expect("a sound record");
            assert_eq!(twin, (!outcome.created).then_some(outcome.id), "the same text is saved once");
            if outcome.created {
                assert!(!model.ids.contains(&outcome.id), "an id is never given twice");
                model.ids.push(outcome.id);
                if !expired {
                    let (project, session) = (new.scope.project, new.session);
                    let kept = Remembered { text: new.content, kind: *kind, project, session, date: *date };
                    model.live.insert(outcome.id, kept);
                }
            } else if let Some(twin) = model.live.get_mut(&outcome.id) {
                // One without a session joins that of the text that is saved again.
                twin.session = twin.session.take().or(new.session);
            }
        }
        Step::Change { which, word, number } => {
            let Some(id) = model.pick(*which) else { return };
            let content = text(*word, *number);
            let update = RecordUpdate { content: Some(content.clone()), ..RecordUpdate::default() };
            let outcome = pair.engine().viewed_by(&Viewer::OWNER).update(id, &update);
            let kept = model.live.get(&id);
            let twin = kept.and_then(|kept| model.twin(&content, &kept.project, &kept.session, true));
            match (model.live.get_mut(&id), twin) {
                (None, _) => assert!(matches!(outcome, Err(Error::NotFound(_))), "{outcome:?}"),
                (Some(_), Some(twin)) if twin != id => {
                    assert!(matches!(outcome, Err(Error::Duplicate(found)) if found == twin), "{outcome:?}");
                }
                (Some(kept), _) => {
                    outcome.expect("updates");
                    kept.text = content;
                }
            }
        }
        Step::ChangeKind { which, kind } => {
            let Some(id) = model.pick(*which) else { return };
            let update = RecordUpdate { kind: Some(*kind), ..RecordUpdate::default() };
            let outcome = pair.engine().viewed_by(&Viewer::OWNER).update(id, &update);
            assert_eq!(outcome.is_ok(), model.live.contains_key(&id));
            if let Some(kept) = model.live.get_mut(&id) {
                kept.kind = *kind;
            }
        }
        Step::ChangeDate { which, date } => {
            let Some(id) = model.pick(*which) else { return };
            let update = RecordUpdate { valid_from: Some(*date), ..RecordUpdate::default() };
            let outcome = pair.engine().viewed_by(&Viewer::OWNER).update(id, &update);
            assert_eq!(outcome.is_ok(), model.live.contains_key(&id));
            if let Some(kept) = model.live.get_mut(&id) {
                kept.date = *date;
            }
        }
        Step::Expire { which } => {
            let Some(id) = model.pick(*which) else { return };
            let update = RecordUpdate { expires_at: Some(Some(200_000_000_000)), ..RecordUpdate::default() };
            let outcome = pair.engine().viewed_by(&Viewer::OWNER).update(id, &update);
            // The record is deleted before its answer is read; whether that is an error is not tested here.
            assert!(outcome.is_ok() || matches!(outcome, Err(Error::NotFound(_))), "{outcome:?}");
            model.live.remove(&id);
        }
        Step::Delete { which } => {
            let Some(id) = model.pick(*which) else { return };
            let was_live = model.live.remove(&id).is_some();
            let deleted = pair.engine().viewed_by(&Viewer::OWNER).delete(id).expect("deletes");
            assert!(deleted || !was_live, "what was there was deleted");
        }
        Step::Embed => {
            pair.engine().embed_pending(&NoProgress).expect("embeds");
        }
        Step::Apply => pair.engine().flush(&NoProgress).expect("applies"),
        Step::Rebuild => drop(pair.engine().rebuild(&NoProgress).expect("rebuilds")),
        Step::Reopen => pair.openers[pair.active] = None,
        Step::Switch => pair.active = 1 - pair.active,
    }
    // The vector of a text is removed when no record has the text.
    let texts: BTreeSet<String> = model.live.values().map(|kept| kept.text.clone()).collect();
    match step {
        Step::Embed => model.embedded = texts,
        _ => model.embedded.retain(|text| texts.contains(text)),
    }
}

/// The results of a vector search: all that is allowed and embedded, each with the vector of its current text.
fn compare_meaning(hits: &[Hit], model: &Model, filter: &Filter, embedder: &HashEmbedder, word: &str) {
    let found: BTreeSet<RecordId> = hits.iter().map(|hit| hit.record.id).collect();
    let embedded: BTreeSet<RecordId> =
        model.allowed(filter).filter(|(_, kept)| model.embedded.contains(&kept.text)).map(|(id, _)| id).collect();
    assert!(found.is_superset(&embedded), "by meaning, {filter:?}: {found:?} without {embedded:?}");
    let vector = embedder.embed_query(word).expect("embeds");
    for hit in hits {
        model.assert_known(hit);
        let own = stored(&embedder.embed_query(&hit.record.content).expect("embeds"));
        let cosine: f32 = own.iter().zip(&vector).map(|(a, b)| a * b).sum();
        let said = hit.vector_score.expect("a cosine");
        assert!((f64::from(cosine) - said).abs() < 1e-4, "{said} is the cosine of another text than {:?}", hit.record);
    }
}

/// Compares every mode with the model.
fn compare(pair: &mut Pair, model: &Model, embedder: &HashEmbedder) {
    let filters = [
        Filter::default(),
        Filter { kinds: vec![Kind::ALL[1]], ..Filter::default() },
        Filter::of(Viewer::in_project("atlas")),
        Filter { happens_after: Some(1), happens_before: Some(3), ..Filter::default() },
    ];
    let engine = pair.engine();
    for (at, filter) in filters.iter().enumerate() {
        let word = WORDS[at];
        let ask = |mode| {
            let query = Query { mode, limit: 1_000, filter: filter.clone(), ..Query::new(word) };
            engine.search(&query).expect("searches")
        };
        let with_word: BTreeSet<RecordId> =
            model.allowed(filter).filter(|(_, kept)| kept.text.contains(word)).map(|(id, _)| id).collect();
        let words = ask(Mode::Keyword);
        let found: BTreeSet<RecordId> = words.hits.iter().map(|hit| hit.record.id).collect();
        assert_eq!(found, with_word, "by words, {filter:?}");

        let meaning = ask(Mode::Vector);
        let by_meaning: BTreeSet<RecordId> = meaning.hits.iter().map(|hit| hit.record.id).collect();
        if meaning.tier == Tier::Full {
            compare_meaning(&meaning.hits, model, filter, embedder, word);
        } else {
            // Before the first vector there is no index of them.
            assert_eq!((&by_meaning, model.embedded.len()), (&with_word, 0), "{:?}", meaning.warnings);
        }
        let alone = Query { limit: 1_000, filter: filter.clone(), threads: ThreadRules::NONE, ..Query::new(word) };
        let alone = engine.search(&alone).expect("searches").hits;
        let alone: BTreeSet<RecordId> = alone.iter().map(|hit| hit.record.id).collect();
        assert_eq!(alone, &found | &by_meaning, "by both, {filter:?}");
        let both = ask(Mode::Hybrid).hits;
        for hit in &both {
            model.assert_known(hit);
            assert!(alone.contains(&hit.record.id) || hit.record.session.is_some(), "{hit:?}");
        }
        let both: BTreeSet<RecordId> = both.iter().map(|hit| hit.record.id).collect();
        assert!(both.is_superset(&alone), "by both, {filter:?}: {both:?} without {alone:?}");
        assert!(both.iter().all(|id| model.allowed(filter).any(|(allowed, _)| allowed == *id)), "{filter:?}");
    }
    assert_eq!(engine.stats(&Filter::default()).expect("counts").total, model.live.len() as u64);
}

/// Runs random sequences, each on a pair of its own.
pub fn check(cases: u64, pair: impl Fn() -> Pair) {
    let cases = amount_from("MEMORIST_MODEL_CASES", cases) as u32;
    let embedder = HashEmbedder::new(DIMS);
    // The failing sequence is printed, minimised.
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let outcome = TestRunner::new(config).run(&prop::collection::vec(step(), 1..50), |steps| {
        let (mut pair, mut model) = (pair(), Model::default());
        for step in &steps {
            perform(step, &mut pair, &mut model);
            compare(&mut pair, &model, &embedder);
        }
        pair.engine().flush(&NoProgress).expect("applies");
        compare(&mut pair, &model, &embedder);
        let diagnosis = pair.engine().doctor(false, &NoProgress).expect("examines");
        prop_assert!(diagnosis.is_sound(), "{diagnosis:#?}");
        Ok(())
    });
    outcome.unwrap();
}

#[test]
fn every_search_finds_what_a_plain_model_says() {
    check(CASES, || Pair::of_one_folder(hashed()));
}
