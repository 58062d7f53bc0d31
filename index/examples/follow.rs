//! One process writes an index, and another one, which has it mapped, follows.
//!
//! Run: `cargo run --release -p memorist-index --example follow`

use std::env;
use std::error::Error;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use memorist_index::{IndexOptions, Reader, Writer};

const BATCHES: usize = 5;

fn main() -> Result<(), Box<dyn Error>> {
    if let Some(folder) = env::args().nth(1) {
        return read(&folder);
    }
    let folder = tempfile::tempdir()?;
    let mut writer = Writer::create(folder.path(), IndexOptions::new(2), b"")?;
    let mut reader = Command::new(env::current_exe()?).arg(folder.path()).spawn()?;
    for batch in 1..=BATCHES {
        writer.apply(&[(batch as u64, &[1.0, batch as f32])], &[], b"")?;
        sleep(Duration::from_millis(20));
    }
    // The reader ends when it has seen all.
    if reader.wait()?.success() { Ok(()) } else { Err("the reader failed".into()) }
}

fn read(folder: &str) -> Result<(), Box<dyn Error>> {
    let reader = Reader::open(folder)?;
    while reader.snapshot().len() < BATCHES {
        if reader.refresh()? {
            eprintln!("the reader sees {} vectors", reader.snapshot().len());
        }
        sleep(Duration::from_millis(1));
    }
    Ok(())
}
