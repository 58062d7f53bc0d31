//! A socket of Unix, which only its user can connect to.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use tokio::net::UnixListener;

/// The connection of a hook.
pub type SocketStream = tokio::net::UnixStream;

/// A socket that this process listens on.
#[derive(Debug)]
pub struct SocketListener(UnixListener);

impl SocketListener {
    pub fn bind(path: &Path) -> io::Result<Self> {
        let listener = UnixListener::bind(path)?;
        fs::set_permissions(path, Permissions::from_mode(0o600))?;
        Ok(SocketListener(listener))
    }

    /// Waits for a hook of this user, or of root.
    pub async fn accept(&mut self) -> io::Result<SocketStream> {
        loop {
            let (stream, _) = self.0.accept().await?;
            let own = nix::unistd::geteuid().as_raw();
            if stream.peer_cred().is_ok_and(|peer| peer.uid() == own || peer.uid() == 0) {
                return Ok(stream);
            }
            tracing::warn!("a hook of another user is not answered");
        }
    }
}

/// Connects to the server that listens. `timeout` limits each read and each write.
pub fn connect(path: &Path, timeout: Duration) -> io::Result<UnixStream> {
    let stream = UnixStream::connect(path)?;
    stream.set_read_timeout(Some(timeout))?;
    stream.set_write_timeout(Some(timeout))?;
    Ok(stream)
}
