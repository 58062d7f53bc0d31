//! Hooks of clients: the section `[hooks]` of the settings; and `[sync_with]`, as a hook meets other machines.

use std::path::{Path, PathBuf};
use std::time::Duration;

use memorist_engine::types::RecallRequest;
use serde::Deserialize;

/// The variable that silences the hooks of whatever is started with it, such as one session.
pub const VARIABLE: &str = "MEMORIST_HOOKS";

/// When the other machines of a person are met.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SyncWithSettings {
    /// Minutes since the last try after which the start of a client tries again; 0 is never.
    pub every_minutes: u64,
}

impl Default for SyncWithSettings {
    fn default() -> Self {
        SyncWithSettings { every_minutes: 10 }
    }
}

impl SyncWithSettings {
    /// The least time between two tries of hooks; zero is never.
    pub fn every(&self) -> Duration {
        Duration::from_secs(self.every_minutes.saturating_mul(60))
    }
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HookSettings {
    /// Whether they do anything.
    pub enabled: bool,
    /// Nothing is recalled or noted in these folders, nor below them. `~/` is the home folder.
    #[serde(rename = "exclude", alias = "except")]
    pub except: Vec<PathBuf>,
    /// Most memories of a recall.
    pub max_results: usize,
    /// Most tokens of their texts.
    pub max_tokens: usize,
    /// The least relevance of each.
    pub min_relevance: f64,
    /// Whether a memory comes before an action that it names.
    pub at_actions: bool,
    /// Whether the command that a memory names is such an action, as a change of its file is.
    pub at_commands: bool,
    /// Whether a memory comes after exactly its error.
    pub at_failures: bool,
}

impl Default for HookSettings {
    fn default() -> Self {
        let RecallRequest { max_results, max_tokens, min_score, .. } = RecallRequest::new("");
        HookSettings {
            enabled: true,
            except: Vec::new(),
            max_results,
            max_tokens,
            min_relevance: min_score,
            at_actions: true,
            at_commands: false,
            at_failures: false,
        }
    }
}

impl HookSettings {
    /// Checks the bounds.
    ///
    /// # Errors
    /// Says what is wrong.
    pub fn validate(&self) -> Result<(), String> {
        if !(1..=50).contains(&self.max_results) {
            return Err(format!("max_results: {} is outside 1 to 50", self.max_results));
        }
        if self.max_tokens == 0 {
            return Err("max_tokens: must be greater than 0; `enabled = false` turns hooks off".to_owned());
        }
        if !(0.0..=1.0).contains(&self.min_relevance) {
            return Err(format!("min_relevance: {} is outside 0 to 1", self.min_relevance));
        }
        let is_whole = |path: &&PathBuf| path.is_absolute() || path.starts_with("~");
        match self.except.iter().find(|path| !is_whole(path)) {
            Some(path) => Err(format!("exclude: {} is not absolute; name the folder from the root", path.display())),
            None => Ok(()),
        }
    }

    /// Whether hooks do anything in this folder, given the value of [`VARIABLE`].
    pub fn apply_in(&self, folder: &Path, home: Option<&Path>, variable: Option<&str>) -> bool {
        let is_off =
            variable.is_some_and(|value| matches!(value.trim().to_lowercase().as_str(), "off" | "0" | "false"));
        self.enabled && !is_off && !self.except.iter().any(|except| is_within(folder, except, home))
    }
}

/// Whether a folder is this one or below it, by its name or by what links lead to.
fn is_within(folder: &Path, except: &Path, home: Option<&Path>) -> bool {
    let except = match (except.strip_prefix("~"), home) {
        (Ok(below), Some(home)) => home.join(below),
        _ => except.to_owned(),
    };
    let real = |path: &Path| dunce::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    folder.starts_with(&except) || real(folder).starts_with(real(&except))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// H1.
    #[test]
    fn the_defaults_match_the_specification_and_bounds_are_named() {
        let settings = HookSettings::default();
        assert!(settings.enabled && settings.validate().is_ok());
        assert_eq!((settings.max_results, settings.max_tokens, settings.min_relevance), (5, 500, 0.3));
        let wrong = |change: fn(&mut HookSettings)| {
            let mut settings = HookSettings::default();
            change(&mut settings);
            settings.validate().unwrap_err()
        };
        assert!(wrong(|settings| settings.max_results = 0).starts_with("max_results: "));
        assert!(wrong(|settings| settings.max_tokens = 0).starts_with("max_tokens: "));
        assert!(wrong(|settings| settings.min_relevance = f64::NAN).starts_with("min_relevance: "));
        assert!(wrong(|settings| settings.except = vec!["private".into()]).starts_with("exclude: "));
    }

    #[test]
    fn hooks_are_off_by_machine_by_folder_and_by_session() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        for name in ["private/deep", "open"] {
            std::fs::create_dir_all(home.join(name)).unwrap();
        }
        let of = |settings: &HookSettings, folder: &str, variable| {
            settings.apply_in(&home.join(folder), Some(home), variable)
        };
        let all = HookSettings::default();
        assert!(of(&all, "private", None) && of(&all, "private", Some("")) && of(&all, "private", Some("on")));
        assert!(
            !of(&all, "private", Some("off")) && !of(&all, "private", Some("OFF ")) && !of(&all, "open", Some("0"))
        );
        assert!(!of(&HookSettings { enabled: false, ..all.clone() }, "open", None));
        for except in [PathBuf::from("~/private"), home.join("private")] {
            let some = HookSettings { except: vec![except], ..all.clone() };
            assert!(some.validate().is_ok());
            assert!(
                !of(&some, "private", None) && !of(&some, "private/deep", None) && !of(&some, "private/gone", None)
            );
            assert!(of(&some, "open", None) && of(&some, "private2", None));
            #[cfg(unix)]
            {
                let _ = std::os::unix::fs::symlink(home.join("private"), home.join("link"));
                assert!(!of(&some, "link/deep", None), "a link leads there");
            }
        }
    }
}
