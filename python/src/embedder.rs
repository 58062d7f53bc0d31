//! A Python function that embeds.

use memorist_engine::embed::{self, Embedder, ModelIdentity};
use memorist_server::library::own_model;
use pyo3::prelude::*;

use crate::arrays;

/// A Python function of a list of texts to an array with a row for each.
pub struct PythonEmbedder {
    identity: ModelIdentity,
    embed: Py<PyAny>,
}

impl PythonEmbedder {
    /// The function `embed`, which makes vectors of `dims` numbers, by the name that tells its vectors from others.
    pub fn new(embed: Py<PyAny>, name: &str, dims: usize) -> Self {
        PythonEmbedder { identity: own_model(name, dims), embed }
    }

    fn call(&self, texts: &[&str]) -> PyResult<Vec<Vec<f32>>> {
        Python::attach(|py| {
            let made = self.embed.bind(py).call1((texts.to_vec(),))?;
            let made = arrays::matrix("what the function embed returns", &made)?;
            let numbers = made.as_slice()?;
            Ok(arrays::rows(numbers, self.identity.dims).map(of_length_one).collect())
        })
    }
}

fn of_length_one(vector: &[f32]) -> Vec<f32> {
    let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
    vector.iter().map(|number| number / length).collect()
}

impl Embedder for PythonEmbedder {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn embed_query(&self, text: &str) -> embed::Result<Vec<f32>> {
        let mut made = self.embed_batch(&[text])?;
        made.pop().ok_or_else(|| embed::Error::Failed("the function embed returned no vector".to_owned()))
    }

    fn embed_batch(&self, texts: &[&str]) -> embed::Result<Vec<Vec<f32>>> {
        let made = self.call(texts).map_err(|error| embed::Error::Failed(error.to_string()))?;
        match made.len() == texts.len() {
            true => Ok(made),
            false => {
                let why = format!("the function embed returned {} vectors for {} texts", made.len(), texts.len());
                Err(embed::Error::Failed(why))
            }
        }
    }
}
