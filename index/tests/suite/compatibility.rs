//! Files of the present version can be read; older and later ones are refused with the way out.
//!
//! `fixtures/format-v1` and the others were each written by the example `write_fixture` of its time.

use std::fs;
use std::path::{Path, PathBuf};

use memorist_index::{FORMAT_VERSION, Filter, OpenError, Reader, SearchParams};

use crate::support::cosine;

const DIMS: usize = 8;
const COUNT: u64 = 60;

fn fixture(version: u32) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fixtures/format-v{version}"))
}

/// The vectors of the fixture; its keys are three times these rows. The rows 5, 15, 25 ... were deleted.
fn vector(row: u64) -> Vec<f32> {
    (0..DIMS as u64).map(|i| ((row * 31 + i * 17 + row * i * 7) % 101) as f32 - 50.0).collect()
}

#[test]
fn version_3_is_read() {
    let snapshot = Reader::open(fixture(3)).unwrap().snapshot();
    assert_eq!(snapshot.verify(), []);
    assert_eq!(snapshot.payload(), b"format 3");
    assert_eq!((snapshot.dims(), snapshot.len(), snapshot.segment_count()), (DIMS, 54, 2));
    let live: Vec<u64> = (0..COUNT).filter(|row| row % 10 != 5).collect();
    for row in 0..COUNT {
        let query = vector(row);
        let mut exact: Vec<(u64, f64)> = live.iter().map(|&row| (row * 3, cosine(&query, &vector(row)))).collect();
        exact.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let hits = snapshot.search(&query, &SearchParams::new(10), Filter::All).unwrap();
        assert!(hits.iter().map(|hit| hit.key).eq(exact[..10].iter().map(|&(key, _)| key)), "{hits:?} for {exact:?}");
        for (hit, (_, score)) in hits.iter().zip(exact) {
            assert!((f64::from(hit.score) - score).abs() < 2e-5);
        }
    }
}

#[test]
fn earlier_versions_are_refused_with_the_way_out() {
    for version in 1..FORMAT_VERSION {
        let error = Reader::open(fixture(version)).unwrap_err();
        assert!(matches!(error, OpenError::Version { found, .. } if found == version), "{error}");
        assert!(error.to_string().contains("rebuild the index"), "{error}");
    }
}

#[test]
fn a_later_version_is_refused_with_the_way_out() {
    for file in fs::read_dir(fixture(FORMAT_VERSION)).unwrap().map(|file| file.unwrap().file_name()) {
        let copy = tempfile::tempdir().unwrap();
        for other in fs::read_dir(fixture(FORMAT_VERSION)).unwrap().map(Result::unwrap) {
            let mut bytes = fs::read(other.path()).unwrap();
            if other.file_name() == file {
                bytes[8..12].copy_from_slice(&(FORMAT_VERSION + 1).to_le_bytes());
            }
            fs::write(copy.path().join(other.file_name()), bytes).unwrap();
        }
        let error = Reader::open(copy.path()).unwrap_err();
        assert!(
            matches!(error, OpenError::Version { found, supported, .. } if found == supported + 1),
            "{file:?}: {error}"
        );
        assert!(error.to_string().contains("rebuild the index"), "{error}");
    }
}
