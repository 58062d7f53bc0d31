//! A named pipe of Windows, which only its user can write to. The names of pipes are for all users of the machine, so each
//! server makes a new name, and the file of the socket has it: who cannot read that folder cannot take the place of the server.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::windows::fs::OpenOptionsExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use tokio::net::windows::named_pipe::{NamedPipeServer, ServerOptions};

/// The connection of a hook.
pub type PipeStream = NamedPipeServer;

/// The folder of all pipes of this machine.
const PIPES: &str = r"\\.\pipe\";
/// Every instance of the pipe is taken: the server makes the next one.
const ERROR_PIPE_BUSY: i32 = 231;
/// A server learns who connects, and cannot act as that user.
const SECURITY_IDENTIFICATION: u32 = 0x0001_0000;

/// A pipe that this process listens on.
#[derive(Debug)]
pub struct PipeListener {
    name: String,
    /// The instance for the next hook.
    next: NamedPipeServer,
}

impl PipeListener {
    /// Makes the pipe, and the file that has its name.
    pub fn bind(path: &Path) -> io::Result<Self> {
        let random = || getrandom::u64().map_err(io::Error::other);
        let name = format!("{PIPES}memorist-{:016x}{:016x}", random()?, random()?);
        let next = ServerOptions::new().first_pipe_instance(true).reject_remote_clients(true).create(&name)?;
        fs::write(path, &name[PIPES.len()..])?;
        Ok(PipeListener { name, next })
    }

    /// Waits for a hook.
    pub async fn accept(&mut self) -> io::Result<PipeStream> {
        self.next.connect().await?;
        let next = ServerOptions::new().reject_remote_clients(true).create(&self.name)?;
        Ok(std::mem::replace(&mut self.next, next))
    }
}

/// Connects to the server that listens, which `timeout` limits.
pub fn connect(path: &Path, timeout: Duration) -> io::Result<File> {
    let name = format!("{PIPES}{}", fs::read_to_string(path)?);
    let mut options = OpenOptions::new();
    options.read(true).write(true).security_qos_flags(SECURITY_IDENTIFICATION);
    let end = Instant::now() + timeout;
    loop {
        match options.open(&name) {
            Err(error) if error.raw_os_error() == Some(ERROR_PIPE_BUSY) && Instant::now() < end => {
                thread::sleep(Duration::from_millis(1));
            }
            opened => return opened,
        }
    }
}
