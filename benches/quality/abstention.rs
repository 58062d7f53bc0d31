//! Whether the best relevance tells that a store has no answer.

use memorist_engine::bench::statistics::{Estimate, area_under_the_curve};
use memorist_engine::types::{DOUBTFUL, Query};

use super::made::SEED;
use super::saved::{SavedSet, SetQuery};

/// Questions about what no set has.
const UNANSWERABLE: usize = 300;

/// The best relevance of a search, and the cosine of that result.
struct Best {
    relevance: f64,
    cosine: f64,
}

/// Prints how the best relevance of queries with an answer differs from that of queries without one: the same ones without
/// the evidence in the store, and others about what occurs nowhere.
pub fn print(set: &SavedSet) {
    let answered: Vec<Best> = set.queries.iter().map(|asked| best(set, asked)).collect();
    let removed: Vec<Best> = set.queries.iter().map(|asked| set.without_evidence(asked, || best(set, asked))).collect();
    let elsewhere: Vec<Best> =
        bench_data::unanswerable(SEED, UNANSWERABLE).map(|text| best(set, &set.asked(text))).collect();
    eprintln!("is there an answer? a best relevance below {DOUBTFUL} is said to be doubtful");
    eprintln!("{:26} {:>11}  area under the curve: by relevance, by cosine", "", "doubtful");
    eprintln!("{:26} {}  wrongly", "answered", doubtful(&answered));
    for (name, without) in [("with the evidence removed", &removed), ("unanswerable", &elsewhere)] {
        let area = |of: fn(&Best) -> f64| {
            let [with, without] = [&answered, without].map(|all| all.iter().map(of).collect::<Vec<f64>>());
            area_under_the_curve(&with, &without)
        };
        let (relevance, cosine) = (area(|best| best.relevance), area(|best| best.cosine));
        eprintln!("{name:26} {}  {relevance:.3}, {cosine:.3}", doubtful(without));
    }
}

fn best(set: &SavedSet, asked: &SetQuery) -> Best {
    let hits = set.hits(asked, &Query::new(""));
    let best = hits.into_iter().max_by(|a, b| a.relevance.total_cmp(&b.relevance));
    best.map_or(Best { relevance: 0.0, cosine: 0.0 }, |hit| Best {
        relevance: hit.relevance,
        cosine: hit.vector_score.unwrap_or_default(),
    })
}

/// The share that is said to be doubtful, in percent.
fn doubtful(all: &[Best]) -> String {
    let values: Vec<f64> = all.iter().map(|best| f64::from(best.relevance < DOUBTFUL)).collect();
    let share = Estimate::of(&values);
    format!("{:5.1} ±{:<4.1}", share.mean * 100.0, share.margin() * 100.0)
}
