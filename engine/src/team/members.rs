//! Roles of the database that see some projects alone.

use super::TeamServer;
use crate::error::{Error, Result};
use crate::records::postgres::schema::SCHEMA;
use crate::records::postgres::tenants;
use crate::types::{Reach, Scope};

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
    /// The role itself is made by whoever looks after the database: `CREATE ROLE name LOGIN`.
    ///
    /// # Errors
    /// [`Error::Invalid`] if a name is no project's; [`Error::Server`].
    pub fn admit(&self, member: &Member) -> Result<()> {
        if member.projects.is_empty() {
            return Err(Error::invalid("project", "name the projects that it belongs to, or * for all"));
        }
        for project in member.projects.iter().filter(|project| *project != Reach::EVERY) {
            Scope { project: Some(project.clone()), agent: None }.validate()?;
        }
        self.with_client(|client| client.batch_execute(&tenants::admit(&member.role, &member.projects)))
    }

    /// Ends that. What the role has written stays.
    ///
    /// # Errors
    /// [`Error::Server`].
    pub fn expel(&self, role: &str) -> Result<()> {
        self.with_client(|client| client.batch_execute(&tenants::expel(role)))
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
