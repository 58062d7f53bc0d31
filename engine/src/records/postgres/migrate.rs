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
/// A migration gives up after waiting this long for transactions that use the tables: before the client does.
const WAIT: &str = "10s";

/// The result of a migration of the tables of a team store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Migrated {
    /// The store's id (a ULID): the same on all its nodes.
    pub store_id: String,
    /// The format before; 0 where there was no store.
    pub before: i64,
    /// The format now.
    pub format: i64,
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
         SET LOCAL synchronous_commit = 'on'"
    ))?;
    let migrated = migrate_locked(client);
    let ended = client.batch_execute(if migrated.is_ok() { "COMMIT" } else { "ROLLBACK" });
    migrated.and_then(|migrated| ended.map(|()| migrated))
}

/// Migrates within a transaction.
fn migrate_locked(client: &mut Client) -> Result<Migrated> {
    client.batch_execute(&format!("SELECT pg_advisory_xact_lock({LOCK})"))?;
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
    if before > 0 && !missing.is_empty() {
        // Nodes that write look there whether they may, and hold it until they have.
        client.batch_execute("LOCK TABLE server IN ACCESS EXCLUSIVE MODE")?;
    }
    for migration in missing {
        client.batch_execute(&migration())?;
    }
    let new_id = Ulid::generate();
    client.batch_execute(&format!(
        "UPDATE server SET value = '{FORMAT}' WHERE key = 'format' AND value <> '{FORMAT}'; \
         INSERT INTO meta (key, value) VALUES ('store_id', '{new_id}') ON CONFLICT DO NOTHING"
    ))?;
    Ok(Migrated { store_id: store_id(client)?, before, format: FORMAT })
}

/// The team store in this database, if there is one. Changes nothing.
///
/// # Errors
/// [`Error::Invalid`] where its schema `memorist` belongs to another program; those of the database.
pub(crate) fn found(client: &mut Client) -> Result<Option<Migrated>> {
    let Some(format) = format_of(client)? else { return Ok(None) };
    let store_id = store_id(client)?;
    Ok(Some(Migrated { store_id, before: format, format }))
}

fn store_id(client: &mut Client) -> Result<String> {
    let id = text_of(client, &format!("SELECT value FROM {SCHEMA}.meta WHERE key = 'store_id'"))?;
    id.ok_or_else(|| Error::unreadable("the team store has no store_id"))
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

#[cfg(all(test, unix))]
mod tests {
    use std::thread;

    use postgres_testing::shared;

    use super::super::connection::ConnectionPool;
    use super::*;
    use crate::address::ServerAddress;

    fn migrate(address: &str) -> Result<Migrated> {
        let pool = ConnectionPool::new(ServerAddress::parse(address).unwrap());
        super::migrate(&mut pool.lend().unwrap())
    }

    fn refusal(address: &str) -> String {
        migrate(address).unwrap_err().to_string()
    }

    #[test]
    fn concurrent_migrations_create_a_team_store_once() {
        let Some(cluster) = shared("concurrent_migrations_create_a_team_store_once") else { return };
        let database = cluster.database();
        let migrated: Vec<_> = thread::scope(|scope| {
            let all: Vec<_> = (0..4).map(|_| scope.spawn(|| migrate(&database.address()).unwrap())).collect();
            all.into_iter().map(|one| one.join().unwrap()).collect()
        });
        assert_eq!(migrated.iter().filter(|one| one.before == 0).count(), 1, "{migrated:?}");
        assert!(migrated.iter().all(|one| one.store_id == migrated[0].store_id && one.format == FORMAT));
        let again = migrate(&database.address()).unwrap();
        assert_eq!(again, Migrated { store_id: migrated[0].store_id.clone(), before: FORMAT, format: FORMAT });
    }

    #[test]
    fn an_empty_schema_is_used_and_a_foreign_one_is_rejected() {
        let Some(cluster) = shared("an_empty_schema_is_used_and_a_foreign_one_is_rejected") else { return };
        let database = cluster.database();
        let pool = ConnectionPool::new(ServerAddress::parse(&database.address()).unwrap());
        let execute = |sql: &str| pool.lend().unwrap().batch_execute(sql).unwrap();
        for foreign in [
            "CREATE TABLE memorist.server (name text)",
            "CREATE TABLE memorist.other ()",
            "CREATE FUNCTION memorist.f() RETURNS int LANGUAGE sql AS 'SELECT 1'",
        ] {
            execute(&format!("CREATE SCHEMA memorist; {foreign}"));
            assert!(refusal(&database.address()).contains("belongs to something else"), "{foreign}");
            execute("DROP SCHEMA memorist CASCADE");
        }
        execute("CREATE SCHEMA memorist");
        assert_eq!(migrate(&database.address()).unwrap().before, 0);
    }

    #[test]
    fn an_unsuitable_database_is_rejected_with_advice() {
        let Some(cluster) = shared("an_unsuitable_database_is_rejected_with_advice") else { return };
        cluster.execute("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'");
        let said = refusal(&cluster.address("latin"));
        assert!(said.contains("its encoding is LATIN1") && said.contains("ENCODING 'UTF8'"), "{said}");
        let newer = cluster.database();
        migrate(&newer.address()).unwrap();
        newer.execute("UPDATE memorist.server SET value = '99' WHERE key = 'format'");
        let said = refusal(&newer.address());
        assert!(said.contains("format 99") && said.contains("update memorist"), "{said}");
    }
}
