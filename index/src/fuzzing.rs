//! Entry points of the fuzz targets: any bytes of a file are refused with an error, or are used without harm.

use std::collections::BTreeSet;
use std::path::Path;

use roaring::RoaringBitmap;

use crate::efforts::{Efforts, TARGETS};
use crate::format::layout::{HEADER_LEN, Header};
use crate::format::manifest::{Manifest, SegmentEntry};
use crate::format::names;
use crate::{Effort, Filter, Reader, SearchParams};

/// Bytes as a manifest: what is read is written and read again as the same. Returns whether it could be read.
///
/// # Panics
/// When it is not.
pub fn manifest(bytes: &[u8]) -> bool {
    let mut is_read = false;
    let path = Path::new("manifest");
    // A checksum is not guessed: what is behind it is read with the right one too.
    for bytes in [bytes.to_vec(), Manifest::with_checksum(bytes.to_vec())] {
        if let Ok(manifest) = Manifest::decode(&bytes, path) {
            let written = manifest.encode().expect("what was read can be written");
            assert_eq!(Manifest::decode(&written, path).expect("what was written can be read"), manifest);
            is_read = true;
        }
    }
    is_read
}

/// Bytes as the one segment of an index in `folder`: it is searched and verified, if it can be opened. Returns
/// whether it could.
///
/// # Panics
/// When the folder cannot be written, or a search returns what it should not.
pub fn segment(bytes: &[u8], folder: &Path) -> bool {
    let mut bytes = bytes.to_vec();
    if let Some((checked, rest)) = bytes.split_at_mut_checked(HEADER_LEN - size_of::<u32>())
        && let Some(checksum) = rest.first_chunk_mut()
    {
        *checksum = crc32fast::hash(checked).to_le_bytes();
    }
    let Ok((header, header_checksum)) = Header::decode(&bytes) else { return false };
    let (count, dims) = (header.shape.count, header.shape.dims as usize);
    let tombstones: RoaringBitmap = (0..count.min(9)).step_by(4).collect();
    let file_len = bytes.len() as u64;
    let efforts = Efforts([10; TARGETS.len()]);
    let segments = vec![SegmentEntry { number: 1, file_len, count, header_checksum, efforts, tombstones }];
    let manifest =
        Manifest { layout: header.shape.layout, dims, generation: 1, next_segment: 2, payload: Vec::new(), segments };
    // What is mapped is never changed: a new file each time.
    let file = names::segment(folder, 1);
    let _ = std::fs::remove_file(&file);
    std::fs::write(file, bytes).expect("a folder that can be written");
    let manifest = manifest.encode().expect("a sound manifest");
    std::fs::write(names::manifest(folder), manifest).expect("a folder that can be written");

    let Ok(reader) = Reader::open(folder) else { return false };
    let snapshot = reader.snapshot();
    let some: BTreeSet<u64> = (0..500).step_by(3).collect();
    let query: Vec<f32> = (0..dims).map(|number| (number % 7) as f32 - 2.5).collect();
    let efforts = [Effort::Ef(1), Effort::Ef(3), Effort::BALANCED, Effort::HIGH, Effort::Exact];
    for (k, effort) in [1, 3, 10, 1_000, 5].into_iter().zip(efforts) {
        for filter in [Filter::All, Filter::Only(&some), Filter::Except(&some)] {
            let hits = snapshot.search(&query, &SearchParams { k, effort }, filter).expect("a sound query");
            assert!(hits.len() <= k && hits.iter().all(|hit| filter.allows(hit.key)));
        }
    }
    snapshot.scores(&query, &[0, 3, 174, u64::MAX]).expect("a sound query");
    snapshot.verify();
    true
}
