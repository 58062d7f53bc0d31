//! How well searches find: recall, MRR and nDCG per mode, with intervals; and how well the best score tells whether a
//! store has an answer at all.
//!
//! Each set is a store of its own, embedded by the default model:
//!
//! | set | memories | queries |
//! |---|---|---|
//! | `facts` | made memories of all kinds | half by meaning, half by their words |
//! | `sessions` | what an agent saved in six made sessions | its questions later |
//! | `identifiers` | the memories of `facts`, and 500 with a code each | "what is" and the code, which stands in a sentence |
//! | a folder | `corpus.jsonl`, `queries.jsonl`, `qrels/*.tsv`: the BEIR format | those with judgements |
//!
//! Run: `cargo bench --bench quality`, with `MEMORIST_QUALITY_FOLDER=DIR` for a folder of your own.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs;
use std::path::Path;

use memorist_engine::Engine;
use memorist_engine::config::Config;
use memorist_engine::progress::NoProgress;
use memorist_engine::types::{Kind, Mode, NewRecord, Query, RecordId, Scale, ThreadRules, Viewer};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Deserialize;

const SEED: u64 = 7;
/// Memories of `facts`.
const FACTS: usize = 3_000;
/// Its questions, at most.
const QUESTIONS: usize = 600;
/// Memories with a code.
const CODES: usize = 500;
/// Results that are looked at.
const TOP: usize = 10;
/// Samples of a bootstrap.
const SAMPLES: usize = 1_000;

/// What an agent did in six sessions, and was asked later.
const SESSIONS: &str = include_str!("../bench-data/src/agents/exercise.jsonl");

/// Texts, and queries with the texts that answer them.
struct Set {
    name: String,
    texts: Vec<NewRecord>,
    queries: Vec<Judged>,
}

/// A query, and its answers: places in the set, each with its grade.
struct Judged {
    text: String,
    answers: BTreeMap<usize, u32>,
}

impl Judged {
    fn new(text: String, answers: impl IntoIterator<Item = usize>) -> Self {
        Judged { text, answers: answers.into_iter().map(|place| (place, 1)).collect() }
    }
}

fn facts() -> Set {
    let texts = bench_data::memories(SEED, FACTS).map(|made| NewRecord {
        context: made.context,
        tags: made.tags,
        ..NewRecord::new(made.content)
    });
    let questions = bench_data::questions(SEED, FACTS, QUESTIONS);
    let queries = questions.into_iter().map(|question| Judged::new(question.text, question.answers));
    Set { name: "facts".into(), texts: texts.collect(), queries: queries.collect() }
}

fn sessions() -> Set {
    #[derive(Deserialize)]
    struct Line {
        call: Option<String>,
        with: Option<With>,
        r#as: Option<String>,
        ask: Option<String>,
        #[serde(default)]
        expect: Vec<String>,
    }
    #[derive(Deserialize)]
    struct With {
        content: Option<String>,
    }
    let (mut texts, mut places, mut asked) = (Vec::new(), HashMap::new(), Vec::new());
    for line in SESSIONS.lines() {
        let line: Line = serde_json::from_str(line).expect("a line of the sessions");
        let content = line.with.and_then(|with| with.content);
        match (line.call.as_deref(), content, line.ask) {
            (Some("memory_add"), Some(content), _) => {
                line.r#as.map(|name| places.insert(name, texts.len()));
                texts.push(NewRecord::new(content));
            }
            (_, _, Some(text)) => asked.push((text, line.expect)),
            _ => {}
        }
    }
    let queries = asked
        .into_iter()
        .map(|(text, names)| Judged::new(text, names.iter().filter_map(|name| places.get(name).copied())));
    let queries = queries.filter(|query| !query.answers.is_empty()).collect();
    Set { name: "sessions".into(), texts, queries }
}

fn identifiers() -> Set {
    let Set { mut texts, .. } = facts();
    let mut random = ChaCha8Rng::seed_from_u64(SEED);
    let mut codes = HashSet::new();
    let mut queries = Vec::new();
    while codes.len() < CODES {
        let letters: String = (0..2).map(|_| char::from(random.random_range(b'A'..=b'Z'))).collect();
        let number: u32 = random.random_range(100..10_000);
        let (text, query) = match codes.len() % 4 {
            0 => (
                format!("The pump in hall {} is the model {letters}-{number}", number % 9),
                format!("{letters}-{number}"),
            ),
            1 => (
                format!("Error {letters}{number} means that the filter of the press is full"),
                format!("what does {letters}{number} mean?"),
            ),
            2 => {
                let hash: String = (0..8).map(|_| format!("{:x}", random.random_range(0..16))).collect();
                (
                    format!("The slow start of the importer was mended in commit {hash}"),
                    format!("what was done in {hash}"),
                )
            }
            _ => (
                format!("Invoice {number}/{letters} was paid late, after two reminders"),
                format!("invoice {number}/{letters}"),
            ),
        };
        if codes.insert(query.clone()) {
            queries.push(Judged::new(query, [texts.len()]));
            texts.push(NewRecord::new(text));
        }
    }
    Set { name: "identifiers".into(), texts, queries }
}

/// A folder in the BEIR format.
fn folder(path: &Path) -> Set {
    #[derive(Deserialize)]
    struct Text {
        #[serde(rename = "_id")]
        id: String,
        #[serde(default)]
        title: String,
        text: String,
        session: Option<String>,
        turn: Option<i64>,
    }
    let read = |name: &str| fs::read_to_string(path.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    let parse = |name: &str| -> Vec<Text> {
        read(name).lines().map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{name}: {e}"))).collect()
    };
    let (corpus, queries) = (parse("corpus.jsonl"), parse("queries.jsonl"));
    let places: HashMap<&str, usize> = corpus.iter().enumerate().map(|(at, text)| (text.id.as_str(), at)).collect();
    let mut judged: HashMap<String, BTreeMap<usize, u32>> = HashMap::new();
    let files = fs::read_dir(path.join("qrels")).expect("qrels").map(|entry| entry.expect("an entry").path());
    for file in files {
        for line in fs::read_to_string(&file).expect("qrels").lines() {
            let parts: Vec<&str> = line.split('\t').collect();
            let [query, text, grade] = parts[..] else { continue };
            if let (Some(place), Ok(grade @ 1..)) = (places.get(text), grade.trim().parse()) {
                judged.entry(query.to_owned()).or_default().insert(*place, grade);
            }
        }
    }
    let queries = queries
        .into_iter()
        .filter_map(|query| judged.remove(&query.id).map(|answers| Judged { text: query.text, answers }));
    let name = path.file_name().map_or_else(|| "folder".into(), |name| name.to_string_lossy().into_owned());
    let queries = queries.collect();
    let text_of = |text: &Text| [text.title.as_str(), text.text.as_str()].join(" ").trim().to_owned();
    let texts = corpus.iter().map(|text| NewRecord {
        // A turn may be said twice.
        kind: if text.session.is_some() { Kind::Conversation } else { Kind::Fact },
        session: text.session.clone(),
        turn: text.turn,
        ..NewRecord::new(text_of(text))
    });
    Set { name, texts: texts.collect(), queries }
}

/// What a query found, as measures of 0 to 1.
#[derive(Clone, Copy, Default)]
struct Measures {
    first: f64,
    five: f64,
    ten: f64,
    reciprocal: f64,
    ndcg: f64,
}

impl Measures {
    fn of(found: &[usize], answers: &BTreeMap<usize, u32>) -> Self {
        let within = |most: usize| {
            let found = found.iter().take(most).filter(|place| answers.contains_key(place)).count();
            found as f64 / answers.len().min(most) as f64
        };
        let first = found.iter().position(|place| answers.contains_key(place));
        let gain = |at: usize, grade: u32| f64::from(2u32.pow(grade) - 1) / ((at + 2) as f64).log2();
        let gained: f64 = found
            .iter()
            .take(TOP)
            .enumerate()
            .filter_map(|(at, place)| answers.get(place).map(|grade| gain(at, *grade)))
            .sum();
        let mut grades: Vec<u32> = answers.values().copied().collect();
        grades.sort_unstable_by(|a, b| b.cmp(a));
        let best: f64 = grades.iter().take(TOP).enumerate().map(|(at, grade)| gain(at, *grade)).sum();
        Measures {
            first: within(1),
            five: within(5),
            ten: within(TOP),
            reciprocal: first.map_or(0.0, |at| 1.0 / (at + 1) as f64),
            ndcg: gained / best,
        }
    }
}

/// The mean in percent, and half the width of its 95 % interval, by bootstrap.
fn mean(all: &[Measures], measure: fn(&Measures) -> f64) -> String {
    let values: Vec<f64> = all.iter().map(measure).collect();
    let mean = |values: &mut dyn Iterator<Item = f64>| values.sum::<f64>() / all.len() as f64 * 100.0;
    let mut random = ChaCha8Rng::seed_from_u64(SEED);
    let mut samples: Vec<f64> = (0..SAMPLES)
        .map(|_| mean(&mut (0..values.len()).map(|_| values[random.random_range(0..values.len())])))
        .collect();
    samples.sort_unstable_by(f64::total_cmp);
    let (low, high) = (samples[SAMPLES / 40], samples[SAMPLES - 1 - SAMPLES / 40]);
    format!("{:5.1} ±{:<4.1}", mean(&mut values.iter().copied()), (high - low) / 2.0)
}

/// The share of pairs of an answerable and an unanswerable query in which the first scores higher.
fn area_under_the_curve(with: &[f64], without: &[f64]) -> f64 {
    let wins = |a: &f64| -> f64 {
        without
            .iter()
            .map(|b| {
                if a > b {
                    1.0
                } else if a == b {
                    0.5
                } else {
                    0.0
                }
            })
            .sum()
    };
    with.iter().map(wins).sum::<f64>() / (with.len() * without.len()) as f64
}

fn measure(set: &Set) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut config = Config::default();
    config.log_searches = false;
    let engine = Engine::open(folder.path(), config).expect("a store");
    engine.prepare_model(&mut |plan| eprintln!("{plan}"), &NoProgress).expect("the default model");
    let mut ids: Vec<RecordId> = Vec::new();
    for chunk in set.texts.chunks(1_000) {
        ids.extend(engine.add_batch(chunk).expect("saves").into_iter().map(|outcome| outcome.expect("a record").id));
    }
    engine.embed_pending(&NoProgress).expect("embeds");
    engine.flush(&NoProgress).expect("indexes");
    let places: HashMap<RecordId, usize> = ids.iter().enumerate().rev().map(|(place, id)| (*id, place)).collect();
    eprintln!("\n{}: {} memories, {} queries", set.name, set.texts.len(), set.queries.len());
    eprintln!("{:10} {:>11} {:>11} {:>11} {:>11} {:>11}", "", "recall@1", "recall@5", "recall@10", "MRR", "nDCG@10");
    let (mut words, mut window, mut answers) = (ThreadRules::NONE, ThreadRules::NONE, ThreadRules::ALL);
    (words.words, window.words, window.cosines, answers.questions) = (true, true, true, false);
    let ways = [
        ("keyword", Mode::Keyword, None, ThreadRules::NONE),
        ("vector", Mode::Vector, None, ThreadRules::NONE),
        ("pool", Mode::Hybrid, Some(Scale::Pool), ThreadRules::NONE),
        ("scale", Mode::Hybrid, None, ThreadRules::NONE),
        ("words", Mode::Hybrid, None, words),
        ("window", Mode::Hybrid, None, window),
        ("answers", Mode::Hybrid, None, answers),
        ("hybrid", Mode::Hybrid, None, ThreadRules::ALL),
    ];
    for (name, mode, scale, threads) in ways {
        let all: Vec<Measures> = set
            .queries
            .iter()
            .map(|judged| {
                let query = Query { mode, scale, threads, limit: TOP, ..Query::new(judged.text.as_str()) };
                let hits = engine.search(&query).expect("searches").hits;
                let found: Vec<usize> = hits.iter().map(|hit| places[&hit.record.id]).collect();
                Measures::of(&found, &judged.answers)
            })
            .collect();
        eprintln!(
            "{:10} {} {} {} {} {}",
            name,
            mean(&all, |one| one.first),
            mean(&all, |one| one.five),
            mean(&all, |one| one.ten),
            mean(&all, |one| one.reciprocal),
            mean(&all, |one| one.ndcg),
        );
    }
    let best = |query: &Judged| {
        let query = Query { limit: TOP, ..Query::new(query.text.as_str()) };
        let hits = engine.search(&query).expect("searches").hits;
        let hit = hits.into_iter().max_by(|a, b| a.relevance.total_cmp(&b.relevance));
        hit.map_or((0.0, 0.0), |hit| (hit.relevance, hit.vector_score.unwrap_or_default()))
    };
    let with: Vec<(f64, f64)> = set.queries.iter().map(best).collect();
    let without: Vec<(f64, f64)> = set
        .queries
        .iter()
        .map(|judged| {
            // Two texts of a folder may be the same.
            let answers: BTreeSet<RecordId> = judged.answers.keys().map(|place| ids[*place]).collect();
            for id in &answers {
                engine.delete(*id, &Viewer::OWNER).expect("deletes");
            }
            let outcome = best(judged);
            for id in &answers {
                engine.undo(*id, &Viewer::OWNER).expect("undoes");
            }
            outcome
        })
        .collect();
    let area = |of: fn(&(f64, f64)) -> f64| {
        let [with, without] = [&with, &without].map(|all| all.iter().map(of).collect::<Vec<f64>>());
        area_under_the_curve(&with, &without)
    };
    eprintln!(
        "an answer in the store or none: area under the curve {:.3} by relevance, {:.3} by cosine",
        area(|one| one.0),
        area(|one| one.1)
    );
}

fn main() {
    let sets = match std::env::var("MEMORIST_QUALITY_FOLDER") {
        Ok(folders) => folders.split(':').map(|path| folder(Path::new(path))).collect(),
        Err(_) => vec![facts(), sessions(), identifiers()],
    };
    sets.iter().for_each(measure);
}
