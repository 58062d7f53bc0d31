//! How well the default model finds memories in other languages than English: made questions, each about one memory.

use std::collections::BTreeMap;

use memorist_engine::progress::NoProgress;
use memorist_engine::types::{NewRecord, Query, Weights};

use crate::meaning::engine_with_model;

/// A line: a language, a memory, a question about it.
const QUESTIONS: &str = include_str!("../../bench-data/src/agents/languages.tsv");

/// What `docs/src/models.md` says of it. To lean on words finds hardly more.
#[test]
fn a_memory_in_another_language_is_found_less_often() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine_with_model(folder.path());
    let lines: Vec<[&str; 3]> = QUESTIONS
        .lines()
        .map(|line| line.splitn(3, '\t').collect::<Vec<_>>().try_into().expect("three columns"))
        .collect();
    let ids: Vec<_> = lines.iter().map(|[_, memory, _]| engine.add(&NewRecord::new(*memory)).unwrap().id).collect();
    engine.embed_pending(&NoProgress).unwrap();
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
