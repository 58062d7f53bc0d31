//! Row-level security: isolates the projects of a team inside the database. It limits the rows that a node gets whose
//! role is not the owner of the tables, whatever that node asks.
//!
//! `members` says which projects a role belongs to; global rows belong to all. The owner of the tables sees everything.
//! The policies here limit reading alone; `rights.sql`, the second migration, replaces them and limits writing, too.

use super::quoted;

/// Tables, each with the condition on the rows that a member sees.
const POLICIES: [(&str, &str); 15] = [
    ("scopes", "project IS NULL OR project IN (SELECT memorist.own_projects()) OR memorist.sees_all()"),
    ("records", OF_SCOPE),
    ("versions", OF_SCOPE),
    ("trash", OF_SCOPE),
    ("version_causes", OF_RECORD),
    ("passages", OF_RECORD),
    ("trash_versions", OF_TRASH),
    ("trash_links", OF_TRASH),
    ("links", "from_scope IN (SELECT memorist.own_scopes()) AND to_scope IN (SELECT memorist.own_scopes())"),
    ("changes", "scope IS NULL OR scope IN (SELECT memorist.own_scopes())"),
    ("access_log", OF_RECORD),
    ("recalled", OF_RECORD),
    ("node_sources", "project IS NULL OR project IN (SELECT memorist.own_projects()) OR memorist.sees_all()"),
    ("node_files", "EXISTS (SELECT 1 FROM memorist.node_sources s WHERE s.id = source_id)"),
    ("tokens", "project IN (SELECT memorist.own_projects()) OR memorist.sees_all()"),
];
const OF_SCOPE: &str = "scope_id IN (SELECT memorist.own_scopes())";
const OF_RECORD: &str = "EXISTS (SELECT 1 FROM memorist.records r WHERE r.id = record_id)";
const OF_TRASH: &str = "EXISTS (SELECT 1 FROM memorist.trash r WHERE r.id = record_id)";

/// A vector reveals what its text is about: only a role that sees a text with it sees the vector. It is written before
/// its text refers to it, and removed once none does.
const EMBEDDINGS: &str = "CREATE POLICY members ON embeddings FOR SELECT USING (
    EXISTS (SELECT 1 FROM memorist.records r WHERE r.embedding_hash = hash)
    OR EXISTS (SELECT 1 FROM memorist.versions v WHERE v.embedding_hash = hash)
    OR EXISTS (SELECT 1 FROM memorist.passages p WHERE p.hash = embeddings.hash)
    OR NOT memorist.is_used(hash));
CREATE POLICY members_add ON embeddings FOR INSERT WITH CHECK (true);
CREATE POLICY members_remove ON embeddings FOR DELETE USING (NOT memorist.is_used(hash));
ALTER TABLE embeddings ENABLE ROW LEVEL SECURITY;
";

/// An entry of the log names a record, and no text. One of a record that is gone has to reach everybody.
const LOG: &str = "CREATE POLICY members ON sync_log USING (
    EXISTS (SELECT 1 FROM memorist.records r WHERE r.id = record_id)
    OR NOT memorist.is_there(record_id)) WITH CHECK (true);
ALTER TABLE sync_log ENABLE ROW LEVEL SECURITY;
";

/// Created before the tables: their views use it.
pub(super) const MEMBERS: &str = r#"
CREATE TABLE members (
    role text COLLATE "C" NOT NULL,
    project text COLLATE "C" NOT NULL, -- '*' is all
    PRIMARY KEY (role, project)
);
CREATE FUNCTION own_projects() RETURNS SETOF text LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog
    AS $$ SELECT m.project FROM memorist.members m WHERE m.role = session_user $$;
-- The owner of the tables does, also where a view asks for somebody.
CREATE FUNCTION sees_all() RETURNS boolean LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog
    AS $$ SELECT pg_has_role(session_user, (SELECT c.relowner FROM pg_class c WHERE c.oid = 'memorist.members'::regclass), 'USAGE')
        OR EXISTS (SELECT 1 FROM memorist.members m WHERE m.role = session_user AND m.project = '*') $$;
"#;

const FUNCTIONS: &str = r#"
CREATE FUNCTION own_scopes() RETURNS SETOF bigint LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog
    AS $$ SELECT s.id FROM memorist.scopes s WHERE s.project IS NULL OR EXISTS (
        SELECT 1 FROM memorist.members m
        WHERE m.role = session_user AND (m.project = s.project OR m.project = '*')) $$;
CREATE FUNCTION is_there(id bigint) RETURNS boolean LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog
    AS $$ SELECT EXISTS (SELECT 1 FROM memorist.records r WHERE r.id = is_there.id) $$;
CREATE FUNCTION is_used(hash bytea) RETURNS boolean LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog
    AS $$ SELECT EXISTS (SELECT 1 FROM memorist.records r WHERE r.embedding_hash = is_used.hash)
        OR EXISTS (SELECT 1 FROM memorist.versions v WHERE v.embedding_hash = is_used.hash)
        OR EXISTS (SELECT 1 FROM memorist.passages p WHERE p.hash = is_used.hash) $$;
"#;

/// Only the owner decides which model a team uses.
const META: &str = "CREATE POLICY all_read ON meta FOR SELECT USING (true);
CREATE POLICY members_add ON meta FOR INSERT WITH CHECK (key NOT IN ('store_id', 'model', 'next_model'));
CREATE POLICY members_change ON meta FOR UPDATE USING (key NOT IN ('store_id', 'model', 'next_model'));
CREATE POLICY members_remove ON meta FOR DELETE USING (key NOT IN ('store_id', 'model', 'next_model'));
ALTER TABLE meta ENABLE ROW LEVEL SECURITY;
";

/// The tables, functions and policies of a new store.
pub(super) fn policies() -> String {
    let mut sql = [FUNCTIONS, EMBEDDINGS, LOG, META].concat();
    for (table, condition) in POLICIES {
        sql += &format!(
            "CREATE POLICY members ON {table} USING ({condition});\nALTER TABLE {table} ENABLE ROW LEVEL SECURITY;\n"
        );
    }
    sql
}

/// Rights of members, with triggers that protect shared rows. The policies above only limit what members see.
pub(super) fn rights() -> String {
    include_str!("rights.sql").into()
}

/// Lets a role of the database use the team store, as a member of these projects; `*` is all.
pub(crate) fn admit(role: &str, projects: &[String]) -> String {
    let role = quoted::text(role);
    let rows: Vec<String> = projects.iter().map(|project| format!("({role}, {})", quoted::text(project))).collect();
    format!(
        "BEGIN; DELETE FROM memorist.members WHERE role = {role}; \
         INSERT INTO memorist.members (role, project) VALUES {}; SELECT memorist.grant_member({role}); COMMIT",
        rows.join(", ")
    )
}

/// Removes a role from the members.
pub(crate) fn expel(role: &str) -> String {
    let name = quoted::name(role);
    format!(
        "BEGIN; DELETE FROM memorist.members WHERE role = {}; \
         REVOKE ALL ON ALL TABLES IN SCHEMA memorist FROM {name}; REVOKE ALL ON ALL SEQUENCES IN SCHEMA memorist FROM {name}; \
         REVOKE ALL ON ALL FUNCTIONS IN SCHEMA memorist FROM {name}; REVOKE USAGE ON SCHEMA memorist FROM {name}; COMMIT",
        quoted::text(role)
    )
}
