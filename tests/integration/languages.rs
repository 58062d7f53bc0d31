//! How well the models find memories in other languages than English: made questions, each about one memory.

use std::collections::BTreeMap;

use memorist_engine::config::{Config, ModelSource};
use memorist_engine::embed::NamedModel;
use memorist_engine::progress::NoProgress;
use memorist_engine::types::{Mode, NewRecord, Query, RecordId, Weights};
use memorist_engine::{Engine, Remedy};

use crate::meaning::{engine_with_model, model_cache};

/// A language, a memory, a question about it in other words.
fn lines() -> Vec<[&'static str; 3]> {
    bench_data::languages().into_iter().map(|[language, memory, question, _]| [language, memory, question]).collect()
}

/// Saves all memories. Their ids.
fn save_all(engine: &Engine, lines: &[[&str; 3]]) -> Vec<RecordId> {
    let ids = lines.iter().map(|[_, memory, _]| engine.add(&NewRecord::new(*memory)).unwrap().id).collect();
    engine.embed_pending(&NoProgress).unwrap();
    ids
}

fn with_source(source: ModelSource) -> Config {
    let mut config = Config::default();
    config.model.cache_dir = Some(model_cache());
    config.model.source = source;
    config
}

/// The figures of `docs/src/models.md` about it: by meaning, and merged with words. Then the store keeps its model by itself.
#[test]
fn the_multilingual_model_finds_memories_across_languages() {
    let folder = tempfile::tempdir().unwrap();
    let named = |model| with_source(ModelSource::Named(model));
    let engine = Engine::open(folder.path(), named(NamedModel::E5Small)).unwrap();
    engine.prepare_model(&mut |plan| eprintln!("fetching {plan}"), &NoProgress).unwrap();
    let lines = lines();
    let ids = save_all(&engine, &lines);
    // Per language: all; in the first five by meaning, and merged with words.
    let mut counts: BTreeMap<&str, [usize; 3]> = BTreeMap::new();
    for ([language, _, question], id) in lines.iter().zip(&ids) {
        let counts = counts.entry(language).or_default();
        counts[0] += 1;
        for (at, mode) in [(1, Mode::Vector), (2, Mode::Hybrid)] {
            let hits = engine.search(&Query { limit: 5, mode, ..Query::new(*question) }).unwrap().hits;
            counts[at] += usize::from(hits.iter().any(|hit| hit.record.id == *id));
        }
    }
    for (language, [all, by_meaning, merged]) in &counts {
        eprintln!("{language}: {by_meaning} of {all} in the first five by meaning, {merged} merged with words");
    }
    let sum = |at: usize| counts.values().map(|counts| counts[at]).sum::<usize>();
    assert!(sum(0) == 200 && sum(1) >= 183, "{} of {}", sum(1), sum(0));
    assert!(sum(2) >= 183, "{} of {}", sum(2), sum(0));

    drop(engine);
    let cosines = |config: Config| {
        let engine = Engine::open(folder.path(), config).unwrap();
        let [_, _, question] = lines[0];
        let hits = engine.search(&Query { limit: 5, ..Query::new(question) }).unwrap().hits;
        hits.iter().filter(|hit| hit.vector_score.is_some()).count()
    };
    assert_eq!(cosines(with_source(ModelSource::Default)), 5, "no model is named: that of the store is used");
    assert_eq!(cosines(named(NamedModel::MiniLm)), 0, "another is named: it is not the store's");
    let engine = Engine::open(folder.path(), with_source(ModelSource::Default)).unwrap();
    assert!(!engine.reembed(&NoProgress).unwrap().changed, "no model is named: nothing is to change");
}

/// The figures of `docs/src/models.md` about the default model. To lean on words finds hardly more.
#[test]
fn a_memory_in_another_language_is_found_less_often() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine_with_model(folder.path());
    let lines = lines();
    let ids = save_all(&engine, &lines);
    // Per language: all, found in the first five, and with words first.
    let mut counts: BTreeMap<&str, [usize; 3]> = BTreeMap::new();
    for ([language, _, question], id) in lines.iter().zip(ids) {
        let counts = counts.entry(language).or_default();
        counts[0] += 1;
        for (at, weights) in [(1, Weights::default()), (2, Weights { vector: 0.3, keyword: 0.7 })] {
            let query = Query { limit: 5, weights: Some(weights), ..Query::new(*question) };
            counts[at] += usize::from(engine.search(&query).unwrap().hits.iter().any(|hit| hit.record.id == id));
        }
    }
    for (language, [all, found, by_words]) in &counts {
        eprintln!("{language}: {found} of {all} in the first five, {by_words} with the weights of words");
    }
    let (english, others) = (counts.remove("en").expect("English"), counts.values());
    let [all, found, by_words] = others.fold([0; 3], |sum, one| [sum[0] + one[0], sum[1] + one[1], sum[2] + one[2]]);
    assert!(english[1] * 10 >= english[0] * 9, "{english:?}");
    assert!(found * 10 >= all * 5 && found + 5 >= by_words, "{found} of {all}, {by_words}");
}

/// A store with many memories in a language that its model does not know.
#[test]
fn another_model_is_suggested_once_for_foreign_memories() {
    let in_language = |language: &'static str| lines().into_iter().filter(move |line| line[0] == language);
    let folder = tempfile::tempdir().unwrap();
    let engine = engine_with_model(folder.path());
    save_all(&engine, &in_language("en").collect::<Vec<_>>());
    assert_eq!((engine.foreign_memories().unwrap(), engine.new_foreign_memories().unwrap()), (None, None));
    save_all(&engine, &in_language("ru").take(19).collect::<Vec<_>>());
    assert_eq!(engine.new_foreign_memories().unwrap(), None, "too few");
    save_all(&engine, &in_language("ru").skip(19).collect::<Vec<_>>());
    let foreign = engine.foreign_memories().unwrap().expect("25 of 50");
    assert!(foreign.count >= 23 && foreign.count <= 27 && foreign.examined == 50, "{foreign:?}");
    let model =
        engine.doctor(false, &NoProgress).unwrap().checks.into_iter().find(|check| check.name == "model").unwrap();
    assert!(model.ok && model.remedy == Some(Remedy::UseMultilingualModel), "{model:?}");
    assert!(model.details.iter().any(|line| line.contains("of the newest 50 memories")), "{model:?}");
    assert_eq!(engine.new_foreign_memories().unwrap(), Some(foreign));
    assert_eq!(engine.new_foreign_memories().unwrap(), None, "it was suggested");
    drop(engine);

    // Texts of which the model knows no character have no vector.
    let folder = tempfile::tempdir().unwrap();
    let engine = engine_with_model(folder.path());
    for number in 0..25 {
        engine.add(&NewRecord::new(format!("{}ช้างลงเล่นน้ำ", "ก".repeat(number + 1)))).unwrap();
    }
    engine.embed_pending(&NoProgress).unwrap();
    assert_eq!(engine.foreign_memories().unwrap().map(|foreign| foreign.count), Some(25));

    let folder = tempfile::tempdir().unwrap();
    let engine = Engine::open(folder.path(), with_source(ModelSource::Named(NamedModel::E5Small))).unwrap();
    engine.prepare_model(&mut |plan| eprintln!("fetching {plan}"), &NoProgress).unwrap();
    save_all(&engine, &in_language("ru").collect::<Vec<_>>());
    assert_eq!(engine.foreign_memories().unwrap(), None);
}
