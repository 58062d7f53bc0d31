//! A segment's header, and the places of its sections, which follow from it.

use std::ops::Range;

use super::bytes::{Cursor, Put};
use super::node::{BATCH, code_stride, entry_words, links_of, node_words};
use super::{CODE_ALIGNMENT, MAX_COUNT, layout_of, version_of};
use crate::bounds::{MAX_DIMS, MAX_M};
use crate::layout::Layout;

const MAGIC: &[u8; 8] = b"MEMIXSEG";
/// The length of the header.
pub(crate) const HEADER_LEN: usize = 128;
const ZEROS_LEN: usize = CHECKSUM_OFFSET - (8 + 5 * 4 + Section::COUNT * 4);
const CHECKSUM_OFFSET: usize = HEADER_LEN - size_of::<u32>();
const MAX_LINKS: u32 = links_of(MAX_M) as u32;

/// The sections, in the order of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Section {
    Entries,
    Nodes,
    Codes,
    Fine,
    Scales,
    Firm,
    Keys,
    SortedKeys,
    SortedSlots,
}

impl Section {
    pub(crate) const COUNT: usize = 9;
    pub(crate) const ALL: [Self; Self::COUNT] = [
        Self::Entries,
        Self::Nodes,
        Self::Codes,
        Self::Fine,
        Self::Scales,
        Self::Firm,
        Self::Keys,
        Self::SortedKeys,
        Self::SortedSlots,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Entries => "entries",
            Self::Nodes => "nodes",
            Self::Codes => "codes",
            Self::Fine => "fine codes",
            Self::Scales => "scales",
            Self::Firm => "firm links",
            Self::Keys => "keys",
            Self::SortedKeys => "sorted keys",
            Self::SortedSlots => "sorted slots",
        }
    }
}

/// The numbers of a segment's header that the places of its sections follow from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) layout: Layout,
    pub(crate) dims: u32,
    pub(crate) count: u32,
    pub(crate) links: u32,
    pub(crate) entries: u32,
}

impl Shape {
    pub(crate) fn has_graph(&self) -> bool {
        self.links > 0
    }

    /// Places for links to entries: whole batches of them.
    pub(crate) fn entry_width(&self) -> usize {
        (self.entries as usize).next_multiple_of(BATCH)
    }

    /// Words of a node: its links, and their edges but in a compact index.
    pub(crate) fn node_words(&self) -> usize {
        node_words(self.layout, self.links as usize, code_stride(self.dims as usize))
    }

    /// The bytes of a section, without the zeros after it.
    fn len(&self, section: Section) -> u64 {
        let count = u64::from(self.count);
        match section {
            Section::Entries => entry_words(self.entry_width(), code_stride(self.dims as usize)) as u64 * 4,
            Section::Nodes => count * self.node_words() as u64 * 4,
            Section::Fine if self.layout == Layout::Compact => 0,
            Section::Codes | Section::Fine => count * code_stride(self.dims as usize) as u64,
            Section::Scales | Section::SortedSlots => count * 4,
            Section::Firm => {
                if self.has_graph() {
                    count
                } else {
                    0
                }
            }
            Section::Keys | Section::SortedKeys => count * 8,
        }
    }

    /// The place of each section, and the length of the file.
    pub(crate) fn places(&self) -> Places {
        let mut end = HEADER_LEN as u64;
        let sections = Section::ALL.map(|section| {
            let start = end;
            let len = self.len(section);
            end = (start + len).next_multiple_of(CODE_ALIGNMENT as u64);
            Place { start, len, padded_end: end }
        });
        Places { sections, file_len: end }
    }

    fn check(&self) -> Result<(), String> {
        let graph_is_sound = if self.has_graph() {
            self.links.is_multiple_of(BATCH as u32)
                && self.links <= MAX_LINKS
                && (1..=self.count).contains(&self.entries)
        } else {
            self.entries == 0
        };
        if !(1..=MAX_DIMS as u32).contains(&self.dims) {
            Err(format!("it says that vectors have {} dimensions", self.dims))
        } else if !(1..=MAX_COUNT as u32).contains(&self.count) {
            Err(format!("it says that it has {} vectors", self.count))
        } else if !graph_is_sound {
            Err("its graph has impossible numbers".to_owned())
        } else {
            Ok(())
        }
    }
}

/// Where a section lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    start: u64,
    len: u64,
    padded_end: u64,
}

/// Where all sections lie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Places {
    sections: [Place; Section::COUNT],
    pub(crate) file_len: u64,
}

impl Places {
    /// The section itself. `None` where this machine cannot address it.
    pub(crate) fn range(&self, section: Section) -> Option<Range<usize>> {
        let place = self.sections[section as usize];
        Some(usize::try_from(place.start).ok()?..usize::try_from(place.start + place.len).ok()?)
    }

    /// The section and the zeros up to the next one.
    pub(crate) fn padded_range(&self, section: Section) -> Option<Range<usize>> {
        let place = self.sections[section as usize];
        Some(usize::try_from(place.start).ok()?..usize::try_from(place.padded_end).ok()?)
    }
}

/// A segment's header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) shape: Shape,
    pub(crate) section_checksums: [u32; Section::COUNT],
}

/// Why a header is refused.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum HeaderError {
    NotASegment,
    Version(u32),
    Damaged(String),
}

impl Header {
    /// The bytes of the header, and its checksum, which is the last of them.
    pub(crate) fn encode(&self) -> (Vec<u8>, u32) {
        let Shape { layout, dims, count, links, entries } = self.shape;
        let mut bytes = Vec::with_capacity(HEADER_LEN);
        bytes.extend_from_slice(MAGIC);
        for number in [version_of(layout), dims, count, links, entries] {
            bytes.put_u32(number);
        }
        for checksum in self.section_checksums {
            bytes.put_u32(checksum);
        }
        bytes.put_zeros(ZEROS_LEN);
        let checksum = crc32fast::hash(&bytes);
        bytes.put_u32(checksum);
        (bytes, checksum)
    }

    /// Reads a header from the beginning of a file, and returns its checksum with it.
    pub(crate) fn decode(file: &[u8]) -> Result<(Self, u32), HeaderError> {
        let short = || HeaderError::Damaged("it ends within its header".to_owned());
        let header = file.get(..HEADER_LEN).ok_or_else(short)?;
        let mut cursor = Cursor(header);
        if cursor.take(MAGIC.len()).ok_or_else(short)? != MAGIC {
            return Err(HeaderError::NotASegment);
        }
        let version = cursor.u32().ok_or_else(short)?;
        let layout = layout_of(version).ok_or(HeaderError::Version(version))?;
        let checksum = Cursor(&header[CHECKSUM_OFFSET..]).u32().ok_or_else(short)?;
        if crc32fast::hash(&header[..CHECKSUM_OFFSET]) != checksum {
            return Err(HeaderError::Damaged("its header does not match its checksum".to_owned()));
        }
        let mut next = || cursor.u32().ok_or_else(short);
        let shape = Shape { layout, dims: next()?, count: next()?, links: next()?, entries: next()? };
        shape.check().map_err(HeaderError::Damaged)?;
        let mut section_checksums = [0; Section::COUNT];
        for section_checksum in &mut section_checksums {
            *section_checksum = next()?;
        }
        Ok((Self { shape, section_checksums }, checksum))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn sections_are_aligned_in_order_and_apart(
            compact: bool, dims in 1u32..=16_384, count in 1u32..=(1 << 31) - 1, m in 0u32..=64, entries in 1u32..1000
        ) {
            let links = (2 * m).next_multiple_of(BATCH as u32);
            let entries = if m == 0 { 0 } else { entries.min(count) };
            let layout = if compact { Layout::Compact } else { Layout::Standard };
            let shape = Shape { layout, dims, count, links, entries };
            prop_assert_eq!(shape.check(), Ok(()));
            let places = shape.places();
            let mut end = HEADER_LEN;
            for section in Section::ALL {
                let range = places.range(section).unwrap();
                prop_assert_eq!(range.start, end);
                prop_assert_eq!(range.start % CODE_ALIGNMENT, 0);
                prop_assert_eq!(range.len() as u64, shape.len(section));
                end = places.padded_range(section).unwrap().end;
                prop_assert!(end - range.end < CODE_ALIGNMENT);
            }
            prop_assert_eq!(end as u64, places.file_len);
            let header = Header { shape, section_checksums: [7; Section::COUNT] };
            let (bytes, checksum) = header.encode();
            prop_assert_eq!(bytes.len(), HEADER_LEN);
            prop_assert_eq!(Header::decode(&bytes), Ok((header, checksum)));
        }
    }

    #[test]
    fn headers_that_are_sound_but_impossible_are_refused() {
        let sound = Shape { layout: Layout::Standard, dims: 8, count: 60, links: 32, entries: 15 };
        let decode = |shape| Header::decode(&Header { shape, section_checksums: [0; Section::COUNT] }.encode().0);
        assert!(decode(sound).is_ok());
        for shape in [
            Shape { dims: 0, ..sound },
            Shape { dims: u32::MAX, ..sound },
            Shape { count: 0, ..sound },
            Shape { count: u32::MAX, ..sound },
            Shape { links: 31, ..sound },
            Shape { links: 0, ..sound },
            Shape { entries: 0, ..sound },
            Shape { entries: 61, ..sound },
        ] {
            assert!(matches!(decode(shape), Err(HeaderError::Damaged(_))), "{shape:?}");
        }
    }
}
