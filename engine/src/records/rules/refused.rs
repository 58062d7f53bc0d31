//! Texts that the model refused: they are set aside with the reason, so that they neither block the others nor are sent
//! again and again. Keyword search still finds their records.

use serde_json::{Map, Value as Json, json};

use crate::error::Result;
use crate::records::meta;
use crate::records::models::REFUSED;
use crate::records::transaction::{Authority, SelectExt, Tx};
use crate::text::{Hash, to_hex};
use crate::types::ModelId;

/// Sets texts aside, with the reason why this model refused each. A text that no record has is skipped.
pub(crate) fn set_aside(authority: &impl Authority, model: ModelId, refused: &[(Hash, String)]) -> Result<()> {
    set_aside_in(authority, REFUSED, model, refused)
}

/// Sets texts aside in this entry of `meta`.
pub(crate) fn set_aside_in(
    authority: &impl Authority,
    entry: &str,
    model: ModelId,
    refused: &[(Hash, String)],
) -> Result<()> {
    if refused.is_empty() {
        return Ok(());
    }
    authority.write(|tx| {
        let mut all = read(tx, entry)?;
        for (hash, why) in refused {
            // It may have been purged while it was on the way.
            if is_wanted(tx, hash)? {
                all.insert(to_hex(hash), json!({ "model": model.get(), "why": why }));
            }
        }
        write(tx, entry, &all)
    })
}

/// Lets every refused text be embedded again.
pub(crate) fn retry(authority: &impl Authority) -> Result<()> {
    authority.write(|tx| meta::remove(tx, REFUSED))
}

/// Drops the texts of this entry that no record has any more.
#[cfg(feature = "postgres")]
pub(in crate::records) fn forget_gone(tx: &dyn Tx, entry: &str) -> Result<()> {
    let all = read(tx, entry)?;
    let mut kept = Map::new();
    for (hash, refusal) in &all {
        if crate::text::from_hex(hash).map_or(Ok(false), |hash| is_wanted(tx, &hash))? {
            kept.insert(hash.clone(), refusal.clone());
        }
    }
    if kept.len() < all.len() { write(tx, entry, &kept) } else { Ok(()) }
}

/// Drops the entry of this text, once no record, no passage and no version has it any more.
pub(super) fn forget(tx: &dyn Tx, hash: &Hash) -> Result<()> {
    let mut all = read(tx, REFUSED)?;
    if all.remove(&to_hex(hash)).is_none() || is_wanted(tx, hash)? {
        return Ok(());
    }
    write(tx, REFUSED, &all)
}

/// Whether a record, a passage or a version has the text with this hash.
fn is_wanted(tx: &dyn Tx, hash: &Hash) -> Result<bool> {
    let sql = "SELECT 1 FROM records WHERE embedding_hash = ?1
         UNION ALL SELECT 1 FROM passages WHERE hash = ?1
         UNION ALL SELECT 1 FROM versions WHERE embedding_hash = ?1";
    tx.exists(sql, &[hash.into()])
}

/// Keeps only the texts that this model refused.
pub(super) fn keep_only(tx: &dyn Tx, model: ModelId) -> Result<()> {
    let mut all = read(tx, REFUSED)?;
    let before = all.len();
    all.retain(|_, refusal| refusal["model"] == model.get());
    if all.len() < before { write(tx, REFUSED, &all) } else { Ok(()) }
}

fn read(tx: &dyn Tx, entry: &str) -> Result<Map<String, Json>> {
    let text = meta::text(tx, entry)?;
    Ok(text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default())
}

fn write(tx: &dyn Tx, entry: &str, all: &Map<String, Json>) -> Result<()> {
    match all.is_empty() {
        true => meta::remove(tx, entry),
        false => meta::put(tx, entry, (&Json::Object(all.clone()).to_string()).into()),
    }
}
