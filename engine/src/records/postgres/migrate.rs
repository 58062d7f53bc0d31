//! Makes the tables of a team store, and brings those of an older version up to date.

use ulid::Ulid;

use super::connection::Client;
use super::errors::has_other_columns;
use super::schema::{FORMAT, MIGRATIONS, SCHEMA};
use crate::error::{Error, Result};

/// The oldest server that has what the tables need, as `server_version_num` counts.
const OLDEST_SERVER: i64 = 140_000;
/// Two nodes that migrate at once wait for each other at this lock. The digits are those of "memorist" on a telephone.
const LOCK: i64 = 63_667_478;
/// A migration gives up after waiting this long for transactions that use the tables.
const WAIT: &str = "30s";

/// What [`migrate`] has done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Migrated {
    /// The store's id (a ULID): the same on all its nodes.
    pub(crate) store_id: String,
    /// The format before; 0 where there was no store.
    pub(crate) before: i64,
    /// The format now.
    pub(crate) format: i64,
}

/// Makes a team store in a database that has none, and brings an older one up to date. In one transaction: whole or not at all.
///
/// # Errors
/// [`Error::Invalid`] where the database cannot hold one: its server is too old, its encoding is not UTF-8, or its schema
/// `memorist` belongs to another program; or where the store is of a newer version than this program. Those of the database.
pub(crate) fn migrate(client: &mut Client) -> Result<Migrated> {
    check_server(client)?;
    // The defaults of the role or the database may be others.
    client.batch_execute(&format!(
        "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL lock_timeout = '{WAIT}'; \
         SET LOCAL synchronous_commit = 'on'; SELECT pg_advisory_xact_lock({LOCK});"
    ))?;
    let migrated = run(client);
    let end = if migrated.is_ok() { "COMMIT" } else { "ROLLBACK" };
    let ended = client.batch_execute(end);
    migrated.and_then(|migrated| ended.map(|()| migrated))
}

fn run(client: &mut Client) -> Result<Migrated> {
    let before = match format_of(client)? {
        Some(format) => format,
        None => {
            make_schema(client)?;
            0
        }
    };
    let known = usize::try_from(before).ok().and_then(|done| MIGRATIONS.get(done..));
    let Some(missing) = known else {
        let why = format!("it is of a newer memorist (format {before}, this one knows {FORMAT}); update memorist");
        return Err(unusable(why));
    };
    client.batch_execute(&format!("SET LOCAL search_path = {SCHEMA}, pg_catalog"))?;
    for migration in missing {
        client.batch_execute(&migration())?;
    }
    let new_id = Ulid::generate();
    client.batch_execute(&format!(
        "UPDATE server SET value = '{FORMAT}' WHERE key = 'format' AND value <> '{FORMAT}'; \
         INSERT INTO meta (key, value) VALUES ('store_id', '{new_id}') ON CONFLICT DO NOTHING"
    ))?;
    let store_id = text_of(client, "SELECT value FROM meta WHERE key = 'store_id'")?;
    let store_id = store_id.ok_or_else(|| Error::unreadable("the team store has no store_id"))?;
    Ok(Migrated { store_id, before, format: FORMAT })
}

fn check_server(client: &mut Client) -> Result<()> {
    let version = text_of(client, "SELECT current_setting('server_version_num')")?;
    if version.and_then(|number| number.parse().ok()).is_none_or(|number: i64| number < OLDEST_SERVER) {
        let named = text_of(client, "SELECT current_setting('server_version')")?.unwrap_or_default();
        return Err(unusable(format!("its server is PostgreSQL {named}; 14 or newer is needed")));
    }
    let encoding =
        text_of(client, "SELECT pg_encoding_to_char(encoding) FROM pg_database WHERE datname = current_database()")?;
    match encoding.as_deref() {
        Some("UTF8") => Ok(()),
        other => {
            let other = other.unwrap_or("unknown");
            let why = format!("its encoding is {other}; create one with ENCODING 'UTF8' TEMPLATE template0");
            Err(unusable(why))
        }
    }
}

/// The format of the team store in this database, if there is one.
fn format_of(client: &mut Client) -> Result<Option<i64>> {
    // A table of the settings of the server makes it ours.
    let is_ours = format!("SELECT to_regclass('{SCHEMA}.server')::text");
    if text_of(client, &is_ours)?.is_none() {
        return Ok(None);
    }
    let format = text_of(client, &format!("SELECT value::text FROM {SCHEMA}.server WHERE key = 'format'"));
    match format {
        Ok(format) => {
            format.and_then(|format| format.parse().ok()).map_or_else(|| Err(foreign()), |format| Ok(Some(format)))
        }
        Err(error) if has_other_columns(&error) => Err(foreign()),
        Err(error) => Err(error),
    }
}

/// Makes the schema, unless an administrator has made an empty one for us.
fn make_schema(client: &mut Client) -> Result<()> {
    let schema = format!("SELECT oid::text FROM pg_namespace WHERE nspname = '{SCHEMA}'");
    let Some(schema) = text_of(client, &schema)? else {
        return client.batch_execute(&format!("CREATE SCHEMA {SCHEMA}"));
    };
    let content = format!(
        "SELECT 'some' WHERE EXISTS (SELECT FROM pg_class WHERE relnamespace = {schema}) \
         OR EXISTS (SELECT FROM pg_proc WHERE pronamespace = {schema}) OR EXISTS (SELECT FROM pg_type WHERE typnamespace = {schema})"
    );
    text_of(client, &content)?.map_or(Ok(()), |_| Err(foreign()))
}

fn text_of(client: &mut Client, sql: &str) -> Result<Option<String>> {
    let rows = client.query_typed(sql, &[])?;
    Ok(rows.first().map(|row| row.try_get::<_, Option<String>>(0)).transpose()?.flatten())
}

fn foreign() -> Error {
    unusable(format!("its schema {SCHEMA} belongs to something else; use another database"))
}

fn unusable(why: impl std::fmt::Display) -> Error {
    Error::invalid("store", format!("the database cannot hold a team store: {why}"))
}
