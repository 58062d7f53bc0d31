//! The program on another machine, over ssh.

use std::io::BufReader;
use std::process::Stdio;

use memorist_durable::command;

use super::known::Peer;
use super::merge::{Exchange, Met};
use super::talk::{self, Pipe};
use crate::exit::{Failure, Kind};

/// The command on the other machine, unless the person names another.
const PROGRAM: &str = "memorist";
/// The exit code of a shell that does not find a program.
const NOT_FOUND: i32 = 127;

/// Exchanges with a machine.
pub fn meet(
    exchange: &Exchange<'_>,
    (host, port): (&str, Option<u16>),
    peer: &Peer,
    met: &mut Met,
) -> Result<(), Failure> {
    let failure = |error: std::io::Error| Failure::new(Kind::Io, format!("ssh: {error}"));
    let mut ssh = command("ssh").map_err(failure)?;
    // A machine that falls asleep does not say so.
    ssh.args(["-o", "ServerAliveInterval=15", "-o", "ServerAliveCountMax=4"]);
    if exchange.quiet {
        ssh.args(["-o", "BatchMode=yes", "-o", "ConnectTimeout=10"]);
    }
    if let Some(port) = port {
        ssh.arg("-p").arg(port.to_string());
    }
    let program = peer.program.as_deref().unwrap_or(PROGRAM);
    ssh.arg(host).arg("--").arg(format!("{program} sync-with --stdio"));
    let mut child = ssh.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(failure)?;
    let (Some(input), Some(output)) = (child.stdout.take(), child.stdin.take()) else {
        return Err(Failure::new(Kind::Internal, "ssh has no pipes"));
    };
    let mut pipe = Pipe { input: BufReader::with_capacity(1 << 16, input), output, folder: exchange.folder };
    let talked = talk::lead(exchange, &mut pipe, peer, met);
    // The other machine ends when nobody talks to it.
    drop(pipe);
    let ended = child.wait().map_err(failure)?;
    match (talked, ended.code()) {
        (Err(_), Some(NOT_FOUND)) => {
            let why =
                format!("{program} was not found there; name it with --program, like --program ~/.local/bin/memorist");
            Err(Failure::new(Kind::Io, format!("{}: {why}", peer.address)))
        }
        (Err(_), Some(255)) if met.names.is_empty() => {
            Err(Failure::new(Kind::Io, format!("{}: ssh cannot reach it", peer.address)))
        }
        (talked, _) => talked,
    }
}
