//! The programs that agents run in, here called clients: where their settings are, how a server is registered there, and
//! what their hooks say and expect. Knows nothing of a store.
//!
//! | row | module | job |
//! |---|---|---|
//! | 0 | [`client`] | which clients there are, and their names |
//! | 0 | [`mod@format`] | their settings files, changed in one place with everything else kept |
//! | 1 | [`hooks`] | what their hooks say, and what they expect |
//! | 1 | [`recency`] | a conversation, cut before it is compacted |
//! | 1 | [`place`] | where they keep their files on this platform |
//! | 2 | [`program`] | the command that they run |
//! | 3 | [`profile`] | what is known of a client, as data |
//! | 4 | [`clients`] | the clients, one per file |
//! | 5 | [`connect`] | registers with them, and undoes it |

pub mod client;
pub mod clients;
pub mod connect;
pub mod format;
pub mod hooks;
pub mod place;
pub mod profile;
pub mod program;
pub mod recency;

pub use client::Client;
