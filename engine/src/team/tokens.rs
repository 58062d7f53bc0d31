//! The tokens of HTTP clients. Only their hashes are stored.

use super::server::TeamServer;
use crate::error::{Error, Result};
use crate::records::transaction::{Authority, Row, SelectExt, Value};
use crate::sensitive::{check_names, check_scope};
use crate::text::token_hash;
use crate::types::{DAY, Millis, Rights, Scope, TokenRights};

/// Longest label, in characters.
const LABEL_CHARS: usize = 100;
/// A token is valid for at most this many days.
const MAX_DAYS: u32 = 3_660;
/// The server's clock, in Unix milliseconds.
const NOW: &str = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

/// A token to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewToken<'a> {
    /// The token itself, which is not stored.
    pub token: &'a str,
    /// For whom it is, or what for.
    pub label: String,
    /// What it permits.
    pub rights: TokenRights,
    /// For how many days it is valid; `None` until it is revoked.
    pub days: Option<u32>,
}

/// A token that is stored. It cannot be shown again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// Its number.
    pub id: i64,
    /// For whom it is, or what for.
    pub label: String,
    /// What it permits.
    pub rights: TokenRights,
    /// When it was made.
    pub created_at: Millis,
    /// When it ends, if it does.
    pub expires_at: Option<Millis>,
    /// Whether it has ended.
    pub has_expired: bool,
}

impl TeamServer {
    /// Stores a token. Nodes know it as soon as they have pulled.
    ///
    /// # Errors
    /// [`Error::Invalid`] names what is out of bounds; those of the server.
    pub fn add_token(&self, new: &NewToken<'_>) -> Result<Token> {
        new.rights.scope.validate()?;
        let label = new.label.trim();
        check_scope(&new.rights.scope)?;
        check_names([("label", Some(label))])?;
        if label.chars().count() > LABEL_CHARS || label.chars().any(char::is_control) {
            let why = format!("give up to {LABEL_CHARS} characters without control characters");
            return Err(Error::invalid("label", why));
        }
        if new.days.is_some_and(|days| !(1..=MAX_DAYS).contains(&days)) {
            return Err(Error::invalid("days", format!("give 1 to {MAX_DAYS}, or none for a token without an end")));
        }
        let hash = token_hash(new.token);
        let sql = format!(
            "INSERT INTO tokens (sha256, label, agent, project, rights, created_at, expires_at)
             SELECT ?1, ?2, ?3, ?4, ?5, now, now + ?6 FROM (SELECT {NOW} AS now) AS clock RETURNING id"
        );
        let TokenRights { scope, rights } = &new.rights;
        self.server.write(|tx| {
            let values = [
                Value::Blob(&hash),
                Value::Text(label),
                scope.agent.as_deref().into(),
                scope.project.as_deref().into(),
                Value::Text(rights.as_str()),
                new.days.map(|days| Millis::from(days) * DAY).into(),
            ];
            let id = tx.insert(&sql, &values)?;
            tx.first(&all("WHERE id = ?1"), &[id.into()], read)?.ok_or_else(|| Error::unreadable("the token is gone"))
        })
    }

    /// All tokens, the oldest first.
    ///
    /// # Errors
    /// Those of the server.
    pub fn tokens(&self) -> Result<Vec<Token>> {
        self.server.write(|tx| tx.all(&all("ORDER BY id"), &[], read))
    }

    /// Removes a token: each node refuses it once it has pulled. False if there is none with this number.
    ///
    /// # Errors
    /// Those of the server.
    pub fn revoke_token(&self, id: i64) -> Result<bool> {
        self.server.write(|tx| Ok(tx.execute("DELETE FROM tokens WHERE id = ?1", &[id.into()])? > 0))
    }
}

fn all(which: &str) -> String {
    format!(
        "SELECT id, label, agent, project, rights, created_at, expires_at, coalesce(expires_at <= {NOW}, false)
         FROM tokens {which}"
    )
}

fn read(row: &dyn Row) -> Result<Token> {
    let rights: String = row.get(4)?;
    Ok(Token {
        id: row.get(0)?,
        label: row.get(1)?,
        rights: TokenRights {
            scope: Scope { agent: row.get(2)?, project: row.get(3)? },
            rights: if rights == Rights::Write.as_str() { Rights::Write } else { Rights::Read },
        },
        created_at: row.get(5)?,
        expires_at: row.get(6)?,
        has_expired: row.get(7)?,
    })
}

#[cfg(test)]
mod tests {
    use postgres_testing::shared;

    use super::*;
    use crate::address::ServerAddress;

    #[test]
    fn a_token_is_stored_as_its_hash_listed_and_revoked() {
        let Some(cluster) = shared("a_token_is_stored_as_its_hash_listed_and_revoked") else { return };
        let database = cluster.database();
        let server = TeamServer::new(ServerAddress::parse(&database.address()).unwrap());
        server.init().unwrap();
        let scope = Scope { project: Some("atlas".into()), agent: Some("scribe".into()) };
        let bound = TokenRights { scope, rights: Rights::Read };
        let new = NewToken { token: "the first token", label: " of Ana ".into(), rights: bound, days: Some(90) };
        let first = server.add_token(&new).unwrap();
        assert_eq!((first.label.as_str(), &first.rights, first.has_expired), ("of Ana", &new.rights, false));
        assert_eq!(first.expires_at, Some(first.created_at + 90 * DAY));
        let open = TokenRights { scope: Scope::default(), rights: Rights::Write };
        let other = NewToken { token: "the other token", label: String::new(), rights: open, days: None };
        let other = server.add_token(&other).unwrap();
        assert_eq!(server.tokens().unwrap(), [first.clone(), other.clone()]);
        let mut client = database.client();
        let stored = client.query_one("SELECT sha256 FROM memorist.tokens ORDER BY id LIMIT 1", &[]).unwrap();
        assert_eq!(stored.get::<_, &[u8]>(0), token_hash("the first token"));
        let changes = "SELECT count(*) FROM memorist.changes WHERE number = 16";
        assert_eq!(client.query_one(changes, &[]).unwrap().get::<_, i64>(0), 2, "nodes follow them");
        assert!(server.revoke_token(first.id).unwrap() && !server.revoke_token(first.id).unwrap());
        client.batch_execute("UPDATE memorist.tokens SET expires_at = 1").unwrap();
        let expired = Token { expires_at: Some(1), has_expired: true, ..other };
        assert_eq!(server.tokens().unwrap(), [expired]);
        for (label, days, field) in [("a\u{1b}b", None, "label"), ("", Some(0), "days"), ("", Some(99_999), "days")] {
            let said =
                server.add_token(&NewToken { label: label.into(), days, ..new.clone() }).unwrap_err().to_string();
            assert!(said.contains(field), "{said}");
        }
    }
}
