//! One segment of an index, opened for searching.

use std::sync::Arc;

use tantivy::columnar::ColumnValues;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::index::{InvertedIndexReader, SegmentReader};
use tantivy::postings::TermInfo;
use tantivy::{DocId, DocSet, TERMINATED, Term};

use super::schema::{Fields, ID, id_term};
use crate::error::Result;
use crate::types::RecordId;

/// A text field of a segment: its terms, postings and lengths.
pub(super) struct TextField {
    pub(super) terms: Arc<InvertedIndexReader>,
    pub(super) norms: FieldNormReader,
}

impl TextField {
    fn open(reader: &SegmentReader, field: tantivy::schema::Field) -> Result<Self> {
        let norms = match reader.fieldnorms_readers().get_field(field)? {
            Some(norms) => norms,
            None => FieldNormReader::constant(reader.max_doc(), 1),
        };
        Ok(TextField { terms: reader.inverted_index(field)?, norms })
    }

    pub(super) fn find(&self, term: &Term) -> Result<Option<TermInfo>> {
        Ok(self.terms.get_term_info(term).map_err(tantivy::TantivyError::from)?)
    }
}

/// A segment with the readers that every search needs.
pub(super) struct Segment {
    pub(super) reader: SegmentReader,
    fields: Fields,
    ids: Arc<dyn ColumnValues<u64>>,
    id_terms: Arc<InvertedIndexReader>,
    pub(super) content: TextField,
    pub(super) context: TextField,
    pub(super) tags: TextField,
    pub(super) exact: TextField,
}

impl Segment {
    pub(super) fn open(reader: &SegmentReader, fields: &Fields) -> Result<Self> {
        Ok(Segment {
            reader: reader.clone(),
            fields: *fields,
            ids: reader.fast_fields().column_first_or_default::<u64>(ID)?,
            id_terms: reader.inverted_index(fields.id)?,
            content: TextField::open(reader, fields.content)?,
            context: TextField::open(reader, fields.context)?,
            tags: TextField::open(reader, fields.tags)?,
            exact: TextField::open(reader, fields.exact)?,
        })
    }

    /// The record that `doc` is.
    pub(super) fn id(&self, doc: DocId) -> RecordId {
        self.ids.get_val(doc) as RecordId
    }

    /// The records that `docs` are.
    pub(super) fn ids(&self, docs: &[DocId]) -> Vec<u64> {
        let mut ids = vec![0; docs.len()];
        self.ids.get_vals(docs, &mut ids);
        ids
    }

    /// The live document of a record.
    pub(super) fn doc(&self, id: RecordId) -> Result<Option<DocId>> {
        let Some(term) = id_term(&self.fields, id) else { return Ok(None) };
        let option = tantivy::schema::IndexRecordOption::Basic;
        let postings = self.id_terms.read_postings(&term, option).map_err(tantivy::TantivyError::from)?;
        let Some(mut postings) = postings else { return Ok(None) };
        while postings.doc() != TERMINATED {
            if !self.reader.is_deleted(postings.doc()) {
                return Ok(Some(postings.doc()));
            }
            postings.advance();
        }
        Ok(None)
    }
}
