//! Errors, one enum per operation. Each message says what is wrong and the way out.

use std::io;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use crate::ids::Key;
use crate::sys::publish;

/// Why an index folder cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// There is no manifest.
    #[error("there is no vector index at {}: create it, or rebuild it from the records", path.display())]
    Missing {
        /// The manifest that was looked for.
        path: PathBuf,
    },

    /// The file is something else.
    #[error("{} is not a file of a vector index: remove the folder and rebuild the index from the records", path.display())]
    NotAnIndex {
        /// The file.
        path: PathBuf,
    },

    /// The file was written by another version of this program.
    #[error(
        "{} has format version {found}, this program reads {} to {}: use the program that wrote it, or remove the \
         folder and rebuild the index from the records", path.display(), supported.start(), supported.end()
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The versions that this program reads and writes.
        supported: RangeInclusive<u32>,
    },

    /// The file is not what was written.
    #[error("{} is damaged ({why}): remove the folder and rebuild the index from the records", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// A description of the damage.
        why: String,
    },

    /// The index holds vectors of other dimensions than the options say.
    #[error("{} holds vectors of {found} dimensions, not of {expected}: rebuild the index from the records", path.display())]
    Dimensions {
        /// The manifest.
        path: PathBuf,
        /// The dimensions in the options.
        expected: usize,
        /// The dimensions in the manifest.
        found: usize,
    },

    /// The operating system refused.
    #[error("cannot read {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
}

/// An option out of bounds.
#[derive(Debug, thiserror::Error)]
#[error("{option} is {found}, it has to be from {least} to {most}")]
pub struct OptionsError {
    /// The name of the option.
    pub option: &'static str,
    /// Its value.
    pub found: usize,
    /// The least value allowed.
    pub least: usize,
    /// The greatest value allowed.
    pub most: usize,
}

/// Why a vector is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VectorError {
    /// Its length is not the index's.
    #[error("it has {found} dimensions, the index has {expected}")]
    Dimensions {
        /// The index's.
        expected: usize,
        /// The vector's.
        found: usize,
    },
    /// It is zero, so it has no direction.
    #[error("it is zero, so it has no direction and no cosine")]
    Zero,
    /// One of its numbers is NaN.
    #[error("its number {position} is NaN")]
    NotANumber {
        /// Counted from 0.
        position: usize,
    },
    /// One of its numbers is infinite.
    #[error("its number {position} is infinite")]
    Infinite {
        /// Counted from 0.
        position: usize,
    },
}

/// Why an index could not be made, opened to be changed, or changed. It is then as it was before.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// There is an index already.
    #[error("there is a vector index at {} already: open it, or remove the folder first", path.display())]
    Exists {
        /// Its manifest.
        path: PathBuf,
    },

    /// Another [`Writer`](crate::Writer), of this process or another one, or a merge that it has begun.
    #[error("another writer has the vector index in {} open: close it first, or read the index only", folder.display())]
    Locked {
        /// The folder of the index.
        folder: PathBuf,
    },

    /// An option is out of bounds.
    #[error(transparent)]
    Options(#[from] OptionsError),

    /// A vector is refused.
    #[error("the vector of key {key} is refused: {why}")]
    Vector {
        /// Its key.
        key: Key,
        /// The error in it.
        why: VectorError,
    },

    /// The caller's payload is too long.
    #[error("the payload is {found} bytes long, at most {} are allowed", crate::MAX_PAYLOAD)]
    Payload {
        /// Its length.
        found: usize,
    },

    /// More vectors than one segment can hold.
    #[error("{found} vectors are too many for one segment (2^31 - 1): apply them in smaller batches")]
    TooMany {
        /// How many there are.
        found: usize,
    },

    /// The caller's progress function stopped it.
    #[error("the merge was stopped on request; nothing is lost, and the next one starts again")]
    Cancelled,

    /// The index cannot be opened, or a file that is to be merged is damaged.
    #[error(transparent)]
    Open(#[from] OpenError),

    /// The disk did not confirm that it keeps what was written, and need not say so a second time.
    #[error("cannot make {} durable: {source}", path.display())]
    Unsynced {
        /// The file or folder.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },

    /// [`Unsynced`](Self::Unsynced) happened to this writer before.
    #[error(
        "a sync failed, so it is not known what the disk holds: close this writer, open the index again, and apply again \
         what was not confirmed"
    )]
    Poisoned,

    /// The operating system refused.
    #[error("cannot write {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
}

impl WriteError {
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { path: path.to_owned(), source }
    }

    pub(crate) fn publishing(path: &Path) -> impl FnOnce(publish::Error) -> Self {
        let path = path.to_owned();
        move |error| match error {
            publish::Error::Write(source) => Self::Io { path, source },
            publish::Error::Sync(source) => Self::Unsynced { path, source },
        }
    }
}

impl OpenError {
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { path: path.to_owned(), source }
    }

    pub(crate) fn damaged(path: &Path, why: impl Into<String>) -> Self {
        Self::Damaged { path: path.to_owned(), why: why.into() }
    }

    /// Whether the file is not there at all.
    pub(crate) fn is_absence(&self) -> bool {
        match self {
            Self::Missing { .. } => true,
            Self::Io { source, .. } => source.kind() == io::ErrorKind::NotFound,
            _ => false,
        }
    }
}

/// Why a search is refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// The query is no vector of this index.
    #[error("the query vector is refused: {0}")]
    Query(#[from] VectorError),

    /// The share of [`Effort::Recall`](crate::Effort::Recall) is out of bounds.
    #[error("recall: {found} is outside the range: it has to be more than 0 and at most 1")]
    Recall {
        /// The recall that was asked for.
        found: f32,
    },
}

/// One thing that [`verify`](crate::Snapshot::verify) found wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}: {what}")]
pub struct Problem {
    /// The name of the file within the index folder.
    pub file: String,
    /// A description of the problem.
    pub what: String,
}
