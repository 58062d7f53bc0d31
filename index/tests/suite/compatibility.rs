//! Files of the present versions can be read; older and later ones are refused with the way out.
//!
//! `fixtures/format-v1` and the others were each written by the example `write_fixture` of its time.

use std::ffi::OsStr;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use memorist_index::{FORMAT_VERSION, Filter, IndexOptions, Layout, OpenError, Reader, SearchParams, Writer};
use tempfile::TempDir;

use crate::support::{cosine, files, tolerance};

const DIMS: usize = 8;
const COUNT: u64 = 60;

fn fixture(version: u32) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fixtures/format-v{version}"))
}

/// The vectors of the fixture; its keys are three times these rows. The rows 5, 15, 25 ... were deleted.
fn vector(row: u64) -> Vec<f32> {
    (0..DIMS as u64).map(|i| ((row * 31 + i * 17 + row * i * 7) % 101) as f32 - 50.0).collect()
}

in_both_layouts!(each_present_version_is_read, an_index_keeps_its_layout_whatever_the_options_say);

/// The version of a layout.
fn version(layout: Layout) -> u32 {
    if layout == Layout::Compact { FORMAT_VERSION } else { FORMAT_VERSION - 1 }
}

fn each_present_version_is_read(layout: Layout) {
    let version = version(layout);
    let snapshot = Reader::open(fixture(version)).unwrap().snapshot();
    assert_eq!(snapshot.verify(), []);
    assert_eq!((snapshot.layout(), snapshot.payload()), (layout, format!("format {version}").as_bytes()));
    assert_eq!((snapshot.dims(), snapshot.len(), snapshot.segment_count()), (DIMS, 54, 2));
    let live: Vec<u64> = (0..COUNT).filter(|row| row % 10 != 5).collect();
    for row in 0..COUNT {
        let query = vector(row);
        let mut exact: Vec<(u64, f64)> = live.iter().map(|&row| (row * 3, cosine(&query, &vector(row)))).collect();
        exact.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let hits = snapshot.search(&query, &SearchParams::new(10), Filter::All).unwrap();
        assert_eq!(hits.len(), 10);
        for (hit, (_, score)) in hits.iter().zip(exact) {
            let own = cosine(&query, &vector(hit.key / 3));
            let off = [(f64::from(hit.score) - own).abs(), (own - score).abs()];
            assert!(off.iter().all(|&off| off < tolerance(layout)), "{hit:?} for {score}");
        }
    }
}

#[test]
fn earlier_versions_are_refused_with_the_way_out() {
    for version in 1..FORMAT_VERSION - 1 {
        let error = Reader::open(fixture(version)).unwrap_err();
        assert!(matches!(error, OpenError::Version { found, .. } if found == version), "{error}");
        assert!(error.to_string().contains("rebuild the index"), "{error}");
    }
}

/// A copy of the fixture of a version in which some files say that they are of another one.
fn relabelled(version: u32, other: u32, is_relabelled: impl Fn(&OsStr) -> bool) -> TempDir {
    let copy = tempfile::tempdir().unwrap();
    for file in fs::read_dir(fixture(version)).unwrap().map(Result::unwrap) {
        let mut bytes = fs::read(file.path()).unwrap();
        if is_relabelled(&file.file_name()) {
            bytes[8..12].copy_from_slice(&other.to_le_bytes());
        }
        fs::write(copy.path().join(file.file_name()), bytes).unwrap();
    }
    copy
}

#[test]
fn a_later_version_is_refused_with_the_way_out() {
    for version in [FORMAT_VERSION - 1, FORMAT_VERSION] {
        for file in fs::read_dir(fixture(version)).unwrap().map(|file| file.unwrap().file_name()) {
            let copy = relabelled(version, FORMAT_VERSION + 1, |name| name == file);
            let error = Reader::open(copy.path()).unwrap_err();
            assert!(
                matches!(&error, OpenError::Version { found, supported, .. } if *found == supported.end() + 1),
                "{file:?}: {error}"
            );
            assert!(
                error.to_string().contains("reads 3 to 4") && error.to_string().contains("rebuild the index"),
                "{error}"
            );
        }
    }
}

/// Each layout has a version of its own, and all files of an index are of one layout.
#[test]
fn an_index_is_not_read_in_the_other_layout() {
    for (version, other) in [(FORMAT_VERSION - 1, FORMAT_VERSION), (FORMAT_VERSION, FORMAT_VERSION - 1)] {
        let is_manifest = |name: &OsStr| name == "manifest";
        for copy in [relabelled(version, other, is_manifest), relabelled(version, other, |name| !is_manifest(name))] {
            let error = Reader::open(copy.path()).unwrap_err();
            assert!(matches!(error, OpenError::Damaged { .. }), "{error}");
        }
    }
}

fn an_index_keeps_its_layout_whatever_the_options_say(layout: Layout) {
    let folder = tempfile::tempdir().unwrap();
    let other = if layout == Layout::Compact { Layout::Standard } else { Layout::Compact };
    let options = |layout: Layout| {
        let mut options = IndexOptions::new(DIMS);
        (options.layout, options.flat_limit) = (layout, 20);
        options
    };
    drop(Writer::create(folder.path(), options(layout), b"").unwrap());
    let rows: Vec<Vec<f32>> = (0..COUNT).map(vector).collect();
    let rows: Vec<(u64, &[f32])> = (0..).zip(rows.iter().map(Vec::as_slice)).collect();
    for rows in rows.chunks(20) {
        let mut writer = Writer::open(folder.path(), options(other)).unwrap();
        writer.apply(rows, &[], b"").unwrap();
        writer.maintain(&|_| ControlFlow::Continue(())).unwrap();
        assert_eq!(writer.snapshot().layout(), layout);
    }
    let snapshot = Reader::open(folder.path()).unwrap().snapshot();
    assert_eq!((snapshot.layout(), snapshot.segment_count(), snapshot.verify()), (layout, 1, vec![]));
    for file in files(folder.path()) {
        assert_eq!(fs::read(folder.path().join(&file)).unwrap()[8..12], version(layout).to_le_bytes(), "{file}");
    }
}
