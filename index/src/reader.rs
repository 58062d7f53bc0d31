//! Follows an index that this or another process writes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};

use crate::error::OpenError;
use crate::format::manifest::{Manifest, ManifestHeader};
use crate::snapshot::Snapshot;

/// A segment can be gone because a newer manifest was published meanwhile; so often the reader tries again.
const ATTEMPTS: usize = 10;

/// Follows an index that this or another process writes. Any number of readers, in any number of processes, may be
/// open.
#[derive(Debug)]
pub struct Reader {
    folder: PathBuf,
    current: RwLock<Arc<Snapshot>>,
    header: Mutex<ManifestHeader>,
}

impl Reader {
    /// Opens an index: reads the manifest, maps the segments and reads their headers. The time it takes does not depend
    /// on the number of vectors.
    ///
    /// # Errors
    /// When there is no index, or it has another version, is damaged where it was looked at, or cannot be read.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, OpenError> {
        let folder = folder.as_ref().to_owned();
        let (snapshot, header) = open_snapshot(&folder, None)?;
        Ok(Self { folder, current: RwLock::new(Arc::new(snapshot)), header: Mutex::new(header) })
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The view that was read last.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.current.read())
    }

    /// Looks whether a newer manifest was published, and opens it; segments that are mapped already stay mapped.
    /// Returns whether there was one. It costs the reading of 64 bytes where there was none.
    ///
    /// # Errors
    /// Errors of [`open`](Self::open). The older view then stays.
    pub fn refresh(&self) -> Result<bool, OpenError> {
        let mut header = self.header.lock();
        if ManifestHeader::read(&self.folder)? == *header {
            return Ok(false);
        }
        let older = self.snapshot();
        let (snapshot, newer) = open_snapshot(&self.folder, Some(&older))?;
        *self.current.write() = Arc::new(snapshot);
        *header = newer;
        Ok(true)
    }
}

/// Opens what is published now.
pub(crate) fn open_snapshot(folder: &Path, older: Option<&Snapshot>) -> Result<(Snapshot, ManifestHeader), OpenError> {
    let mut attempt = 1;
    loop {
        let (manifest, header) = Manifest::read(folder)?;
        match Snapshot::open(folder, manifest, older) {
            Ok(snapshot) => return Ok((snapshot, header)),
            Err(error) if error.is_absence() && attempt < ATTEMPTS && ManifestHeader::read(folder)? != header => {
                attempt += 1
            }
            Err(error) if error.is_absence() => {
                let why = format!("the manifest names a segment that cannot be opened: {error}");
                return Err(OpenError::damaged(&crate::format::names::manifest(folder), why));
            }
            Err(error) => return Err(error),
        }
    }
}
