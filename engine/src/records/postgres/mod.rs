//! PostgreSQL as an [`Authority`](super::transaction::Authority): the records of a team, on a server.
//!
//! Any server of version 14 or newer will do, also a managed one: there is no extension, no superuser, no replication slot and
//! no `LISTEN`, and statements are unnamed, so that a pooler in transaction mode may stand between.
//!
//! | file | job |
//! |---|---|
//! | `errors.rs` | its errors as those of the engine |
//! | `tenants.rs`, `rights.sql` | row-level security: what a role may see and do |
//! | `quoted.rs` | texts and names as SQL has them |
//! | `schema.rs` | the tables, and how they came to be |
//! | `numbers.sql` | no number of a lost memory is given again |
//! | `format.rs` | whether a node knows them |
//! | `migrate.rs` | makes them, and brings them up to date |
//! | `connection.rs` | a pool of connections |
//! | `statement.rs` | a statement of a rule as PostgreSQL has it |
//! | `transaction.rs` | transactions: serializable, retried, their outcome known |

pub(crate) mod connection;
pub(crate) mod errors;
pub(crate) mod format;
pub(crate) mod migrate;
pub(crate) mod quoted;
pub(crate) mod schema;
pub(crate) mod statement;
pub(crate) mod tenants;
#[cfg(all(test, unix))]
pub(crate) mod testing;
pub(crate) mod transaction;
