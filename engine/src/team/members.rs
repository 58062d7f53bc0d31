//! Roles of the database that see some projects alone.

use super::TeamServer;
use crate::error::{Error, Result};
use crate::records::postgres::schema::SCHEMA;
use crate::records::postgres::{format, migrate, tenants};
use crate::types::{Reach, Scope};

/// Tables of this format know what a member may do.
const RIGHTS_FORMAT: i64 = 2;

/// A role, and the projects that it belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// The name of the role in the database.
    pub role: String,
    /// Its projects; `*` is all.
    pub projects: Vec<String>,
}

impl TeamServer {
    /// Lets a role of the database use the team store: it sees these projects and what is global, and nothing else, whatever it asks.
    /// The administrator of the database makes the role itself: `CREATE ROLE name LOGIN`.
    ///
    /// # Errors
    /// [`Error::Invalid`] if a name is no project's, or no role's of its own; [`Error::Server`].
    pub fn admit(&self, member: &Member) -> Result<()> {
        check(&member.role)?;
        if member.projects.is_empty() {
            return Err(Error::invalid("project", "name the projects that it belongs to, or * for all"));
        }
        for project in member.projects.iter().filter(|project| *project != Reach::EVERY) {
            Scope { project: Some(project.clone()), agent: None }.validate()?;
        }
        self.with_client(|client| {
            if migrate::found(client)?.is_some_and(|found| found.format < RIGHTS_FORMAT) {
                let why = "the tables of the team store are of an older memorist; run `memorist team migrate` first";
                return Err(Error::Held(why.into()));
            }
            format::check_server(client)?;
            client.batch_execute(&tenants::admit(&member.role, &member.projects))
        })
    }

    /// Ends that. What the role has written stays.
    ///
    /// # Errors
    /// [`Error::Server`].
    pub fn expel(&self, role: &str) -> Result<()> {
        self.with_client(|client| {
            format::check_server(client)?;
            client.batch_execute(&tenants::expel(role))
        })
    }

    /// The roles that see some projects alone.
    ///
    /// # Errors
    /// [`Error::Server`].
    pub fn members(&self) -> Result<Vec<Member>> {
        let sql = format!(
            "SELECT role, array_agg(project ORDER BY project) FROM {SCHEMA}.members GROUP BY role ORDER BY role"
        );
        self.with_client(|client| {
            let rows = client.query_typed(&sql, &[])?;
            rows.iter().map(|row| Ok(Member { role: row.try_get(0)?, projects: row.try_get(1)? })).collect()
        })
    }
}

/// Refuses names that are no role's of its own: to PostgreSQL, `public` is everybody, in quotes, too.
fn check(role: &str) -> Result<()> {
    let name = role.trim().to_ascii_lowercase();
    let why = match name.as_str() {
        "" => "a role has a name".to_owned(),
        "public" => "public is every role of the server, and would let all of them in; name one role".to_owned(),
        "none" => "none is a word of PostgreSQL, and no role; name another".to_owned(),
        _ if name.starts_with("pg_") => {
            format!("{role} is a role of PostgreSQL itself; make one: CREATE ROLE name LOGIN")
        }
        _ => return Ok(()),
    };
    Err(Error::invalid("role", why))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::ServerAddress;

    /// Item 16: nobody lets everybody in by a name.
    #[test]
    fn item_16_a_role_that_is_everybody_is_no_member() {
        let server = TeamServer::new(ServerAddress::parse("postgres://nobody@127.0.0.1:1/none").unwrap());
        for role in ["public", "PUBLIC", "Public", " public ", "none", "pg_monitor", "", " "] {
            let member = Member { role: role.to_owned(), projects: vec!["atlas".to_owned()] };
            let refused = server.admit(&member).unwrap_err();
            assert!(matches!(refused, Error::Invalid { field: "role", .. }), "{role}: {refused}");
        }
        for role in ["ana", "public_relations", "nonesuch", "pgadmin"] {
            assert!(check(role).is_ok(), "{role}");
        }
    }
}
