//! Measured search quality: as a table for people, and as a document.

use memorist_engine::bench::ranking::Measures;
use memorist_engine::bench::statistics::Estimate;
use memorist_engine::types::{Mode, Record, RecordId};
use serde::Serialize;

use super::super::{format, table};
use super::pairs::Pair;

/// Queries that are shown.
const WORST: usize = 5;

/// The result of one mode for one query.
pub struct QueryOutcome {
    /// How well.
    pub measures: Measures,
    pub first: Option<Record>,
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct QualityReport {
    pub queries: usize,
    pub measured: Vec<ModeScores>,
    /// The worst queries whose first result is no answer, the worst first.
    pub worst: Vec<Worst>,
    /// Why meaning could not be measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub words_alone: Option<String>,
    /// Warnings of the searches.
    pub warnings: Vec<String>,
}

/// The measures of a mode.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ModeScores {
    mode: Mode,
    recall_at_1: Estimate,
    recall_at_5: Estimate,
    recall_at_10: Estimate,
    mrr: Estimate,
    ndcg_at_10: Estimate,
}

/// A query that is answered badly.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Worst {
    line: u64,
    query: String,
    answers: Vec<RecordId>,
    /// The rank of the first answer; none: it is not among the results.
    rank: Option<u64>,
    /// The first result; none: nothing was found.
    first: Option<First>,
}

/// A first result that is no answer.
#[derive(Debug, Serialize)]
struct First {
    id: RecordId,
    content: String,
}

impl QualityReport {
    /// Adds what a mode found.
    pub fn add(&mut self, mode: Mode, found: &[QueryOutcome]) {
        let values: Vec<_> = found.iter().map(|found| found.measures.values()).collect();
        let [recall_at_1, recall_at_5, recall_at_10, mrr, ndcg_at_10] =
            std::array::from_fn(|column| Estimate::of(&values.iter().map(|row| row[column]).collect::<Vec<_>>()));
        self.queries = found.len();
        self.measured.push(ModeScores { mode, recall_at_1, recall_at_5, recall_at_10, mrr, ndcg_at_10 });
    }

    /// Adds the worst of these queries.
    pub fn add_worst(&mut self, found: impl Iterator<Item = (Pair, QueryOutcome)>) {
        let mut wrong: Vec<_> = found.filter(|(_, found)| found.measures.recall_at_1 == 0.0).collect();
        // In the order of the file, if they are as bad.
        wrong.sort_by(|(_, a), (_, b)| badness(&a.measures).total_cmp(&badness(&b.measures)));
        self.worst = wrong.into_iter().take(WORST).map(|(pair, found)| worst(pair, found)).collect();
    }

    /// The text for people.
    pub fn text(&self) -> String {
        let queries = match self.queries {
            1 => "1 query".to_owned(),
            number => format!("{} queries", format::thousands(number as u64)),
        };
        let how = if self.words_alone.is_some() { ", keyword search only" } else { "" };
        let mut parts = vec![format!("{queries}{how}, in percent, ± half of the 95 % interval"), self.table()];
        if !self.worst.is_empty() {
            parts.extend(["\nthe worst queries, and their first hit instead".to_owned(), self.worst_table()]);
        }
        parts.extend(self.words_alone.iter().chain(&self.warnings).map(|warning| format!("note: {warning}")));
        parts.join("\n")
    }

    fn table(&self) -> String {
        let header: Vec<&str> = std::iter::once("").chain(Measures::NAMES).collect();
        let mut table = table::table(&header);
        for row in &self.measured {
            let name = match row.mode {
                Mode::Keyword => "keyword",
                Mode::Vector => "vector",
                Mode::Hybrid => "hybrid",
            };
            let shares = [&row.recall_at_1, &row.recall_at_5, &row.recall_at_10, &row.mrr, &row.ndcg_at_10];
            table::add_row(&mut table, std::iter::once(name.to_owned()).chain(shares.map(percent)).collect());
        }
        table::align_right(&mut table, &[1, 2, 3, 4, 5]);
        table.trim_fmt()
    }

    fn worst_table(&self) -> String {
        let mut table = table::table(&["line", "query", "answer's rank", "id", "first instead"]);
        for worst in &self.worst {
            let rank = worst.rank.map_or_else(|| "not found".to_owned(), |rank| rank.to_string());
            let (id, content) = worst.first.as_ref().map_or_else(
                || ("-".to_owned(), "nothing".to_owned()),
                |first| (first.id.to_string(), format::one_line(&first.content)),
            );
            table::add_row(&mut table, vec![worst.line.to_string(), format::one_line(&worst.query), rank, id, content]);
        }
        table::align_right(&mut table, &[0, 2, 3]);
        table.trim_fmt()
    }
}

fn percent(share: &Estimate) -> String {
    format!("{:.1} ±{:.1}", share.mean * 100.0, share.margin() * 100.0)
}

/// The lower, the worse: by the gain, then by the rank.
fn badness(measures: &Measures) -> f64 {
    measures.ndcg_at_10 + measures.reciprocal_rank
}

fn worst(pair: Pair, found: QueryOutcome) -> Worst {
    let reciprocal = found.measures.reciprocal_rank;
    Worst {
        line: pair.line,
        query: pair.query,
        answers: pair.answers.into_iter().collect(),
        rank: (reciprocal > 0.0).then(|| (1.0 / reciprocal).round() as u64),
        first: found.first.map(|record| First { id: record.id, content: record.content }),
    }
}
