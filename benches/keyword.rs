//! Latency of a keyword search.
//!
//! Corpus: the whole bench corpus; queries are its questions (sentences), their first three words, and the sentences with a
//! typo: the middle letter of the longest plain word is left out.
//! Run: `cargo bench --bench keyword`

mod common;

use common::Corpus;
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use memorist_engine::keywords::{KeywordIndex, KeywordQuery, TantivyIndex};
use memorist_engine::paths::StorePaths;
use memorist_engine::records::Records;
use memorist_engine::types::Filter;
use roaring::RoaringTreemap;

fn with_typo(text: &str) -> String {
    let words = text.split_whitespace().filter(|word| word.bytes().all(|letter| letter.is_ascii_lowercase()));
    let Some(longest) = words.max_by_key(|word| word.len()) else { return text.to_owned() };
    let middle = longest.chars().count() / 2;
    let typo: String = longest.chars().enumerate().filter(|(at, _)| *at != middle).map(|(_, letter)| letter).collect();
    text.replacen(longest, &typo, 1)
}

fn keyword(criterion: &mut Criterion) {
    let corpus = Corpus::new(common::count());
    let paths = StorePaths::new(common::store(&corpus));
    let records = Records::open(&paths).expect("the store");
    let index = TantivyIndex::open(&paths.keywords(), records.store_id()).expect("the index of the store");
    let snapshot = index.snapshot().expect("a snapshot");
    let sentences: Vec<String> = corpus.queries.iter().map(|(text, _)| text.clone()).collect();
    let words = |text: &String| text.split_whitespace().take(3).collect::<Vec<_>>().join(" ");
    let short: Vec<String> = sentences.iter().map(words).collect();
    let typos: Vec<String> = sentences.iter().map(|text| with_typo(text)).collect();
    let (all, none) = (Filter::default(), RoaringTreemap::new());
    let mut group = criterion.benchmark_group("keyword");
    for (name, queries) in [("three words", &short), ("sentence", &sentences), ("typo", &typos)] {
        let mut at = (0..queries.len()).cycle();
        group.bench_function(BenchmarkId::new(name, corpus.texts.len()), |bench| {
            bench.iter(|| {
                let query = KeywordQuery::new(&queries[at.next().unwrap_or(0)]);
                snapshot.query(&query, None).and_then(|search| search.best(50, &all, &none)).expect("searches")
            });
        });
        common::percentiles(name, queries.len(), |at| {
            snapshot
                .query(&KeywordQuery::new(&queries[at]), None)
                .and_then(|search| search.best(50, &all, &none))
                .expect("searches");
        });
    }
    group.finish();
}

criterion_group!(benches, keyword);
criterion_main!(benches);
