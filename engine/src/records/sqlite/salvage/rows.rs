//! Rows of a damaged table, and checks of them.

use std::collections::HashMap;

use rusqlite::types::Value;

use super::pages::{PageRow, Pages};
use super::tables::{SalvageTable, Standing, Trees};
use crate::records::sqlite::integrity;
use crate::types::LinkKind;

/// The record and the version of each row, by an index of a table of versions.
pub(super) fn versions_in(trees: &mut Trees<'_>, root: Option<u32>) -> HashMap<i64, (i64, i64)> {
    let mut indexed = HashMap::new();
    trees.keys(root, 3, |entry| {
        if let [Value::Integer(record), Value::Integer(version), Value::Integer(row)] = entry {
            indexed.insert(*row, (*record, *version));
        }
    });
    indexed
}

/// Whether the index has a row of a table of versions as another version: no hash covers whose it is.
pub(super) fn contradicts(indexed: &HashMap<i64, (i64, i64)>, table: &SalvageTable, row: &PageRow) -> bool {
    let number = |name| integer(table.value(row, name)).unwrap_or(0);
    indexed.get(&row.id).is_some_and(|known| *known != (number("record_id"), number("version")))
}

pub(super) fn is_link_kind(code: i64) -> bool {
    (0..LinkKind::ALL.len() as i64).contains(&code)
}

/// The rows that are whole and were not deleted.
pub(super) fn sound_rows<'a>(table: &'a SalvageTable, pages: &'a Pages) -> impl Iterator<Item = PageRow> + 'a {
    let rows = table.rows(pages).filter(|(row, standing)| row.whole && *standing == Standing::Sure);
    rows.map(|(row, _)| row)
}

/// The problem of a row of `records` or `versions` in itself, if it has one.
pub(super) fn problem_of_text(table: &SalvageTable, row: &PageRow) -> Option<&'static str> {
    let text = |name| match table.value(row, name) {
        Value::Text(text) => Some(text.as_str()),
        _ => None,
    };
    let bytes = |name| match table.value(row, name) {
        Value::Blob(bytes) => &bytes[..],
        _ => &[],
    };
    if !row.whole {
        return Some("a part of it is missing");
    }
    if row.values.iter().zip(table.texts()).any(|(value, is_text)| is_text && matches!(value, Value::Blob(_))) {
        return Some("one of its texts is not UTF-8");
    }
    integrity::text_problem(&integrity::StoredText {
        content: text("content").unwrap_or_default(),
        context: text("context"),
        content_hash: bytes("content_hash"),
        embedding_hash: bytes("embedding_hash"),
        kind: integer(table.value(row, "kind")).unwrap_or(-1),
        tags: text("tags"),
        body: text("body"),
    })
}

pub(super) fn integer(value: &Value) -> Option<i64> {
    if let Value::Integer(number) = value { Some(*number) } else { None }
}

/// The name of an agent or a project; none where it is null or, as in the index, empty.
pub(super) fn label(value: &Value) -> std::result::Result<Option<String>, ()> {
    match value {
        Value::Null => Ok(None),
        Value::Text(text) => Ok(Some(text.clone()).filter(|text| !text.is_empty())),
        _ => Err(()),
    }
}
