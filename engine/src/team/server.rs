//! [`TeamServer`], and the making of its tables.

use std::time::Duration;

use crate::address::ServerAddress;
use crate::error::{Error, Result};
use crate::records::postgres::connection::{Client, ConnectionPool};
use crate::records::postgres::errors::explained;
use crate::records::postgres::migrate::{self, Migrated};
use crate::records::postgres::schema::SCHEMA;
use crate::records::postgres::transaction::Server;

/// A large table is rewritten within this time.
const REWRITE_TIMEOUT: Duration = Duration::from_secs(60 * 60);

/// The server of a team store. Nothing is connected before it is needed.
pub struct TeamServer {
    pub(super) server: Server,
}

impl TeamServer {
    /// The server at this address.
    pub fn new(address: ServerAddress) -> Self {
        // No node writes here.
        TeamServer { server: Server::new(ConnectionPool::new(address), String::new()) }
    }

    fn address(&self) -> &ServerAddress {
        self.server.pool().address()
    }

    /// Makes a team store in the database, unless it has one: that is left as it is.
    ///
    /// # Errors
    /// [`Error::Invalid`] where the database cannot hold one, [`Error::Server`] where it cannot be reached.
    pub fn init(&self) -> Result<Migrated> {
        match self.with_client(migrate::found)? {
            Some(found) => Ok(found),
            None => self.with_client(migrate::migrate),
        }
    }

    /// Brings the tables of the team store up to date.
    ///
    /// # Errors
    /// [`Error::Server`] where there is no team store, or it cannot be reached; [`Error::Invalid`] where it is of a newer
    /// version.
    pub fn migrate(&self) -> Result<Migrated> {
        match self.with_client(migrate::found)? {
            Some(_) => self.with_client(migrate::migrate),
            None => {
                let why = "its database has no team store; make one with `memorist team init`".into();
                Err(Error::Server { address: self.address().to_string(), why })
            }
        }
    }

    /// Rewrites the tables that have texts, so that no file of the server has what was purged. Each is locked meanwhile: nobody saves.
    ///
    /// # Errors
    /// [`Error::Server`].
    pub fn rewrite(&self) -> Result<()> {
        self.with_client(|client| {
            client.time_out_after(REWRITE_TIMEOUT);
            for table in
                ["records", "versions", "trash", "trash_versions", "embeddings", "node_sources", "node_files", "meta"]
            {
                client.batch_execute(&format!("VACUUM (FULL, ANALYZE) {SCHEMA}.{table}"))?;
            }
            Ok(())
        })
    }

    /// Runs `work` on a connection, which is closed if it fails.
    pub(super) fn with_client<T>(&self, work: impl FnOnce(&mut Client) -> Result<T>) -> Result<T> {
        let done = self.server.pool().lend().and_then(|mut client| {
            let done = work(&mut client)?;
            client.give_back();
            Ok(done)
        });
        explained(self.address(), done)
    }
}
