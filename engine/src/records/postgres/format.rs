//! Whether a node knows the tables of its server.

use super::connection::Client;
use super::schema::{FORMAT, SCHEMA};
use crate::error::{Error, Result};

/// The oldest format that a node may know, as SQL.
pub(super) fn oldest() -> String {
    format!("(SELECT value FROM {SCHEMA}.server WHERE key = 'min_reader')")
}

/// Rejects tables that are too new for this node.
///
/// # Errors
/// [`Error::Held`].
pub(crate) fn check(oldest: Option<&str>) -> Result<()> {
    match oldest.and_then(|oldest| oldest.parse().ok()) {
        Some(oldest) if FORMAT >= oldest => Ok(()),
        _ => Err(Error::Held(
            "the tables of the team store are of a newer memorist; update memorist on this node".into(),
        )),
    }
}

/// [Checks](check) the format that the server reports.
///
/// # Errors
/// Errors of [`check`], and of the database.
pub(crate) fn check_server(client: &mut Client) -> Result<()> {
    let rows = client.query_typed(&format!("SELECT {}", oldest()), &[])?;
    let oldest = rows.first().map(|row| row.try_get::<_, Option<String>>(0)).transpose()?.flatten();
    check(oldest.as_deref())
}
