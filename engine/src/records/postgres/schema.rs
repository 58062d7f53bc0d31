//! The tables of a team store, in the schema `memorist` of its database, and how they came to be.
//!
//! # The database on one page
//!
//! The tables that the rules name are those of `memory.db` (`sqlite/schema.rs`), with the same columns; numbers are `bigint`
//! throughout, and texts compare by their bytes (`COLLATE "C"`). JSON is `text`: `jsonb` does not give the bytes back. What
//! SQLite derives by triggers (`tallies`, `record_tags`, `superseding`) each node derives by itself.
//!
//! | table | one row is |
//! |---|---|
//! | `server` | a value of the database itself: `format` (of these tables), `min_reader` (the oldest format that a node may know), `trimmed_below` (a transaction: changes of earlier ones are gone), `numbered_by` (which server has numbered memories last: `numbers.sql`) |
//! | `changes` | a change that nodes must follow: rows of a table with the same id were written or removed |
//! | `node_sources` | a source of one node: another has other files. `sources` is what this node sees of them |
//! | `nodes` | a node, when it was seen, and the role that it belongs to |
//! | `writes` | a transaction that has committed or was given up; a node that lost the connection in its COMMIT looks it up; kept for a day |
//! | `removed` | the ULID of a record that was deleted: a node that finds it missing knows that it was not lost; kept for a year |
//! | `leases` | what one node does for all, until when: it embeds a text, it deletes what has expired |
//! | `members` | a project that a role of the database belongs to, which is not the owner of the tables (`tenants.rs`, `rights.sql`) |
//! | `tokens` | a project of a token that HTTP clients send, or its only row: a hash (`sqlite/schema.rs` says which), what it is bound to, and what it may do. One row for each project, so that a role sees those of its projects, and a node that knows of one project alone keeps to the first |
//!
//! Every table that nodes follow (`TABLES` in `follow/tables.rs`) has a column `stamp`: random, and new with every change. After a
//! failover the same version of a record may be another text, and the same transaction number another transaction.
//!
//! `changes.xid` is the transaction. `changes.number` is that of the table, `id` is its key, or the first column of that. `scope` is
//! where the row belongs to one.
//!
//! # Versions
//!
//! Migrations are numbered, run in one transaction behind a lock, and expand first: what an older node needs goes one
//! release later. `format` counts them.

use super::tenants;
use crate::records::follow::tables::{TABLES, Table};

/// The schema that has all tables.
pub(crate) const SCHEMA: &str = "memorist";

/// The oldest format that a node of this version reads.
pub(crate) const FORMAT: i64 = MIGRATIONS.len() as i64;

/// Each brings a database one format further. Append only.
pub(crate) const MIGRATIONS: [fn() -> String; 3] = [first, tenants::rights, || include_str!("numbers.sql").into()];

/// 40 random bits: sums of a million of them are still a `bigint`.
const STAMP: &str = r"
CREATE FUNCTION stamp() RETURNS bigint LANGUAGE sql VOLATILE PARALLEL SAFE
    AS 'SELECT pg_catalog.hashtextextended(pg_catalog.gen_random_uuid()::text, 0) & 1099511627775';
CREATE FUNCTION new_stamp() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.stamp := memorist.stamp();
    RETURN NEW;
END $$;
";

fn first() -> String {
    let mut sql = [STAMP, tenants::MEMBERS, FIRST].concat();
    for table in &TABLES {
        sql += &triggers(table);
    }
    sql += &news();
    sql += ALSO;
    sql += &tenants::policies();
    // Else ANALYZE copies texts into the statistics.
    for (table, columns) in [
        ("records", &["content", "context", "body"][..]),
        ("versions", &["content", "context", "body"]),
        ("trash", &["content", "context", "body"]),
        ("trash_versions", &["content", "context", "body"]),
        ("access_log", &["query_text"]),
        ("searches", &["query"]),
    ] {
        for column in columns {
            sql += &format!("ALTER TABLE {table} ALTER COLUMN {column} SET STATISTICS 0;\n");
        }
    }
    sql
}

/// Notes each change to a table that nodes follow, and stamps it.
fn triggers(table: &Table) -> String {
    let Table { server_name: name, number, .. } = table;
    let (new, old) = (table.changed("NEW"), table.changed("OLD"));
    format!(
        r"
CREATE FUNCTION changed_{name}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        INSERT INTO memorist.changes (number, id, scope) VALUES ({number}, {old});
    END IF;
    IF TG_OP = 'INSERT' OR TG_OP = 'UPDATE' AND ROW({new}) IS DISTINCT FROM ROW({old}) THEN
        INSERT INTO memorist.changes (number, id, scope) VALUES ({number}, {new});
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER changed AFTER INSERT OR UPDATE OR DELETE ON {name}
    FOR EACH ROW EXECUTE FUNCTION changed_{name}();
CREATE TRIGGER stamped BEFORE UPDATE ON {name} FOR EACH ROW EXECUTE FUNCTION new_stamp();
"
    )
}

/// The function that a node calls to learn what is new since a snapshot: in one round trip, as of one moment (it is `STABLE`, so that
/// all its queries see what the calling one does), with plans that the server keeps.
///
/// The first row has the number 0, and the state of the server as JSON. Rows with the number -1 are entries of the log: the
/// record, the operation, and the payload in hex. All others are rows of a table, with its number, their unit and stamp; a unit that
/// is gone, or not followed, has one without. Where more than `most` units have changed, there is the first row alone.
///
/// Where statistics are old, or plans are of no parameters in particular, the server would look through all changes, or all memories:
/// so it has to use its indexes. And not to compile what then seems expensive, which took 60 ms each time.
///
/// The incarnation is which server this is: the timeline of its log, when it was started, and which database. A standby that was promoted has another timeline and another start. On a standby the function fails.
fn news() -> String {
    // Not by OR, for which no index is of use.
    let since = |table: &str, columns: &str| {
        format!(
            "(SELECT {columns} FROM memorist.{table} n WHERE n.xid >= seen_to \
             UNION ALL SELECT {columns} FROM memorist.{table} n WHERE n.xid = ANY (open)) n"
        )
    };
    let (changes, log) = (since("changes", "n.number, n.id"), since("sync_log", "n.*"));
    let mut branches = String::new();
    for table in &TABLES {
        let Table { number, server_name, .. } = table;
        let (unit, mut copied) = (table.unit(), String::from("true"));
        if let Some(followed) = table.followed {
            copied = format!("(scopes IS NULL OR {})", followed.replace("IN ({scopes})", "= ANY (scopes)"));
        }
        if table.is_of_a_node() {
            copied += " AND t.node = of_node";
        }
        branches += &format!(
            r"
        IF changed = {number} THEN
            RETURN QUERY SELECT {number}::bigint, c.id, t.stamp, row_to_json(t)::text
                FROM (SELECT DISTINCT n.id FROM {changes} WHERE n.number = {number}) c
                LEFT JOIN memorist.{server_name} t ON {unit} = c.id AND {copied};
        END IF;"
        );
    }
    format!(
        r"
CREATE FUNCTION incarnation() RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
    timeline text := '-';
BEGIN
    -- A managed service may refuse it; then the time of its start, in microseconds, has to do.
    BEGIN
        timeline := substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8);
    EXCEPTION WHEN insufficient_privilege THEN NULL;
    END;
    RETURN timeline || ' ' || extract(epoch FROM pg_postmaster_start_time())::text || ' '
        || (SELECT d.oid::text FROM pg_database d WHERE d.datname = current_database());
END $$;
CREATE FUNCTION news(seen_to xid8, open xid8[], follow text[], of_node text, most bigint)
RETURNS TABLE (kind bigint, unit bigint, stamped bigint, line text) LANGUAGE plpgsql STABLE
SET bytea_output = 'hex' SET extra_float_digits = 1
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
DECLARE
    units bigint;
    scopes bigint[];
    changed bigint;
BEGIN
    IF pg_is_in_recovery() THEN
        RAISE EXCEPTION 'recovery is in progress' USING ERRCODE = 'read_only_sql_transaction';
    END IF;
    SELECT count(*) INTO units FROM (SELECT 1 FROM {changes} LIMIT most + 1) AS seen;
    RETURN QUERY SELECT 0::bigint, units, (extract(epoch FROM clock_timestamp()) * 1000)::bigint, json_build_object(
        'snapshot', pg_current_snapshot()::text,
        'last', (SELECT n.xid::text FROM memorist.changes n WHERE n.xid >= coalesce(seen_to, '0') ORDER BY n.xid DESC LIMIT 1),
        'incarnation', memorist.incarnation(),
        'store_id', coalesce((SELECT m.value FROM memorist.meta m WHERE m.key = 'store_id'), ''),
        'sees', coalesce((SELECT string_agg(p, ' ' ORDER BY p) FROM memorist.own_projects() p), ''),
        'server', (SELECT json_object_agg(s.key, s.value) FROM memorist.server s))::text;
    -- Every entry of the log comes with a change of a row.
    IF units = 0 OR units > most THEN
        RETURN;
    END IF;
    RETURN QUERY SELECT -1::bigint, n.record_id, n.op, encode(n.payload, 'hex') FROM {log} ORDER BY n.seq;
    IF units = 0 THEN
        RETURN;
    END IF;
    IF follow IS NOT NULL THEN
        scopes := ARRAY (SELECT s.id FROM memorist.scopes s WHERE s.project IS NULL OR s.project = ANY (follow));
    END IF;
    FOR changed IN SELECT DISTINCT n.number FROM {changes} LOOP{branches}
    END LOOP;
END $$;
"
    )
}

/// Beside what is noted of every table.
const ALSO: &str = r"
-- A node that follows some projects lacks the vector of a text that was embedded for another one: it comes with the record.
CREATE FUNCTION changed_embedding() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
    INSERT INTO memorist.changes (number, id) VALUES (3, NEW.embedding_id);
    RETURN NULL;
END $$;
CREATE TRIGGER embedded AFTER INSERT ON records FOR EACH ROW WHEN (NEW.embedding_id IS NOT NULL)
    EXECUTE FUNCTION changed_embedding();
CREATE TRIGGER embedded AFTER INSERT ON passages FOR EACH ROW WHEN (NEW.embedding_id IS NOT NULL)
    EXECUTE FUNCTION changed_embedding();
CREATE FUNCTION removed_record() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
    INSERT INTO memorist.removed (ulid) VALUES (OLD.ulid) ON CONFLICT (ulid) DO UPDATE SET removed_at = now();
    RETURN NULL;
END $$;
CREATE TRIGGER removed AFTER DELETE ON records FOR EACH ROW EXECUTE FUNCTION removed_record();
";

const FIRST: &str = r#"
CREATE TABLE server (
    key text COLLATE "C" PRIMARY KEY,
    value text COLLATE "C" NOT NULL
);
INSERT INTO server VALUES ('format', '0'), ('min_reader', '1'), ('trimmed_below', '0');

CREATE TABLE changes (
    xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
    seq bigint GENERATED ALWAYS AS IDENTITY,
    number smallint NOT NULL,
    id bigint NOT NULL,
    scope bigint,
    changed_at timestamptz NOT NULL DEFAULT transaction_timestamp(),
    PRIMARY KEY (xid, seq)
);

CREATE TABLE meta (
    key text COLLATE "C" PRIMARY KEY,
    value text COLLATE "C" NOT NULL,
    stamp bigint NOT NULL DEFAULT stamp()
);
INSERT INTO meta (key, value) VALUES ('cutter', '1');

CREATE TABLE scopes (
    id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    agent text COLLATE "C",
    project text COLLATE "C",
    stamp bigint NOT NULL DEFAULT stamp()
);
CREATE UNIQUE INDEX scopes_by_names ON scopes (coalesce(agent, ''), coalesce(project, ''));
INSERT INTO scopes (agent, project) VALUES (NULL, NULL);

CREATE TABLE records (
    id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    ulid bytea NOT NULL CHECK (length(ulid) = 16),
    version bigint NOT NULL CHECK (version >= 1),
    kind bigint NOT NULL CHECK (kind >= 0),
    scope_id bigint NOT NULL REFERENCES scopes (id),
    importance bigint NOT NULL CHECK (importance BETWEEN 1 AND 10),
    confidence double precision NOT NULL CHECK (confidence BETWEEN 0 AND 1),
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    expires_at bigint,
    valid_from bigint,
    valid_to bigint,
    access_count bigint NOT NULL DEFAULT 0,
    last_accessed_at bigint,
    content_hash bytea NOT NULL CHECK (length(content_hash) = 32),
    embedding_hash bytea NOT NULL CHECK (length(embedding_hash) = 32),
    embedding_id bigint,
    source text COLLATE "C" NOT NULL,
    tags text COLLATE "C",
    provenance text COLLATE "C",
    body text COLLATE "C",
    context text COLLATE "C",
    content text COLLATE "C" NOT NULL,
    session text COLLATE "C",
    turn bigint,
    origin bytea CHECK (length(origin) = 16),
    stamp bigint NOT NULL DEFAULT stamp()
);
CREATE UNIQUE INDEX records_by_ulid ON records (ulid);
CREATE UNIQUE INDEX records_by_origin ON records (origin) WHERE origin IS NOT NULL;
CREATE INDEX records_by_content ON records (content_hash, scope_id);
CREATE INDEX records_by_embedding ON records (embedding_hash);
CREATE INDEX records_by_scope ON records (scope_id, kind);
CREATE INDEX records_by_expiry ON records (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX records_pending ON records (id) WHERE embedding_id IS NULL;
CREATE INDEX records_by_thread ON records (scope_id, session, turn, id) WHERE session IS NOT NULL;

CREATE TABLE versions (
    record_id bigint NOT NULL REFERENCES records (id) ON DELETE CASCADE,
    version bigint NOT NULL,
    replaced_at bigint NOT NULL,
    reason text COLLATE "C" NOT NULL,
    kind bigint NOT NULL,
    scope_id bigint NOT NULL,
    importance bigint NOT NULL,
    confidence double precision NOT NULL,
    updated_at bigint NOT NULL,
    expires_at bigint,
    valid_from bigint,
    valid_to bigint,
    content_hash bytea NOT NULL,
    embedding_hash bytea NOT NULL,
    source text COLLATE "C" NOT NULL,
    tags text COLLATE "C",
    provenance text COLLATE "C",
    body text COLLATE "C",
    context text COLLATE "C",
    content text COLLATE "C" NOT NULL,
    stamp bigint NOT NULL DEFAULT stamp(),
    PRIMARY KEY (record_id, version)
);
CREATE INDEX versions_by_embedding ON versions (embedding_hash);

CREATE TABLE version_causes (
    record_id bigint NOT NULL REFERENCES records (id) ON DELETE CASCADE,
    version bigint NOT NULL,
    cause bigint NOT NULL,
    links text COLLATE "C",
    stamp bigint NOT NULL DEFAULT stamp(),
    PRIMARY KEY (record_id, version)
);

CREATE TABLE trash (
    id bigint PRIMARY KEY,
    deleted_at bigint NOT NULL,
    ulid bytea NOT NULL CHECK (length(ulid) = 16),
    version bigint NOT NULL,
    kind bigint NOT NULL,
    scope_id bigint NOT NULL REFERENCES scopes (id),
    importance bigint NOT NULL,
    confidence double precision NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    expires_at bigint,
    valid_from bigint,
    valid_to bigint,
    access_count bigint NOT NULL,
    last_accessed_at bigint,
    content_hash bytea NOT NULL,
    embedding_hash bytea NOT NULL,
    source text COLLATE "C" NOT NULL,
    tags text COLLATE "C",
    provenance text COLLATE "C",
    body text COLLATE "C",
    context text COLLATE "C",
    content text COLLATE "C" NOT NULL,
    session text COLLATE "C",
    turn bigint,
    origin bytea,
    stamp bigint NOT NULL DEFAULT stamp()
);
CREATE INDEX trash_by_time ON trash (deleted_at);
CREATE INDEX trash_by_origin ON trash (origin) WHERE origin IS NOT NULL;

CREATE TABLE trash_versions (
    record_id bigint NOT NULL REFERENCES trash (id) ON DELETE CASCADE,
    version bigint NOT NULL,
    replaced_at bigint NOT NULL,
    reason text COLLATE "C" NOT NULL,
    kind bigint NOT NULL,
    importance bigint NOT NULL,
    confidence double precision NOT NULL,
    updated_at bigint NOT NULL,
    expires_at bigint,
    valid_from bigint,
    valid_to bigint,
    content_hash bytea NOT NULL,
    embedding_hash bytea NOT NULL,
    source text COLLATE "C" NOT NULL,
    tags text COLLATE "C",
    provenance text COLLATE "C",
    body text COLLATE "C",
    context text COLLATE "C",
    content text COLLATE "C" NOT NULL,
    stamp bigint NOT NULL DEFAULT stamp(),
    PRIMARY KEY (record_id, version)
);

CREATE TABLE trash_links (
    record_id bigint NOT NULL REFERENCES trash (id) ON DELETE CASCADE,
    from_id bigint NOT NULL,
    kind bigint NOT NULL,
    to_id bigint NOT NULL,
    created_at bigint NOT NULL,
    stamp bigint NOT NULL DEFAULT stamp(),
    PRIMARY KEY (record_id, from_id, kind, to_id)
);

CREATE TABLE links (
    from_id bigint NOT NULL REFERENCES records (id) ON DELETE CASCADE,
    kind bigint NOT NULL CHECK (kind >= 0),
    to_id bigint NOT NULL REFERENCES records (id) ON DELETE CASCADE,
    from_scope bigint NOT NULL,
    to_scope bigint NOT NULL,
    created_at bigint NOT NULL,
    stamp bigint NOT NULL DEFAULT stamp(),
    PRIMARY KEY (from_id, kind, to_id),
    CHECK (from_id <> to_id)
);
CREATE INDEX links_to ON links (to_id, kind, from_id);

CREATE TABLE models (
    id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    name text COLLATE "C" NOT NULL,
    weights_sha256 text COLLATE "C" NOT NULL,
    pooling text COLLATE "C" NOT NULL,
    dims bigint NOT NULL CHECK (dims > 0),
    stamp bigint NOT NULL DEFAULT stamp(),
    UNIQUE (weights_sha256, pooling, dims)
);

CREATE TABLE embeddings (
    id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    model_id bigint NOT NULL REFERENCES models (id),
    hash bytea NOT NULL CHECK (length(hash) = 32),
    vector bytea NOT NULL,
    stamp bigint NOT NULL DEFAULT stamp(),
    UNIQUE (model_id, hash)
);
ALTER TABLE embeddings ALTER COLUMN vector SET STORAGE EXTERNAL;

CREATE TABLE passages (
    record_id bigint NOT NULL REFERENCES records (id) ON DELETE CASCADE,
    number bigint NOT NULL CHECK (number BETWEEN 1 AND 255),
    starts_at bigint NOT NULL,
    ends_at bigint NOT NULL,
    hash bytea NOT NULL CHECK (length(hash) = 32),
    embedding_id bigint,
    stamp bigint NOT NULL DEFAULT stamp(),
    PRIMARY KEY (record_id, number)
);
CREATE INDEX passages_by_hash ON passages (hash);
CREATE INDEX passages_pending ON passages (record_id) WHERE embedding_id IS NULL;

CREATE TABLE forgotten (
    origin bytea PRIMARY KEY CHECK (length(origin) = 16),
    stamp bigint NOT NULL DEFAULT stamp()
);
CREATE INDEX forgotten_by_unit ON forgotten (((get_byte(origin, 0) * 256 + get_byte(origin, 1))::bigint));

CREATE TABLE node_sources (
    id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    node text COLLATE "C" NOT NULL DEFAULT current_setting('memorist.node'),
    kind bigint NOT NULL CHECK (kind IN (0, 1)),
    path text COLLATE "C" NOT NULL,
    format text COLLATE "C",
    globs text COLLATE "C",
    agent text COLLATE "C",
    project text COLLATE "C",
    added_at bigint NOT NULL,
    synced_at bigint,
    skipped text COLLATE "C",
    stamp bigint NOT NULL DEFAULT stamp()
);
CREATE UNIQUE INDEX sources_by_path ON node_sources (node, path, kind, coalesce(format, ''));
CREATE VIEW sources AS
    SELECT id, kind, path, format, globs, agent, project, added_at, synced_at, skipped
    FROM node_sources WHERE node = current_setting('memorist.node')
        AND (project IS NULL OR memorist.sees_all() OR project IN (SELECT memorist.own_projects()))
    WITH LOCAL CHECK OPTION;
CREATE TABLE node_files (
    id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    node text COLLATE "C" NOT NULL DEFAULT current_setting('memorist.node'),
    source_id bigint NOT NULL REFERENCES node_sources (id) ON DELETE CASCADE,
    path text COLLATE "C" NOT NULL,
    thread text COLLATE "C" NOT NULL,
    size bigint NOT NULL,
    modified bigint NOT NULL,
    device bigint NOT NULL,
    inode bigint NOT NULL,
    hash bytea,
    cursor text COLLATE "C",
    read_at bigint NOT NULL,
    gone_at bigint,
    problem text COLLATE "C",
    skipped text COLLATE "C",
    stamp bigint NOT NULL DEFAULT stamp()
);
CREATE UNIQUE INDEX files_by_path ON node_files (source_id, path);
CREATE INDEX files_by_path_alone ON node_files (path);
CREATE INDEX files_by_thread ON node_files (thread);
CREATE VIEW files AS
    SELECT id, source_id, path, thread, size, modified, device, inode, hash, cursor, read_at, gone_at, problem, skipped
    FROM node_files WHERE node = current_setting('memorist.node') AND source_id IN (SELECT s.id FROM memorist.sources s)
    WITH LOCAL CHECK OPTION;

CREATE TABLE sync_log (
    seq bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    op bigint NOT NULL,
    record_id bigint NOT NULL,
    payload bytea NOT NULL,
    xid xid8 NOT NULL DEFAULT pg_current_xact_id()
);
CREATE INDEX sync_log_by_transaction ON sync_log (xid);

CREATE TABLE access_log (
    id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    record_id bigint NOT NULL REFERENCES records (id) ON DELETE CASCADE,
    accessed_at bigint NOT NULL,
    access_type text COLLATE "C" NOT NULL,
    relevance_score double precision,
    query_text text COLLATE "C"
);
CREATE INDEX access_log_by_record ON access_log (record_id);
CREATE TABLE searches (
    id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    searched_at bigint NOT NULL,
    agent text COLLATE "C",
    project text COLLATE "C",
    tool text COLLATE "C" NOT NULL,
    query text COLLATE "C" NOT NULL,
    mode text COLLATE "C" NOT NULL,
    filters text COLLATE "C",
    hits bigint NOT NULL,
    unanswered bigint NOT NULL CHECK (unanswered IN (0, 1)),
    best_score double precision,
    best_cosine double precision,
    micros bigint NOT NULL
);
CREATE TABLE search_hits (
    search_id bigint NOT NULL REFERENCES searches (id) ON DELETE CASCADE,
    record_id bigint NOT NULL,
    PRIMARY KEY (search_id, record_id)
);
CREATE INDEX search_hits_by_record ON search_hits (record_id);
CREATE TABLE recalled (
    session bytea NOT NULL CHECK (length(session) = 32),
    record_id bigint NOT NULL REFERENCES records (id) ON DELETE CASCADE,
    version bigint NOT NULL,
    recalled_at bigint NOT NULL,
    PRIMARY KEY (session, record_id)
);
CREATE INDEX recalled_by_record ON recalled (record_id);
CREATE INDEX recalled_by_time ON recalled (recalled_at);

CREATE TABLE nodes (
    node text COLLATE "C" PRIMARY KEY,
    name text COLLATE "C" NOT NULL,
    version text COLLATE "C" NOT NULL,
    seen_at timestamptz NOT NULL DEFAULT now(),
    purged_to text COLLATE "C"
);
CREATE TABLE removed (
    ulid bytea PRIMARY KEY CHECK (length(ulid) = 16),
    removed_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX removed_by_time ON removed (removed_at);
CREATE TABLE writes (
    token bytea PRIMARY KEY CHECK (length(token) = 16),
    was_given_up boolean NOT NULL DEFAULT false,
    written_at timestamptz NOT NULL DEFAULT transaction_timestamp()
);
CREATE INDEX writes_by_time ON writes (written_at);
CREATE INDEX changes_by_time ON changes USING brin (changed_at);
CREATE TABLE leases (
    name text COLLATE "C" PRIMARY KEY,
    node text COLLATE "C" NOT NULL,
    until timestamptz NOT NULL
);
CREATE TABLE tokens (
    id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    sha256 bytea NOT NULL UNIQUE CHECK (length(sha256) = 32),
    label text COLLATE "C" NOT NULL,
    agent text COLLATE "C",
    project text COLLATE "C",
    rights text COLLATE "C" NOT NULL CHECK (rights IN ('read', 'write')),
    created_at bigint NOT NULL,
    expires_at bigint,
    stamp bigint NOT NULL DEFAULT stamp()
);
"#;
