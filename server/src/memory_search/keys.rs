//! Every key of the tree.

use serde_json::{Value, json};

/// The keys that mean something here.
const APPLIED: [&str; 21] = [
    "provider", "enabled", "sources", "experimental.sessionMemory", "store.path", "store.vector.enabled",
    "chunking.tokens", "chunking.overlap", "sync.onSessionStart", "sync.onSearch", "sync.watch",
    "sync.watchDebounceMs", "sync.intervalMinutes", "sync.sessions.deltaBytes", "sync.sessions.deltaMessages",
    "query.maxResults", "query.minScore", "query.hybrid.enabled", "query.hybrid.vectorWeight",
    "query.hybrid.textWeight", "query.hybrid.candidateMultiplier",
];

/// Keys that mean nothing here.
const WITHOUT_EFFECT: [&str; 6] = [
    "store.driver", "store.vector.extensionPath", "remote.batch.wait", "remote.batch.concurrency", "local.modelPath",
    "local.modelCacheDir",
];

/// Keys that mean nothing unless a provider embeds.
const OF_PROVIDERS: [&str; 9] = [
    "model", "fallback", "remote.baseUrl", "remote.apiKey", "remote.batch.enabled", "remote.batch.pollIntervalMs",
    "remote.batch.timeoutMinutes", "cache.enabled", "cache.maxEntries",
];

/// The prefix of a header's name.
pub const HEADERS: &str = "remote.headers.";

fn all() -> impl Iterator<Item = &'static str> {
    APPLIED.into_iter().chain(OF_PROVIDERS).chain(WITHOUT_EFFECT)
}

/// Whether there is such a key.
pub fn is_known(key: &str) -> bool {
    all().any(|known| known == key) || key.starts_with(HEADERS)
}

/// Whether a key means nothing, where a provider embeds or not.
pub fn is_idle(key: &str, value: &Value, has_provider: bool) -> bool {
    let is_of_providers = OF_PROVIDERS.contains(&key) || key.starts_with(HEADERS);
    (WITHOUT_EFFECT.contains(&key) || is_of_providers && !has_provider) && !is_so_anyway(key, value)
}

/// Whether this is so anyway: memorist embeds on this machine, keeps its records in SQLite, and embeds no text twice.
fn is_so_anyway(key: &str, value: &Value) -> bool {
    let values = match key {
        "remote.batch.enabled" => vec![json!(false)],
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
    all().max_by(|a, b| likeness(a).total_cmp(&likeness(b))).unwrap_or(APPLIED[0])
}
