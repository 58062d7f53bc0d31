//! Builds an index and searches it, with recall as the setting.
//!
//! Run: `cargo run --release -p memorist-index --example search`

use std::error::Error;
use std::ops::ControlFlow;

use bench_data::vectors::{Shape, queries_for, vectors};
use memorist_index::{Effort, Filter, IndexOptions, Reader, SearchParams, Writer};

const DIMS: usize = 64;
const COUNT: usize = 5_000;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let rows: Vec<Vec<f32>> = vectors(Shape::Realistic, 42, COUNT, DIMS).collect();
    let batch: Vec<(u64, &[f32])> = (0..).zip(rows.iter().map(Vec::as_slice)).collect();
    let mut writer = Writer::create(folder.path(), IndexOptions::new(DIMS), b"")?;
    writer.apply(&batch, &[], b"")?;
    // Returns whether there is more to do.
    while writer.maintain(&|_| ControlFlow::Continue(()))? {}

    let snapshot = Reader::open(folder.path())?.snapshot();
    let search = |query: &[f32], effort| snapshot.search(query, &SearchParams { k: 10, effort }, Filter::All);
    for recall in [0.9, 0.99] {
        let (mut found, mut wanted) = (0, 0);
        for query in queries_for(Shape::Realistic, 42, COUNT, DIMS, 100) {
            let truth: Vec<u64> = search(&query, Effort::Exact)?.iter().map(|hit| hit.key).collect();
            found += search(&query, Effort::Recall(recall))?.iter().filter(|hit| truth.contains(&hit.key)).count();
            wanted += truth.len();
        }
        let share = found as f32 / wanted as f32;
        eprintln!("wanted a recall of {recall}, found {share:.3}");
        assert!(share > recall - 0.05);
    }
    Ok(())
}
