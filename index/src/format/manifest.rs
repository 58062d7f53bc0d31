//! The manifest: what is in the index, the caller's payload, and the tombstones.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use roaring::RoaringBitmap;

use super::bytes::{Cursor, Put};
use super::{MAX_COUNT, VERSIONS, layout_of, names, version_of};
use crate::bounds::{MAX_DIMS, MAX_PAYLOAD};
use crate::efforts::{Efforts, TARGETS};
use crate::error::OpenError;
use crate::layout::Layout;

const MAGIC: &[u8; 8] = b"MEMIXMAN";
const CHECKSUM_OFFSET: usize = MAGIC.len() + size_of::<u32>();
const CHECKED_FROM: usize = CHECKSUM_OFFSET + size_of::<u32>();
const HEADER_LEN: usize = 64;
const HEADER_ZEROS: usize = 12;

/// The manifest's entry of one segment.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SegmentEntry {
    pub(crate) number: u64,
    pub(crate) file_len: u64,
    pub(crate) count: u32,
    pub(crate) header_checksum: u32,
    pub(crate) efforts: Efforts,
    pub(crate) tombstones: RoaringBitmap,
}

/// The content of a manifest, which describes an index.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Manifest {
    pub(crate) layout: Layout,
    pub(crate) dims: usize,
    pub(crate) generation: u64,
    pub(crate) next_segment: u64,
    pub(crate) payload: Vec<u8>,
    pub(crate) segments: Vec<SegmentEntry>,
}

/// The first bytes of a manifest. Two manifests of a folder that have the same are the same: they hold the
/// generation and the checksum of all the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ManifestHeader([u8; HEADER_LEN]);

impl ManifestHeader {
    /// Reads that of the manifest that is published now. Of a file that is too short, what it lacks counts as zeros.
    pub(crate) fn read(folder: &Path) -> Result<Self, OpenError> {
        let path = names::manifest(folder);
        let mut file = open(&path)?;
        let mut bytes = Vec::with_capacity(HEADER_LEN);
        file.by_ref().take(HEADER_LEN as u64).read_to_end(&mut bytes).map_err(OpenError::io(&path))?;
        Ok(Self::of(&bytes))
    }

    fn of(bytes: &[u8]) -> Self {
        let mut header = [0; HEADER_LEN];
        let len = bytes.len().min(HEADER_LEN);
        header[..len].copy_from_slice(&bytes[..len]);
        Self(header)
    }
}

fn open(path: &Path) -> Result<File, OpenError> {
    File::open(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => OpenError::Missing { path: path.to_owned() },
        _ => OpenError::io(path)(error),
    })
}

impl Manifest {
    /// Reads the manifest that is published now.
    pub(crate) fn read(folder: &Path) -> Result<(Self, ManifestHeader), OpenError> {
        let path = names::manifest(folder);
        let mut bytes = Vec::new();
        open(&path)?.read_to_end(&mut bytes).map_err(OpenError::io(&path))?;
        Ok((Self::decode(&bytes, &path)?, ManifestHeader::of(&bytes)))
    }

    /// The bytes of the file.
    pub(crate) fn encode(&self) -> io::Result<Vec<u8>> {
        let number = |value: usize| u32::try_from(value).map_err(io::Error::other);
        let mut bytes = Vec::new();
        bytes.extend_from_slice(MAGIC);
        bytes.put_u32(version_of(self.layout));
        bytes.put_zeros(size_of::<u32>() + size_of::<u64>());
        bytes.put_u64(self.generation);
        bytes.put_u64(self.next_segment);
        bytes.put_u32(number(self.dims)?);
        bytes.put_u32(number(self.payload.len())?);
        bytes.put_u32(number(self.segments.len())?);
        bytes.put_zeros(HEADER_ZEROS);
        bytes.extend_from_slice(&self.payload);
        for segment in &self.segments {
            bytes.put_u64(segment.number);
            bytes.put_u64(segment.file_len);
            bytes.put_u32(segment.count);
            bytes.put_u32(segment.header_checksum);
            bytes.put_u32(number(segment.tombstones.serialized_size())?);
            bytes.put_zeros(size_of::<u32>());
            segment.efforts.0.iter().for_each(|&ef| bytes.put_u32(ef));
            segment.tombstones.serialize_into(&mut bytes)?;
        }
        Ok(Self::with_checksum(bytes))
    }

    /// Puts the length and the checksum of the bytes into their places, if they reach that far.
    pub(crate) fn with_checksum(mut bytes: Vec<u8>) -> Vec<u8> {
        let len = bytes.len() as u64;
        if let Some((start, checked)) = bytes.split_at_mut_checked(CHECKED_FROM)
            && let Some(length) = checked.first_chunk_mut()
        {
            *length = len.to_le_bytes();
            start[CHECKSUM_OFFSET..].copy_from_slice(&crc32fast::hash(checked).to_le_bytes());
        }
        bytes
    }

    pub(crate) fn decode(bytes: &[u8], path: &Path) -> Result<Self, OpenError> {
        let damaged = |why: &str| OpenError::damaged(path, why);
        let mut cursor = Cursor(bytes);
        if cursor.take(MAGIC.len()) != Some(MAGIC) {
            return Err(OpenError::NotAnIndex { path: path.to_owned() });
        }
        let version = cursor.u32().ok_or_else(|| damaged("it ends within its header"))?;
        let refused = || OpenError::Version { path: path.to_owned(), found: version, supported: VERSIONS };
        let layout = layout_of(version).ok_or_else(refused)?;
        let checksum = cursor.u32().ok_or_else(|| damaged("it ends within its header"))?;
        if crc32fast::hash(cursor.0) != checksum {
            return Err(damaged("it does not match its checksum"));
        }
        // From here on only a faulty writer can be at fault.
        if cursor.u64() != Some(bytes.len() as u64) {
            return Err(damaged("its length is not what it says"));
        }
        Self::decode_checked(cursor, layout)
            .ok_or_else(|| damaged("its checksum is right, but its content is impossible"))
    }

    fn decode_checked(mut cursor: Cursor<'_>, layout: Layout) -> Option<Self> {
        let generation = cursor.u64()?;
        let next_segment = cursor.u64()?;
        let dims = cursor.u32()? as usize;
        let payload_len = cursor.u32()? as usize;
        let segment_count = cursor.u32()?;
        cursor.zeros(HEADER_ZEROS)?;
        let is_used_up = generation == u64::MAX || next_segment == u64::MAX;
        if !(1..=MAX_DIMS).contains(&dims) || payload_len > MAX_PAYLOAD || is_used_up {
            return None;
        }
        let payload = cursor.take(payload_len)?.to_vec();
        let mut segments = Vec::new();
        for _ in 0..segment_count {
            let number = cursor.u64()?;
            let file_len = cursor.u64()?;
            let count = cursor.u32()?;
            let header_checksum = cursor.u32()?;
            let tombstones_len = cursor.u32()? as usize;
            cursor.zeros(size_of::<u32>())?;
            let mut efforts = Efforts([0; TARGETS.len()]);
            for ef in &mut efforts.0 {
                *ef = cursor.u32()?;
            }
            let tombstones = RoaringBitmap::deserialize_from(cursor.take(tombstones_len)?).ok()?;
            let is_sound = number < next_segment
                && (1..=MAX_COUNT as u32).contains(&count)
                && tombstones.max().is_none_or(|slot| slot < count);
            let entry = SegmentEntry { number, file_len, count, header_checksum, efforts, tombstones };
            segments.push(is_sound.then_some(entry)?);
        }
        cursor.0.is_empty().then_some(Self { layout, dims, generation, next_segment, payload, segments })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Manifest {
        let segment = |number, tombstones: &[u32]| SegmentEntry {
            number,
            file_len: 4096,
            count: 100,
            header_checksum: 77,
            efforts: Efforts([10, 12, 14, 20, 40, 80, 160, u32::MAX]),
            tombstones: tombstones.iter().copied().collect(),
        };
        Manifest {
            layout: Layout::Standard,
            dims: 384,
            generation: 9,
            next_segment: 5,
            payload: b"the caller's".to_vec(),
            segments: vec![segment(2, &[]), segment(4, &[0, 3, 99])],
        }
    }

    #[test]
    fn it_is_read_back() {
        let manifest = example();
        let bytes = manifest.encode().unwrap();
        assert_eq!(Manifest::decode(&bytes, Path::new("m")).unwrap(), manifest);
    }

    #[test]
    fn every_flipped_bit_and_every_truncation_is_noticed() {
        let bytes = example().encode().unwrap();
        for position in 0..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            flipped[position / 8] ^= 1 << (position % 8);
            assert!(Manifest::decode(&flipped, Path::new("m")).is_err(), "bit {position}");
        }
        for len in 0..bytes.len() {
            assert!(Manifest::decode(&bytes[..len], Path::new("m")).is_err(), "cut to {len}");
        }
    }

    #[test]
    fn invalid_content_with_a_valid_checksum_is_refused() {
        for change in [
            |m: &mut Manifest| m.dims = 0,
            |m: &mut Manifest| m.dims = MAX_DIMS + 1,
            |m: &mut Manifest| m.payload = vec![0; MAX_PAYLOAD + 1],
            |m: &mut Manifest| m.next_segment = 4,
            |m: &mut Manifest| m.segments[0].count = 0,
            |m: &mut Manifest| m.segments[0].tombstones.extend([100]),
        ] {
            let mut manifest = example();
            change(&mut manifest);
            let refused = Manifest::decode(&manifest.encode().unwrap(), Path::new("m"));
            assert!(matches!(refused, Err(OpenError::Damaged { .. })), "{refused:?}");
        }
    }
}
