//! How files are read, and when.

use std::path::{Path, PathBuf};
use std::time::Duration;

use memorist_sources::chunks::Limits;
use serde::Deserialize;

/// How files are read, and when. The defaults are those of the specification (rows F13 to F15, Z7).
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct SyncSettings {
    /// Whether a server reads files by itself. Without, only the command `sync` reads them.
    pub enabled: bool,
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
    /// It looks at them in intervals instead: for file systems that do not tell when a file changes, though they should.
    pub poll: bool,
    /// How often it looks at files that cannot be watched, in milliseconds.
    #[serde(alias = "poll_ms")]
    pub poll_interval_ms: u64,
    /// A file is read when it has been left alone for this long, in milliseconds.
    pub watch_debounce_ms: u64,
    /// A server looks at all files this often, in minutes; 0 never.
    #[serde(alias = "interval_minutes")]
    pub rescan_minutes: u64,
    /// A transcript that is being written is read once it has grown by this many bytes; 0: they are not counted.
    #[serde(alias = "delta_bytes")]
    pub min_new_bytes: u64,
    /// Or by this many lines; 0: they are not counted. If neither is, it is read at every change, and after
    /// `rescan_minutes` in any case.
    #[serde(alias = "delta_messages")]
    pub min_new_lines: u64,
    /// The folder of the daily log; empty: none, also where a profile has one.
    pub daily_log: Option<PathBuf>,
    /// Whether a server of the profile `mudpuppy` adds the workspace of that system to the sources.
    pub auto_index: bool,
}

impl Default for SyncSettings {
    fn default() -> Self {
        let limits = Limits::default();
        SyncSettings {
            enabled: true,
            chunk_tokens: limits.tokens,
            chunk_overlap: limits.overlap,
            max_file_bytes: 64 << 20,
            on_start: true,
            on_search: true,
            watch: true,
            poll: false,
            poll_interval_ms: 5_000,
            watch_debounce_ms: 1_500,
            rescan_minutes: 10,
            min_new_bytes: 0,
            min_new_lines: 0,
            daily_log: None,
            auto_index: true,
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

    pub fn daily_log_folder(&self) -> Option<&Path> {
        self.daily_log.as_deref().filter(|folder| !folder.as_os_str().is_empty())
    }

    /// How often all files are looked at.
    pub fn interval(&self) -> Option<Duration> {
        (self.rescan_minutes > 0).then(|| Duration::from_secs(self.rescan_minutes.saturating_mul(60)))
    }

    /// How often files that cannot be watched are looked at.
    pub fn poll_interval(&self) -> Duration {
        Duration::from_millis(self.poll_interval_ms)
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
        if self.watch_debounce_ms > 60_000 {
            return Err(format!("watch_debounce_ms: {} is more than 60000, a minute", self.watch_debounce_ms));
        }
        if !(50..=3_600_000).contains(&self.poll_interval_ms) {
            return Err(format!("poll_interval_ms: {} is outside 50 to 3600000", self.poll_interval_ms));
        }
        if self.rescan_minutes > 525_600 {
            return Err(format!("rescan_minutes: {} is more than 525600, a year", self.rescan_minutes));
        }
        match &self.daily_log {
            Some(folder) if self.daily_log_folder().is_some() && !folder.is_absolute() => {
                Err(format!("daily_log: {} is not absolute; name the folder from the root", folder.display()))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Z7, F15.
    #[test]
    fn defaults_match_the_specification_and_errors_name_the_setting() {
        let settings = SyncSettings::default();
        assert!(settings.enabled && settings.on_start && settings.on_search && settings.watch && !settings.poll);
        assert_eq!(
            (settings.debounce(), settings.poll_interval()),
            (Duration::from_millis(1_500), Duration::from_secs(5))
        );
        assert_eq!(settings.validate(), Ok(()));
        let wrong = |change: fn(&mut SyncSettings)| {
            let mut settings = SyncSettings::default();
            change(&mut settings);
            settings.validate().unwrap_err()
        };
        assert!(wrong(|settings| settings.watch_debounce_ms = 60_001).starts_with("watch_debounce_ms: "));
        assert!(wrong(|settings| settings.poll_interval_ms = 1).starts_with("poll_interval_ms: "));
        assert!(wrong(|settings| settings.rescan_minutes = u64::MAX).starts_with("rescan_minutes: "));
        assert!(wrong(|settings| settings.chunk_tokens = 1).starts_with("chunk_tokens: "));
        assert!(wrong(|settings| settings.chunk_overlap = 400).starts_with("chunk_overlap: "));
        assert!(wrong(|settings| settings.daily_log = Some("memory".into())).starts_with("daily_log: "));
    }
}
