//! A filter as a set of documents of one segment, from the fast fields. The same rule as [`Filter::allows`].

use std::ops::RangeInclusive;

use tantivy::columnar::{Cardinality, Column, StrColumn};
use tantivy::index::SegmentReader;

use super::doc_bits::DocBits;
use super::schema;
use crate::error::Result;
use crate::types::{Filter, Millis, Reach};

/// Documents whose values are read at once.
const BLOCK: u32 = 8_192;

/// The documents that pass `filter`, including deleted ones.
pub(super) fn matching_docs(reader: &SegmentReader, filter: &Filter) -> Result<DocBits> {
    let mut matching: Option<DocBits> = None;
    let mut narrow = |docs: DocBits| match &mut matching {
        Some(matching) => matching.intersect(&docs),
        None => matching = Some(docs),
    };
    let columns = reader.fast_fields();
    if !filter.tags.is_empty() {
        let tags: Vec<String> = filter.tags.iter().map(|tag| schema::tag_label(tag)).collect();
        narrow(with_labels(columns.str(schema::TAG)?, reader.max_doc(), tags.iter().map(String::as_str))?);
    }
    for (name, reach) in [(schema::PROJECT, &filter.viewer.project), (schema::AGENT, &filter.viewer.agent)] {
        if *reach == Reach::Every {
            continue;
        }
        let owners = reach.names().map(Some).chain([None]);
        let labels: Vec<String> = owners.map(schema::scope_label).collect();
        narrow(with_labels(columns.str(name)?, reader.max_doc(), labels.iter().map(String::as_str))?);
    }
    if !filter.kinds.is_empty() {
        let column = columns.u64(schema::KIND)?;
        let codes = filter.kinds.iter().map(|&kind| schema::kind_code(kind));
        narrow(with_values(&column, reader.max_doc(), codes.map(|code| code..=code)));
    }
    if let Some(least) = filter.min_importance {
        narrow(with_values(&columns.i64(schema::IMPORTANCE)?, reader.max_doc(), [least..=i64::MAX]));
    }
    if let Some(least) = filter.min_confidence {
        narrow(with_values(&columns.f64(schema::CONFIDENCE)?, reader.max_doc(), [least..=f64::INFINITY]));
    }
    for (name, after, before) in [
        (schema::CREATED_AT, filter.created_after, filter.created_before),
        (schema::UPDATED_AT, filter.updated_after, filter.updated_before),
    ] {
        if after.is_some() || before.is_some() {
            narrow(with_values(&columns.i64(name)?, reader.max_doc(), span(after, before)));
        }
    }
    for (name, range) in [
        (schema::HAPPENS_FROM, filter.happens_before.map(|before| span(None, Some(before)))),
        (schema::HAPPENS_TO, filter.happens_after.map(|after| span(Some(after), None))),
    ] {
        if let Some(range) = range {
            // A segment in which no record has a date has no column for it.
            let column = columns.column_opt::<i64>(name)?;
            narrow(column.map_or_else(
                || DocBits::none(reader.max_doc()),
                |column| with_values(&column, reader.max_doc(), range),
            ));
        }
    }
    Ok(matching.unwrap_or_else(|| DocBits::all(reader.max_doc())))
}

/// From a moment to before another; nothing if that is empty.
fn span(after: Option<Millis>, before: Option<Millis>) -> Option<RangeInclusive<Millis>> {
    let first = after.unwrap_or(Millis::MIN);
    // "before" is exclusive; before the first moment there is nothing
    let last = before.map_or(Some(Millis::MAX), |before| before.checked_sub(1));
    last.filter(|&last| first <= last).map(|last| first..=last)
}

fn with_values<T>(column: &Column<T>, max_doc: u32, ranges: impl IntoIterator<Item = RangeInclusive<T>>) -> DocBits
where
    T: PartialOrd + Copy + std::fmt::Debug + Send + Sync + 'static,
{
    let mut found = DocBits::none(max_doc);
    let mut docs = Vec::with_capacity(BLOCK as usize);
    for range in ranges {
        let (least, most) = (column.min_value(), column.max_value());
        // tantivy 0.27 answers a range below every value of a column with the documents of its smallest value.
        if *range.end() < least || *range.start() > most {
            continue;
        }
        if *range.start() <= least && most <= *range.end() && column.get_cardinality() == Cardinality::Full {
            return DocBits::all(max_doc);
        }
        for first in (0..max_doc).step_by(BLOCK as usize) {
            docs.clear();
            column.get_docids_for_value_range(range.clone(), first..max_doc.min(first + BLOCK), &mut docs);
            found.insert_all(&docs);
        }
    }
    found
}

fn with_labels<'a>(column: Option<StrColumn>, max_doc: u32, labels: impl Iterator<Item = &'a str>) -> Result<DocBits> {
    // a segment in which no record has a label has no column for it
    let Some(column) = column else { return Ok(DocBits::none(max_doc)) };
    let mut ordinals = Vec::new();
    for label in labels {
        ordinals.extend(column.dictionary().term_ord(label).map_err(tantivy::TantivyError::from)?);
    }
    Ok(with_values(column.ords(), max_doc, ordinals.into_iter().map(|ordinal| ordinal..=ordinal)))
}
