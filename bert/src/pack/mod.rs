//! Makes the packed file.
//!
//! | file | job |
//! |---|---|
//! | `onnx` | from the ONNX files of all-MiniLM-L6-v2 and ms-marco-MiniLM-L-12-v2 |
//! | `e5` | from the file of multilingual-e5-small in 4 bits |

pub mod e5;
pub mod onnx;

use crate::format::{BODY_CRC, HEADER, HEADER_CHECKED, MAGIC, PANEL, REST_CRC, SOURCE, VERSION};
use crate::shape::Shape;

/// The largest weight in 8 bits.
const LARGEST: f32 = 127.0;

/// A packed file in the making. Its parts are pushed in the order of the file.
struct Packing {
    shape: Shape,
    file: Vec<u8>,
    numbers: Vec<f32>,
}

impl Packing {
    fn new(shape: Shape) -> Self {
        let mut file = Vec::with_capacity(shape.rest());
        file.resize(HEADER, 0);
        Packing { shape, file, numbers: Vec::new() }
    }

    /// A row as it is, and its CRC.
    fn push_row(&mut self, row: &[u8]) {
        self.file.extend_from_slice(row);
        self.file.extend_from_slice(&crc32fast::hash(row).to_le_bytes());
    }

    /// A row in 8 bits with its scale.
    fn push_bytes(&mut self, values: &[u8], scale: f32) {
        let start = self.file.len();
        self.file.extend_from_slice(values);
        self.file.extend_from_slice(&scale.to_le_bytes());
        let crc = crc32fast::hash(&self.file[start..]);
        self.file.extend_from_slice(&crc.to_le_bytes());
    }

    /// The body follows.
    fn end_rows(&mut self) {
        self.file.resize(self.shape.body(), 0);
    }

    /// A matrix of `outputs` columns, in panels: its rows are inputs, an even number of them.
    fn push_panels(&mut self, matrix: &[u8], outputs: usize) {
        let rows: Vec<&[u8]> = matrix.chunks_exact(outputs).collect();
        for panel in (0..outputs).step_by(PANEL) {
            for pair in rows.chunks_exact(2) {
                self.file.extend((panel..panel + PANEL).flat_map(|output| [pair[0][output], pair[1][output]]));
            }
        }
    }

    fn push_numbers(&mut self, numbers: impl IntoIterator<Item = f32>) {
        self.numbers.extend(numbers);
    }

    /// The file, made from one with the SHA-256 `source`.
    fn finish(mut self, source: &[u8], rest: &[u8]) -> Vec<u8> {
        debug_assert_eq!(self.file.len(), self.shape.numbers());
        self.file.extend(self.numbers.iter().flat_map(|number| number.to_le_bytes()));
        debug_assert_eq!(self.file.len(), self.shape.rest());
        let mut file = self.file;
        let crc = crc32fast::hash(&file[self.shape.body()..]).to_le_bytes();
        file[BODY_CRC].copy_from_slice(&crc);
        file[REST_CRC].copy_from_slice(&crc32fast::hash(rest).to_le_bytes());
        file.extend_from_slice(rest);
        file[..16].copy_from_slice(&MAGIC);
        file[16..20].copy_from_slice(&VERSION.to_le_bytes());
        file[SOURCE].copy_from_slice(source);
        let crc = crc32fast::hash(&file[HEADER_CHECKED]).to_le_bytes();
        file[20..24].copy_from_slice(&crc);
        file
    }
}

/// Numbers in 8 bits, and what a whole one is worth.
fn rounded(numbers: &[f32]) -> (Vec<u8>, f32) {
    let largest = numbers.iter().fold(0.0f32, |most, number| most.max(number.abs()));
    let factor = if largest > 0.0 { LARGEST / largest } else { 0.0 };
    let values = numbers.iter().map(|number| ((number * factor).round_ties_even() as i8).cast_unsigned()).collect();
    (values, largest / LARGEST)
}
