//! Time of an embedding by the default model, and by ONNX Runtime with the same weights, one after the other in each round; then
//! by the multilingual model.
//!
//! Texts of 8 to 256 tokens, one at a time and many at once; medians, and how many times as long ONNX Runtime takes.
//! `MEMORIST_KERNEL=avx2` compares other instructions. ONNX Runtime runs many texts on two sessions, so compare on one
//! core. With the real texts of `MEMORIST_SHARED_DATA`, it also counts how many of the ten nearest of each query, as ONNX
//! Runtime has embedded it, are the ten nearest of our embedding.
//! Run: `taskset -c 0 cargo bench --bench embedding`

use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bench_data::real;
use memorist_engine::embed::{Embedder, ModelHost, ModelSettings, ModelSource, NamedModel, setup};
use memorist_engine::progress::NoProgress;

/// Tokens, with the two marks.
const LENGTHS: [usize; 6] = [8, 16, 32, 64, 128, 256];
const ROUNDS: usize = 15;

/// Texts of so many tokens: each of these words is one.
fn texts(tokens: usize, count: usize) -> Vec<String> {
    const WORDS: [&str; 12] = [
        "engine", "memory", "theme", "login", "queue", "coffee", "garden", "budget", "sister", "window", "market",
        "river",
    ];
    let word = |text: usize, at: usize| WORDS[(text * 31 + at * 17 + at * at) % WORDS.len()];
    (0..count).map(|text| (0..tokens - 2).map(|at| word(text, at)).collect::<Vec<_>>().join(" ")).collect()
}

fn load(settings: &ModelSettings) -> (Arc<dyn Embedder>, Duration) {
    let host = ModelHost::new(settings).expect("settings");
    let start = Instant::now();
    let embedder = host.embedder().expect("the model");
    (embedder, start.elapsed())
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64() * 1e3
}

/// Counts how many of the ten nearest texts of each real query are found with our embedding of the query.
fn compare_nearest(embedder: &dyn Embedder) {
    const K: usize = 10;
    /// Neighbours as near as this to the tenth are as good: their order is chance.
    const TIE: f32 = 1e-5;
    let Some(folder) = real::directory() else { return };
    let Some(data) = real::load(&folder).expect("readable data") else { return };
    let texts = real::query_texts(&folder).expect("the texts of the queries");
    let (mut found, mut least) = (0, 1f32);
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    for ((text, theirs), similarities) in
        texts.iter().zip(data.queries.chunks(data.dims)).zip(data.similarities.chunks(data.depth))
    {
        let ours = embedder.embed_query(text).expect("a vector");
        least = least.min(dot(&ours, theirs));
        let rows = data.base.chunks(data.dims);
        let mut nearest: Vec<(f32, &[f32])> = rows.map(|row| (dot(row, &ours), row)).collect();
        nearest.select_nth_unstable_by(K, |a, b| b.0.total_cmp(&a.0));
        found += nearest[..K].iter().filter(|(_, row)| dot(row, theirs) >= similarities[K - 1] - TIE).count();
    }
    eprintln!("\n{} real queries: least cosine {least:.7}, {found} of their {} nearest", texts.len(), K * texts.len());
}

/// The time of a query by the multilingual model. Its prefix is two more tokens.
fn time_multilingual() {
    let settings = ModelSettings::from(ModelSource::Named(NamedModel::E5Small));
    setup(&settings, &mut |plan| eprintln!("{plan}"), &NoProgress).expect("the multilingual model");
    let (embedder, loading) = load(&settings);
    eprintln!("\nmultilingual: loaded in {:.1} ms\ntokens   a query, ms", loading.as_secs_f64() * 1e3);
    for tokens in LENGTHS {
        let texts = texts(tokens - 2, 8);
        let times = (0..3 * ROUNDS).map(|round| {
            let start = Instant::now();
            embedder.embed_query(&texts[round % texts.len()]).expect("a vector");
            start.elapsed()
        });
        eprintln!("{tokens:6} {:13.2}", median(times.collect()));
    }
}

fn main() {
    let default = ModelSettings::default();
    let report = setup(&default, &mut |plan| eprintln!("{plan}"), &NoProgress).expect("the default model");
    let folder = tempfile::tempdir().expect("a folder");
    for file in ["model.onnx", "tokenizer.json"] {
        fs::copy(report.folder.join(file), folder.path().join(file)).expect("a copy");
    }
    let (ours, our_load) = load(&default);
    let (onnx, onnx_load) = load(&ModelSettings::from(ModelSource::Folder(folder.path().to_owned())));
    eprintln!(
        "loaded in {:.1} ms; ONNX Runtime {:.0} ms\n",
        our_load.as_secs_f64() * 1e3,
        onnx_load.as_secs_f64() * 1e3
    );
    eprintln!("tokens   ours, ms   ONNX, ms   times |  many: ours, ms a text   ONNX   times   least cosine");
    for tokens in LENGTHS {
        let texts = texts(tokens, (2048 / tokens).min(128));
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let time = |work: &dyn Fn()| {
            let start = Instant::now();
            work();
            start.elapsed()
        };
        let (mut one, mut many) = ([vec![], vec![]], [vec![], vec![]]);
        for round in 0..ROUNDS {
            let text = texts[round % texts.len()];
            for (side, embedder) in [&ours, &onnx].into_iter().enumerate() {
                for _ in 0..3 {
                    one[side].push(time(&|| drop(embedder.embed_query(text).expect("a vector"))));
                }
                if round % 3 == 0 {
                    many[side].push(time(&|| drop(embedder.embed_batch(&texts).expect("vectors"))));
                }
            }
        }
        let least = texts[..8].iter().map(|text| {
            let (a, b) = (ours.embed_query(text).expect("a vector"), onnx.embed_query(text).expect("a vector"));
            a.iter().zip(&b).map(|(a, b)| a * b).sum::<f32>()
        });
        let least = least.fold(1.0, f32::min);
        let [one_ours, one_onnx] = one.map(median);
        let [many_ours, many_onnx] = many.map(|times| median(times) / texts.len() as f64);
        eprintln!(
            "{tokens:6} {one_ours:10.2} {one_onnx:10.2} {:7.1} | {many_ours:23.2} {many_onnx:6.2} {:7.1} {least:14.7}",
            one_onnx / one_ours,
            many_onnx / many_ours
        );
    }
    compare_nearest(&*ours);
    time_multilingual();
}
