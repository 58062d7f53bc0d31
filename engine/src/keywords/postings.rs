//! Records indexed in memory: the postings of their terms. Building a tantivy segment of a few records costs
//! milliseconds (measured: its tables alone take ten megabytes), too long for the search after a write.

use std::collections::HashMap;
use std::sync::Arc;

use tantivy::directory::FileSlice;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::tokenizer::TextAnalyzer;
use tantivy::{DocId, TERMINATED};

use super::analysis::{content_analyser, distinct_analyser, identifier_analyser};
use super::posting_list::PostingList;
use super::schema::{SearchField, Texts, thread_place};
use super::threads::{ThreadPlace, Threads};
use crate::error::Result;
use crate::types::{Record, RecordId};

/// Records and the postings of their terms. A document is a position in [`IndexedRecords::records`].
pub(super) struct IndexedRecords {
    records: Vec<Arc<Record>>,
    docs: HashMap<RecordId, DocId>,
    content: IndexedField,
    context: IndexedField,
    tags: IndexedField,
    exact: IndexedField,
    /// The place of each record in its thread.
    thread_places: Vec<Option<ThreadPlace>>,
    threads: Threads,
}

/// The postings of one field, and the lengths of its texts as tantivy rounds them.
pub(super) struct IndexedField {
    terms: HashMap<String, Postings>,
    pub(super) norms: FieldNormReader,
    tokens: u64,
}

/// The postings of a term.
#[derive(Default)]
struct Postings {
    /// Ascending: a document, and where its positions begin in `positions`.
    docs: Vec<(DocId, usize)>,
    positions: Vec<u32>,
}

impl IndexedRecords {
    pub(super) fn new(records: Vec<Arc<Record>>) -> Result<Self> {
        let texts: Vec<Texts> = records.iter().map(|record| Texts::of(record)).collect();
        let field = |analyser: TextAnalyzer, text: for<'a> fn(&'a Texts<'_>) -> Option<&'a str>| {
            IndexedField::new(analyser, texts.iter().map(text))
        };
        let thread_places: Vec<Option<ThreadPlace>> = records.iter().map(|record| thread_place(record)).collect();
        let places = (0..).zip(&records).zip(&thread_places);
        let places = places.filter_map(|((doc, record), place)| place.map(|at| (at.thread, at.turn, record.id, doc)));
        Ok(IndexedRecords {
            threads: Threads::new(places.collect()),
            thread_places,
            docs: (0..).zip(&records).map(|(doc, record)| (record.id, doc)).collect(),
            content: field(content_analyser(), |texts| Some(texts.content))?,
            context: field(distinct_analyser(), |texts| texts.context.as_deref())?,
            tags: field(distinct_analyser(), |texts| texts.tags.as_deref())?,
            exact: field(identifier_analyser(), |texts| Some(&texts.named))?,
            records,
        })
    }

    pub(super) fn records(&self) -> &[Arc<Record>] {
        &self.records
    }

    /// The document of a record.
    pub(super) fn doc(&self, id: RecordId) -> Option<DocId> {
        self.docs.get(&id).copied()
    }

    /// The place of `doc` in its thread.
    pub(super) fn thread_place(&self, doc: DocId) -> Option<ThreadPlace> {
        self.thread_places[doc as usize]
    }

    /// Their threads.
    pub(super) fn threads(&self) -> &Threads {
        &self.threads
    }

    pub(super) fn field(&self, place: SearchField) -> &IndexedField {
        match place {
            SearchField::Content => &self.content,
            SearchField::Context => &self.context,
            SearchField::Tags => &self.tags,
            SearchField::Exact => &self.exact,
        }
    }
}

impl IndexedField {
    /// Indexes the text of each document in turn.
    fn new<'a>(mut analyser: TextAnalyzer, texts: impl Iterator<Item = Option<&'a str>>) -> Result<Self> {
        let mut terms = HashMap::<String, Postings>::new();
        let (mut norms, mut tokens) = (Vec::new(), 0);
        for (doc, text) in (0..).zip(texts) {
            let mut length = 0;
            analyser.token_stream(text.unwrap_or_default()).process(&mut |token| {
                length += 1;
                match terms.get_mut(&token.text) {
                    Some(postings) => postings.push(doc, token.position as u32),
                    None => terms.entry(token.text.clone()).or_default().push(doc, token.position as u32),
                }
            });
            tokens += u64::from(length);
            norms.push(FieldNormReader::fieldnorm_to_id(length));
        }
        Ok(IndexedField { terms, norms: FieldNormReader::open(FileSlice::from(norms))?, tokens })
    }

    /// The total length of all texts.
    pub(super) fn total_tokens(&self) -> u64 {
        self.tokens
    }

    /// The document frequency of a term.
    pub(super) fn doc_freq(&self, term: &str) -> u64 {
        self.terms.get(term).map_or(0, |postings| postings.docs.len() as u64)
    }

    /// The terms that begin with `start`, each with its document frequency.
    pub(super) fn beginning_with<'a>(&'a self, start: &'a str) -> impl Iterator<Item = (&'a str, u64)> {
        let terms = self.terms.iter().filter(move |(term, _)| term.starts_with(start));
        terms.map(|(term, postings)| (term.as_str(), postings.docs.len() as u64))
    }

    /// Its terms.
    pub(super) fn terms(&self) -> impl Iterator<Item = &str> {
        self.terms.keys().map(String::as_str)
    }

    /// The postings of a term, if it occurs.
    pub(super) fn postings(&self, term: &str) -> Option<PostingsCursor<'_>> {
        self.terms.get(term).map(|postings| PostingsCursor { postings, at: 0 })
    }
}

impl Postings {
    fn push(&mut self, doc: DocId, position: u32) {
        if self.docs.last().is_none_or(|(last, _)| *last < doc) {
            self.docs.push((doc, self.positions.len()));
        }
        self.positions.push(position);
    }
}

/// Iterates over the documents of one term.
pub(super) struct PostingsCursor<'a> {
    postings: &'a Postings,
    at: usize,
}

impl PostingsCursor<'_> {
    fn here(&self) -> &[u32] {
        let Postings { docs, positions } = self.postings;
        let start = |at: usize| docs.get(at).map_or(positions.len(), |(_, start)| *start);
        &positions[start(self.at)..start(self.at + 1)]
    }
}

impl PostingList for PostingsCursor<'_> {
    fn doc(&self) -> DocId {
        self.postings.docs.get(self.at).map_or(TERMINATED, |(doc, _)| *doc)
    }

    fn seek(&mut self, doc: DocId) {
        self.at += self.postings.docs[self.at..].partition_point(|(other, _)| *other < doc);
    }

    fn frequency(&self) -> u32 {
        self.here().len() as u32
    }

    fn positions(&mut self, positions: &mut Vec<u32>) {
        positions.clear();
        positions.extend_from_slice(self.here());
    }
}
