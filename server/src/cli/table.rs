//! Results as a table: one line each, as wide as the terminal.

use std::collections::BTreeSet;

use comfy_table::{CellAlignment, ContentArrangement, LineStyle, Row, Table, presets};
use memorist_engine::types::MatchSource;

use super::format;
use crate::escape;
use crate::wire::SearchHit;

/// Columns if the output is not a terminal.
const WIDTH: u16 = 120;

/// A table with this header, for rows of one line.
pub fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    let style = presets::UTF8_HORIZONTAL_ONLY.row_separator(LineStyle::none());
    table.load_style(style).set_content_arrangement(ContentArrangement::Dynamic);
    if !table.is_tty() {
        table.set_width(WIDTH);
    }
    table.set_truncation_indicator("…");
    table.set_header(header.iter().map(|name| name.to_string()).collect::<Vec<_>>());
    table
}

/// Adds a row that stays on one line.
pub fn add_row(table: &mut Table, cells: Vec<String>) {
    // Here and not only on output, so that columns have the width of the escaped text.
    let mut row = Row::from(cells.iter().map(|cell| escape::text(cell)).collect::<Vec<_>>());
    row.max_height(1);
    table.add_row(row);
}

/// Aligns these columns, of numbers, to the right.
pub fn align_right(table: &mut Table, columns: &[usize]) {
    for number in columns {
        if let Some(column) = table.column_mut(*number) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}

/// Search results with their relevance, and why one stands where that does not say so; with `explain` with all scores.
pub fn hits(hits: &[SearchHit], explain: bool) -> String {
    let has_why = hits.iter().any(|hit| hit.why.is_some());
    let columns: Vec<Column> = COLUMNS.into_iter().filter(|column| column.is_shown(explain, has_why)).collect();
    let mut header = vec![""];
    header.extend(columns.iter().map(|column| column.name));
    let mut table = table(&header);
    for (rank, hit) in hits.iter().enumerate() {
        let mut cells = vec![(rank + 1).to_string()];
        cells.extend(columns.iter().map(|column| (column.value)(hit)));
        add_row(&mut table, cells);
        for neighbor in &hit.neighbors {
            let side = if (neighbor.turn, neighbor.id) < (hit.turn, hit.id) { "before" } else { "after" };
            let mut cells = vec![String::new(); columns.len() - 2];
            cells.extend([
                side.to_owned(),
                neighbor.id.to_string(),
                neighbor.content.as_deref().map(format::one_line).unwrap_or_default(),
            ]);
            add_row(&mut table, cells);
        }
    }
    let numbers = columns.iter().zip(1..).filter(|(column, _)| column.is_number).map(|(_, at)| at);
    align_right(&mut table, &[0].into_iter().chain(numbers).collect::<Vec<_>>());
    table.trim_fmt()
}

/// A column of results.
struct Column {
    name: &'static str,
    /// Whether it is shown with all scores alone.
    explains: bool,
    is_number: bool,
    value: fn(&SearchHit) -> String,
}

impl Column {
    fn is_shown(&self, explain: bool, has_why: bool) -> bool {
        if self.name == WHY { has_why } else { explain || !self.explains }
    }
}

const WHY: &str = "why here";
/// The last three are those of neighbors, too.
const COLUMNS: [Column; 10] = [
    Column { name: "score", explains: true, is_number: true, value: |hit| format!("{:.3}", hit.score) },
    Column { name: "relevance", explains: false, is_number: true, value: relevance },
    Column { name: "cosine", explains: true, is_number: true, value: |hit| number(hit.vector_score, 3) },
    Column { name: "bm25", explains: true, is_number: true, value: |hit| number(hit.keyword_score, 1) },
    Column { name: "logit", explains: true, is_number: true, value: logit },
    Column { name: "found by", explains: true, is_number: false, value: sources },
    Column { name: WHY, explains: false, is_number: false, value: |hit| hit.why.clone().unwrap_or_default() },
    Column { name: "kind", explains: false, is_number: false, value: |hit| hit.entry_type.to_string() },
    Column { name: "id", explains: false, is_number: true, value: |hit| hit.id.to_string() },
    Column { name: "memory", explains: false, is_number: false, value: text },
];

/// The relevance of a hit; none if it was found by parts of words.
fn relevance(hit: &SearchHit) -> String {
    number(Some(hit.relevance).filter(|relevance| *relevance > 0.0), 2)
}

/// The score of the reranker.
fn logit(hit: &SearchHit) -> String {
    number(hit.logit.map(f64::from), 1)
}

fn number(number: Option<f64>, digits: usize) -> String {
    number.map_or_else(|| "-".to_owned(), |number| format!("{number:.digits$}"))
}

fn text(hit: &SearchHit) -> String {
    hit.content.as_deref().map(format::one_line).unwrap_or_default()
}

fn sources(hit: &SearchHit) -> String {
    let sources: BTreeSet<_> = hit.matched_by.iter().collect();
    let names: Vec<_> = sources
        .into_iter()
        .map(|source| match source {
            MatchSource::Vector => "vector",
            MatchSource::Keyword => "keyword",
            MatchSource::Part => "part",
        })
        .collect();
    match names.is_empty() {
        false => names.join("+"),
        // By those around it.
        true if hit.relevance > 0.0 => "session".to_owned(),
        true => "substring".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use memorist_engine::types::Kind;

    fn hit(content: &str) -> SearchHit {
        SearchHit {
            id: 42,
            content: Some(content.into()),
            entry_type: Kind::Decision,
            source: None,
            context: None,
            confidence: None,
            importance: None,
            tags: None,
            relevance: 0.5,
            why: None,
            score: 0.8512,
            matched_by: vec![MatchSource::Keyword, MatchSource::Vector],
            created_at: 0,
            vector_score: Some(0.5),
            keyword_score: None,
            logit: None,
            project: None,
            agent: None,
            session: None,
            turn: None,
            place: None,
            boosted_by: Vec::new(),
            neighbors: Vec::new(),
            contradicted_by: Vec::new(),
            truncated: None,
        }
    }

    #[test]
    fn a_result_is_one_line_however_long_its_text() {
        let read = SearchHit { logit: Some(-3.25), ..hit("a text") };
        let rendered = hits(&[read], true);
        assert!(rendered.contains("logit") && rendered.contains("-3.2"), "{rendered}");
        let rendered = hits(&[hit(&"a long text\nof many lines ".repeat(40))], true);
        let row: Vec<_> = rendered.lines().filter(|line| line.contains("decision")).collect();
        let [row] = row.as_slice() else { panic!("not one row:\n{rendered}") };
        assert!(row.chars().count() <= usize::from(WIDTH), "{row}");
        for part in ["0.851", "0.500", "vector+keyword", "42", "a long text of many", "…"] {
            assert!(row.contains(part), "{part} is missing in {row}");
        }
    }

    #[test]
    fn hits_show_relevance_alone_and_a_reason_if_there_is_one() {
        let shown = hits(&[hit("a text")], false);
        assert!(shown.contains("relevance") && shown.contains("0.50") && !shown.contains(WHY), "{shown}");
        for part in ["score", "0.851", "cosine", "0.500", "bm25", "logit", "vector"] {
            assert!(!shown.contains(part), "{part} is in {shown}");
        }
        let exact = SearchHit { why: Some("exact match".to_owned()), ..hit("a text") };
        let parts = SearchHit { relevance: 0.0, ..hit("parts of words") };
        let shown = hits(&[exact, parts], false);
        assert!(shown.contains(WHY) && shown.contains("exact match") && !shown.contains("0.00"), "{shown}");
    }
}
