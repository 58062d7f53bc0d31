//! The texts of a record or a version, as a purge looks through them.

use super::patterns::{PurgePatterns, PurgeText};
use crate::body;
use crate::error::Result;
use crate::records::rows;
use crate::records::transaction::Row;
use crate::types::Kind;

/// The columns that [`RowTexts::of`] reads: of records, or of `versions`, which have no session.
macro_rules! text_columns {
    () => {
        "content, context, source, tags, body, provenance, kind, session"
    };
    (versions) => {
        "content, context, source, tags, body, provenance, kind, NULL"
    };
}
pub(in crate::records) use text_columns;

/// The texts of a row of `records` or `versions`.
pub(in crate::records) struct RowTexts<'a> {
    pub(in crate::records) content: Option<&'a str>,
    pub(in crate::records) context: Option<&'a str>,
    source: Option<&'a str>,
    tags: Option<&'a str>,
    pub(in crate::records) body: Option<&'a str>,
    pub(in crate::records) provenance: Option<&'a str>,
    kind: Option<Kind>,
    session: Option<&'a str>,
}

impl<'a> RowTexts<'a> {
    /// Reads a row that begins with [`text_columns`].
    pub(in crate::records) fn of(row: &'a dyn Row) -> Result<Self> {
        Ok(RowTexts {
            content: row.get(0)?,
            context: row.get(1)?,
            source: row.get(2)?,
            tags: row.get(3)?,
            body: row.get(4)?,
            provenance: row.get(5)?,
            kind: rows::kind_of(row.get(6)?),
            session: row.get(7)?,
        })
    }

    /// Whether one of these texts contains `text`.
    pub(in crate::records) fn have(&self, text: &PurgeText) -> bool {
        self.having(text).next().is_some()
    }

    /// Adds the texts to `patterns` that contain `text` in a form which is not among the patterns anyway.
    pub(in crate::records) fn add_other_forms(&self, text: &PurgeText, patterns: &mut PurgePatterns) {
        self.having(text).filter(|found| !text.is_in_as_it_is(found)).for_each(|found| patterns.add(found));
    }

    /// The texts of the row that contain `text`.
    fn having<'n>(&'n self, text: &'n PurgeText) -> impl Iterator<Item = &'n str> {
        let fields = self.kind.map_or(&[][..], body::fields);
        let json = [(self.tags, &[][..]), (self.body, fields), (self.provenance, &[])];
        let plain = [self.content, self.context, self.source, self.session];
        let plain = plain.into_iter().flatten().filter(|plain| text.is_in(plain));
        let json = json.into_iter().filter_map(|(json, fields)| json.filter(|json| text.is_in_json(json, fields)));
        plain.chain(json)
    }
}
