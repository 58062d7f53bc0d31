//! [`MemoryIndex`]: the records of a read-only store, indexed in memory.

use std::sync::Arc;

use tantivy::{Index, IndexWriter};

use super::damage::contained;
use super::schema::{self, document};
use super::snapshot::TantivySnapshot;
use super::traits::{KeywordIndex, KeywordSnapshot};
use crate::error::{Error, IndexKind, Result};
use crate::types::{Record, RecordId, Seq};
use crate::verification::Verification;

/// Memory budget of the writer before it creates a segment.
const WRITER_BUDGET: usize = 30_000_000;

/// An index that is private to this process. It is filled once; later writes are searched in the tail.
pub struct MemoryIndex {
    snapshot: Arc<TantivySnapshot>,
}

impl MemoryIndex {
    /// Indexes the records that `fill` yields, as of `applied` in the sync log.
    ///
    /// # Errors
    /// The first of `fill`.
    pub fn filled(
        applied: Seq,
        fill: impl FnOnce(&mut dyn FnMut(&[Record]) -> Result<()>) -> Result<()>,
    ) -> Result<Self> {
        contained(|| {
            let (schema, fields) = schema::schema();
            let mut index = Index::create_in_ram(schema);
            index.set_tokenizers(schema::analysers());
            index.set_fast_field_tokenizers(schema::analysers());
            let mut writer: IndexWriter = index.writer_with_num_threads(1, WRITER_BUDGET)?;
            fill(&mut |records| {
                for record in records {
                    writer.add_document(document(&fields, record)?)?;
                }
                Ok(())
            })?;
            writer.commit()?;
            let searcher = index.reader()?.searcher();
            let verification = Verification::start(0, || Ok(()));
            Ok(MemoryIndex { snapshot: Arc::new(TantivySnapshot::new(searcher, fields, applied, verification, None)?) })
        })
    }
}

impl KeywordIndex for MemoryIndex {
    fn snapshot(&self) -> Result<Arc<dyn KeywordSnapshot>> {
        Ok(self.snapshot.clone())
    }

    fn apply(&self, _upserts: &[Record], _deletes: &[RecordId], _applied: Seq) -> Result<()> {
        Err(Error::IndexUnusable {
            index: IndexKind::Keyword,
            why: "it is in memory, of a store that cannot be written".into(),
        })
    }

    fn maintain(&self) -> Result<()> {
        Ok(())
    }

    fn forget_deleted(&self) -> Result<bool> {
        Ok(true)
    }

    fn release_writer(&self) -> Result<()> {
        Ok(())
    }

    fn verify(&self) -> Result<Vec<String>> {
        Ok(Vec::new())
    }
}
