//! Stores of other memory systems, made by the scripts of their documents, read whole.

mod bad;
mod four;
mod others;

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fs;
use std::path::{Path, PathBuf};

use memorist_sources::moving::{self, Item, Link, Memory, System};
use rusqlite::Connection;
use tempfile::TempDir;

/// 2026-02-02T02:40:00Z, and minutes after it.
const START: i64 = 1_770_000_000_000;
const MINUTE: i64 = 60_000;

/// Memories and links that were read from a store.
#[derive(Debug, PartialEq)]
struct StoreContents {
    memories: Vec<Memory>,
    links: Vec<Link>,
    not_brought: BTreeMap<String, u64>,
}

impl StoreContents {
    fn memory(&self, key: &str) -> &Memory {
        self.memories.iter().find(|memory| memory.key == key).unwrap_or_else(|| panic!("no {key}: {self:#?}"))
    }
}

/// Reads a store twice: nothing may differ, and nothing may be written.
fn read(system: System, path: &Path) -> StoreContents {
    let found = read_once(system, path);
    assert_eq!(read_once(system, path), found, "a second run differs");
    found
}

fn read_once(system: System, path: &Path) -> StoreContents {
    let mut found = StoreContents { memories: Vec::new(), links: Vec::new(), not_brought: BTreeMap::new() };
    let report = moving::read(system, path, &mut |item| {
        match item {
            Item::Memory(memory) => {
                assert!(found.links.is_empty(), "a memory after a link");
                found.memories.push(*memory);
            }
            Item::Link(link) => found.links.push(link),
        }
        Ok::<_, Infallible>(())
    });
    found.not_brought = report.unwrap_or_else(|error| panic!("{system}: {error}")).not_brought;
    found
}

/// The error of a store that cannot be read.
fn refused(system: System, path: &Path) -> String {
    moving::read(system, path, &mut |_| Ok::<_, Infallible>(())).unwrap_err().to_string()
}

/// Makes the store of a script in a folder. The connection is that of a program that still runs.
fn make(folder: &Path, name: &str, script: &str) -> (PathBuf, Connection) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let connection = Connection::open(&path).unwrap();
    connection.execute_batch("PRAGMA wal_autocheckpoint = 0; PRAGMA synchronous = OFF").unwrap();
    connection.execute_batch(script).unwrap();
    (path, connection)
}

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

/// The counts of a report.
fn counts<'a>(counts: impl IntoIterator<Item = (&'a str, u64)>) -> BTreeMap<String, u64> {
    counts.into_iter().map(|(reason, count)| (reason.to_owned(), count)).collect()
}

fn tags(tags: &[&str]) -> Vec<String> {
    tags.iter().map(|tag| (*tag).to_owned()).collect()
}

fn some(text: &str) -> Option<String> {
    Some(text.to_owned())
}
