//! The tables that a node copies from the server: their units, and how a unit is found there.

/// A table of a team store, and its copy on a node.
///
/// The unit that is copied is all rows with the same id: the versions of one record, for example.
pub(crate) struct Table {
    /// Number in `changes`. Never changes.
    pub(crate) number: i64,
    /// Name on a node.
    pub(crate) name: &'static str,
    /// Name on the server.
    pub(crate) server_name: &'static str,
    /// The number of a unit, over its columns on the server.
    id: &'static str,
    /// Condition on a node for the rows of a unit: `?1` is the unit.
    pub(crate) local: &'static str,
    /// References of a row on a node: the column, and the table that it refers to.
    pub(crate) parents: &'static [(&'static str, &'static str)],
    /// Its primary key.
    pub(crate) key: &'static [&'static str],
    /// Conditions for other rows with a unique value of this row, which is `{column}` there.
    pub(crate) unique: &'static [&'static str],
    /// All columns on a node.
    pub(crate) columns: &'static [&'static str],
    /// Columns that hold bytes.
    pub(crate) blobs: &'static [&'static str],
    /// The scope of a row, over its columns on the server, where it has one.
    scope: Option<&'static str>,
    /// Condition for the rows that a node copies if it follows the scopes `{scopes}` alone; `t` is the table.
    pub(crate) followed: Option<&'static str>,
}

impl Table {
    /// The id and the scope of a row that a trigger names `row`.
    pub(crate) fn changed(&self, row: &str) -> String {
        let of = |sql: &str| sql.replace('@', &format!("{row}."));
        format!("{}, {}", of(self.id), self.scope.map_or("NULL".into(), of))
    }

    /// The table with this number.
    pub(crate) fn numbered(number: i64) -> Option<&'static Table> {
        TABLES.iter().find(|table| table.number == number)
    }

    /// Whether a node copies only its own rows.
    pub(crate) fn is_of_a_node(&self) -> bool {
        self.name != self.server_name
    }

    /// The id of a row of the table `t`.
    pub(crate) fn unit(&self) -> String {
        self.id.replace('@', "t.")
    }
}

const OF_RECORD: &str = "(SELECT r.scope_id FROM memorist.records r WHERE r.id = @record_id)";
const OF_TRASH: &str = "(SELECT r.scope_id FROM memorist.trash r WHERE r.id = @record_id)";
const RECORD_FOLLOWED: &str =
    "EXISTS (SELECT 1 FROM memorist.records r WHERE r.id = t.record_id AND r.scope_id IN ({scopes}))";
const TRASH_FOLLOWED: &str =
    "EXISTS (SELECT 1 FROM memorist.trash r WHERE r.id = t.record_id AND r.scope_id IN ({scopes}))";

/// The number of the table of scopes.
pub(crate) const SCOPES: i64 = 1;
/// The number of the table of records.
pub(crate) const RECORDS: i64 = 4;
/// The number of the table of links.
pub(crate) const LINKS: i64 = 8;
/// The number of the table of single values, which is one unit.
pub(crate) const META: i64 = 15;

/// All tables. A table comes after the ones that it refers to; tokens come first, so that revoked ones go first of all.
pub(crate) const TABLES: [Table; 16] = [
    Table {
        number: 16,
        name: "tokens",
        server_name: "tokens",
        id: "@id",
        local: "id = ?1",
        parents: &[],
        key: &["id"],
        unique: &["sha256 = {sha256}"],
        columns: &["id", "sha256", "label", "agent", "project", "rights", "created_at", "expires_at"],
        blobs: &["sha256"],
        scope: None,
        followed: None,
    },
    Table {
        number: SCOPES,
        name: "scopes",
        server_name: "scopes",
        id: "@id",
        local: "id = ?1",
        parents: &[],
        key: &["id"],
        unique: &["coalesce(agent, '') = coalesce({agent}, '') AND coalesce(project, '') = coalesce({project}, '')"],
        columns: &["id", "agent", "project"],
        blobs: &[],
        scope: None,
        followed: None,
    },
    Table {
        number: 2,
        name: "models",
        server_name: "models",
        id: "@id",
        local: "id = ?1",
        parents: &[],
        key: &["id"],
        unique: &["weights_sha256 = {weights_sha256} AND pooling = {pooling} AND dims = {dims}"],
        columns: &["id", "name", "weights_sha256", "pooling", "dims"],
        blobs: &[],
        scope: None,
        followed: None,
    },
    Table {
        number: 3,
        name: "embeddings",
        server_name: "embeddings",
        id: "@id",
        local: "id = ?1",
        parents: &[("model_id", "models")],
        key: &["id"],
        unique: &["model_id = {model_id} AND hash = {hash}"],
        columns: &["id", "model_id", "hash", "vector"],
        blobs: &["hash", "vector"],
        scope: None,
        followed: Some(
            "(EXISTS (SELECT 1 FROM memorist.records r WHERE r.embedding_hash = t.hash AND r.scope_id IN ({scopes}))
              OR EXISTS (SELECT 1 FROM memorist.versions v WHERE v.embedding_hash = t.hash AND v.scope_id IN ({scopes}))
              OR EXISTS (SELECT 1 FROM memorist.passages p JOIN memorist.records r ON r.id = p.record_id
                         WHERE p.hash = t.hash AND r.scope_id IN ({scopes})))",
        ),
    },
    Table {
        number: RECORDS,
        name: "records",
        server_name: "records",
        id: "@id",
        local: "id = ?1",
        parents: &[("scope_id", "scopes")],
        key: &["id"],
        unique: &["ulid = {ulid}", "origin = {origin}"],
        columns: &[
            "id", "ulid", "version", "kind", "scope_id", "importance", "confidence", "created_at", "updated_at",
            "expires_at", "valid_from", "valid_to", "access_count", "last_accessed_at", "content_hash",
            "embedding_hash", "embedding_id", "source", "tags", "provenance", "body", "context", "content", "session",
            "turn", "origin",
        ],
        blobs: &["ulid", "content_hash", "embedding_hash", "origin"],
        scope: Some("@scope_id"),
        followed: Some("t.scope_id IN ({scopes})"),
    },
    Table {
        number: 5,
        name: "versions",
        server_name: "versions",
        id: "@record_id",
        local: "record_id = ?1",
        parents: &[("record_id", "records")],
        key: &["record_id", "version"],
        unique: &[],
        columns: &[
            "record_id", "version", "replaced_at", "reason", "kind", "scope_id", "importance", "confidence",
            "updated_at", "expires_at", "valid_from", "valid_to", "content_hash", "embedding_hash", "source", "tags",
            "provenance", "body", "context", "content",
        ],
        blobs: &["content_hash", "embedding_hash"],
        scope: Some("@scope_id"),
        followed: Some("t.scope_id IN ({scopes})"),
    },
    Table {
        number: 6,
        name: "version_causes",
        server_name: "version_causes",
        id: "@record_id",
        local: "record_id = ?1",
        parents: &[("record_id", "records")],
        key: &["record_id", "version"],
        unique: &[],
        columns: &["record_id", "version", "cause", "links"],
        blobs: &[],
        scope: Some(OF_RECORD),
        followed: Some(RECORD_FOLLOWED),
    },
    Table {
        number: 7,
        name: "passages",
        server_name: "passages",
        id: "@record_id",
        local: "record_id = ?1",
        parents: &[("record_id", "records")],
        key: &["record_id", "number"],
        unique: &[],
        columns: &["record_id", "number", "starts_at", "ends_at", "hash", "embedding_id"],
        blobs: &["hash"],
        scope: Some(OF_RECORD),
        followed: Some(RECORD_FOLLOWED),
    },
    Table {
        number: LINKS,
        name: "links",
        server_name: "links",
        id: "@from_id",
        local: "from_id = ?1",
        parents: &[("from_id", "records"), ("to_id", "records")],
        key: &["from_id", "kind", "to_id"],
        unique: &[],
        columns: &["from_id", "kind", "to_id", "from_scope", "to_scope", "created_at"],
        blobs: &[],
        scope: Some("@from_scope"),
        followed: Some("t.from_scope IN ({scopes}) AND t.to_scope IN ({scopes})"),
    },
    Table {
        number: 9,
        name: "trash",
        server_name: "trash",
        id: "@id",
        local: "id = ?1",
        parents: &[("scope_id", "scopes")],
        key: &["id"],
        unique: &[],
        columns: &[
            "id", "deleted_at", "ulid", "version", "kind", "scope_id", "importance", "confidence", "created_at",
            "updated_at", "expires_at", "valid_from", "valid_to", "access_count", "last_accessed_at", "content_hash",
            "embedding_hash", "source", "tags", "provenance", "body", "context", "content", "session", "turn",
            "origin",
        ],
        blobs: &["ulid", "content_hash", "embedding_hash", "origin"],
        scope: Some("@scope_id"),
        followed: Some("t.scope_id IN ({scopes})"),
    },
    Table {
        number: 10,
        name: "trash_versions",
        server_name: "trash_versions",
        id: "@record_id",
        local: "record_id = ?1",
        parents: &[("record_id", "trash")],
        key: &["record_id", "version"],
        unique: &[],
        columns: &[
            "record_id", "version", "replaced_at", "reason", "kind", "importance", "confidence", "updated_at",
            "expires_at", "valid_from", "valid_to", "content_hash", "embedding_hash", "source", "tags", "provenance",
            "body", "context", "content",
        ],
        blobs: &["content_hash", "embedding_hash"],
        scope: Some(OF_TRASH),
        followed: Some(TRASH_FOLLOWED),
    },
    Table {
        number: 11,
        name: "trash_links",
        server_name: "trash_links",
        id: "@record_id",
        local: "record_id = ?1",
        parents: &[("record_id", "trash")],
        key: &["record_id", "from_id", "kind", "to_id"],
        unique: &[],
        columns: &["record_id", "from_id", "kind", "to_id", "created_at"],
        blobs: &[],
        scope: Some(OF_TRASH),
        followed: Some(TRASH_FOLLOWED),
    },
    Table {
        number: 12,
        name: "forgotten",
        server_name: "forgotten",
        // Origins are hashes: their first two bytes make 65,536 units.
        id: "(get_byte(@origin, 0) * 256 + get_byte(@origin, 1))::bigint",
        local: "substr(origin, 1, 2) = unhex(printf('%04X', ?1))",
        parents: &[],
        key: &["origin"],
        unique: &[],
        columns: &["origin"],
        blobs: &["origin"],
        scope: None,
        followed: None,
    },
    Table {
        number: 13,
        name: "sources",
        server_name: "node_sources",
        id: "@id",
        local: "id = ?1",
        parents: &[],
        key: &["id"],
        unique: &["path = {path} AND kind = {kind} AND coalesce(format, '') = coalesce({format}, '')"],
        columns: &["id", "kind", "path", "format", "globs", "agent", "project", "added_at", "synced_at", "skipped"],
        blobs: &[],
        scope: None,
        followed: None,
    },
    Table {
        number: 14,
        name: "files",
        server_name: "node_files",
        id: "@id",
        local: "id = ?1",
        parents: &[("source_id", "sources")],
        key: &["id"],
        unique: &["source_id = {source_id} AND path = {path}"],
        columns: &[
            "id", "source_id", "path", "thread", "size", "modified", "device", "inode", "hash", "cursor", "read_at",
            "gone_at", "problem", "skipped",
        ],
        blobs: &["hash"],
        scope: None,
        followed: None,
    },
    Table {
        number: META,
        name: "meta",
        server_name: "meta",
        id: "0::bigint",
        local: "?1 = 0",
        parents: &[],
        key: &["key"],
        unique: &[],
        columns: &["key", "value"],
        blobs: &[],
        scope: None,
        followed: None,
    },
];
