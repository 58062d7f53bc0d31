//! A packed file, mapped: one copy in memory, however many processes read it.
#![expect(unsafe_code, reason = "mapping a file is unsafe, because the file could be changed behind the mapping")]

use std::fs::File;
use std::io;

use memmap2::Mmap;

/// The bytes of a file.
#[derive(Debug)]
pub struct Mapped(Mmap);

impl Mapped {
    /// Maps the whole file.
    ///
    /// Nobody may write to it or truncate it while it is mapped. Packed files are written under another name and then
    /// renamed, in a folder of the user's own.
    pub fn open(file: &File) -> io::Result<Self> {
        // SAFETY: the mapping is read-only, and by the contract above the file does not change while it is mapped. It is
        // read as bytes and small integers only, which every bit pattern is valid for, with all bounds checked.
        Ok(Self(unsafe { Mmap::map(file) }?))
    }
}

impl AsRef<[u8]> for Mapped {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}
