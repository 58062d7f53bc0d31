//! The identity of a model.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Properties that make two embeddings comparable: the weights, the pooling, the dimensions.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ModelIdentity {
    /// A name for people: `all-MiniLM-L6-v2 (int8 weights)`. Not compared.
    pub name: String,
    /// SHA-256 of the weights' file, in hex. For a model without such a file: any text that changes with its vectors.
    pub weights_sha256: String,
    /// How token vectors become one: `mean+l2`.
    pub pooling: String,
    /// Numbers per vector.
    pub dims: usize,
}

impl fmt::Display for ModelIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let start = self.weights_sha256.get(..12).unwrap_or(&self.weights_sha256);
        write!(f, "{} ({} dimensions, {}, weights {start})", self.name, self.dims, self.pooling)
    }
}
