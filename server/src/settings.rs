//! Combines the arguments, the environment and `memorist.toml`. Arguments override the environment, which overrides the
//! file, which overrides the defaults.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use directories::{BaseDirs, ProjectDirs};
use jiff::tz::TimeZone;
use memorist_engine::config::{Backend, Config, ModelSettings, ModelSource, TeamSettings};
use memorist_engine::embed::{self, ModelHost};
use memorist_engine::quality::Quality;
use memorist_engine::sensitive::Sensitive;
use memorist_engine::types::{Scale, Weights};
use memorist_ingest::daily_log::DailyLog;
use memorist_ingest::settings::SyncSettings;
use serde::Deserialize;

use crate::args::{Global, ProfileName};
use crate::embedding::{EmbeddingSection, Resolved, Surroundings};
use crate::exit::Failure;
use crate::hooks::{HookSettings, SyncWithSettings};
use crate::lacking;
use crate::logging;
use crate::ops::Context;
use crate::output::Output;
use crate::team::{NameOrigin, TeamSection};
use crate::wire::Defaults;

/// The default folder that tools export to and import from, in [`Settings::kept`].
const EXPORTS: &str = "exports";
/// The folder of the replicas that this machine has of team stores, by address, in the cache folder.
const NODES: &str = "nodes";
/// The folder for files that are kept beside each team store, by address, in the platform's data folder.
const TEAMS: &str = "teams";

/// Everything that a command needs to know before it starts.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The store's folder. That of a team store is a copy, in the cache.
    pub store: PathBuf,
    /// Where files are kept that are not the store's own: its folder, but for a team store.
    pub kept: PathBuf,
    /// The engine's settings. Commands adjust what only they know (whether they write indexes, may fetch the model).
    pub engine: Config,
    /// Defaults for what a call omits.
    pub context: Context,
    /// Where other stores would be.
    places: Places,
    /// Whether an argument, the environment or the file names the store.
    pub store_is_named: bool,
    /// Whether neither a project nor "no project" is set: then that of the working folder may be used.
    pub project_is_open: bool,
    /// How files are read, and when.
    pub sync: SyncSettings,
    /// Settings of clients' hooks.
    pub hooks: HookSettings,
    /// When other machines of the person are met.
    pub sync_with: SyncWithSettings,
    /// The tools that a server offers.
    pub profile: ProfileName,
    /// Where results go.
    pub output: Output,
    /// The log filter, unless RUST_LOG sets one.
    pub log_filter: String,
}

/// `memorist.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct SettingsFile {
    store: Option<PathBuf>,
    cache: Option<PathBuf>,
    project: Option<String>,
    agent: Option<String>,
    log: Option<String>,
    /// The tools that a server offers.
    profile: Option<ProfileName>,
    /// "default", "multilingual", a folder with `model.onnx` and `tokenizer.json`, or "none".
    model: Option<String>,
    /// The treatment of passwords, keys and the like: "reject" or "redact".
    #[serde(alias = "sensitive")]
    secrets: Option<Sensitive>,
    /// Where tools export to and import from.
    export_folder: Option<PathBuf>,
    /// Expired memories are removed this much later.
    expiry_grace_seconds: Option<u64>,
    /// Deleted memories are removed this much later.
    #[serde(rename = "trash_retention_seconds", alias = "trash_grace_seconds")]
    trash_grace_seconds: Option<u64>,
    /// Whether the model may be fetched.
    #[serde(rename = "download_model", alias = "download")]
    download: Option<bool>,
    /// The model is released after this long without use.
    model_idle_seconds: Option<u64>,
    #[serde(default)]
    embedding: EmbeddingSection,
    #[serde(default)]
    search: SearchSection,
    #[serde(default)]
    sync: SyncSettings,
    #[serde(default)]
    hooks: HookSettings,
    #[serde(default)]
    sync_with: SyncWithSettings,
    /// Settings for team stores.
    #[serde(default, alias = "server")]
    team: TeamSection,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct SearchSection {
    vector_weight: Option<f64>,
    keyword_weight: Option<f64>,
    #[serde(alias = "scale")]
    score_scaling: Option<Scale>,
    quality: Option<Quality>,
    /// Overrides `quality`.
    ef: Option<usize>,
    backend: Option<Backend>,
    log_searches: Option<bool>,
    rerank: Option<bool>,
}

/// Where stores are on this machine.
#[derive(Debug, Clone)]
struct Places {
    team: TeamSection,
    /// The folder for files that are kept beside the replicas of team stores.
    teams: Option<PathBuf>,
    cache: Option<PathBuf>,
}

/// Where a store is.
struct StoreLocation {
    store: PathBuf,
    kept: PathBuf,
    team: Option<TeamSettings>,
}

impl Places {
    fn of(&self, name: PathBuf, named: NameOrigin) -> Result<StoreLocation, Failure> {
        let team = self.team.resolve(&name, named, self.teams.clone()).map_err(Failure::input)?;
        let Some(team) = team else { return Ok(StoreLocation { kept: name.clone(), store: name, team: None }) };
        let no_cache = || Failure::input("no cache folder is known for this user; name one with --cache DIR");
        let store = self.cache.clone().ok_or_else(no_cache)?.join(NODES).join(team.address.folder_name());
        let kept = team.lost_folder.clone().ok_or_else(homeless)?;
        Ok(StoreLocation { store, kept, team: Some(team) })
    }
}

/// The platform's data folder. On Windows it is the local one: a store is no file to copy at each sign-in.
fn data_folder(directories: &ProjectDirs) -> PathBuf {
    let folder = directories.data_local_dir();
    // On macOS the settings are there, too, and stay when the store is removed.
    if cfg!(target_os = "macos") { folder.join("store") } else { folder.to_owned() }
}

fn homeless() -> Failure {
    Failure::input("this account has no home folder to keep a store in; name one with --store DIR")
}

impl Settings {
    /// Resolves the arguments.
    pub fn resolve(global: &Global) -> Result<Self, Failure> {
        let directories = ProjectDirs::from("", "", "memorist");
        let file = match global.config.as_ref().filter(|path| !path.as_os_str().is_empty()) {
            Some(path) => read(path)?,
            None => match directories.as_ref().map(|dirs| dirs.config_dir().join("memorist.toml")) {
                Some(path) if path.is_file() => read(&path)?,
                _ => SettingsFile::default(),
            },
        };
        Self::combine(global, file, directories.as_ref().map(data_folder))
    }

    fn combine(global: &Global, file: SettingsFile, data_dir: Option<PathBuf>) -> Result<Self, Failure> {
        // An empty variable counts as not set.
        let named = |name: &Option<String>| name.clone().filter(|name| !name.is_empty());
        // An empty name in the arguments or the file means none, however.
        let typed = if global.no_project { Some(String::new()) } else { global.project.clone() };
        let (project, agent) = (typed.or(file.project), global.agent.clone().or(file.agent));
        let project_is_open = project.is_none();
        let [project, agent] = [project, agent].map(|name| name.filter(|name| !name.is_empty()));
        let path = |path: &Option<PathBuf>| path.clone().filter(|path| !path.as_os_str().is_empty());
        let named_by = match path(&global.store) {
            Some(_) if global.typed.contains(&"store") => NameOrigin::Argument,
            Some(_) => NameOrigin::Environment,
            None => NameOrigin::File,
        };
        let store = path(&global.store).or(file.store);
        let store_is_named = store.is_some();
        let homeless =
            || Failure::input("this account has no home folder to keep a store in; name one with --store DIR");
        let store = store.or_else(|| data_dir.clone()).ok_or_else(homeless)?;
        let defaults = Weights::default();
        let weights = Weights {
            vector: file.search.vector_weight.unwrap_or(defaults.vector),
            keyword: file.search.keyword_weight.unwrap_or(defaults.keyword),
        };
        weights.normalised().map_err(|error| Failure::input(format!("[search] in the configuration: {error}")))?;
        let mut engine = Config::default();
        engine.weights = weights;
        engine.scale = file.search.score_scaling.unwrap_or_default();
        engine.model.cache_dir = path(&global.cache).or(file.cache);
        let usual = || ProjectDirs::from("", "", "memorist").map(|dirs| dirs.cache_dir().to_owned());
        let places = Places {
            team: file.team,
            teams: data_dir.map(|folder| folder.join(TEAMS)),
            cache: engine.model.cache_dir.clone().or_else(usual),
        };
        let StoreLocation { store, kept, team } = places.of(store, named_by)?;
        engine.team = team;
        let ef = file.search.ef.map(Quality::Ef);
        engine.quality = ef.or(file.search.quality).unwrap_or_default();
        engine.backend = file.search.backend.unwrap_or_default();
        engine.log_searches = file.search.log_searches.unwrap_or(engine.log_searches);
        engine.model.may_download = file.download.unwrap_or(engine.model.may_download);
        engine.sensitive = file.secrets.unwrap_or_default();
        engine.expiry_grace = file.expiry_grace_seconds.map_or(engine.expiry_grace, Duration::from_secs);
        engine.trash_grace = file.trash_grace_seconds.map_or(engine.trash_grace, Duration::from_secs);
        engine.model.idle = file.model_idle_seconds.map_or(engine.model.idle, Duration::from_secs);
        engine.model.embeddings_dir = embed::embeddings_dir(engine.model.cache_dir.as_deref());
        if file.model.is_some() && file.embedding.provider.is_some() {
            let why = "the configuration has `model` and `[embedding] provider`: keep one of the two";
            return Err(Failure::input(why));
        }
        let output = Output { json: global.json, quiet: global.quiet };
        match named(&global.model).or(file.model).as_deref() {
            None => embed_with(&file.embedding, &mut engine.model, &store, output)?,
            Some(name) => engine.model.source = ModelSource::called(name),
        }
        if let ModelSource::Folder(folder) = &engine.model.source {
            let named =
                |why: String| Failure::input(format!("the model {} is a folder of your own: {why}", folder.display()));
            lacking::OWN_MODELS.require().map_err(named)?;
        }
        file.sync.validate().map_err(|error| Failure::input(format!("[sync] in the configuration: {error}")))?;
        file.hooks.validate().map_err(|error| Failure::input(format!("[hooks] in the configuration: {error}")))?;
        Ok(Settings {
            engine,
            context: Context {
                defaults: Defaults::named(project, agent)?,
                weights,
                rerank: file.search.rerank.unwrap_or(true),
                exports: file.export_folder.unwrap_or_else(|| kept.join(EXPORTS)),
                tool: "memorist",
                ..Context::default()
            },
            store,
            kept,
            places,
            store_is_named,
            project_is_open,
            sync: file.sync,
            hooks: file.hooks,
            sync_with: file.sync_with,
            profile: file.profile.unwrap_or_default(),
            output,
            log_filter: logging::filter(global.verbose, global.quiet, file.log.as_deref()),
        })
    }

    /// The settings for the store with this name, of an argument.
    pub fn at(&self, store: &Path) -> Result<Settings, Failure> {
        let StoreLocation { store, kept, team } = self.places.of(store.to_owned(), NameOrigin::Argument)?;
        let mut engine = self.engine.clone();
        engine.team = team;
        Ok(Settings { store, kept, engine, store_is_named: true, ..self.clone() })
    }

    /// Selects the profile, if one is named, and the workspace that it has. Its daily log is there, unless the settings name one.
    pub fn for_profile(mut self, profile: Option<ProfileName>) -> Self {
        self.profile = profile.unwrap_or(self.profile);
        if self.profile == ProfileName::Mudpuppy {
            let workspace = BaseDirs::new().map(|dirs| dirs.home_dir().join(".mudpuppy/workspace"));
            self.sync.daily_log = self.sync.daily_log.or_else(|| Some(workspace.as_ref()?.join("memory")));
            self.context.workspace = workspace.filter(|_| self.sync.auto_index);
        }
        let folder = self.sync.daily_log_folder();
        self.context.daily_log = folder.map(|folder| Arc::new(DailyLog::new(folder, TimeZone::system())));
        self
    }
}

/// Applies what the section says to the settings of the model.
pub fn embed_with(
    section: &EmbeddingSection,
    model: &mut ModelSettings,
    store: &Path,
    output: Output,
) -> Result<(), Failure> {
    let local = ModelSettings { source: ModelSource::Default, fallback: None, ..model.clone() };
    let around = Surroundings {
        store,
        variable: &|name| std::env::var(name).ok(),
        has_local_model: &|| ModelHost::new(&local).is_ok_and(|host| host.is_available()),
    };
    let resolved = section.resolve(model, &around).map_err(|why| Failure::input(format!("what embeds: {why}")))?;
    if let Some(Resolved { source, fallback, note }) = resolved {
        (model.source, model.fallback) = (source, fallback);
        if let Some(note) = note {
            output.note(note);
        }
    }
    Ok(())
}

fn read(path: &Path) -> Result<SettingsFile, Failure> {
    let text = std::fs::read_to_string(path).map_err(|error| Failure::file(path, &error))?;
    parse(&text).map_err(|error| Failure::input(format!("{}: {error}", path.display())))
}

/// Reads the text of `memorist.toml`; the error names the line and, for an unknown key, the known ones. It shows the line, too,
/// unless a provider's key or a password may stand there.
fn parse(text: &str) -> Result<SettingsFile, String> {
    toml::from_str(text).map_err(|error: toml::de::Error| {
        let before = &text[..error.span().map_or(text.len(), |span| text.floor_char_boundary(span.start))];
        let line = before.rfind('\n').map_or(0, |at| at + 1);
        let begins = |line: &str, with| line.trim_start_matches(['[', ' ', '\t', '"', '\'']).starts_with(with);
        let table = before.lines().rfind(|line| line.trim_start().starts_with('[')).unwrap_or_default();
        let this = text[line..].lines().next().unwrap_or_default();
        let place = match begins(table, "embedding") || begins(this, "embedding") {
            true => "in the section embedding",
            // An address may have a password.
            false if this.contains("://") => "in an address",
            false => return error.to_string().trim_end().to_owned(),
        };
        let (row, column) = (before.matches('\n').count() + 1, before[line..].chars().count() + 1);
        format!("line {row}, column {column}, {place}: {}", without_strings(error.message()))
    })
}

/// A message of the parser without the values that it quotes.
fn without_strings(message: &str) -> String {
    let (Some(first), Some(last)) = (message.find('"'), message.rfind('"')) else { return message.to_owned() };
    format!("{}\u{2026}{}", &message[..=first.min(last)], &message[last..])
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "store = \"/from/file\"\nproject = \"apollo\"\nlog = \"info\"\n\
                        model = \"none\"\nmodel_idle_seconds = 9\nprofile = \"full\"\n\
                        [search]\nvector_weight = 0.5\nkeyword_weight = 0.5\nbackend = \"exact\"\nrerank = false\n";

    fn combine(global: &Global, text: &str) -> Settings {
        Settings::combine(global, parse(text).unwrap(), Some("/from/platform".into())).unwrap()
    }

    #[test]
    fn without_settings_the_platform_and_the_defaults_decide() {
        let settings = combine(&Global::default(), "");
        assert_eq!(settings.store, PathBuf::from("/from/platform"));
        assert_eq!(settings.context.exports, PathBuf::from("/from/platform/exports"));
        let mut usual = Config::default();
        usual.model.embeddings_dir = embed::embeddings_dir(None);
        assert_eq!(format!("{:?}", settings.engine), format!("{usual:?}"));
        assert_eq!(settings.context.defaults, Defaults::default());
        assert!(settings.context.rerank);
    }

    #[test]
    fn the_file_overrides_the_defaults() {
        let settings = combine(&Global::default(), FILE);
        assert_eq!(settings.store, PathBuf::from("/from/file"));
        assert_eq!(settings.context.weights, Weights { vector: 0.5, keyword: 0.5 });
        assert!(!settings.context.rerank);
        assert_eq!((settings.engine.backend, settings.engine.model.source), (Backend::Exact, ModelSource::None));
        assert_eq!(settings.engine.model.idle, Duration::from_secs(9));
        assert_eq!(settings.context.defaults.project(), Some("apollo"));
        assert_eq!((settings.log_filter.as_str(), settings.profile), ("info", ProfileName::Full));
    }

    #[test]
    fn the_quality_is_a_level_or_a_recall_and_an_ef_overrides_it() {
        let quality = |search: &str| combine(&Global::default(), &format!("[search]\n{search}")).engine.quality;
        assert_eq!(quality(""), Quality::Balanced);
        assert_eq!(quality("quality = \"high\""), Quality::High);
        assert_eq!(quality("quality = 0.98"), Quality::Recall(0.98));
        assert_eq!(quality("ef = 200"), Quality::Ef(200));
        assert_eq!(quality("ef = 200\nquality = \"fast\""), Quality::Ef(200));
        for refused in ["\"best\"", "0.3", "98"] {
            let error = parse(&format!("[search]\nquality = {refused}")).unwrap_err();
            let named = ["\"fast\"", "\"balanced\"", "\"high\"", "from 0.5 to 1.0", "line 2"];
            assert!(named.iter().all(|part| error.contains(part)), "{error}");
        }
    }

    /// E5.
    #[test]
    fn a_model_argument_overrides_the_provider_in_the_file() {
        let text = "[embedding]\nprovider = \"ollama\"\nmodel = \"mine\"\nfallback = \"local\"";
        let model = combine(&Global::default(), text).engine.model;
        assert!(matches!(&model.source, ModelSource::Remote(remote) if remote.model == "mine"));
        assert_eq!(model.fallback, Some(ModelSource::Default));
        let typed = Global { model: Some("none".into()), ..Global::default() };
        assert_eq!(combine(&typed, text).engine.model.source, ModelSource::None);
        let refused = |text: &str| {
            let file = parse(text).unwrap();
            Settings::combine(&Global::default(), file, Some("/x".into())).unwrap_err().to_string()
        };
        assert!(refused(&format!("model = \"/folder\"\n{text}")).contains("keep one"));
        assert!(refused("[embedding]\nprovider = \"openai\"\nbatch = 0").contains("batch"));
        assert!(parse("[embedding]\nprovidr = 1").unwrap_err().contains("provider"));
    }

    #[test]
    fn arguments_override_the_file() {
        let typed = Global {
            store: Some("/typed".into()),
            model: Some("/models/mine".into()),
            project: Some("gemini".into()),
            verbose: 2,
            ..Global::default()
        };
        let settings = combine(&typed, FILE);
        assert_eq!(settings.store, PathBuf::from("/typed"));
        assert_eq!(settings.engine.model.source, ModelSource::Folder("/models/mine".into()));
        assert_eq!(settings.context.defaults.project(), Some("gemini"));
        assert_eq!(settings.log_filter, "debug");
    }

    #[test]
    fn a_team_store_is_a_cached_replica_with_files_elsewhere() {
        let address = "postgres://ana@db.example/team";
        let text = format!("store = {address:?}\ncache = \"/cache\"\n[team]\nnode_name = \"box\"");
        let settings = combine(&Global::default(), &text);
        let team = settings.engine.team.as_ref().unwrap();
        assert_eq!((team.address.to_string().as_str(), team.node_name.as_str()), (address, "box"));
        let name = team.address.folder_name();
        assert_eq!(settings.store, Path::new("/cache/nodes").join(&name));
        assert_eq!(settings.kept, Path::new("/from/platform/teams").join(&name));
        assert_eq!(team.lost_folder.as_ref(), Some(&settings.kept));
        assert_eq!(settings.context.exports, settings.kept.join("exports"));
        let with_password = |typed: &[&'static str]| {
            let store = Some("postgres://ana:changeme@db.example/team".into());
            let typed = Global { store, typed: typed.to_vec(), ..Global::default() };
            Settings::combine(&typed, parse("cache = \"/cache\"").unwrap(), Some("/from/platform".into()))
        };
        let said = with_password(&["store"]).unwrap_err().to_string();
        assert!(said.contains("MEMORIST_STORE") && !said.contains("changeme"), "{said}");
        let settings = with_password(&[]).unwrap();
        assert!(settings.store.starts_with("/cache/nodes") && !format!("{settings:?}").contains("changeme"));
    }

    /// R24.
    #[test]
    fn a_project_in_the_file_is_overruled_by_none_and_by_all() {
        let defaults = |name: Option<&str>, file: &str| {
            let typed = Global { project: name.map(str::to_owned), ..Global::default() };
            combine(&typed, file).context.defaults
        };
        assert_eq!(defaults(Some(""), FILE), Defaults::default());
        let every = Defaults::named(Some("*".into()), None).unwrap();
        assert_eq!(defaults(Some("*"), FILE), every);
        assert_eq!(defaults(None, FILE).project(), Some("apollo"));
        assert_eq!(defaults(None, "project = \"\""), Defaults::default());
        assert_eq!(defaults(None, "project = \"*\""), every);
        let agent = Global { agent: Some(String::new()), ..Global::default() };
        assert_eq!(combine(&agent, "agent = \"scribe\"").context.defaults, Defaults::default());
    }

    /// R24.
    #[test]
    fn the_project_is_open_unless_it_is_set_or_disabled() {
        let is_open = |name: Option<&str>, no_project, file: &str| {
            let typed = Global { project: name.map(str::to_owned), no_project, ..Global::default() };
            combine(&typed, file).project_is_open
        };
        assert!(is_open(None, false, ""));
        for (name, no_project, file) in [
            (Some("atlas"), false, ""),
            (Some("*"), false, ""),
            (Some(""), false, ""),
            (None, true, ""),
            (None, false, FILE),
            (None, false, "project = \"\""),
        ] {
            assert!(!is_open(name, no_project, file), "{name:?} {no_project} {file}");
        }
        let none = Global { project: Some("atlas".into()), no_project: true, ..Global::default() };
        assert_eq!(combine(&none, FILE).context.defaults, Defaults::default());
    }

    #[test]
    fn a_key_that_does_not_exist_is_refused_by_name() {
        let error = parse("[search]\nvektor_weight = 1").unwrap_err();
        assert!(
            error.contains("vektor_weight") && error.contains("vector_weight") && error.contains("line 2"),
            "{error}"
        );
        assert!(parse("stroe = \"x\"").unwrap_err().contains("stroe"));
    }

    #[test]
    fn a_line_of_the_file_that_may_have_a_key_is_not_shown() {
        let key = "abc123";
        for wrong in [
            format!("[embedding]\nprovider = \"openai\"\nheaders = \"Bearer {key}\""),
            format!("[embedding]\napi_kee = \"{key}\""),
            format!("[embedding.headers]\nx = \"{key}"),
            format!("[embedding]\nmax_tokens = \"{key}\""),
            format!("embedding = {{ headers = [\"{key}\"] }}"),
            format!("embedding.headers.x = [\"{key}\"]"),
        ] {
            let error = parse(&wrong).unwrap_err();
            assert!(!error.contains(key) && error.contains("line "), "{error}");
        }
        for wrong in
            ["store = \"postgres://ana:changeme@db/team", "project = 1\nstroe = \"postgres://ana:changeme@db/team\""]
        {
            let error = parse(wrong).unwrap_err();
            assert!(!error.contains("changeme") && error.contains("line "), "{error}");
        }
        let error = parse("[embedding]\nbatch = 1\n[search]\nvector_weight = \"x\"").unwrap_err();
        assert!(error.contains("line 4") && error.contains("vector_weight = \"x\""), "{error}");
    }

    /// Z7, F1.
    #[test]
    fn the_sync_section_sets_file_reading_and_the_daily_log() {
        let text = "[sync]\nwatch = false\nwatch_debounce_ms = 9\ndaily_log = \"/log\"\n";
        let settings = combine(&Global::default(), text);
        assert_eq!((settings.sync.watch, settings.sync.watch_debounce_ms, settings.sync.on_start), (false, 9, true));
        let folder = |text: &str, profile: Option<ProfileName>| {
            let settings = combine(&Global::default(), text).for_profile(profile);
            assert_eq!(settings.context.daily_log.is_some(), settings.sync.daily_log_folder().is_some());
            settings.sync.daily_log_folder().map(Path::to_owned)
        };
        let own = |path: PathBuf| path.ends_with(".mudpuppy/workspace/memory");
        assert_eq!(folder(text, Some(ProfileName::Mudpuppy)), Some("/log".into()));
        assert!(folder("", Some(ProfileName::Mudpuppy)).is_some_and(own));
        assert!(folder("profile = \"mudpuppy\"", None).is_some_and(own));
        assert_eq!(folder("profile = \"mudpuppy\"", Some(ProfileName::Core)), None);
        assert_eq!(folder("[sync]\ndaily_log = \"\"", Some(ProfileName::Mudpuppy)), None);
        assert_eq!(folder("", None), None);
        for (wrong, named) in [
            ("poll_interval_ms = 1", "poll_interval_ms"),
            ("daily_log = \"a\"", "daily_log"),
            ("chunk_tokens = 1", "chunk_tokens"),
        ] {
            let file = parse(&format!("[sync]\n{wrong}")).unwrap();
            let error = Settings::combine(&Global::default(), file, Some("/x".into())).unwrap_err().to_string();
            assert!(error.contains("[sync]") && error.contains(named), "{error}");
        }
        assert!(parse("[sync]\nwacth = true").unwrap_err().contains("wacth"));
    }

    #[test]
    fn earlier_names_of_settings_still_work() {
        for (earlier, now) in [
            ("download = false", "download_model = false"),
            ("trash_grace_seconds = 1", "trash_retention_seconds = 1"),
            ("sensitive = \"refuse\"", "secrets = \"reject\""),
            ("sensitive = \"redact\"", "secrets = \"redact\""),
            ("[hooks]\nexcept = [\"/x\"]", "[hooks]\nexclude = [\"/x\"]"),
            ("[search]\nscale = \"pool\"", "[search]\nscore_scaling = \"min-max\""),
            ("[sync]\npoll_ms = 77", "[sync]\npoll_interval_ms = 77"),
            ("[sync]\ninterval_minutes = 7", "[sync]\nrescan_minutes = 7"),
            ("[sync]\ndelta_bytes = 7", "[sync]\nmin_new_bytes = 7"),
            ("[sync]\ndelta_messages = 7", "[sync]\nmin_new_lines = 7"),
            ("[server]\nnode = \"box\"", "[team]\nnode_name = \"box\""),
        ] {
            let [earlier, now] = [earlier, now].map(|text| format!("{:?}", parse(text).unwrap()));
            assert_eq!(earlier, now);
            assert_ne!(now, format!("{:?}", SettingsFile::default()));
        }
    }

    #[test]
    fn invalid_weights_are_refused() {
        let file = parse("[search]\nvector_weight = 0.0\nkeyword_weight = 0.0").unwrap();
        assert!(Settings::combine(&Global::default(), file, Some("/x".into())).is_err());
    }

    #[test]
    fn the_documented_example_has_every_key_and_is_read() {
        let chapter = include_str!("../../docs/src/settings.md").lines();
        let block =
            chapter.skip_while(|line| !line.starts_with("store = ")).take_while(|line| !line.starts_with("```"));
        let text: String = block.map(|line| line.to_owned() + "\n").collect();
        let file = parse(&text).unwrap();
        // A key itself is in no file.
        let unset = format!("{file:?}").replace("key: None", "").matches("None").count();
        assert_eq!(unset, 0, "{file:?}");
        let sync = format!("{:?}", SyncSettings::default());
        let keys = sync.split(['{', ',']).filter_map(|part| part.trim().split_once(": ")).map(|(key, _)| key);
        let missing: Vec<&str> = keys.filter(|key| !text.contains(&format!("\n{key} = "))).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}
