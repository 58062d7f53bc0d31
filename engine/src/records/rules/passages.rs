//! The passages of records after their beginnings: what the model's window leaves out of their texts.

use super::embeddings;
use crate::error::Result;
use crate::passages::{self, Passage};
use crate::records::models::of_record;
use crate::records::transaction::{Authority, SelectExt, Tx};
use crate::records::{meta, models};
use crate::types::RecordId;

/// Ids in one transaction of [`cut_some`]: so few that other writers hardly wait.
const STEP: i64 = 2_000;

/// Gives a record the passages of its text, and drops the embeddings of those that it had.
pub(super) fn set(tx: &dyn Tx, id: RecordId, context: Option<&str>, content: &str) -> Result<()> {
    let after = passages::further(context, content);
    let before = of_record(tx, id)?;
    if before == after {
        return Ok(());
    }
    tx.execute("DELETE FROM passages WHERE record_id = ?1", &[id.into()])?;
    insert(tx, id, &found(tx, after)?)?;
    before.iter().try_for_each(|passage| embeddings::remove_unused(tx, &passage.hash))
}

/// Passages, each with its embedding if there is one.
pub(super) fn found(tx: &dyn Tx, passages: Vec<Passage>) -> Result<Vec<(Passage, Option<i64>)>> {
    let each = passages.into_iter().map(|passage| {
        let embedding_id = embeddings::find(tx, &passage.hash)?;
        Ok((passage, embedding_id))
    });
    each.collect()
}

/// Writes the passages of a record that has none.
pub(super) fn insert(tx: &dyn Tx, id: RecordId, passages: &[(Passage, Option<i64>)]) -> Result<()> {
    for (Passage { number, bytes, hash }, embedding_id) in passages {
        let sql = "INSERT INTO passages (record_id, number, starts_at, ends_at, hash, embedding_id)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        let [starts_at, ends_at] = [bytes.start, bytes.end].map(|at| i64::try_from(at).unwrap_or(i64::MAX));
        let number = i64::from(*number).into();
        tx.queue(sql, &[id.into(), number, starts_at.into(), ends_at.into(), hash.into(), (*embedding_id).into()])?;
    }
    Ok(())
}

/// Cuts the texts of some records that were saved before there were passages, or that another version has cut, the newest
/// first. Returns whether more remain.
pub(crate) fn cut_some(authority: &impl Authority) -> Result<bool> {
    authority.write(|tx| {
        let Some(uncut) = models::uncut(tx)? else { return Ok(false) };
        meta::put(tx, models::CUTTER, passages::VERSION.into())?;
        let sql = "SELECT max(id) FROM records WHERE id <= ?1";
        let Some(last) = tx.first(sql, &[uncut.into()], |row| row.get::<Option<i64>>(0))?.flatten() else {
            meta::remove(tx, models::UNCUT)?;
            return Ok(false);
        };
        let first = last.saturating_sub(STEP);
        cut(tx, first.into(), last.into())?;
        meta::put(tx, models::UNCUT, first.into())?;
        Ok(true)
    })
}

/// Cuts the texts of the records with ids above `after`, up to `last`.
pub(crate) fn cut(tx: &dyn Tx, after: RecordId, last: RecordId) -> Result<()> {
    // One that fits anyway is not read.
    let sql = "SELECT id FROM records WHERE id > ?1 AND id <= ?2
         AND octet_length(content) + coalesce(octet_length(context), 0) >= ?3";
    let fits: i64 = passages::ALWAYS_FITS;
    let long: Vec<RecordId> = tx.all(sql, &[after.into(), last.into(), fits.into()], |row| row.get(0))?;
    for id in long {
        set_again(tx, id)?;
    }
    Ok(())
}

/// Gives a record the passages of the text that it has.
pub(super) fn set_again(tx: &dyn Tx, id: RecordId) -> Result<()> {
    let sql = "SELECT context, content FROM records WHERE id = ?1";
    let text = tx.first(sql, &[id.into()], |row| Ok((row.get::<Option<String>>(0)?, row.get::<String>(1)?)))?;
    text.map_or(Ok(()), |(context, content)| set(tx, id, context.as_deref(), &content))
}
