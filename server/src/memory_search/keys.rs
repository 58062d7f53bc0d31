//! Every key of the tree.

use serde_json::{Value, json};

/// The keys that mean something here.
pub const APPLIED: [&str; 20] = [
    "enabled",
    "sources",
    "experimental.sessionMemory",
    "store.path",
    "store.vector.enabled",
    "chunking.tokens",
    "chunking.overlap",
    "sync.onSessionStart",
    "sync.onSearch",
    "sync.watch",
    "sync.watchDebounceMs",
    "sync.intervalMinutes",
    "sync.sessions.deltaBytes",
    "sync.sessions.deltaMessages",
    "query.maxResults",
    "query.minScore",
    "query.hybrid.enabled",
    "query.hybrid.vectorWeight",
    "query.hybrid.textWeight",
    "query.hybrid.candidateMultiplier",
];

/// Those that mean nothing here.
pub const WITHOUT_EFFECT: [&str; 7] = [
    "provider",
    "fallback",
    "model",
    "store.driver",
    "store.vector.extensionPath",
    "cache.enabled",
    "cache.maxEntries",
];

/// Whether this is so anyway: memorist embeds on this machine, keeps its records in SQLite, and embeds no text twice.
pub fn is_so_anyway(key: &str, value: &Value) -> bool {
    let values = match key {
        "provider" => vec![json!("auto"), json!("local")],
        "fallback" => vec![json!("none"), json!("local")],
        "store.driver" => vec![json!("sqlite")],
        "cache.enabled" => vec![json!(true)],
        _ => Vec::new(),
    };
    values.contains(value)
}

/// The known key that is most like this one.
pub fn nearest(key: &str) -> &'static str {
    let likeness = |known: &str| strsim::jaro_winkler(&known.to_lowercase(), &key.to_lowercase());
    let all = APPLIED.into_iter().chain(WITHOUT_EFFECT);
    all.max_by(|a, b| likeness(a).total_cmp(&likeness(b))).unwrap_or(APPLIED[0])
}
