//! The format of an index on disk, versions 3 and 4.
//!
//! Version 3 is the standard layout, version 4 the compact one, which leaves out the fine codes and the edges of nodes. All files
//! of an index have one version, and keep it; all else is equal.
//!
//! An index is a folder:
//!
//! ```text
//! manifest                     what is in the index; replaced atomically, never changed
//! segment-00000000000000a7     vectors, their codes, keys and graph; written once, never changed
//! manifest.tmp                 a manifest that is being written; ignored by readers, removed by the next writer, as is
//!                              .memorist-*.tmp, its name in some earlier versions
//! writer.lock                  empty; locked by the one writer, never removed
//! ```
//!
//! A segment that the manifest does not name is not part of the index: it is being written, or was left by a crash, or
//! is about to be removed. Everything is little-endian; floats are IEEE 754; a checksum is CRC-32 (IEEE, as in zlib). A
//! *slot* is the position of a vector within its segment, from 0; `0xffffffff` stands for no slot.
//!
//! # Manifest
//!
//! ```text
//! offset  bytes  what
//!      0      8  magic "MEMIXMAN"
//!      8      4  format version, 3 or 4
//!     12      4  checksum of everything from offset 16 to the end of the file
//!     16      8  length of the file
//!     24      8  generation: 1 for the first manifest of a folder, one more for each that follows
//!     32      8  number that the next segment will have
//!     40      4  dimensions of the vectors, 1 to 16,384
//!     44      4  length of the payload P, 0 to 4,096
//!     48      4  number of segments
//!     52     12  zero
//!     64      P  payload: bytes of the caller, published together with the index
//! then for each segment, oldest first:
//!      0      8  number; the name of the file is "segment-" and the number in 16 hexadecimal digits
//!      8      8  length of the file
//!     16      4  number of vectors
//!     20      4  checksum of the segment's header, which pins the whole file
//!     24      4  length of the tombstones T
//!     28      4  zero
//!     32     32  efforts: for each of the recalls 0.8, 0.9, 0.95, 0.97, 0.98, 0.99, 0.995 and 0.999 a u32, how many
//!                candidates a walk has to keep for the 10 nearest; 0xffffffff where no walk was good enough; 0 in a flat
//!                segment
//!     64      T  tombstones: the deleted slots, as a roaring bitmap (portable format, no run containers needed)
//! ```
//!
//! # Segment
//!
//! ```text
//! +--------+---------+-------+-------+------------+--------+------------+------+-------------+--------------+
//! | header | entries | nodes | codes | fine codes | scales | firm links | keys | sorted keys | sorted slots |
//! +--------+---------+-------+-------+------------+--------+------------+------+-------------+--------------+
//! 0        128       what a walk touches                            what a lookup touches
//! ```
//!
//! The header:
//!
//! ```text
//! offset  bytes  what
//!      0      8  magic "MEMIXSEG"
//!      8      4  format version, 3 or 4
//!     12      4  dimensions D
//!     16      4  number of vectors N, 1 to 2^31 - 1
//!     20      4  links per node L, a multiple of 32, at most 128; 0 for a flat segment, which has no graph
//!     24      4  number of entries E, 1 to N; 0 in a flat segment
//!     28     36  checksums of the nine sections below, in this order, each with the zeros after it
//!     64     60  zero
//!    124      4  checksum of bytes 0 to 123
//! ```
//!
//! The sections follow one another in this order, each at the next multiple of 64, with zeros between, which only the
//! checksums look at, like those of the header. Their places follow from the header's numbers, so no offset is stored
//! that could be wrong. C is D rounded up to a multiple of 64, and 256 at least.
//!
//! ```text
//! section       type  count  what                                                               in a flat segment
//! entries       -            links to the slots that every walk begins with, and their edges    absent
//! nodes         -     N      links of each slot to its neighbours, and their edges: see below   absent
//! codes         i8    N * C  coarse codes of each vector                                        present
//! fine codes    i8    N * C  what the coarse codes leave: (256 * coarse + fine) * scale / 256   present
//!                            absent in version 4
//! scales        f32   N      coarse code * scale is about the vector's number                   present
//! firm links    u8    N      how many of the links of each slot are not there to fill up only   absent
//! keys          u64   N      the caller's key of each slot                                      present
//! sorted keys   u64   N      all keys, ascending, each once                                     present
//! sorted slots  u32   N      the slot of each of the sorted keys                                present
//! ```
//!
//! The codes are those of the vector scaled to length 1, filled up with zeros to C numbers and rotated. Let S be the
//! largest power of two that is not above C. Four times, eight where 2S - C is less than S / 2, the signs are flipped
//! where the next number of SplitMix64 (seeded with the ASCII codes of "memorist", big-endian) has its highest bit set,
//! then the first S numbers, the next time the last S, go through a Hadamard transform in its natural order, divided by
//! the root of S; of what comes out, number 16 * i + j goes to the place j * (S / 16) + i (`rotate.rs`).
//!
//! With the largest of the rotated numbers at m, each number x becomes `round(x * 32512 / m)`, half to even, and that
//! is `256 * coarse + fine` with fine from -128 to 127. The scale is 256 by the root of the sum of the squares of those
//! integers, so that what the codes stand for has the length 1 (`quantize.rs`).
//!
//! In version 4 each number x becomes `round(x * 127 / m)`, which is the coarse code, and the scale is 1 by the root of the sum
//! of their squares. Where the fine codes are read, they are zero. A merge copies codes and scales as they are.
//!
//! A node. The entries lie like one with E links, rounded up to a multiple of 32, whose vector is zero. In version 4 the entries
//! alone have what follows after the links; a node there is its 4 * L bytes of links:
//!
//! ```text
//! offset  bytes  what
//!      0  4 * L  the slots that are linked to, the firm ones first, then 0xffffffff up to L
//! then for each 32 of them, with zeros for those that are not there:
//!      0     64  slopes, u16: multiples of 2^-14 / sqrt(C)
//!     64     64  offsets, i16: multiples of 2^-13
//!    128  4 * C  signs: for each four numbers of a vector 16 bytes. Byte 2i has the four signs of neighbour i in its low half
//!                and those of neighbour 16 + i in its high half, byte 2i + 1 those of 8 + i and 24 + i; the first number's
//!                is the lowest bit, 1 for positive
//! ```
//!
//! Signs, slope and offset of a neighbour say the way r from the slot to it, both taken from all of their codes: the
//! signs of r, `|r|^2 / sum(|r_i|)`, and `<r, c> - slope * <signs, c>` for the slot's vector c and the slope as it is
//! kept (`graph/edges.rs`).
//!
//! # Invariants
//!
//! 1. A key is live (in a segment, and not among its tombstones) in at most one segment.
//! 2. Links name slots of the same segment; no slot links itself or another one twice. There are as many entries as the
//!    header says, and no more firm links than links.
//! 3. Every slot can be reached from the first entry, deleted ones included.
//! 4. Edges follow from the links and the vectors.
//! 5. The manifest's generation grows with each publication; a segment's number is never used again in a folder.
//!
//! The first four are checked by [`Snapshot::verify`](crate::Snapshot::verify). A reader relies on none of them for its
//! safety: numbers read from a file are checked before they are used as a place.
//!
//! # Assumptions about the medium
//!
//! 1. A synced file keeps its content, a synced folder its names.
//! 2. A rename within a folder is atomic, for other processes and in a crash.
//! 3. A file that is unlinked stays whole for those who have it mapped. Where a system refuses to remove a mapped file, it
//!    stays until the next writer opens the index.
//! 4. Nobody else writes to the folder. Damage is found (checksums), not mended: the index is rebuilt from its source.
//!
//! # History
//!
//! | version | change |
//! |---|---|
//! | 1 | first; vectors as f32, not rotated, no edges. Refused: an index of it is rebuilt from its source |
//! | 2 | vectors rotated and in 16 bits, edges beside the links. Refused, as 1 |
//! | 3 | entries instead of upper levels; firm links. The standard layout |
//! | 4 | the compact layout. Programs that know version 3 alone refuse it by its number |

use std::ops::RangeInclusive;

use crate::layout::Layout;

pub(crate) mod bytes;
pub(crate) mod layout;
pub(crate) mod manifest;
pub(crate) mod names;
pub(crate) mod node;

#[cfg(target_endian = "big")]
compile_error!("the index maps little-endian files as they are, so it cannot run on a big-endian machine");

/// The newest version that this crate reads and writes: that of a compact index. A standard one has the version before.
pub const FORMAT_VERSION: u32 = 4;
/// All that it reads and writes.
pub(crate) const VERSIONS: RangeInclusive<u32> = version_of(Layout::Standard)..=FORMAT_VERSION;

/// The version of an index in a layout.
pub(crate) const fn version_of(layout: Layout) -> u32 {
    match layout {
        Layout::Standard => 3,
        Layout::Compact => 4,
    }
}

/// The layout of an index of a version.
pub(crate) fn layout_of(version: u32) -> Option<Layout> {
    [Layout::Standard, Layout::Compact].into_iter().find(|&layout| version_of(layout) == version)
}

/// Sections and rows of codes start at multiples of this: a cache line.
pub(crate) const CODE_ALIGNMENT: usize = 64;
/// Stands for no slot, and ends a list of links that is not full.
pub(crate) const NO_SLOT: u32 = u32::MAX;
/// The most vectors of a segment.
pub(crate) const MAX_COUNT: usize = (1 << 31) - 1;
