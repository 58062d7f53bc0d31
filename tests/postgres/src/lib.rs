//! PostgreSQL servers for the tests: the distribution's own programs in a temporary folder, on a port of loopback. They end
//! with the process that started them, also when it is killed.
//!
//! ```no_run
//! # fn create_tables(address: &str) {}
//! let Some(cluster) = postgres_testing::shared("a_row_is_found") else { return };
//! let database = cluster.database_from("tables", |address| create_tables(address));
//! println!("{}", database.address());
//! ```
//!
//! A test that stops or kills its server, or changes its settings, calls [`start`] instead of [`shared`].
//!
//! Where the programs are missing, such a test is left out, and says so; with `MEMORIST_REQUIRE_POSTGRES` it fails.
//! `MEMORIST_TEST_POSTGRES_BIN` names the folder of the programs to use.
//!
//! | row | module | job |
//! |---|---|---|
//! | 0 | `programs` | where the programs are, and as which user they run |
//! | 0 | `processes` | the processes of a server: who they are, and signals to them |
//! | 1 | `keeper` | a folder that is removed, with all that runs in it, when this process ends |
//! | 1 | `proxy` | a server's address whose connections are cut, or slow |
//! | 2 | `certificates` | a certificate for a server |
//! | 3 | `cluster` | a server: created, started, stopped, killed, paused |
//! | 4 | `database` | databases, copied from templates |
//! | 4 | `pooler` | pgbouncer before a server |
//! | 4 | `replication` | standbys: copied, following, promoted |

#![cfg(all(unix, feature = "servers"))]

mod certificates;
mod cluster;
mod database;
mod keeper;
mod pooler;
mod processes;
mod programs;
mod proxy;
mod replication;

use std::sync::OnceLock;

pub use cluster::{Cluster, Options, Stop};
pub use database::Database;
pub use pooler::Pooler;
pub use proxy::{Action, Proxy, When, port_of};

/// Whether PostgreSQL's programs are on this machine.
pub fn available() -> bool {
    programs::server().is_some()
}

/// The server that all tests of this process share; `None`, with a line on stderr, where there is no PostgreSQL.
///
/// # Panics
/// If it does not start, or if PostgreSQL is missing and `MEMORIST_REQUIRE_POSTGRES` is set.
pub fn shared(test: &str) -> Option<&'static Cluster> {
    static SHARED: OnceLock<Result<Cluster, String>> = OnceLock::new();
    if !programs::is_present(test, available(), "PostgreSQL") {
        return None;
    }
    match SHARED.get_or_init(|| Cluster::try_start(Options::default())) {
        Ok(cluster) => Some(cluster),
        Err(why) => panic!("PostgreSQL does not start: {why}"),
    }
}

/// A server for one test. See [`shared`].
///
/// # Panics
/// See [`shared`].
pub fn start(test: &str, options: Options) -> Option<Cluster> {
    programs::is_present(test, available(), "PostgreSQL").then(|| match Cluster::try_start(options) {
        Ok(cluster) => cluster,
        Err(why) => panic!("PostgreSQL does not start: {why}"),
    })
}
