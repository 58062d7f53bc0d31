//! Random draws that give the same values on every platform and with every later version of the crates below.
//!
//! ChaCha8 is a fixed algorithm, and `rand_core` calls a change of `seed_from_u64` "value-breaking". How `rand` turns
//! bits into ranges and floats is not guaranteed, so that step is ours.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// The purpose of a stream of draws. Streams of different purposes are independent, whatever their indices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Purpose {
    Content = 1,
    Wording = 2,
    NearDuplicate = 3,
    Question = 4,
    Permutation = 5,
    Vector = 6,
    Query = 7,
    Direction = 8,
    Conversation = 9,
    Change = 10,
    Unanswerable = 11,
    Identifier = 12,
    Note = 13,
    NoteName = 14,
    Session = 15,
    SessionTurn = 16,
    Dialogue = 17,
    TradeDialogue = 18,
    CodedDialogue = 19,
    Action = 20,
}

/// A stream of draws.
pub(crate) struct Draws(ChaCha8Rng);

impl Draws {
    /// The stream of item `index` (below 2^56) for `purpose`.
    pub fn of(seed: u64, purpose: Purpose, index: u64) -> Self {
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        generator.set_stream((purpose as u64) << 56 | index);
        Draws(generator)
    }

    /// A separate stream for a part of an item, so that the part does not move later draws.
    pub fn fork(&mut self) -> Self {
        Draws(ChaCha8Rng::seed_from_u64(self.0.next_u64()))
    }

    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Evenly from `0..bound` (the bias is below `bound` / 2^64). `bound` is not 0.
    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.0.next_u64()) * bound as u128) >> 64) as usize
    }

    /// True in `percent` of 100 cases.
    pub fn percent(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of `items`, which is not empty.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// Evenly from [0, 1), in steps of 2^-24.
    pub fn unit(&mut self) -> f32 {
        (self.0.next_u32() >> 8) as f32 / (1 << 24) as f32
    }

    /// Nearly normal, mean 0 and variance 1: the sum of four even bytes. No logarithm or cosine, because the last bits of
    /// those differ between platforms.
    pub fn normal(&mut self) -> f32 {
        let sum: u16 = self.0.next_u32().to_le_bytes().into_iter().map(u16::from).sum();
        // the variance of the sum is 4 * (2^16 - 1) / 12, its square root 147.8
        (f32::from(sum) - 510.0) / 147.8
    }

    /// `0..count` weighted by 1 / (rank + 1): roughly Zipf's law, by inverting its integral with powers of two only.
    pub fn zipf(&mut self, count: usize) -> usize {
        // choose an octave [2^o, 2^(o+1)) of ranks evenly, then a rank within it evenly
        let octaves = usize::BITS - count.leading_zeros();
        loop {
            let low = 1usize << self.below(octaves as usize);
            let rank = low + self.below(low);
            if rank <= count {
                return rank - 1;
            }
        }
    }
}

/// The item of `0..count` that comes at `rank`, in an order that visits each once; `None` from `count` on. The orders of a
/// seed begin at different items.
pub(crate) fn visit(seed: u64, order: u64, rank: usize, count: usize) -> Option<usize> {
    // A prime that is no factor of any number of items.
    const STRIDE: usize = 389;
    debug_assert!(!count.is_multiple_of(STRIDE) || count == 0);
    let offset = |count| Draws::of(seed, Purpose::Permutation, order).below(count);
    (rank < count).then(|| (rank * STRIDE + offset(count)) % count)
}

/// Spreads `index` over its block of 2^20 numbers, one to one, so that neighbours in the corpus do not have
/// neighbouring numbers.
pub(crate) fn spread(seed: u64, index: u64) -> u64 {
    const MASK: u64 = (1 << 20) - 1;
    let key = Draws::of(seed, Purpose::Permutation, 0).bits();
    let mut low = index & MASK;
    for round in 0..3 {
        // an odd factor and a right shift-xor each map the 2^20 numbers onto themselves
        low = low.wrapping_mul(key >> (round * 11) | 1).wrapping_add(key >> 40) & MASK;
        low ^= low >> 9;
    }
    index & !MASK | low
}
