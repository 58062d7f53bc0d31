//! Files that are made to harm an import: each in a process of its own, with little memory and a deadline. The files of sources
//! and of other systems are those of `ingest/tests/hostile/`.

#![cfg(unix)]

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::memorist;

/// Memory that a process may allocate, in KiB.
const MEMORY: u64 = 512 << 10;
const DEADLINE: Duration = Duration::from_secs(120);
const MIB: usize = 1 << 20;

/// A name, and what writes a file of this shape.
type Shape = (&'static str, fn(&Path));

#[rustfmt::skip] // one a line
const SHAPES: [Shape; 12] = [
    ("nothing", |file| fs::write(file, "").unwrap()),
    ("768 MiB of zeros", |file| File::create(file).unwrap().set_len(768 << 20).unwrap()),
    ("a line without an end", |file| repeat(file, "", "words ", 70 * MIB, "")),
    ("line breaks", |file| repeat(file, "", "\n", 4 * MIB, "")),
    ("brackets", |file| repeat(file, "", "[", 8 * MIB, "")),
    ("objects in objects", |file| repeat(file, "", "{\"a\":", 8 * MIB, "")),
    ("a list of numbers in a memory", |file| repeat(file, "{\"content\":\"x\",\"tags\":[1", ",1", 8 * MIB, "]}\n")),
    ("a text of 48 MiB", |file| repeat(file, "{\"content\":\"", "word ", 48 * MIB, "\"}\n")),
    ("halves of characters", |file| repeat(file, "", "{\"content\":\"\\ud83d\"}\n", MIB, "")),
    ("a pipe", |file| assert!(Command::new("mkfifo").arg(file).status().unwrap().success())),
    ("a link to /dev/zero", |file| symlink("/dev/zero", file).unwrap()),
    ("a folder", |file| fs::create_dir(file).unwrap()),
];

fn repeat(file: &Path, begin: &str, part: &str, bytes: usize, end: &str) {
    let mut out = BufWriter::new(File::create(file).unwrap());
    out.write_all(begin.as_bytes()).unwrap();
    for _ in 0..bytes / part.len() {
        out.write_all(part.as_bytes()).unwrap();
    }
    out.write_all(end.as_bytes()).unwrap();
    out.flush().unwrap();
}

#[test]
fn an_import_survives_every_shape() {
    for (name, write) in SHAPES {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("memories.jsonl");
        write(&file);
        let import = memorist(&folder.path().join("store"), &["import", file.to_str().unwrap(), "--no-embed"]);
        let mut limited = Command::new("sh");
        limited.args(["-c", "ulimit -d \"$0\" && exec \"$@\"", &MEMORY.to_string()]);
        limited.arg(import.get_program()).args(import.get_args()).current_dir(folder.path()).stdin(Stdio::null());
        for (variable, _) in import.get_envs().filter(|(_, value)| value.is_none()) {
            limited.env_remove(variable);
        }
        let mut child = limited.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let begun = Instant::now();
        let status = loop {
            match child.try_wait().unwrap() {
                Some(status) => break status,
                None if begun.elapsed() > DEADLINE => {
                    child.kill().unwrap();
                    child.wait().unwrap();
                    panic!("{name}: not done after {DEADLINE:?}");
                }
                None => thread::sleep(Duration::from_millis(10)),
            }
        };
        // A refusal is an answer, too; a signal or a panic is not.
        assert!(status.code().is_some_and(|code| code < 100), "{name}: {status}");
    }
}
