//! What makes embeddings comparable.

/// The number of a model in its store.
pub type ModelId = i64;

/// What makes two embeddings comparable: the weights, the pooling, the dimensions. The name is for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    /// Its display name.
    pub name: String,
    /// SHA-256 of the weights file, in hex.
    pub weights_sha256: String,
    /// How token vectors become one.
    pub pooling: String,
    /// Numbers per vector.
    pub dims: usize,
}

impl Model {
    /// Whether the embeddings of both can be compared.
    pub fn is_comparable_to(&self, other: &Model) -> bool {
        (&self.weights_sha256, &self.pooling, self.dims) == (&other.weights_sha256, &other.pooling, other.dims)
    }

    /// A description for people.
    pub fn describe(&self) -> String {
        let weights = self.weights_sha256.get(..12).unwrap_or(&self.weights_sha256);
        format!("{} ({} dimensions, {}, weights {weights})", self.name, self.dims, self.pooling)
    }
}
