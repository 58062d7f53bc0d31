//! The pages of an SQLite file, read without SQLite, which finds a row only by way of the pages above it.
//!
//! Implements only the parts of <https://www.sqlite.org/fileformat2.html> that a salvage needs. Nothing on a page is
//! trusted: every length and every page number is checked, and data that does not fit is ignored.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use rusqlite::types::Value;

/// The header of the file; the first page begins after it.
pub(super) const FILE_HEADER: usize = 100;
/// Maximum bytes of a row: a content has at most 1 MiB, a context 64 KiB.
const LONGEST_ROW: usize = 16 << 20;

/// All pages of a file that nobody writes. Page numbers begin at 1.
pub(super) struct Pages {
    file: File,
    /// Bytes of a page. None are reserved for extensions: if the header reserves some, it is damaged.
    size: usize,
    count: u32,
    free: HashSet<u32>,
    free_is_whole: bool,
}

/// The contents of a page of a b-tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    /// Rows of a table.
    Rows,
    /// Pointers to pages with rows.
    WayToRows,
    /// Entries of an index, or rows of a table without row ids.
    Keys,
    /// Entries of an index, and pointers to pages with more of them.
    KeysAndWay,
}

/// A page of a b-tree.
pub(super) struct BTreeNode {
    pub(super) holds: Holds,
    bytes: Vec<u8>,
    cells: Vec<usize>,
    /// The child after all cells.
    last_child: u32,
}

/// A row of a table, or an entry of an index.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PageRow {
    /// Its row id; 0 for an entry of an index.
    pub(super) id: i64,
    /// A text that is not UTF-8 is a blob here.
    pub(super) values: Vec<Value>,
    /// Whether all of its bytes were found.
    pub(super) whole: bool,
}

impl Pages {
    /// The pages of the file at `path`.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let mut header = [0; FILE_HEADER];
        file.read_exact(&mut header)?;
        let size = match u16_at(&header, 16) {
            Some(1) => 1 << 16,
            size => usize::from(size.unwrap_or(0)),
        };
        if size < 512 {
            return Err(io::Error::new(io::ErrorKind::InvalidData, format!("its pages have {size} bytes")));
        }
        let count = u32::try_from(file.metadata()?.len() / size as u64).unwrap_or(u32::MAX);
        let mut pages = Pages { file, size, count, free: HashSet::new(), free_is_whole: false };
        pages.free_is_whole = pages.follow_free_list(&header).is_some();
        Ok(pages)
    }

    /// The number of pages.
    pub(super) fn count(&self) -> u32 {
        self.count
    }

    /// Whether the page is on the list of free pages: its contents were deleted.
    pub(super) fn is_free(&self, number: u32) -> bool {
        self.free.contains(&number)
    }

    /// Whether every free page is known.
    pub(super) fn knows_all_free(&self) -> bool {
        self.free_is_whole
    }

    fn follow_free_list(&mut self, header: &[u8]) -> Option<()> {
        let (mut trunk, expected) = (u32_at(header, 32)?, u32_at(header, 36)?);
        while trunk != 0 {
            let page = self.page(trunk)?;
            let listed = u32_at(&page, 4)? as usize;
            let is_new = self.free.insert(trunk);
            let leaves = page.get(8..8 + listed.checked_mul(4).filter(|bytes| *bytes <= self.size - 8)?)?;
            let before = self.free.len();
            self.free.extend(leaves.chunks_exact(4).filter_map(|leaf| u32_at(leaf, 0)));
            if !is_new || self.free.len() - before != listed {
                return None; // one page twice
            }
            trunk = u32_at(&page, 0)?;
        }
        (self.free.len() == expected as usize).then_some(())
    }

    fn page(&self, number: u32) -> Option<Vec<u8>> {
        if !(1..=self.count).contains(&number) {
            return None;
        }
        let mut bytes = vec![0; self.size];
        let mut file = &self.file;
        file.seek(SeekFrom::Start(u64::from(number - 1) * self.size as u64)).ok()?;
        file.read_exact(&mut bytes).ok()?;
        Some(bytes)
    }

    /// The page as one of a b-tree, if it is one.
    pub(super) fn node(&self, number: u32) -> Option<BTreeNode> {
        let bytes = self.page(number)?;
        let start = if number == 1 { FILE_HEADER } else { 0 };
        let (holds, header) = match bytes.get(start)? {
            0x0D => (Holds::Rows, 8),
            0x05 => (Holds::WayToRows, 12),
            0x0A => (Holds::Keys, 8),
            0x02 => (Holds::KeysAndWay, 12),
            _ => return None,
        };
        let count = usize::from(u16_at(&bytes, start + 3)?);
        let pointers = bytes.get(start + header..start + header + 2 * count)?;
        let cells = pointers.chunks_exact(2).filter_map(|pointer| u16_at(pointer, 0)).map(usize::from).collect();
        let last_child = if header == 12 { u32_at(&bytes, start + 8)? } else { 0 };
        Some(BTreeNode { holds, bytes, cells, last_child })
    }

    /// The rows of a page that holds rows; `None` for one that makes no sense.
    pub(super) fn rows<'a>(&'a self, node: &'a BTreeNode) -> impl Iterator<Item = Option<PageRow>> + 'a {
        node.cells.iter().map(|cell| {
            let mut rest = node.bytes.get(*cell..self.size)?;
            let length = varint(&mut rest)?;
            let id = varint(&mut rest)?;
            self.row(id, length, rest, self.size - 35)
        })
    }

    /// The entries of a page of keys; `None` for one that makes no sense.
    pub(super) fn keys<'a>(&'a self, node: &'a BTreeNode) -> impl Iterator<Item = Option<PageRow>> + 'a {
        node.cells.iter().map(|cell| {
            let way = if node.holds == Holds::KeysAndWay { 4 } else { 0 };
            let mut rest = node.bytes.get(*cell + way..self.size)?;
            let length = varint(&mut rest)?;
            self.row(0, length, rest, (self.size - 12) * 64 / 255 - 23)
        })
    }

    /// A row of `length` bytes, of which a page has at most `most`; the rest is in a chain of other pages.
    fn row(&self, id: i64, length: i64, rest: &[u8], most: usize) -> Option<PageRow> {
        let length = usize::try_from(length).ok().filter(|length| *length <= LONGEST_ROW)?;
        if length <= most {
            return decode(id, rest.get(..length)?, length);
        }
        let least = (self.size - 12) * 32 / 255 - 23;
        let preferred = least + (length - least) % (self.size - 4);
        let here = if preferred <= most { preferred } else { least };
        let mut bytes = rest.get(..here)?.to_vec();
        let mut next = u32_at(rest, here)?;
        while bytes.len() < length {
            let Some(page) = self.page(next) else { break };
            let taken = (length - bytes.len()).min(self.size - 4);
            bytes.extend_from_slice(&page[4..4 + taken]);
            next = u32_at(&page, 0)?;
        }
        decode(id, &bytes, length)
    }
}

impl BTreeNode {
    /// The children on the way to rows, each with the largest row id below it, ascending; the last has none. `None` when
    /// they make no sense.
    pub(super) fn ways(&self) -> Option<(Vec<(u32, i64)>, u32)> {
        let way = |cell: &usize| {
            let child = u32_at(&self.bytes, *cell)?;
            Some((child, varint(&mut self.bytes.get(*cell + 4..)?)?))
        };
        let ways = self.cells.iter().map(way).collect::<Option<Vec<_>>>()?;
        ways.is_sorted_by(|a, b| a.1 < b.1).then_some((ways, self.last_child))
    }

    /// The children of a page of keys.
    pub(super) fn children(&self) -> Vec<u32> {
        if self.holds != Holds::KeysAndWay {
            return Vec::new();
        }
        self.cells.iter().filter_map(|cell| u32_at(&self.bytes, *cell)).chain([self.last_child]).collect()
    }
}

/// The values of a row of `length` bytes, of which these are there.
fn decode(id: i64, bytes: &[u8], length: usize) -> Option<PageRow> {
    let mut header = bytes;
    let header_length = usize::try_from(varint(&mut header)?).ok()?;
    let read = bytes.len() - header.len();
    header = bytes.get(read..header_length)?;
    let mut body = &bytes[header_length..];
    let mut values = Vec::new();
    let mut whole = bytes.len() == length;
    while !header.is_empty() {
        let (value, size) = value(varint(&mut header)?, body)?;
        whole &= size <= body.len();
        body = &body[size.min(body.len())..];
        values.push(value);
    }
    Some(PageRow { id, values, whole: whole && body.is_empty() })
}

/// The value of this type at the beginning of `body`, or as much of it as is there, and how many bytes it should have.
fn value(kind: i64, body: &[u8]) -> Option<(Value, usize)> {
    let size = match kind {
        0 | 8 | 9 => 0,
        1..=4 => kind as usize,
        5 => 6,
        6 | 7 => 8,
        12.. => usize::try_from((kind - 12) / 2).ok()?,
        _ => return None,
    };
    let bytes = &body[..size.min(body.len())];
    let number =
        || bytes.iter().fold(if bytes[0] & 0x80 == 0 { 0 } else { -1_i64 }, |n, byte| n << 8 | i64::from(*byte));
    let value = match kind {
        8 | 9 => Value::Integer(kind - 8),
        0 => Value::Null,
        1..=7 if bytes.len() < size => Value::Null,
        7 => Value::Real(f64::from_bits(number().cast_unsigned())),
        1..=6 => Value::Integer(number()),
        _ if kind % 2 == 0 => Value::Blob(bytes.to_vec()),
        _ => String::from_utf8(bytes.to_vec()).map_or_else(|error| Value::Blob(error.into_bytes()), Value::Text),
    };
    Some((value, size))
}

/// Reads a number of one to nine bytes.
fn varint(bytes: &mut &[u8]) -> Option<i64> {
    let mut number = 0_u64;
    for at in 0..9 {
        let byte = *bytes.get(at)?;
        if at == 8 || byte & 0x80 == 0 {
            *bytes = &bytes[at + 1..];
            let last = if at == 8 { number << 8 | u64::from(byte) } else { number << 7 | u64::from(byte) };
            return Some(last.cast_signed());
        }
        number = number << 7 | u64::from(byte & 0x7F);
    }
    None
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..at + 2)?.try_into().ok().map(u16::from_be_bytes)
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4)?.try_into().ok().map(u32::from_be_bytes)
}
