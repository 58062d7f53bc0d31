//! The unapplied tail of the sync log as an index of its own, in memory.

use std::sync::Arc;

use roaring::{RoaringBitmap, RoaringTreemap};
use tantivy::ReloadPolicy;
use tantivy::directory::RamDirectory;

use super::damage::contained;
use super::filter::allowed_docs;
use super::schema;
use super::segment::Segment;
use crate::error::Result;
use crate::types::{Filter, Record};

/// Bytes for which tantivy lays out its tables of terms at the start. They grow; making them small makes a small tail
/// cheap.
const MEMORY_BUDGET: usize = 300_000;

/// Records that the index has not applied yet, indexed in memory as some more segments.
///
/// A search over a snapshot and a tail counts the documents and terms of both together, so a record scores the same
/// whether it is applied or not (but for versions that the tail replaces: they count until a merge drops them, as they
/// would in the index). A record in the tail hides the version of it that the index has.
#[derive(Clone, Default)]
pub struct TailIndex {
    /// The newest last. Each is more than twice as large as the next, so that a record is indexed few times while the
    /// tail grows.
    parts: Vec<Part>,
    ids: RoaringTreemap,
}

/// Records that were indexed together.
#[derive(Clone)]
pub(super) struct Part {
    indexed: Arc<Indexed>,
    /// Those of them that a newer part has, or that are gone.
    pub(super) stale: RoaringTreemap,
}

struct Indexed {
    segment: Segment,
    records: Vec<Arc<Record>>,
}

impl TailIndex {
    /// This tail and what came after it: of the records `touched` since, `records` are the newest versions of those that
    /// are not deleted.
    pub fn extended(&self, touched: &RoaringTreemap, records: Vec<Arc<Record>>) -> Result<TailIndex> {
        contained(|| {
            let mut tail = self.clone();
            tail.ids -= touched;
            tail.ids.extend(records.iter().map(|record| record.id as u64));
            tail.parts.iter_mut().for_each(|part| part.hide(touched));
            tail.parts.retain(|part| part.live() > 0);
            let mut newest = records;
            while let Some(part) = tail.parts.pop_if(|part| part.live() <= 2 * newest.len()) {
                newest.extend(part.into_records());
            }
            if !newest.is_empty() {
                tail.parts.push(Part::index(newest)?);
            }
            Ok(tail)
        })
    }

    /// The ids of its records.
    pub fn ids(&self) -> &RoaringTreemap {
        &self.ids
    }

    pub(super) fn parts(&self) -> &[Part] {
        &self.parts
    }
}

impl Part {
    fn index(records: Vec<Arc<Record>>) -> Result<Part> {
        let fields = schema::schema().1;
        let mut writer = schema::builder().single_segment_index_writer(RamDirectory::create(), MEMORY_BUDGET)?;
        for record in &records {
            writer.add_document(schema::document(&fields, record)?)?;
        }
        let index = writer.finalize()?;
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        let searcher = reader.searcher();
        let segment = Segment::open(searcher.segment_reader(0), &fields)?;
        Ok(Part { indexed: Arc::new(Indexed { segment, records }), stale: RoaringTreemap::new() })
    }

    pub(super) fn segment(&self) -> &Segment {
        &self.indexed.segment
    }

    pub(super) fn allowed(&self, filter: &Filter) -> Result<RoaringBitmap> {
        allowed_docs(&self.segment().reader, filter)
    }

    fn hide(&mut self, touched: &RoaringTreemap) {
        let ids = self.indexed.records.iter().map(|record| record.id as u64);
        self.stale.extend(ids.filter(|id| touched.contains(*id)));
    }

    fn live(&self) -> usize {
        self.indexed.records.len() - self.stale.len() as usize
    }

    fn into_records(self) -> Vec<Arc<Record>> {
        let live = self.indexed.records.iter().filter(|record| !self.stale.contains(record.id as u64));
        live.cloned().collect()
    }
}
