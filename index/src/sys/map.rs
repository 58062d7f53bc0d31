//! Memory that is mapped: segment files, read-only, and large zeroed blocks.
#![expect(unsafe_code, reason = "mapping a file is unsafe, because the file could be changed behind the mapping")]

use std::fs::File;
use std::io;
use std::path::Path;

use memmap2::{Mmap, MmapMut};

/// The bytes of a published file, mapped.
///
/// The contract of the whole crate: **nobody writes to or truncates a published segment**. Our writer makes segments
/// under a new name, publishes them by the manifest, and later only unlinks them, which leaves the mappings of others
/// whole. A process that truncates a segment by other means can crash its readers (SIGBUS), as with every mapped file.
#[derive(Debug)]
pub(crate) struct Mapped(Mmap);

impl Mapped {
    /// Maps the whole file. It may not be empty.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        // SAFETY: the mapping is read-only, and by the contract above the file does not change while it is mapped. The
        // views read plain integers and floats from it, which every bit pattern is valid for, and check all bounds, so
        // that even bytes that change break results and not memory.
        Ok(Self(unsafe { Mmap::map(&file) }?))
    }

    /// Lets go of the pages that are in memory. Who reads on gets them again, from the system's cache or from the disk.
    pub(crate) fn release(&self) {
        // SAFETY: the mapping is of a file, read-only and not private, so that there is nothing to lose.
        #[cfg(unix)]
        let _ = unsafe { self.0.unchecked_advise(memmap2::UncheckedAdvice::DontNeed) };
    }

    /// Asks the system for huge pages for all that is not in memory yet. Where it has none, nothing is lost.
    pub(crate) fn advise_huge_pages(&self) {
        #[cfg(target_os = "linux")]
        let _ = self.0.advise(memmap2::Advice::HugePage);
    }
}

impl AsRef<[u8]> for Mapped {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// Zeroed memory at the start of a page, of huge ones where the system has them: what is read here and there in a large
/// block is found sooner.
#[derive(Debug)]
pub(crate) struct Zeroed(MmapMut);

impl Zeroed {
    /// Allocates `len` bytes.
    ///
    /// # Errors
    /// When the system has no more memory to give.
    pub(crate) fn new(len: usize) -> io::Result<Self> {
        let block = MmapMut::map_anon(len.max(1))?;
        #[cfg(target_os = "linux")]
        let _ = block.advise(memmap2::Advice::HugePage);
        Ok(Self(block))
    }

    pub(crate) fn words(&self) -> &[u32] {
        bytemuck::cast_slice(&self.0[..self.0.len() / 4 * 4])
    }

    pub(crate) fn words_mut(&mut self) -> &mut [u32] {
        let whole = self.0.len() / 4 * 4;
        bytemuck::cast_slice_mut(&mut self.0[..whole])
    }
}
