//! The ways of searching, and what each step from one to the next adds.

use memorist_engine::bench::ranking::{DEPTH, Measures};
use memorist_engine::bench::statistics::Estimate;
use memorist_engine::types::{Mode, Query, RecordId, Scale, ThreadRules};

use super::saved::SavedSet;

/// A way of searching.
struct Way {
    name: &'static str,
    query: Query,
    /// Whether it is a step on the way from the way before it to the default.
    is_step: bool,
}

/// The way in which searches work without a reranker.
const DEFAULT: &str = "hybrid";

fn ways() -> [Way; 10] {
    let mut words = ThreadRules::NONE;
    words.words = true;
    let mut window = words;
    window.cosines = true;
    let mut answers = window;
    answers.answers = true;
    let mut questions = answers;
    questions.questions = true;
    let way = |name, mode, scale, threads, is_step| Way {
        name,
        query: Query { mode, scale, threads, limit: DEPTH, ..Query::new("") },
        is_step,
    };
    [
        way("keyword", Mode::Keyword, None, ThreadRules::NONE, false),
        way("vector", Mode::Vector, None, ThreadRules::NONE, false),
        way("pool", Mode::Hybrid, Some(Scale::Pool), ThreadRules::NONE, true),
        way("scale", Mode::Hybrid, None, ThreadRules::NONE, true),
        way("+words", Mode::Hybrid, None, words, true),
        way("+window", Mode::Hybrid, None, window, true),
        way("+answers", Mode::Hybrid, None, answers, true),
        way("+questions", Mode::Hybrid, None, questions, true),
        way(DEFAULT, Mode::Hybrid, None, ThreadRules::ALL, true),
        Way { name: "reranked", query: Query { rerank: true, limit: DEPTH, ..Query::new("") }, is_step: true },
    ]
}

/// Prints the measures of each way in percent, then what each step changes, and how the default compares with each side alone.
pub fn print(set: &SavedSet) {
    let measured: Vec<(Way, Vec<Measures>)> = ways().into_iter().map(|way| measured(set, way)).collect();
    head("", 11);
    for (way, all) in &measured {
        let cells = columns(all).map(|values| {
            let estimate = Estimate::of(&values);
            format!("{:5.1} ±{:<4.1}", estimate.mean * 100.0, estimate.margin() * 100.0)
        });
        row(way.name, &cells, 11);
    }
    eprintln!(
        "what each step changes from the row above, in points, with the paired 95 % interval (! worse beyond it)"
    );
    head("", 22);
    for pair in measured.windows(2).filter(|pair| pair[1].0.is_step) {
        let [(_, before), (way, after)] = pair else { continue };
        row(way.name, &changes(before, after), 22);
    }
    let (_, default) = measured.iter().find(|(way, _)| way.name == DEFAULT).expect("the default");
    eprintln!("what hybrid changes from each side alone, likewise");
    for (side, alone) in measured.iter().filter(|(way, _)| !way.is_step) {
        row(side.name, &changes(alone, default), 22);
    }
}

fn measured(set: &SavedSet, way: Way) -> (Way, Vec<Measures>) {
    let all = set.queries.iter().map(|asked| {
        let found: Vec<RecordId> = set.hits(asked, &way.query).iter().map(|hit| hit.record.id).collect();
        Measures::of(&found, &asked.answers)
    });
    let all = all.collect();
    (way, all)
}

/// The values of all queries, by measure.
fn columns(all: &[Measures]) -> [Vec<f64>; Measures::NAMES.len()] {
    std::array::from_fn(|column| all.iter().map(|one| one.values()[column]).collect())
}

fn changes(before: &[Measures], after: &[Measures]) -> Vec<String> {
    let (before, after) = (columns(before), columns(after));
    before.iter().zip(&after).map(|(before, after)| change(before, after)).collect()
}

fn change(before: &[f64], after: &[f64]) -> String {
    let Estimate { mean, low, high } = Estimate::of_change(before, after);
    let worse = if high < 0.0 { "!" } else { " " };
    format!("{:+.1} ({:+.1} {:+.1}){worse}", mean * 100.0, low * 100.0, high * 100.0)
}

fn head(name: &str, width: usize) {
    row(name, &Measures::NAMES.map(str::to_owned), width);
}

fn row(name: &str, cells: &[String], width: usize) {
    let cells: Vec<String> = cells.iter().map(|cell| format!("{cell:>width$}")).collect();
    eprintln!("{}", format!("{name:10} {}", cells.join(" ")).trim_end());
}
