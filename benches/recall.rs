//! Automatic recall: whether a turn gets the memories that it needs, and none if it needs none: in a store of a few memories; of these among
//! thousands of others; and of many that are alike among those, as the dialogues say the same of a dozen services and people.
//! And the tokens that a recall has, and how long it takes beside a search.
//!
//! Then turns with words of the trade that are in few vocabularies, of which a part is mistaken for names; turns with a code, a path or
//! a name; and questions in eight languages, to the default model and to the multilingual one.
//!
//! The turns come in two halves without a wording in common. What decides in `engine/src/recall/` was chosen by one of them.
//!
//! Run: `cargo bench --bench recall`, with `MEMORIST_BENCH_COUNT=N` for other than 10,000 memories around them.

mod common;

use std::collections::HashMap;
use std::time::{Duration, Instant};

use bench_data::{DialogueTurn, Dialogues, Need};
use memorist_engine::Engine;
use memorist_engine::config::{Config, ModelSource};
use memorist_engine::embed::NamedModel;
use memorist_engine::progress::NoProgress;
use memorist_engine::types::{NewRecord, Query, Recall, RecallRequest, RecordId, Viewer};

use common::wilson;

const SEED: u64 = 7;
/// Memories around those of the dialogues.
const AROUND: usize = 10_000;
/// Parts of the dialogues' memories; each in turn is a store of a few memories.
const PARTS: usize = 13;
const PARTS_OF_TRADE: usize = 7;
/// A store with fewer memories than this is asked, and its memories are deleted again.
const FEW_MEMORIES: usize = 100;

fn main() {
    for model in [NamedModel::MiniLm, NamedModel::E5Small] {
        ask_in_languages(model);
    }
    let around = std::env::var("MEMORIST_BENCH_COUNT").map_or(AROUND, |count| count.parse().expect("a number"));
    let dialogues = bench_data::dialogues(SEED);
    let trade = bench_data::trade_dialogues(SEED);
    let folder = tempfile::tempdir().expect("a folder");
    let mut config = Config::default();
    config.log_searches = false;
    let engine = Engine::open(folder.path(), config).expect("a store");
    engine.prepare_model(&mut |plan| eprintln!("{plan}"), &NoProgress).expect("the default model");
    let ask_few = |name: &str| {
        print(name, &ask_each(&engine, &dialogues, &in_parts(&dialogues, PARTS)));
        print(&format!("{name}; in words of the trade"), &ask_each(&engine, &trade, &in_parts(&trade, PARTS_OF_TRADE)));
    };
    let coded = bench_data::coded_dialogues(SEED);
    let ask_coded = |name: &str| {
        for (kind, dialogues) in &coded {
            print(&format!("{kind}, {name}"), &ask_each(&engine, dialogues, &in_parts(dialogues, 1)));
        }
    };
    ask_coded("24 alike");
    ask_few("a few memories, another few each time");
    let others = bench_data::memories(SEED, around).map(|made| NewRecord {
        context: made.context,
        tags: made.tags,
        ..NewRecord::new(made.content)
    });
    save(&engine, others.collect());
    ask_few(&format!("a few, among {around} others"));
    ask_coded(&format!("24 alike, among {around} others"));
    let name = format!("many alike, among {around} others");
    print(&name, &ask_each(&engine, &dialogues, &in_parts(&dialogues, 1)));
    time(&engine, &dialogues);
    print(
        &format!("{name}, and those of before; in words of the trade"),
        &ask_each(&engine, &trade, &in_parts(&trade, 1)),
    );
}

/// Asks in each language, about one half of its memories and then about the other.
fn ask_in_languages(model: NamedModel) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut config = Config::default();
    config.log_searches = false;
    config.model.source = ModelSource::Named(model);
    let engine = Engine::open(folder.path(), config).expect("a store");
    engine.prepare_model(&mut |plan| eprintln!("{plan}"), &NoProgress).expect("the model");
    let languages = bench_data::language_dialogues();
    for (language, halves) in &languages {
        let asked: Vec<_> = halves.iter().flat_map(|half| ask_each(&engine, half, &in_parts(half, 1))).collect();
        print(&format!("{language}, {}", model.name()), &asked);
    }
}

/// The memories of dialogues, divided into parts by turns.
fn in_parts(dialogues: &Dialogues, parts: usize) -> Vec<Vec<usize>> {
    let all = 0..dialogues.memories.len();
    (0..parts).map(|part| all.clone().skip(part).step_by(parts).collect()).collect()
}

fn save(engine: &Engine, texts: Vec<NewRecord>) -> Vec<RecordId> {
    let mut ids = Vec::new();
    for chunk in texts.chunks(1_000) {
        ids.extend(engine.add_batch(chunk).expect("saves").into_iter().map(|outcome| outcome.expect("a record").id));
    }
    engine.embed_pending(&NoProgress).expect("embeds");
    engine.flush(&NoProgress).expect("indexes");
    ids
}

fn recall(engine: &Engine, turn: &DialogueTurn) -> Recall {
    let request = RecallRequest { before: turn.before.clone(), ..RecallRequest::new(&*turn.text) };
    engine.recall(&request).expect("recalls")
}

/// A turn, what it was given, and the memory that it needs.
struct TurnOutcome<'a> {
    turn: &'a DialogueTurn,
    recall: Recall,
    needed: Option<RecordId>,
}

/// Saves each part of the memories in turn, and asks what those turns are given whose memory is there, and those that need none.
fn ask_each<'a>(engine: &Engine, dialogues: &'a Dialogues, parts: &[Vec<usize>]) -> Vec<TurnOutcome<'a>> {
    let mut all = Vec::new();
    for part in parts {
        let saved = save(engine, part.iter().map(|at| NewRecord::new(&*dialogues.memories[*at])).collect());
        let ids: HashMap<usize, RecordId> = part.iter().copied().zip(saved.iter().copied()).collect();
        let turns = dialogues.turns.iter().filter(|turn| turn.memory.is_none_or(|memory| ids.contains_key(&memory)));
        all.extend(turns.map(|turn| {
            let needed = turn.memory.map(|memory| ids[&memory]);
            TurnOutcome { turn, recall: recall(engine, turn), needed }
        }));
        if parts.len() > 1 || part.len() < FEW_MEMORIES {
            for id in saved {
                engine.viewed_by(&Viewer::OWNER).delete(id).expect("deletes");
            }
        }
    }
    all
}

/// Prints how many got what they need, and how many got anything.
fn print(name: &str, asked: &[TurnOutcome<'_>]) {
    eprintln!("\n{name}");
    for (half, is_for_tuning) in [("tuning half", true), ("held-out half", false)] {
        eprintln!("{half:20} {:>6} {:>20} {:>20} {:>8}", "turns", "the needed, %", "anything, %", "tokens");
        let row = |name: &str, of: &dyn Fn(&DialogueTurn) -> bool| {
            let all = asked.iter().filter(|asked| asked.turn.is_for_tuning == is_for_tuning && of(asked.turn));
            let all: Vec<&TurnOutcome<'_>> = all.collect();
            if all.is_empty() {
                return;
            }
            let has = |asked: &TurnOutcome<'_>| {
                let given = asked.recall.memories.iter();
                given.map(|memory| memory.record.id).any(|id| Some(id) == asked.needed)
            };
            let got = all.iter().filter(|asked| asked.turn.need.is_one()).map(|asked| has(asked));
            let anything = all.iter().map(|asked| !asked.recall.is_silent());
            let given = all.iter().filter(|asked| !asked.recall.is_silent()).map(|asked| asked.recall.tokens);
            let given: Vec<usize> = given.collect();
            let tokens = given.iter().sum::<usize>() as f64 / given.len().max(1) as f64;
            eprintln!("  {name:18} {:6} {:>20} {:>20} {tokens:8.0}", all.len(), percent(got), percent(anything));
        };
        for need in Need::ALL {
            row(&format!("{need:?}"), &|turn| turn.need == need);
        }
        row("all that need one", &|turn| turn.need.is_one());
        row("none, but for Near", &|turn| !turn.need.is_one() && turn.need != Need::Near);
        row("all that need none", &|turn| !turn.need.is_one());
    }
}

/// A share and its 95 % Wilson interval, which does not have zero width where nothing was given.
fn percent(values: impl Iterator<Item = bool>) -> String {
    let values: Vec<bool> = values.collect();
    if values.is_empty() {
        return String::new();
    }
    let hits = values.iter().filter(|is| **is).count();
    let (low, high) = wilson(hits, values.len());
    format!("{:.1} ({:.1}-{:.1})", 100.0 * hits as f64 / values.len() as f64, low * 100.0, high * 100.0)
}

/// Prints how long a recall takes, and a search for the same text.
fn time(engine: &Engine, dialogues: &Dialogues) {
    let turns: HashMap<&str, &DialogueTurn> = dialogues.turns.iter().map(|turn| (&*turn.text, turn)).collect();
    let mut times = [Vec::new(), Vec::new()];
    for (text, turn) in turns {
        let started = Instant::now();
        engine.search(&Query::new(text)).expect("searches");
        times[0].push(started.elapsed());
        let started = Instant::now();
        recall(engine, turn);
        times[1].push(started.elapsed());
    }
    for (name, mut times) in ["a search", "a recall"].into_iter().zip(times) {
        times.sort_unstable();
        let at = |share: usize| times[(times.len() * share / 100).min(times.len() - 1)];
        let millis = |time: Duration| time.as_secs_f64() * 1000.0;
        eprintln!("{name}, with the model: p50 {:.1} ms, p95 {:.1} ms", millis(at(50)), millis(at(95)));
    }
}
