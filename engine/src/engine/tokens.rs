//! The tokens of a team store's clients.

use super::Engine;
use crate::error::Result;
use crate::text::token_hash;
use crate::types::TokenRights;

impl Engine {
    /// What a token permits that a client sends; `None` if the team store has none such, or it has ended. A revoked one is
    /// known as such after the next pull.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn token_rights(&self, token: &str) -> Result<Option<TokenRights>> {
        self.store.records.token_rights(&token_hash(token), self.store.now())
    }
}
