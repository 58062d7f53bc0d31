//! A segment that is mapped, and which of its vectors are deleted.
//!
//! | file | job |
//! |---|---|
//! | `view.rs` | the sections of a mapped file |
//! | `write.rs` | writes a segment's file and maps it |

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use roaring::RoaringBitmap;

use self::view::SegmentView;
use crate::efforts::Efforts;
use crate::error::OpenError;
use crate::format::layout::{Header, HeaderError, Places, Section};
use crate::format::manifest::SegmentEntry;
use crate::format::{VERSIONS, names};
use crate::ids::{Key, Slot};
use crate::layout::Layout;
use crate::simd::Kernel;
use crate::sys::map::Mapped;

pub(crate) mod view;
pub(crate) mod write;

/// A mapped segment file. Several snapshots share it.
#[derive(Debug)]
pub(crate) struct SegmentFile {
    pub(crate) number: u64,
    pub(crate) path: PathBuf,
    pub(crate) header: Header,
    pub(crate) header_checksum: u32,
    pub(crate) places: Places,
    kernel: Kernel,
    bytes: Mapped,
    /// Whether it was read whole and found to be what was written.
    is_checked: AtomicBool,
}

impl SegmentFile {
    /// Maps the file that a manifest names. Only its header is read.
    pub(crate) fn open(folder: &Path, entry: &SegmentEntry, layout: Layout, dims: usize) -> Result<Self, OpenError> {
        let path = names::segment(folder, entry.number);
        let len = std::fs::metadata(&path).map_err(OpenError::io(&path))?.len();
        if len != entry.file_len {
            return Err(OpenError::damaged(&path, format!("it is {len} bytes long, not {}", entry.file_len)));
        }
        let bytes = Mapped::open(&path).map_err(OpenError::io(&path))?;
        let (header, header_checksum) = Header::decode(bytes.as_ref()).map_err(|error| match error {
            HeaderError::NotASegment => OpenError::NotAnIndex { path: path.clone() },
            HeaderError::Version(found) => OpenError::Version { path: path.clone(), found, supported: VERSIONS },
            HeaderError::Damaged(why) => OpenError::damaged(&path, why),
        })?;
        let shape = &header.shape;
        if (header_checksum, shape.count) != (entry.header_checksum, entry.count)
            || (shape.layout, shape.dims as usize) != (layout, dims)
        {
            return Err(OpenError::damaged(&path, "it is not the segment that the manifest speaks of"));
        }
        // Not before the header was read: that would bring in the first huge page of a file that is not read any
        // further.
        bytes.advise_huge_pages();
        let places = shape.places();
        let kernel = Kernel::detect();
        if places.file_len != entry.file_len || SegmentView::parse(bytes.as_ref(), &header, &places, kernel).is_none() {
            return Err(OpenError::damaged(&path, "its sections do not fit its length"));
        }
        Ok(Self {
            number: entry.number,
            path,
            header,
            header_checksum,
            places,
            kernel,
            bytes,
            is_checked: AtomicBool::new(false),
        })
    }

    /// Its sections.
    pub(crate) fn view(&self) -> SegmentView<'_> {
        SegmentView::parse(self.bytes.as_ref(), &self.header, &self.places, self.kernel)
            .expect("`open` has parsed the same bytes, and neither they nor the header change")
    }

    /// Whether [`check`](Self::check) has found it sound.
    pub(crate) fn is_checked(&self) -> bool {
        self.is_checked.load(Ordering::Acquire)
    }

    /// Lets go of its pages in memory, for someone who does not need them soon.
    pub(crate) fn release(&self) {
        self.bytes.release();
    }

    /// Reads the file whole and compares it with its checksums, once.
    ///
    /// # Errors
    /// When a section is damaged.
    pub(crate) fn check(&self) -> Result<(), OpenError> {
        if self.is_checked() {
            return Ok(());
        }
        match Section::ALL.into_iter().find(|&section| !self.matches_checksum(section)) {
            Some(damaged) => {
                let why = format!("the section \"{}\" does not match its checksum", damaged.name());
                Err(OpenError::damaged(&self.path, why))
            }
            None => {
                self.is_checked.store(true, Ordering::Release);
                Ok(())
            }
        }
    }

    /// Whether the bytes of a section are those that were written.
    pub(crate) fn matches_checksum(&self, section: Section) -> bool {
        let bytes = self.places.padded_range(section).and_then(|range| self.bytes.as_ref().get(range));
        bytes.map(crc32fast::hash) == Some(self.header.section_checksums[section as usize])
    }
}

/// The deleted slots of a segment.
#[derive(Debug, Default)]
pub(crate) struct Tombstones {
    pub(crate) bitmap: RoaringBitmap,
    /// The bitmap as plain bits, for walks. Empty where nothing is deleted.
    bits: Vec<u64>,
}

impl Tombstones {
    pub(crate) fn new(bitmap: RoaringBitmap) -> Self {
        let words = bitmap.max().map_or(0, |slot| slot as usize / 64 + 1);
        let mut bits = vec![0u64; words];
        for slot in &bitmap {
            bits[slot as usize / 64] |= 1 << (slot % 64);
        }
        Self { bitmap, bits }
    }

    #[inline]
    pub(crate) fn contains(&self, slot: Slot) -> bool {
        self.bits.get(slot as usize / 64).is_some_and(|word| word & (1 << (slot % 64)) != 0)
    }
}

/// One segment of a snapshot.
#[derive(Debug, Clone)]
pub(crate) struct Segment {
    pub(crate) file: Arc<SegmentFile>,
    /// How hard a walk has to try; nothing where there is no graph.
    pub(crate) efforts: Efforts,
    pub(crate) tombstones: Arc<Tombstones>,
}

impl Segment {
    /// How many vectors are not deleted.
    pub(crate) fn live(&self) -> usize {
        (self.file.header.shape.count as usize).saturating_sub(self.tombstones.bitmap.len() as usize)
    }

    /// The slot of a key, if it is there and not deleted.
    pub(crate) fn live_slot(&self, view: &SegmentView<'_>, key: Key) -> Option<Slot> {
        view.slot_of(key).filter(|&slot| !self.tombstones.contains(slot))
    }

    /// Its entry in the manifest.
    pub(crate) fn entry(&self) -> SegmentEntry {
        SegmentEntry {
            number: self.file.number,
            file_len: self.file.places.file_len,
            count: self.file.header.shape.count,
            header_checksum: self.file.header_checksum,
            efforts: self.efforts,
            tombstones: self.tombstones.bitmap.clone(),
        }
    }
}
