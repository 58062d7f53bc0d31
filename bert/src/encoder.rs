//! From tokens to vectors of length 1: the embeddings, the layers, the mean.

use crate::attention;
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::linear::{Activations, multiply};
use crate::maths::{gelu, sum};
use crate::shape::{EPSILON, INNER, POSITIONS, WIDTH};
use crate::weights::{Normalisation, Weights};

/// Memory that is used again: about 14 kB per token of the largest batch so far.
#[derive(Default)]
pub struct Scratch {
    tokens: Vec<f32>,
    activations: Activations,
    projected: Vec<f32>,
    attended: Vec<f32>,
    inner: Vec<f32>,
    added: Vec<f32>,
    attention: attention::Scratch,
}

/// The vectors of `texts`, each given by its tokens. The texts share each read of the weights; a vector is the same, bit
/// for bit, whatever is beside it.
pub fn encode(weights: &Weights, kernel: Kernel, texts: &[&[u32]], scratch: &mut Scratch) -> Result<Vec<Vec<f32>>> {
    let count = texts.iter().map(|text| text.len()).sum::<usize>();
    let Scratch { tokens, activations, projected, attended, inner, added, attention } = scratch;
    tokens.resize(count * WIDTH, 0.0);
    projected.resize(count * 3 * WIDTH, 0.0);
    attended.resize(count * WIDTH, 0.0);
    inner.resize(count * INNER, 0.0);
    added.resize(count * WIDTH, 0.0);
    let mut rows = tokens.chunks_exact_mut(WIDTH);
    for text in texts {
        if text.is_empty() || text.len() > POSITIONS {
            return Err(Error::Tokens(format!("a text has {} tokens, not 1 to {POSITIONS}", text.len())));
        }
        for ((position, token), row) in text.iter().enumerate().zip(&mut rows) {
            weights.embed(*token, position, row)?;
        }
    }
    normalise(kernel, tokens, &[], weights.after_embedding());
    for layer in 0..weights.shape().layers {
        let layer = weights.layer(layer);
        activations.round(kernel, tokens, WIDTH);
        multiply(kernel, activations, layer.attend, projected);
        let mut start = 0;
        for text in texts {
            let end = start + text.len();
            let (projected, attended) =
                (&projected[start * 3 * WIDTH..end * 3 * WIDTH], &mut attended[start * WIDTH..end * WIDTH]);
            kernel.run(
                #[inline(always)]
                |fused| attention::attend(fused, projected, attended, attention),
            );
            start = end;
        }
        activations.round(kernel, attended, WIDTH);
        multiply(kernel, activations, layer.gather, added);
        normalise(kernel, tokens, added, layer.after_attention);
        activations.round(kernel, tokens, WIDTH);
        multiply(kernel, activations, layer.inner, inner);
        kernel.run(
            #[inline(always)]
            |fused| {
                for number in &mut *inner {
                    *number = gelu(fused, *number);
                }
            },
        );
        activations.round(kernel, inner, INNER);
        multiply(kernel, activations, layer.outer, added);
        normalise(kernel, tokens, added, layer.after_network);
    }
    let mut start = 0;
    Ok(texts
        .iter()
        .map(|text| {
            let rows = &tokens[start * WIDTH..(start + text.len()) * WIDTH];
            start += text.len();
            pool(rows)
        })
        .collect())
}

/// Adds `added` to the tokens, if it is not empty, and normalises each.
fn normalise(kernel: Kernel, tokens: &mut [f32], added: &[f32], normalisation: Normalisation<'_>) {
    kernel.run(
        #[inline(always)]
        |_| {
            for i in 0..added.len() {
                tokens[i] += added[i];
            }
            for row in tokens.as_chunks_mut::<WIDTH>().0 {
                let mean = sum(row, |number| number) / WIDTH as f32;
                let variance = sum(row, |number| (number - mean) * (number - mean)) / WIDTH as f32;
                let factor = 1.0 / (variance + EPSILON).sqrt();
                for i in 0..WIDTH {
                    row[i] = (row[i] - mean) * factor * normalisation.factors[i] + normalisation.offsets[i];
                }
            }
        },
    );
}

/// The mean of the tokens, of length 1.
fn pool(rows: &[f32]) -> Vec<f32> {
    let mut pooled = vec![0.0f32; WIDTH];
    for row in rows.chunks_exact(WIDTH) {
        for (sum, number) in pooled.iter_mut().zip(row) {
            *sum += number;
        }
    }
    let length = sum(&pooled, |number| number * number).sqrt();
    pooled.iter_mut().for_each(|number| *number /= length);
    pooled
}
