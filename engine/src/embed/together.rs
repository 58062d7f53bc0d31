//! Texts that wait for the model are run together.

use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};

use crate::error::{Error, Result};

/// A model that runs one batch at a time. What comes in the meantime shares the next batch: a run on few tokens spends its
/// time on reading the weights, so that several short texts take hardly longer than one.
pub struct Together<M> {
    model: Mutex<M>,
    waiting: Mutex<Vec<Waiting>>,
}

/// A text, and where its vector goes.
struct Waiting {
    tokens: Vec<i64>,
    vector: Arc<Mutex<Option<Result<Vec<f32>>>>>,
}

impl<M> Together<M> {
    /// A model that nobody waits for yet.
    pub fn new(model: M) -> Self {
        Together { model: Mutex::new(model), waiting: Mutex::default() }
    }

    /// The model, for a batch that is one already. Texts that wait get their turn when it is let go.
    pub fn lock(&self) -> MutexGuard<'_, M> {
        self.model.lock()
    }

    /// The vector of one text, as `run` makes it with those of all texts that wait.
    ///
    /// # Errors
    /// Those of `run`, for every text of its batch.
    pub fn run_one(
        &self,
        tokens: Vec<i64>,
        run: impl Fn(&mut M, &[Vec<i64>]) -> Result<Vec<Vec<f32>>>,
    ) -> Result<Vec<f32>> {
        let vector = Arc::default();
        self.waiting.lock().push(Waiting { tokens, vector: Arc::clone(&vector) });
        let mut model = self.model.lock();
        // Whoever had the model before may have run this text too.
        let made = vector.lock().take();
        made.unwrap_or_else(|| {
            let (texts, places): (Vec<_>, Vec<_>) =
                self.waiting.lock().drain(..).map(|waiting| (waiting.tokens, waiting.vector)).unzip();
            match run(&mut model, &texts) {
                Ok(vectors) => places.iter().zip(vectors).for_each(|(place, vector)| *place.lock() = Some(Ok(vector))),
                Err(error) => {
                    let why = match error {
                        Error::Embedding(why) => why,
                        other => other.to_string(),
                    };
                    places.iter().for_each(|place| *place.lock() = Some(Err(Error::Embedding(why.clone()))));
                }
            }
            // It is missing when a run with it has panicked.
            let made = vector.lock().take();
            made.unwrap_or_else(|| Err(Error::Embedding("it made no vector".to_owned())))
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use super::*;

    const TEXTS: usize = 24;

    /// Runs texts of one token each at once; the results, and how many runs there were.
    fn run_at_once(fails: bool) -> (Vec<Result<Vec<f32>>>, usize) {
        let together = Together::new(AtomicUsize::new(0));
        let run = |runs: &mut AtomicUsize, texts: &[Vec<i64>]| {
            runs.fetch_add(1, Ordering::Relaxed);
            std::thread::sleep(Duration::from_millis(100));
            if fails {
                return Err(Error::Embedding("broken".to_owned()));
            }
            Ok(texts.iter().map(|tokens| vec![tokens[0] as f32]).collect())
        };
        let results = std::thread::scope(|scope| {
            let together = &together;
            let threads: Vec<_> =
                (0..TEXTS).map(|text| scope.spawn(move || together.run_one(vec![text as i64], run))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(together.waiting.lock().is_empty());
        (results, together.lock().load(Ordering::Relaxed))
    }

    #[test]
    fn texts_that_wait_for_the_model_are_run_together() {
        let (vectors, runs) = run_at_once(false);
        let vectors: Vec<Vec<f32>> = vectors.into_iter().map(Result::unwrap).collect();
        assert_eq!(vectors, (0..TEXTS).map(|text| vec![text as f32]).collect::<Vec<_>>(), "each has its own");
        assert!(runs <= TEXTS / 3, "{runs} runs");
    }

    #[test]
    fn a_run_that_fails_fails_for_all_its_texts() {
        let (results, _) = run_at_once(true);
        assert!(results.into_iter().all(|result| result.is_err_and(|error| error.to_string().contains("broken"))));
    }

    #[test]
    fn a_run_that_panics_leaves_the_others_their_turn() {
        let together = Together::new(());
        let panics = |(): &mut (), _: &[Vec<i64>]| -> Result<Vec<Vec<f32>>> { panic!("on purpose") };
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| together.run_one(vec![1], panics))).unwrap_err();
        let vector =
            together.run_one(vec![2], |(), texts| Ok(texts.iter().map(|tokens| vec![tokens[0] as f32]).collect()));
        assert_eq!(vector.unwrap(), [2.0]);
    }
}
