//! [`ServerAddress`]: where the PostgreSQL server of a team is, how it is trusted, and its password, which nobody sees.
//! `postgres.rs` reads one, and says how to connect.

use std::fmt;
#[cfg(feature = "postgres")]
use std::path::PathBuf;
#[cfg(feature = "postgres")]
use std::time::Duration;

use sha2::{Digest, Sha256};
#[cfg(feature = "postgres")]
use tokio_postgres::Config;

#[cfg(not(feature = "postgres"))]
use crate::error::{Error, Result};
use crate::text;

#[cfg(feature = "postgres")]
mod postgres;

/// A server that cannot be reached is given up after this long.
#[cfg(feature = "postgres")]
pub(crate) const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// Bytes of the name of a node's folder.
const NAME_BYTES: usize = 8;

/// The address of a team store: `postgres://USER@HOST[:PORT]/DATABASE[?sslmode=…&sslrootcert=…]`.
///
/// `sslmode` is `verify-full` (the certificate must be trusted, and of this host) unless all hosts are of this machine, where
/// it is `disable`. There is nothing in between: encryption to a server that anybody may pretend to be protects nothing.
/// `sslrootcert` names a file of certificates in PEM form; they are trusted, and those of the system no more.
///
/// The password is in the address, in `PGPASSWORD`, or in the file that `PGPASSFILE` names (`~/.pgpass`), which others must not
/// be able to read. It is looked up for each connection. `Display` and `Debug` leave it out.
///
/// A build without the feature `postgres` has none: it refuses every address.
#[derive(Clone)]
#[cfg_attr(not(feature = "postgres"), derive(PartialEq))]
pub struct ServerAddress {
    #[cfg(feature = "postgres")]
    config: Config,
    #[cfg(feature = "postgres")]
    tls: Option<TrustStore>,
    /// Short, and without a password.
    shown: String,
    /// All of it but the password.
    without_password: String,
    has_password: bool,
}

/// Which certificates are trusted.
#[cfg(feature = "postgres")]
#[derive(Debug, Clone, PartialEq, Eq)]
enum TrustStore {
    System,
    File(PathBuf),
}

impl ServerAddress {
    /// Whether a store is named by an address, not by a folder.
    pub fn is_one(store: &str) -> bool {
        store.starts_with("postgres://") || store.starts_with("postgresql://")
    }

    /// Refuses an address.
    ///
    /// # Errors
    /// [`Error::Invalid`] says which feature is missing.
    #[cfg(not(feature = "postgres"))]
    pub fn parse(_address: &str) -> Result<Self> {
        Err(no_client())
    }

    /// All of the address but its password: another process that has the password from elsewhere can use it.
    pub fn without_password(&self) -> &str {
        &self.without_password
    }

    /// Whether the password is in the address itself, where others of the machine may see it.
    pub fn has_password(&self) -> bool {
        self.has_password
    }

    /// The name of the folder in which a node keeps its copy: the same for the same address, whatever the password.
    pub fn folder_name(&self) -> String {
        short_hash(&self.shown)
    }
}

/// The error of a build that has no client of PostgreSQL.
#[cfg(not(feature = "postgres"))]
pub(crate) fn no_client() -> Error {
    Error::invalid(
        "store",
        "it is a team store, and this program is built without the feature `postgres`, which these need",
    )
}

/// A name that stands for a text.
fn short_hash(text: &str) -> String {
    text::to_hex(&Sha256::digest(text)[..NAME_BYTES])
}

impl fmt::Display for ServerAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl fmt::Debug for ServerAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ServerAddress").field(&self.shown).finish()
    }
}
