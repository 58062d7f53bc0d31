//! A server whose client has been killed while another process has the pipe, too: this one has it.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::memorist;

/// How long a server may take to see that its client has gone.
const LONGEST: Duration = Duration::from_secs(10);

/// A shell as the client that starts a server, the pipe to that server, and its number.
fn client_of(server: &Command) -> (Child, ChildStdin, u32) {
    let mut client = Command::new("sh");
    client.args(["-c", "exec 3<&0; \"$@\" <&3 >/dev/null 2>&1 & echo $!; wait", "sh"]);
    client.arg(server.get_program()).args(server.get_args()).current_dir(server.get_current_dir().unwrap());
    for (name, value) in server.get_envs() {
        match value {
            Some(value) => client.env(name, value),
            None => client.env_remove(name),
        };
    }
    let mut client = client.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (pipe, mut line) = (client.stdin.take().unwrap(), String::new());
    BufReader::new(client.stdout.take().unwrap()).read_line(&mut line).unwrap();
    (client, pipe, line.trim().parse().unwrap())
}

/// Whether it runs: one that has ended may wait for its new parent to ask for it.
fn runs(process: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/stat"));
    status.is_ok_and(|status| status.rsplit(')').next().is_some_and(|rest| !rest.trim().starts_with('Z')))
}

fn ends_within(process: u32, longest: Duration) -> bool {
    let start = Instant::now();
    while runs(process) && start.elapsed() < longest {
        thread::sleep(Duration::from_millis(50));
    }
    !runs(process)
}

fn end(process: u32) {
    let _ = Command::new("sh").args(["-c", &format!("kill -9 {process}")]).status();
}

/// Item 12.
#[test]
fn a_server_ends_with_its_client_though_the_pipe_stays_open() {
    let folder = tempfile::tempdir().unwrap();
    let (mut client, pipe, server) = client_of(&memorist(folder.path(), &["serve"]));
    assert!(!ends_within(server, Duration::from_secs(3)), "it serves as long as its client lives");
    client.kill().unwrap();
    client.wait().unwrap();
    let has_ended = ends_within(server, LONGEST);
    end(server);
    drop(pipe);
    assert!(has_ended, "it lives on, {LONGEST:?} after its client");
}

/// Item 12: a server that has only begun to start saw its new parent as the one that had started it.
#[test]
fn item_12_a_server_ends_whose_client_is_killed_while_it_starts() {
    let started = |_| {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let mut server = Command::new("sh");
        server.args(["-c", "exec \"$@\" 2>log", "sh"]).current_dir(folder.path());
        let program = memorist(folder.path(), &["serve", "--verbose"]);
        server.arg(program.get_program()).args(program.get_args());
        server.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let (mut client, pipe, server) = client_of(&server);
        let start = Instant::now();
        while !fs::read_to_string(&log).is_ok_and(|log| log.contains("serving")) {
            assert!(start.elapsed() < LONGEST, "it does not start");
        }
        client.kill().unwrap();
        client.wait().unwrap();
        (folder, pipe, server)
    };
    let servers: Vec<_> = (0..8).map(started).collect();
    let live: Vec<u32> =
        servers.iter().map(|(_, _, server)| *server).filter(|server| !ends_within(*server, LONGEST)).collect();
    live.iter().for_each(|server| end(*server));
    assert!(live.is_empty(), "{} of {} live on", live.len(), servers.len());
}

/// Item 12: one that was left in the background on purpose goes on.
#[test]
fn an_http_server_outlives_the_process_that_started_it() {
    let folder = tempfile::tempdir().unwrap();
    let (mut client, pipe, server) = client_of(&memorist(folder.path(), &["serve", "--http", "127.0.0.1:0"]));
    thread::sleep(Duration::from_secs(2));
    client.kill().unwrap();
    client.wait().unwrap();
    let goes_on = !ends_within(server, Duration::from_secs(4));
    end(server);
    drop(pipe);
    assert!(goes_on, "it has ended with the process that started it");
}
