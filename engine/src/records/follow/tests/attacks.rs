//! 40.1: attacks of a member of one project on the others. With the password of a role, one can run any SQL as that role.

use super::members::{Roles, of};
use super::*;
use crate::records::rules::trash;
use crate::text;

const VERSION: &str =
    "INSERT INTO memorist.versions (record_id, version, replaced_at, reason, kind, scope_id, importance,
    confidence, updated_at, content_hash, embedding_hash, source, content)
    SELECT {record}, 1, 1, 'forged', 0, {scope}, 5, 1, 1, sha256('x'), sha256('x'), 'x', 'never said'";

const RECORD: &str = "INSERT INTO memorist.records ({columns}ulid, version, kind, scope_id, importance, confidence, created_at,
    updated_at, content_hash, embedding_hash, source, content)
    VALUES ({values}substr(sha256(random()::text::bytea), 1, 16), 1, 0, 1, 5, 1, 1, 1, sha256('x'), sha256('x'), 'x', 'x')";

/// 40.1: whose server would import files of that machine into the member's project.
#[test]
fn a_member_adds_no_source_to_the_node_of_another_role() {
    let Some(roles) = Roles::new("a_member_adds_no_source") else { return };
    let insert =
        "INSERT INTO memorist.{table} (kind, path, project, added_at{node}) VALUES (0, '/etc', 'atlas', 1{value})";
    for (table, node, value) in [("sources", "", ""), ("node_sources", ", node", ", '{node}'")] {
        let insert = insert.replace("{table}", table).replace("{node}", node).replace("{value}", value);
        roles.assert_refused(&format!("BEGIN; SET LOCAL memorist.node = '{{node}}'; {insert}; COMMIT"));
    }
    roles.owner.follow().unwrap();
    assert_eq!(roles.owner.snapshot().unwrap().sources().unwrap().len(), 0);
    // Nor does it see them, or change what they are.
    roles.team.execute(&format!(
        "INSERT INTO memorist.node_sources (node, kind, path, added_at) VALUES ('{}', 0, '/home/ana', 1)",
        roles.owner.node().unwrap().node
    ));
    for sql in [
        "SET memorist.node = '{node}'; UPDATE memorist.sources SET project = 'atlas'",
        "SET memorist.node = '{node}'; DELETE FROM memorist.sources",
    ] {
        let _ = roles.attempt(sql);
        let left = "SELECT count(*) FROM memorist.node_sources WHERE project IS NULL";
        assert_eq!(roles.number(left), 1, "{sql}");
    }
    let seen = "DO $$ BEGIN IF EXISTS (SELECT FROM memorist.node_sources) THEN RAISE 'seen'; END IF; END $$";
    roles.attempt(seen).unwrap();
}

/// 40.1: after which every search of the owner failed.
#[test]
fn a_member_writes_no_poisoned_entry_of_the_log() {
    let Some(roles) = Roles::new("a_member_writes_no_poisoned_entry") else { return };
    let ulid = "(SELECT ulid FROM memorist.records WHERE id = {shown})";
    let version = "'\\x0100000000000000'::bytea";
    for (op, record, payload) in [
        ("1", "{shown}", "'\\x00'"),
        ("1", "{shown}", &format!("{version} || '\\x02'")),
        ("1", "{hidden}", &format!("{version} || '\\x01'")),
        ("2", "{shown}", ulid),
        ("2", "999999", ulid),
        ("3", "{shown}", "'\\x0001'"),
        ("3", "{hidden}", version),
        ("9", "{shown}", version),
    ] {
        let values = format!("VALUES ({op}, {record}, {payload})");
        roles.assert_refused(&format!("INSERT INTO memorist.sync_log (op, record_id, payload) {values}"));
    }
    for seq in ["seq", "xid"] {
        let values = format!("VALUES ('{{shown}}', 1, {{shown}}, {version} || '\\x01')");
        roles.assert_refused(&format!("INSERT INTO memorist.sync_log ({seq}, op, record_id, payload) {values}"));
    }
    roles.owner.follow().unwrap();
    assert!(roles.owner.snapshot().unwrap().tail(0.into(), usize::MAX).is_ok());
}

/// 40.1: with a link from a global record, of which the member says that it is between two global ones.
#[test]
fn a_member_hides_no_memory_of_another_project_with_a_link() {
    let Some(roles) = Roles::new("a_member_hides_no_memory") else { return };
    let kind = LinkKind::Supersedes as i64;
    for (from, to) in [("{global}", "{hidden}"), ("{shown}", "{hidden}"), ("{hidden}", "{global}")] {
        for scopes in ["1, 1", "(SELECT max(id) FROM memorist.scopes), 1"] {
            roles.assert_refused(&format!(
                "INSERT INTO memorist.links (from_id, kind, to_id, from_scope, to_scope, created_at)
                 VALUES ({from}, {kind}, {to}, {scopes}, 1)"
            ));
        }
    }
    roles.assert_refused(
        "INSERT INTO memorist.links (from_id, kind, to_id, from_scope, to_scope, created_at)
         VALUES ({global}, 99, {shown}, 1, (SELECT scope_id FROM memorist.records WHERE id = {shown}), 1)",
    );
    // A link that comes back with a deleted memory is a link, too.
    roles.member.delete(roles.shown, &Viewer::OWNER, NOW).unwrap();
    roles.assert_refused(&format!(
        "INSERT INTO memorist.trash_links (record_id, from_id, kind, to_id, created_at)
         VALUES ({{shown}}, {{shown}}, {kind}, {{hidden}}, 1)"
    ));
}

/// 40.1.
#[test]
fn a_member_forges_no_version_of_a_memory_of_another_project() {
    let Some(roles) = Roles::new("a_member_forges_no_version") else { return };
    for (record, scope) in [("{hidden}", "1"), ("{shown}", "1"), ("{hidden}", "(SELECT max(id) FROM memorist.scopes)")]
    {
        roles.assert_refused(&VERSION.replace("{record}", record).replace("{scope}", scope));
    }
    roles.assert_refused("INSERT INTO memorist.version_causes (record_id, version, cause) VALUES ({hidden}, 1, 1)");
    roles.assert_refused(
        "INSERT INTO memorist.passages (record_id, number, starts_at, ends_at, hash) VALUES ({hidden}, 1, 0, 1, sha256('x'))",
    );
    assert_eq!(roles.number("SELECT count(*) FROM memorist.versions WHERE reason = 'forged'"), 0);
}

/// 40.1.
#[test]
fn a_member_changes_no_model() {
    let Some(roles) = Roles::new("a_member_changes_no_model") else { return };
    for sql in [
        "UPDATE memorist.models SET dims = 3",
        "DELETE FROM memorist.models",
        "INSERT INTO memorist.models (name, weights_sha256, pooling, dims) VALUES ('other', 'x', 'mean', 7)",
        "INSERT INTO memorist.embeddings (model_id, hash, vector)
             SELECT id, sha256('y'), '\\x00' FROM memorist.models",
    ] {
        roles.assert_refused(sql);
    }
    // The vectors of what others have stay what they are.
    let sum = "SELECT sum(hashtext(vector::text)) FROM memorist.embeddings";
    let before = roles.number(sum);
    let _ = roles.attempt("DELETE FROM memorist.embeddings");
    let _ = roles.attempt(
        "INSERT INTO memorist.embeddings (model_id, hash, vector)
             SELECT m.id, r.embedding_hash, '\\x00000000' FROM memorist.models m, memorist.records r",
    );
    let hidden = text::to_hex(&text::embedding_hash(None, "hidden"));
    let _ = roles.attempt(&format!(
        "INSERT INTO memorist.embeddings (model_id, hash, vector)
             SELECT id, '\\x{hidden}', '\\x00000000' FROM memorist.models"
    ));
    assert_eq!(roles.number(sum), before);
}

/// 40.1: a lease for ever would keep all others from embedding, expiring and trimming.
#[test]
fn a_member_keeps_no_lease_from_others_and_none_for_ever() {
    let Some(roles) = Roles::new("a_member_keeps_no_lease") else { return };
    assert!(roles.member.claims("embedding").unwrap());
    for name in ["embedding", "upkeep", "expiry"] {
        let _ = roles.attempt(&format!(
            "INSERT INTO memorist.leases AS l (name, node, until) VALUES ('{name}', '{{node}}', 'infinity')
                 ON CONFLICT (name) DO UPDATE SET node = excluded.node, until = excluded.until"
        ));
        let _ = roles.attempt("UPDATE memorist.leases SET until = 'infinity'");
    }
    for name in ["embedding", "upkeep", "expiry"] {
        assert!(roles.owner.claims(name).unwrap(), "{name}");
    }
    let long = "SELECT count(*) FROM memorist.leases WHERE until > now() + interval '2 minutes'";
    assert_eq!(roles.number(long), 0);
    roles.assert_refused("DELETE FROM memorist.leases");
    // Nor does it take one that the owner has.
    let _ = roles.attempt("UPDATE memorist.leases SET node = 'mine'");
    assert_eq!(roles.number("SELECT count(*) FROM memorist.leases WHERE node = 'mine' AND name = 'upkeep'"), 0);
}

/// 40.1.
#[test]
fn a_member_deletes_and_changes_no_other_node() {
    let Some(roles) = Roles::new("a_member_deletes_no_node") else { return };
    for sql in [
        "DELETE FROM memorist.nodes",
        "UPDATE memorist.nodes SET name = 'mine'",
        "INSERT INTO memorist.nodes (node, name, version) VALUES ('{node}', 'mine', '')
             ON CONFLICT (node) DO UPDATE SET name = excluded.name",
        "INSERT INTO memorist.nodes (node, name, version) VALUES ('01JAAAAAAAAAAAAAAAAAAAAAAB', repeat('n', 9999), '')",
    ] {
        let _ = roles.attempt(sql);
    }
    assert_eq!(roles.number("SELECT count(*) FROM memorist.nodes WHERE name = 'test'"), 1);
    assert_eq!(roles.number("SELECT count(*) FROM memorist.nodes"), 1);
    roles.member.keep_up().unwrap();
    assert_eq!(roles.number("SELECT count(*) FROM memorist.nodes"), 2, "its own node it may enter");
}

/// 40.1.
#[test]
fn a_member_writes_no_value_of_all() {
    let Some(roles) = Roles::new("a_member_writes_no_value_of_all") else { return };
    let before = roles.number("SELECT count(*) FROM memorist.meta");
    for (key, value) in [
        ("refused", "{}"),
        ("batch_failures", "9"),
        ("batch_left", ""),
        ("batch_job x", "{}"),
        ("cutter", "9"),
        ("uncut", "9"),
        ("next_model", "1"),
        ("model", "1"),
        ("store_id", "x"),
        ("purging", "no ULID"),
        ("purged", "01JAAAAAAAAAAAAAAAAAAAAAAB"),
        ("versions_lost", "no list"),
        ("anything", "else"),
    ] {
        roles.assert_refused(&format!(
            "INSERT INTO memorist.meta (key, value) VALUES ('{key}', '{value}')
                 ON CONFLICT (key) DO UPDATE SET value = excluded.value"
        ));
    }
    for sql in
        ["UPDATE memorist.meta SET value = '1'", "DELETE FROM memorist.meta", "UPDATE memorist.server SET value = '9'"]
    {
        let _ = roles.attempt(sql);
    }
    assert_eq!(roles.number("SELECT count(*) FROM memorist.meta"), before);
    assert_eq!(
        roles.number("SELECT count(*) FROM memorist.meta WHERE value = '1' AND key <> 'cutter' AND key <> 'model'"),
        0
    );
}

/// 40.1: a purge that not all nodes have taken over stays in sight of them.
#[test]
fn a_member_hides_no_purge_from_the_nodes() {
    let Some(roles) = Roles::new("a_member_hides_no_purge") else { return };
    let purged = |mark: &str| format!("UPDATE memorist.meta SET value = '{mark}' WHERE key = 'purged'");
    let removed =
        roles.owner.purge(&crate::types::Purge::Ids(vec![roles.hidden]), &Viewer::OWNER, &NoProgress).unwrap();
    let _ = roles.attempt("DELETE FROM memorist.meta WHERE key = 'purging'");
    let _ = roles.attempt(&purged("01JAAAAAAAAAAAAAAAAAAAAAAB"));
    roles.member.follow().unwrap();
    assert!(roles.member.unfinished_purge().unwrap().is_some());
    let there = "SELECT count(*) FROM memorist.meta WHERE key IN ('purging', 'purged') AND value = '{}'";
    assert!(roles.number(&there.replace("{}", removed.mark.id())) > 0);
}

/// 40.1: whether a text exists in any project.
#[test]
fn a_member_learns_of_no_text_of_another_project() {
    let Some(roles) = Roles::new("a_member_learns_of_no_text") else { return };
    let hash = text::to_hex(&text::embedding_hash(None, "hidden"));
    roles.assert_refused(&format!("SELECT memorist.is_used('\\x{hash}')"));
    let pool = roles.client();
    let mut client = pool.lend().unwrap();
    let mut count = |sql: String| client.query_typed(&sql, &[]).unwrap()[0].get::<_, i64>(0);
    for table in ["embeddings WHERE hash", "records WHERE content_hash", "passages WHERE hash"] {
        assert_eq!(count(format!("SELECT count(*) FROM memorist.{table} = '\\x{hash}'")), 0, "{table}");
    }
    assert_eq!(count("SELECT count(*) FROM memorist.meta WHERE key = 'refused' OR key LIKE 'batch%'".into()), 0);
}

/// 40.1: numbers that are not given yet would keep others from saving, and those of deleted memories from restoring.
#[test]
fn a_member_takes_no_number_of_another_memory() {
    let Some(roles) = Roles::new("a_member_takes_no_number") else { return };
    let with = |columns: &str, values: &str| RECORD.replace("{columns}", columns).replace("{values}", values);
    for id in ["(SELECT max(id) + 1 FROM memorist.records)", "9223372036854775807", "-1"] {
        roles.assert_refused(&with("id, ", &format!("{id}, ")));
    }
    roles.owner.delete(roles.hidden, &Viewer::OWNER, NOW).unwrap();
    roles.assert_refused(&with("id, ", "{hidden}, "));
    roles.assert_refused(&with("stamp, ", "1, "));
    roles.assert_refused("UPDATE memorist.records SET id = id + 1000 WHERE id = {shown}");
    roles.assert_refused("UPDATE memorist.records SET scope_id = 1 WHERE id = {shown}");
    roles.assert_refused(
        "INSERT INTO memorist.trash (id, deleted_at, ulid, version, kind, scope_id, importance, confidence, created_at,
             updated_at, access_count, content_hash, embedding_hash, source, content)
         SELECT {hidden} + 1000, 1, ulid, 1, 0, scope_id, 5, 1, 1, 1, 0, content_hash, embedding_hash, source, content
         FROM memorist.records WHERE id = {shown}",
    );
    trash::restore(&*roles.owner, roles.hidden, &Viewer::OWNER, NOW).unwrap();
    roles.owner.add(&of("hermes", "the next one"), NOW).unwrap();
}

/// 40.1: what somebody deleted would be read again, and what nobody deleted never.
#[test]
fn a_member_forgets_and_recalls_nothing_that_is_not_its_own() {
    let Some(roles) = Roles::new("a_member_forgets_nothing") else { return };
    roles.team.execute("INSERT INTO memorist.forgotten VALUES (substr(sha256('file'), 1, 16))");
    roles.assert_refused("INSERT INTO memorist.forgotten (origin) VALUES (substr(sha256('other'), 1, 16))");
    let _ = roles.attempt("DELETE FROM memorist.forgotten");
    assert_eq!(roles.number("SELECT count(*) FROM memorist.forgotten"), 1);
}

/// 40.1: a temporary table with the name of one of the server's own is found first by functions that do not say otherwise.
#[test]
fn a_member_gets_no_rights_by_a_temporary_table() {
    let Some(roles) = Roles::new("a_member_gets_no_rights") else { return };
    roles
        .attempt(
            "CREATE TEMPORARY TABLE pg_class (oid oid, relowner oid);
         INSERT INTO pg_class SELECT 'memorist.members'::regclass, oid FROM pg_roles WHERE rolname = session_user;
         GRANT SELECT ON pg_class TO PUBLIC;
         DO $$ BEGIN
             IF memorist.sees_all() OR EXISTS (SELECT FROM memorist.scopes WHERE project = 'hermes') THEN
                 RAISE 'it sees all';
             END IF;
         END $$",
        )
        .unwrap();
}

/// 40.1: a cheap function in a condition may be called before the conditions of a view, with rows that these leave out.
#[test]
fn a_member_s_function_gets_no_rows_hidden_from_the_member() {
    let Some(roles) = Roles::new("a_member_s_function_gets_no_rows") else { return };
    roles.team.execute(&format!(
        "INSERT INTO memorist.node_sources (node, kind, path, added_at) VALUES ('{node}', 0, '/home/ana', 1);
         INSERT INTO memorist.node_files (node, source_id, path, thread, size, modified, device, inode, read_at)
             SELECT '{node}', id, '/home/ana/secret', 't', 1, 1, 1, 1, 1 FROM memorist.node_sources",
        node = roles.owner.node().unwrap().node
    ));
    let leak = "CREATE FUNCTION pg_temp.leak(path text) RETURNS boolean LANGUAGE plpgsql COST 0.0000001
             AS $$ BEGIN RAISE 'it sees %', path; END $$;
         SET memorist.node = 'mine'; SET enable_indexscan = off; SET enable_bitmapscan = off;";
    for relation in ["sources", "files", "node_sources", "node_files"] {
        roles.attempt(&format!("{leak} SELECT 1 FROM memorist.{relation} WHERE pg_temp.leak(path)")).unwrap();
    }
}

/// 40.1: whether a transaction of another node has committed.
#[test]
fn a_member_gives_up_no_write_of_another() {
    let Some(roles) = Roles::new("a_member_gives_up_no_write") else { return };
    let _ = roles.attempt("UPDATE memorist.writes SET was_given_up = true");
    let _ = roles.attempt("DELETE FROM memorist.writes");
    assert_eq!(roles.number("SELECT count(*) FROM memorist.writes WHERE was_given_up"), 0);
    let pool = roles.client();
    let mut client = pool.lend().unwrap();
    let seen = client.query_typed("SELECT count(*) FROM memorist.writes WHERE token IS NOT NULL", &[]);
    assert_eq!(seen.map_or(0, |rows| rows[0].get::<_, i64>(0)), 0);
    // Its own it looks up, and gives up.
    roles
        .run(
            &mut client,
            "INSERT INTO memorist.writes AS w (token, was_given_up) VALUES (substr(sha256('t'), 1, 16), true)
             ON CONFLICT (token) DO UPDATE SET was_given_up = w.was_given_up RETURNING was_given_up",
        )
        .unwrap();
}
