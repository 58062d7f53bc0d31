//! Makes the packed files of all-MiniLM-L6-v2 and of ms-marco-MiniLM-L-12-v2 from their ONNX files.

use prost::bytes::Bytes;
use sha2::{Digest, Sha256};

use super::{Packing, rounded};
use crate::error::Result;
use crate::initialisers::{Initialisers, OnnxFile, Quantised};
use crate::shape::{INNER, POSITIONS, Shape, WIDTH};

const MINILM: OnnxFile = OnnxFile { model: "all-MiniLM-L6-v2", quantised: "_q" };
const MS_MARCO: OnnxFile = OnnxFile { model: "ms-marco-MiniLM-L-12-v2", quantised: "_quantized" };
/// The start of the names of the second model's matrices. A number follows, in the order of use.
const MATRIX: &str = "onnx::MatMul_";

/// Packs the weights of the ONNX file of all-MiniLM-L6-v2 with 8-bit weights. The caller says by a hash that it is this
/// file: of the graph only the initialisers are read.
///
/// # Errors
/// [`Error::Unusable`](crate::Error::Unusable) if the initialisers are not those of this model.
pub fn pack_minilm(onnx: Vec<u8>) -> Result<Vec<u8>> {
    let source = Sha256::digest(&onnx);
    let initialisers = Initialisers::read(Bytes::from(onnx), MINILM)?;
    let mut packing = Packing::new(Shape::MINILM);
    for (name, rows) in [("word", Shape::MINILM.vocabulary), ("position", POSITIONS)] {
        let name = format!("inner.embeddings.{name}_embeddings.weight");
        let table = initialisers.quantised_tensor(&name, [rows, WIDTH], rows)?;
        table.values.chunks_exact(WIDTH).zip(&table.scales).for_each(|(row, scale)| packing.push_bytes(row, *scale));
    }
    packing.end_rows();
    let matrices: Vec<&String> = initialisers.quantised().iter().filter(|name| !name.starts_with("inner.")).collect();
    push_layers(&initialisers, Shape::MINILM, "inner.encoder.layer", &matrices, &mut packing)?;
    let types = initialisers.floats("inner.embeddings.token_type_embeddings.weight", 2 * WIDTH)?;
    packing.push_numbers(types[..WIDTH].iter().copied());
    push_normalisation(&initialisers, "inner.embeddings.LayerNorm", &mut packing)?;
    Ok(packing.finish(&source, &[]))
}

/// Packs the weights of the ONNX file of ms-marco-MiniLM-L-12-v2 with 8-bit weights, in the same way.
///
/// # Errors
/// Errors of [`pack_minilm`].
pub fn pack_ms_marco(onnx: Vec<u8>) -> Result<Vec<u8>> {
    let source = Sha256::digest(&onnx);
    let initialisers = Initialisers::read(Bytes::from(onnx), MS_MARCO)?;
    let mut packing = Packing::new(Shape::MS_MARCO);
    for (name, rows) in [("word", Shape::MS_MARCO.vocabulary), ("position", POSITIONS)] {
        let table = initialisers.shifted_tensor(&format!("bert.embeddings.{name}_embeddings.weight"), [rows, WIDTH])?;
        for row in table.rows(WIDTH) {
            let (values, scale) = rounded(&row);
            packing.push_bytes(&values, scale);
        }
    }
    packing.end_rows();
    let number = |name: &&String| name.strip_prefix(MATRIX).and_then(|number| number.parse::<u32>().ok());
    let mut matrices: Vec<&String> = initialisers.quantised().iter().filter(|name| number(name).is_some()).collect();
    matrices.sort_by_key(number);
    push_layers(&initialisers, Shape::MS_MARCO, "bert.encoder.layer", &matrices, &mut packing)?;
    let types = initialisers.shifted_tensor("bert.embeddings.token_type_embeddings.weight", [2, WIDTH])?;
    let types: Vec<Vec<f32>> = types.rows(WIDTH).collect();
    packing.push_numbers(types[0].iter().copied());
    push_normalisation(&initialisers, "bert.embeddings.LayerNorm", &mut packing)?;
    let pooler = initialisers.quantised_tensor("bert.pooler.dense.weight", [WIDTH, WIDTH], 1)?;
    packing.push_panels(&pooler.values, WIDTH);
    packing.push_numbers([pooler.scales[0]; WIDTH]);
    packing.push_numbers(initialisers.floats("bert.pooler.dense.bias", WIDTH)?);
    packing.push_numbers(types[1].iter().copied());
    let classifier = initialisers.quantised_tensor("classifier.weight", [WIDTH, 1], 1)?;
    let weight = |value: &u8| f32::from(value.cast_signed()) * classifier.scales[0];
    packing.push_numbers(classifier.values.iter().map(weight));
    packing.push_numbers(initialisers.floats("classifier.bias", 1)?);
    Ok(packing.finish(&source, &[]))
}

/// Six matrices of each layer, with what is added and normalised.
fn push_layers(
    initialisers: &Initialisers,
    shape: Shape,
    of: &str,
    matrices: &[&String],
    packing: &mut Packing,
) -> Result<()> {
    let (layers, rest) = matrices.as_chunks::<6>();
    if layers.len() != shape.layers || !rest.is_empty() {
        return Err(initialisers.file.other(&format!("it has {} matrices", matrices.len())));
    }
    for (layer, names) in layers.iter().enumerate() {
        push_layer(initialisers, &format!("{of}.{layer}"), names, packing)?;
    }
    Ok(())
}

fn push_layer(initialisers: &Initialisers, layer: &str, names: &[&String; 6], packing: &mut Packing) -> Result<()> {
    let of = |name: &str| format!("{layer}.{name}");
    let square = |name| initialisers.matrix(name, [WIDTH, WIDTH]);
    // The order of the file is that of use: queries, keys, values, output, and the feed-forward network.
    let [query, key, value, output, inner, outer] = *names;
    let three: [Quantised; 3] = [square(query)?, square(key)?, square(value)?];
    let output = square(output)?;
    let inner = initialisers.matrix(inner, [WIDTH, INNER])?;
    let outer = initialisers.matrix(outer, [INNER, WIDTH])?;
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
