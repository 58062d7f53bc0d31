//! Every column that can hold a text, and what a purge of a text does with it. A test of `sqlite/schema.rs` compares this
//! with the schema, so that a new column needs an entry here.

/// The treatment of a column that has a purged text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::records) enum Care {
    /// Its row is removed: a memory, a version, a search, what is known of a file.
    Removed,
    /// The value becomes null: it is made again, or was only shown.
    Emptied,
    /// The value stays, because memories or the owner's settings need it, and the answer names it as this.
    Named(&'static str),
    /// No text of anybody: words, counts, ids and hashes of ours.
    Ours,
}

use Care::{Emptied, Named, Ours, Removed};

/// Columns of a record, live or deleted.
const RECORD: &[(&str, Care)] = &[
    ("ulid", Ours),
    ("content_hash", Ours),
    ("embedding_hash", Ours),
    ("source", Removed),
    ("tags", Removed),
    ("provenance", Removed),
    ("body", Removed),
    ("context", Removed),
    ("content", Removed),
    ("session", Removed),
    ("origin", Ours),
];

/// Columns of an earlier version.
const VERSION: &[(&str, Care)] = &[
    ("reason", Removed),
    ("content_hash", Ours),
    ("embedding_hash", Ours),
    ("source", Removed),
    ("tags", Removed),
    ("provenance", Removed),
    ("body", Removed),
    ("context", Removed),
    ("content", Removed),
];

/// Columns of type `TEXT`, `BLOB` or `ANY`, by table.
pub(in crate::records) const COLUMNS: &[(&str, &[(&str, Care)])] = &[
    ("access_log", &[("access_type", Ours), ("query_text", Removed)]),
    ("embeddings", &[("hash", Ours), ("vector", Removed)]),
    (
        "files",
        &[
            ("path", Removed),
            ("thread", Removed),
            ("hash", Ours),
            ("cursor", Emptied),
            ("problem", Emptied),
            // Reasons are ours. What was read before that has types of lines.
            ("skipped", Emptied),
        ],
    ),
    ("forgotten", &[("origin", Ours)]),
    ("link_tombstones", &[("from_ulid", Ours), ("to_ulid", Ours)]),
    ("meta", &[("key", Ours), ("value", Ours)]),
    ("models", &[("name", Named("the name of a model")), ("weights_sha256", Ours), ("pooling", Ours)]),
    ("passages", &[("hash", Ours)]),
    ("recalled", &[("session", Ours)]),
    // Made of `records.body` by triggers.
    ("record_metadata", &[("key", Removed), ("value", Removed)]),
    // Made of `records.tags` by triggers.
    ("record_tags", &[("tag", Removed)]),
    ("records", RECORD),
    // Of a scope that no memory has, the row is removed.
    ("scopes", &[("agent", Named("the name of an agent")), ("project", Named("the name of a project"))]),
    (
        "searches",
        &[
            ("agent", Removed),
            ("project", Removed),
            ("tool", Ours),
            ("query", Removed),
            ("mode", Ours),
            ("filters", Removed),
        ],
    ),
    (
        "sources",
        &[
            ("path", Named("the path of a source")),
            ("format", Ours),
            ("globs", Named("a glob of a source")),
            ("agent", Named("the agent of a source")),
            ("project", Named("the project of a source")),
            ("skipped", Emptied),
        ],
    ),
    // Ids of records.
    ("sync_log", &[("payload", Ours)]),
    (
        "tokens",
        &[
            ("sha256", Ours),
            ("label", Named("the label of a token")),
            ("agent", Named("the agent of a token")),
            ("project", Named("the project of a token")),
            ("rights", Ours),
        ],
    ),
    ("tombstones", &[("ulid", Ours), ("into_ulid", Ours)]),
    ("trash", RECORD),
    ("trash_versions", VERSION),
    ("version_causes", &[("links", Ours)]),
    ("version_tombstones", &[("ulid", Ours)]),
    ("versions", VERSION),
];

/// Columns, with their tables, whose treatment passes `is`.
pub(in crate::records) fn cared_for(
    is: impl Fn(Care) -> bool,
) -> impl Iterator<Item = (&'static str, &'static str, Care)> {
    let all = COLUMNS.iter().flat_map(|(table, columns)| columns.iter().map(|(column, care)| (*table, *column, *care)));
    all.filter(move |(_, _, care)| is(*care))
}
