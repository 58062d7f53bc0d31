//! The files that an embedder is loaded from. Cached files are verified, and exactly the verified bytes are loaded.

use std::fs::File;
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};

use super::cache::CacheFolder;
use super::packages::{Artefact, FileSet};
use crate::error::{Error, Result};

/// A file that an embedder is loaded from. Cached files are verified by their hash each time they are opened, because
/// one of them is code. Measured with the SHA instructions of x86-64: the 53 MB take 0.05 to 0.07 s of the 0.67 s of
/// CPU time of a search that has to load the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    path: PathBuf,
    pin: Option<Pin>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Pin {
    cache: CacheFolder,
    set: &'static FileSet,
    artefact: &'static Artefact,
}

impl SourceFile {
    /// A file that the user has named, and trusts.
    pub fn own(path: PathBuf) -> Self {
        SourceFile { path, pin: None }
    }

    /// A file of the cache.
    pub(super) fn cached(cache: &CacheFolder, set: &'static FileSet, artefact: &'static Artefact) -> Self {
        SourceFile { path: cache.file(set, artefact), pin: Some(Pin { cache: cache.clone(), set, artefact }) }
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The SHA-256 that a cached file has.
    pub(crate) fn sha256(&self) -> Option<[u8; 32]> {
        let hex = self.pin.as_ref()?.artefact.sha256;
        let mut bytes = [0; 32];
        for (byte, digits) in bytes.iter_mut().zip(hex.as_bytes().chunks_exact(2)) {
            *byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
        }
        Some(bytes)
    }

    /// Whether the user has named it.
    #[cfg(feature = "onnx")]
    pub(crate) fn is_own(&self) -> bool {
        self.pin.is_none()
    }

    /// Opens it.
    ///
    /// # Errors
    /// If it cannot be read; for a cached file also if another user could have changed it, or if its hash is wrong.
    pub(crate) fn open(&self) -> Result<File> {
        match &self.pin {
            None => File::open(&self.path).map_err(|error| Error::io(&self.path, error)),
            Some(Pin { cache, set, artefact }) => cache.open_verified(set, artefact),
        }
    }

    /// Reads it whole.
    ///
    /// # Errors
    /// Errors of opening and reading it.
    pub(crate) fn read(&self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let mut file = self.open()?;
        file.rewind().and_then(|()| file.read_to_end(&mut bytes)).map_err(|e| Error::io(&self.path, e))?;
        Ok(bytes)
    }
}
