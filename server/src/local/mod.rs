//! The socket on which a running server answers the hooks of clients: a file in the store's folder, for its user alone; on
//! Windows a named pipe. One server of a store listens; another takes over when it ends.
//!
//! A request and its reply are a line of JSON each. A hook without a reply in time opens the store itself, so nothing here is
//! an error.

#[cfg(not(unix))]
mod pipe;
#[cfg(unix)]
mod socket;

use std::fs::{self, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use memorist_durable::{LockedFile, PrivateFolder};
use memorist_engine::paths::StorePaths;

use crate::wire::{HOOK_VERSION, HookReply, HookRequest};
#[cfg(not(unix))]
pub use pipe::PipeStream as Stream;
#[cfg(not(unix))]
use pipe::{PipeListener as Listener, connect};
#[cfg(unix)]
pub use socket::SocketStream as Stream;
#[cfg(unix)]
use socket::{SocketListener as Listener, connect};

/// Longest line, in bytes.
pub const LONGEST_LINE: u64 = 256 << 10;
/// The file in the folder of hooks.
const SOCKET: &str = "socket";

/// The socket of a store that this process listens on. It goes when this is dropped.
#[derive(Debug)]
pub struct Listening {
    path: PathBuf,
    listener: Listener,
    /// Locked while this process listens. The kernel frees it when the process dies.
    _lock: LockedFile,
}

impl Listening {
    /// Listens for the hooks of a store, unless another process does. Only a runtime can call it.
    ///
    /// # Errors
    /// Errors of the file system, and if others can write to the folder.
    pub fn start(store: &Path) -> io::Result<Option<Self>> {
        let folder = PrivateFolder::create(&StorePaths::new(store).hooks())?;
        let Some(lock) = lock(folder.path())? else { return Ok(None) };
        let path = folder.path().join(SOCKET);
        // Of one that was killed.
        remove(&path)?;
        let listener = Listener::bind(&path)?;
        Ok(Some(Listening { path, listener, _lock: lock }))
    }

    /// Waits for a hook.
    ///
    /// # Errors
    /// Errors of the operating system.
    pub async fn accept(&mut self) -> io::Result<Stream> {
        self.listener.accept().await
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = remove(&self.path);
    }
}

/// The lock of the process that listens; `None` if another process has it.
fn lock(hooks: &Path) -> io::Result<Option<LockedFile>> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    LockedFile::try_lock(options.open(hooks.join("socket.lock"))?)
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
    // A paused server accepts no more connections once its queue is full: then a connection waits.
    thread::Builder::new().name("ask".into()).spawn(move || tell.send(exchange(&hooks, &line, timeout))).ok()?;
    let reply = reply.recv_timeout(timeout).ok()?.inspect_err(|error| tracing::debug!("no server answers: {error}"));
    reply.ok().filter(|reply| reply.version == HOOK_VERSION)
}

fn exchange(hooks: &Path, line: &str, timeout: Duration) -> io::Result<HookReply> {
    // In a folder that others can write to, the socket may be theirs.
    let folder = PrivateFolder::open(hooks)?;
    // Anybody can make a pipe of Windows by the name that a killed server has left.
    if cfg!(windows) && lock(folder.path())?.is_some() {
        return Err(io::ErrorKind::ConnectionRefused.into());
    }
    let mut stream = connect(&folder.path().join(SOCKET), timeout)?;
    stream.write_all(line.as_bytes())?;
    let mut reply = String::new();
    BufReader::new(stream.take(LONGEST_LINE)).read_line(&mut reply)?;
    Ok(serde_json::from_str(&reply)?)
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    fn store() -> tempfile::TempDir {
        tempfile::tempdir().unwrap()
    }

    #[tokio::test]
    async fn a_store_has_one_listener_and_the_next_takes_over() {
        let store = store();
        let socket = store.path().join("hooks").join(SOCKET);
        let first = Listening::start(store.path()).unwrap().unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            let mode = |path: &Path| fs::symlink_metadata(path).unwrap().mode() & 0o777;
            assert_eq!((mode(&socket), mode(socket.parent().unwrap())), (0o600, 0o700));
        }
        assert!(Listening::start(store.path()).unwrap().is_none());
        drop(first);
        assert!(!socket.exists());
        // As one that was killed leaves it.
        drop(Listener::bind(&socket).unwrap());
        assert!(socket.exists());
        let timeout = Duration::from_secs(1);
        assert!(connect(&socket, timeout).is_err());
        let second = Listening::start(store.path()).unwrap().unwrap();
        connect(&socket, timeout).unwrap();
        drop(second);
    }

    #[tokio::test]
    async fn a_listener_answers_several_clients() {
        let store = store();
        let mut listening = Listening::start(store.path()).unwrap().unwrap();
        let hooks = store.path().join("hooks");
        let ask = |line: &'static str| {
            let hooks = hooks.clone();
            tokio::task::spawn_blocking(move || exchange(&hooks, line, Duration::from_secs(10)).unwrap())
        };
        let asked = [ask("1\n"), ask("2\n")];
        for _ in 0..2 {
            let mut stream = listening.accept().await.unwrap();
            let mut line = [0; 2];
            stream.read_exact(&mut line).await.unwrap();
            let text = Some(String::from_utf8_lossy(&line[..1]).into_owned());
            let reply = serde_json::to_vec(&HookReply { version: HOOK_VERSION, text }).unwrap();
            stream.write_all(&[&reply, &b"\n"[..]].concat()).await.unwrap();
            stream.flush().await.unwrap();
        }
        for (number, asked) in asked.into_iter().enumerate() {
            assert_eq!(asked.await.unwrap().text, Some((number + 1).to_string()));
        }
    }

    /// A store in whose folder another program listens, without the lock; the folder of its hooks; and that listener.
    fn store_with_foreign_listener() -> (tempfile::TempDir, PathBuf, Listener) {
        let store = store();
        let hooks = store.path().join("hooks");
        fs::create_dir(&hooks).unwrap();
        let listener = Listener::bind(&hooks.join(SOCKET)).unwrap();
        (store, hooks, listener)
    }

    #[cfg(windows)]
    #[tokio::test]
    async fn a_pipe_without_the_lock_is_not_asked() {
        let (_store, hooks, _listener) = store_with_foreign_listener();
        let refused = exchange(&hooks, "{}\n", Duration::from_secs(1)).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::ConnectionRefused, "{refused}");
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_folder_that_others_can_write_to_is_not_used() {
        use std::os::unix::fs::PermissionsExt;
        let (store, hooks, _listener) = store_with_foreign_listener();
        fs::set_permissions(&hooks, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(Listening::start(store.path()).is_err());
        let refused = exchange(&hooks, "{}\n", Duration::from_secs(1)).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::PermissionDenied, "{refused}");
    }

    /// A pipe of Windows has a short name whatever the store's path is.
    #[cfg(unix)]
    #[tokio::test]
    async fn a_store_whose_path_is_too_long_for_a_socket_has_none() {
        let store = store();
        let deep = store.path().join("x".repeat(120));
        fs::create_dir(&deep).unwrap();
        assert!(Listening::start(&deep).is_err());
        assert!(exchange(&deep.join("hooks"), "{}\n", Duration::from_secs(1)).is_err());
    }
}
