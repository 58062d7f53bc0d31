//! The socket on which a running server answers the hooks of clients: a file in the store's folder, for its user alone. One
//! server of a store listens; another takes over when it ends.
//!
//! A request and its reply are a line of JSON each. Whoever gets no reply in time searches by himself, so nothing here is an
//! error.

use std::fs::{self, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use memorist_durable::{LockedFile, PrivateFolder};
use memorist_engine::paths::StorePaths;

use crate::wire::{HOOK_VERSION, HookReply, HookRequest};

/// Longest line, in bytes.
pub const LONGEST_LINE: u64 = 256 << 10;

/// The socket of a store that this process listens on. It goes when this is dropped.
#[derive(Debug)]
pub struct Listening {
    path: PathBuf,
    listener: UnixListener,
    /// Locked while somebody listens. The kernel frees it when its holder dies.
    _lock: LockedFile,
}

impl Listening {
    /// Listens for the hooks of a store, unless another process does.
    ///
    /// # Errors
    /// Errors of the file system, and if others can write to the folder.
    pub fn start(store: &Path) -> io::Result<Option<Self>> {
        let folder = PrivateFolder::create(&StorePaths::new(store).hooks())?;
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(0o600);
        let lock = options.open(folder.path().join("socket.lock"))?;
        let Some(lock) = LockedFile::try_lock(lock)? else { return Ok(None) };
        let path = folder.path().join("socket");
        // Of one that was killed.
        remove(&path)?;
        let listener = UnixListener::bind(&path)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
        Ok(Some(Listening { path, listener, _lock: lock }))
    }

    /// The socket itself.
    ///
    /// # Errors
    /// Errors of the operating system.
    pub fn listener(&self) -> io::Result<UnixListener> {
        self.listener.set_nonblocking(true)?;
        self.listener.try_clone()
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = remove(&self.path);
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The answer of a running server; `None` if none comes within this time.
pub fn ask(store: &Path, request: &HookRequest, timeout: Duration) -> Option<HookReply> {
    let hooks = StorePaths::new(store).hooks();
    let line = serde_json::to_string(request).ok()? + "\n";
    let (tell, reply) = mpsc::channel();
    // A server that is stopped keeps whoever connects to it waiting, once many do.
    thread::Builder::new().name("ask".into()).spawn(move || tell.send(exchange(&hooks, &line, timeout))).ok()?;
    let reply = reply.recv_timeout(timeout).ok()?.inspect_err(|error| tracing::debug!("no server answers: {error}"));
    reply.ok().filter(|reply| reply.version == HOOK_VERSION)
}

fn exchange(hooks: &Path, line: &str, timeout: Duration) -> io::Result<HookReply> {
    // In a folder that others can write to, the socket may be theirs.
    let folder = PrivateFolder::open(hooks)?;
    let mut stream = UnixStream::connect(folder.path().join("socket"))?;
    stream.set_read_timeout(Some(timeout))?;
    stream.set_write_timeout(Some(timeout))?;
    stream.write_all(line.as_bytes())?;
    let mut reply = String::new();
    BufReader::new(stream.take(LONGEST_LINE)).read_line(&mut reply)?;
    Ok(serde_json::from_str(&reply)?)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;

    fn store() -> tempfile::TempDir {
        tempfile::tempdir().unwrap()
    }

    #[test]
    fn a_store_has_one_listener_and_the_next_takes_over() {
        let store = store();
        let socket = store.path().join("hooks/socket");
        let first = Listening::start(store.path()).unwrap().unwrap();
        let mode = |path: &Path| fs::symlink_metadata(path).unwrap().mode() & 0o777;
        assert_eq!((mode(&socket), mode(socket.parent().unwrap())), (0o600, 0o700));
        assert!(Listening::start(store.path()).unwrap().is_none());
        drop(first);
        assert!(!socket.exists());
        // As one that was killed leaves it.
        drop(UnixListener::bind(&socket).unwrap());
        assert!(socket.exists());
        let second = Listening::start(store.path()).unwrap().unwrap();
        UnixStream::connect(&socket).unwrap();
        drop(second);
    }

    #[test]
    fn a_folder_that_others_can_write_to_is_not_used() {
        let store = store();
        let hooks = store.path().join("hooks");
        fs::create_dir(&hooks).unwrap();
        let _theirs = UnixListener::bind(hooks.join("socket")).unwrap();
        fs::set_permissions(&hooks, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(Listening::start(store.path()).is_err());
        let refused = exchange(&hooks, "{}\n", Duration::from_secs(1)).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::PermissionDenied, "{refused}");
    }

    #[test]
    fn a_store_whose_path_is_too_long_for_a_socket_has_none() {
        let store = store();
        let deep = store.path().join("x".repeat(120));
        fs::create_dir(&deep).unwrap();
        assert!(Listening::start(&deep).is_err());
        assert!(exchange(&deep.join("hooks"), "{}\n", Duration::from_secs(1)).is_err());
    }
}
