//! The unapplied tail of the sync log as an index of its own, in memory.

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

/// Records that the index has not applied yet, indexed in memory as one more segment.
///
/// A search over a snapshot and a tail counts the documents and terms of both together, so a record scores the same
/// whether it is applied or not (but for versions that the tail replaces: they count until a merge drops them, as they
/// would in the index). A record in the tail hides the version of it that the index has.
pub struct TailIndex {
    /// `None` when there are no records.
    segment: Option<Segment>,
    ids: RoaringTreemap,
}

impl TailIndex {
    /// Indexes `records`: the newest version of each record that is not applied yet and not deleted. Of two with the
    /// same id the last counts.
    pub fn build(records: &[Record]) -> Result<TailIndex> {
        contained(|| Self::index(records))
    }

    fn index(records: &[Record]) -> Result<TailIndex> {
        let mut ids = RoaringTreemap::new();
        let newest: Vec<&Record> = records.iter().rev().filter(|record| ids.insert(record.id as u64)).collect();
        if newest.is_empty() {
            return Ok(TailIndex { segment: None, ids });
        }
        let fields = schema::schema().1;
        let mut writer = schema::builder().single_segment_index_writer(RamDirectory::create(), MEMORY_BUDGET)?;
        for record in newest {
            writer.add_document(schema::document(&fields, record)?)?;
        }
        let index = writer.finalize()?;
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        let segment = reader.searcher().segment_readers().first().map(|reader| Segment::open(reader, &fields));
        Ok(TailIndex { segment: segment.transpose()?, ids })
    }

    /// How many records it has.
    pub fn len(&self) -> u64 {
        self.ids.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The ids of its records.
    pub fn ids(&self) -> &RoaringTreemap {
        &self.ids
    }

    pub(super) fn segment(&self) -> Option<&Segment> {
        self.segment.as_ref()
    }

    pub(super) fn allowed(&self, filter: &Filter) -> Result<RoaringBitmap> {
        self.segment.as_ref().map_or_else(|| Ok(RoaringBitmap::new()), |segment| allowed_docs(&segment.reader, filter))
    }
}
