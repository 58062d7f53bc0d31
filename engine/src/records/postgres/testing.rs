//! A team store for tests.

use std::sync::Once;

use postgres_testing::Database;

use super::connection::ConnectionPool;
use super::migrate::migrate;
use super::tenants::admit;
use super::transaction::Server;
use crate::address::ServerAddress;

/// An empty team store, on a server that all tests of this process share.
pub(crate) struct TeamStore {
    pub(crate) server: Server,
    database: Database<'static>,
}

impl TeamStore {
    /// `None` where there is no PostgreSQL: the test is left out, and its name is printed.
    pub(crate) fn new(test: &str) -> Option<Self> {
        static SETTINGS: Once = Once::new();
        let cluster = postgres_testing::shared(test)?;
        // No power cut is tested, and hundreds of databases are created.
        SETTINGS.call_once(|| cluster.set("fsync", "off"));
        let database = cluster.database_from("team", |address| {
            migrate(&mut pool(address).lend().unwrap()).unwrap();
        });
        let server = Server::new(pool(&database.address()), "01JAAAAAAAAAAAAAAAAAAAAAAA".into());
        Some(TeamStore { server, database })
    }
}

/// A team store for tests, used by a role that is a member of every project.
pub(crate) struct TeamMember {
    pub(crate) server: Server,
    pub(crate) owner: TeamStore,
}

impl TeamMember {
    pub(crate) fn new(test: &str) -> Option<Self> {
        let owner = TeamStore::new(test)?;
        let database = &owner.database;
        let (name, address) = (database.name(), database.address());
        database.execute(&format!(
            "CREATE ROLE of_{name} LOGIN PASSWORD 'changeme'; GRANT CONNECT ON DATABASE {name} TO of_{name}"
        ));
        let admitted = admit(&format!("of_{name}"), &["*".into()]);
        owner.server.pool().lend().unwrap().batch_execute(&admitted).unwrap();
        let host = address.split_once('@').unwrap().1;
        let server =
            Server::new(pool(&format!("postgres://of_{name}:changeme@{host}")), "01JAAAAAAAAAAAAAAAAAAAAAAB".into());
        Some(TeamMember { server, owner })
    }
}

fn pool(address: &str) -> ConnectionPool {
    ConnectionPool::new(ServerAddress::parse(address).unwrap())
}
