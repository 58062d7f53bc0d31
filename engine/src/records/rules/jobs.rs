//! Batch jobs: noted before they are submitted, and until all their vectors are stored.

use std::collections::HashSet;

use crate::error::Result;
use crate::records::jobs::{self, Entry, FAILURES, LEFT, about_key, texts_key, to_text};
use crate::records::meta;
use crate::records::transaction::{Authority, Tx};
use crate::text::Hash;
use crate::types::{BatchJob, JobEnd};

/// Notes a job, with its texts.
pub(crate) fn begin(authority: &impl Authority, job: &BatchJob, texts: &[Hash]) -> Result<()> {
    let text = to_text(texts);
    authority.write(|tx| {
        meta::put(tx, &texts_key(&job.key), (&text).into())?;
        note(tx, job)
    })
}

/// Updates the note of a job. A job that is over stays over.
pub(crate) fn update(authority: &impl Authority, job: &BatchJob) -> Result<()> {
    authority.write(|tx| match meta::text(tx, &about_key(&job.key))? {
        Some(_) => note(tx, job),
        None => Ok(()),
    })
}

/// Drops a job that is over. The texts that it has `left` go into no other. Returns how many failed one after another.
pub(crate) fn end(authority: &impl Authority, job: &BatchJob, how: JobEnd, left: &[Hash]) -> Result<u64> {
    authority.write(|tx| {
        if meta::text(tx, &about_key(&job.key))?.is_none() {
            return jobs::failures(tx);
        }
        meta::remove(tx, &about_key(&job.key))?;
        meta::remove(tx, &texts_key(&job.key))?;
        let all: HashSet<Hash> = jobs::hashes(tx, LEFT)?.into_iter().chain(left.iter().copied()).collect();
        put_left(tx, all.iter())?;
        let failures = match how {
            JobEnd::Done => 0,
            JobEnd::Failed => jobs::failures(tx)? + 1,
            JobEnd::Dropped => jobs::failures(tx)?,
        };
        put_failures(tx, failures)?;
        Ok(failures)
    })
}

/// Keeps only these of the texts that were left over.
pub(crate) fn keep_left(authority: &impl Authority, kept: &[Hash]) -> Result<()> {
    authority.write(|tx| put_left(tx, kept))
}

/// Forgets that jobs have failed.
pub(crate) fn forgive(authority: &impl Authority) -> Result<()> {
    authority.write(|tx| put_failures(tx, 0))
}

fn note(tx: &dyn Tx, job: &BatchJob) -> Result<()> {
    let entry = Entry { model: job.model.get(), about: job.about.clone() };
    let json = serde_json::to_string(&entry).expect("texts and numbers");
    meta::put(tx, &about_key(&job.key), (&json).into())
}

fn put_left<'a>(tx: &dyn Tx, hashes: impl IntoIterator<Item = &'a Hash>) -> Result<()> {
    let text = to_text(hashes);
    if text.is_empty() { meta::remove(tx, LEFT) } else { meta::put(tx, LEFT, (&text).into()) }
}

fn put_failures(tx: &dyn Tx, failures: u64) -> Result<()> {
    match failures {
        0 => meta::remove(tx, FAILURES),
        _ => meta::put(tx, FAILURES, i64::try_from(failures).unwrap_or(i64::MAX).into()),
    }
}
