//! Does the work of `benches/as_fast_as_rust.py` in Rust: prints the seconds that it took, and those of processors.
//!
//!     same_work index|store VECTORS DIMS FOLDER
//!
//! `VECTORS` is a file of `f32`, little-endian, row by row; `FOLDER` is made.

use std::error::Error;
use std::io::Write as _;
use std::ops::ControlFlow;
use std::time::Instant;

use memorist_engine::Engine;
use memorist_engine::config::Config;
use memorist_engine::types::{Model, NewRecord};
use memorist_index::{IndexOptions, Writer};

/// Records of one transaction, as in `memorist/store.py`.
const BATCH: usize = 2_000;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [what, file, dims, folder] = &words[..] else { return Err("index|store VECTORS DIMS FOLDER".into()) };
    let dims: usize = dims.parse()?;
    let bytes = std::fs::read(file)?;
    let numbers: Vec<f32> = bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
    let rows: Vec<&[f32]> = numbers.chunks_exact(dims).collect();
    let began = (Instant::now(), processor_seconds());
    let took = || (began.0.elapsed().as_secs_f64(), processor_seconds() - began.1);
    let (wall, processor) = match what.as_str() {
        "index" => {
            let mut writer = Writer::create(folder, IndexOptions::new(dims), b"")?;
            let batch: Vec<(u64, &[f32])> = (0..).zip(rows.iter().copied()).collect();
            writer.apply(&batch, &[], b"")?;
            while writer.maintain(&|_| ControlFlow::Continue(()))? {}
            took()
        }
        _ => {
            let engine = Engine::open(folder, Config::without_model())?;
            let weights_sha256 = memorist_engine::text::content_hash("the program's own");
            engine.adopt_model(&Model { name: "own".into(), weights_sha256, pooling: "own".into(), dims })?;
            for (at, batch) in rows.chunks(BATCH).enumerate() {
                let first = at * BATCH;
                let new: Vec<_> =
                    (first..first + batch.len()).map(|at| NewRecord::new(format!("text number {at}"))).collect();
                for outcome in engine.add_batch_with(&new, batch)? {
                    outcome?;
                }
            }
            let took = took();
            engine.close();
            took
        }
    };
    // The only line.
    writeln!(std::io::stdout(), "{wall} {processor}")?;
    Ok(())
}

/// Seconds of its processors that this process has used, to a hundredth; 0 where the system does not say.
fn processor_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks = after_name.split_whitespace().skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok());
    ticks.sum::<f64>() / 100.0
}
