//! The model, ready to run.

use std::fmt;
use std::fs::File;
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use crate::encoder::{Input, Scratch, encode, judge};
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::map::Mapped;
use crate::shape::{Head, Shape};
use crate::weights::Weights;

/// Tokens of a batch of texts, from which on another is begun. Weights are read once a batch; more tokens leave the
/// processor's cache.
const BATCH_TOKENS: usize = 96;
/// Callers at once whose scratch memory is kept.
const KEPT: usize = 4;

/// A model with 8-bit weights.
pub struct Model {
    weights: Weights,
    kernel: Kernel,
    scratch: Mutex<Vec<Scratch>>,
}

impl Model {
    /// Maps a packed file of a model of this shape that was made from the file with the SHA-256 `source`: all processes that
    /// map it share one copy. Nobody may change it meanwhile.
    ///
    /// # Errors
    /// [`Error::Io`] if it cannot be mapped, [`Error::Unusable`] if it is not such a file; then it has to be packed again.
    pub fn open(file: &File, shape: Shape, source: &[u8; 32]) -> Result<Self> {
        Ok(Self::new(Weights::new(Mapped::open(file)?, shape, source)?))
    }

    /// A packed file in memory.
    ///
    /// # Errors
    /// [`Error::Unusable`] if it is not such a file.
    pub fn from_packed(packed: Vec<u8>, shape: Shape, source: &[u8; 32]) -> Result<Self> {
        Ok(Self::new(Weights::new(packed, shape, source)?))
    }

    fn new(weights: Weights) -> Self {
        Model { weights, kernel: Kernel::detect(), scratch: Mutex::default() }
    }

    /// The bytes that were packed with the model.
    pub fn rest(&self) -> &[u8] {
        self.weights.rest()
    }

    /// Uses the instructions of `kernel` instead of the fastest ones.
    pub fn with_kernel(self, kernel: Kernel) -> Self {
        Model { kernel, ..self }
    }

    /// The instructions that it runs with.
    pub fn kernel(&self) -> Kernel {
        self.kernel
    }

    /// The vector of one text, of length 1, from its tokens with the marks of its beginning and its end. Runs on this
    /// thread.
    ///
    /// # Errors
    /// [`Error::Tokens`] if there are none, more than 512, or one that the model does not know; [`Error::Unusable`] if the
    /// packed file is damaged.
    pub fn embed(&self, tokens: &[u32]) -> Result<Vec<f32>> {
        let mut vectors = self.vectors(&[tokens])?;
        vectors.pop().ok_or_else(|| Error::Tokens("there is no text".to_owned()))
    }

    /// The vectors of many texts, in their order; those of the first ones if it is cancelled. Runs on the threads of rayon's
    /// pool.
    ///
    /// # Errors
    /// Errors of [`Model::embed`].
    pub fn embed_many(&self, texts: &[&[u32]], is_cancelled: impl Fn() -> bool + Sync) -> Result<Vec<Vec<f32>>> {
        let mut tokens = 0;
        let batches: Vec<&[&[u32]]> = texts
            .chunk_by(|_, next| {
                tokens += next.len();
                let fits = tokens <= BATCH_TOKENS;
                if !fits {
                    tokens = 0;
                }
                fits
            })
            .collect();
        let run = |batch: &&[&[u32]]| if is_cancelled() { Ok(None) } else { self.vectors(batch).map(Some) };
        let vectors: Vec<Option<Vec<Vec<f32>>>> = batches.par_iter().map(run).collect::<Result<_>>()?;
        Ok(vectors.into_iter().map_while(|batch| batch).flatten().collect())
    }

    /// How well the second text of a pair answers the first one, as a logit. `tokens` are both texts with the marks, `second` is
    /// where the second one begins. Runs on this thread.
    ///
    /// # Errors
    /// Errors of [`Model::embed`]; [`Error::Tokens`] if this is no model of pairs.
    pub fn judge(&self, tokens: &[u32], second: usize) -> Result<f32> {
        self.check(Head::Logit)?;
        self.run(|scratch| judge(&self.weights, self.kernel, Input { tokens, second }, scratch))
    }

    fn vectors(&self, texts: &[&[u32]]) -> Result<Vec<Vec<f32>>> {
        self.check(Head::Mean)?;
        let texts: Vec<Input<'_>> = texts.iter().map(|tokens| Input { tokens, second: tokens.len() }).collect();
        self.run(|scratch| encode(&self.weights, self.kernel, &texts, scratch))
    }

    fn check(&self, head: Head) -> Result<()> {
        match self.weights.shape().head == head {
            true => Ok(()),
            false => Err(Error::Tokens("the model does not do this: it reads texts alone, or pairs alone".to_owned())),
        }
    }

    fn run<T>(&self, work: impl FnOnce(&mut Scratch) -> Result<T>) -> Result<T> {
        let kept = || self.scratch.lock().unwrap_or_else(PoisonError::into_inner);
        let mut scratch = kept().pop().unwrap_or_default();
        let made = work(&mut scratch);
        let mut kept = kept();
        if kept.len() < KEPT {
            kept.push(scratch);
        }
        made
    }
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Model").field("kernel", &self.kernel.name()).finish_non_exhaustive()
    }
}
