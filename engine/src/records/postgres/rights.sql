-- What members may do. The owner of the tables may do everything; no policy below is for it.
--
-- A member runs any SQL as its role. It has rights on columns (`grant_member`), policies say on which rows, and triggers keep what
-- several projects share. It never gives a row its number, its stamp or its role.

-- A temporary table would be found before one of pg_catalog.
DO $$
DECLARE
    f regprocedure;
BEGIN
    FOR f IN SELECT p.oid FROM pg_proc p WHERE p.pronamespace = 'memorist'::regnamespace AND p.prosecdef LOOP
        EXECUTE format('ALTER FUNCTION %s SET search_path = pg_catalog, pg_temp', f);
    END LOOP;
END $$;

CREATE FUNCTION is_owner() RETURNS boolean LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$ SELECT pg_has_role(session_user, c.relowner, 'USAGE') FROM pg_class c WHERE c.oid = 'memorist.members'::regclass $$;

-- Nodes --------------------------------------------------------------------------------------------------------------------

-- A node belongs to the role that entered it. One that was entered before this has none, until it comes back.
ALTER TABLE nodes ADD COLUMN role text COLLATE "C";
ALTER TABLE nodes ALTER COLUMN role SET DEFAULT session_user;
INSERT INTO nodes (node, name, version, role) SELECT DISTINCT s.node, s.node, '', NULL FROM node_sources s
    ON CONFLICT (node) DO NOTHING;
CREATE FUNCTION own_node(of text) RETURNS boolean LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$ SELECT memorist.is_owner() OR NOT EXISTS (
        SELECT 1 FROM memorist.nodes n WHERE n.node = own_node.of AND n.role <> session_user) $$;
CREATE FUNCTION claimed_node() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.role := coalesce(NEW.role, session_user);
    RETURN NEW;
END $$;
CREATE TRIGGER claimed BEFORE UPDATE ON nodes FOR EACH ROW EXECUTE FUNCTION claimed_node();
-- A node that adds a source is entered with it: no other role has its sources.
CREATE FUNCTION entered_node() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    INSERT INTO memorist.nodes (node, name, version) VALUES (NEW.node, NEW.node, '') ON CONFLICT (node) DO NOTHING;
    RETURN NEW;
END $$;
CREATE TRIGGER entered BEFORE INSERT ON node_sources FOR EACH ROW EXECUTE FUNCTION entered_node();
CREATE OR REPLACE VIEW sources AS
    SELECT id, kind, path, format, globs, agent, project, added_at, synced_at, skipped
    FROM node_sources WHERE node = current_setting('memorist.node') AND memorist.own_node(node)
        AND (project IS NULL OR memorist.sees_all() OR project IN (SELECT memorist.own_projects()))
    WITH LOCAL CHECK OPTION;
-- A function of the member's own would be called with rows that it does not see.
ALTER VIEW sources SET (security_barrier = true);
ALTER VIEW files SET (security_barrier = true);

-- A member's leases are its own: it does for itself what it sees. None lasts for longer than a minute.
ALTER TABLE leases ADD COLUMN role text COLLATE "C";
ALTER TABLE leases ALTER COLUMN role SET DEFAULT session_user;
CREATE FUNCTION bounded_lease() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF TG_OP = 'INSERT' AND NOT memorist.is_owner() THEN
        NEW.name := NEW.name || ' of ' || session_user;
    END IF;
    NEW.until := least(NEW.until, clock_timestamp() + interval '1 minute');
    RETURN NEW;
END $$;
CREATE TRIGGER bounded BEFORE INSERT OR UPDATE ON leases FOR EACH ROW EXECUTE FUNCTION bounded_lease();

ALTER TABLE writes ADD COLUMN role text COLLATE "C";
ALTER TABLE writes ALTER COLUMN role SET DEFAULT session_user;

-- Records ------------------------------------------------------------------------------------------------------------------

-- A number is a new one, or that of a memory which comes back from the trash: a later one would keep others from saving.
CREATE FUNCTION numbered_record() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF memorist.is_owner() OR EXISTS (SELECT 1 FROM memorist.trash t
        WHERE t.id = NEW.id AND t.ulid = NEW.ulid AND t.scope_id = NEW.scope_id) THEN
        RETURN NEW;
    END IF;
    IF NEW.id IS DISTINCT FROM currval(pg_get_serial_sequence('memorist.records', 'id')) THEN
        RAISE EXCEPTION 'the number of a new memory is not chosen' USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER numbered BEFORE INSERT ON records FOR EACH ROW EXECUTE FUNCTION numbered_record();

-- What was forged before this.
DELETE FROM links l WHERE NOT EXISTS (SELECT 1 FROM records f, records t
    WHERE f.id = l.from_id AND t.id = l.to_id AND f.scope_id = l.from_scope AND t.scope_id = l.to_scope);
DELETE FROM versions v WHERE NOT EXISTS (SELECT 1 FROM records r WHERE r.id = v.record_id AND r.scope_id = v.scope_id);

-- Vectors ------------------------------------------------------------------------------------------------------------------

-- The transaction that stored a vector. It sees it before a text has it.
ALTER TABLE embeddings ADD COLUMN xid xid8;
-- One text has one vector, also where who stores it does not see the others that have it: the first one stays, unless the owner
-- of the tables stores another.
CREATE FUNCTION stored_vector() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    known record;
BEGIN
    NEW.xid := pg_current_xact_id();
    DELETE FROM memorist.embeddings e WHERE e.model_id = NEW.model_id AND e.hash = NEW.hash RETURNING e.id, e.vector INTO known;
    IF FOUND THEN
        NEW.id := known.id;
        IF NOT memorist.is_owner() THEN
            NEW.vector := known.vector;
        END IF;
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER stored BEFORE INSERT ON embeddings FOR EACH ROW EXECUTE FUNCTION stored_vector();
-- By its number, not by its text: nobody may ask whether a text is there.
CREATE FUNCTION is_orphan(of bigint) RETURNS boolean LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    AS $$ SELECT EXISTS (SELECT 1 FROM memorist.embeddings e WHERE e.id = is_orphan.of
        AND NOT EXISTS (SELECT 1 FROM memorist.records r WHERE r.embedding_hash = e.hash)
        AND NOT EXISTS (SELECT 1 FROM memorist.versions v WHERE v.embedding_hash = e.hash)
        AND NOT EXISTS (SELECT 1 FROM memorist.passages p WHERE p.hash = e.hash)) $$;

-- Values -------------------------------------------------------------------------------------------------------------------

-- A mark of a purge stays in sight until the next one.
CREATE FUNCTION ended_purge() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    INSERT INTO memorist.meta (key, value) VALUES ('purged', OLD.value)
        ON CONFLICT (key) DO UPDATE SET value = excluded.value WHERE meta.value <> excluded.value;
    RETURN NULL;
END $$;
CREATE TRIGGER ended AFTER DELETE ON meta FOR EACH ROW WHEN (OLD.key = 'purging') EXECUTE FUNCTION ended_purge();
CREATE FUNCTION kept_value() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    before text := (SELECT m.value FROM memorist.meta m WHERE m.key = NEW.key);
    may boolean;
BEGIN
    may := CASE NEW.key
        -- A node that has it cleaned before would not clean again.
        WHEN 'purging' THEN NEW.value ~ '^[0-9A-HJKMNP-TV-Z]{26}$' AND NOT EXISTS (
            SELECT 1 FROM memorist.nodes n WHERE n.purged_to = NEW.value
            UNION ALL SELECT 1 FROM memorist.meta m WHERE m.key = 'purged' AND m.value = NEW.value)
        WHEN 'purged' THEN NEW.value = before
        -- A memory that lacks a version goes on doing so.
        WHEN 'versions_lost' THEN NEW.value ~ '^\[[0-9]+(,[0-9]+)*\]$' AND (before IS NULL
            OR string_to_array(btrim(before, '[]'), ',') <@ string_to_array(btrim(NEW.value, '[]'), ','))
        WHEN 'model' THEN before IS NULL AND EXISTS (SELECT 1 FROM memorist.models m WHERE m.id::text = NEW.value)
        ELSE false
    END;
    -- What `ended_purge` writes is not the member's.
    IF may OR memorist.is_owner() OR pg_trigger_depth() > 1 THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'only the owner of the tables writes %', NEW.key USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER kept BEFORE INSERT OR UPDATE ON meta FOR EACH ROW EXECUTE FUNCTION kept_value();

-- Policies -----------------------------------------------------------------------------------------------------------------

DO $$
DECLARE
    p record;
BEGIN
    FOR p IN SELECT tablename, policyname FROM pg_policies WHERE schemaname = 'memorist' LOOP
        EXECUTE format('DROP POLICY %I ON %I', p.policyname, p.tablename);
    END LOOP;
END $$;
DROP FUNCTION is_used(bytea);

CREATE POLICY seen ON changes FOR SELECT USING (scope IS NULL OR scope IN (SELECT memorist.own_scopes()));
CREATE POLICY seen ON tokens FOR SELECT USING (project IN (SELECT memorist.own_projects()) OR memorist.sees_all());

CREATE POLICY seen ON nodes FOR SELECT USING (role = session_user OR role IS NULL);
CREATE POLICY added ON nodes FOR INSERT WITH CHECK (role = session_user AND node ~ '^[0-9A-HJKMNP-TV-Z]{26}$'
    AND octet_length(name) <= 1024 AND octet_length(version) <= 100 AND coalesce(octet_length(purged_to) <= 100, true));
CREATE POLICY changed ON nodes FOR UPDATE USING (role = session_user OR role IS NULL) WITH CHECK (role = session_user
    AND octet_length(name) <= 1024 AND octet_length(version) <= 100 AND coalesce(octet_length(purged_to) <= 100, true));
CREATE POLICY seen ON leases FOR SELECT USING (role = session_user);
CREATE POLICY added ON leases FOR INSERT WITH CHECK (role = session_user AND octet_length(name) <= 200);
CREATE POLICY changed ON leases FOR UPDATE USING (role = session_user) WITH CHECK (octet_length(node) <= 100);
ALTER TABLE nodes ENABLE ROW LEVEL SECURITY;
ALTER TABLE leases ENABLE ROW LEVEL SECURITY;
-- Whether a transaction has committed is its node's to ask, and to give up.
CREATE POLICY seen ON writes FOR SELECT USING (role = session_user);
CREATE POLICY added ON writes FOR INSERT WITH CHECK (role = session_user);
CREATE POLICY changed ON writes FOR UPDATE USING (role = session_user) WITH CHECK (role = session_user);
ALTER TABLE writes ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON node_sources FOR SELECT USING (memorist.own_node(node)
    AND (project IS NULL OR memorist.sees_all() OR project IN (SELECT memorist.own_projects())));
CREATE POLICY seen ON node_files FOR SELECT USING (EXISTS (SELECT 1 FROM memorist.node_sources s WHERE s.id = source_id));

CREATE POLICY seen ON scopes FOR SELECT USING (
    project IS NULL OR project IN (SELECT memorist.own_projects()) OR memorist.sees_all());
CREATE POLICY added ON scopes FOR INSERT WITH CHECK (
    (project IS NULL OR project IN (SELECT memorist.own_projects()) OR memorist.sees_all())
    AND coalesce(octet_length(agent) <= 1024, true) AND coalesce(octet_length(project) <= 1024, true));

-- Generous bounds: nodes check each value.
CREATE FUNCTION fits(kind bigint, content text, others text[]) RETURNS boolean LANGUAGE sql IMMUTABLE
    AS $$ SELECT kind < 64 AND octet_length(content) <= 1048576 AND octet_length(array_to_string(others, '')) <= 8388608 $$;
CREATE POLICY seen ON records FOR SELECT USING (scope_id IN (SELECT memorist.own_scopes()));
CREATE POLICY added ON records FOR INSERT WITH CHECK (scope_id IN (SELECT memorist.own_scopes())
    AND memorist.fits(kind, content, ARRAY[context, body, source, tags, provenance, session]));
CREATE POLICY changed ON records FOR UPDATE USING (scope_id IN (SELECT memorist.own_scopes()))
    WITH CHECK (memorist.fits(kind, content, ARRAY[context, body, source, tags, provenance, session]));
CREATE POLICY removed ON records FOR DELETE USING (scope_id IN (SELECT memorist.own_scopes()));

CREATE POLICY seen ON versions FOR SELECT USING (scope_id IN (SELECT memorist.own_scopes()));
CREATE POLICY added ON versions FOR INSERT WITH CHECK (EXISTS (SELECT 1 FROM memorist.records r
        WHERE r.id = record_id AND r.scope_id = versions.scope_id AND r.version >= versions.version)
    AND memorist.fits(kind, content, ARRAY[context, body, source, tags, provenance, reason]));
CREATE POLICY removed ON versions FOR DELETE USING (EXISTS (SELECT 1 FROM memorist.records r WHERE r.id = record_id));

CREATE POLICY seen ON version_causes FOR SELECT USING (EXISTS (SELECT 1 FROM memorist.records r WHERE r.id = record_id));
CREATE POLICY added ON version_causes FOR INSERT WITH CHECK (cause IN (1, 2) AND coalesce(octet_length(links) <= 1048576, true)
    AND EXISTS (SELECT 1 FROM memorist.records r WHERE r.id = record_id));
CREATE POLICY changed ON version_causes FOR UPDATE USING (EXISTS (SELECT 1 FROM memorist.records r WHERE r.id = record_id))
    WITH CHECK (cause IN (1, 2) AND coalesce(octet_length(links) <= 1048576, true));

CREATE POLICY seen ON passages FOR SELECT USING (EXISTS (SELECT 1 FROM memorist.records r WHERE r.id = record_id));
CREATE POLICY added ON passages FOR INSERT WITH CHECK (EXISTS (SELECT 1 FROM memorist.records r WHERE r.id = record_id));
CREATE POLICY changed ON passages FOR UPDATE USING (EXISTS (SELECT 1 FROM memorist.records r WHERE r.id = record_id))
    WITH CHECK (true);
CREATE POLICY removed ON passages FOR DELETE USING (EXISTS (SELECT 1 FROM memorist.records r WHERE r.id = record_id));

-- What is deleted is copied before it goes.
CREATE POLICY seen ON trash FOR SELECT USING (scope_id IN (SELECT memorist.own_scopes()));
CREATE POLICY added ON trash FOR INSERT WITH CHECK (EXISTS (SELECT 1 FROM memorist.records r
        WHERE r.id = trash.id AND r.ulid = trash.ulid AND r.scope_id = trash.scope_id)
    AND memorist.fits(kind, content, ARRAY[context, body, source, tags, provenance, session]));
CREATE POLICY changed ON trash FOR UPDATE USING (scope_id IN (SELECT memorist.own_scopes()))
    WITH CHECK (memorist.fits(kind, content, ARRAY[provenance]));
CREATE POLICY removed ON trash FOR DELETE USING (scope_id IN (SELECT memorist.own_scopes()));
CREATE POLICY seen ON trash_versions FOR SELECT USING (EXISTS (SELECT 1 FROM memorist.trash t WHERE t.id = record_id));
CREATE POLICY added ON trash_versions FOR INSERT WITH CHECK (EXISTS (SELECT 1 FROM memorist.trash t WHERE t.id = record_id)
    AND memorist.fits(kind, content, ARRAY[context, body, source, tags, provenance, reason]));
CREATE POLICY seen ON trash_links FOR SELECT USING (EXISTS (SELECT 1 FROM memorist.trash t WHERE t.id = record_id));
CREATE POLICY added ON trash_links FOR INSERT WITH CHECK (kind BETWEEN 0 AND 63
    AND EXISTS (SELECT 1 FROM memorist.trash t WHERE t.id = record_id)
    AND EXISTS (SELECT 1 FROM (SELECT r.id FROM memorist.records r UNION ALL SELECT t.id FROM memorist.trash t) other
        WHERE record_id = from_id AND other.id = to_id OR record_id = to_id AND other.id = from_id));

-- Between two memories that the member sees, and of the scopes that these have: nobody else's memory is hidden by it.
CREATE POLICY seen ON links FOR SELECT USING (
    from_scope IN (SELECT memorist.own_scopes()) AND to_scope IN (SELECT memorist.own_scopes()));
CREATE POLICY added ON links FOR INSERT WITH CHECK (kind < 64 AND EXISTS (SELECT 1 FROM memorist.records f, memorist.records t
    WHERE f.id = from_id AND t.id = to_id AND f.scope_id = from_scope AND t.scope_id = to_scope));
CREATE POLICY removed ON links FOR DELETE USING (
    from_scope IN (SELECT memorist.own_scopes()) AND to_scope IN (SELECT memorist.own_scopes()));

-- What somebody deleted is forgotten by who deletes it, and recalled by who brings it back.
CREATE POLICY seen ON forgotten FOR SELECT USING (true);
CREATE POLICY added ON forgotten FOR INSERT WITH CHECK (EXISTS (SELECT 1 FROM memorist.records r
    WHERE r.origin = forgotten.origin OR r.ulid = forgotten.origin));
CREATE POLICY removed ON forgotten FOR DELETE USING (EXISTS (SELECT 1 FROM memorist.records r
    WHERE r.origin = forgotten.origin OR r.ulid = forgotten.origin));
ALTER TABLE forgotten ENABLE ROW LEVEL SECURITY;

-- An entry of the log is of a memory that the member sees; or of one that is gone, which everybody has to know.
CREATE POLICY seen ON sync_log FOR SELECT USING (
    EXISTS (SELECT 1 FROM memorist.records r WHERE r.id = record_id) OR NOT memorist.is_there(record_id));
CREATE POLICY added ON sync_log FOR INSERT WITH CHECK (CASE op
    WHEN 1 THEN length(payload) = 9 AND get_byte(payload, 8) <= 1
        AND EXISTS (SELECT 1 FROM memorist.records r WHERE r.id = record_id)
    WHEN 2 THEN length(payload) = 16 AND NOT memorist.is_there(record_id)
        AND EXISTS (SELECT 1 FROM memorist.removed d WHERE d.ulid = payload)
    WHEN 3 THEN length(payload) = 8 AND EXISTS (SELECT 1 FROM memorist.records r WHERE r.id = record_id)
    ELSE false END);

-- A vector says what its text is about: it is seen by those who see a text that has it.
CREATE POLICY seen ON embeddings FOR SELECT USING (
    EXISTS (SELECT 1 FROM memorist.records r WHERE r.embedding_hash = hash)
    OR EXISTS (SELECT 1 FROM memorist.versions v WHERE v.embedding_hash = hash)
    OR EXISTS (SELECT 1 FROM memorist.passages p WHERE p.hash = embeddings.hash)
    OR xid = pg_current_xact_id_if_assigned() OR memorist.is_orphan(id));
CREATE POLICY added ON embeddings FOR INSERT WITH CHECK (EXISTS (SELECT 1 FROM memorist.models m
    WHERE m.id = model_id AND length(vector) IN (2 * m.dims, 4 * m.dims)));
CREATE POLICY removed ON embeddings FOR DELETE USING (memorist.is_orphan(id));
-- The first role that embeds sets the model of the store. Only the owner changes it.
CREATE POLICY seen ON models FOR SELECT USING (true);
CREATE POLICY added ON models FOR INSERT WITH CHECK (NOT EXISTS (SELECT 1 FROM memorist.meta m WHERE m.key = 'model')
    AND dims <= 65536 AND octet_length(name) <= 1024 AND octet_length(weights_sha256) <= 1024 AND octet_length(pooling) <= 1024);
ALTER TABLE models ENABLE ROW LEVEL SECURITY;
-- Jobs and refusals name texts of all projects.
CREATE POLICY seen ON meta FOR SELECT USING (key <> 'refused' AND key NOT LIKE 'batch%');
CREATE POLICY added ON meta FOR INSERT WITH CHECK (key <> 'refused' AND key NOT LIKE 'batch%');
CREATE POLICY changed ON meta FOR UPDATE USING (key IN ('purging', 'purged', 'versions_lost')) WITH CHECK (true);
CREATE POLICY removed ON meta FOR DELETE USING (key = 'purging');

-- What an import brings with a memory. A server keeps no searches, and knows of no sessions.
CREATE POLICY seen ON access_log FOR SELECT USING (EXISTS (SELECT 1 FROM memorist.records r WHERE r.id = record_id));
CREATE POLICY added ON access_log FOR INSERT WITH CHECK (EXISTS (SELECT 1 FROM memorist.records r WHERE r.id = record_id));
CREATE POLICY removed ON access_log FOR DELETE USING (EXISTS (SELECT 1 FROM memorist.records r WHERE r.id = record_id));
ALTER TABLE searches ENABLE ROW LEVEL SECURITY;
ALTER TABLE search_hits ENABLE ROW LEVEL SECURITY;

-- Grants -------------------------------------------------------------------------------------------------------------------

REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA memorist FROM PUBLIC;
CREATE FUNCTION grant_member(member text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    granted text;
    texts CONSTANT text := 'kind, scope_id, importance, confidence, updated_at, expires_at, valid_from, valid_to, content_hash, '
        'embedding_hash, source, tags, provenance, body, context, content';
    kept CONSTANT text := 'created_at, access_count, last_accessed_at, session, turn, origin';
    file CONSTANT text := 'path, thread, size, modified, device, inode, hash, cursor, read_at, problem, skipped';
BEGIN
    EXECUTE format('GRANT USAGE ON SCHEMA memorist TO %I', member);
    EXECUTE format('REVOKE ALL ON ALL TABLES IN SCHEMA memorist FROM %I', member);
    EXECUTE format('REVOKE ALL ON ALL SEQUENCES IN SCHEMA memorist FROM %I', member);
    EXECUTE format('REVOKE ALL ON ALL FUNCTIONS IN SCHEMA memorist FROM %I', member);
    FOREACH granted IN ARRAY ARRAY[
        'SELECT ON memorist.server, memorist.changes, memorist.removed, memorist.tokens, memorist.node_sources, '
            'memorist.node_files, memorist.search_hits',
        'SELECT, DELETE ON memorist.searches',
        'SELECT, INSERT (key, value), UPDATE (value), DELETE ON memorist.meta',
        'SELECT, INSERT (agent, project) ON memorist.scopes',
        'SELECT, INSERT (id, ulid, version, ' || texts || ', embedding_id, ' || kept || '), '
            'UPDATE (version, ' || replace(texts, 'scope_id, ', '') || ', embedding_id, ' || kept || '), DELETE ON memorist.records',
        'SELECT, INSERT (record_id, version, replaced_at, reason, ' || texts || '), DELETE ON memorist.versions',
        'SELECT, INSERT (record_id, version, cause, links), UPDATE (cause, links) ON memorist.version_causes',
        'SELECT, INSERT (id, deleted_at, ulid, version, ' || texts || ', ' || kept || '), UPDATE (ulid, provenance, origin), '
            'DELETE ON memorist.trash',
        'SELECT, INSERT (record_id, version, replaced_at, reason, ' || replace(texts, 'scope_id, ', '') || ') '
            'ON memorist.trash_versions',
        'SELECT, INSERT (record_id, from_id, kind, to_id, created_at) ON memorist.trash_links',
        'SELECT, INSERT (from_id, kind, to_id, from_scope, to_scope, created_at), DELETE ON memorist.links',
        'SELECT, INSERT (name, weights_sha256, pooling, dims) ON memorist.models',
        'SELECT, INSERT (model_id, hash, vector), DELETE ON memorist.embeddings',
        'SELECT, INSERT (record_id, number, starts_at, ends_at, hash, embedding_id), UPDATE (embedding_id), DELETE '
            'ON memorist.passages',
        'SELECT, INSERT (origin), DELETE ON memorist.forgotten',
        'SELECT, INSERT (kind, path, format, globs, agent, project, added_at), '
            'UPDATE (globs, agent, project, synced_at, skipped), DELETE ON memorist.sources',
        'SELECT, INSERT (source_id, ' || file || '), UPDATE (gone_at, ' || file || '), DELETE ON memorist.files',
        'SELECT, INSERT (op, record_id, payload) ON memorist.sync_log',
        'SELECT, INSERT (record_id, accessed_at, access_type, relevance_score, query_text), DELETE ON memorist.access_log',
        'SELECT, INSERT (node, name, version, purged_to), UPDATE (name, version, seen_at, purged_to) ON memorist.nodes',
        'SELECT, INSERT (token, was_given_up), UPDATE (was_given_up) ON memorist.writes',
        'SELECT, INSERT (name, node, until), UPDATE (node, until) ON memorist.leases',
        'EXECUTE ON FUNCTION memorist.stamp, memorist.news, memorist.incarnation, memorist.own_projects, memorist.own_scopes, '
            'memorist.sees_all, memorist.own_node, memorist.is_there, memorist.is_orphan, memorist.fits'
    ] LOOP
        EXECUTE format('GRANT %s TO %I', granted, member);
    END LOOP;
END $$;
REVOKE EXECUTE ON FUNCTION grant_member(text) FROM PUBLIC;
SELECT grant_member(role) FROM (SELECT DISTINCT m.role FROM members m JOIN pg_roles r ON r.rolname = m.role) known;
