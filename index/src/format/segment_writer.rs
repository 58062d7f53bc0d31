//! Writes a segment file.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use super::NO_SLOT;
use super::layout::{HEADER_LEN, Header, Section, Shape};
use crate::graph::memory::Graph;
use crate::sys::publish;
use crate::{Key, Slot};

/// All that goes into a segment.
pub(crate) struct Draft<'a> {
    pub(crate) dims: usize,
    /// The key of each slot, each once.
    pub(crate) keys: &'a [Key],
    pub(crate) codes: &'a [i8],
    pub(crate) scales: &'a [f32],
    /// The vector of a slot, of length 1.
    pub(crate) vector: &'a dyn Fn(usize) -> &'a [f32],
    /// `None` for a flat segment.
    pub(crate) graph: Option<&'a Graph>,
}

/// What the manifest has to know of a segment that was written.
pub(crate) struct Written {
    pub(crate) file_len: u64,
    pub(crate) header_checksum: u32,
}

/// Writes the file and syncs it.
pub(crate) fn write(path: &Path, draft: &Draft<'_>) -> Result<Written, publish::Error> {
    let number = |value: usize| u32::try_from(value).map_err(io::Error::other);
    let mut shape = Shape {
        dims: number(draft.dims)?,
        count: number(draft.keys.len())?,
        links: 0,
        upper_links: 0,
        upper_rows: 0,
        entry: NO_SLOT,
        top_level: 0,
    };
    if let Some(graph) = draft.graph {
        shape.links = number(graph.width)?;
        shape.upper_links = number(graph.upper_width)?;
        shape.upper_rows = number(graph.upper_links.len() / graph.upper_width)?;
        shape.entry = graph.entry;
        shape.top_level = u32::from(graph.top_level);
    }
    let mut sorted: Vec<(Key, Slot)> = draft.keys.iter().copied().zip(0..).collect();
    sorted.sort_unstable();
    let sorted_keys: Vec<Key> = sorted.iter().map(|&(key, _)| key).collect();
    let sorted_slots: Vec<Slot> = sorted.iter().map(|&(_, slot)| slot).collect();
    drop(sorted);

    let file_len = shape.layout().file_len;
    publish::write_new(path, |writer| {
        writer.write_all(&[0; HEADER_LEN])?;
        let mut section_checksums = [0; Section::COUNT];
        for section in Section::ALL {
            let mut output = SectionWriter { writer, checksum: crc32fast::Hasher::new(), len: 0 };
            match (section, draft.graph) {
                (Section::Codes, _) => output.put(draft.codes)?,
                (Section::Scales, _) => output.put(draft.scales)?,
                (Section::Keys, _) => output.put(draft.keys)?,
                (Section::SortedKeys, _) => output.put(&sorted_keys)?,
                (Section::SortedSlots, _) => output.put(&sorted_slots)?,
                (Section::Vectors, _) => {
                    for slot in 0..draft.keys.len() {
                        output.put((draft.vector)(slot))?;
                    }
                }
                (Section::Links, Some(graph)) => output.put(&graph.links)?,
                (Section::UpperLinks, Some(graph)) => output.put(&graph.upper_links)?,
                (Section::Levels, Some(graph)) => output.put(&graph.levels)?,
                (Section::UpperStart, Some(graph)) => output.put(&graph.upper_start)?,
                (Section::Links | Section::UpperLinks | Section::Levels | Section::UpperStart, None) => {}
            }
            section_checksums[section as usize] = output.finish()?;
        }
        let (header, header_checksum) = Header { shape, section_checksums }.encode();
        publish::patch(writer, 0, &header)?;
        Ok(Written { file_len, header_checksum })
    })
}

struct SectionWriter<'a> {
    writer: &'a mut BufWriter<File>,
    checksum: crc32fast::Hasher,
    len: usize,
}

impl SectionWriter<'_> {
    fn put<T: bytemuck::NoUninit>(&mut self, items: &[T]) -> io::Result<()> {
        let bytes: &[u8] = bytemuck::cast_slice(items);
        self.checksum.update(bytes);
        self.len += bytes.len();
        self.writer.write_all(bytes)
    }

    /// Fills up to the next section.
    fn finish(mut self) -> io::Result<u32> {
        let padding = self.len.next_multiple_of(super::CODE_ALIGNMENT) - self.len;
        self.put(&[0u8; super::CODE_ALIGNMENT][..padding])?;
        Ok(self.checksum.finalize())
    }
}
