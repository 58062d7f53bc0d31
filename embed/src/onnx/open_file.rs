//! Open files for libraries that need a name.

use std::fs::File;
use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::provision::SourceFile;

/// An open file with a name.
pub(super) struct OpenFile {
    _file: File,
    path: PathBuf,
}

impl OpenFile {
    /// Opens a file of a model.
    ///
    /// # Errors
    /// As [`SourceFile::open`].
    pub(super) fn open(source: &SourceFile) -> Result<Self> {
        let file = source.open()?;
        // A custom model may have more files beside it, which are found by its name.
        let named = if source.is_own() { None } else { name_of_open(&file) };
        Ok(OpenFile { path: named.unwrap_or_else(|| source.path().to_owned()), _file: file })
    }

    /// A name that refers to this very file while it is open, on systems that have such names.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

#[cfg(target_os = "linux")]
fn name_of_open(file: &File) -> Option<PathBuf> {
    let name = PathBuf::from(format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(file)));
    name.exists().then_some(name)
}

#[cfg(not(target_os = "linux"))]
fn name_of_open(_file: &File) -> Option<PathBuf> {
    None
}
