//! Writes a segment file.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;

use rayon::prelude::*;

use super::NO_SLOT;
use super::layout::{HEADER_LEN, Header, Section, Shape};
use super::view::row_links;
use crate::graph::edges;
use crate::graph::memory::Graph;
use crate::graph::vectors::Vectors;
use crate::progress::{OnProgress, Stage, Work};
use crate::sys::publish;
use crate::{Key, Slot};

/// Nodes of about so many bytes are made before they are written.
const NODES_AT_ONCE: usize = 8 << 20;

/// All that goes into a segment.
pub(crate) struct Draft<'a> {
    pub(crate) dims: usize,
    /// The key of each slot, each once.
    pub(crate) keys: &'a [Key],
    pub(crate) vectors: Vectors<'a>,
    /// `None` for a flat segment.
    pub(crate) graph: Option<&'a Graph>,
}

/// What the manifest has to know of a segment that was written.
pub(crate) struct Written {
    pub(crate) file_len: u64,
    pub(crate) header_checksum: u32,
}

/// Writes the file and syncs it. Cancelling it is an error of the kind `Interrupted`, and leaves no file.
pub(crate) fn write(path: &Path, draft: &Draft<'_>, on_progress: OnProgress<'_>) -> Result<Written, publish::Error> {
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
                (Section::Nodes, Some(graph)) => {
                    let work = Work::new(Stage::Writing, draft.keys.len(), on_progress);
                    let node_len = 4 * shape.node_words();
                    let at_once = (NODES_AT_ONCE / node_len).max(1);
                    let mut nodes = Vec::new();
                    for first in (0..shape.count).step_by(at_once) {
                        nodes.clear();
                        nodes.resize(node_len * at_once.min((shape.count - first) as usize), 0);
                        let slots = nodes.par_chunks_mut(node_len).zip(first..shape.count);
                        slots.for_each(|(node, slot)| write_node(&draft.vectors, graph, slot, node));
                        output.put(&nodes)?;
                        work.advance(nodes.len() / node_len);
                        if work.is_cancelled() {
                            return Err(io::ErrorKind::Interrupted.into());
                        }
                    }
                }
                (Section::UpperLinks, Some(graph)) => output.put(&graph.upper_links)?,
                (Section::Levels, Some(graph)) => output.put(&graph.levels)?,
                (Section::UpperStart, Some(graph)) => output.put(&graph.upper_start)?,
                (Section::Nodes | Section::UpperLinks | Section::Levels | Section::UpperStart, None) => {}
            }
            section_checksums[section as usize] = output.finish()?;
        }
        let (header, header_checksum) = Header { shape, section_checksums }.encode();
        publish::patch(writer, 0, &header)?;
        Ok(Written { file_len, header_checksum })
    })
}

/// Puts the links of a slot on the lowest level, and its edges, into `node`, which is zero.
fn write_node(vectors: &Vectors<'_>, graph: &Graph, slot: Slot, node: &mut [u8]) {
    let row = &graph.links[slot as usize * graph.width..][..graph.width];
    let (links, edges) = node.split_at_mut(4 * graph.width);
    for (place, link) in links.as_chunks_mut::<4>().0.iter_mut().zip(row) {
        *place = link.to_le_bytes();
    }
    edges::encode(vectors, slot, row_links(row), edges);
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
        let padding = self.len.next_multiple_of(super::CODE_ALIGNMENT) - self.len;
        self.put(&[0u8; super::CODE_ALIGNMENT][..padding])?;
        Ok(self.checksum.finalize())
    }
}
