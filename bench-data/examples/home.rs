//! Writes a home folder with a vault of notes and the transcripts of every agent:
//! `cargo run --release -p bench-data --example home -- --notes 10000 --sessions 1000 FOLDER`

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use bench_data::transcripts::{Agent, Database};
use bench_data::{sessions, vault};

const USAGE: &str = "usage: home [--seed N] [--notes N] [--sessions N] [--turns N] FOLDER
  --seed N      which notes and sessions (default 42)
  --notes N     how many notes, in Documents/vault (default 1000)
  --sessions N  how many sessions, in turn of each agent (default 100)
  --turns N     how many turns a session has (default 200)
Databases are written as SQL beside the place of the database: sqlite3 state.vscdb < state.vscdb.sql";

struct HomeOptions {
    seed: u64,
    notes: usize,
    sessions: usize,
    turns: usize,
    folder: PathBuf,
}

fn options(mut arguments: impl Iterator<Item = String>) -> Result<HomeOptions, String> {
    let mut options = HomeOptions { seed: 42, notes: 1_000, sessions: 100, turns: 200, folder: PathBuf::new() };
    while let Some(name) = arguments.next() {
        let mut number = || -> Result<usize, String> {
            let value = arguments.next().ok_or_else(|| format!("{name} needs a number"))?;
            value.parse().map_err(|error| format!("{name} {value}: {error}"))
        };
        match name.as_str() {
            "--seed" => options.seed = number()? as u64,
            "--notes" => options.notes = number()?,
            "--sessions" => options.sessions = number()?,
            "--turns" => options.turns = number()?,
            folder if !folder.starts_with('-') => options.folder = folder.into(),
            _ => return Err(format!("unknown option {name}")),
        }
    }
    if options.folder.as_os_str().is_empty() { Err("a folder is missing".into()) } else { Ok(options) }
}

/// A new file, with the folders to it.
fn create(path: &Path) -> io::Result<BufWriter<File>> {
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    Ok(BufWriter::new(File::create(path)?))
}

fn write(options: &HomeOptions) -> io::Result<()> {
    // The folder by which a vault of Obsidian is known.
    fs::create_dir_all(options.folder.join("Documents/vault/.obsidian"))?;
    for note in vault(options.seed, options.notes) {
        let mut out = create(&options.folder.join("Documents/vault").join(note.path))?;
        out.write_all(note.text.as_bytes())?;
        out.flush()?;
    }
    let mut databases = Vec::new();
    for database in Database::ALL {
        let mut out = create(&options.folder.join(format!("{}.sql", database.path())))?;
        out.write_all(database.schema().as_bytes())?;
        databases.push((database, out));
    }
    for (index, session) in sessions(options.seed, options.sessions, options.turns).enumerate() {
        let place = index % (Agent::ALL.len() + databases.len());
        match Agent::ALL.get(place) {
            Some(agent) => {
                let mut out = create(&options.folder.join(agent.path(&session)))?;
                agent.write(&session, &mut out)?;
                out.flush()?;
            }
            None => {
                let (database, out) = &mut databases[place - Agent::ALL.len()];
                database.write(&session, out)?;
            }
        }
    }
    databases.into_iter().try_for_each(|(_, mut out)| out.flush())
}

fn main() -> ExitCode {
    match options(std::env::args().skip(1)).map_err(|error| format!("{error}\n{USAGE}")) {
        Err(usage) => {
            eprintln!("{usage}");
            ExitCode::from(2)
        }
        Ok(options) => match write(&options) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("cannot write {}: {error}", options.folder.display());
                ExitCode::FAILURE
            }
        },
    }
}
