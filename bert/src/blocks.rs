//! Numbers in 4 bits: blocks of 32 with one scale, as llama.cpp calls Q4_0.

use half::f16;

use crate::shape::{BLOCK, BLOCK_BYTES};

/// The number that is subtracted from half a byte, so that it has a sign.
const ZERO: i8 = 8;

pub fn numbers_of(block: &[u8; BLOCK_BYTES]) -> [f32; BLOCK] {
    let scale = f16::from_le_bytes([block[0], block[1]]).to_f32();
    let mut numbers = [0.0; BLOCK];
    for (j, byte) in block[2..].iter().enumerate() {
        numbers[j] = f32::from((byte & 0xF).cast_signed() - ZERO) * scale;
        numbers[BLOCK / 2 + j] = f32::from((byte >> 4).cast_signed() - ZERO) * scale;
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_of_bytes_are_numbers_with_a_sign() {
        let mut block = [0x88; BLOCK_BYTES];
        block[..2].copy_from_slice(&f16::from_f32(-0.5).to_le_bytes());
        (block[2], block[17]) = (0x0F, 0x70);
        let numbers = numbers_of(&block);
        assert_eq!((numbers[0], numbers[16]), (-3.5, 4.0));
        assert_eq!((numbers[15], numbers[31]), (4.0, 0.5));
        assert_eq!(numbers[1..15], [0.0; 14]);
    }
}
