//! Writes the small index that `tests/suite/compatibility.rs` reads, in the format of today, into a new folder:
//! `cargo run -p memorist-index --example write_fixture -- index/tests/fixtures/format-vN`. Version 3 is a standard index,
//! version 4 a compact one: `... format-v4 compact`.

use std::error::Error;
use std::ops::ControlFlow;

use memorist_index::{IndexOptions, Layout, Writer};

const DIMS: u64 = 8;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).ok_or("the folder is missing")?;
    let vectors: Vec<Vec<f32>> = (0..60u64)
        .map(|row| (0..DIMS).map(|i| ((row * 31 + i * 17 + row * i * 7) % 101) as f32 - 50.0).collect())
        .collect();
    let rows: Vec<(u64, &[f32])> = (0..).step_by(3).zip(vectors.iter().map(Vec::as_slice)).collect();
    let mut options = IndexOptions::new(DIMS as usize);
    let is_compact = std::env::args().nth(2).is_some_and(|layout| layout == "compact");
    options.layout = if is_compact { Layout::Compact } else { Layout::Standard };
    options.flat_limit = 40;
    options.m = 4;
    let mut writer = Writer::create(folder, options, b"")?;
    writer.apply(&rows[..50], &[], b"")?;
    writer.maintain(&|_| ControlFlow::Continue(()))?;
    let deleted: Vec<u64> = (5..60).step_by(10).map(|row| row * 3).collect();
    writer.apply(&rows[50..], &[], b"")?;
    writer.apply(&[], &deleted, if is_compact { b"format 4" } else { b"format 3" })?;
    Ok(())
}
