//! Loads a model from files on disk.

use std::sync::Arc;

use crate::embedder::Embedder;
use crate::error::{Error, Result};
use crate::identity::ModelIdentity;
use crate::loader::Loader;
use crate::local::LocalEmbedder;
#[cfg(feature = "onnx")]
use crate::onnx::OnnxEmbedder;
use crate::plan::{Plan, WITHOUT_MODEL};
use crate::progress::Progress;
use crate::provision::{ModelFiles, Provision};
use crate::settings::ModelSettings;
#[cfg(not(feature = "onnx"))]
use crate::settings::NO_ONNX;

/// Loads a model with a name, or the user's own one by ONNX Runtime. What is missing is fetched.
#[derive(Debug)]
pub(crate) struct FileLoader {
    provision: Provision,
}

impl FileLoader {
    pub(crate) fn new(settings: &ModelSettings) -> Result<Self> {
        Ok(FileLoader { provision: Provision::new(settings)? })
    }
}

impl Loader for FileLoader {
    fn identity(&self) -> Option<ModelIdentity> {
        self.provision.identity()
    }

    fn is_local(&self) -> Result<bool> {
        self.provision.is_local()
    }

    fn verify(&self) -> Result<Option<String>> {
        let Some(files) = self.provision.locate()? else { return Ok(None) };
        self.provision.verify_full()?;
        Ok(Some(files.identity.map_or_else(|| files.model.path().display().to_string(), |identity| identity.name)))
    }

    fn load(&self, announce: &mut dyn FnMut(&Plan), progress: &dyn Progress) -> Result<Arc<dyn Embedder>> {
        self.provision.open(open, announce, progress).map_err(|error| match error {
            Error::Failed(why) => Error::Failed(format!("{why}; mend it, {WITHOUT_MODEL}")),
            other => other,
        })
    }
}

fn open(files: &ModelFiles) -> Result<Arc<dyn Embedder>> {
    match files.named {
        Some(named) => Ok(Arc::new(LocalEmbedder::load(named, files)?)),
        None => open_own(files),
    }
}

#[cfg(feature = "onnx")]
fn open_own(files: &ModelFiles) -> Result<Arc<dyn Embedder>> {
    match &files.library {
        Some(library) => Ok(Arc::new(OnnxEmbedder::load(files, library)?)),
        None => Err(Error::Failed("a model of your own needs ONNX Runtime".to_owned())),
    }
}

#[cfg(not(feature = "onnx"))]
fn open_own(_files: &ModelFiles) -> Result<Arc<dyn Embedder>> {
    Err(Error::Unavailable(NO_ONNX.to_owned()))
}
