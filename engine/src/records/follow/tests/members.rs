//! A team with a member of one project, for the tests of roles.

use postgres_testing::Database as TeamDatabase;

use super::*;
use crate::records::postgres::connection::Client;
use crate::team::{Member, TeamServer};

/// A team of two projects. `member` is a node of a role that belongs to `atlas` alone, `owner` one of the owner of the tables.
pub(super) struct Roles {
    pub(super) team: TeamDatabase<'static>,
    pub(super) owner: Node,
    pub(super) member: Node,
    pub(super) role: String,
    /// A memory of `hermes`, one of `atlas`, and one of no project.
    pub(super) hidden: RecordId,
    pub(super) shown: RecordId,
    pub(super) global: RecordId,
}

/// A new memory of a project.
pub(super) fn of(project: &str, text: &str) -> NewRecord {
    NewRecord { scope: Scope { agent: None, project: Some(project.into()) }, ..new(text) }
}

/// Makes a role that may connect, and lets it in. Returns its address.
pub(super) fn admit(team: &TeamDatabase<'_>, role: &str, projects: &[&str]) -> String {
    let database = team.name();
    team.execute(&format!(
        "CREATE ROLE {role} LOGIN PASSWORD 'changeme'; GRANT CONNECT ON DATABASE {database} TO {role}"
    ));
    let server = TeamServer::new(ServerAddress::parse(&team.address()).unwrap());
    let projects = projects.iter().map(|project| (*project).to_owned()).collect();
    server.admit(&Member { role: role.into(), projects }).unwrap();
    let host = team.address().split_once('@').unwrap().1.to_owned();
    format!("postgres://{role}:changeme@{host}")
}

impl Roles {
    pub(super) fn new(test: &str) -> Option<Self> {
        let team = team(test)?;
        let role = format!("member_{}", team.name());
        let address = admit(&team, &role, &["atlas"]);
        let (owner, member) = (Node::of(&team.address()), Node::of(&address));
        let add = |new: NewRecord| owner.add(&new, NOW).unwrap().id;
        let (hidden, shown) = (add(of("hermes", "hidden")), add(of("atlas", "shown")));
        let global = add(new("of everybody"));
        let own = owner.model(&model(2)).unwrap();
        let texts = owner.pending(own, 9, NOW).unwrap();
        let vectors: Vec<_> = texts.iter().map(|text| (text.hash, vec![1.0, 0.0])).collect();
        owner.store_embeddings(own, &vectors).unwrap();
        owner.keep_up().unwrap();
        member.follow().unwrap();
        Some(Roles { team, owner, member, role, hidden, shown, global })
    }

    /// A connection of the member's role, made with its password and without memorist.
    pub(super) fn client(&self) -> ConnectionPool {
        let host = self.team.address().split_once('@').unwrap().1.to_owned();
        ConnectionPool::new(ServerAddress::parse(&format!("postgres://{}:changeme@{host}", self.role)).unwrap())
    }

    /// Runs statements as the member. `{hidden}`, `{shown}` and `{global}` are the memories, `{node}` is the owner's node.
    pub(super) fn attempt(&self, sql: &str) -> crate::error::Result<()> {
        let pool = self.client();
        self.run(&mut pool.lend().unwrap(), sql)
    }

    pub(super) fn run(&self, client: &mut Client, sql: &str) -> crate::error::Result<()> {
        let numbers = [("{hidden}", self.hidden), ("{shown}", self.shown), ("{global}", self.global)];
        let sql = numbers.iter().fold(sql.to_owned(), |sql, (name, id)| sql.replace(name, &id.get().to_string()));
        client.batch_execute(&sql.replace("{node}", &self.owner.node().unwrap().node))
    }

    pub(super) fn assert_refused(&self, sql: &str) {
        assert!(self.attempt(sql).is_err(), "a member may: {sql}");
    }

    /// A number, as the owner of the tables sees it.
    pub(super) fn number(&self, sql: &str) -> i64 {
        self.team.client().query_one(sql, &[]).unwrap().get(0)
    }
}
