//! The server of a team store, for those who look after it: [`TeamServer`]. No memory is read or written here.
//!
//! | file | job |
//! |---|---|
//! | `server.rs` | [`TeamServer`], and the making of its tables |
//! | `status.rs` | how the server stands |
//! | `tokens.rs` | the tokens of HTTP clients: made, listed, revoked |

mod server;
mod status;
mod tokens;

pub use crate::records::postgres::migrate::Migrated;
pub use server::TeamServer;
pub use status::{Incarnation, NodeSeen, ServerStatus, Standbys};
pub use tokens::{NewToken, Token};
