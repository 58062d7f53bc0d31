//! The tables of `memory.db`, and how they came to be.
//!
//! # The database on one page
//!
//! The header names the owner: `application_id` is [`APPLICATION_ID`], `user_version` counts the [`MIGRATIONS`] that
//! were applied. Times are Unix milliseconds, hashes the 32 bytes of a SHA-256, ULIDs their 16 bytes (the most
//! significant first, so that they sort by time).
//!
//! | table | one row is |
//! |---|---|
//! | `records` | the newest version of a memory, of any kind |
//! | `versions` | an earlier version of one, whole; goes when the record goes |
//! | `scopes` | an (agent, project) pair; row 1 is global (both null) |
//! | `links` | one link from a memory to another; goes when either goes |
//! | `tallies` | totals of the records of one scope, kind and importance; kept by triggers (`tally.rs`) |
//! | `record_tags` | one tag of one record, in lower case (ASCII); derived from `records.tags` by triggers |
//! | `record_metadata` | one value of the metadata of one record; derived from `records.body` by triggers |
//! | `version_causes` | why an earlier version ended, where it was no change; goes when the record goes |
//! | `trash` | a record that was deleted; goes after 30 days, or when it is restored or purged |
//! | `trash_versions` | an earlier version of one; goes when that row of `trash` goes |
//! | `trash_links` | a link that it had; goes when that row of `trash` goes |
//! | `models` | an embedding model: two rows are never comparable |
//! | `embeddings` | the vector of one text under one model, 16-bit floats, little-endian |
//! | `passages` | a part of a record's text that the model's window leaves out (`passages.rs`); goes when the record goes |
//! | `access_log` | one fetch or search hit; the newest 100,000 are kept |
//! | `sync_log` | one change that the indexes must follow; see `records/log.rs` |
//! | `sources` | a file or a folder that is read: its notes, or the transcripts of an agent |
//! | `files` | one file of a source, and how far it was read; goes when the source goes |
//! | `forgotten` | the origin of a record that somebody deleted: it is not read again |
//! | `tombstones` | a memory that was deleted, purged or united with its twin: another machine must not bring it back |
//! | `version_tombstones` | a version that was purged, by the moment when it became the newest |
//! | `link_tombstones` | a link that somebody removed, and when |
//! | `searches` | one search, also one that found nothing; the newest 10,000 are kept |
//! | `search_hits` | a record that a search found, the best 100; goes when the search goes |
//! | `recalled` | a memory that automatic recall has injected into a session, at that version; goes after 30 days, and when the record goes |
//! | `copied` | a unit of rows that a node has copied from the server of its team (`follow/tables.rs`): how many rows, and the sum of their stamps |
//! | `unsent_accesses` | accesses of a record on this node that the server has not counted yet |
//! | `tokens` | a project of a token that clients of a team's nodes send, or its only row; a hash, what it is bound to, what it may do |
//! | `meta` | `store_id` (ULID text), `lineage` (ULID text), `trimmed_to` (sequence number), `model` and `next_model` (rows of `models`), `versions_lost`, `superseding`, `purging`, `refused`, `wide_to`, `cutter`, `uncut`, `followed` (how far a node has followed its server, `follow/cursor.rs`), the batch jobs of a provider (`records/jobs.rs`), notes about the other machines of a person, and `purges`, how many there were (`records/machines.rs`) |
//!
//! `lineage` distinguishes a restored copy from the store that it was copied from, which has the same `store_id`: indexes belong to
//! a lineage. Where it is missing, `store_id` is the lineage.
//!
//! `versions_lost` is a JSON array of the ids of records that lack an earlier version: damage took it, or a purge of a
//! text that only that version had. `refused` is a JSON object of the texts that a model refused, by hash, with the model and
//! the reason. `wide_to` is there while embeddings up to that row may have 32-bit floats, as version 7 wrote them (`narrow.rs`).
//! `purging` is there while a purge is not finished, or was interrupted (`purge/mark.rs`).
//!
//! `links.kind` is the position in [`LinkKind::ALL`](crate::types::LinkKind::ALL). `from_scope` and `to_scope` repeat the
//! scopes of the two records (scopes never change), so that one index answers which memories
//! are superseded for a viewer, and how many of a project are. `superseding` grows with each change to the links that supersede.
//!
//! Columns of `records` that need more than their name:
//!
//! - `kind` is the position in [`Kind::ALL`](crate::types::Kind::ALL).
//! - `content_hash` is of the content, `embedding_hash` of context and content ([`crate::text`]). The content hash is
//!   unique within a scope, but for kinds that [repeat](crate::types::Kind::repeats) and other turns of sessions. An expired record does not count: a text with an expired twin alone is saved under
//!   a new id, because "duplicate of 7" would name a record that nobody can see.
//! - `embedding_id` is the row of `embeddings` that holds this text under the store's model, null while it waits. An
//!   embedding stays as long as a record, a passage or a version has its text and the store has its model.
//! - `tags` is a JSON array of texts, null when empty.
//! - `valid_from` and `valid_to` are when an event happened, or from when and until when something was true.
//! - `session` and `turn` are the thread of a record and its place in it, both null or neither. The records of one scope
//!   with the same `session` are a thread, in the order of `turn` and then of `id`. A conversation has the one that its body names. Versions have
//!   none: a change leaves them.
//! - `origin` is what a record is in the file that it was read from, unique; `provenance` is its
//!   [`Place`](crate::types::Place) as JSON. Both are null for what was not read from a file.
//! - `body` is JSON, its shape is the kind's. Its `metadata` is an object whose keys are free.
//!
//! `record_metadata.kind` is 1 for a truth value (0 or 1), 2 for a number, 3 for a text of up to 1,024 bytes. Each item
//! of a list is a row; null, longer texts and what is nested deeper are none.
//!
//! `sources.kind` is 0 for notes and 1 for sessions, whose `format` is the agent's. `agent` and `project` are those that its
//! records get; null where each file decides. `files.thread` is the session of the chunks of a note: the path that it had at first, so that they stay when it is
//! renamed. `files.modified` is in nanoseconds since 1970, `cursor` is the reader's.
//! `gone_at` is when a file was not found any more. `skipped` counts what was passed over, by reason (JSON).
//!
//! `tombstones.deleted_at` is null where nobody deleted the memory, `into_ulid` is its twin's. A memory that was brought back keeps its row: it
//! lives because its newest version became that after `deleted_at`. Records that were read from files have no rows there. No text is in
//! these tables, and no hash of one. They are filled where the records are in `memory.db` alone, not by a team's server.
//!
//! `searches.agent` and `project` are those of the viewer: `*` for every one, null for what is shared alone. `filters` is JSON.
//! `unanswered` is 1 where the store seemed to have no answer. `search_hits.record_id` outlives the record in the trash, so that a
//! purge of it takes the searches along.
//!
//! `recalled.session` is a hash of the session's name (`rules/recalled.rs`), so that no text of anybody is in there. The newest
//! 20,000 rows are kept.
//!
//! `tokens.sha256` is the hash of the token in its first row, whose project is that of calls without one. Each further row has it with
//! the last byte raised by one more; without the first row they are no token. All else is the same in them.
//!
//! `version_causes.cause` is 1 for an undo or a restore, 2 where a superseded text was saved again. `links` has the links that this
//! changed, as JSON: `removed` (from which record, and when the link was made) and `made` (to which).
//!
//! A passage is the bytes of a record's content from `starts_at` on, up to `ends_at`; `number` counts from 1, as the
//! beginning is embedded with the record. `hash` is of the context and these bytes, `embedding_id` as in `records`.
//! `meta.cutter` is the version that cuts texts into passages. The records up to the id `meta.uncut` were saved before there
//! were passages, or were cut by another version: they are cut in the background, the newest first.
//!
//! A record is **live** until `expires_at`, exclusive. Ids are never used twice, and neither are sequence numbers of
//! the log (`AUTOINCREMENT`).
//!
//! `meta.model` is missing until a text is embedded. `meta.next_model` is there while the store changes to another
//! model (`rules/next_model.rs`): its embeddings are gathered beside those in use. No third model has any.
//!
//! `records_by_kind` covers every filter but tags, so that none reads a text. `records_by_scope` ends with the id, and so
//! has the newest records of a scope, kind and importance in order.
//!
//! # Versions
//!
//! | version | adds |
//! |---|---|
//! | 1 | records, versions, embeddings, the access log, the sync log |
//! | 2 | links, features, conversations that repeat a text, a count per scope, kind and importance |
//! | 3 | totals beside that count, so that statistics count nothing; the newest records and the most used patterns in order |
//! | 4 | the trash; tags without upper and lower case; records in the order of their last change |
//! | 5 | the cause of the end of a version: an undo is not undone |
//! | 6 | threads: the session of a record, and its turn |
//! | 7 | sources and their files; where a record was read; searches |
//! | 8 | passages of long texts; embeddings of 16-bit floats, those of 32 bits are replaced in the background |
//! | 9 | memories injected into sessions |
//! | 10 | the data of a node of a team store about its server |
//! | 11 | records in the order of when they happen |
//! | 12 | tombstones |
//! | 13 | metadata by its values |
//!
//! A store of an older version is brought up to date when it is opened. One with other tables than exactly those of its
//! version is refused (`shape.rs`).

/// `SELECT` of the rows that `tallies` must hold.
macro_rules! counted {
    () => {
        "SELECT scope_id, kind, importance, count(*), sum(embedding_id IS NULL),
             sum(min(max(access_count, 0), 4294967295)), sum(CAST(round(confidence * 1000000000) AS INTEGER))
         FROM records GROUP BY scope_id, kind, importance"
    };
}
pub(super) use counted;

/// Gives conversations (14) without a session the one that their body names, where it can be read. Turns are in the order
/// of ids.
macro_rules! place_conversations {
    ($table:literal) => {
        concat!(
            "UPDATE ",
            $table,
            " SET session = json_extract(body, '$.session_id'), turn = id WHERE kind = 14 AND session IS NULL
                 AND CASE WHEN json_valid(body) THEN json_type(body, '$.session_id') = 'text' END;"
        )
    };
}
pub(super) use place_conversations;

/// Whether a row of `records` has an origin and a place that do not belong together.
macro_rules! misplaced {
    () => {
        "CASE WHEN json_valid(provenance) THEN json_extract(provenance, '$.origin') IS NOT lower(hex(origin))
              ELSE provenance IS NOT NULL OR origin IS NOT NULL END"
    };
}
pub(super) use misplaced;

/// When the record of a row happens, from and to (`Record::happening`), in the names of its columns in this row: `""` in the
/// schema, `"r."` in a query. Both have to be the same, so that the index is used.
macro_rules! happens {
    ($row:literal) => {
        [happens!($row, "valid_from", "valid_to"), happens!($row, "valid_to", "valid_from")]
    };
    ($row:literal, $first:literal, $second:literal) => {
        concat!(
            "coalesce(", $row, $first, ", ", $row, $second, ", CASE WHEN ", $row, "kind = 4 AND json_valid(", $row,
            "body) THEN json_extract(", $row, "body, '$.due') END)"
        )
    };
}
pub(super) use happens;

/// `SELECT` of the rows that `record_metadata` must have for the metadata in `$body`: of a record `$id`, which is one of `$from`. It is
/// `SELECT m.key, kind of m, m.atom, id FROM json_each(body, '$.metadata') m UNION` the items `i` of each list `m`.
macro_rules! metadata_rows {
    ($from:literal, $body:literal, $id:literal) => {
        concat!(
            metadata_rows!("m", $from, $body, $id, "", "1"),
            " UNION ",
            metadata_rows!("i", $from, $body, $id, ", json_each(m.value) i", "m.type = 'array'")
        )
    };
    ($value:literal, $from:literal, $body:literal, $id:literal, $items:literal, $has:literal) => {
        concat!(
            "SELECT m.key AS key, CASE WHEN ",
            $value,
            ".type IN ('true', 'false') THEN 1 WHEN ",
            $value,
            ".type = 'text' THEN 3 ELSE 2 END AS kind, ",
            $value,
            ".atom AS value, ",
            $id,
            " AS record_id FROM ",
            $from,
            "json_each(CASE WHEN json_valid(",
            $body,
            ") AND json_type(",
            $body,
            ", '$.metadata') = 'object' THEN ",
            $body,
            " ELSE '{}' END, '$.metadata') m",
            $items,
            " WHERE ",
            $has,
            " AND ",
            $value,
            ".type IN ('true', 'false', 'integer', 'real', 'text') AND octet_length(",
            $value,
            ".atom) <= 1024"
        )
    };
}
pub(super) use metadata_rows;

/// `MMRS`, in the database's header.
pub(super) const APPLICATION_ID: i32 = 0x4D4D_5253;

/// Migrations. Each brings a database one version further; its position is the version it starts from. Append only.
pub(super) const MIGRATIONS: [&str; 13] =
    [FIRST, SECOND, THIRD, FOURTH, FIFTH, SIXTH, SEVENTH, EIGHTH, NINTH, TENTH, ELEVENTH, TWELFTH, THIRTEENTH];

pub(super) const FIRST: &str = r"
CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value ANY NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO meta VALUES ('trimmed_to', 0);

CREATE TABLE scopes (
    id INTEGER PRIMARY KEY,
    agent TEXT,
    project TEXT
) STRICT;
-- A unique index takes nulls for different; labels are never empty, so '' can stand for null.
CREATE UNIQUE INDEX scopes_by_names ON scopes (coalesce(agent, ''), coalesce(project, ''));
INSERT INTO scopes VALUES (1, NULL, NULL);

CREATE TABLE records (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    ulid BLOB NOT NULL CHECK (length(ulid) = 16),
    version INTEGER NOT NULL CHECK (version >= 1),
    kind INTEGER NOT NULL CHECK (kind >= 0),
    scope_id INTEGER NOT NULL REFERENCES scopes (id),
    importance INTEGER NOT NULL CHECK (importance BETWEEN 1 AND 10),
    confidence REAL NOT NULL CHECK (confidence BETWEEN 0 AND 1),
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    expires_at INTEGER,
    valid_from INTEGER,
    valid_to INTEGER,
    access_count INTEGER NOT NULL DEFAULT 0,
    last_accessed_at INTEGER,
    content_hash BLOB NOT NULL CHECK (length(content_hash) = 32),
    embedding_hash BLOB NOT NULL CHECK (length(embedding_hash) = 32),
    embedding_id INTEGER,
    source TEXT NOT NULL,
    tags TEXT,
    provenance TEXT,
    body TEXT,
    context TEXT,
    content TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX records_by_ulid ON records (ulid);
CREATE UNIQUE INDEX records_by_content ON records (content_hash, scope_id);
CREATE INDEX records_by_embedding ON records (embedding_hash);
CREATE INDEX records_by_kind
    ON records (kind, importance, confidence, scope_id, created_at, expires_at, access_count);
CREATE INDEX records_by_expiry ON records (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX records_pending ON records (id, expires_at) WHERE embedding_id IS NULL;

CREATE TABLE versions (
    record_id INTEGER NOT NULL REFERENCES records (id) ON DELETE CASCADE,
    version INTEGER NOT NULL,
    replaced_at INTEGER NOT NULL,
    reason TEXT NOT NULL,
    kind INTEGER NOT NULL,
    scope_id INTEGER NOT NULL,
    importance INTEGER NOT NULL,
    confidence REAL NOT NULL,
    updated_at INTEGER NOT NULL,
    expires_at INTEGER,
    valid_from INTEGER,
    valid_to INTEGER,
    content_hash BLOB NOT NULL,
    embedding_hash BLOB NOT NULL,
    source TEXT NOT NULL,
    tags TEXT,
    provenance TEXT,
    body TEXT,
    context TEXT,
    content TEXT NOT NULL,
    PRIMARY KEY (record_id, version)
) STRICT;
CREATE INDEX versions_by_embedding ON versions (embedding_hash);

CREATE TABLE record_tags (
    tag TEXT NOT NULL,
    record_id INTEGER NOT NULL,
    PRIMARY KEY (tag, record_id)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER tags_of_new_record AFTER INSERT ON records WHEN new.tags IS NOT NULL BEGIN
    INSERT INTO record_tags SELECT value, new.id FROM json_each(new.tags);
END;
CREATE TRIGGER tags_of_deleted_record AFTER DELETE ON records WHEN old.tags IS NOT NULL BEGIN
    DELETE FROM record_tags WHERE record_id = old.id AND tag IN (SELECT value FROM json_each(old.tags));
END;
CREATE TRIGGER tags_of_changed_record AFTER UPDATE OF tags ON records WHEN new.tags IS NOT old.tags BEGIN
    DELETE FROM record_tags WHERE record_id = old.id AND tag IN (SELECT value FROM json_each(old.tags));
    INSERT INTO record_tags SELECT value, new.id FROM json_each(new.tags);
END;

CREATE TABLE models (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    weights_sha256 TEXT NOT NULL,
    pooling TEXT NOT NULL,
    dims INTEGER NOT NULL CHECK (dims > 0),
    UNIQUE (weights_sha256, pooling, dims)
) STRICT;

CREATE TABLE embeddings (
    id INTEGER PRIMARY KEY,
    model_id INTEGER NOT NULL REFERENCES models (id),
    hash BLOB NOT NULL CHECK (length(hash) = 32),
    vector BLOB NOT NULL,
    UNIQUE (model_id, hash)
) STRICT;

CREATE TABLE access_log (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    record_id INTEGER NOT NULL REFERENCES records (id) ON DELETE CASCADE,
    accessed_at INTEGER NOT NULL,
    access_type TEXT NOT NULL,
    relevance_score REAL,
    query_text TEXT
) STRICT;
CREATE INDEX access_log_by_record ON access_log (record_id);

CREATE TABLE sync_log (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    op INTEGER NOT NULL,
    record_id INTEGER NOT NULL,
    payload BLOB NOT NULL
) STRICT;
";

/// Links; indexes for queries by scope and by feature; conversations that repeat a text; tallies.
pub(super) const SECOND: &str = r"
CREATE TABLE links (
    from_id INTEGER NOT NULL REFERENCES records (id) ON DELETE CASCADE,
    kind INTEGER NOT NULL CHECK (kind >= 0),
    to_id INTEGER NOT NULL REFERENCES records (id) ON DELETE CASCADE,
    from_scope INTEGER NOT NULL,
    to_scope INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (from_id, kind, to_id),
    CHECK (from_id <> to_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX links_to ON links (to_id, kind, from_id);
CREATE INDEX links_that_supersede ON links (to_scope, to_id, from_scope) WHERE kind = 2;
INSERT INTO meta VALUES ('superseding', 0);
CREATE TRIGGER supersedes_made AFTER INSERT ON links WHEN new.kind = 2 BEGIN
    UPDATE meta SET value = value + 1 WHERE key = 'superseding';
END;
CREATE TRIGGER supersedes_gone AFTER DELETE ON links WHEN old.kind = 2 BEGIN
    UPDATE meta SET value = value + 1 WHERE key = 'superseding';
END;

DROP INDEX records_by_content;
CREATE INDEX records_by_content ON records (content_hash, scope_id);
CREATE INDEX records_by_scope ON records (scope_id, kind, importance, created_at, expires_at);
CREATE INDEX records_by_feature ON records (json_extract(body, '$.feature')) WHERE body IS NOT NULL;

-- To count 100,000 records, even in an index, takes longer than a whole digest may.
CREATE TABLE tallies (
    scope_id INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    importance INTEGER NOT NULL,
    records INTEGER NOT NULL,
    PRIMARY KEY (scope_id, kind, importance)
) STRICT, WITHOUT ROWID;
INSERT INTO tallies SELECT scope_id, kind, importance, count(*) FROM records GROUP BY scope_id, kind, importance;
CREATE TRIGGER tally_of_new_record AFTER INSERT ON records BEGIN
    INSERT INTO tallies VALUES (new.scope_id, new.kind, new.importance, 1)
        ON CONFLICT DO UPDATE SET records = records + 1;
END;
CREATE TRIGGER tally_of_deleted_record AFTER DELETE ON records BEGIN
    UPDATE tallies SET records = records - 1
        WHERE scope_id = old.scope_id AND kind = old.kind AND importance = old.importance;
END;
CREATE TRIGGER tally_of_changed_record AFTER UPDATE OF scope_id, kind, importance ON records
WHEN (new.scope_id, new.kind, new.importance) <> (old.scope_id, old.kind, old.importance) BEGIN
    UPDATE tallies SET records = records - 1
        WHERE scope_id = old.scope_id AND kind = old.kind AND importance = old.importance;
    INSERT INTO tallies VALUES (new.scope_id, new.kind, new.importance, 1)
        ON CONFLICT DO UPDATE SET records = records + 1;
END;
";

/// Totals that are kept instead of counted; indexes that have in order what a digest lists.
pub(super) const THIRD: &str = concat!(
    r"
DROP INDEX records_by_scope;
CREATE INDEX records_by_scope ON records (scope_id, kind, importance, created_at, id, expires_at);
CREATE INDEX patterns_by_use ON records (scope_id, access_count, created_at, id, expires_at) WHERE kind = 7;

DROP TRIGGER tally_of_new_record;
DROP TRIGGER tally_of_deleted_record;
DROP TRIGGER tally_of_changed_record;
DROP TABLE tallies;
CREATE TABLE tallies (
    scope_id INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    importance INTEGER NOT NULL,
    records INTEGER NOT NULL,
    waiting INTEGER NOT NULL, -- for an embedding
    accesses INTEGER NOT NULL,
    confidence INTEGER NOT NULL, -- in billionths: sums of fractions would drift
    PRIMARY KEY (scope_id, kind, importance)
) STRICT, WITHOUT ROWID;
INSERT INTO tallies ",
    counted!(),
    r";
CREATE TRIGGER tally_of_new_record AFTER INSERT ON records BEGIN
    INSERT INTO tallies VALUES (new.scope_id, new.kind, new.importance, 1, new.embedding_id IS NULL,
            min(max(new.access_count, 0), 4294967295), CAST(round(new.confidence * 1000000000) AS INTEGER))
        ON CONFLICT DO UPDATE SET records = records + 1, waiting = waiting + excluded.waiting,
            accesses = accesses + excluded.accesses, confidence = confidence + excluded.confidence;
END;
CREATE TRIGGER tally_of_deleted_record AFTER DELETE ON records BEGIN
    UPDATE tallies SET records = records - 1, waiting = waiting - (old.embedding_id IS NULL),
            accesses = accesses - min(max(old.access_count, 0), 4294967295),
            confidence = confidence - CAST(round(old.confidence * 1000000000) AS INTEGER)
        WHERE scope_id = old.scope_id AND kind = old.kind AND importance = old.importance;
END;
CREATE TRIGGER tally_of_changed_record
AFTER UPDATE OF scope_id, kind, importance, confidence, access_count, embedding_id ON records
WHEN (new.scope_id, new.kind, new.importance, new.confidence, new.access_count, new.embedding_id IS NULL)
    <> (old.scope_id, old.kind, old.importance, old.confidence, old.access_count, old.embedding_id IS NULL) BEGIN
    UPDATE tallies SET records = records - 1, waiting = waiting - (old.embedding_id IS NULL),
            accesses = accesses - min(max(old.access_count, 0), 4294967295),
            confidence = confidence - CAST(round(old.confidence * 1000000000) AS INTEGER)
        WHERE scope_id = old.scope_id AND kind = old.kind AND importance = old.importance;
    INSERT INTO tallies VALUES (new.scope_id, new.kind, new.importance, 1, new.embedding_id IS NULL,
            min(max(new.access_count, 0), 4294967295), CAST(round(new.confidence * 1000000000) AS INTEGER))
        ON CONFLICT DO UPDATE SET records = records + 1, waiting = waiting + excluded.waiting,
            accesses = accesses + excluded.accesses, confidence = confidence + excluded.confidence;
END;
"
);

/// The trash; tags without upper and lower case; records in the order of their last change.
pub(super) const FOURTH: &str = r"
CREATE TABLE trash (
    id INTEGER PRIMARY KEY,
    deleted_at INTEGER NOT NULL,
    ulid BLOB NOT NULL CHECK (length(ulid) = 16),
    version INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    scope_id INTEGER NOT NULL REFERENCES scopes (id),
    importance INTEGER NOT NULL,
    confidence REAL NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    expires_at INTEGER,
    valid_from INTEGER,
    valid_to INTEGER,
    access_count INTEGER NOT NULL,
    last_accessed_at INTEGER,
    content_hash BLOB NOT NULL,
    embedding_hash BLOB NOT NULL,
    source TEXT NOT NULL,
    tags TEXT,
    provenance TEXT,
    body TEXT,
    context TEXT,
    content TEXT NOT NULL
) STRICT;
CREATE INDEX trash_by_time ON trash (deleted_at);
CREATE TABLE trash_versions (
    record_id INTEGER NOT NULL REFERENCES trash (id) ON DELETE CASCADE,
    version INTEGER NOT NULL,
    replaced_at INTEGER NOT NULL,
    reason TEXT NOT NULL,
    kind INTEGER NOT NULL,
    importance INTEGER NOT NULL,
    confidence REAL NOT NULL,
    updated_at INTEGER NOT NULL,
    expires_at INTEGER,
    valid_from INTEGER,
    valid_to INTEGER,
    content_hash BLOB NOT NULL,
    embedding_hash BLOB NOT NULL,
    source TEXT NOT NULL,
    tags TEXT,
    provenance TEXT,
    body TEXT,
    context TEXT,
    content TEXT NOT NULL,
    PRIMARY KEY (record_id, version)
) STRICT;
CREATE TABLE trash_links (
    record_id INTEGER NOT NULL REFERENCES trash (id) ON DELETE CASCADE,
    from_id INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    to_id INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (record_id, from_id, kind, to_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX records_by_update ON records (updated_at, id);

DROP TRIGGER tags_of_new_record;
DROP TRIGGER tags_of_deleted_record;
DROP TRIGGER tags_of_changed_record;
DELETE FROM record_tags;
INSERT OR IGNORE INTO record_tags SELECT lower(value), r.id FROM records r, json_each(r.tags);
CREATE TRIGGER tags_of_new_record AFTER INSERT ON records WHEN new.tags IS NOT NULL BEGIN
    INSERT OR IGNORE INTO record_tags SELECT lower(value), new.id FROM json_each(new.tags);
END;
CREATE TRIGGER tags_of_deleted_record AFTER DELETE ON records WHEN old.tags IS NOT NULL BEGIN
    DELETE FROM record_tags WHERE record_id = old.id AND tag IN (SELECT lower(value) FROM json_each(old.tags));
END;
CREATE TRIGGER tags_of_changed_record AFTER UPDATE OF tags ON records WHEN new.tags IS NOT old.tags BEGIN
    DELETE FROM record_tags WHERE record_id = old.id AND tag IN (SELECT lower(value) FROM json_each(old.tags));
    INSERT OR IGNORE INTO record_tags SELECT lower(value), new.id FROM json_each(new.tags);
END;
";

/// The causes of the ends of versions.
pub(super) const FIFTH: &str = r"
CREATE TABLE version_causes (
    record_id INTEGER NOT NULL REFERENCES records (id) ON DELETE CASCADE,
    version INTEGER NOT NULL,
    cause INTEGER NOT NULL,
    links TEXT,
    PRIMARY KEY (record_id, version)
) STRICT, WITHOUT ROWID;
";

/// Sessions and turns. The bodies of conversations have always named theirs.
pub(super) const SIXTH: &str = concat!(
    r"
ALTER TABLE records ADD COLUMN session TEXT;
ALTER TABLE records ADD COLUMN turn INTEGER;
ALTER TABLE trash ADD COLUMN session TEXT;
ALTER TABLE trash ADD COLUMN turn INTEGER;
CREATE INDEX records_by_thread ON records (scope_id, session, turn, id) WHERE session IS NOT NULL;
",
    place_conversations!("records"),
    place_conversations!("trash"),
);

/// Files that are read; searches.
pub(super) const SEVENTH: &str = r"
ALTER TABLE records ADD COLUMN origin BLOB CHECK (length(origin) = 16);
ALTER TABLE trash ADD COLUMN origin BLOB;
CREATE UNIQUE INDEX records_by_origin ON records (origin) WHERE origin IS NOT NULL;
CREATE INDEX trash_by_origin ON trash (origin) WHERE origin IS NOT NULL;

CREATE TABLE sources (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind INTEGER NOT NULL CHECK (kind IN (0, 1)),
    path TEXT NOT NULL,
    format TEXT,
    globs TEXT,
    agent TEXT,
    project TEXT,
    added_at INTEGER NOT NULL,
    synced_at INTEGER,
    skipped TEXT
) STRICT;
CREATE UNIQUE INDEX sources_by_path ON sources (path, kind, coalesce(format, ''));
CREATE TABLE files (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    source_id INTEGER NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
    path TEXT NOT NULL,
    thread TEXT NOT NULL,
    size INTEGER NOT NULL,
    modified INTEGER NOT NULL,
    device INTEGER NOT NULL,
    inode INTEGER NOT NULL,
    hash BLOB,
    cursor TEXT,
    read_at INTEGER NOT NULL,
    gone_at INTEGER,
    problem TEXT,
    skipped TEXT
) STRICT;
CREATE UNIQUE INDEX files_by_path ON files (source_id, path);
CREATE INDEX files_by_path_alone ON files (path);
CREATE TABLE forgotten (
    origin BLOB PRIMARY KEY CHECK (length(origin) = 16)
) STRICT, WITHOUT ROWID;
CREATE TABLE searches (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    searched_at INTEGER NOT NULL,
    agent TEXT,
    project TEXT,
    tool TEXT NOT NULL,
    query TEXT NOT NULL,
    mode TEXT NOT NULL,
    filters TEXT,
    hits INTEGER NOT NULL,
    unanswered INTEGER NOT NULL CHECK (unanswered IN (0, 1)),
    best_score REAL,
    best_cosine REAL,
    micros INTEGER NOT NULL
) STRICT;
CREATE TABLE search_hits (
    search_id INTEGER NOT NULL REFERENCES searches (id) ON DELETE CASCADE,
    record_id INTEGER NOT NULL,
    PRIMARY KEY (search_id, record_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX search_hits_by_record ON search_hits (record_id);
";

/// Passages, and embeddings of 16-bit floats. Those of the records that are there follow in the background.
pub(super) const EIGHTH: &str = r"
CREATE TABLE passages (
    record_id INTEGER NOT NULL REFERENCES records (id) ON DELETE CASCADE,
    number INTEGER NOT NULL CHECK (number BETWEEN 1 AND 255),
    starts_at INTEGER NOT NULL,
    ends_at INTEGER NOT NULL,
    hash BLOB NOT NULL CHECK (length(hash) = 32),
    embedding_id INTEGER,
    PRIMARY KEY (record_id, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX passages_by_hash ON passages (hash);
CREATE INDEX passages_pending ON passages (record_id) WHERE embedding_id IS NULL;
INSERT INTO meta VALUES ('cutter', 1);
INSERT INTO meta SELECT 'uncut', max(id) FROM records HAVING max(id) IS NOT NULL;
INSERT INTO meta (key, value) SELECT 'wide_to', max(id) FROM embeddings HAVING max(id) IS NOT NULL;
";

/// Memories that were injected into sessions.
const NINTH: &str = r"
CREATE TABLE recalled (
    session BLOB NOT NULL CHECK (length(session) = 32),
    record_id INTEGER NOT NULL REFERENCES records (id) ON DELETE CASCADE,
    version INTEGER NOT NULL,
    recalled_at INTEGER NOT NULL,
    PRIMARY KEY (session, record_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX recalled_by_record ON recalled (record_id);
CREATE INDEX recalled_by_time ON recalled (recalled_at);
";

/// The data of a node of a team store about its server.
const TENTH: &str = r"
CREATE TABLE copied (
    number INTEGER NOT NULL,
    id INTEGER NOT NULL,
    rows INTEGER NOT NULL,
    stamp INTEGER NOT NULL,
    PRIMARY KEY (number, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE unsent_accesses (
    record_id INTEGER PRIMARY KEY REFERENCES records (id) ON DELETE CASCADE,
    count INTEGER NOT NULL,
    last_accessed_at INTEGER NOT NULL
) STRICT;
CREATE TABLE tokens (
    id INTEGER PRIMARY KEY,
    sha256 BLOB NOT NULL UNIQUE CHECK (length(sha256) = 32),
    label TEXT NOT NULL,
    agent TEXT,
    project TEXT,
    rights TEXT NOT NULL CHECK (rights IN ('read', 'write')),
    created_at INTEGER NOT NULL,
    expires_at INTEGER
) STRICT;
";

/// The index of dated records, by when they happen.
const ELEVENTH: &str = concat!(
    "CREATE INDEX records_by_date ON records (",
    happens!("", "valid_from", "valid_to"),
    ", ",
    happens!("", "valid_to", "valid_from"),
    ", scope_id, expires_at) WHERE ",
    happens!("", "valid_from", "valid_to"),
    " IS NOT NULL;"
);

/// Tombstones, for other machines of the owner. Each memory in the trash was deleted.
const TWELFTH: &str = r"
CREATE TABLE tombstones (
    ulid BLOB PRIMARY KEY CHECK (length(ulid) = 16),
    scope_id INTEGER REFERENCES scopes (id) ON DELETE SET NULL,
    deleted_at INTEGER,
    is_purged INTEGER NOT NULL DEFAULT 0 CHECK (is_purged IN (0, 1)),
    into_ulid BLOB CHECK (length(into_ulid) = 16)
) STRICT, WITHOUT ROWID;
INSERT INTO tombstones (ulid, scope_id, deleted_at)
    SELECT ulid, scope_id, max(deleted_at) FROM trash WHERE origin IS NULL GROUP BY ulid;
CREATE TABLE version_tombstones (
    ulid BLOB NOT NULL CHECK (length(ulid) = 16),
    began INTEGER NOT NULL,
    PRIMARY KEY (ulid, began)
) STRICT, WITHOUT ROWID;
CREATE TABLE link_tombstones (
    from_ulid BLOB NOT NULL CHECK (length(from_ulid) = 16),
    kind INTEGER NOT NULL CHECK (kind >= 0),
    to_ulid BLOB NOT NULL CHECK (length(to_ulid) = 16),
    removed_at INTEGER NOT NULL,
    PRIMARY KEY (from_ulid, kind, to_ulid)
) STRICT, WITHOUT ROWID;
";

/// Metadata by its values.
const THIRTEENTH: &str = concat!(
    "
CREATE TABLE record_metadata (
    key TEXT NOT NULL,
    kind INTEGER NOT NULL CHECK (kind IN (1, 2, 3)),
    value ANY NOT NULL,
    record_id INTEGER NOT NULL,
    PRIMARY KEY (key, kind, value, record_id)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER metadata_of_new_record AFTER INSERT ON records WHEN new.body IS NOT NULL BEGIN
    INSERT INTO record_metadata ",
    metadata_rows!("", "new.body", "new.id"),
    ";
END;
CREATE TRIGGER metadata_of_deleted_record AFTER DELETE ON records WHEN old.body IS NOT NULL BEGIN
    DELETE FROM record_metadata WHERE record_id = old.id AND (key, kind, value) IN (SELECT key, kind, value FROM (",
    metadata_rows!("", "old.body", "old.id"),
    "));
END;
CREATE TRIGGER metadata_of_changed_record AFTER UPDATE OF body ON records WHEN new.body IS NOT old.body BEGIN
    DELETE FROM record_metadata WHERE record_id = old.id AND (key, kind, value) IN (SELECT key, kind, value FROM (",
    metadata_rows!("", "old.body", "old.id"),
    "));
    INSERT INTO record_metadata ",
    metadata_rows!("", "new.body", "new.id"),
    ";
END;
INSERT INTO record_metadata ",
    metadata_rows!("records r, ", "r.body", "r.id"),
    ";
"
);

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::testing::TestStore;
    use crate::records::purge::columns::cared_for;

    /// 39.6: a purge forgets no column.
    #[test]
    fn every_column_that_can_hold_a_text_is_cared_for() {
        let store = TestStore::new();
        let conn = rusqlite::Connection::open(store.paths().database()).unwrap();
        let sql = "SELECT t.name || '.' || c.name FROM pragma_table_list t, pragma_table_info(t.name) c
             WHERE t.schema = 'main' AND t.name NOT LIKE 'sqlite_%' AND c.type NOT IN ('INTEGER', 'REAL')";
        let mut columns = conn.prepare(sql).unwrap();
        let columns = columns.query_map([], |row| row.get(0)).unwrap();
        let columns: BTreeSet<String> = columns.collect::<rusqlite::Result<_>>().unwrap();
        let named = cared_for(|_| true).map(|(table, column, _)| format!("{table}.{column}")).collect();
        assert_eq!(columns, named);
    }
}
