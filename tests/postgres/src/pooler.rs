//! [`Pooler`]: pgbouncer before a server.

use std::process::Child;

use postgres::{Client, Config, NoTls};

use crate::cluster::{Cluster, OWNER, PASSWORD, SUPERUSER, free_port, reason};
use crate::keeper::Keeper;
use crate::programs;

/// The settings that the documents advise.
const EXAMPLE: &str = include_str!("../../../deploy/pgbouncer.ini");

/// pgbouncer in transaction mode: two transactions of a client may run on two connections to the server.
pub struct Pooler {
    keeper: Keeper,
    port: u16,
    database: String,
    process: Option<Child>,
}

impl Cluster {
    /// A pooler before a database of this server; `None`, with a line on stderr, where there is no pgbouncer.
    ///
    /// # Panics
    /// If it does not start, or if it is missing and `MEMORIST_REQUIRE_POSTGRES` is set.
    pub fn pgbouncer(&self, test: &str, database: &str) -> Option<Pooler> {
        let is_there = programs::pgbouncer().is_some();
        programs::is_present(test, is_there, "pgbouncer").then(|| match Pooler::try_start(self, database) {
            Ok(pooler) => pooler,
            Err(why) => panic!("pgbouncer does not start: {why}"),
        })
    }
}

impl Pooler {
    fn try_start(cluster: &Cluster, database: &str) -> Result<Self, String> {
        let keeper = Keeper::start()?;
        let users = [SUPERUSER, OWNER].map(|user| format!("\"{user}\" \"{PASSWORD}\"\n"));
        keeper.write("users.txt", &users.concat())?;
        let mut pooler = Pooler { keeper, port: 0, database: database.to_owned(), process: None };
        loop {
            pooler.port = free_port();
            let settings = pooler.keeper.write("pgbouncer.ini", &pooler.settings(cluster))?;
            let mut command = programs::command(programs::pgbouncer().expect("it is there"), pooler.keeper.folder());
            match pooler.keeper.serve(command.arg(settings), || pooler.console().is_ok()) {
                Ok(process) => {
                    pooler.process = Some(process);
                    return Ok(pooler);
                }
                // Somebody was faster.
                Err(log) if log.contains("Address already in use") => {}
                Err(log) => return Err(log),
            }
        }
    }

    /// The example of `deploy/`, with what is another in tests.
    fn settings(&self, cluster: &Cluster) -> String {
        let database = format!("{} = host=127.0.0.1 port={}", self.database, cluster.port());
        let listen_port = format!("listen_port = {}", self.port);
        let auth_file = format!("auth_file = {}/users.txt", self.keeper.folder().display());
        let mut settings = EXAMPLE.to_owned();
        for (example, ours) in [
            ("team = host=127.0.0.1 port=5432 dbname=team", database.as_str()),
            ("listen_port = 6432", &listen_port),
            ("auth_file = /etc/pgbouncer/users.txt", &auth_file),
            ("server_login_retry = 1", "server_login_retry = 0.1"),
        ] {
            assert!(settings.contains(example), "deploy/pgbouncer.ini lacks {example:?}");
            settings = settings.replace(example, ours);
        }
        settings
            + &format!("unix_socket_dir =\nadmin_users = {SUPERUSER}\nlog_connections = 0\nlog_disconnections = 0\n")
    }

    /// Passes what comes from now on to another server, such as a promoted standby. Clients stay connected.
    ///
    /// # Panics
    /// If pgbouncer does not take it.
    pub fn retarget(&self, cluster: &Cluster) {
        self.keeper.write("pgbouncer.ini", &self.settings(cluster)).expect("the settings of pgbouncer");
        let reloaded = self.console().and_then(|mut console| console.simple_query("RELOAD"));
        reloaded.unwrap_or_else(|error| panic!("pgbouncer: {}", reason(&error)));
    }

    fn console(&self) -> Result<Client, postgres::Error> {
        let mut config = Config::new();
        config.host("127.0.0.1").port(self.port).user(SUPERUSER).password(PASSWORD).dbname("pgbouncer");
        config.connect(NoTls)
    }

    /// The address of the database behind it, for its owner.
    pub fn address(&self) -> String {
        format!("postgres://{OWNER}:{PASSWORD}@127.0.0.1:{}/{}", self.port, self.database)
    }

    pub fn log(&self) -> String {
        self.keeper.log()
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        self.keeper.end();
        if let Some(mut process) = self.process.take() {
            _ = process.wait();
        }
    }
}
