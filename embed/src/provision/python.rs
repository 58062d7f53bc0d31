//! Runs Python so that it executes nothing from the current folder.
//!
//! `python -m` looks for modules in its working folder first, and an agent's working folder may contain anything: a
//! `pip.py`, a `sitecustomize.py`, a `python3`. So the program is looked up in absolute folders only, and runs in an
//! empty folder of ours, without Python's own variables.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::error::{Error, Result};

/// Names under which a Python 3 may be found.
const NAMES: [&str; 3] = ["python3", "python", "py"];

/// A Python that has pip.
#[derive(Debug)]
pub(super) struct Python {
    /// The program, absolute.
    pub program: PathBuf,
    /// Its working folder, which is empty.
    folder: PathBuf,
}

impl Python {
    /// The first one that has pip. It runs in `folder`, which no other user can write to and which stays empty.
    pub(super) fn with_pip(folder: &Path) -> Result<Self> {
        let mut without_pip = None;
        for program in NAMES.into_iter().filter_map(find) {
            let python = Python { program, folder: folder.to_owned() };
            let mut version = python.pip();
            version.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            match version.status() {
                Ok(status) if status.success() => return Ok(python),
                Ok(_) => without_pip = without_pip.or(Some(python.program)),
                Err(_) => {}
            }
        }
        Err(Error::Provision(match without_pip {
            Some(python) => {
                let python = python.display();
                format!("{python} has no pip; install it (`{python} -m ensurepip`, or the package python3-pip)")
            }
            None => "no Python 3 with pip was found; install one (on Debian: the package python3-pip)".to_owned(),
        }))
    }

    /// The command `python -m pip`.
    pub(super) fn pip(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.current_dir(&self.folder).args(["-m", "pip"]);
        for (name, _) in env::vars_os().filter(|(name, _)| is_python_s(name)) {
            command.env_remove(name);
        }
        // Another Python, which pip would start itself.
        command.env_remove("PIP_PYTHON");
        if let Ok(path) = env::join_paths(absolute_folders()) {
            command.env("PATH", path);
        }
        // Python 3.11 and newer can leave the working folder out altogether.
        command.env("PYTHONSAFEPATH", "1");
        command
    }
}

/// Where Python looks for modules, what it runs at its start, and the like.
fn is_python_s(name: &OsStr) -> bool {
    name.as_encoded_bytes().get(..6).is_some_and(|start| start.eq_ignore_ascii_case(b"PYTHON"))
}

/// The folders of `PATH`. An empty or relative one would be the working folder, or within it.
fn absolute_folders() -> Vec<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).filter(|folder| folder.is_absolute()).collect()
}

fn find(name: &str) -> Option<PathBuf> {
    let file = format!("{name}{}", env::consts::EXE_SUFFIX);
    absolute_folders().into_iter().map(|folder| folder.join(&file)).find(|program| is_executable(program))
}

#[cfg(unix)]
fn is_executable(program: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(program).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(program: &Path) -> bool {
    fs::metadata(program).is_ok_and(|found| found.is_file())
}
