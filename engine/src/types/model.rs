//! Embedding models, and whether their embeddings are comparable.

/// The number of a model in its store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModelId(i64);

impl ModelId {
    /// The bare number.
    pub const fn get(self) -> i64 {
        self.0
    }
}

impl From<i64> for ModelId {
    fn from(number: i64) -> Self {
        ModelId(number)
    }
}

/// An embedding model. Embeddings are comparable if weights, pooling and dimensions are the same. The name is for people.
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

/// Memories in a language that the store's model does not know: only their words are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ForeignMemories {
    /// How many of the examined ones are.
    pub count: usize,
    /// How many of the newest memories were examined, at most 100.
    pub examined: usize,
}
