//! The encoder, from tokens to an output: the embeddings, the layers, then the mean, or the logit of a pair.

use crate::attention;
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::linear::{Activations, multiply};
use crate::maths::{gelu, sum};
use crate::shape::{EPSILON, Head, INNER, POSITIONS, WIDTH};
use crate::weights::{Kind, Normalisation, Weights};

/// Memory that is used again: about 14 kB per token of the largest batch so far.
#[derive(Default)]
pub struct Scratch {
    tokens: Vec<f32>,
    activations: Activations,
    projected: Vec<f32>,
    attended: Vec<f32>,
    inner: Vec<f32>,
    added: Vec<f32>,
    attention: attention::AttentionScratch,
}

/// The tokens of a text, or of a pair of texts.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    /// All of them, with the marks between and around them.
    pub tokens: &'a [u32],
    /// Where the second text begins; without one, the number of tokens.
    pub second: usize,
}

/// The vectors of `texts`, of length 1. The texts share each read of the weights; a vector is the same, bit for bit, whatever
/// is beside it.
pub fn encode(weights: &Weights, kernel: Kernel, texts: &[Input<'_>], scratch: &mut Scratch) -> Result<Vec<Vec<f32>>> {
    run(weights, kernel, texts, scratch)?;
    let mut start = 0;
    Ok(texts
        .iter()
        .map(|text| {
            let rows = &scratch.tokens[start * WIDTH..(start + text.tokens.len()) * WIDTH];
            start += text.tokens.len();
            pool(rows)
        })
        .collect())
}

/// How well the second text of a pair answers the first one, as a logit.
pub fn judge(weights: &Weights, kernel: Kernel, pair: Input<'_>, scratch: &mut Scratch) -> Result<f32> {
    run(weights, kernel, &[pair], scratch)?;
    let Scratch { tokens, activations, added, .. } = scratch;
    let head = weights.logit_head();
    activations.round(kernel, tokens, WIDTH);
    multiply(kernel, activations, head.pool, added);
    let weighed = added.iter().zip(head.weights).map(|(number, weight)| number.tanh() * weight);
    Ok(weighed.sum::<f32>() + head.bias)
}

/// Runs all layers over the tokens, which are left in `scratch`: of a model of pairs, the first of each text alone.
fn run(weights: &Weights, kernel: Kernel, texts: &[Input<'_>], scratch: &mut Scratch) -> Result<()> {
    let count = texts.iter().map(|text| text.tokens.len()).sum::<usize>();
    let Scratch { tokens, activations, projected, attended, inner, added, attention } = scratch;
    tokens.resize(count * WIDTH, 0.0);
    projected.resize(count * 3 * WIDTH, 0.0);
    attended.resize(count * WIDTH, 0.0);
    inner.resize(count * INNER, 0.0);
    added.resize(count * WIDTH, 0.0);
    let mut rows = tokens.chunks_exact_mut(WIDTH);
    for text in texts {
        let ids = text.tokens;
        if ids.is_empty() || ids.len() > POSITIONS {
            return Err(Error::Tokens(format!("a text has {} tokens, not 1 to {POSITIONS}", ids.len())));
        }
        for ((position, token), row) in ids.iter().enumerate().zip(&mut rows) {
            let kind = if position < text.second { Kind::First } else { Kind::Second };
            weights.embed(*token, kind, position, row)?;
        }
    }
    normalise(kernel, tokens, &[], weights.after_embedding());
    let shape = weights.shape();
    for number in 0..shape.layers {
        let layer = weights.layer(number);
        activations.round(kernel, tokens, WIDTH);
        multiply(kernel, activations, layer.attend, projected);
        let mut start = 0;
        for text in texts {
            let end = start + text.tokens.len();
            let (projected, attended) =
                (&projected[start * 3 * WIDTH..end * 3 * WIDTH], &mut attended[start * WIDTH..end * WIDTH]);
            kernel.run(
                #[inline(always)]
                |fused| attention::attend(fused, projected, attended, attention),
            );
            start = end;
        }
        if shape.head == Head::Logit && number + 1 == shape.layers {
            keep_first(tokens, texts);
            keep_first(attended, texts);
            inner.truncate(texts.len() * INNER);
            added.truncate(texts.len() * WIDTH);
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
    Ok(())
}

/// Keeps the first row of each text.
fn keep_first(rows: &mut Vec<f32>, texts: &[Input<'_>]) {
    let mut start = 0;
    for (place, text) in texts.iter().enumerate() {
        rows.copy_within(start * WIDTH..(start + 1) * WIDTH, place * WIDTH);
        start += text.tokens.len();
    }
    rows.truncate(texts.len() * WIDTH);
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
