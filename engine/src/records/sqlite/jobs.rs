//! The batch jobs that are not over, and their texts.

use super::store::Database;
use crate::error::Result;
use crate::records::jobs::{self, LEFT, texts_key};
use crate::records::models;
use crate::records::transaction::SelectExt;
use crate::text::Hash;
use crate::types::{BatchJob, ModelId};

impl Database {
    /// The batch jobs that are not over, the oldest first.
    pub fn batch_jobs(&self) -> Result<Vec<BatchJob>> {
        jobs::open(&*self.reader()?)
    }

    /// The texts of a job, in the order in which it was submitted.
    pub fn batch_texts(&self, job: &BatchJob) -> Result<Vec<Hash>> {
        jobs::hashes(&*self.reader()?, &texts_key(&job.key))
    }

    /// The texts that a job has left over.
    pub fn batch_left(&self) -> Result<Vec<Hash>> {
        jobs::hashes(&*self.reader()?, LEFT)
    }

    /// How many jobs failed one after another.
    pub fn batch_failures(&self) -> Result<u64> {
        jobs::failures(&*self.reader()?)
    }

    /// Returns the texts that a record still has and this model has not embedded.
    pub fn lacking(&self, model: ModelId, texts: &[Hash]) -> Result<Vec<Hash>> {
        let sql = "SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM embeddings WHERE model_id = ?2 AND hash = ?1)
             AND (EXISTS (SELECT 1 FROM records WHERE embedding_hash = ?1) OR EXISTS (SELECT 1 FROM passages WHERE hash = ?1))";
        let reader = self.reader()?;
        let mut lacking = Vec::new();
        for hash in texts {
            if reader.exists(sql, &[hash.into(), model.into()])? {
                lacking.push(*hash);
            }
        }
        Ok(lacking)
    }

    /// The text of a live record or of one that has expired, or a passage of one, by the hash that [`Database::pending`] gave
    /// for it.
    pub fn text_of(&self, hash: &Hash) -> Result<Option<String>> {
        models::text_of(&*self.reader()?, hash)
    }
}
