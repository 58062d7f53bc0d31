//! Files that are made to harm whoever reads them: every parser on every shape, each in a process of its own, with little
//! memory and a deadline. What it reads does not matter; that it ends does.
//!
//! | file | job |
//! |---|---|
//! | `parsers.rs` | what reads foreign files, and which shapes it may meet |
//! | `texts.rs` | texts, lines, JSON, notes, patterns |
//! | `special.rs` | what is no regular file, packed files |
//! | `databases.rs` | databases of agents |

#![cfg(unix)]

mod databases;
mod parsers;
mod special;
mod texts;

use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use parsers::Parser;

/// The case of a child process, and its folder.
const CASE: &str = "MEMORIST_HOSTILE_CASE";
const FOLDER: &str = "MEMORIST_HOSTILE_FOLDER";
/// Only cases whose names have this in them are run.
const ONLY: &str = "MEMORIST_HOSTILE_ONLY";
/// What a process may allocate, in KiB.
const MEMORY: u64 = 512 << 10;
/// How long a process may take. Tests are built without optimisation, and share the machine.
const DEADLINE: Duration = Duration::from_secs(120);
const WORKERS: usize = 2;

/// A file of some shape, written to a path.
pub type Shape = (&'static str, fn(&Path));

fn cases() -> Vec<(String, Parser, Shape)> {
    let each = |parser: Parser| {
        let name = move |shape: &Shape| format!("{}: {}", parser.name, shape.0);
        parser.shapes().into_iter().map(move |shape| (name(&shape), parser, shape))
    };
    parsers::ALL.into_iter().flat_map(each).collect()
}

#[test]
fn every_parser_survives_every_shape() {
    let only = std::env::var(ONLY).unwrap_or_default();
    let cases = cases();
    let left = Mutex::new(cases.iter().filter(|(name, ..)| name.contains(&only)));
    let failed = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                loop {
                    let next = left.lock().unwrap().next();
                    let Some((name, ..)) = next else { return };
                    let begun = Instant::now();
                    let ended = run(name);
                    eprintln!("{:6.1} s  {name}", begun.elapsed().as_secs_f64());
                    match ended {
                        Some(status) if status.success() => {}
                        Some(status) => failed.lock().unwrap().push(format!("{name}: {status}")),
                        None => failed.lock().unwrap().push(format!("{name}: not done after {DEADLINE:?}")),
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap();
    assert!(failed.is_empty(), "{} of {}: {failed:#?}", failed.len(), cases.len());
}

#[test]
fn a_process_that_takes_more_memory_is_seen() {
    assert!(run("greedy").is_some_and(|status| !status.success()));
    assert!(run("modest").is_some_and(|status| status.success()));
}

/// Runs a case in a process of its own; `None` if it had to be ended.
fn run(case: &str) -> Option<ExitStatus> {
    let folder = tempfile::tempdir().unwrap();
    let mut child = Command::new("sh")
        .args(["-c", "ulimit -d \"$0\" && exec \"$@\"", &MEMORY.to_string()])
        .arg(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "one_case"])
        .env(CASE, case)
        .env(FOLDER, folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    loop {
        match child.try_wait().unwrap() {
            Some(status) => return Some(status),
            None if begun.elapsed() > DEADLINE => {
                child.kill().unwrap();
                child.wait().unwrap();
                return None;
            }
            None => thread::sleep(Duration::from_millis(10)),
        }
    }
}

#[test]
#[ignore = "the others run it in processes of their own"]
fn one_case() {
    let case = std::env::var(CASE).unwrap();
    let folder = std::env::var_os(FOLDER).unwrap();
    let bytes = match case.as_str() {
        "greedy" => vec![1_u8; 600 << 20],
        "modest" => vec![1_u8; 300 << 20],
        case => {
            let (_, parser, (_, write)) = cases().into_iter().find(|(name, ..)| name == case).unwrap();
            let file = Path::new(&folder).join(parser.file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            write(&file);
            (parser.read)(Path::new(&folder), &file);
            Vec::new()
        }
    };
    assert!(std::hint::black_box(bytes).iter().all(|byte| *byte == 1));
}
