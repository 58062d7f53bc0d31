//! The tokens of HTTP clients. Only their hashes are stored.

use super::server::TeamServer;
use crate::error::{Error, Result};
use crate::records::transaction::{Authority, Row, SelectExt, Value};
use crate::sensitive::{check_names, check_scope};
use crate::text::{TOKEN_SHARED, token_hash, token_key};
use crate::types::{DAY, Millis, Rights, Scope, TokenRights};

/// Longest label, in characters.
const LABEL_CHARS: usize = 100;
/// A token is valid for at most this many days.
const MAX_DAYS: u32 = 3_660;
/// A token has at most this many projects.
const MAX_PROJECTS: u8 = 32;
/// The server's clock when the transaction began, in Unix milliseconds: all rows of a token have the same times.
const NOW: &str = "(extract(epoch FROM now()) * 1000)::bigint";

/// A token to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewToken<'a> {
    /// The token itself, which is not stored.
    pub token: &'a str,
    /// For whom it is, or what for.
    pub label: String,
    /// Its rights.
    pub rights: TokenRights,
    /// For how many days it is valid; `None` until it is revoked.
    pub days: Option<u32>,
}

/// A token that is stored. It cannot be shown again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// Its number, which is that of its first row.
    pub id: i64,
    /// For whom it is, or what for.
    pub label: String,
    /// Its rights.
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
        let TokenRights { projects, agent, rights } = &new.rights;
        let mut scopes: Vec<Scope> = Vec::new();
        for project in projects.iter().map(Some).chain(projects.is_empty().then_some(None)) {
            let scope = Scope { agent: agent.clone(), project: project.cloned() };
            scope.validate()?;
            check_scope(&scope)?;
            if !scopes.iter().any(|known| known.is(&scope)) {
                scopes.push(scope);
            }
        }
        if scopes.len() > usize::from(MAX_PROJECTS) {
            return Err(Error::invalid("project", format!("a token has at most {MAX_PROJECTS}")));
        }
        let label = new.label.trim();
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
             SELECT ?1, ?2, ?3, ?4, ?5, now, now + ?6 FROM (SELECT {NOW} AS now) AS clock"
        );
        self.server.write(|tx| {
            for (number, scope) in (0..MAX_PROJECTS).zip(&scopes) {
                let values = [
                    Value::Blob(&token_key(&hash, number)),
                    Value::Text(label),
                    scope.agent.as_deref().into(),
                    scope.project.as_deref().into(),
                    Value::Text(rights.as_str()),
                    new.days.map(|days| Millis::from(days) * DAY).into(),
                ];
                tx.execute(&sql, &values)?;
            }
            let stored =
                tx.first(&all(&format!("WHERE {SHARED} = ?1")), &[Value::Blob(&hash[..TOKEN_SHARED])], read)?;
            stored.ok_or_else(|| Error::unreadable("the token is gone"))
        })
    }

    /// All tokens, the oldest first.
    ///
    /// # Errors
    /// Errors of the server.
    pub fn tokens(&self) -> Result<Vec<Token>> {
        self.server.write(|tx| tx.all(&all(""), &[], read))
    }

    /// Removes a token: each node refuses it once it has pulled. False if there is none with this number.
    ///
    /// # Errors
    /// Errors of the server.
    pub fn revoke_token(&self, id: i64) -> Result<bool> {
        let sql = format!("DELETE FROM tokens WHERE {SHARED} = (SELECT {SHARED} FROM tokens WHERE id = ?1)");
        self.server.write(|tx| Ok(tx.execute(&sql, &[id.into()])? > 0))
    }
}

/// The part of the hash that all rows of a token share.
pub(super) const SHARED: &str = "substr(sha256, 1, 31)";

fn all(which: &str) -> String {
    format!(
        "SELECT min(id), min(label), min(agent),
             coalesce(json_agg(project ORDER BY id) FILTER (WHERE project IS NOT NULL), '[]')::text,
             min(rights), min(created_at), min(expires_at), coalesce(min(expires_at) <= {NOW}, false)
         FROM tokens {which} GROUP BY {SHARED} ORDER BY 1"
    )
}

fn read(row: &dyn Row) -> Result<Token> {
    let (projects, rights): (&str, &str) = (row.get(3)?, row.get(4)?);
    Ok(Token {
        id: row.get(0)?,
        label: row.get(1)?,
        rights: TokenRights {
            projects: serde_json::from_str(projects).map_err(|why| Error::unreadable(why.to_string()))?,
            agent: row.get(2)?,
            rights: if rights == Rights::Write.as_str() { Rights::Write } else { Rights::Read },
        },
        created_at: row.get(5)?,
        expires_at: row.get(6)?,
        has_expired: row.get(7)?,
    })
}

#[cfg(all(test, unix))]
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
        let bound = TokenRights { projects: vec!["atlas".into()], agent: Some("scribe".into()), rights: Rights::Read };
        let new = NewToken { token: "the first token", label: " of Ana ".into(), rights: bound, days: Some(90) };
        let first = server.add_token(&new).unwrap();
        assert_eq!((first.label.as_str(), &first.rights, first.has_expired), ("of Ana", &new.rights, false));
        assert_eq!(first.expires_at, Some(first.created_at + 90 * DAY));
        let open = TokenRights { projects: Vec::new(), agent: None, rights: Rights::Write };
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

    /// 40.9.
    #[test]
    fn a_token_for_several_projects_is_one_token() {
        let Some(cluster) = shared("a_token_for_several_projects_is_one_token") else { return };
        let database = cluster.database();
        let server = TeamServer::new(ServerAddress::parse(&database.address()).unwrap());
        server.init().unwrap();
        let add = |token: &str, projects: &[&str], days: Option<u32>| {
            let projects = projects.iter().map(|name| (*name).to_owned()).collect();
            let rights = TokenRights { projects, agent: Some("scribe".into()), rights: Rights::Read };
            server.add_token(&NewToken { token, label: "of Ana".into(), rights, days })
        };
        let names: Vec<String> = ["hermes", "atlas", "Caf\u{e9}\n2"].map(String::from).to_vec();
        let several =
            add("several", &["hermes", "atlas", "hermes", "Caf\u{e9}\n2", "Cafe\u{301}\n2"], Some(9)).unwrap();
        assert_eq!(
            (&several.rights.projects, several.rights.rights),
            (&names, Rights::Read),
            "each once, in this order"
        );
        assert_eq!(several.expires_at, Some(several.created_at + 9 * DAY));
        let one = add("one", &["atlas"], None).unwrap();
        assert_eq!(server.tokens().unwrap(), [several.clone(), one.clone()]);
        assert_eq!(server.status().unwrap().tokens, 2);
        // What a memorist reads that knows of one project alone.
        let mut client = database.client();
        let sql = "SELECT project FROM memorist.tokens WHERE sha256 = $1";
        let found = client.query(sql, &[&&token_hash("several")[..]]).unwrap();
        assert_eq!(found.iter().map(|row| row.get::<_, &str>(0)).collect::<Vec<_>>(), ["hermes"]);
        assert!(server.revoke_token(several.id + 1).unwrap(), "by the number of any row");
        assert_eq!(server.tokens().unwrap(), [one]);
        let many: Vec<String> = (0..33).map(|number| format!("project {number}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(add("many", &many[..32], None).unwrap().rights.projects.len(), 32);
        for projects in [&many[..], &["atlas", "*"], &["atlas", " "]] {
            let said = add("too many", projects, None).unwrap_err().to_string();
            assert!(said.starts_with("project: "), "{said}");
        }
        assert_eq!(server.status().unwrap().tokens, 2, "nothing is left of a token that was refused");
    }
}
