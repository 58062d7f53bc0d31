//! The home folder and the environment, which say where agents keep their files.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// A user's machine, as far as agents look at it. Tests make their own.
#[derive(Debug, Clone, Default)]
pub struct Machine {
    home: PathBuf,
    /// By their keys.
    variables: HashMap<String, PathBuf>,
}

impl Machine {
    /// A machine with this home folder and these variables of the environment.
    pub fn new<'a>(home: impl Into<PathBuf>, variables: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let variables = variables.into_iter().map(|(name, value)| (key(name, cfg!(windows)), value.into())).collect();
        Machine { home: home.into(), variables }
    }

    /// The machine of this process, with `home` as the home folder.
    pub fn this(home: impl Into<PathBuf>) -> Self {
        let variables = std::env::vars_os()
            .filter_map(|(name, value)| Some((key(name.to_str()?, cfg!(windows)), PathBuf::from(value))));
        Machine { home: home.into(), variables: variables.collect() }
    }

    pub fn home(&self) -> &Path {
        &self.home
    }

    /// The path in a variable of the environment, else `default` below the home folder.
    pub fn path(&self, variable: &str, default: &str) -> PathBuf {
        match self.variables.get(&key(variable, cfg!(windows))) {
            Some(path) if !path.as_os_str().is_empty() => path.clone(),
            _ => self.home.join(default),
        }
    }
}

/// The key of a variable's name. Windows ignores the case of names: it has `Path`.
fn key(name: &str, is_windows: bool) -> String {
    if is_windows { name.to_uppercase() } else { name.to_owned() }
}

/// A path without the slash that addresses have before a drive of Windows: `/c:/notes`.
pub fn drive_first(path: &str) -> &str {
    match path.as_bytes() {
        [b'/', drive, b':', ..] if drive.is_ascii_alphabetic() => &path[1..],
        _ => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_variables_have_no_case_on_windows_alone() {
        assert_eq!(key("Path", true), key("PATH", true));
        assert_ne!(key("Path", false), key("PATH", false));
        let machine = Machine::new("/h", [("Path", "/bin")]);
        assert_eq!(machine.path("PATH", "x") == Path::new("/bin"), cfg!(windows));
    }
}
