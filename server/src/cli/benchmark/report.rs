//! Results of a benchmark: as tables for people, and as a document.

use std::collections::{BTreeMap, BTreeSet};

use memorist_engine::bench::ranking::{DEPTH, Measures};
use memorist_engine::bench::statistics::Estimate;
use serde::Serialize;

use super::super::{format, table};
use super::history::ChatHistory;

/// The measures of each question, in this order.
const NAMES: [&str; 6] = ["hit@1", "hit@5", "recall@5", "recall@10", "MRR", "nDCG@10"];
/// All questions together.
const ALL: &str = "all";

/// One question.
pub struct Scored {
    pub kind: String,
    /// `None` if the benchmark names sessions only.
    pub turns: Option<[f64; NAMES.len()]>,
    pub sessions: [f64; NAMES.len()],
    pub is_by_words: bool,
    pub is_reranked: bool,
    pub micros: u64,
}

/// How well a ranking has the answers, of which there is at least one. Recall is the share of all answers, as the field counts it.
pub fn measured<Id: Ord + Clone>(found: &[Id], answers: &BTreeSet<Id>) -> [f64; NAMES.len()] {
    let right = |most: usize| found.iter().take(most).filter(|id| answers.contains(id)).count();
    let hit = |most: usize| f64::from(u8::from(right(most) > 0));
    let recall = |most: usize| right(most) as f64 / answers.len() as f64;
    let ranked = Measures::of(found, &answers.iter().map(|id| (id.clone(), 1)).collect());
    [hit(1), hit(5), recall(5), recall(DEPTH), ranked.reciprocal_rank, ranked.ndcg_at_10]
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BenchmarkReport {
    benchmark: &'static str,
    /// Stores that were made, one after the other.
    histories: usize,
    turns: usize,
    /// Questions that were searched for by keywords alone: without a model, or where it failed.
    by_words_alone: usize,
    /// Questions that were scored.
    questions: usize,
    /// Questions that were not asked: the benchmark names no evidence among the turns.
    pub without_evidence: usize,
    /// Questions whose results the reranker has read.
    reranked: usize,
    /// Median time of a search, with the embedding of the question.
    median_micros: u64,
    by_turn: BTreeMap<String, TypeScores>,
    by_session: BTreeMap<String, TypeScores>,
    #[serde(skip)]
    can_rerank: bool,
    #[serde(skip)]
    micros: Vec<u64>,
}

/// The questions of a type.
#[derive(Debug, Default, Serialize)]
struct TypeScores {
    questions: usize,
    #[serde(flatten)]
    measures: BTreeMap<&'static str, Estimate>,
    #[serde(skip)]
    values: Vec<[f64; NAMES.len()]>,
}

impl BenchmarkReport {
    /// An empty report.
    pub fn new(benchmark: &'static str, histories: &[ChatHistory], can_rerank: bool) -> Self {
        let turns = histories.iter().map(ChatHistory::turns).sum();
        BenchmarkReport { benchmark, histories: histories.len(), turns, can_rerank, ..BenchmarkReport::default() }
    }

    /// Adds a question.
    pub fn add(&mut self, scored: Scored) {
        self.questions += 1;
        self.by_words_alone += usize::from(scored.is_by_words);
        self.reranked += usize::from(scored.is_reranked);
        self.micros.push(scored.micros);
        for (rows, values) in [(&mut self.by_turn, scored.turns), (&mut self.by_session, Some(scored.sessions))] {
            for kind in [ALL, &scored.kind] {
                let Some(values) = values else { continue };
                rows.entry(kind.to_owned()).or_default().values.push(values);
            }
        }
    }

    /// Computes the means of all that was added.
    pub fn finish(&mut self) {
        self.micros.sort_unstable();
        self.median_micros = self.micros.get(self.micros.len() / 2).copied().unwrap_or_default();
        for row in self.by_turn.values_mut().chain(self.by_session.values_mut()) {
            row.questions = row.values.len();
            let of = |at: usize| Estimate::of(&row.values.iter().map(|values| values[at]).collect::<Vec<_>>());
            row.measures = NAMES.into_iter().enumerate().map(|(at, name)| (name, of(at))).collect();
        }
    }

    /// The text for people.
    pub fn text(&self) -> String {
        let mut text = format!(
            "{}: {} about {} in {}, in percent; a search takes {}, with the embedding of the question",
            self.benchmark,
            counted(self.questions, "question"),
            counted(self.turns, "turn"),
            counted(self.histories, "store"),
            format::micros(self.median_micros),
        );
        for (name, rows) in [("turns", &self.by_turn), ("sessions", &self.by_session)] {
            text += &format!("\n\n{name} found\n{}", table_of(rows));
        }
        if self.by_words_alone > 0 {
            text += &format!("\nnote: {} used keyword search only", counted(self.by_words_alone, "question"));
        }
        text += &match self.reranked {
            0 if self.can_rerank => "\nnote: not reranked; `memorist setup --reranker` fetches the reranker".to_owned(),
            0 => "\nnote: not reranked, as the settings say".to_owned(),
            some => format!("\nnote: the reranker has read the results of {}", counted(some, "question")),
        };
        text += &match self.without_evidence {
            0 => String::new(),
            1 => "\nnote: 1 more question has no evidence among the turns".to_owned(),
            more => {
                format!("\nnote: {} more questions have no evidence among the turns", format::thousands(more as u64))
            }
        };
        text
    }
}

fn counted(number: usize, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {what}{plural}", format::thousands(number as u64))
}

fn table_of(rows: &BTreeMap<String, TypeScores>) -> String {
    let header: Vec<&str> = ["", "questions"].into_iter().chain(NAMES).collect();
    let mut table = table::table(&header);
    // All together at the end.
    let kinds = rows.iter().filter(|(kind, _)| *kind != ALL);
    for (kind, row) in kinds.chain(rows.get_key_value(ALL)) {
        let cells = [kind.clone(), format::thousands(row.questions as u64)];
        let measures = NAMES.map(|name| format!("{:.1}", row.measures[name].mean * 100.0));
        table::add_row(&mut table, cells.into_iter().chain(measures).collect());
    }
    table::align_right(&mut table, &[1, 2, 3, 4, 5, 6, 7]);
    table.trim_fmt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounded(found: &[u32], answers: &[u32]) -> [f64; 6] {
        measured(found, &answers.iter().copied().collect()).map(|value| (value * 1e4).round() / 1e4)
    }

    #[test]
    fn measures_are_those_of_the_field() {
        assert_eq!(rounded(&[7, 1, 2], &[7]), [1.0; 6]);
        assert_eq!(rounded(&[1, 2, 7], &[7, 9]), [0.0, 1.0, 0.5, 0.5, 0.3333, 0.3066]);
        // Ten answers have no room in the first five.
        let ten: Vec<u32> = (0..10).collect();
        assert_eq!(rounded(&ten, &ten), [1.0, 1.0, 0.5, 1.0, 1.0, 1.0]);
        assert_eq!(rounded(&[1, 2], &[3]), [0.0; 6]);
        assert_eq!(rounded(&[], &[3]), [0.0; 6]);
    }
}
