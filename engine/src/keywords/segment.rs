//! One segment of an index, opened for searching.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use roaring::RoaringTreemap;
use tantivy::columnar::{Cardinality, Column, ColumnValues};
use tantivy::fieldnorm::FieldNormReader;
use tantivy::index::{InvertedIndexReader, SegmentReader};
use tantivy::postings::TermInfo;
use tantivy::{DocId, DocSet, TERMINATED, Term};

use super::dictionary::Dictionary;
use super::doc_bits::DocBits;
use super::doc_ids::DocIds;
use super::filter::matching_docs;
use super::filter_cache::{FilterCache, FilteredDocs};
use super::schema::{Fields, ID, QUESTION, SearchField, THREAD, TURN, WORDS, id_term};
use super::threads::{ThreadPlace, Threads};
use crate::error::Result;
use crate::types::{Filter, RecordId};

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

    /// The document frequency of a term.
    pub(super) fn frequency(&self, term: &str) -> Result<u64> {
        let found = self.terms.terms().get(term).map_err(tantivy::TantivyError::from)?;
        Ok(found.map_or(0, |found| u64::from(found.doc_freq)))
    }

    /// Calls `each` with the terms that begin with `start`, the first `most` in their order, and the document frequency of each.
    pub(super) fn beginning_with(&self, start: &str, most: usize, mut each: impl FnMut(&str, u64)) -> Result<()> {
        let terms = self.terms.terms().range().ge(start).into_stream();
        let mut terms = terms.map_err(tantivy::TantivyError::from)?;
        for _ in 0..most {
            match terms.next() {
                Some((term, found)) if term.starts_with(start.as_bytes()) => {
                    if let Ok(term) = std::str::from_utf8(term) {
                        each(term, u64::from(found.doc_freq));
                    }
                }
                _ => break,
            }
        }
        Ok(())
    }

    /// Adds the documents with a term.
    fn add_docs(&self, term: &str, docs: &mut DocBits) -> Result<()> {
        let found = self.terms.terms().get(term).map_err(tantivy::TantivyError::from)?;
        let Some(found) = found else { return Ok(()) };
        let option = tantivy::schema::IndexRecordOption::Basic;
        let postings = self.terms.read_postings_from_terminfo(&found, option);
        let mut postings = postings.map_err(tantivy::TantivyError::from)?;
        while postings.doc() != TERMINATED {
            docs.insert(postings.doc());
            postings.advance();
        }
        Ok(())
    }
}

/// A segment with the readers that every search needs.
pub(super) struct Segment {
    pub(super) reader: SegmentReader,
    fields: Fields,
    ids: Arc<dyn ColumnValues<u64>>,
    /// Runs of `ids`, computed on first use.
    doc_ids: Arc<OnceLock<DocIds>>,
    id_terms: Arc<InvertedIndexReader>,
    pub(super) content: TextField,
    pub(super) context: TextField,
    pub(super) tags: TextField,
    pub(super) exact: TextField,
    pub(super) filter_cache: Arc<FilterCache>,
    /// The ids of its deleted records, computed on first use.
    deleted: Arc<OnceLock<RoaringTreemap>>,
    /// The order of its threads, computed on first use.
    threads: Arc<OnceLock<Threads>>,
    /// Its words as one text, written on first use.
    dictionary: Arc<OnceLock<Dictionary>>,
    /// `None` if it has no threads.
    thread_columns: Option<ThreadColumns>,
}

impl Segment {
    pub(super) fn field(&self, place: SearchField) -> &TextField {
        match place {
            SearchField::Content => &self.content,
            SearchField::Context => &self.context,
            SearchField::Tags => &self.tags,
            SearchField::Exact => &self.exact,
        }
    }

    /// Reuses what is known about it if it was one of those `before`.
    pub(super) fn open(reader: &SegmentReader, fields: &Fields, before: &[Segment]) -> Result<Self> {
        let before = before.iter().find(|segment| segment.reader.segment_id() == reader.segment_id());
        let unchanged = before.filter(|before| before.reader.delete_opstamp() == reader.delete_opstamp());
        Ok(Segment {
            filter_cache: before.map_or_else(Arc::default, |before| Arc::clone(&before.filter_cache)),
            doc_ids: before.map_or_else(Arc::default, |before| Arc::clone(&before.doc_ids)),
            deleted: unchanged.map_or_else(Arc::default, |before| Arc::clone(&before.deleted)),
            threads: before.map_or_else(Arc::default, |before| Arc::clone(&before.threads)),
            dictionary: before.map_or_else(Arc::default, |before| Arc::clone(&before.dictionary)),
            thread_columns: ThreadColumns::open(reader)?,
            reader: reader.clone(),
            fields: *fields,
            ids: ids(reader)?,
            id_terms: reader.inverted_index(fields.id)?,
            content: TextField::open(reader, fields.content)?,
            context: TextField::open(reader, fields.context)?,
            tags: TextField::open(reader, fields.tags)?,
            exact: TextField::open(reader, fields.exact)?,
        })
    }

    /// The record of `doc`.
    pub(super) fn id(&self, doc: DocId) -> RecordId {
        RecordId::from_key(self.ids.get_val(doc))
    }

    /// The place of `doc` in its thread.
    pub(super) fn thread_place(&self, doc: DocId) -> Option<ThreadPlace> {
        self.thread_columns.as_ref()?.place(doc)
    }

    /// Its threads, including deleted documents.
    pub(super) fn threads(&self) -> &Threads {
        self.threads.get_or_init(|| {
            let Some(columns) = &self.thread_columns else { return Threads::default() };
            let place = |doc| columns.place(doc).map(|place| (place.thread, place.turn, self.id(doc), doc));
            Threads::new((0..self.reader.max_doc()).filter_map(place).collect())
        })
    }

    /// The documents that pass `filter`, including deleted ones.
    pub(super) fn matching(&self, filter: &Filter) -> Result<Arc<FilteredDocs>> {
        // Of metadata the index knows nothing: one result for all conditions.
        self.filter_cache.get(&filter.without_metadata(), || matching_docs(&self.reader, filter))
    }

    /// The live records that pass `filter`.
    pub(super) fn matching_ids(&self, filter: &Filter) -> Result<RoaringTreemap> {
        let matching = self.matching(filter)?;
        let ids = matching.ids(|docs| self.ids(docs));
        Ok(ids - self.deleted())
    }

    /// Its words, those of deleted records too.
    pub(super) fn dictionary(&self) -> Result<&Dictionary> {
        match self.dictionary.get() {
            Some(known) => Ok(known),
            None => {
                let written = Dictionary::of(&[&self.content.terms, &self.context.terms, &self.tags.terms])?;
                Ok(self.dictionary.get_or_init(|| written))
            }
        }
    }

    /// The live records with a word that contains one of `parts`.
    pub(super) fn containing(&self, parts: &[String]) -> Result<RoaringTreemap> {
        let (mut docs, mut terms) = (DocBits::none(self.reader.max_doc()), BTreeSet::new());
        self.dictionary()?.containing(parts, |_, term| {
            terms.insert(term);
        });
        for field in [&self.content, &self.context, &self.tags] {
            terms.iter().try_for_each(|term| field.add_docs(term, &mut docs))?;
        }
        Ok(self.ids(&docs) - self.deleted())
    }

    /// A record occurs once in a segment, so none of these is live in it.
    fn deleted(&self) -> &RoaringTreemap {
        self.deleted.get_or_init(|| {
            let mut docs = DocBits::none(self.reader.max_doc());
            if self.reader.has_deletes() {
                (0..self.reader.max_doc()).filter(|&doc| self.reader.is_deleted(doc)).for_each(|doc| docs.insert(doc));
            }
            self.ids(&docs)
        })
    }

    /// The records of `docs`.
    fn ids(&self, docs: &DocBits) -> RoaringTreemap {
        self.doc_ids().ids(docs)
    }

    fn doc_ids(&self) -> &DocIds {
        self.doc_ids.get_or_init(|| DocIds::of(&*self.ids))
    }

    /// The live document of a record.
    pub(super) fn doc(&self, id: RecordId) -> Option<DocId> {
        self.doc_ids().doc(id.key()).filter(|&doc| !self.reader.is_deleted(doc))
    }

    /// The live document of a record, found by its term, with which records are deleted.
    pub(super) fn doc_by_term(&self, id: RecordId) -> Result<Option<DocId>> {
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

/// The columns of threads.
struct ThreadColumns {
    thread: Column<u64>,
    turn: Column<i64>,
    question: Column<bool>,
    words: Column<u64>,
}

impl ThreadColumns {
    /// `None` if no record of the segment belongs to a thread.
    fn open(reader: &SegmentReader) -> Result<Option<Self>> {
        let columns = reader.fast_fields();
        let Some(thread) = columns.column_opt(THREAD)? else { return Ok(None) };
        let (turn, question, words) = (columns.i64(TURN)?, columns.bool(QUESTION)?, columns.u64(WORDS)?);
        Ok(Some(ThreadColumns { thread, turn, question, words }))
    }

    fn place(&self, doc: DocId) -> Option<ThreadPlace> {
        let thread = self.thread.first(doc)?;
        let words = u32::try_from(self.words.first(doc)?).unwrap_or(u32::MAX);
        Some(ThreadPlace { thread, turn: self.turn.first(doc)?, is_question: self.question.first(doc)?, words })
    }
}

/// The ids of its documents.
fn ids(reader: &SegmentReader) -> Result<Arc<dyn ColumnValues<u64>>> {
    match reader.fast_fields().column_opt::<u64>(ID)? {
        // Read without a look at how many values each has: one.
        Some(column) if column.get_cardinality() == Cardinality::Full => Ok(column.values),
        _ => Ok(reader.fast_fields().column_first_or_default(ID)?),
    }
}
