//! Row-level security: a role sees its projects, whatever it asks.

use super::members::{Roles, admit, of};
use super::*;
use crate::records::rules::files;
use crate::team::{Member, NewToken, TeamServer};
use crate::text::{token_hash, token_key};
use crate::types::{NewSource, Rights, SourceKind, TokenRights};

#[test]
fn a_role_sees_its_projects_and_what_is_global_whatever_it_asks() {
    let Some(team) = team("a_role_sees_its_projects") else { return };
    let server = TeamServer::new(ServerAddress::parse(&team.address()).unwrap());
    let role = format!("tenant_{}", team.name());
    team.execute(&format!(
        "CREATE ROLE {role} LOGIN PASSWORD 'changeme'; GRANT CONNECT ON DATABASE {} TO {role}",
        team.name()
    ));
    let member = Member { role: role.clone(), projects: vec!["atlas".into()] };
    server.admit(&member).unwrap();
    assert_eq!(server.members().unwrap(), [member]);
    let all = Node::of(&team.address());
    use_store(&all);
    let of = |project: &str, text: &str| {
        let scope = Scope { agent: None, project: Some(project.into()) };
        NewRecord { scope, ..new(text) }
    };
    let hidden = all.add(&of("hermes", "hidden"), NOW).unwrap().id;
    let shown = all.add(&of("atlas", "shown"), NOW).unwrap().id;
    let vectors: Vec<_> =
        all.pending(1.into(), 9, NOW).unwrap().iter().map(|text| (text.hash, vec![1.0, 0.0])).collect();
    all.store_embeddings(1.into(), &vectors).unwrap();

    let (host, _) = team.address().split_once('@').map(|(_, host)| (host.to_owned(), ())).unwrap();
    let tenant = Node::of(&format!("postgres://{role}:changeme@{host}"));
    let owner = &Viewer::OWNER;
    assert_eq!(tenant.get(shown, owner, NOW).unwrap().unwrap().content, "shown");
    assert!(tenant.get(hidden, owner, NOW).unwrap().is_none());
    assert!(!tenant.export().iter().any(|line| line.contains("hermes") || line.contains("hidden")));
    tenant.assert_sound();
    // It writes what it sees, and others follow it.
    let own = tenant.add(&of("atlas", "of the tenant"), NOW).unwrap().id;
    tenant
        .update(shown, &RecordUpdate { content: Some("shown, changed".into()), ..Default::default() }, owner, NOW + 9)
        .unwrap();
    assert_eq!(all.get(own, owner, NOW).unwrap().unwrap().content, "of the tenant");
    assert_eq!(all.get(shown, owner, NOW).unwrap().unwrap().content, "shown, changed");
    assert!(tenant.add(&of("hermes", "not its own"), NOW).is_err());
    tenant.keep_up().unwrap();
    assert_eq!(tenant.compare(&NoProgress).unwrap().differed, 0);

    // Whatever it asks.
    let mut client = ConnectionPool::new(ServerAddress::parse(&format!("postgres://{role}:changeme@{host}")).unwrap());
    let count = |sql: &str| client.lend().unwrap().query_typed(sql, &[]).map(|rows| rows[0].get::<_, i64>(0));
    for (table, seen) in [
        ("records WHERE content LIKE 'hidden%'", 0),
        ("records WHERE id > 0", 5),
        ("scopes WHERE project = 'hermes'", 0),
    ] {
        assert_eq!(count(&format!("SELECT count(*) FROM memorist.{table}")).unwrap(), seen, "{table}");
    }
    let vectors = || team.client().query_one("SELECT count(*) FROM memorist.embeddings", &[]).unwrap().get::<_, i64>(0);
    let before = vectors();
    client.lend().unwrap().batch_execute("DELETE FROM memorist.embeddings").unwrap();
    assert_eq!(vectors(), before, "those in use stay");
    let leaked = "SELECT count(*) FROM memorist.embeddings e WHERE NOT EXISTS (SELECT 1 FROM memorist.records r
        WHERE r.embedding_hash = e.hash) AND NOT EXISTS (SELECT 1 FROM memorist.versions v WHERE v.embedding_hash = e.hash)
        AND NOT EXISTS (SELECT 1 FROM memorist.passages p WHERE p.hash = e.hash)";
    assert_eq!(count(leaked).unwrap(), 0);
    for refused in [
        "INSERT INTO memorist.members VALUES (session_user, '*')",
        "SELECT count(*) FROM memorist.members",
        "DELETE FROM memorist.tokens",
    ] {
        assert!(client.lend().unwrap().batch_execute(refused).is_err(), "{refused}");
    }
    server.expel(&role).unwrap();
    client = ConnectionPool::new(ServerAddress::parse(&format!("postgres://{role}:changeme@{host}")).unwrap());
    assert!(client.lend().unwrap().batch_execute("SELECT 1 FROM memorist.records").is_err());
    assert!(tenant.add(&of("atlas", "after"), NOW).is_err());
}

/// A member's role reads what it has written for its own node.
#[test]
fn a_member_adds_sources_to_its_own_node() {
    let Some(roles) = Roles::new("a_member_adds_sources_to_its_own_node") else { return };
    let scope = Scope { agent: None, project: Some("atlas".into()) };
    let kind = SourceKind::Notes;
    let source = NewSource { kind, path: "/home/bo".into(), format: None, globs: Vec::new(), scope: scope.clone() };
    let (id, is_new) = roles.member.add_source(&source, NOW).unwrap();
    assert!(is_new && roles.member.is_own_source(&source));
    assert_eq!(roles.member.snapshot().unwrap().sources().unwrap()[0].source, source);
    files::finish_sync(&*roles.member, id, &Default::default(), NOW).unwrap();
    assert!(roles.member.compare(&NoProgress).unwrap().differed <= 1);
    assert!(roles.member.remove_source(id, false).unwrap().is_some());
}

/// A member sets texts aside and embeds for itself; it leaves the shared entries to the owner.
#[test]
fn a_member_embeds_its_own_texts_and_sets_aside_rejected_ones() {
    let Some(roles) = Roles::new("a_member_embeds_its_own") else { return };
    let (member, owner) = (&roles.member, &roles.owner);
    let texts = ["one", "two"].map(|text| member.add(&of("atlas", text), NOW).unwrap().id);
    owner.add(&of("hermes", "one"), NOW).unwrap();
    let own = member.model(&model(2)).unwrap();
    let pending = member.pending(own, 9, NOW).unwrap();
    assert_eq!(pending.len(), 2);
    assert_eq!(member.store_embeddings(own, &[(pending[0].hash, vec![0.0, 1.0])]).unwrap(), 1);
    member.set_aside(own, &[(pending[1].hash, "too odd".into())]).unwrap();
    member.follow().unwrap();
    assert_eq!(member.pending(own, 9, NOW).unwrap(), []);
    assert_eq!(member.refused(NOW).unwrap().len(), 1);
    assert!(owner.refused(NOW).unwrap().is_empty());
    // The other project's text is the same, and has the vector already: the owner's node notices when it embeds it.
    let pending = owner.pending(own, 9, NOW).unwrap();
    let vectors: Vec<_> = pending.iter().map(|text| (text.hash, vec![0.0, 1.0])).collect();
    owner.store_embeddings(own, &vectors).unwrap();
    assert_eq!(owner.pending(own, 9, NOW).unwrap(), []);
    // What is gone leaves nothing here.
    member.delete(texts[1], &Viewer::OWNER, NOW).unwrap();
    member.follow().unwrap();
    assert_eq!(member.refused(NOW).unwrap(), []);
    member.retry_refused().unwrap();
    assert!(member.is_member().unwrap() && !owner.is_member().unwrap());
    member.assert_sound();
    owner.assert_sound();
}

/// 40.9: each project of a token is a row of its own, so that a role sees those of its projects.
#[test]
fn a_token_for_several_projects_is_known_to_a_role_for_its_own() {
    let Some(team) = team("a_token_for_several_projects_is_known_to_a_role") else { return };
    let server = TeamServer::new(ServerAddress::parse(&team.address()).unwrap());
    let projects: Vec<String> = ["atlas", "borealis", "hermes"].map(String::from).to_vec();
    let rights = TokenRights { projects: projects.clone(), agent: None, rights: Rights::Write };
    let token = NewToken { token: "of three projects", label: String::new(), rights, days: None };
    let added = server.add_token(&token).unwrap();
    let node = |name: &str, own: &[&str]| {
        let node = Node::of(&admit(&team, &format!("{name}_{}", team.name()), own));
        node.follow().unwrap();
        node
    };
    let nodes =
        [Node::of(&team.address()), node("all", &["*"]), node("two", &["hermes", "atlas"]), node("last", &["hermes"])];
    let known = || {
        let known = nodes.iter().map(|node| {
            node.follow().unwrap();
            Some(node.token_rights(&token_hash(token.token), NOW).unwrap()?.projects)
        });
        known.collect::<Vec<_>>()
    };
    let two = vec!["atlas".to_owned(), "hermes".to_owned()];
    // Of the last one, where the default of the token is no project of the node, it is no token.
    assert_eq!(known(), [Some(projects.clone()), Some(projects), Some(two), None]);
    let rows = [0, 1, 2].map(|number| token_key(&token_hash(token.token), number));
    let rows = rows.map(|key| nodes[3].token_rights(&key, NOW).unwrap().map(|rights| rights.projects));
    assert_eq!(rows, [None, None, Some(vec!["hermes".into()])], "it learns the name of no other project");
    assert!(server.revoke_token(added.id).unwrap());
    assert_eq!(known(), [None, None, None, None]);
}
