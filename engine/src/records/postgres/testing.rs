//! A team store for tests.

use std::sync::Once;

use postgres_testing::Database;

use super::connection::Pool;
use super::migrate::migrate;
use super::transaction::Server;
use crate::address::ServerAddress;

/// An empty team store, on a server that all tests of this process share.
pub(crate) struct TeamStore {
    pub(crate) server: Server,
    _database: Database<'static>,
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
        Some(TeamStore { server, _database: database })
    }
}

fn pool(address: &str) -> Pool {
    Pool::new(ServerAddress::parse(address).unwrap())
}
