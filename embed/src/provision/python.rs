//! Runs Python so that it executes nothing from the current folder.
//!
//! `python -m` looks for modules in its working folder first, and an agent's working folder may contain anything: a
//! `pip.py`, a `sitecustomize.py`, a `python3`. So the program is looked up in absolute folders only, and runs in an
//! empty folder of ours, without Python's own variables.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use memorist_durable::find_program;

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
        let path = env::var_os("PATH").unwrap_or_default();
        for program in NAMES.into_iter().filter_map(|name| find_program(name, &path)) {
            let python = Python { program, folder: folder.to_owned() };
            let status = python.pip().and_then(|mut version| {
                version.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status()
            });
            match status {
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
    pub(super) fn pip(&self) -> std::io::Result<Command> {
        let mut command = memorist_durable::command(&self.program)?;
        command.current_dir(&self.folder).args(["-m", "pip"]);
        for (name, _) in env::vars_os().filter(|(name, _)| is_python_s(name)) {
            command.env_remove(name);
        }
        // Another Python, which pip would start itself.
        command.env_remove("PIP_PYTHON");
        // Python 3.11 and newer can leave the working folder out altogether.
        command.env("PYTHONSAFEPATH", "1");
        Ok(command)
    }
}

/// Where Python looks for modules, what it runs at its start, and the like.
fn is_python_s(name: &OsStr) -> bool {
    name.as_encoded_bytes().get(..6).is_some_and(|start| start.eq_ignore_ascii_case(b"PYTHON"))
}
