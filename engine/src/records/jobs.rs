//! Unfinished batch jobs: entries of `meta`. `batch_job KEY` describes a job, `batch_texts KEY` has the hashes of its
//! texts. `batch_left` has the hashes of texts that a job has left over, which go into no other, and `batch_failures`
//! counts the jobs that failed one after another.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::transaction::{Select, SelectExt};
use crate::error::Result;
use crate::text::{Hash, from_hex, to_hex};
use crate::types::{AboutJob, BatchJob, ModelId};

/// The entry with the texts that were left over.
pub(super) const LEFT: &str = "batch_left";
/// The entry with the count of failures.
pub(super) const FAILURES: &str = "batch_failures";
/// Failures one after another that switch batch jobs off.
pub const MAX_JOB_FAILURES: u64 = 2;

/// Digits of a hash.
const DIGITS: usize = 2 * size_of::<Hash>();

/// An entry that describes a job.
#[derive(Serialize, Deserialize)]
pub(super) struct Entry {
    pub model: i64,
    pub about: AboutJob,
}

/// The name of the entry of a job.
pub(super) fn about_key(key: &str) -> String {
    format!("batch_job {key}")
}

/// The name of the entry of its texts.
pub(super) fn texts_key(key: &str) -> String {
    format!("batch_texts {key}")
}

/// Hashes as they are stored.
pub(super) fn to_text<'a>(hashes: impl IntoIterator<Item = &'a Hash>) -> String {
    hashes.into_iter().map(|hash| to_hex(hash)).collect()
}

/// All jobs, the oldest first. An entry that cannot be read is passed over.
pub(super) fn open(db: &dyn Select) -> Result<Vec<BatchJob>> {
    let sql = "SELECT key, value FROM meta WHERE key >= 'batch_job ' AND key < 'batch_job!' ORDER BY key";
    let all = db.all(sql, &[], |row| {
        let key = row.get::<&str>(0)?.trim_start_matches("batch_job ").to_owned();
        let entry: Option<Entry> = row.get::<Option<&str>>(1)?.and_then(|json| serde_json::from_str(json).ok());
        Ok(entry.map(|Entry { model, about }| BatchJob { key, model: ModelId::from(model), about }))
    })?;
    Ok(all.into_iter().flatten().collect())
}

/// The hashes of an entry.
pub(super) fn hashes(db: &dyn Select, entry: &str) -> Result<Vec<Hash>> {
    let text = super::meta::text(db, entry)?.unwrap_or_default();
    let hash = |digits: &[u8]| from_hex(std::str::from_utf8(digits).ok()?);
    Ok(text.as_bytes().chunks(DIGITS).filter_map(hash).collect())
}

/// The texts that wait for a job with this model.
pub(super) fn submitted(db: &dyn Select, model: ModelId) -> Result<HashSet<Hash>> {
    let mut all = HashSet::new();
    for job in open(db)?.into_iter().filter(|job| job.model == model) {
        all.extend(hashes(db, &texts_key(&job.key))?);
    }
    Ok(all)
}

/// How many jobs failed one after another.
pub(super) fn failures(db: &dyn Select) -> Result<u64> {
    Ok(super::meta::integer(db, FAILURES)?.unwrap_or(0).unsigned_abs())
}
