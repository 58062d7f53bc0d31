//! [`Database`]: databases, copied from templates.

use std::sync::PoisonError;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use postgres::Client;
use postgres::error::SqlState;

use crate::cluster::{Cluster, OWNER, reason};

/// A connection that was closed a moment ago may still count as a user of a template.
const CLOSING: Duration = Duration::from_secs(10);

/// A database of its own, dropped with its value.
pub struct Database<'a> {
    cluster: &'a Cluster,
    name: String,
}

impl Cluster {
    /// A new and empty database.
    ///
    /// # Panics
    /// If the server does not create it.
    pub fn database(&self) -> Database<'_> {
        self.copy_of("template0")
    }

    /// A new database as `fill` made it: called with the address of an empty one, once for each name and server. It has to
    /// close its connections.
    ///
    /// # Panics
    /// If `fill` does, or if the server does not create it.
    pub fn database_from(&self, template: &str, fill: impl FnOnce(&str)) -> Database<'_> {
        let name = format!("template_{template}");
        {
            // A fill that failed is begun again by the next caller.
            let mut filled = self.templates.lock().unwrap_or_else(PoisonError::into_inner);
            if !filled.contains(template) {
                self.manage(&format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"));
                self.manage(&format!("CREATE DATABASE {name} OWNER {OWNER} TEMPLATE template0"));
                fill(&self.address(&name));
                filled.insert(template.to_owned());
            }
        }
        self.copy_of(&name)
    }

    fn copy_of(&self, template: &str) -> Database<'_> {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let name = format!("test_{}", NEXT.fetch_add(1, Ordering::Relaxed));
        self.manage(&format!("CREATE DATABASE {name} OWNER {OWNER} TEMPLATE {template}"));
        Database { cluster: self, name }
    }

    /// Executes a statement on databases, for which nobody may use their template. Waits for no standby: the one that is
    /// named may be gone.
    fn manage(&self, sql: &str) {
        let mut client = self.client("postgres");
        client.batch_execute("SET synchronous_commit = local").expect("a setting");
        let start = Instant::now();
        while let Err(error) = client.batch_execute(sql) {
            let is_in_use = error.code() == Some(&SqlState::OBJECT_IN_USE) && start.elapsed() < CLOSING;
            assert!(is_in_use, "{sql}: {}", reason(&error));
            thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Database<'_> {
    /// Its address, for its owner, who is no superuser.
    pub fn address(&self) -> String {
        self.cluster.address(&self.name)
    }

    /// Its name on the server.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A connection of the superuser.
    ///
    /// # Panics
    /// If the server does not accept it.
    pub fn client(&self) -> Client {
        self.cluster.client(&self.name)
    }

    /// Executes statements as the superuser.
    ///
    /// # Panics
    /// If they fail.
    pub fn execute(&self, sql: &str) {
        self.client().batch_execute(sql).unwrap_or_else(|error| panic!("{sql}: {}", reason(&error)));
    }
}

impl Drop for Database<'_> {
    fn drop(&mut self) {
        // That of a server that is stopped goes with its folder. A test may have dropped it by itself.
        if self.cluster.is_running() && !thread::panicking() {
            self.cluster.manage(&format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name));
        }
    }
}
