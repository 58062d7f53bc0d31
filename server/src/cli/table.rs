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

/// Search results with their scores.
pub fn hits(hits: &[SearchHit]) -> String {
    let mut table = table(&["", "score", "relevance", "cosine", "bm25", "found by", "kind", "id", "memory"]);
    for (rank, hit) in hits.iter().enumerate() {
        let text = hit.content.as_deref().map(format::one_line).unwrap_or_default();
        add_row(
            &mut table,
            vec![
                (rank + 1).to_string(),
                format!("{:.3}", hit.score),
                format!("{:.2}", hit.relevance),
                hit.vector_score.map_or_else(|| "-".into(), |score| format!("{score:.3}")),
                hit.keyword_score.map_or_else(|| "-".into(), |score| format!("{score:.1}")),
                sources(hit),
                hit.entry_type.to_string(),
                hit.id.to_string(),
                text,
            ],
        );
        for neighbour in &hit.neighbours {
            let side = if (neighbour.turn, neighbour.id) < (hit.turn, hit.id) { "before" } else { "after" };
            let mut cells = vec![String::new(); 6];
            cells.extend([
                side.to_owned(),
                neighbour.id.to_string(),
                neighbour.content.as_deref().map(format::one_line).unwrap_or_default(),
            ]);
            add_row(&mut table, cells);
        }
    }
    align_right(&mut table, &[0, 1, 2, 3, 4, 7]);
    table.trim_fmt()
}

fn sources(hit: &SearchHit) -> String {
    let sources: BTreeSet<_> = hit.matched_by.iter().collect();
    let names: Vec<_> = sources
        .into_iter()
        .map(|source| match source {
            MatchSource::Vector => "meaning",
            MatchSource::Keyword => "word",
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
            score: 0.8512,
            matched_by: vec![MatchSource::Keyword, MatchSource::Vector],
            created_at: 0,
            vector_score: Some(0.5),
            keyword_score: None,
            project: None,
            agent: None,
            session: None,
            turn: None,
            place: None,
            lent_by: Vec::new(),
            neighbours: Vec::new(),
            contradicted_by: Vec::new(),
            truncated: None,
        }
    }

    #[test]
    fn a_result_is_one_line_however_long_its_text() {
        let rendered = hits(&[hit(&"a long text\nof many lines ".repeat(40))]);
        let row: Vec<_> = rendered.lines().filter(|line| line.contains("decision")).collect();
        let [row] = row.as_slice() else { panic!("not one row:\n{rendered}") };
        assert!(row.chars().count() <= usize::from(WIDTH), "{row}");
        for part in ["0.851", "0.500", "meaning+word", "42", "a long text of many", "…"] {
            assert!(row.contains(part), "{part} is missing in {row}");
        }
    }
}
