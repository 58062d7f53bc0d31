//! [`Pool`]: connections to the server, opened when they are needed.

use std::ops::{Deref, DerefMut};

use parking_lot::Mutex;
use postgres::{Client, NoTls};

use crate::address::ServerAddress;
use crate::error::Result;

/// Connections that are kept while they are idle.
const IDLE: usize = 4;

/// Connections to one server, for any number of threads.
pub(crate) struct Pool {
    address: ServerAddress,
    idle: Mutex<Vec<Client>>,
}

impl Pool {
    pub(crate) fn new(address: ServerAddress) -> Self {
        Pool { address, idle: Mutex::default() }
    }

    pub(crate) fn address(&self) -> &ServerAddress {
        &self.address
    }

    /// A connection. One that was idle may have been lost meanwhile.
    pub(crate) fn lend(&self) -> Result<Lent<'_>> {
        let idle = {
            let mut idle = self.idle.lock();
            idle.retain(|client| !client.is_closed());
            idle.pop()
        };
        let was_idle = idle.is_some();
        let client = idle.map_or_else(|| self.connect(), Ok)?;
        Ok(Lent { client: Some(client), pool: self, was_idle, is_clean: false })
    }

    /// Closes what is idle: the server is another one by now, or was restarted.
    pub(crate) fn forget_idle(&self) {
        self.idle.lock().clear();
    }

    fn connect(&self) -> Result<Client> {
        let config = self.address.config();
        Ok(match self.address.encryption()? {
            Some(tls) => config.connect(tls)?,
            None => config.connect(NoTls)?,
        })
    }
}

/// A connection on loan. It goes back when it is said to be clean: in no transaction.
pub(crate) struct Lent<'a> {
    client: Option<Client>,
    pool: &'a Pool,
    /// Whether it waited in the pool, and so may have been lost there.
    pub(crate) was_idle: bool,
    is_clean: bool,
}

impl Lent<'_> {
    /// Lets it go back to the pool.
    pub(crate) fn give_back(mut self) {
        self.is_clean = true;
    }
}

impl Deref for Lent<'_> {
    type Target = Client;

    fn deref(&self) -> &Client {
        self.client.as_ref().expect("the connection is taken only by drop")
    }
}

impl DerefMut for Lent<'_> {
    fn deref_mut(&mut self) -> &mut Client {
        self.client.as_mut().expect("the connection is taken only by drop")
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        let Some(client) = self.client.take().filter(|client| self.is_clean && !client.is_closed()) else { return };
        let mut idle = self.pool.idle.lock();
        if idle.len() < IDLE {
            idle.push(client);
        }
    }
}
