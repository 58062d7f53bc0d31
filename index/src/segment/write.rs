//! Writes a segment's file and maps it.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;
use std::sync::Arc;

use roaring::RoaringBitmap;

use super::{Segment, SegmentFile};
use crate::efforts::Efforts;
use crate::error::WriteError;
use crate::format::layout::{HEADER_LEN, Header, Section, Shape};
use crate::format::manifest::SegmentEntry;
use crate::format::{CODE_ALIGNMENT, names};
use crate::graph::GraphView;
use crate::graph::vectors::Vectors;
use crate::ids::{Key, Slot};
use crate::layout::Layout;
use crate::progress::{OnProgress, Stage, Work};
use crate::sys::publish;

/// Words of nodes that are written between two reports of progress, approximately.
const WORDS_AT_ONCE: usize = 2 << 20;

/// All that goes into a segment.
pub(crate) struct Draft<'a> {
    pub(crate) layout: Layout,
    pub(crate) dims: usize,
    /// The key of each slot, each once.
    pub(crate) keys: &'a [Key],
    pub(crate) vectors: Vectors<'a>,
    /// `None` for a flat segment.
    pub(crate) graph: Option<GraphView<'a>>,
}

/// Writes a segment and maps it.
pub(crate) fn write_segment(
    folder: &Path,
    number: u64,
    draft: &Draft<'_>,
    on_progress: OnProgress<'_>,
) -> Result<Segment, WriteError> {
    let path = names::segment(folder, number);
    let written = write_file(&path, draft, on_progress).map_err(|error| match error {
        publish::Error::Write(error) if error.kind() == io::ErrorKind::Interrupted => WriteError::Cancelled,
        error => WriteError::publishing(&path)(error),
    })?;
    let entry = SegmentEntry {
        number,
        file_len: written.file_len,
        count: draft.keys.len() as u32,
        header_checksum: written.header_checksum,
        efforts: Efforts::NONE,
        tombstones: RoaringBitmap::new(),
    };
    let file = Arc::new(SegmentFile::open(folder, &entry, draft.layout, draft.dims)?);
    Ok(Segment { file, efforts: Efforts::NONE, tombstones: Arc::default() })
}

/// Facts about a written segment for its entry in the manifest.
struct Written {
    file_len: u64,
    header_checksum: u32,
}

/// Writes the file and syncs it. Cancelling it is an error of the kind `Interrupted`, and leaves no file.
fn write_file(path: &Path, draft: &Draft<'_>, on_progress: OnProgress<'_>) -> Result<Written, publish::Error> {
    let number = |value: usize| u32::try_from(value).map_err(io::Error::other);
    let shape = Shape {
        layout: draft.layout,
        dims: number(draft.dims)?,
        count: number(draft.keys.len())?,
        links: number(draft.graph.map_or(0, |graph| graph.width))?,
        entries: number(draft.graph.map_or(0, |graph| graph.entries().len()))?,
    };
    let mut sorted: Vec<(Key, Slot)> = draft.keys.iter().copied().zip(0..).collect();
    sorted.sort_unstable();
    let sorted_keys: Vec<Key> = sorted.iter().map(|&(key, _)| key).collect();
    let sorted_slots: Vec<Slot> = sorted.iter().map(|&(_, slot)| slot).collect();
    drop(sorted);

    let file_len = shape.places().file_len;
    publish::write_new(path, |writer| {
        publish::put(writer, &[0; HEADER_LEN])?;
        let mut section_checksums = [0; Section::COUNT];
        for section in Section::ALL {
            let mut output = SectionWriter { writer, checksum: crc32fast::Hasher::new(), len: 0 };
            match (section, draft.graph) {
                (Section::Codes, _) => output.put(draft.vectors.codes.rows())?,
                (Section::Fine, _) => output.put(draft.vectors.fine())?,
                (Section::Scales, _) => output.put(draft.vectors.codes.scales())?,
                (Section::Keys, _) => output.put(draft.keys)?,
                (Section::SortedKeys, _) => output.put(&sorted_keys)?,
                (Section::SortedSlots, _) => output.put(&sorted_slots)?,
                (Section::Entries, Some(graph)) => output.put(graph.entries)?,
                (Section::Nodes, Some(graph)) => {
                    let work = Work::new(Stage::Writing, draft.keys.len(), on_progress);
                    for nodes in graph.nodes.chunks((WORDS_AT_ONCE / graph.stride).max(1) * graph.stride) {
                        output.put(nodes)?;
                        work.advance(nodes.len() / graph.stride);
                        if work.is_cancelled() {
                            return Err(io::ErrorKind::Interrupted.into());
                        }
                    }
                }
                (Section::Firm, Some(graph)) => output.put(graph.firm)?,
                (Section::Entries | Section::Nodes | Section::Firm, None) => {}
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
        publish::put(self.writer, bytes)
    }

    /// Fills up to the next section.
    fn finish(mut self) -> io::Result<u32> {
        let padding = self.len.next_multiple_of(CODE_ALIGNMENT) - self.len;
        self.put(&[0u8; CODE_ALIGNMENT][..padding])?;
        Ok(self.checksum.finalize())
    }
}
