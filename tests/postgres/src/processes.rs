//! The processes of a server: the postmaster, and a child for each connection and each task in the background.

use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// Far more than signals need.
const TIMEOUT: Duration = Duration::from_secs(30);

#[derive(Clone, Copy)]
struct Process {
    id: i32,
    parent: i32,
    /// As `ps` has it: `T` is stopped, `Z` has ended.
    state: u8,
}

/// Sends a signal to a process, which may have ended meanwhile.
pub(crate) fn signal(process: i32, signal: Signal) {
    match kill(Pid::from_raw(process), signal) {
        Ok(()) | Err(Errno::ESRCH) => {}
        Err(error) => panic!("signal {signal} to process {process}: {error}"),
    }
}

/// Stops a postmaster and its children, wherever they are; returns when all have stopped.
pub(crate) fn pause(postmaster: i32) -> Vec<i32> {
    // First, so that there are no further children.
    signal(postmaster, Signal::SIGSTOP);
    wait_until("the postmaster stops", || family(postmaster).iter().any(|it| it.id == postmaster && it.state == b'T'));
    wait_until("its children stop", || {
        let running: Vec<_> = family(postmaster).into_iter().filter(|it| it.state != b'T').collect();
        running.iter().for_each(|process| signal(process.id, Signal::SIGSTOP));
        running.is_empty()
    });
    family(postmaster).iter().map(|process| process.id).collect()
}

/// Lets them run again.
pub(crate) fn resume(postmaster: i32) {
    for process in family(postmaster) {
        signal(process.id, Signal::SIGCONT);
    }
}

/// Kills a postmaster and its children; returns when the children have ended.
pub(crate) fn kill_all(postmaster: i32) {
    let family = pause(postmaster);
    family.iter().for_each(|process| signal(*process, Signal::SIGKILL));
    wait_until("the killed processes end", || {
        !living().iter().any(|it| it.id != postmaster && family.contains(&it.id))
    });
}

fn family(postmaster: i32) -> Vec<Process> {
    living().into_iter().filter(|process| process.id == postmaster || process.parent == postmaster).collect()
}

/// All processes of the machine that have not ended.
fn living() -> Vec<Process> {
    let output = Command::new("ps").args(["-A", "-o", "pid=", "-o", "ppid=", "-o", "stat="]).output();
    let text = String::from_utf8(output.expect("ps is installed").stdout).expect("ps writes ASCII");
    let processes = text.lines().filter_map(|line| {
        let mut fields = line.split_whitespace();
        let (id, parent) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
        Some(Process { id, parent, state: *fields.next()?.as_bytes().first()? })
    });
    processes.filter(|process| process.state != b'Z').collect()
}

/// Waits for what other processes do.
///
/// # Panics
/// If it takes far too long.
pub(crate) fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < TIMEOUT, "waited in vain: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}
