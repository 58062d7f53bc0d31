-- The third migration: no number of a memory that a failover has lost is given to another memory.
--
-- A promoted standby, and a restored backup, continue to count where they are: what the old primary had numbered since, nodes and
-- agents may still know. Such a server has another timeline, or is another database: it then leaves some numbers out, before the
-- first memory is saved there.

CREATE FUNCTION lineage() RETURNS text LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
    AS $$ SELECT split_part(i, ' ', 1) || ' ' || split_part(i, ' ', 3) FROM memorist.incarnation() i $$;

CREATE FUNCTION leave_numbers_out() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    now_by text := memorist.lineage();
    last_by text := (SELECT value FROM memorist.server WHERE key = 'numbered_by');
BEGIN
    IF last_by IS DISTINCT FROM now_by THEN
        INSERT INTO memorist.server VALUES ('numbered_by', now_by) ON CONFLICT (key) DO UPDATE SET value = excluded.value;
        -- More than a standby is behind.
        PERFORM setval('memorist.records_id_seq', last_value + 10000) FROM memorist.records_id_seq WHERE is_called;
    END IF;
    RETURN NULL;
END $$;
REVOKE EXECUTE ON FUNCTION lineage(), leave_numbers_out() FROM PUBLIC;
CREATE TRIGGER leave_numbers_out BEFORE INSERT ON records FOR EACH STATEMENT EXECUTE FUNCTION leave_numbers_out();
INSERT INTO server VALUES ('numbered_by', lineage());
