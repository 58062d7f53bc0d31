//! Rights of a member, by the catalog of the server: every statement is tried on every relation and column, and every
//! function is called. A new relation or function fails the test until its rights are listed here.

use super::members::Roles;
use crate::address::ServerAddress;
use crate::records::postgres::connection::Client;
use crate::records::postgres::connection::ConnectionPool;
use crate::records::postgres::errors::is_denied;
use crate::records::postgres::migrate::migrate;
use crate::records::postgres::schema::{FORMAT, MIGRATIONS};
use crate::team::{Member, TeamServer};

/// For each relation: the columns that a member reads, those that it sets in a new row, those that it changes, and
/// whether it removes rows. Policies decide which rows (`attacks.rs`). `*` is every column.
const RELATIONS: [(&str, &str, &str, &str, bool); 30] = [
    ("access_log", "*", "record_id accessed_at access_type relevance_score query_text", "", true),
    ("changes", "*", "", "", false),
    ("embeddings", "*", "model_id hash vector", "", true),
    (
        "files",
        "*",
        "source_id path thread size modified device inode hash cursor read_at problem skipped",
        "path thread size modified device inode hash cursor read_at gone_at problem skipped",
        true,
    ),
    ("forgotten", "*", "origin", "", true),
    ("leases", "*", "name node until", "node until", false),
    ("links", "*", "from_id kind to_id from_scope to_scope created_at", "", true),
    ("members", "", "", "", false),
    ("meta", "*", "key value", "value", true),
    ("models", "*", "name weights_sha256 pooling dims", "", false),
    ("node_files", "*", "", "", false),
    ("node_sources", "*", "", "", false),
    ("nodes", "*", "node name version purged_to", "name version seen_at purged_to", false),
    ("passages", "*", "record_id number starts_at ends_at hash embedding_id", "embedding_id", true),
    ("recalled", "", "", "", false),
    (
        "records",
        "*",
        "id ulid version kind scope_id importance confidence created_at updated_at expires_at valid_from valid_to access_count \
         last_accessed_at content_hash embedding_hash embedding_id source tags provenance body context content session turn \
         origin",
        "version kind importance confidence created_at updated_at expires_at valid_from valid_to access_count \
         last_accessed_at content_hash embedding_hash embedding_id source tags provenance body context content session turn \
         origin",
        true,
    ),
    ("removed", "*", "", "", false),
    ("scopes", "*", "agent project", "", false),
    ("search_hits", "*", "", "", false),
    ("searches", "*", "", "", true),
    ("server", "*", "", "", false),
    ("sources", "*", "kind path format globs agent project added_at", "globs agent project synced_at skipped", true),
    ("sync_log", "*", "op record_id payload", "", false),
    ("tokens", "*", "", "", false),
    (
        "trash",
        "*",
        "id deleted_at ulid version kind scope_id importance confidence created_at updated_at expires_at valid_from valid_to \
         access_count last_accessed_at content_hash embedding_hash source tags provenance body context content session turn \
         origin",
        "ulid provenance origin",
        true,
    ),
    ("trash_links", "*", "record_id from_id kind to_id created_at", "", false),
    (
        "trash_versions",
        "*",
        "record_id version replaced_at reason kind importance confidence updated_at expires_at valid_from valid_to \
         content_hash embedding_hash source tags provenance body context content",
        "",
        false,
    ),
    ("version_causes", "*", "record_id version cause links", "cause links", false),
    (
        "versions",
        "*",
        "record_id version replaced_at reason kind scope_id importance confidence updated_at expires_at valid_from valid_to \
         content_hash embedding_hash source tags provenance body context content",
        "",
        true,
    ),
    ("writes", "*", "token was_given_up", "was_given_up", false),
];

/// Functions that a member calls, itself or by a policy, a view or a default.
const FUNCTIONS: [&str; 10] = [
    "fits", "incarnation", "is_orphan", "is_there", "news", "own_node", "own_projects", "own_scopes", "sees_all",
    "stamp",
];

/// Statements that a member may run on no relation.
const REFUSED: [&str; 8] = [
    "TRUNCATE {}",
    "DROP TABLE {} CASCADE",
    "DROP VIEW {} CASCADE",
    "ALTER TABLE {} DISABLE ROW LEVEL SECURITY",
    "CREATE POLICY mine ON {} USING (true)",
    "CREATE RULE mine AS ON INSERT TO {} DO NOTHING",
    "CREATE TRIGGER mine AFTER INSERT ON {} EXECUTE FUNCTION memorist.new_stamp()",
    "CREATE TEMPORARY TABLE mine (c bigint REFERENCES {})",
];

/// Runs a statement, and rolls it back.
fn attempt(client: &mut Client, sql: &str) -> crate::error::Result<()> {
    let done = client.batch_execute(&format!("BEGIN; SET LOCAL memorist.node = '01'; {sql}"));
    client.batch_execute("ROLLBACK").unwrap();
    done
}

/// The first two columns of a query, as the owner of the tables sees them.
fn listed(roles: &Roles, sql: &str) -> Vec<(String, String)> {
    let rows = roles.team.client().query(sql, &[]).unwrap();
    rows.iter().map(|row| (row.get(0), row.get(1))).collect()
}

/// The columns of a relation for which a statement is permitted, which changes nothing.
fn permitted(client: &mut Client, columns: &[String], statement: impl Fn(&str) -> String) -> Vec<String> {
    let mut some: Vec<String> =
        columns.iter().filter(|column| attempt(client, &statement(column)).is_ok()).cloned().collect();
    some.sort();
    some
}

/// The columns that a list names.
fn named(list: &str, all: &[String]) -> Vec<String> {
    let mut names = match list {
        "*" => all.to_vec(),
        list => list.split_whitespace().map(str::to_owned).collect(),
    };
    names.sort();
    names
}

fn check_relation(roles: &Roles, client: &mut Client, relation: &str) {
    let Some((_, read, add, change, remove)) = RELATIONS.iter().find(|(name, ..)| *name == relation) else {
        panic!("{relation} is new: decide in RELATIONS what a member may do with it");
    };
    let name = format!("memorist.{relation}");
    for sql in REFUSED.map(|sql| sql.replace("{}", &name)) {
        assert!(attempt(client, &sql).is_err(), "a member may: {sql}");
    }
    let columns = listed(
        roles,
        &format!(
            "SELECT attname::text, attname::text FROM pg_attribute
             WHERE attrelid = '{name}'::regclass AND attnum > 0 AND NOT attisdropped"
        ),
    );
    let columns: Vec<String> = columns.into_iter().map(|(name, _)| name).collect();
    let of = |list: &str| named(list, &columns);
    let reads = permitted(client, &columns, |column| format!("SELECT {column} FROM {name} WHERE false"));
    assert_eq!(reads, of(read), "{relation}: what it reads");
    let adds = permitted(client, &columns, |column| format!("INSERT INTO {name} ({column}) SELECT NULL WHERE false"));
    assert_eq!(adds, of(add), "{relation}: what it gives a new row");
    let changes = permitted(client, &columns, |column| format!("UPDATE {name} SET {column} = NULL WHERE false"));
    assert_eq!(changes, of(change), "{relation}: what it changes");
    assert_eq!(attempt(client, &format!("DELETE FROM {name} WHERE false")).is_ok(), *remove, "{relation}: removes");
}

/// 40.1.
#[test]
fn a_member_may_do_to_relations_what_is_listed_and_nothing_else() {
    let Some(roles) = Roles::new("a_member_may_do_to_relations") else { return };
    let pool = roles.client();
    let mut client = pool.lend().unwrap();
    let all = "SELECT relname::text, relkind::text FROM pg_class WHERE relnamespace = 'memorist'::regnamespace
         AND relkind NOT IN ('i', 'c', 't') ORDER BY 1";
    let all = listed(&roles, all);
    for (name, ..) in RELATIONS {
        assert!(all.iter().any(|(relation, _)| relation == name), "there is no {name} any more");
    }
    for (relation, kind) in all {
        if kind != "S" {
            check_relation(&roles, &mut client, &relation);
            continue;
        }
        for call in ["nextval('{}')", "setval('{}', 9)", "currval('{}')"] {
            let sql = format!("SELECT {}", call.replace("{}", &format!("memorist.{relation}")));
            assert!(attempt(&mut client, &sql).is_err(), "a member may: {sql}");
        }
    }
    for sql in ["CREATE TABLE memorist.mine ()", "CREATE FUNCTION memorist.f() RETURNS int LANGUAGE sql AS 'SELECT 1'"]
    {
        assert!(attempt(&mut client, sql).is_err(), "a member may: {sql}");
    }
}

/// 40.1.
#[test]
fn a_member_calls_the_functions_that_are_listed_and_no_others() {
    let Some(roles) = Roles::new("a_member_calls_the_functions") else { return };
    let pool = roles.client();
    let mut client = pool.lend().unwrap();
    let all = "SELECT p.proname::text, (SELECT coalesce(string_agg('NULL::' || t::regtype, ', '), '')
                 FROM unnest(p.proargtypes) t)
         FROM pg_proc p WHERE p.pronamespace = 'memorist'::regnamespace ORDER BY 1";
    let mut called = Vec::new();
    for (name, arguments) in listed(&roles, all) {
        match attempt(&mut client, &format!("SELECT memorist.{name}({arguments})")) {
            Err(error) if is_denied(&error) => {}
            _ => called.push(name),
        }
    }
    assert_eq!(called, FUNCTIONS);
    // Those that act as the owner of the tables find no table of a member first.
    let unsafe_path =
        "SELECT proname::text, '' FROM pg_proc WHERE pronamespace = 'memorist'::regnamespace AND prosecdef
         AND NOT proconfig @> ARRAY['search_path=pg_catalog, pg_temp']";
    assert_eq!(listed(&roles, unsafe_path), []);
}

/// 40.1: a table without policies is one whose rows all members may see.
#[test]
fn every_table_but_those_of_all_has_policies() {
    let Some(roles) = Roles::new("every_table_but_those_of_all") else { return };
    let open = "SELECT relname::text, '' FROM pg_class WHERE relnamespace = 'memorist'::regnamespace AND relkind = 'r'
         AND NOT relrowsecurity ORDER BY 1";
    let open: Vec<String> = listed(&roles, open).into_iter().map(|(name, _)| name).collect();
    assert_eq!(open, ["members", "removed", "server"]);
    let unchecked = "SELECT tablename || '.' || policyname, '' FROM pg_policies WHERE schemaname = 'memorist'
         AND (cmd = 'ALL' OR cmd IN ('INSERT', 'UPDATE') AND with_check IS NULL)";
    assert_eq!(listed(&roles, unchecked), []);
}

/// A store of the first format, whose members had other rights, and in which some of them had forged rows.
#[test]
fn members_of_before_have_the_rights_of_now_after_a_migration() {
    let Some(cluster) = postgres_testing::shared("members_of_before_have_the_rights_of_now") else { return };
    let team = cluster.database();
    let role = format!("member_{}", team.name());
    team.execute(&format!("CREATE ROLE {role}"));
    let pool = ConnectionPool::new(ServerAddress::parse(&team.address()).unwrap());
    let mut client = pool.lend().unwrap();
    let first = MIGRATIONS[0]();
    client
        .batch_execute(&format!(
            "CREATE SCHEMA memorist; SET search_path = memorist, pg_catalog; {first};
             UPDATE server SET value = '1' WHERE key = 'format';
             INSERT INTO meta (key, value) VALUES ('store_id', '01JAAAAAAAAAAAAAAAAAAAAAAA');
             INSERT INTO scopes (project) VALUES ('hermes');
             INSERT INTO records (ulid, version, kind, scope_id, importance, confidence, created_at, updated_at, content_hash,
                 embedding_hash, source, content)
             SELECT substr(sha256(n::text::bytea), 1, 16), 2, 0, n, 5, 1, 1, 1, sha256('x'), sha256('x'), 'x', 'x'
             FROM generate_series(1, 2) n;
             INSERT INTO links VALUES (1, 2, 2, 1, 1, 1), (2, 2, 1, 2, 1, 1);
             INSERT INTO members VALUES ('{role}', 'atlas'), ('role that is gone', 'atlas');
             INSERT INTO node_sources (node, kind, path, added_at) VALUES ('a node', 0, '/home', 1);
             GRANT USAGE ON SCHEMA memorist TO {role}; GRANT ALL ON ALL TABLES IN SCHEMA memorist TO {role};
             GRANT ALL ON ALL SEQUENCES IN SCHEMA memorist TO {role}; RESET search_path"
        ))
        .unwrap();
    assert!(
        TeamServer::new(ServerAddress::parse(&team.address()).unwrap())
            .admit(&Member { role: role.clone(), projects: vec!["atlas".into()] })
            .unwrap_err()
            .to_string()
            .contains("team migrate")
    );
    let migrated = migrate(&mut client).unwrap();
    assert_eq!((migrated.before, migrated.format), (1, FORMAT));
    let has = |right: &str, of: &str| {
        let sql = format!("SELECT has_table_privilege('{role}', 'memorist.{of}', '{right}')");
        team.client().query_one(&sql, &[]).unwrap().get::<_, bool>(0)
    };
    assert!(
        has("SELECT", "records") && !has("TRUNCATE", "records") && !has("INSERT", "meta") && !has("SELECT", "members")
    );
    let left = "SELECT count(*) FROM memorist.links WHERE from_id = 2";
    assert_eq!(team.client().query_one(left, &[]).unwrap().get::<_, i64>(0), 1);
    assert_eq!(team.client().query_one("SELECT count(*) FROM memorist.links", &[]).unwrap().get::<_, i64>(0), 1);
    let nodes = "SELECT count(*) FROM memorist.nodes WHERE node = 'a node' AND role IS NULL";
    assert_eq!(team.client().query_one(nodes, &[]).unwrap().get::<_, i64>(0), 1, "it is claimed when it comes back");
}
