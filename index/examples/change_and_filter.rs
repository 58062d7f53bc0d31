//! Changes and deletes vectors, and searches among some keys alone.
//!
//! Run: `cargo run --release -p memorist-index --example change_and_filter`

use std::collections::BTreeSet;
use std::error::Error;

use memorist_index::{Filter, IndexOptions, SearchParams, Writer};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let mut writer = Writer::create(folder.path(), IndexOptions::new(2), b"")?;
    writer.apply(&[(1, &[1.0, 0.0]), (2, &[0.8, 0.6]), (3, &[0.0, 1.0])], &[], b"three")?;
    // In one step, all or nothing: 1 points elsewhere now, and 3 is gone.
    writer.apply(&[(1, &[-1.0, 0.0])], &[3], b"two")?;

    let snapshot = writer.snapshot();
    let keys = |filter: Filter<'_>| -> Result<Vec<u64>, Box<dyn Error>> {
        let hits = snapshot.search(&[1.0, 0.0], &SearchParams::new(10), filter)?;
        Ok(hits.iter().map(|hit| hit.key).collect())
    };
    let some = BTreeSet::from([1, 3]);
    assert_eq!(keys(Filter::All)?, [2, 1]);
    assert_eq!(keys(Filter::Only(&some))?, [1]);
    assert_eq!(keys(Filter::Except(&some))?, [2]);
    eprintln!("{} vectors, {:?}", snapshot.len(), String::from_utf8_lossy(snapshot.payload()));
    Ok(())
}
