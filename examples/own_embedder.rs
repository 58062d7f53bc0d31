//! Bring your own embedding model: implement `Embedder`.
//!
//! The model here counts groups of three letters, so that words of a common stem are near each other. Yours may call a
//! library or a service. The store notes which model it was filled with, and never compares vectors of two models.
//! Run: `cargo run --example own_embedder`

use std::sync::Arc;

use memorist_engine::config::Config;
use memorist_engine::embed::{self, Embedder, ModelIdentity};
use memorist_engine::progress::NoProgress;
use memorist_engine::types::{Mode, NewRecord, Query};
use memorist_engine::{Engine, Result};

struct Trigrams {
    identity: ModelIdentity,
}

impl Trigrams {
    fn new() -> Self {
        let identity = ModelIdentity {
            name: "letter trigrams".into(),
            // What tells this model from every other: change it whenever the vectors change.
            weights_sha256: "trigrams-1".into(),
            pooling: "sum".into(),
            dims: 256,
        };
        Trigrams { identity }
    }
}

impl Embedder for Trigrams {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn embed_query(&self, text: &str) -> embed::Result<Vec<f32>> {
        let mut vector = vec![0.0_f32; self.identity.dims];
        for word in text.to_lowercase().split_whitespace() {
            for letters in format!(" {word} ").as_bytes().windows(3) {
                let hash = letters.iter().fold(7_usize, |hash, letter| hash * 31 + usize::from(*letter));
                vector[hash % self.identity.dims] += 1.0;
            }
        }
        // Vectors have length 1. A text without words gets a direction of its own.
        let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
        if length == 0.0 {
            vector[0] = 1.0;
            return Ok(vector);
        }
        Ok(vector.into_iter().map(|value| value / length).collect())
    }

    fn embed_batch(&self, texts: &[&str]) -> embed::Result<Vec<Vec<f32>>> {
        texts.iter().map(|text| self.embed_query(text)).collect()
    }
}

fn main() -> Result<()> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = folder.path().join("store");
    let engine = Engine::open_with_embedder(store, Config::default(), Arc::new(Trigrams::new()))?;
    for text in ["Deployments happen on Thursdays", "The cache is warmed at night", "Tests run on every push"] {
        engine.add(&NewRecord::new(text))?;
    }
    engine.embed_pending(&NoProgress)?;
    let reply = engine.search(&Query { mode: Mode::Vector, limit: 1, ..Query::new("deployment day") })?;
    let best = &reply.hits[0];
    eprintln!("cosine {:.2}: {}", best.vector_score.unwrap_or_default(), best.record.content);
    assert_eq!(best.record.content, "Deployments happen on Thursdays");
    Ok(())
}
