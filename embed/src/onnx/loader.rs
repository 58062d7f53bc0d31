//! Loads a model of ONNX Runtime.

use std::sync::Arc;

use super::embedder::OnnxEmbedder;
use crate::embedder::Embedder;
use crate::error::{Error, Result};
use crate::identity::ModelIdentity;
use crate::loader::Loader;
use crate::plan::{Plan, WITHOUT_MODEL};
use crate::progress::Progress;
use crate::provision::{ModelFiles, Provision};
use crate::settings::ModelSettings;

/// Loads a model from files on disk, which may have to be fetched.
#[derive(Debug)]
pub(crate) struct OnnxLoader {
    provision: Provision,
}

impl OnnxLoader {
    pub(crate) fn new(settings: &ModelSettings) -> Result<Self> {
        Ok(OnnxLoader { provision: Provision::new(settings)? })
    }
}

impl Loader for OnnxLoader {
    fn identity(&self) -> Option<ModelIdentity> {
        self.provision.identity()
    }

    fn is_local(&self) -> Result<bool> {
        self.provision.locate().map(|files| files.is_some())
    }

    fn verify(&self) -> Result<Option<String>> {
        let Some(files) = self.provision.locate()? else { return Ok(None) };
        self.provision.verify_full()?;
        Ok(Some(files.identity.map_or_else(|| files.model.path().display().to_string(), |identity| identity.name)))
    }

    fn load(&self, announce: &mut dyn FnMut(&Plan), progress: &dyn Progress) -> Result<Arc<dyn Embedder>> {
        let error = match open(&self.provision.ensure(announce, progress)?) {
            Ok(embedder) => return Ok(embedder),
            Err(error) => error,
        };
        // Damaged files can be fetched again; any other failure would repeat.
        match self.provision.verify_full() {
            Ok(()) => Err(match error {
                Error::Failed(why) => Error::Failed(format!("{why}; mend it, {WITHOUT_MODEL}")),
                other => other,
            }),
            Err(damage) => {
                tracing::warn!("{damage}");
                open(&self.provision.ensure(announce, progress)?)
            }
        }
    }
}

fn open(files: &ModelFiles) -> Result<Arc<dyn Embedder>> {
    let embedder = OnnxEmbedder::load(files)?;
    Ok(Arc::new(embedder))
}
