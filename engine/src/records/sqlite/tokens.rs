//! The tokens of a team store's clients, as far as this node knows them.

use super::store::Database;
use crate::error::Result;
use crate::text::{Hash, TOKEN_SHARED};
use crate::types::{Millis, Rights, TokenRights};

impl Database {
    /// The rights of the token with this hash; `None` if there is none, or it has expired. Does not ask the server: a
    /// wrong token makes no work there.
    pub fn token_rights(&self, hash: &Hash, now: Millis) -> Result<Option<TokenRights>> {
        let [mut least, mut greatest] = [*hash; 2];
        (least[TOKEN_SHARED], greatest[TOKEN_SHARED]) = (0, u8::MAX);
        let reader = self.reader()?;
        let mut statement = reader.prepare_cached(
            "SELECT sha256 = ?1, project, agent, rights = 'write' FROM tokens
             WHERE sha256 BETWEEN ?2 AND ?3 AND (expires_at IS NULL OR expires_at > ?4) ORDER BY sha256 <> ?1, id",
        )?;
        let mut rows = statement.query((hash, least, greatest, now))?;
        // Without its first row a token is invalid, whatever other rows remain.
        let Some(first) = rows.next()?.filter(|row| row.get(0) == Ok(true)) else { return Ok(None) };
        let mut projects: Vec<String> = first.get::<_, Option<String>>(1)?.into_iter().collect();
        let (agent, rights) = (first.get(2)?, if first.get(3)? { Rights::Write } else { Rights::Read });
        while let Some(row) = rows.next()? {
            projects.push(row.get(1)?);
        }
        Ok(Some(TokenRights { projects, agent, rights }))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{NOW, TestStore};
    use super::*;
    use crate::text::{to_hex, token_hash, token_key};

    #[test]
    fn a_token_permits_what_its_row_says_until_it_ends() {
        let store = TestStore::new();
        let hash = |token: &str| to_hex(&token_hash(token));
        store.sql(&format!(
            "INSERT INTO tokens (id, sha256, label, agent, project, rights, created_at, expires_at) VALUES
                 (1, x'{}', '', 'scribe', 'atlas', 'read', 0, {}), (2, x'{}', '', NULL, NULL, 'write', 0, NULL)",
            hash("bound"),
            NOW + 10,
            hash("open"),
        ));
        let rights = |token: &str, now| store.token_rights(&token_hash(token), now).unwrap();
        let bound = TokenRights { projects: vec!["atlas".into()], agent: Some("scribe".into()), rights: Rights::Read };
        assert_eq!(rights("bound", NOW), Some(bound));
        assert_eq!(rights("bound", NOW + 10), None);
        let open = TokenRights { projects: Vec::new(), agent: None, rights: Rights::Write };
        assert_eq!(rights("open", NOW + 10), Some(open));
        assert_eq!((rights("Open", NOW), rights("", NOW)), (None, None));
    }

    /// 40.9.
    #[test]
    fn a_token_has_its_projects_while_its_first_row_exists() {
        let store = TestStore::new();
        let mut hash = token_hash("several");
        // The last byte of the keys may begin at 0 again.
        for last in [0, 1, 254, 255] {
            hash[TOKEN_SHARED] = last;
            for (number, project) in (0..).zip(["hermes", "atlas", "borealis"]) {
                store.sql(&format!(
                    "INSERT INTO tokens (sha256, label, project, rights, created_at) VALUES (x'{}', '', '{project}', 'read', 0)",
                    to_hex(&token_key(&hash, number))
                ));
            }
            let projects = || store.token_rights(&hash, NOW).unwrap().map(|rights| rights.projects.join(" "));
            assert_eq!(projects().as_deref(), Some("hermes atlas borealis"), "{last}");
            store.sql("DELETE FROM tokens WHERE project = 'atlas'");
            assert_eq!(projects().as_deref(), Some("hermes borealis"), "{last}");
            // As an older memorist revokes it.
            store.sql("DELETE FROM tokens WHERE project = 'hermes'");
            assert_eq!(projects(), None, "{last}");
            store.sql("DELETE FROM tokens");
        }
    }
}
