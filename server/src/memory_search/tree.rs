//! The trees of a file, and their keys: those of all agents, and over them those of one.

use std::collections::BTreeMap;
use std::path::Path;

use memorist_clients::format::Format;
use serde_json::{Map, Value};

use super::apply::apply;
use super::keys::{is_idle, is_known, nearest};
use super::paths::Paths;
use super::settings::MemorySearch;
use crate::embedding::{EmbeddingSection, Provider};

/// The agent that a file means where the server has none.
const MAIN: &str = "main";
/// The name of the tree.
const TREE: &str = "memorySearch";

/// The content of a file.
#[derive(Debug, PartialEq)]
pub struct Configured {
    pub settings: MemorySearch,
    /// A sentence about its keys that have no effect here.
    pub warning: Option<String>,
}

/// Reads a file, in JSON or YAML: the tree itself, an object with `memorySearch`, or one with `agents`, which has `defaults.memorySearch`
/// for all of them and another for each. Relative paths are relative to its folder.
///
/// # Errors
/// Says what is wrong, with the key.
pub fn read(
    text: &str,
    file: &Path,
    agent: Option<&str>,
    home: Option<&Path>,
    defaults: MemorySearch,
) -> Result<Configured, String> {
    let document = document(text)?;
    let agent = agent.unwrap_or(MAIN);
    let mut keys = BTreeMap::new();
    for tree in trees(&document, agent)? {
        flatten("", &Value::Object(tree.clone()), &mut keys);
    }
    if let Some(key) = keys.keys().find(|key| !is_known(key)) {
        return Err(format!("unknown key {key} in {TREE}; did you mean {}?", nearest(key)));
    }
    let settings = apply(&keys, defaults, &Paths { file, agent, home })?;
    let is_named = |section: &EmbeddingSection| section.provider != Some(Provider::Auto);
    let has_provider = settings.embedding.as_ref().is_some_and(is_named);
    let idle = keys.iter().filter(|(key, value)| is_idle(key, value, has_provider));
    let idle: Vec<&str> = idle.map(|(key, _)| key.as_str()).collect();
    let mut warnings = Vec::new();
    if !idle.is_empty() {
        warnings.push(format!("without effect here: {}", idle.join(", ")));
    }
    if names_sessions(&keys) && !settings.sessions {
        warnings.push("sessions are not searched without experimental.sessionMemory".to_owned());
    }
    Ok(Configured { settings, warning: Some(warnings.join("; ")).filter(|text| !text.is_empty()) })
}

/// A file in JSON or in YAML.
fn document(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).or_else(|json| {
        let yaml = Format::Yaml.read(text);
        yaml.map_err(|yaml| format!("it is neither JSON ({json}) nor YAML ({yaml})"))
    })
}

fn names_sessions(keys: &BTreeMap<String, Value>) -> bool {
    let sources = keys.get("sources").and_then(Value::as_array);
    sources.is_some_and(|sources| sources.iter().any(|source| source == "sessions"))
}

/// The trees of this agent: a later one overrides the keys of an earlier one.
fn trees<'a>(document: &'a Value, agent: &str) -> Result<Vec<&'a Map<String, Value>>, String> {
    let all = document.as_object().ok_or("it is neither a JSON object nor a YAML mapping")?;
    let tree = |of: &'a Value| of.get(TREE);
    let found: Vec<&Value> = match all.get("agents") {
        Some(agents) => {
            let is_own = |one: &&'a Value| one.get("id").is_some_and(|id| id == agent);
            let listed = agents.get("list").and_then(Value::as_array).into_iter().flatten().find(is_own);
            let named = Some(agent).filter(|name| !["defaults", "list"].contains(name));
            let named = named.and_then(|name| agents.get(name));
            [Some(document), agents.get("defaults"), listed, named].into_iter().flatten().filter_map(tree).collect()
        }
        None if all.contains_key(TREE) => tree(document).into_iter().collect(),
        None => vec![document],
    };
    if found.is_empty() {
        return Err(format!("it has no {TREE} for the agent {agent}"));
    }
    found.into_iter().map(|tree| tree.as_object().ok_or_else(|| format!("{TREE} is not an object"))).collect()
}

/// Every key below `prefix`, with dots; null counts as absent.
fn flatten(prefix: &str, value: &Value, keys: &mut BTreeMap<String, Value>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let key = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
                flatten(&key, value, keys);
            }
        }
        Value::Null => {}
        other => drop(keys.insert(prefix.to_owned(), other.clone())),
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use memorist_engine::embed::Secret;
    use memorist_engine::types::{Mode, Weights};
    use serde_json::json;

    use super::*;
    use crate::embedding::CacheSection;

    fn configured(document: &Value, agent: Option<&str>) -> Result<Configured, String> {
        let (file, home) = (Path::new("/etc/gimli/memory.json"), Path::new("/home/ann"));
        read(&document.to_string(), file, agent, Some(home), MemorySearch::default())
    }

    fn settings(document: &Value) -> MemorySearch {
        configured(document, None).unwrap().settings
    }

    /// H3, Z7, Z8: the whole tree of the document, with its defaults.
    #[test]
    fn the_tree_of_the_document_is_that_of_the_defaults() {
        let tree = json!({
            "enabled": true, "provider": "auto", "sources": ["memory", "sessions"],
            "experimental": { "sessionMemory": true }, "fallback": "none",
            "store": { "driver": "sqlite", "vector": { "enabled": true } },
            "chunking": { "tokens": 400, "overlap": 80 },
            "sync": { "onSessionStart": true, "onSearch": true, "watch": true, "watchDebounceMs": 1500 },
            "query": { "maxResults": 6, "minScore": 0.35, "hybrid":
                { "enabled": true, "vectorWeight": 0.7, "textWeight": 0.3, "candidateMultiplier": 4 } },
            "cache": { "enabled": true }
        });
        // E7: the order of the document.
        let auto = EmbeddingSection {
            provider: Some(Provider::Auto),
            candidates: vec![Provider::OpenAi, Provider::Gemini],
            fallback: Some("none".into()),
            ..EmbeddingSection::default()
        };
        let wanted = MemorySearch { embedding: Some(auto), ..MemorySearch::default() };
        let wanted = Configured { settings: wanted, warning: None };
        assert_eq!(configured(&tree, None).unwrap(), wanted);
        assert_eq!(configured(&json!({ "memorySearch": tree }), None).unwrap(), wanted);
        assert_eq!(configured(&json!({ "agents": { "defaults": { "memorySearch": tree } } }), None).unwrap(), wanted);
    }

    /// H3: the example of the document, which is YAML.
    #[test]
    fn a_file_may_be_yaml() {
        let text = "agents:\n  defaults:\n    memorySearch:\n      enabled: true\n      provider: local  # openai | gemini\n      \
                    sources:\n        - memory\n        - sessions  # requires experimental.sessionMemory\n      query:\n        \
                    maxResults: 9\n        minScore: 0.2\n";
        let file = Path::new("/etc/gimli/memory.yaml");
        let given = read(text, file, None, None, MemorySearch::default()).unwrap();
        assert_eq!((given.settings.max_results, given.settings.min_score), (9, 0.2));
        assert!(given.warning.unwrap().contains("experimental.sessionMemory"));
        let refused = |text| read(text, file, None, None, MemorySearch::default()).unwrap_err();
        assert!(refused("enabled: [").contains("neither JSON"), "{}", refused("enabled: ["));
        assert!(refused("query:\n  maxResult: 3\n").contains("query.maxResults?"));
    }

    /// H3: every key is applied.
    #[test]
    fn every_key_is_applied() {
        let given = settings(&json!({
            "enabled": false, "sources": ["sessions"], "experimental": { "sessionMemory": true },
            "store": { "path": "~/memory/{agentId}.sqlite" }, "chunking": { "tokens": 200, "overlap": 40 },
            "sync": { "onSessionStart": false, "onSearch": false, "watch": false, "watchDebounceMs": 9,
                      "intervalMinutes": 3, "sessions": { "deltaBytes": 7, "deltaMessages": 8 } },
            "query": { "maxResults": 2, "minScore": 0.5, "hybrid":
                { "vectorWeight": 0.2, "textWeight": 0.8, "candidateMultiplier": 9 } }
        }));
        assert_eq!((given.enabled, given.memory, given.sessions), (false, false, true));
        assert_eq!(given.store, Some(PathBuf::from("/home/ann/memory/main.memorist")));
        let sync = &given.sync;
        assert_eq!((sync.chunk_tokens, sync.chunk_overlap, sync.watch_debounce_ms), (200, 40, 9));
        assert_eq!((sync.on_start, sync.on_search, sync.watch), (false, false, false));
        assert_eq!((sync.rescan_minutes, sync.min_new_bytes, sync.min_new_lines), (3, 7, 8));
        assert!(!sync.enabled, "what is off reads nothing by itself");
        assert_eq!((given.max_results, given.min_score, given.candidates), (2, 0.5, 9));
        assert_eq!(given.weights, Weights { vector: 0.2, keyword: 0.8 });
        let mode = |tree| settings(&tree).mode;
        assert_eq!(mode(json!({ "query": { "hybrid": { "enabled": false } } })), Mode::Vector);
        assert_eq!(mode(json!({ "store": { "vector": { "enabled": false } } })), Mode::Keyword);
    }

    /// R25, R29, H3: an agent has its own keys over those of all, and its own store.
    #[test]
    fn each_agent_has_its_settings_and_its_store() {
        let document = json!({ "gateway": {}, "agents": {
            "defaults": { "model": "x", "memorySearch": {
                "store": { "path": "~/.gimli/state/memory/${agentId}.sqlite" }, "query": { "maxResults": 9, "minScore": 0.1 } } },
            "list": [{ "id": "ops", "memorySearch": { "query": { "maxResults": 3 } } }],
            "scribe": { "memorySearch": { "enabled": false } }
        } });
        let of = |agent: Option<&str>| configured(&document, agent).unwrap().settings;
        let seen = |agent| (of(agent).max_results, of(agent).min_score, of(agent).enabled);
        assert_eq!(seen(None), (9, 0.1, true));
        assert_eq!(seen(Some("ops")), (3, 0.1, true));
        assert_eq!(seen(Some("scribe")), (9, 0.1, false));
        let store = |agent| of(agent).store.unwrap();
        assert_eq!(store(None), PathBuf::from("/home/ann/.gimli/state/memory/main.memorist"));
        assert_eq!(store(Some("ops")), PathBuf::from("/home/ann/.gimli/state/memory/ops.memorist"));
        assert_eq!(store(Some("../ops")), PathBuf::from("/home/ann/.gimli/state/memory/.._ops.memorist"));
        let relative = json!({ "store": { "path": "state/memory" } });
        assert_eq!(settings(&relative).store, Some(PathBuf::from("/etc/gimli/state/memory.memorist")));
    }

    /// H4.
    #[test]
    fn sessions_are_an_experiment() {
        let given = configured(&json!({ "sources": ["memory", "sessions"] }), None).unwrap();
        assert_eq!((given.settings.memory, given.settings.sessions), (true, false));
        assert!(given.warning.unwrap().contains("experimental.sessionMemory"));
        let quiet = configured(&json!({}), None).unwrap();
        assert_eq!((quiet.settings.sessions, quiet.warning), (false, None));
        let on = json!({ "experimental": { "sessionMemory": true } });
        assert!(settings(&on).sessions);
    }

    /// H3, E6, E14: the provider of the tree is that of the settings.
    #[test]
    fn the_provider_of_the_tree_embeds() {
        let tree = json!({
            "provider": "openai", "model": "text-embedding-3-large", "fallback": "local",
            "remote": { "baseUrl": "https://models.example/v1", "apiKey": "a-key-for-tests", "headers": { "x-team": "t" },
                        "batch": { "enabled": false } },
            "cache": { "enabled": true, "maxEntries": 9 }
        });
        let given = configured(&tree, None).unwrap();
        assert_eq!(given.warning, None);
        let section = given.settings.embedding.unwrap();
        assert!(!format!("{section:?}").contains("a-key-for-tests"));
        let expected = EmbeddingSection {
            provider: Some(Provider::OpenAi),
            model: Some("text-embedding-3-large".into()),
            url: Some("https://models.example/v1".into()),
            key: Some(Secret::new("a-key-for-tests")),
            headers: [("x-team".to_owned(), Secret::new("t"))].into(),
            fallback: Some("local".into()),
            cache: CacheSection { max_entries: Some(9), shared: None },
            ..EmbeddingSection::default()
        };
        assert_eq!(section, expected);
        let without_cache = settings(&json!({ "provider": "gemini", "cache": { "enabled": false } }));
        assert_eq!(without_cache.embedding.unwrap().cache.max_entries, Some(0));
        let remote = settings(&json!({ "remote": { "baseUrl": "http://localhost:1234/v1" } }));
        assert_eq!(remote.embedding.unwrap().provider, Some(Provider::OpenAi), "as in Gimli");
        assert_eq!(settings(&json!({ "provider": "local" })).embedding, None);
        let batch = json!({ "enabled": true, "wait": true, "pollIntervalMs": 2_000, "timeoutMinutes": 60 });
        let given = configured(&json!({ "provider": "openai", "remote": { "batch": batch } }), None).unwrap();
        assert_eq!(given.warning.unwrap(), "without effect here: remote.batch.wait");
        let jobs = given.settings.embedding.unwrap().batch_jobs;
        assert_eq!((jobs.enabled, jobs.poll_seconds, jobs.timeout_minutes), (true, Some(2.0), Some(60)));
    }

    /// H3: what means nothing here is said in one sentence, and a typo is an error.
    #[test]
    fn keys_without_effect_are_named_and_unknown_ones_refused() {
        let given = configured(
            &json!({ "provider": "auto", "model": "text-embedding-3-small", "cache": { "maxEntries": 9 } }),
            None,
        );
        assert_eq!(given.unwrap().warning.unwrap(), "without effect here: cache.maxEntries, model");
        let refused = |tree: Value| configured(&tree, None).unwrap_err();
        let typo = refused(json!({ "query": { "hybrid": { "vectorWeigth": 1 } } }));
        assert!(typo.contains("query.hybrid.vectorWeigth") && typo.ends_with("query.hybrid.vectorWeight?"), "{typo}");
        for (tree, says) in [
            (json!({ "query": { "maxResults": 0 } }), "query.maxResults: must be a whole number from 1 to 1000"),
            (json!({ "query": { "minScore": 2 } }), "query.minScore: must be a number from 0 to 1"),
            (json!({ "enabled": "yes" }), "enabled: must be true or false"),
            (json!({ "provider": "acme" }), "provider: must be one of"),
            (json!({ "provider": "openai", "remote": { "headers": { "x": 1 } } }), "remote.headers.x: must be a text"),
            (json!({ "provider": "openai", "cache": { "maxEntries": -1 } }), "cache.maxEntries: must be"),
            (json!({ "sources": ["web"] }), "sources: must be a list of"),
            (json!({ "chunking": { "tokens": 20, "overlap": 19 } }), "chunking: "),
            (json!({ "query": { "hybrid": { "vectorWeight": 0, "textWeight": 0 } } }), "query.hybrid: "),
            (json!({ "agents": { "list": [] } }), "no memorySearch"),
            (json!([]), "neither a JSON object nor"),
        ] {
            let why = refused(tree);
            assert!(why.contains(says), "{why}");
        }
    }
}
