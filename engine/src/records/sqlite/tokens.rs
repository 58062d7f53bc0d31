//! The tokens of a team store's clients, as far as this node knows them.

use rusqlite::OptionalExtension;

use super::store::Database;
use crate::error::Result;
use crate::text::Hash;
use crate::types::{Millis, Rights, Scope, TokenRights};

impl Database {
    /// What the token with this hash permits; `None` if there is none, or it has ended. Does not ask the server: whoever
    /// sends a wrong token makes no work there.
    pub fn token_rights(&self, hash: &Hash, now: Millis) -> Result<Option<TokenRights>> {
        let reader = self.reader()?;
        let mut statement = reader.prepare_cached(
            "SELECT project, agent, rights = 'write' FROM tokens
             WHERE sha256 = ?1 AND (expires_at IS NULL OR expires_at > ?2)",
        )?;
        let found = statement.query_row((hash, now), |row| {
            let scope = Scope { project: row.get(0)?, agent: row.get(1)? };
            Ok(TokenRights { scope, rights: if row.get(2)? { Rights::Write } else { Rights::Read } })
        });
        Ok(found.optional()?)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{NOW, Store};
    use super::*;
    use crate::text::{to_hex, token_hash};

    #[test]
    fn a_token_permits_what_its_row_says_until_it_ends() {
        let store = Store::new();
        let hash = |token: &str| to_hex(&token_hash(token));
        store.sql(&format!(
            "INSERT INTO tokens (id, sha256, label, agent, project, rights, created_at, expires_at) VALUES
                 (1, x'{}', '', 'scribe', 'atlas', 'read', 0, {}), (2, x'{}', '', NULL, NULL, 'write', 0, NULL)",
            hash("bound"),
            NOW + 10,
            hash("open"),
        ));
        let rights = |token: &str, now| store.token_rights(&token_hash(token), now).unwrap();
        let scope = Scope { project: Some("atlas".into()), agent: Some("scribe".into()) };
        assert_eq!(rights("bound", NOW), Some(TokenRights { scope, rights: Rights::Read }));
        assert_eq!(rights("bound", NOW + 10), None);
        let open = TokenRights { scope: Scope::default(), rights: Rights::Write };
        assert_eq!(rights("open", NOW + 10), Some(open));
        assert_eq!((rights("Open", NOW), rights("", NOW)), (None, None));
    }
}
