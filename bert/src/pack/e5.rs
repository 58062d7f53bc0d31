//! Makes the packed file of multilingual-e5-small from its file in 4 bits.
//!
//! Matrices are widened to 8 bits with one scale per output, so that they run on the same kernels. The vectors of tokens stay
//! as they are: there are 96 million numbers, of which a text needs a few thousand.

use sha2::{Digest, Sha256};

use super::{Packing, rounded};
use crate::blocks::numbers_of;
use crate::e5_file::E5File;
use crate::error::Result;
use crate::shape::{BLOCK, INNER, POSITIONS, Shape, WIDTH};

/// Packs the weights of `file`, with the bytes `rest`. The caller says by a hash that it is this file.
///
/// # Errors
/// [`Error::Unusable`](crate::Error::Unusable) if it is another.
pub fn pack_e5(file: &[u8], rest: &[u8]) -> Result<Vec<u8>> {
    let shape = Shape::E5_SMALL;
    let source = Sha256::digest(file);
    let file = E5File::read(file)?;
    let mut packing = Packing::new(shape);
    for row in file.blocks("emb.word", shape.vocabulary * WIDTH)?.chunks_exact(WIDTH / BLOCK) {
        packing.push_row(row.as_flattened());
    }
    for row in file.floats("emb.pos", POSITIONS * WIDTH)?.chunks_exact(WIDTH) {
        let (values, scale) = rounded(row);
        packing.push_bytes(&values, scale);
    }
    packing.end_rows();
    for layer in 0..shape.layers {
        push_layer(&file, layer, &mut packing)?;
    }
    let types = file.floats("emb.type", 2 * WIDTH)?;
    packing.push_numbers(types[..WIDTH].iter().copied());
    push_normalisation(&file, "emb.ln", &mut packing)?;
    Ok(packing.finish(&source, rest))
}

fn push_layer(file: &E5File<'_>, layer: usize, packing: &mut Packing) -> Result<()> {
    let of = |name: &str| format!("l{layer}.{name}");
    let push = |packing: &mut Packing, name: &str, inputs, outputs| -> Result<Vec<f32>> {
        let (values, scales) = widened(file, &of(&format!("{name}.w")), inputs, outputs)?;
        packing.push_panels(&values, outputs);
        Ok(scales)
    };
    let bias = |name: &str, len| file.floats(&of(&format!("{name}.b")), len);
    for name in ["q", "k", "v"] {
        let scales = push(packing, name, WIDTH, WIDTH)?;
        packing.push_numbers(scales);
    }
    for name in ["q", "k", "v"] {
        packing.push_numbers(bias(name, WIDTH)?);
    }
    for (name, inputs, outputs) in [("ao", WIDTH, WIDTH), ("fi", WIDTH, INNER), ("fo", INNER, WIDTH)] {
        let scales = push(packing, name, inputs, outputs)?;
        packing.push_numbers(scales);
        packing.push_numbers(bias(name, outputs)?);
    }
    for name in ["aln", "oln"] {
        push_normalisation(file, &of(name), packing)?;
    }
    Ok(())
}

/// A matrix of `[outputs, inputs]` in blocks as one of `[inputs, outputs]` in 8 bits, with a scale per output.
fn widened(file: &E5File<'_>, name: &str, inputs: usize, outputs: usize) -> Result<(Vec<u8>, Vec<f32>)> {
    let (mut values, mut scales) = (vec![0; inputs * outputs], Vec::with_capacity(outputs));
    let mut row = vec![0.0; inputs];
    for (output, blocks) in file.blocks(name, inputs * outputs)?.chunks_exact(inputs / BLOCK).enumerate() {
        for (block, numbers) in blocks.iter().zip(row.as_chunks_mut::<BLOCK>().0) {
            *numbers = numbers_of(block);
        }
        let (rounded, scale) = rounded(&row);
        for (input, value) in rounded.into_iter().enumerate() {
            values[input * outputs + output] = value;
        }
        scales.push(scale);
    }
    Ok((values, scales))
}

fn push_normalisation(file: &E5File<'_>, name: &str, packing: &mut Packing) -> Result<()> {
    for part in ["w", "b"] {
        packing.push_numbers(file.floats(&format!("{name}.{part}"), WIDTH)?);
    }
    Ok(())
}
