//! How files are read, and when.

use std::path::PathBuf;
use std::time::Duration;

use memorist_sources::chunks::Limits;
use serde::Deserialize;

/// How files are read, and when. The defaults are those of the specification (rows F13 to F15, Z7).
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct SyncSettings {
    /// Most tokens of a chunk.
    pub chunk_tokens: usize,
    /// Most tokens that a chunk repeats of the one before.
    pub chunk_overlap: usize,
    /// Larger notes are skipped, in bytes.
    pub max_file_bytes: u64,
    /// A server reads what has changed when it starts.
    pub on_start: bool,
    /// A search has what has changed read soon.
    pub on_search: bool,
    /// A server watches the files.
    pub watch: bool,
    /// A file is read when it has been left alone for this long, in milliseconds.
    pub watch_debounce_ms: u64,
    /// A server looks at all files this often, in minutes; 0 never.
    pub interval_minutes: u64,
    /// A transcript that is being written is read once it has grown by this many bytes; 0: at every change.
    pub delta_bytes: u64,
    /// The folder of the daily log. Its files are not read: what they say is saved already.
    pub daily_log: Option<PathBuf>,
}

impl Default for SyncSettings {
    fn default() -> Self {
        let limits = Limits::default();
        SyncSettings {
            chunk_tokens: limits.tokens,
            chunk_overlap: limits.overlap,
            max_file_bytes: 64 << 20,
            on_start: true,
            on_search: true,
            watch: true,
            watch_debounce_ms: 1_500,
            interval_minutes: 10,
            delta_bytes: 0,
            daily_log: None,
        }
    }
}

impl SyncSettings {
    /// How long chunks are.
    pub fn limits(&self) -> Limits {
        Limits { tokens: self.chunk_tokens, overlap: self.chunk_overlap }
    }

    /// How long a file must have been left alone.
    pub fn debounce(&self) -> Duration {
        Duration::from_millis(self.watch_debounce_ms)
    }

    /// Checks the bounds.
    ///
    /// # Errors
    /// Says what is wrong.
    pub fn validate(&self) -> Result<(), String> {
        if !(16..=100_000).contains(&self.chunk_tokens) {
            return Err(format!("chunk_tokens: {} is outside 16 to 100000", self.chunk_tokens));
        }
        if self.chunk_overlap > self.chunk_tokens / 2 {
            return Err(format!("chunk_overlap: {} is more than half of chunk_tokens", self.chunk_overlap));
        }
        Ok(())
    }
}
