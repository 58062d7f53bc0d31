//! Plans of downloads.

use std::fmt;
use std::path::PathBuf;

/// A planned download, for an announcement before it begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// Its description, for people.
    pub what: String,
    /// Bytes to download.
    pub bytes: u64,
    /// The folder to download into.
    pub folder: PathBuf,
    /// The alternative to the download.
    pub without: String,
}

/// The last alternative to a download, for messages.
#[cfg(any(feature = "models", feature = "remote"))]
pub(crate) const WITHOUT_MODEL: &str = "or use keyword search only, with the setting `model = \"none\"`";

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let megabytes = self.bytes.div_ceil(1_000_000);
        write!(
            f,
            "Downloading {} with pip: {megabytes} MB, once, into {}. To skip this: {}.",
            self.what,
            self.folder.display(),
            self.without
        )
    }
}
