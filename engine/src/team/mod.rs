//! The server of a team store, for those who look after it: [`TeamServer`]. No memory is read or written here.
//!
//! | file | job |
//! |---|---|
//! | `server.rs` | [`TeamServer`], and the making of its tables |
//! | `status.rs` | how the server stands |
//! | `members.rs` | roles of the database that see some projects alone |
//! | `tokens.rs` | the tokens of HTTP clients: made, listed, revoked |

mod members;
mod server;
mod status;
mod tokens;

pub use crate::records::postgres::migrate::Migrated;
pub use members::Member;
pub use server::TeamServer;
pub use status::{Incarnation, NodeSeen, ServerStatus, Standbys};
pub use tokens::{NewToken, Token};
