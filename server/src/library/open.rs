//! [`Library`]: opening a store, and what embeds.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memorist_engine::Engine;
use memorist_engine::config::ModelSource;
use memorist_engine::embed::{Embedder, ModelIdentity};
use memorist_engine::text::content_hash;

use crate::args::Cli;
use crate::ops::Context;
use crate::settings::Settings;
use crate::tools::Problem;

/// The source of embeddings for texts and queries.
#[derive(Clone, Default)]
pub enum Embeds {
    /// The model of the settings: the default one, unless they name another.
    #[default]
    AsConfigured,
    /// Nothing: the program gives vectors, or searches by words alone.
    Nothing,
    /// The program.
    With(Arc<dyn Embedder>),
}

/// The identity of a model that only the program knows: its name tells its vectors from others, whether the program embeds
/// when it is called or gives vectors.
pub fn own_model(name: &str, dims: usize) -> ModelIdentity {
    let pooling = "the program's own".to_owned();
    ModelIdentity { name: name.to_owned(), weights_sha256: content_hash(name), pooling, dims }
}

/// Which store, and how. What is left out is what the environment and `memorist.toml` say, as on the command line.
#[derive(Clone, Default)]
pub struct Options {
    /// Its folder.
    pub store: Option<PathBuf>,
    pub config: Option<PathBuf>,
    /// The project of new memories, and whose memories are seen beside global ones.
    pub project: Option<String>,
    /// The agent of new memories, and whose memories are seen beside global ones.
    pub agent: Option<String>,
    /// The source of embeddings.
    pub embeds: Embeds,
    /// Folders of packages, one of which may have the default model.
    pub packages: Vec<PathBuf>,
}

/// An open store. Share it between threads; every method blocks.
pub struct Library {
    pub(super) engine: Engine,
    pub(super) context: Context,
    pub(super) settings: Settings,
    /// The name of the model that made the program's vectors, in a store that has no model yet.
    pub(super) own_model: Option<String>,
}

impl Library {
    /// Opens a store, or creates it. `own_model` names what makes the program's vectors.
    ///
    /// # Errors
    /// If the settings cannot be read, or the folder cannot be used.
    pub fn open(options: Options, own_model: Option<String>) -> Result<Self, Problem> {
        let mut words: Vec<OsString> = vec!["memorist".into(), "--quiet".into()];
        let paths = [("--store", options.store), ("--config", options.config)];
        let names = [("--project", options.project), ("--agent", options.agent)];
        let given = paths.into_iter().map(|(name, path)| (name, path.map(PathBuf::into_os_string)));
        let given = given.chain(names.into_iter().map(|(name, value)| (name, value.map(OsString::from))));
        for (name, value) in given {
            words.extend(value.map(|value| {
                // In one word: a value may begin with a hyphen.
                let mut word = OsString::from(name);
                word.push("=");
                word.push(value);
                word
            }));
        }
        words.push("stats".into());
        let cli = Cli::read(words, env!("CARGO_PKG_VERSION")).map_err(|error| Problem::input(error.to_string()))?;
        let mut settings = Settings::resolve(&cli.global)?;
        settings.context.tool = "library";
        settings.context.defaults = settings.context.defaults.with_many_results();
        settings.engine.model.packages = options.packages;
        let engine = match options.embeds {
            Embeds::AsConfigured => Engine::open(&settings.store, settings.engine.clone())?,
            Embeds::Nothing => {
                settings.engine.model.source = ModelSource::None;
                Engine::open(&settings.store, settings.engine.clone())?
            }
            Embeds::With(embedder) => Engine::open_with_embedder(&settings.store, settings.engine.clone(), embedder)?,
        };
        Ok(Library { engine, context: settings.context.clone(), settings, own_model })
    }

    /// The folder of the store.
    pub fn folder(&self) -> &Path {
        &self.settings.store
    }
}
