//! What is known of a model.

use super::query::{Known, QueryScale};
use super::statements::Statements;

/// The scale of a model. Shared by all its queries.
#[derive(Debug, Clone, PartialEq)]
pub struct CosineScale {
    /// The identity of the model, as in the vector index.
    pub(super) model: String,
    pub(super) known: Known,
    pub(super) statements: Statements,
}

impl CosineScale {
    /// The identity of the model that it is of.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// How the cosines of a query with this vector are read.
    pub fn of_query(&self, vector: &[f32]) -> QueryScale {
        QueryScale::of(self.known, self.statements.level(vector, self.known.spread))
    }
}
