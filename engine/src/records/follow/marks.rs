//! Purges of other nodes: what the server no longer has is gone from the files of every node, too.
//!
//! Each transaction of a purge writes a mark on the server (`purge/mark.rs`), which stays there as `purged` when the node that
//! purges has cleaned its own files. A node that finds another mark than the last one that it knows has removed rows with this
//! pull, or will: it notes the mark as a purge of its own that is not finished, and its worker cleans its files. It does not know
//! what was purged, so its logged queries go as a whole.

use crate::error::Result;
use crate::records::meta;
use crate::records::purge::mark;
use crate::records::transaction::Tx;

/// The entry of the server's `meta` with the mark of the last purge that is finished where it was made.
pub(super) const PURGED: &str = "purged";
/// The entry of a node's `meta` with the last mark that it knows.
pub(super) const KNOWN: &str = "purged_to";

/// Notes a mark of the server that is new here.
pub(super) fn notice(tx: &dyn Tx, on_server: Option<&str>, is_new_here: bool, is_own: bool) -> Result<()> {
    let Some(mark) = on_server else { return Ok(()) };
    if meta::text(tx, KNOWN)?.as_deref() == Some(mark) {
        return Ok(());
    }
    meta::put(tx, KNOWN, mark.into())?;
    if is_new_here {
        return Ok(()); // what a first copy brings was never here
    }
    meta::put(tx, mark::KEY, mark.into())?;
    if !is_own {
        tx.execute("UPDATE access_log SET query_text = NULL WHERE query_text IS NOT NULL", &[])?;
        tx.execute("DELETE FROM searches", &[])?;
    }
    Ok(())
}

/// The mark that a node has to know, of the entries that the server has.
pub(super) fn mark_of(entries: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    entries(mark::KEY).or_else(|| entries(PURGED))
}
