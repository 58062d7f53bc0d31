//! Edges of a node: one bit for each number of the way to a neighbor, beside the links, so that one pass over a few cache
//! lines estimates the similarity of a query to all neighbors.
//!
//! Gou, Gao, Xu and Long, "SymphonyQG", arXiv 2411.12229, with the estimator of RaBitQ, arXiv 2405.12497. Let c be the
//! node, o a neighbour, r = o - c, and s the signs of r (1 or -1). Then `<o, q> = <c, q> + <r, q>`, and `<r, q>` is
//! about `<r, c> + a * (<s, q> - <s, c>)`, where `a = |r|^2 / sum(|r_i|)` makes the estimate exact for q = c + r and
//! without bias for the other directions. `<s, q>` is a sum of entries of small tables: one for each four numbers of
//! the query, with the sixteen sums that their signs can make.

use std::hint::black_box;

use super::vectors::Vectors;
use crate::format::node::{BATCH, Edges, OFFSET_STEP, SLOPE_STEP, batch_words};
use crate::ids::Slot;
use crate::quantize::{Row, round};
use crate::simd::Kernel;
use crate::simd::query::EdgeQuery;

/// Numbers of a vector that share a table.
const GROUP: usize = 4;
/// Numbers whose signs are made at once.
const LANES: usize = 16;
/// The signs that a number of a group has in each entry of its table.
const SIGNS: [[f32; 16]; GROUP] = {
    let mut signs = [[-1.0; 16]; GROUP];
    let mut bits = 0;
    while bits < 16 {
        let mut at = 0;
        while at < GROUP {
            if bits >> at & 1 == 1 {
                signs[at][bits] = 1.0;
            }
            at += 1;
        }
        bits += 1;
    }
    signs
};

impl EdgeQuery {
    /// Fills the tables for a query, whose length is a multiple of 64.
    pub(crate) fn fill(&mut self, query: &[f32]) {
        let (groups, _) = query.as_chunks::<GROUP>();
        let reach = |group: &[f32; GROUP]| group.iter().map(|x| x.abs()).sum::<f32>();
        let largest = groups.iter().map(reach).fold(f32::MIN_POSITIVE, f32::max);
        let per_entry = 255.0 / (2.0 * largest);
        self.tables.clear();
        self.tables.resize(16 * groups.len(), 0);
        let tables = self.tables.as_chunks_mut::<16>().0;
        Kernel::detect().run(
            #[inline(always)]
            || {
                for (table, group) in tables.iter_mut().zip(groups) {
                    for (bits, entry) in table.iter_mut().enumerate() {
                        let signed = |at: usize| group[at] * SIGNS[at][bits];
                        let sum = signed(0) + signed(1) + signed(2) + signed(3);
                        *entry = round((sum + largest) * per_entry) as u8;
                    }
                }
            },
        );
        let scale = SLOPE_STEP / (query.len() as f32).sqrt();
        self.step = scale / per_entry;
        self.shift = scale * largest * groups.len() as f32;
    }
}

/// Puts edges from one centre into a node.
#[derive(Default)]
pub(crate) struct Encoder {
    centre: Vec<f32>,
    signs: Vec<u16>,
}

impl Encoder {
    /// The next edges go out from a slot.
    pub(crate) fn centre_on(&mut self, vectors: &Vectors<'_>, slot: Slot) {
        self.centre.clear();
        vectors.row(slot).into_iter().for_each(|row| row.decode_into(&mut self.centre));
    }

    /// The next edges go out from zero, as those to the entries do.
    pub(crate) fn centre_on_zero(&mut self, vectors: &Vectors<'_>) {
        self.centre.clear();
        self.centre.resize(vectors.codes.stride(), 0.0);
    }

    /// The edges to these neighbours, in so many words.
    pub(crate) fn edges(&mut self, vectors: &Vectors<'_>, neighbours: &[Slot], words: usize) -> Vec<u32> {
        let mut edges = vec![0; words];
        neighbours.iter().enumerate().for_each(|(place, &slot)| self.put(vectors, slot, place, &mut edges));
        edges
    }

    /// Puts the edge to a neighbour at its place among `edges`, all that go out from the centre.
    pub(crate) fn put(&mut self, vectors: &Vectors<'_>, neighbour: Slot, place: usize, edges: &mut [u32]) {
        let Self { centre, signs } = self;
        let Some(neighbour) = vectors.row(neighbour) else { return };
        let Some(batch) = edges.chunks_exact_mut(batch_words(centre.len())).nth(place / BATCH) else { return };
        signs.resize(centre.len() / LANES, 0);
        let way = vectors.codes.kernel().run(
            #[inline(always)]
            || Way::between(centre, neighbour, signs),
        );
        let root = (centre.len() as f32).sqrt();
        let slope = if way.reach > 0.0 { way.square / way.reach } else { 0.0 };
        // Both saturate, which only the ways along a single axis come near to.
        let slope = (slope * root / SLOPE_STEP).round() as u16;
        // What rounding takes from the slope, the offset makes good near the centre.
        let rounded = f32::from(slope) * SLOPE_STEP / root;
        let offset = ((way.on_centre - rounded * way.signed_centre) / OFFSET_STEP).round() as i16;
        let at = place % BATCH;
        let (slopes, rest) = batch.split_at_mut(BATCH / 2);
        let (offsets, all_signs) = rest.split_at_mut(BATCH / 2);
        bytemuck::cast_slice_mut(slopes)[at] = slope;
        bytemuck::cast_slice_mut(offsets)[at] = offset;
        // Where each 16 bytes have the signs of this neighbour.
        let (byte, shift) = (2 * (at % 8) + at / 8 % 2, 4 * (at / 16));
        for (groups, &signs) in
            bytemuck::cast_slice_mut::<_, [[u8; 16]; LANES / GROUP]>(all_signs).iter_mut().zip(&*signs)
        {
            for (group, bytes) in groups.iter_mut().enumerate() {
                let four = (signs >> (group * GROUP) & 15) as u8;
                bytes[byte] = bytes[byte] & !(15 << shift) | four << shift;
            }
        }
    }
}

/// Sums over the numbers r of the way from a node c to its neighbour.
struct Way {
    /// Sum of r * r.
    square: f32,
    /// Sum of |r|.
    reach: f32,
    /// Sum of r * c.
    on_centre: f32,
    /// Sum of c where r is positive, and of -c elsewhere.
    signed_centre: f32,
}

impl Way {
    /// Sums up, and puts a bit into `signs` where r is positive, the first number lowest. The order in which the lanes
    /// are added up is part of the format: [`verify`](crate::Snapshot::verify) makes the edges again and compares.
    #[inline(always)]
    fn between(centre: &[f32], neighbour: Row<'_>, signs: &mut [u16]) -> Self {
        let mut sums = [[0f32; LANES]; 4];
        let step = neighbour.scale / 256.0;
        let (coarse, fine) = (neighbour.coarse.as_chunks::<LANES>().0, neighbour.fine.as_chunks::<LANES>().0);
        let chunks = centre.as_chunks::<LANES>().0.iter().zip(coarse).zip(fine);
        for (((centre, coarse), fine), signs) in chunks.zip(signs) {
            let mut bits = 0u16;
            for lane in 0..LANES {
                let c = centre[lane];
                let code = (i32::from(coarse[lane]) << 8) + i32::from(fine[lane]);
                let r = code as f32 * step - c;
                sums[0][lane] += r * r;
                sums[1][lane] += r.abs();
                sums[2][lane] += r * c;
                sums[3][lane] += if r > 0.0 { c } else { -c };
                bits |= u16::from(r > 0.0) << lane;
            }
            *signs = bits;
        }
        let [square, reach, on_centre, signed_centre] = sums.map(|lanes| lanes.iter().sum());
        Self { square, reach, on_centre, signed_centre }
    }
}

/// For the bench of the kernels: makes estimates of 32 neighbours in vectors of `width` numbers, a multiple of 64, as
/// often as it is called.
#[doc(hidden)]
pub fn estimating(kernel: Kernel, width: usize) -> impl FnMut() -> u32 {
    let mut query = EdgeQuery::default();
    query.fill(&(0..width).map(|at| (at * 37 % 101) as f32 - 50.0).collect::<Vec<_>>());
    let signs: Vec<u8> = (0..BATCH * width / 8).map(|at| (at * 7 % 251) as u8).collect();
    let mut estimates = [0.0; BATCH];
    move || {
        let edges = Edges { slopes: &[1 << 14; BATCH], offsets: &[0; BATCH], signs: black_box(&signs) };
        kernel.estimate(edges, black_box(&query), 0.5, 0.5, &mut estimates)
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::*;
    use crate::quantize::Quantized;
    use crate::rotate::Rotation;

    fn vectors(dims: usize, count: usize) -> (Quantized, Vec<Vec<f32>>) {
        let rotation = Rotation::new(dims);
        let mut quantized = Quantized::default();
        let units = (0..count).map(|row| {
            let vector: Vec<f32> = (0..dims)
                .map(|at| ((at * 31 + row * 17 + at * row * 7) % 101) as f32 / 50.0 - 1.0 + 40.0 / (1 + at) as f32)
                .collect();
            let mut unit = Vec::new();
            rotation.unit(&vector, &mut unit).unwrap();
            quantized.push(&unit);
            unit
        });
        let units = units.collect();
        (quantized, units)
    }

    fn encode(vectors: &Vectors<'_>, slot: Slot, neighbours: Range<Slot>) -> Vec<u32> {
        let mut words = vec![0; batch_words(vectors.codes.stride())];
        let mut encoder = Encoder::default();
        encoder.centre_on(vectors, slot);
        // What was there before leaves nothing behind.
        (0..BATCH).for_each(|place| encoder.put(vectors, 39 - place as Slot, place, &mut words));
        for (place, neighbour) in neighbours.enumerate() {
            encoder.put(vectors, neighbour, place, &mut words);
        }
        words
    }

    #[test]
    fn estimates_are_near_and_those_along_the_way_exact() {
        for dims in [64, 384, 1000, 4096] {
            let (quantized, units) = vectors(dims, 40);
            let vectors = Vectors::of(&quantized, dims);
            let neighbours = 1..28;
            let words = encode(&vectors, 0, neighbours.clone());
            let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f32>();
            let mut query = EdgeQuery::default();
            let mut estimates = [0.0; BATCH];
            let mut worst = 0f32;
            for query_row in 28..40 {
                query.fill(&units[query_row]);
                let base = dot(&units[0], &units[query_row]);
                vectors.codes.kernel().estimate(Edges::parse(&words).unwrap(), &query, base, 0.0, &mut estimates);
                for (neighbour, estimate) in neighbours.clone().zip(estimates) {
                    worst = worst.max((dot(&units[neighbour as usize], &units[query_row]) - estimate).abs());
                }
            }
            assert!(worst < 4.0 / (dims as f32).sqrt(), "{dims}: {worst}");
            // From the node itself to a neighbour the way is known best.
            query.fill(&units[5]);
            vectors.codes.kernel().estimate(
                Edges::parse(&words).unwrap(),
                &query,
                dot(&units[0], &units[5]),
                0.0,
                &mut estimates,
            );
            assert!((estimates[4] - 1.0).abs() < 0.01, "{dims}: {}", estimates[4]);
        }
    }

    #[test]
    fn every_kernel_estimates_the_same() {
        for dims in [64, 384, 1088, 4096] {
            let (quantized, units) = vectors(dims, 34);
            let vectors = Vectors::of(&quantized, dims);
            let words = encode(&vectors, 0, 1..33);
            let mut query = EdgeQuery::default();
            query.fill(&units[33]);
            let estimates = Kernel::available().into_iter().map(|kernel| {
                let mut estimates = [0.0; BATCH];
                let above = kernel.estimate(Edges::parse(&words).unwrap(), &query, 0.25, 0.25, &mut estimates);
                (kernel.name(), above, estimates.map(f32::to_bits))
            });
            let estimates: Vec<_> = estimates.collect();
            assert!(![0, u32::MAX].contains(&estimates[0].1), "some are above the bar and some are not");
            for (name, above, other) in &estimates {
                assert_eq!((above, other), (&estimates[0].1, &estimates[0].2), "{name}, {dims}");
            }
        }
    }
}
