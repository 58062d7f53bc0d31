//! Numbers that look random and are the same everywhere: SplitMix64 (Steele, Lea and Flood, "Fast splittable
//! pseudorandom number generators", 2014). Part of the format: the rotation's flips of signs come from it.

const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The next number after `state`, which moves on.
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(STEP);
    mix(*state)
}

/// 1 or -1, as the next number has its highest bit clear or set.
pub(crate) fn sign(state: &mut u64) -> f32 {
    if split_mix(state) >> 63 == 0 { 1.0 } else { -1.0 }
}

/// The number of a key: neighbouring keys get independent ones.
pub(crate) fn of_key(seed: u64, key: u64) -> u64 {
    mix(seed ^ key.wrapping_mul(STEP))
}

fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}
