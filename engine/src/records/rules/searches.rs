//! Searches are kept, also those that found nothing.

use crate::error::Result;
use crate::records::rows;
use crate::records::transaction::{Authority, SelectExt, Tx};
use crate::types::{RecordId, SearchTrace};

/// Searches that are kept: the newest.
pub const MAX_SEARCHES: i64 = 10_000;

/// Results of a search that are noted with it: the best.
const HITS_NOTED: usize = 100;

/// Writes searches with the records that each found, the best first, unsynced. The oldest beyond [`MAX_SEARCHES`] go. One
/// that found a record which is gone by now is not written: a purge may have taken the record away.
pub(crate) fn record_searches(authority: &impl Authority, searches: &[(SearchTrace, Vec<RecordId>)]) -> Result<()> {
    if searches.is_empty() {
        return Ok(());
    }
    authority.write_unsynced(|tx| {
        for (trace, found) in searches {
            if are_there(tx, found)? {
                insert(tx, trace, found)?;
            }
        }
        let sql = "DELETE FROM searches WHERE id <= (SELECT max(id) FROM searches) - ?1";
        tx.execute(sql, &[MAX_SEARCHES.into()]).map(drop)
    })
}

/// Removes the searches that found a record which is about to be purged: their queries may have its words.
pub(in crate::records) fn forget(tx: &dyn Tx, id: RecordId) -> Result<()> {
    let sql = "DELETE FROM searches WHERE id IN (SELECT search_id FROM search_hits WHERE record_id = ?1)";
    tx.execute(sql, &[id.into()]).map(drop)
}

fn insert(tx: &dyn Tx, trace: &SearchTrace, found: &[RecordId]) -> Result<()> {
    let sql =
        "INSERT INTO searches (searched_at, agent, project, tool, query, mode, filters, hits, unanswered, best_score,
             best_cosine, micros)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12) RETURNING id";
    let id = tx.insert(
        sql,
        &[
            trace.at.into(),
            rows::reach_name(&trace.viewer.agent).into(),
            rows::reach_name(&trace.viewer.project).into(),
            trace.tool.as_ref().into(),
            (&trace.query).into(),
            trace.mode.as_str().into(),
            trace.filters.as_ref().into(),
            trace.hits.cast_signed().into(),
            i64::from(trace.no_answer).into(),
            trace.best_score.into(),
            trace.best_cosine.into(),
            trace.micros.cast_signed().into(),
        ],
    )?;
    let sql = "INSERT INTO search_hits (search_id, record_id) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
    found.iter().take(HITS_NOTED).try_for_each(|&record| tx.execute(sql, &[id.into(), record.into()]).map(drop))
}

/// Whether all these records are still there, or in the trash.
fn are_there(tx: &dyn Tx, ids: &[RecordId]) -> Result<bool> {
    let sql = "SELECT 1 FROM records WHERE id = ?1 UNION ALL SELECT 1 FROM trash WHERE id = ?1";
    for &id in ids {
        if !tx.exists(sql, &[id.into()])? {
            return Ok(false);
        }
    }
    Ok(true)
}
