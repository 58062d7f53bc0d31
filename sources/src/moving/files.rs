//! The files of a store: below the path that was named, and nowhere else.

use std::borrow::Cow;
use std::path::{self, Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::de::IgnoredAny;

use super::System;
use super::error::StoreError;
use crate::foreign::{Deadline, Foreign, ForeignFile, Root};
use crate::json::{MAX_VALUES, has_more_values, repair};

/// How long the reading of a store may take, including the saving of its memories.
const TIMEOUT: Duration = Duration::from_secs(3_600);
/// The largest text that is read as a whole, in bytes.
const MAX_TEXT: u64 = 64 << 20;

/// The path of a store, opened.
pub struct StoreFiles {
    system: System,
    path: PathBuf,
    root: Root,
    deadline: Deadline,
}

impl StoreFiles {
    /// Opens a file or a folder that somebody has named.
    ///
    /// # Errors
    /// If it does not exist.
    pub fn open(system: System, path: &Path) -> Result<Self, StoreError> {
        // All files that are found below it are named by it, and so is the root.
        let absolute = path::absolute(path).map_err(StoreError::io(path))?;
        let root = Root::open(&absolute).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => StoreError::unexpected(system, path, "does not exist"),
            _ => StoreError::io(path)(error),
        })?;
        Ok(StoreFiles { system, path: absolute, root, deadline: Deadline::after(TIMEOUT, &Arc::default()) })
    }

    /// The system that is expected.
    pub fn system(&self) -> System {
        self.system
    }

    /// The path that was named.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn at<'a>(&'a self, file: &'a Path) -> Foreign<'a> {
        Foreign { root: &self.root, path: file, deadline: &self.deadline }
    }

    /// Whether there is a regular file at this path.
    pub fn is_file(&self, file: &Path) -> bool {
        self.at(file).open(0).is_ok()
    }

    /// Opens one of its files.
    ///
    /// # Errors
    /// Errors of the file system.
    pub fn file(&self, file: &Path, limit: u64) -> Result<ForeignFile, StoreError> {
        self.at(file).open(limit).map_err(StoreError::io(file))
    }

    /// The bytes of a text.
    ///
    /// # Errors
    /// If it is too long; errors of the file system.
    pub fn text(&self, file: &Path) -> Result<Vec<u8>, StoreError> {
        self.file(file, MAX_TEXT)?.read_all().map_err(StoreError::io(file))
    }

    /// The bytes of a JSON text, or of lines with one each that are kept together.
    ///
    /// # Errors
    /// If it is too long, or has too many values; errors of the file system.
    pub fn json(&self, file: &Path) -> Result<Vec<u8>, StoreError> {
        self.json_of(file, |bytes| has_more_values(bytes, MAX_VALUES))
    }

    /// Like [`StoreFiles::json`], for a text whose lines are read one at a time, if each is a value.
    ///
    /// # Errors
    /// If it is too long, or has too many values, or lines; errors of the file system.
    pub fn json_lines(&self, file: &Path) -> Result<Vec<u8>, StoreError> {
        self.json_of(file, |bytes| {
            let mut lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
            match lines.clone().next() {
                Some(first) if is_value(first) => {
                    lines.clone().count() > MAX_VALUES || lines.any(|line| has_more_values(line, MAX_VALUES))
                }
                _ => has_more_values(bytes, MAX_VALUES),
            }
        })
    }

    fn json_of(&self, file: &Path, has_too_many: impl Fn(&[u8]) -> bool) -> Result<Vec<u8>, StoreError> {
        let bytes = self.text(file)?;
        if has_too_many(&bytes) {
            return Err(StoreError::unexpected(self.system, file, format!("has more than {MAX_VALUES} values")));
        }
        Ok(match repair(&bytes) {
            Cow::Owned(repaired) => repaired,
            Cow::Borrowed(_) => bytes,
        })
    }
}

/// Whether a text is a whole JSON value.
fn is_value(json: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(json).is_ok()
}
