//! Setting up the model ahead of its first use.

use std::path::PathBuf;

use crate::error::Result;
use crate::file_loader::FileLoader;
use crate::loader::Loader;
use crate::local::LocalReranker;
use crate::plan::Plan;
use crate::progress::Progress;
use crate::provision::{ModelFiles, Provision};
use crate::settings::ModelSettings;

/// The result of [`setup`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SetupReport {
    /// Name of the model.
    pub model: String,
    /// Numbers per vector; `None` for the reranker, which makes none.
    pub dims: Option<usize>,
    /// The folder of the model's files.
    pub folder: PathBuf,
    /// The ONNX Runtime library, which runs a model of your own.
    pub library: Option<PathBuf>,
    /// Whether anything was fetched (false: everything was on this machine already).
    pub fetched: bool,
}

/// Finds or fetches the embedding model and what it needs, and checks them. Needs no store.
///
/// # Errors
/// They say what is missing and the ways to provide it.
pub fn setup(
    settings: &ModelSettings,
    announce: &mut dyn FnMut(&Plan),
    progress: &dyn Progress,
) -> Result<SetupReport> {
    let provision = Provision::new(settings)?;
    let mut fetched = false;
    let files = provision.ensure(
        &mut |plan| {
            fetched = true;
            announce(plan);
        },
        progress,
    )?;
    // Loading it is the proof that it works on this machine.
    let embedder = FileLoader::new(settings)?.load(announce, progress)?;
    let identity = embedder.identity();
    Ok(SetupReport {
        model: identity.name.clone(),
        dims: Some(identity.dims),
        folder: files.folder(),
        library: files.library.map(|library| library.path().to_owned()),
        fetched,
    })
}

/// The name of the reranker.
const RERANKER: &str = "ms-marco-MiniLM-L-12-v2 (int8 weights)";

/// Finds or fetches the reranker, and checks it.
///
/// # Errors
/// They say what is missing and the ways to provide it.
pub fn setup_reranker(
    settings: &ModelSettings,
    announce: &mut dyn FnMut(&Plan),
    progress: &dyn Progress,
) -> Result<SetupReport> {
    let provision = Provision::of_reranker(settings)?;
    let mut fetched = false;
    let announce = &mut |plan: &Plan| {
        fetched = true;
        announce(plan);
    };
    let check = |files: &ModelFiles| LocalReranker::load(files)?.checked().map(|_| files.folder());
    let folder = provision.open(check, announce, progress)?;
    Ok(SetupReport { model: RERANKER.to_owned(), dims: None, folder, library: None, fetched })
}
