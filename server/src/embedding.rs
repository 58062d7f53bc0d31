//! The section `[embedding]` of the settings: what embeds.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use memorist_engine::config::{ModelSettings, ModelSource};
use memorist_engine::embed::{CacheSettings, Fields, JobTerms, NamedModel, Protocol, RemoteSettings, Secret};
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};

/// Embeddings that a cache keeps where nothing is set.
const CACHE_ENTRIES: usize = 50_000;
/// Most numbers of a vector.
const MOST_DIMENSIONS: usize = 16_384;
/// Longest key that is read from a file.
const LONGEST_KEY: u64 = 64 * 1024;

/// A source of embeddings, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Provider {
    /// The default model, or another with a name, on this machine.
    Local,
    /// A folder with a model for ONNX Runtime.
    Onnx,
    /// OpenAI, or what is compatible with it.
    OpenAi,
    Gemini,
    Ollama,
    Cohere,
    /// LM Studio, which is compatible with OpenAI.
    LmStudio,
    /// Groq, which has no embeddings.
    Groq,
    /// Nothing: words only.
    None,
    /// The local model if it is there, else the first of `candidates` that has a key.
    Auto,
}

/// The section. Each key that is absent has a default, which may depend on the provider.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EmbeddingSection {
    /// The source of embeddings.
    pub provider: Option<Provider>,
    /// Its model; of `onnx` the folder, of `local` a name.
    pub model: Option<String>,
    pub url: Option<String>,
    /// The variable that has the key.
    pub api_key_env: Option<String>,
    pub api_key_file: Option<PathBuf>,
    /// Not read: see [`EmbeddingSection::resolve`].
    pub api_key: Option<IgnoredAny>,
    /// The key itself, where another configuration has it.
    #[serde(skip)]
    pub key: Option<Secret>,
    /// Headers of every request.
    #[serde(deserialize_with = "secrets")]
    pub headers: BTreeMap<String, Secret>,
    /// Numbers per vector.
    pub dimensions: Option<usize>,
    pub query_prefix: Option<String>,
    /// Prefix of a text that is stored.
    pub document_prefix: Option<String>,
    /// Extra fields of requests for queries.
    pub query_fields: Option<Fields>,
    /// Extra fields of requests for texts that are stored.
    pub document_fields: Option<Fields>,
    /// Tokens of a text that the model reads.
    pub max_tokens: Option<usize>,
    /// Most texts in a request.
    pub batch: Option<usize>,
    /// Longest time of a request.
    pub timeout_seconds: Option<f64>,
    /// Longest time that a search waits.
    pub query_timeout_seconds: Option<f64>,
    /// Whether a key may be sent unencrypted.
    pub allow_http: bool,
    /// The fallback for a store whose vectors are not the provider's: "keyword", or another provider.
    pub fallback: Option<String>,
    /// The providers that `auto` may choose.
    pub candidates: Vec<Provider>,
    /// The cache of embeddings.
    pub cache: CacheSection,
    /// Jobs that a provider runs in its own time.
    pub batch_jobs: JobsSection,
}

/// The cache of a provider's embeddings.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CacheSection {
    /// Most entries; the least recently used are dropped. 0: no cache.
    pub max_entries: Option<usize>,
    /// Whether all stores of the user share it.
    pub shared: Option<bool>,
}

/// Batch jobs: half the price, and up to a day.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct JobsSection {
    /// Whether many texts at once go into jobs.
    pub enabled: bool,
    /// Fewer texts are embedded at once.
    pub min_texts: Option<usize>,
    /// Most texts of a job.
    pub max_texts: Option<usize>,
    /// First pause between two looks at a job.
    pub poll_seconds: Option<f64>,
    /// A job that takes longer is cancelled.
    pub timeout_minutes: Option<u64>,
}

/// Facts about its surroundings that the section depends on.
pub struct Surroundings<'a> {
    /// The store.
    pub store: &'a Path,
    /// The environment.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// Whether the default model is on this machine.
    pub has_local_model: &'a dyn Fn() -> bool,
}

/// The result of the section and the settings of the model.
#[derive(Debug, PartialEq)]
pub struct Resolved {
    /// The source of embeddings.
    pub source: ModelSource,
    /// The source for a store that has its vectors.
    pub fallback: Option<ModelSource>,
    /// A note for people.
    pub note: Option<String>,
}

/// A protocol with its address, the variable of its key, and its model.
struct EmbeddingService {
    name: &'static str,
    protocol: Protocol,
    url: Option<&'static str>,
    key: Option<&'static str>,
}

impl Provider {
    /// By its name in the settings.
    pub fn named(name: &str) -> Option<Self> {
        let name = serde::de::value::StrDeserializer::<serde::de::value::Error>::new(name);
        Provider::deserialize(name).ok()
    }

    fn service(self) -> Option<EmbeddingService> {
        let (name, protocol, url, key) = match self {
            Provider::OpenAi => ("openai", Protocol::OpenAi, None, Some("OPENAI_API_KEY")),
            Provider::Gemini => ("gemini", Protocol::Gemini, None, Some("GEMINI_API_KEY")),
            Provider::Cohere => ("cohere", Protocol::Cohere, None, Some("COHERE_API_KEY")),
            Provider::Ollama => ("ollama", Protocol::Ollama, None, None),
            Provider::LmStudio => ("lmstudio", Protocol::OpenAi, Some("http://localhost:1234/v1"), None),
            Provider::Local | Provider::Onnx | Provider::Groq | Provider::None | Provider::Auto => return None,
        };
        Some(EmbeddingService { name, protocol, url, key })
    }
}

impl EmbeddingSection {
    /// The sources of embeddings that the section names; `None` if it names no provider.
    ///
    /// # Errors
    /// Says what is wrong, with the key.
    pub fn resolve(&self, model: &ModelSettings, around: &Surroundings<'_>) -> Result<Option<Resolved>, String> {
        if self.api_key.is_some() {
            let why = "api_key: this file may be read or copied by others; put the key into a file that only you can read, and \
                       name it with `api_key_file`, or name a variable with `api_key_env`";
            return Err(why.to_owned());
        }
        let Some(provider) = self.provider else {
            return match *self == (EmbeddingSection { cache: self.cache.clone(), ..EmbeddingSection::default() }) {
                true => Ok(None),
                false => {
                    Err("provider: name one: \"local\", \"onnx\", \"openai\", \"gemini\", \"ollama\", \"cohere\", \
                              \"lmstudio\", \"auto\" or \"none\""
                        .to_owned())
                }
            };
        };
        let fallback = match self.fallback.as_deref() {
            None | Some("keyword" | "words" | "none" | "") => None,
            Some(name) => {
                let usual = EmbeddingSection { cache: self.cache.clone(), ..EmbeddingSection::default() };
                let named = Provider::named(name).filter(|named| *named != Provider::Auto && *named != Provider::Onnx);
                let named = named.ok_or_else(|| {
                    format!("fallback: unknown {name:?}; use \"keyword\", \"local\" or the name of a provider")
                })?;
                Some(usual.source(named, model, around)?.0).filter(|source| *source != ModelSource::None)
            }
        };
        let (source, note) = match provider {
            Provider::Auto => (self.chosen(model, around)?, None),
            _ => self.source(provider, model, around)?,
        };
        Ok(Some(Resolved { source, fallback, note }))
    }

    /// The local model if it is there; else the first candidate that could be used; else the local model, which can be
    /// fetched. Never one that is not named: it may cost money, and reads every memory.
    fn chosen(&self, model: &ModelSettings, around: &Surroundings<'_>) -> Result<ModelSource, String> {
        if !(around.has_local_model)() {
            for candidate in &self.candidates {
                let usual = EmbeddingSection { cache: self.cache.clone(), ..EmbeddingSection::default() };
                let (source, _) = usual.source(*candidate, model, around)?;
                match &source {
                    ModelSource::Remote(remote) if remote.key.is_none() && remote.key_from.is_some() => {}
                    ModelSource::None => {}
                    _ => return Ok(source),
                }
            }
        }
        Ok(ModelSource::Default)
    }

    fn source(
        &self,
        provider: Provider,
        model: &ModelSettings,
        around: &Surroundings<'_>,
    ) -> Result<(ModelSource, Option<String>), String> {
        let source = match (provider, provider.service()) {
            (_, Some(service)) => ModelSource::Remote(Box::new(self.remote(&service, model, around)?)),
            (Provider::Onnx, _) => match &self.model {
                Some(folder) => ModelSource::Folder(folder.into()),
                None => return Err("model: name the folder with model.onnx and tokenizer.json".to_owned()),
            },
            (Provider::Local, _) => {
                let named = self.model.as_deref().and_then(NamedModel::by_name);
                named.map_or(ModelSource::Default, ModelSource::Named)
            }
            (Provider::None, _) => ModelSource::None,
            (Provider::Groq, _) => {
                let note =
                    "groq has no embeddings, so keyword search only; `provider = \"local\"` enables vector search";
                return Ok((ModelSource::None, Some(note.to_owned())));
            }
            _ => ModelSource::Default,
        };
        Ok((source, None))
    }

    fn remote(
        &self,
        service: &EmbeddingService,
        model: &ModelSettings,
        around: &Surroundings<'_>,
    ) -> Result<RemoteSettings, String> {
        let mut remote = RemoteSettings::new(service.name, service.protocol);
        // The key of a service is not sent to another address, unless the settings say so.
        let usual_key = service.key.filter(|_| self.url.is_none());
        if let Some(url) = self.url.as_deref().or(service.url) {
            remote.url = url.to_owned();
        }
        if let Some(model) = &self.model {
            remote.model.clone_from(model);
        } else if service.name == "lmstudio" {
            remote.model = "text-embedding-nomic-embed-text-v1.5".to_owned();
        }
        (remote.key, remote.key_from) = self.key(usual_key, around)?;
        remote.headers.clone_from(&self.headers);
        remote.dimensions = within("dimensions", self.dimensions, MOST_DIMENSIONS)?;
        remote.query_prefix.clone_from(&self.query_prefix);
        remote.document_prefix.clone_from(&self.document_prefix);
        remote.query_fields.clone_from(&self.query_fields);
        remote.document_fields.clone_from(&self.document_fields);
        remote.max_tokens = within("max_tokens", self.max_tokens, usize::MAX)?;
        remote.batch = within("batch", self.batch, usize::MAX)?;
        remote.timeout = seconds("timeout_seconds", self.timeout_seconds)?;
        remote.query_timeout =
            seconds("query_timeout_seconds", self.query_timeout_seconds)?.unwrap_or(remote.query_timeout);
        remote.allow_http = self.allow_http;
        let most = self.cache.max_entries.unwrap_or(CACHE_ENTRIES);
        let own = Some(around.store).filter(|_| self.cache.shared == Some(false));
        remote.cache =
            model.embeddings_dir.as_ref().filter(|_| most > 0).map(|folder| CacheSettings::new(folder, own, most));
        remote.jobs = self.batch_jobs.terms(service)?;
        Ok(remote)
    }

    /// The key, and where a missing one can be put.
    fn key(&self, usual: Option<&str>, around: &Surroundings<'_>) -> Result<(Option<Secret>, Option<String>), String> {
        if self.key.is_some() {
            return Ok((self.key.clone(), None));
        }
        if let Some(file) = &self.api_key_file {
            return Ok((Some(read_key(file).map_err(|why| format!("api_key_file: {}: {why}", file.display()))?), None));
        }
        let Some(name) = self.api_key_env.as_deref().or(usual) else { return Ok((None, None)) };
        let key = (around.variable)(name).map(|key| key.trim().to_owned()).filter(|key| !key.is_empty());
        // What the settings name is not shown: it may be the key itself, by mistake.
        let variable = match &self.api_key_env {
            None => format!("the variable {name}"),
            Some(_) => "the variable that `api_key_env` names (its name, not the key itself)".to_owned(),
        };
        Ok((key.map(Secret::new), Some(format!("set {variable}, or name a file with `api_key_file`"))))
    }
}

impl JobsSection {
    fn terms(&self, service: &EmbeddingService) -> Result<JobTerms, String> {
        let key = |name: &str| format!("batch_jobs.{name}");
        let takes_jobs = matches!(service.protocol, Protocol::OpenAi | Protocol::Gemini);
        if self.enabled && !takes_jobs {
            return Err(format!("{}: {} takes no batch jobs; openai and gemini do", key("enabled"), service.name));
        }
        let usual = JobTerms::default();
        let minutes = match self.timeout_minutes {
            Some(minutes @ (0 | 10_081..)) => {
                return Err(format!("{}: must be from 1 to 10080, not {minutes}", key("timeout_minutes")));
            }
            other => other,
        };
        Ok(JobTerms {
            enabled: self.enabled,
            min_texts: within(&key("min_texts"), self.min_texts, usize::MAX)?.unwrap_or(usual.min_texts),
            max_texts: within(&key("max_texts"), self.max_texts, usize::MAX)?,
            poll: seconds(&key("poll_seconds"), self.poll_seconds)?.unwrap_or(usual.poll),
            timeout: minutes.map_or(usual.timeout, |minutes| Duration::from_secs(minutes * 60)),
        })
    }
}

fn secrets<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, Secret>, D::Error> {
    let texts = BTreeMap::<String, String>::deserialize(deserializer)?;
    Ok(texts.into_iter().map(|(name, text)| (name, Secret::new(text))).collect())
}

fn within(key: &str, number: Option<usize>, most: usize) -> Result<Option<usize>, String> {
    match number {
        Some(number) if number == 0 || number > most => Err(format!("{key}: must be from 1 to {most}, not {number}")),
        other => Ok(other),
    }
}

fn seconds(key: &str, seconds: Option<f64>) -> Result<Option<Duration>, String> {
    match seconds {
        Some(seconds) if !(0.001..=86_400.0).contains(&seconds) => {
            Err(format!("{key}: must be from 0.001 to 86400, not {seconds}"))
        }
        other => Ok(other.map(Duration::from_secs_f64)),
    }
}

/// The key in a file that only its owner can read.
fn read_key(file: &Path) -> Result<Secret, String> {
    let about = fs::metadata(file).map_err(|error| error.to_string())?;
    if !about.is_file() || about.len() > LONGEST_KEY {
        return Err("it is not a plain file with a key".to_owned());
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        if about.permissions().mode() & 0o077 != 0 {
            return Err("other users can read it; `chmod 600` makes it private".to_owned());
        }
    }
    let key = fs::read_to_string(file).map_err(|error| error.to_string())?;
    match key.trim() {
        "" => Err("it is empty".to_owned()),
        key => Ok(Secret::new(key)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "a-key-for-tests";

    fn resolve_with(text: &str, variables: &[&str], has_local_model: bool) -> Result<Option<Resolved>, String> {
        let section: EmbeddingSection = toml::from_str(text).map_err(|error| error.to_string())?;
        let model = ModelSettings { embeddings_dir: Some("/cache".into()), ..ModelSettings::default() };
        let variable = |name: &str| variables.contains(&name).then(|| format!(" {KEY}\n"));
        let around =
            Surroundings { store: Path::new("/store"), variable: &variable, has_local_model: &|| has_local_model };
        section.resolve(&model, &around)
    }

    fn source(text: &str, variables: &[&str]) -> ModelSource {
        resolve_with(text, variables, false).unwrap().unwrap().source
    }

    fn remote(text: &str, variables: &[&str]) -> RemoteSettings {
        match source(text, variables) {
            ModelSource::Remote(remote) => *remote,
            other => panic!("{other:?}"),
        }
    }

    /// E5, E6: every provider with its defaults.
    #[test]
    fn every_provider_has_its_defaults() {
        for (name, url, model, variable) in [
            ("openai", "https://api.openai.com/v1", "text-embedding-3-small", Some("OPENAI_API_KEY")),
            (
                "gemini",
                "https://generativelanguage.googleapis.com/v1beta",
                "gemini-embedding-001",
                Some("GEMINI_API_KEY"),
            ),
            ("cohere", "https://api.cohere.com/v2", "embed-v4.0", Some("COHERE_API_KEY")),
            ("ollama", "http://localhost:11434", "nomic-embed-text", None),
            ("lmstudio", "http://localhost:1234/v1", "text-embedding-nomic-embed-text-v1.5", None),
        ] {
            let text = format!("provider = \"{name}\"");
            let all = ["OPENAI_API_KEY", "GEMINI_API_KEY", "COHERE_API_KEY"];
            let settings = remote(&text, &all);
            assert_eq!((settings.name.as_str(), settings.url.as_str(), settings.model.as_str()), (name, url, model));
            assert_eq!(settings.key, variable.map(|_| Secret::new(KEY)), "{name}");
            assert_eq!(settings.cache.unwrap().max_entries, 50_000);
            let without = remote(&text, &[]);
            assert_eq!(without.key_from.is_some(), variable.is_some());
            assert!(without.key_from.is_none_or(|from| from.contains(variable.unwrap())));
        }
        assert_eq!(source("provider = \"local\"", &[]), ModelSource::Default);
        let multilingual = source("provider = \"local\"\nmodel = \"multilingual\"", &[]);
        assert_eq!(multilingual, ModelSource::Named(NamedModel::E5Small));
        assert_eq!(source("provider = \"none\"", &[]), ModelSource::None);
        assert_eq!(source("provider = \"onnx\"\nmodel = \"/m\"", &[]), ModelSource::Folder("/m".into()));
        let groq = resolve_with("provider = \"groq\"", &["GROQ_API_KEY"], false).unwrap().unwrap();
        assert!(groq.source == ModelSource::None && groq.note.unwrap().contains("no embeddings"));
    }

    #[test]
    fn every_key_is_applied() {
        let text = "provider = \"openai\"\nmodel = \"m\"\nurl = \"https://e.example\"\napi_key_env = \"MINE\"\n\
                    dimensions = 256\nquery_prefix = \"q: \"\ndocument_prefix = \"\"\nmax_tokens = 9\nbatch = 3\n\
                    timeout_seconds = 7\nquery_timeout_seconds = 0.5\nallow_http = true\n\
                    query_fields = { input_type = \"query\" }\ndocument_fields = { a = { b = 1 } }\n\
                    headers = { x-team = \"t\" }\ncache = { max_entries = 0 }";
        let settings = remote(text, &["MINE", "OPENAI_API_KEY"]);
        assert_eq!((settings.model.as_str(), settings.url.as_str()), ("m", "https://e.example"));
        assert_eq!((settings.dimensions, settings.max_tokens, settings.batch), (Some(256), Some(9), Some(3)));
        assert_eq!((settings.query_prefix.as_deref(), settings.document_prefix.as_deref()), (Some("q: "), Some("")));
        assert_eq!(
            (settings.timeout, settings.query_timeout),
            (Some(Duration::from_secs(7)), Duration::from_millis(500))
        );
        assert_eq!(settings.query_fields.unwrap()["input_type"], "query");
        assert_eq!(settings.document_fields.unwrap()["a"]["b"], 1);
        assert!(settings.allow_http && settings.cache.is_none() && settings.headers["x-team"] == Secret::new("t"));
        assert_eq!(settings.key, Some(Secret::new(KEY)));
        let own = remote("provider = \"ollama\"\ncache = { shared = false }", &[]).cache.unwrap().file;
        assert!(own.starts_with("/cache") && own != remote("provider = \"ollama\"", &[]).cache.unwrap().file);
    }

    #[test]
    fn a_key_in_the_place_of_its_variable_is_not_shown() {
        let settings = remote(&format!("provider = \"openai\"\napi_key_env = \"{KEY}\""), &[]);
        let from = settings.key_from.unwrap();
        assert!(from.contains("api_key_env") && !from.contains(KEY), "{from}");
    }

    /// A key goes to the service that it is of.
    #[test]
    fn a_key_is_not_sent_to_another_address_unless_it_is_named() {
        let elsewhere = "provider = \"openai\"\nurl = \"https://elsewhere.example/v1\"";
        assert_eq!(remote(elsewhere, &["OPENAI_API_KEY"]).key, None);
        let named = format!("{elsewhere}\napi_key_env = \"OPENAI_API_KEY\"");
        assert_eq!(remote(&named, &["OPENAI_API_KEY"]).key, Some(Secret::new(KEY)));
    }

    /// E7: the local model if it is there, then those that are named and have a key; never another.
    #[test]
    fn auto_chooses_what_is_named_and_can_be_used() {
        let auto = |more: &str, variables: &[&str], has_local: bool| {
            let text = format!("provider = \"auto\"\n{more}");
            match resolve_with(&text, variables, has_local).unwrap().unwrap().source {
                ModelSource::Remote(remote) => remote.name,
                ModelSource::Default => "local".to_owned(),
                other => panic!("{other:?}"),
            }
        };
        let (both, keys) = ("candidates = [\"openai\", \"gemini\"]", ["OPENAI_API_KEY", "GEMINI_API_KEY"]);
        assert_eq!(auto(both, &keys, true), "local");
        assert_eq!(auto(both, &keys, false), "openai");
        assert_eq!(auto(both, &["GEMINI_API_KEY"], false), "gemini", "without a key it is skipped");
        assert_eq!(auto(both, &[], false), "local");
        assert_eq!(auto("", &keys, false), "local", "a key alone chooses nothing");
        assert_eq!(auto("candidates = [\"ollama\"]", &[], false), "ollama");
    }

    /// E14.
    #[test]
    fn a_fallback_is_keyword_or_another_provider() {
        let fallback = |name: &str| {
            let text = format!("provider = \"openai\"\nfallback = \"{name}\"");
            resolve_with(&text, &[], false).map(|resolved| resolved.unwrap().fallback)
        };
        assert_eq!(["keyword", "words", "none", "groq"].map(|name| fallback(name).unwrap()), [None, None, None, None]);
        assert_eq!(fallback("local").unwrap(), Some(ModelSource::Default));
        assert!(matches!(fallback("ollama").unwrap(), Some(ModelSource::Remote(remote)) if remote.name == "ollama"));
        assert!(fallback("auto").unwrap_err().contains("fallback"));
    }

    #[test]
    fn invalid_embedding_settings_name_the_key() {
        for (text, named) in [
            ("model = \"m\"", "provider"),
            ("provider = \"opnai\"", "openai"),
            ("provider = \"onnx\"", "model"),
            ("provider = \"openai\"\ndimensions = 0", "dimensions"),
            ("provider = \"openai\"\nbatch = 0", "batch"),
            ("provider = \"openai\"\ntimeout_seconds = 0", "timeout_seconds"),
            ("provider = \"openai\"\nquery_timeout_seconds = -1", "query_timeout_seconds"),
            ("provider = \"openai\"\napi_key_file = \"/nowhere/at/all\"", "api_key_file"),
            ("provider = \"openai\"\napi_key = \"x\"", "api_key_file"),
            ("provider = \"openai\"\nfallback = \"x\"", "fallback"),
        ] {
            let error = resolve_with(text, &[], false).unwrap_err();
            assert!(error.contains(named), "{text}: {error}");
        }
        assert_eq!(resolve_with("cache = { max_entries = 3 }", &[], false), Ok(None));
    }

    #[cfg(unix)]
    #[test]
    fn a_key_file_is_private_or_refused() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("key");
        fs::write(&file, format!("{KEY}\n")).unwrap();
        let text = format!("provider = \"openai\"\napi_key_file = {file:?}");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        let error = resolve_with(&text, &[], false).unwrap_err();
        assert!(error.contains("chmod 600") && !error.contains(KEY), "{error}");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(remote(&text, &[]).key, Some(Secret::new(KEY)));
        fs::write(&file, " \n").unwrap();
        assert!(resolve_with(&text, &[], false).unwrap_err().contains("empty"));
    }
}
