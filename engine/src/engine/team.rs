//! What a node of a team store knows of its server.

use super::Engine;
use crate::error::Result;
#[cfg(feature = "postgres")]
use crate::progress::Progress;
#[cfg(feature = "postgres")]
use crate::records::{Compared, NodeState};
use crate::text::token_hash;
use crate::types::TokenRights;

impl Engine {
    /// How this node is doing; `None` where the records are in the store's folder.
    #[cfg(feature = "postgres")]
    pub fn node(&self) -> Option<NodeState> {
        self.store.records.node()
    }

    /// Compares the copy of this node with the server, and makes it the same.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid) if this is no node; [`Error::Server`](crate::Error::Server) if the server
    /// cannot be asked; [`Error::Cancelled`](crate::Error::Cancelled): what was compared until then stays.
    #[cfg(feature = "postgres")]
    pub fn compare_with_server(&self, progress: &dyn Progress) -> Result<Compared> {
        self.store.records.compare(progress)
    }

    /// What a token permits that a client sends; `None` if the team store has none such, or it has ended. A revoked one is
    /// known as such after the next pull.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn token_rights(&self, token: &str) -> Result<Option<TokenRights>> {
        self.store.records.token_rights(&token_hash(token), self.store.now())
    }
}
