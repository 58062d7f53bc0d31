//! [`Cursor`]: how far a node has followed its server.
//!
//! A sequence number is taken before its transaction commits, so that "after the last one" would miss a late commit. A
//! cursor is the snapshot of the last pull instead: a row is new if it is visible now and was not then. This is how PgQ
//! follows a table.

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::records::meta;
use crate::records::transaction::{Select, Tx};

/// The entry of `meta` with the cursor.
const KEY: &str = "followed";

/// Transactions after which one that was rolled back is on the disk of the server.
const LONG_AGO: u64 = 1_000;

/// A snapshot of the server, as its `pg_current_snapshot()` writes it: `xmin:xmax:xip,xip`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PgSnapshot(String);

impl PgSnapshot {
    /// Parses a snapshot; `None` where the text is not one.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let parts: Vec<&str> = text.split(':').collect();
        let [xmin, xmax, open] = parts[..] else { return None };
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let are_numbers = is_number(xmin) && is_number(xmax) && (open.is_empty() || open.split(',').all(is_number));
        are_numbers.then(|| PgSnapshot(text.to_owned()))
    }

    /// Parses a snapshot that has not seen the transactions from `seen` on. The ones before have committed, or are older
    /// than one that has, and so they are on the disk of the server. A crash forgets later ones that were rolled back,
    /// and reuses their numbers: only transactions that ended [long ago](LONG_AGO) are taken for seen, too.
    pub(super) fn parse_up_to(text: &str, seen: u64) -> Option<Self> {
        let PgSnapshot(text) = Self::parse(text)?;
        let mut parts = text.split(':');
        let (xmin, xmax) = (parts.next()?.parse::<u64>().ok()?, parts.next()?.parse::<u64>().ok()?);
        let end = xmax.min(seen.max(xmin.saturating_sub(LONG_AGO)));
        let open: Vec<&str> =
            parts.next()?.split(',').filter(|xid| xid.parse().is_ok_and(|xid: u64| xid < end)).collect();
        Some(PgSnapshot(format!("{}:{end}:{}", xmin.min(end), open.join(","))))
    }

    /// SQL arguments for the transactions that this snapshot does not see: all from the first argument on, and those in
    /// the second.
    pub(super) fn as_arguments(&self) -> String {
        let mut parts = self.0.split(':').skip(1);
        let (xmax, open) = (parts.next().unwrap_or("0"), parts.next().unwrap_or_default());
        format!("'{xmax}'::xid8, '{{{open}}}'::xid8[]")
    }

    /// This transaction and all after it had not begun.
    pub(super) fn xmax(&self) -> u64 {
        self.0.split(':').nth(1).and_then(|xmax| xmax.parse().ok()).unwrap_or(0)
    }

    /// All transactions below this one have ended.
    pub(super) fn xmin(&self) -> u64 {
        self.0.split(':').next().and_then(|xmin| xmin.parse().ok()).unwrap_or(0)
    }
}

/// The position of a node in the changes of its server, and what it follows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Cursor {
    /// The transactions that it has seen.
    pub(super) snapshot: PgSnapshot,
    /// The incarnation of the server: another one, or the same server after a restart, may have lost transactions.
    pub(super) incarnation: String,
    /// The projects that the node follows; empty is all.
    pub(super) follow: Vec<String>,
    /// The id of the team store.
    pub(super) store_id: String,
    /// The projects that the node's role belongs to, on the server: no row of a copied table shows that they changed.
    pub(super) sees: String,
}

impl Cursor {
    /// The stored cursor; `None` where the copy has not been compared with the server as a whole.
    pub(super) fn stored(db: &dyn Select) -> Result<Option<Self>> {
        Ok(meta::text(db, KEY)?.and_then(|text| serde_json::from_str(&text).ok()))
    }

    pub(super) fn store(&self, tx: &dyn Tx) -> Result<()> {
        meta::put(tx, KEY, (&serde_json::to_string(self).expect("texts alone")).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_excludes_open_and_later_transactions() {
        let snapshot = PgSnapshot::parse("10:20:10,14").unwrap();
        assert_eq!(snapshot.as_arguments(), "'20'::xid8, '{10,14}'::xid8[]");
        assert_eq!(snapshot.xmin(), 10);
        assert!(PgSnapshot::parse("10:10:").is_some());
        let up_to = |text, seen| PgSnapshot::parse_up_to(text, seen).unwrap().0;
        let some = "10:20:10,14,18";
        assert_eq!([up_to(some, 30), up_to(some, 16), up_to(some, 6)], [some, "10:16:10,14", "6:6:"]);
        assert_eq!(up_to("5000:5010:5003", 10), "4000:4000:");
        for broken in ["", "1:2", "a:2:", "1:2:3,", "1:2:'); DROP"] {
            assert_eq!(PgSnapshot::parse(broken), None, "{broken}");
        }
    }
}
