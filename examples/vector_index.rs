//! The vector index alone: vectors and keys in a memory-mapped folder, without records or words.
//!
//! Run: `cargo run --release --example vector_index`

use std::error::Error;
use std::ops::ControlFlow;

use bench_data::vectors::{Shape, vectors};
use memorist_index::{Filter, IndexOptions, Reader, SearchParams, Writer};

const DIMS: usize = 64;
const COUNT: usize = 5_000;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let vectors: Vec<Vec<f32>> = vectors(Shape::Realistic, 42, COUNT, DIMS).collect();
    let batch: Vec<(u64, &[f32])> = (1..).zip(vectors.iter().map(Vec::as_slice)).collect();

    // One writer. The payload is yours: it becomes durable together with the batch.
    let mut writer = Writer::create(folder.path(), IndexOptions::new(DIMS), b"batch 0")?;
    writer.apply(&batch, &[], b"batch 1")?;
    // Merges small segments into one with a graph.
    writer.maintain(&|_| ControlFlow::Continue(()))?;
    writer.apply(&[], &[7], b"batch 2")?;

    // Any number of readers, also in other processes. A snapshot never changes.
    let reader = Reader::open(folder.path())?;
    let snapshot = reader.snapshot();
    assert_eq!((snapshot.len(), snapshot.payload()), (COUNT - 1, &b"batch 2"[..]));
    for hit in snapshot.search(batch[100].1, &SearchParams::new(3), Filter::All)? {
        eprintln!("key {:>4}  cosine {:.3}", hit.key, hit.score);
    }
    assert_eq!(snapshot.search(batch[100].1, &SearchParams::new(1), Filter::All)?[0].key, 101);
    Ok(())
}
