//! Makes the packed file from the ONNX file.

use prost::bytes::Bytes;
use sha2::{Digest, Sha256};

use crate::error::Result;
use crate::format::{
    self, BODY, BODY_CRC, HEADER, HEADER_CHECKED, LEN, MAGIC, NUMBERS_AT, PANEL, ROW, SOURCE, VERSION,
};
use crate::initialisers::{Initialisers, Quantised, other_model};
use crate::shape::{INNER, LAYERS, POSITIONS, VOCABULARY, WIDTH};

/// Packs the weights of the ONNX file of all-MiniLM-L6-v2 with 8-bit weights. The caller says by a hash that it is this
/// file: of the graph only the initialisers are read.
///
/// # Errors
/// [`Error::Unusable`](crate::Error::Unusable) if the initialisers are not those of this model.
pub fn pack(onnx: Vec<u8>) -> Result<Vec<u8>> {
    let source = Sha256::digest(&onnx);
    let initialisers = Initialisers::read(Bytes::from(onnx))?;
    let mut file = Vec::with_capacity(LEN);
    file.resize(HEADER, 0);
    for (name, rows) in [("word", VOCABULARY), ("position", POSITIONS)] {
        let name = format!("inner.embeddings.{name}_embeddings.weight");
        push_rows(&mut file, &initialisers.quantised_tensor(&name, [rows, WIDTH], rows)?);
    }
    file.resize(BODY, 0);
    let mut numbers = Vec::with_capacity(format::NUMBERS);
    let matrices: Vec<&String> = initialisers.quantised().iter().filter(|name| !name.starts_with("inner.")).collect();
    let (layers, rest) = matrices.as_chunks::<6>();
    if layers.len() != LAYERS || !rest.is_empty() {
        return Err(other_model(&format!("it has {} matrices", matrices.len())));
    }
    for (layer, names) in layers.iter().enumerate() {
        push_layer(&initialisers, layer, names, &mut file, &mut numbers)?;
    }
    let types = initialisers.floats("inner.embeddings.token_type_embeddings.weight", 2 * WIDTH)?;
    numbers.extend_from_slice(&types[..WIDTH]);
    push_normalisation(&initialisers, "inner.embeddings.LayerNorm", &mut numbers)?;
    debug_assert_eq!(file.len(), NUMBERS_AT);
    file.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    debug_assert_eq!(file.len(), LEN);
    file[..16].copy_from_slice(&MAGIC);
    file[16..20].copy_from_slice(&VERSION.to_le_bytes());
    file[SOURCE].copy_from_slice(&source);
    let crc = crc32fast::hash(&file[BODY..]).to_le_bytes();
    file[BODY_CRC].copy_from_slice(&crc);
    let crc = crc32fast::hash(&file[HEADER_CHECKED]).to_le_bytes();
    file[20..24].copy_from_slice(&crc);
    Ok(file)
}

fn push_rows(file: &mut Vec<u8>, table: &Quantised) {
    for (values, scale) in table.values.chunks_exact(WIDTH).zip(&table.scales) {
        let start = file.len();
        file.extend_from_slice(values);
        file.extend_from_slice(&scale.to_le_bytes());
        let crc = crc32fast::hash(&file[start..]);
        file.extend_from_slice(&crc.to_le_bytes());
        debug_assert_eq!(file.len(), start + ROW);
    }
}

fn push_layer(
    initialisers: &Initialisers,
    layer: usize,
    names: &[&String; 6],
    file: &mut Vec<u8>,
    numbers: &mut Vec<f32>,
) -> Result<()> {
    let of = |name: &str| format!("inner.encoder.layer.{layer}.{name}");
    let square = |name| initialisers.quantised_tensor(name, [WIDTH, WIDTH], WIDTH);
    // The order of the file is that of use: queries, keys, values, output, and the feed-forward network.
    let [query, key, value, output, inner, outer] = *names;
    let three = [square(query)?, square(key)?, square(value)?];
    let output = square(output)?;
    let inner = initialisers.quantised_tensor(inner, [WIDTH, INNER], INNER)?;
    let outer = initialisers.quantised_tensor(outer, [INNER, WIDTH], WIDTH)?;
    for matrix in three.iter().chain([&output]) {
        push_panels(file, matrix, WIDTH);
    }
    push_panels(file, &inner, INNER);
    push_panels(file, &outer, WIDTH);
    let bias = |name: &str, len| initialisers.floats(&of(&format!("{name}.bias")), len);
    for matrix in &three {
        numbers.extend_from_slice(&matrix.scales);
    }
    for name in ["query", "key", "value"] {
        numbers.extend(bias(&format!("attention.self.{name}"), WIDTH)?);
    }
    for (matrix, name, len) in [
        (&output, "attention.output.dense", WIDTH),
        (&inner, "intermediate.dense", INNER),
        (&outer, "output.dense", WIDTH),
    ] {
        numbers.extend_from_slice(&matrix.scales);
        numbers.extend(bias(name, len)?);
    }
    for name in ["attention.output.LayerNorm", "output.LayerNorm"] {
        push_normalisation(initialisers, &of(name), numbers)?;
    }
    Ok(())
}

/// Appends a matrix of `[inputs, outputs]` in panels.
fn push_panels(file: &mut Vec<u8>, matrix: &Quantised, outputs: usize) {
    let rows: Vec<&[u8]> = matrix.values.chunks_exact(outputs).collect();
    for panel in (0..outputs).step_by(PANEL) {
        for pair in rows.chunks_exact(2) {
            file.extend((panel..panel + PANEL).flat_map(|output| [pair[0][output], pair[1][output]]));
        }
    }
}

fn push_normalisation(initialisers: &Initialisers, name: &str, numbers: &mut Vec<f32>) -> Result<()> {
    for part in ["weight", "bias"] {
        numbers.extend(initialisers.floats(&format!("{name}.{part}"), WIDTH)?);
    }
    Ok(())
}
