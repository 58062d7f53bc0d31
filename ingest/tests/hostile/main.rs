//! Hostile files: every parser reads each shape of file that it may meet, in a process of its own, with little memory and a
//! deadline. It has to end; what it reads is not checked.
//!
//! | file | job |
//! |---|---|
//! | `parsers.rs` | the parsers of foreign files, and the shapes that each may meet |
//! | `texts.rs` | texts, lines, JSON, notes, patterns |
//! | `special.rs` | pipes, devices, links, and packed files |
//! | `databases.rs` | databases of agents |
//! | `pdfs.rs` | PDFs |

#![cfg(unix)]

mod databases;
mod parsers;
mod pdfs;
mod special;
mod texts;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use parsers::Parser;
use texts::Shape;

/// The parser of a child process, to which the folders of its cases are written.
const PARSER: &str = "MEMORIST_HOSTILE_PARSER";
/// The line that the process writes after each case.
const DONE: &str = "the parser is done";
/// Only cases whose names have this in them are run.
const ONLY: &str = "MEMORIST_HOSTILE_ONLY";
/// Memory that a process may allocate, in KiB.
const MEMORY: u64 = 512 << 10;
/// Time limit of a case. Tests are built without optimization, and share the machine.
const DEADLINE: Duration = Duration::from_secs(120);
const WORKERS: usize = 2;

/// A run takes one case of this many, unless cases are named or it is `.ci/nightly`.
const STEP: usize = 5;

/// Which fifth of the cases is run: another one each time, or that of `MEMORIST_SEED`.
static FIFTH: LazyLock<usize> = LazyLock::new(|| {
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64;
    let seed = std::env::var("MEMORIST_SEED").map_or_else(|_| now(), |seed| seed.parse().unwrap());
    eprintln!("MEMORIST_SEED={seed}");
    (seed % STEP as u64) as usize
});

/// The cases of a parser that are run.
fn cases(parser: &Parser) -> Vec<Shape> {
    let only = std::env::var(ONLY).ok();
    let step = if only.is_some() || std::env::var_os("MEMORIST_NIGHTLY").is_some() { 1 } else { STEP };
    let is_wanted =
        |shape: &Shape| only.as_ref().is_none_or(|only| format!("{}: {}", parser.name, shape.0).contains(only));
    parser.shapes().into_iter().skip(*FIFTH % step).step_by(step).filter(is_wanted).collect()
}

#[test]
fn every_parser_survives_every_shape() {
    let left = Mutex::new(parsers::ALL.iter());
    let failed = Mutex::new(Vec::new());
    let count = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                loop {
                    let next = left.lock().unwrap().next();
                    let Some(parser) = next else { return };
                    let mut cases = &*cases(parser);
                    count.fetch_add(cases.len(), Ordering::Relaxed);
                    while !cases.is_empty() {
                        let (done, died) = run(parser, cases);
                        cases = &cases[done..];
                        // One that comes after others is tried again by itself: they may have left something in memory.
                        if let Some(why) = died.filter(|_| done == 0) {
                            failed.lock().unwrap().push(format!("{}: {}: {why}", parser.name, cases[0].0));
                            cases = &cases[1..];
                        }
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap();
    assert!(failed.is_empty(), "{} of {}: {failed:#?}", failed.len(), count.into_inner());
}

/// Runs cases of a parser in one process. Returns how many it survived, and why it died. Their files are written here, where
/// memory has no limit.
fn run(parser: &Parser, cases: &[Shape]) -> (usize, Option<String>) {
    let folder = tempfile::tempdir().unwrap();
    let mut child = child("child_runs_the_named_parser", parser.name);
    let mut tasks = child.stdin.take().unwrap();
    let (sender, lines) = mpsc::channel();
    let output = BufReader::new(child.stdout.take().unwrap());
    thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
    for (number, (shape, write)) in cases.iter().enumerate() {
        let folder = folder.path().join(number.to_string());
        let file = folder.join(parser.file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        write(&file);
        let begun = Instant::now();
        // If it is dead by now, that is seen below.
        let _sent = writeln!(tasks, "{}", folder.display());
        let mut left = || lines.recv_timeout(DEADLINE.saturating_sub(begun.elapsed()));
        let ended =
            std::iter::repeat_with(&mut left).find(|line| line.as_ref().map_or(true, |line| line == DONE)).unwrap();
        eprintln!("{:6.1} s  {}: {shape}", begun.elapsed().as_secs_f64(), parser.name);
        fs::remove_dir_all(&folder).unwrap();
        let why = match ended {
            Ok(_) => continue,
            Err(mpsc::RecvTimeoutError::Timeout) => format!("not done after {DEADLINE:?}"),
            Err(mpsc::RecvTimeoutError::Disconnected) => "its process died".to_owned(),
        };
        let _may_be_dead = child.kill();
        return (number, Some(format!("{why}, {}", child.wait().unwrap())));
    }
    drop(tasks);
    let status = child.wait().unwrap();
    assert!(status.success(), "{}: {status}", parser.name);
    (cases.len(), None)
}

/// A process with little memory that runs a test of this file.
fn child(test: &str, parser: &str) -> Child {
    Command::new("sh")
        .args(["-c", "ulimit -d \"$0\" && exec \"$@\"", &MEMORY.to_string()])
        .arg(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "--nocapture", test])
        .env(PARSER, parser)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
fn a_process_that_takes_more_memory_is_seen() {
    let is_alive = |name| child("child_runs_the_named_parser", name).wait_with_output().unwrap().status.success();
    assert!(!is_alive("greedy"));
    assert!(is_alive("modest"));
}

#[test]
#[ignore = "the others run it in processes of their own"]
fn child_runs_the_named_parser() {
    let name = std::env::var(PARSER).unwrap();
    let bytes = match name.as_str() {
        "greedy" => vec![1_u8; 600 << 20],
        "modest" => vec![1_u8; 300 << 20],
        name => {
            let parser = parsers::ALL.iter().find(|parser| parser.name == name).unwrap();
            for folder in std::io::stdin().lines() {
                let folder = PathBuf::from(folder.unwrap());
                (parser.read)(&folder, &folder.join(parser.file));
                let mut out = std::io::stdout().lock();
                writeln!(out, "\n{DONE}").and_then(|()| out.flush()).unwrap();
            }
            Vec::new()
        }
    };
    assert!(std::hint::black_box(bytes).iter().all(|byte| *byte == 1));
}
