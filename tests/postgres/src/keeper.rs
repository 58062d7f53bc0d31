//! [`Keeper`]: a folder that is removed, with all that runs in it, when this process ends.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::unistd::chown;
use tempfile::TempDir;

use crate::programs;

/// A server that is not ready by then never will be.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A folder of the user as whom the programs run, and a process that waits for the end of this one.
pub(crate) struct Keeper {
    folder: PathBuf,
    process: Child,
    /// The kernel closes it when this process ends, however it ends.
    pipe: Option<ChildStdin>,
}

impl Keeper {
    /// A new folder.
    pub(crate) fn start() -> Result<Self, String> {
        let folder =
            TempDir::with_prefix("memorist-postgres-").map_err(|error| format!("a temporary folder: {error}"))?;
        if let Some(user) = programs::unprivileged() {
            chown(folder.path(), Some(user.uid), Some(user.gid))
                .map_err(|error| format!("the temporary folder: {error}"))?;
        }
        let mut process = programs::command("sh", Path::new("/"))
            .arg("-c")
            .arg(include_str!("keeper.sh"))
            // Not an argument: the arguments say which processes are to be ended.
            .env("FOLDER", folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("sh: {error}"))?;
        let pipe = process.stdin.take();
        Ok(Keeper { folder: folder.keep(), process, pipe })
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// A file that the programs own and nobody else reads.
    pub(crate) fn write(&self, name: &str, content: &str) -> Result<PathBuf, String> {
        let path = self.folder.join(name);
        let write = || {
            let mut file = File::options().write(true).create(true).truncate(true).mode(0o600).open(&path)?;
            file.write_all(content.as_bytes())?;
            programs::unprivileged().map_or(Ok(()), |user| chown(&path, Some(user.uid), Some(user.gid)))?;
            std::io::Result::Ok(())
        };
        write().map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(path)
    }

    /// Starts a program that serves, and waits until it is ready. An error is its log.
    pub(crate) fn serve(&self, command: &mut Command, is_ready: impl Fn() -> bool) -> Result<Child, String> {
        let log = File::options().create(true).append(true).open(self.folder.join("log"));
        let log = log.map_err(|error| format!("the log: {error}"))?;
        let mut process = command.stdout(Stdio::null()).stderr(log).spawn().map_err(|error| error.to_string())?;
        let start = Instant::now();
        loop {
            // Looked at first: somebody else may serve on the same port.
            let has_ended = process.try_wait().is_ok_and(|status| status.is_some());
            if has_ended || start.elapsed() > TIMEOUT {
                _ = process.kill();
                _ = process.wait();
                return Err(self.log());
            }
            if is_ready() {
                return Ok(process);
            }
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// The log of the folder's programs.
    pub(crate) fn log(&self) -> String {
        std::fs::read(self.folder.join("log"))
            .map_or_else(|error| error.to_string(), |log| String::from_utf8_lossy(&log).into_owned())
    }

    /// Ends what runs in the folder, and removes it.
    pub(crate) fn end(&mut self) {
        self.pipe = None;
        _ = self.process.wait();
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.end();
    }
}
