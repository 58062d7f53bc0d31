//! Makes the packed file of all-MiniLM-L6-v2 from its ONNX file.

use prost::bytes::Bytes;
use sha2::{Digest, Sha256};

use super::Packing;
use crate::error::Result;
use crate::initialisers::{Initialisers, Quantised, other_model};
use crate::shape::{INNER, POSITIONS, Shape, WIDTH};

/// Packs the weights of the ONNX file of all-MiniLM-L6-v2 with 8-bit weights. The caller says by a hash that it is this
/// file: of the graph only the initialisers are read.
///
/// # Errors
/// [`Error::Unusable`](crate::Error::Unusable) if the initialisers are not those of this model.
pub fn pack_minilm(onnx: Vec<u8>) -> Result<Vec<u8>> {
    let source = Sha256::digest(&onnx);
    let initialisers = Initialisers::read(Bytes::from(onnx))?;
    let mut packing = Packing::new(Shape::MINILM);
    for (name, rows) in [("word", Shape::MINILM.vocabulary), ("position", POSITIONS)] {
        let name = format!("inner.embeddings.{name}_embeddings.weight");
        let table = initialisers.quantised_tensor(&name, [rows, WIDTH], rows)?;
        table.values.chunks_exact(WIDTH).zip(&table.scales).for_each(|(row, scale)| packing.push_bytes(row, *scale));
    }
    packing.end_rows();
    let matrices: Vec<&String> = initialisers.quantised().iter().filter(|name| !name.starts_with("inner.")).collect();
    let (layers, rest) = matrices.as_chunks::<6>();
    if layers.len() != Shape::MINILM.layers || !rest.is_empty() {
        return Err(other_model(&format!("it has {} matrices", matrices.len())));
    }
    for (layer, names) in layers.iter().enumerate() {
        push_layer(&initialisers, layer, names, &mut packing)?;
    }
    let types = initialisers.floats("inner.embeddings.token_type_embeddings.weight", 2 * WIDTH)?;
    packing.push_numbers(types[..WIDTH].iter().copied());
    push_normalisation(&initialisers, "inner.embeddings.LayerNorm", &mut packing)?;
    Ok(packing.finish(&source, &[]))
}

fn push_layer(initialisers: &Initialisers, layer: usize, names: &[&String; 6], packing: &mut Packing) -> Result<()> {
    let of = |name: &str| format!("inner.encoder.layer.{layer}.{name}");
    let square = |name| initialisers.quantised_tensor(name, [WIDTH, WIDTH], WIDTH);
    // The order of the file is that of use: queries, keys, values, output, and the feed-forward network.
    let [query, key, value, output, inner, outer] = *names;
    let three: [Quantised; 3] = [square(query)?, square(key)?, square(value)?];
    let output = square(output)?;
    let inner = initialisers.quantised_tensor(inner, [WIDTH, INNER], INNER)?;
    let outer = initialisers.quantised_tensor(outer, [INNER, WIDTH], WIDTH)?;
    for matrix in three.iter().chain([&output]) {
        packing.push_panels(&matrix.values, WIDTH);
    }
    packing.push_panels(&inner.values, INNER);
    packing.push_panels(&outer.values, WIDTH);
    let bias = |name: &str, len| initialisers.floats(&of(&format!("{name}.bias")), len);
    for matrix in &three {
        packing.push_numbers(matrix.scales.iter().copied());
    }
    for name in ["query", "key", "value"] {
        packing.push_numbers(bias(&format!("attention.self.{name}"), WIDTH)?);
    }
    for (matrix, name, len) in [
        (output, "attention.output.dense", WIDTH),
        (inner, "intermediate.dense", INNER),
        (outer, "output.dense", WIDTH),
    ] {
        packing.push_numbers(matrix.scales);
        packing.push_numbers(bias(name, len)?);
    }
    for name in ["attention.output.LayerNorm", "output.LayerNorm"] {
        push_normalisation(initialisers, &of(name), packing)?;
    }
    Ok(())
}

fn push_normalisation(initialisers: &Initialisers, name: &str, packing: &mut Packing) -> Result<()> {
    for part in ["weight", "bias"] {
        packing.push_numbers(initialisers.floats(&format!("{name}.{part}"), WIDTH)?);
    }
    Ok(())
}
