//! The programs that agents run in, here called clients: where their settings are, how a server is registered there, and
//! what their hooks say and expect. Knows nothing of a store.
//!
//! | module | job |
//! |---|---|
//! | [`client`] | which clients there are, and their names |
//! | [`hooks`] | what their hooks say, and what they expect |
//! | [`recency`] | a conversation, cut before it is compacted |

pub mod client;
pub mod hooks;
pub mod recency;

pub use client::Client;
