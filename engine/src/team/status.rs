//! How the server of a team store stands.

use tokio_postgres::Row;

use super::server::TeamServer;
use super::tokens::SHARED;
use crate::clock;
use crate::error::{Error, Result};
use crate::records::postgres::connection::Client;
use crate::records::postgres::schema::{FORMAT, SCHEMA};
use crate::types::{Millis, clock_warning};

/// How the server of a team store stands.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ServerStatus {
    /// The version of PostgreSQL.
    pub version: String,
    /// The store's id (a ULID).
    pub store_id: String,
    /// The format of its tables.
    pub format: i64,
    /// The oldest format that a node may know.
    pub min_reader: i64,
    /// Which server it is, since when. After a failover it is another.
    pub incarnation: Incarnation,
    /// Live memories.
    pub memories: u64,
    /// Bytes that the tables take, with their indexes.
    pub bytes: u64,
    /// Whether it is a standby.
    pub is_standby: bool,
    /// The standbys that follow it.
    pub standbys: Standbys,
    /// When a write is acknowledged, by the server's settings. Nodes never take less than `on`.
    pub synchronous_commit: String,
    /// Whether the server waits for its disk.
    pub fsync: bool,
    /// The nodes that were seen, the latest first.
    pub nodes: Vec<NodeSeen>,
    /// How many tokens are stored.
    pub tokens: u64,
    /// The server's clock.
    pub now: Millis,
    /// How far it is ahead of this machine's, in milliseconds: 0 where it lies between the question and the answer.
    pub clock_ahead: Millis,
}

/// A server between two starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Incarnation {
    /// The cluster of databases, the same on its standbys; `None` where the service does not tell.
    pub system: Option<String>,
    /// Counts promotions; `None` where the service does not tell.
    pub timeline: Option<u32>,
    /// When the server was started.
    pub started_at: Millis,
}

/// The standbys of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standbys {
    /// How many follow.
    pub following: u64,
    /// How many of them confirm each write before it is acknowledged; `None` if this user may not see it.
    pub synchronous: Option<u64>,
    /// Whether writes wait for standbys at all.
    pub are_awaited: bool,
}

/// A node that was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeSeen {
    /// Its name.
    pub name: String,
    /// The version of memorist.
    pub version: String,
    /// When it was last seen, by the server's clock.
    pub seen_at: Millis,
}

impl TeamServer {
    /// How the server stands, as far as this user may see it.
    ///
    /// # Errors
    /// [`Error::Server`] where it cannot be reached, or has no team store.
    pub fn status(&self) -> Result<ServerStatus> {
        self.with_client(status)
    }
}

impl ServerStatus {
    /// The problems, each with the way out.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.format < FORMAT {
            warnings.push(format!(
                "its tables are of format {}, and this memorist has {FORMAT}; run `memorist team migrate`",
                self.format
            ));
        }
        if self.min_reader > FORMAT {
            warnings.push(format!(
                "nodes must know format {}, and this memorist knows {FORMAT}: it does not follow; update memorist",
                self.min_reader
            ));
        }
        if self.is_standby {
            warnings.push("it is a standby, which nodes cannot follow; give the address of the primary".to_owned());
        } else if !self.standbys.are_awaited {
            warnings.push(
                "no standby confirms writes (synchronous_standby_names is empty): a failover may lose the last moments, \
                 unless the service copies the disk itself"
                    .to_owned(),
            );
        } else if self.standbys.synchronous == Some(0) {
            warnings.push("synchronous_standby_names is set, and no standby follows: writes wait for one".to_owned());
        }
        if !self.fsync {
            warnings.push("fsync is off: a power cut may lose or damage everything".to_owned());
        }
        warnings.extend(clock_warning(self.clock_ahead));
        warnings
    }
}

/// In milliseconds.
fn epoch(time: &str) -> String {
    format!("(extract(epoch FROM {time}) * 1000)::bigint")
}

fn status(client: &mut Client) -> Result<ServerStatus> {
    let asked = clock::now();
    let server = one(
        client,
        &format!(
            "SELECT current_setting('server_version'), pg_is_in_recovery(), current_setting('synchronous_commit'),
                 current_setting('fsync') = 'on', current_setting('synchronous_standby_names') <> '', {}, {},
                 (SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class
                  WHERE relnamespace = '{SCHEMA}'::regnamespace AND relkind = 'r'),
                 (SELECT count(*) FROM {SCHEMA}.records),
                 (SELECT count(DISTINCT {SHARED}) FROM {SCHEMA}.tokens),
                 (SELECT value FROM {SCHEMA}.meta WHERE key = 'store_id'),
                 (SELECT value::bigint FROM {SCHEMA}.server WHERE key = 'format'),
                 (SELECT value::bigint FROM {SCHEMA}.server WHERE key = 'min_reader')",
            epoch("pg_postmaster_start_time()"),
            epoch("clock_timestamp()"),
        ),
    )?;
    let (now, answered): (Millis, _) = (server.try_get(6)?, clock::now());
    let standbys = one(
        client,
        "SELECT count(*), count(sync_state), count(*) FILTER (WHERE sync_state IN ('sync', 'quorum'))
         FROM pg_stat_replication",
    )?;
    let nodes = client.query_typed(
        &format!("SELECT name, version, {} FROM {SCHEMA}.nodes ORDER BY seen_at DESC, name", epoch("seen_at")),
        &[],
    )?;
    let is_standby: bool = server.try_get(1)?;
    let [following, shown, synchronous] = [0, 1, 2].map(|column| standbys.try_get::<_, i64>(column));
    let (following, shown) = (following?.unsigned_abs(), shown?.unsigned_abs());
    let nodes = nodes
        .iter()
        .map(|row| Ok(NodeSeen { name: row.try_get(0)?, version: row.try_get(1)?, seen_at: row.try_get(2)? }));
    let missing = || Error::unreadable("the team store is incomplete: its id or its format is missing");
    Ok(ServerStatus {
        version: server.try_get(0)?,
        is_standby,
        synchronous_commit: server.try_get(2)?,
        fsync: server.try_get(3)?,
        standbys: Standbys {
            following,
            synchronous: (following == shown).then_some(synchronous?.unsigned_abs()),
            are_awaited: server.try_get(4)?,
        },
        incarnation: Incarnation {
            started_at: server.try_get(5)?,
            system: reported(client, "SELECT system_identifier::text FROM pg_control_system()"),
            timeline: (!is_standby)
                .then(|| reported(client, "SELECT left(pg_walfile_name(pg_current_wal_lsn()), 8)"))
                .flatten()
                .and_then(|digits| u32::from_str_radix(&digits, 16).ok()),
        },
        now,
        clock_ahead: clock::ahead(now, asked, answered),
        bytes: server.try_get::<_, i64>(7)?.unsigned_abs(),
        memories: server.try_get::<_, i64>(8)?.unsigned_abs(),
        tokens: server.try_get::<_, i64>(9)?.unsigned_abs(),
        store_id: server.try_get::<_, Option<String>>(10)?.ok_or_else(missing)?,
        format: server.try_get::<_, Option<i64>>(11)?.ok_or_else(missing)?,
        min_reader: server.try_get::<_, Option<i64>>(12)?.ok_or_else(missing)?,
        nodes: nodes.collect::<Result<_, Error>>()?,
    })
}

/// A value that some services refuse to tell.
fn reported(client: &mut Client, sql: &str) -> Option<String> {
    one(client, sql).ok().and_then(|row| row.try_get(0).ok())
}

fn one(client: &mut Client, sql: &str) -> Result<Row> {
    client.query_typed(sql, &[])?.pop().ok_or_else(|| Error::unreadable("the server returned nothing"))
}

#[cfg(all(test, unix))]
mod tests {
    use postgres_testing::shared;

    use super::super::Migrated;
    use super::*;
    use crate::address::ServerAddress;

    #[test]
    fn the_status_of_a_server_says_what_should_be_otherwise() {
        let Some(cluster) = shared("the_status_of_a_server_says_what_should_be_otherwise") else { return };
        let database = cluster.database();
        let server = TeamServer::new(ServerAddress::parse(&database.address()).unwrap());
        let refused = [server.status().map(drop), server.migrate().map(drop)];
        for said in refused.map(|refused| refused.unwrap_err().to_string()) {
            assert!(said.contains("`memorist team init`") && !said.contains(":secret"), "{said}");
        }
        let made = server.init().unwrap();
        assert_eq!((made.before, made.format), (0, FORMAT));
        assert_eq!(server.init().unwrap(), Migrated { before: FORMAT, ..made.clone() });
        assert_eq!(server.migrate().unwrap(), Migrated { before: FORMAT, ..made.clone() });
        database.execute("INSERT INTO memorist.nodes (node, name, version) VALUES ('01', 'box', '0.1')");
        let status = server.status().unwrap();
        assert_eq!((status.store_id.as_str(), status.format, status.min_reader), (made.store_id.as_str(), FORMAT, 1));
        assert_eq!((status.memories, status.tokens, status.incarnation.timeline), (0, 0, Some(1)));
        assert!(status.bytes > 100_000 && status.incarnation.system.is_some() && !status.is_standby, "{status:?}");
        assert_eq!(status.nodes.iter().map(|node| node.name.as_str()).collect::<Vec<_>>(), ["box"]);
        assert!(status.now - status.nodes[0].seen_at < 60_000 && status.incarnation.started_at < status.now);
        let warned = |status: &ServerStatus| status.warnings().join("\n");
        assert!(warned(&status).contains("a failover may lose the last moments"), "{}", warned(&status));
        let awaited = Standbys { following: 1, synchronous: Some(1), are_awaited: true };
        let good = ServerStatus { standbys: awaited.clone(), fsync: true, ..status };
        assert_eq!(warned(&good), "");
        for (bad, named) in [
            (ServerStatus { format: 0, ..good.clone() }, "team migrate"),
            (ServerStatus { min_reader: 99, ..good.clone() }, "update memorist"),
            (ServerStatus { is_standby: true, ..good.clone() }, "primary"),
            (ServerStatus { fsync: false, ..good.clone() }, "fsync"),
            (ServerStatus { standbys: Standbys { synchronous: Some(0), ..awaited }, ..good.clone() }, "writes wait"),
        ] {
            assert!(warned(&bad).contains(named), "{named}: {}", warned(&bad));
        }
    }
}
