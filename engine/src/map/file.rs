//! A map, and the file that keeps it.
//!
//! # The file on one page
//!
//! `map/places` is derived: it may be deleted at any time, and then there is no map until one is made again. It is replaced
//! atomically. Integers and floats are little-endian.
//!
//! | bytes | content |
//! |---|---|
//! | 4 | `MMRP` |
//! | u32 | the version of this format: 1 |
//! | u32 | the generation: grows with each file |
//! | u32 | how many points: n |
//! | u32 | how many of them the layout had; the others were placed later |
//! | f32 | the width of the map, in units of the layout; positive |
//! | u32, u32 | how many bytes the next two have |
//! | UTF-8 | the lineage of the store, as in its indexes |
//! | UTF-8 | the identity of the model that made the vectors, as in the vector index |
//! | u32 × n | the ids of the records, ascending |
//! | u32 × n | the first four bytes of the SHA-256 of each embedded text: another one says that the text has changed. All bits are turned where it has, and waits for its vector |
//! | u16 × n, u16 × n | x; y: 0 to 65535, both in the same unit |
//! | u8 × n | 1 where a point was placed after the layout, else 0 |
//! | u32 | CRC-32 of all before |
//!
//! A file of another lineage or that is damaged is as good as none; one of another model is good for a start of the next
//! layout. A record with an id beyond 32 bits is on no map.
//!
//! `map/lock` is locked by the one process that makes a map or places new points. It is empty, and never deleted.

use std::path::Path;

use crate::error::{Error, Result};
use crate::files::private_folders;

const MAGIC: [u8; 4] = *b"MMRP";
const VERSION: u32 = 1;
/// Bytes before the two texts.
const HEADER: usize = 32;
/// Bytes of each point.
const OF_A_POINT: usize = 13;

/// The place of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Point {
    /// The record.
    pub id: u32,
    /// The beginning of the hash of the text that was placed.
    pub text: u32,
    /// From the left.
    pub x: u16,
    /// From the top.
    pub y: u16,
    /// Whether it was placed after the layout.
    pub is_later: bool,
}

/// The places of records.
#[derive(Debug, Clone, PartialEq)]
pub struct Map {
    /// Grows with each file.
    pub generation: u32,
    /// The lineage of its store.
    pub lineage: String,
    /// The identity of the model that made its vectors.
    pub model: String,
    /// How many points the layout had.
    pub laid_out: u32,
    /// Its width, in units of the layout.
    pub width: f32,
    /// By id, ascending.
    pub points: Vec<Point>,
}

impl Map {
    /// The position of a record among the points.
    pub fn row(&self, id: u32) -> Option<usize> {
        self.points.binary_search_by_key(&id, |point| point.id).ok()
    }

    /// The bytes of its file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let texts = self.lineage.len() + self.model.len();
        let mut bytes = Vec::with_capacity(HEADER + texts + self.points.len() * OF_A_POINT + 4);
        bytes.extend(MAGIC);
        let lengths = [self.lineage.len() as u32, self.model.len() as u32];
        let numbers = [VERSION, self.generation, self.points.len() as u32, self.laid_out, self.width.to_bits()];
        bytes.extend(numbers.into_iter().chain(lengths).flat_map(u32::to_le_bytes));
        bytes.extend(self.lineage.bytes().chain(self.model.bytes()));
        bytes.extend(self.points.iter().flat_map(|point| point.id.to_le_bytes()));
        bytes.extend(self.points.iter().flat_map(|point| point.text.to_le_bytes()));
        bytes.extend(self.points.iter().flat_map(|point| point.x.to_le_bytes()));
        bytes.extend(self.points.iter().flat_map(|point| point.y.to_le_bytes()));
        bytes.extend(self.points.iter().map(|point| u8::from(point.is_later)));
        bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        bytes
    }

    /// The map that these bytes are.
    ///
    /// # Errors
    /// The reason why they cannot be read.
    pub fn from_bytes(bytes: &[u8]) -> Result<Map, &'static str> {
        let (body, checksum) = bytes.split_last_chunk::<4>().ok_or("it is cut short")?;
        let mut rest = ByteReader(body);
        if rest.take(4)? != MAGIC {
            return Err("it is not a map");
        }
        if rest.number()? != VERSION {
            return Err("it is of another version of memorist");
        }
        if crc32fast::hash(body) != u32::from_le_bytes(*checksum) {
            return Err("its checksum is wrong");
        }
        let (generation, count, laid_out) = (rest.number()?, rest.number()? as usize, rest.number()?);
        let width = f32::from_bits(rest.number()?);
        let (lineage, model) = (rest.number()? as usize, rest.number()? as usize);
        let (lineage, model) = (rest.text(lineage)?, rest.text(model)?);
        if rest.0.len() as u64 != count as u64 * OF_A_POINT as u64 {
            return Err("its length is wrong");
        }
        let (ids, texts) = (rest.take(count * 4)?, rest.take(count * 4)?);
        let (xs, ys, later) = (rest.take(count * 2)?, rest.take(count * 2)?, rest.0);
        let four = |bytes: &[u8], at: usize| u32::from_le_bytes(bytes.as_chunks().0[at]);
        let two = |bytes: &[u8], at: usize| u16::from_le_bytes(bytes.as_chunks().0[at]);
        let point = |at| Point {
            id: four(ids, at),
            text: four(texts, at),
            x: two(xs, at),
            y: two(ys, at),
            is_later: later[at] == 1,
        };
        let points: Vec<Point> = (0..count).map(point).collect();
        let is_sound = points.is_sorted_by(|a, b| a.id < b.id)
            && later.iter().all(|flag| *flag <= 1)
            && laid_out as usize <= count
            && width.is_finite()
            && width > 0.0;
        is_sound.then_some(Map { generation, lineage, model, laid_out, width, points }).ok_or("it contradicts itself")
    }

    /// The map in this file, if there is a file.
    ///
    /// # Errors
    /// [`Error::Io`] if it cannot be read; what is wrong with it in the inner result.
    pub fn read(path: &Path) -> Result<Option<Result<Map, &'static str>>> {
        match std::fs::read(path) {
            Ok(bytes) => Ok(Some(Map::from_bytes(&bytes))),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::io(path, error)),
        }
    }

    /// Replaces the file. The caller has the lock.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn write(&self, path: &Path) -> Result<()> {
        let folder = memorist_durable::folder_of(path);
        private_folders().create(folder).map_err(|error| Error::io(folder, error))?;
        memorist_durable::replace(path, &self.to_bytes()).map_err(|error| Error::io(path, error.into()))
    }
}

/// Bytes that are read from the front.
struct ByteReader<'a>(&'a [u8]);

impl<'a> ByteReader<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], &'static str> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or("it is cut short")?;
        self.0 = rest;
        Ok(taken)
    }

    fn number(&mut self) -> Result<u32, &'static str> {
        Ok(u32::from_le_bytes(self.take(4)?.as_chunks().0[0]))
    }

    fn text(&mut self, length: usize) -> Result<String, &'static str> {
        let text = str::from_utf8(self.take(length)?).map_err(|_| "it does not name its source")?;
        Ok(text.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Map {
        let point = |id, text, x, y, is_later| Point { id, text, x, y, is_later };
        Map {
            generation: 7,
            lineage: "01STORE".into(),
            model: "abc|mean|8".into(),
            laid_out: 1,
            width: 21.5,
            points: vec![point(3, 0x0403_0201, 0, 65_535, false), point(0x1_0000, 9, 258, 1, true)],
        }
    }

    /// The bytes of version 1, so that a change of the format is noticed.
    const GOLDEN: &[u8] = b"MMRP\x01\0\0\0\x07\0\0\0\x02\0\0\0\x01\0\0\0\0\0\xac\x41\x07\0\0\0\x0a\0\0\0\
        01STOREabc|mean|8\x03\0\0\0\0\0\x01\0\x01\x02\x03\x04\x09\0\0\0\0\0\x02\x01\xff\xff\x01\0\0\x01";

    #[test]
    fn the_bytes_are_those_of_the_page() {
        let bytes = example().to_bytes();
        assert_eq!(bytes[..bytes.len() - 4], *GOLDEN);
        assert_eq!(bytes[bytes.len() - 4..], crc32fast::hash(GOLDEN).to_le_bytes());
        assert_eq!(Map::from_bytes(&bytes), Ok(example()));
        let empty = Map { points: Vec::new(), laid_out: 0, ..example() };
        assert_eq!(Map::from_bytes(&empty.to_bytes()), Ok(empty));
    }

    #[test]
    fn every_changed_byte_and_every_cut_is_noticed() {
        let bytes = example().to_bytes();
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 0x10;
            Map::from_bytes(&changed).unwrap_err();
            Map::from_bytes(&bytes[..at]).unwrap_err();
        }
        Map::from_bytes(&[&bytes[..], b"x"].concat()).unwrap_err();
    }

    #[test]
    fn an_inconsistent_map_is_rejected_despite_its_checksum() {
        let broken = |break_it: fn(&mut Map)| {
            let mut map = example();
            break_it(&mut map);
            Map::from_bytes(&map.to_bytes())
        };
        assert_eq!(broken(|map| map.points.reverse()), Err("it contradicts itself"));
        assert_eq!(broken(|map| map.points[0].id = 0x1_0000), Err("it contradicts itself"));
        assert_eq!(broken(|map| map.laid_out = 3), Err("it contradicts itself"));
        for width in [0.0, -1.0, f32::NAN, f32::INFINITY] {
            let map = Map { width, ..example() };
            assert_eq!(Map::from_bytes(&map.to_bytes()), Err("it contradicts itself"), "{width}");
        }
    }

    #[test]
    fn a_file_is_replaced_and_a_missing_one_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("map/places");
        assert!(Map::read(&path).unwrap().is_none());
        for generation in [1, 2] {
            let map = Map { generation, ..example() };
            map.write(&path).unwrap();
            assert_eq!(Map::read(&path).unwrap(), Some(Ok(map)));
        }
    }
}
