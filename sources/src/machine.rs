//! The home folder and the environment, which say where agents keep their files.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// A user's machine, as far as agents look at it. Tests make their own.
#[derive(Debug, Clone, Default)]
pub struct Machine {
    home: PathBuf,
    variables: HashMap<String, PathBuf>,
}

impl Machine {
    /// A machine with this home folder and these variables of the environment.
    pub fn new<'a>(home: impl Into<PathBuf>, variables: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let variables = variables.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect();
        Machine { home: home.into(), variables }
    }

    /// The machine of this process, with `home` as the home folder.
    pub fn this(home: impl Into<PathBuf>) -> Self {
        let variables = std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into())));
        Machine { home: home.into(), variables: variables.collect() }
    }

    /// The home folder.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// The path in a variable of the environment, else `default` below the home folder.
    pub fn path(&self, variable: &str, default: &str) -> PathBuf {
        match self.variables.get(variable) {
            Some(path) if !path.as_os_str().is_empty() => path.clone(),
            _ => self.home.join(default),
        }
    }
}
