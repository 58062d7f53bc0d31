//! Keys applied to the settings.

use std::collections::BTreeMap;

use memorist_engine::embed::Secret;
use memorist_engine::types::{MAX_LIMIT, Mode};
use serde_json::Value;

use super::keys::HEADERS;
use super::paths::{Paths, folder};
use super::settings::MemorySearch;
use crate::embedding::{EmbeddingSection, Provider};

/// Most candidates of each side for each result.
const MOST_CANDIDATES: u64 = 20;

/// The providers that `auto` tries, in their order, where the local model is not there. One without a key is skipped.
const BY_AUTO: [Provider; 2] = [Provider::OpenAi, Provider::Gemini];

/// The settings with these keys. Each is known.
pub fn apply(
    keys: &BTreeMap<String, Value>,
    defaults: MemorySearch,
    paths: &Paths<'_>,
) -> Result<MemorySearch, String> {
    // Sessions have to be allowed, whatever the sources are.
    let mut settings = MemorySearch { sessions: false, ..defaults };
    let (mut hybrid, mut vectors, mut wants_sessions) = (true, true, true);
    for (key, value) in keys {
        let given = Given { key, value };
        let sync = &mut settings.sync;
        match key.as_str() {
            "enabled" => settings.enabled = given.flag()?,
            "sources" => (settings.memory, wants_sessions) = given.sources()?,
            "experimental.sessionMemory" => settings.sessions = given.flag()?,
            "store.path" => settings.store = Some(folder(given.text()?, paths)?),
            "store.vector.enabled" => vectors = given.flag()?,
            "chunking.tokens" => sync.chunk_tokens = given.size(1, 1_000_000)?,
            "chunking.overlap" => sync.chunk_overlap = given.size(0, 1_000_000)?,
            "sync.onSessionStart" => sync.on_start = given.flag()?,
            "sync.onSearch" => sync.on_search = given.flag()?,
            "sync.watch" => sync.watch = given.flag()?,
            "sync.watchDebounceMs" => sync.watch_debounce_ms = given.whole(0, u64::MAX)?,
            "sync.intervalMinutes" => sync.rescan_minutes = given.whole(0, u64::MAX)?,
            "sync.sessions.deltaBytes" => sync.min_new_bytes = given.whole(0, u64::MAX)?,
            "sync.sessions.deltaMessages" => sync.min_new_lines = given.whole(0, u64::MAX)?,
            "query.maxResults" => settings.max_results = given.size(1, MAX_LIMIT as u64)?,
            "query.minScore" => settings.min_score = given.number(1.0)?,
            "query.hybrid.enabled" => hybrid = given.flag()?,
            "query.hybrid.vectorWeight" => settings.weights.vector = given.number(f64::MAX)?,
            "query.hybrid.textWeight" => settings.weights.keyword = given.number(f64::MAX)?,
            "query.hybrid.candidateMultiplier" => settings.candidates = given.size(1, MOST_CANDIDATES)?,
            _ => {}
        }
    }
    settings.embedding = embedding(keys)?;
    settings.sessions &= wants_sessions;
    settings.sync.enabled &= settings.enabled;
    settings.mode = match (vectors, hybrid) {
        (false, _) => Mode::Keyword,
        (true, false) => Mode::Vector,
        (true, true) => Mode::Hybrid,
    };
    settings.weights.normalised().map_err(|error| format!("query.hybrid: {error}"))?;
    settings.sync.validate().map_err(|why| format!("sync and chunking: {why}"))?;
    Ok(settings)
}

/// The embedding section of these keys, if they name a provider.
fn embedding(keys: &BTreeMap<String, Value>) -> Result<Option<EmbeddingSection>, String> {
    let mut section = EmbeddingSection::default();
    let mut has_cache = true;
    for (key, value) in keys {
        let given = Given { key, value };
        match key.as_str() {
            "provider" => {
                let provider = Provider::named(given.text()?).filter(|provider| *provider != Provider::Onnx);
                let wrong =
                    || given.must("one of auto, local, openai, gemini, ollama, cohere, lmstudio, groq and none");
                section.provider = Some(provider.ok_or_else(wrong)?);
            }
            "model" => section.model = Some(given.text()?.to_owned()),
            "fallback" => section.fallback = Some(given.text()?.to_owned()),
            "remote.baseUrl" => section.url = Some(given.text()?.to_owned()),
            "remote.apiKey" => match given.secret()? {
                Ok(key) => section.key = Some(key),
                Err(variable) => section.api_key_env = Some(variable),
            },
            "remote.batch.enabled" => section.batch_jobs.enabled = given.flag()?,
            "remote.batch.pollIntervalMs" => {
                section.batch_jobs.poll_seconds = Some(given.whole(1, 86_400_000)? as f64 / 1_000.0);
            }
            "remote.batch.timeoutMinutes" => section.batch_jobs.timeout_minutes = Some(given.whole(1, 10_080)?),
            "cache.enabled" => has_cache = given.flag()?,
            "cache.maxEntries" => section.cache.max_entries = Some(given.size(0, u64::MAX)?),
            key => {
                if let Some(name) = key.strip_prefix(HEADERS) {
                    section.headers.insert(name.to_owned(), Secret::new(given.text()?));
                }
            }
        }
    }
    if !has_cache {
        section.cache.max_entries = Some(0);
    }
    let has_remote = keys.keys().any(|key| key == "remote.baseUrl" || key == "remote.apiKey");
    section.provider = section.provider.or(has_remote.then_some(Provider::OpenAi));
    if section.provider == Some(Provider::Auto) {
        section.candidates = BY_AUTO.to_vec();
    }
    // That is what the settings say anyway.
    let is_named = section.provider.is_some_and(|provider| provider != Provider::Local);
    Ok(is_named.then_some(section))
}

/// A key with its value.
struct Given<'a> {
    key: &'a str,
    value: &'a Value,
}

impl<'a> Given<'a> {
    fn must(&self, what: &str) -> String {
        format!("{}: must be {what}, not {}", self.key, self.value)
    }

    fn flag(&self) -> Result<bool, String> {
        self.value.as_bool().ok_or_else(|| self.must("true or false"))
    }

    fn text(&self) -> Result<&'a str, String> {
        self.value.as_str().filter(|text| !text.trim().is_empty()).ok_or_else(|| self.must("a text"))
    }

    /// A secret, which an error does not show: the text, or `${NAME}` for the variable of that name.
    fn secret(&self) -> Result<Result<Secret, String>, String> {
        let text = self.value.as_str().map(str::trim).filter(|text| !text.is_empty());
        let text = text.ok_or_else(|| format!("{}: must be a text", self.key))?;
        let name = text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
        Ok(name.map_or_else(|| Ok(Secret::new(text)), |name| Err(name.to_owned())))
    }

    fn number(&self, most: f64) -> Result<f64, String> {
        let number = self.value.as_f64().filter(|number| (0.0..=most).contains(number));
        number.ok_or_else(|| {
            self.must(&if most < f64::MAX { format!("a number from 0 to {most}") } else { "0 or more".into() })
        })
    }

    fn whole(&self, least: u64, most: u64) -> Result<u64, String> {
        let number = self.value.as_u64().filter(|number| (least..=most).contains(number));
        number.ok_or_else(|| self.must(&format!("a whole number from {least} to {most}")))
    }

    fn size(&self, least: u64, most: u64) -> Result<usize, String> {
        self.whole(least, most).map(|number| usize::try_from(number).unwrap_or(usize::MAX))
    }

    /// Whether memory and sessions are among the sources.
    fn sources(&self) -> Result<(bool, bool), String> {
        let wrong = || self.must("a list of \"memory\" and \"sessions\"");
        let names = self.value.as_array().ok_or_else(wrong)?;
        let names: Vec<&str> = names.iter().map(|name| name.as_str().ok_or_else(wrong)).collect::<Result<_, _>>()?;
        if names.iter().any(|name| !["memory", "sessions"].contains(name)) {
            return Err(wrong());
        }
        Ok((names.contains(&"memory"), names.contains(&"sessions")))
    }
}
