//! [`Keeper`]: a folder that is removed, with all that runs in it, when this process ends.

use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Stdio};

use nix::unistd::chown;
use tempfile::TempDir;

use crate::programs;

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
        use std::os::unix::fs::OpenOptionsExt;
        let path = self.folder.join(name);
        let write = || {
            let mut options = std::fs::OpenOptions::new();
            let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(&path)?;
            std::io::Write::write_all(&mut file, content.as_bytes())?;
            programs::unprivileged().map_or(Ok(()), |user| chown(&path, Some(user.uid), Some(user.gid)))?;
            std::io::Result::Ok(())
        };
        write().map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(path)
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
