//! Vectors and queries unlike those that an index is tuned for: each is a case in which graph indexes often miss neighbours.

use crate::vectors::{Generator, Shape};

const SEED: u64 = 1;

/// Vectors, and queries that are asked of them.
pub struct Case {
    /// A few words.
    pub name: &'static str,
    /// The vectors, of length 1.
    pub vectors: Vec<Vec<f32>>,
    /// The queries, of length 1.
    pub queries: Vec<Vec<f32>>,
    /// This many of the nearest of each query are to be deleted after the index is built.
    pub deleted: usize,
}

/// The cases, made one at a time: each of `count` vectors with `dims` dimensions.
pub fn cases(count: usize, dims: usize, queries: usize) -> impl Iterator<Item = Case> {
    NAMES.into_iter().map(move |name| Maker { count, dims, queries }.case(name))
}

/// The names of all cases. [`FAR_FROM_CLUSTERS`] is the hardest.
const NAMES: [&str; 13] = [
    "sentence embeddings",
    "tight clusters",
    "many times the same vectors",
    "islands, a curve, opposites",
    "evenly on the sphere",
    "half of the vectors are identical",
    "sparse vectors",
    "a strong common offset",
    "queries between two vectors",
    "queries halfway to another distribution",
    "queries of another distribution",
    FAR_FROM_CLUSTERS,
    "the 50 nearest of each query were deleted",
];

/// Queries evenly on the sphere, of vectors in tight clusters.
pub const FAR_FROM_CLUSTERS: &str = "queries of another distribution, tight clusters";

struct Maker {
    count: usize,
    dims: usize,
    queries: usize,
}

impl Maker {
    fn case(&self, name: &'static str) -> Case {
        let vectors = |shape| self.vectors(shape);
        let real = Shape::Realistic;
        let (vectors, queries) = match name {
            "tight clusters" => (vectors(Shape::Clustered), self.queries(Shape::Clustered)),
            "many times the same vectors" => (vectors(Shape::Duplicated), self.queries(Shape::Duplicated)),
            "islands, a curve, opposites" => (vectors(Shape::Adversarial), self.queries(Shape::Adversarial)),
            "evenly on the sphere" => (vectors(Shape::Uniform), self.queries(Shape::Uniform)),
            "half of the vectors are identical" => {
                let mut vectors = vectors(real);
                let first = vectors[0].clone();
                vectors.iter_mut().step_by(2).for_each(|vector| vector.clone_from(&first));
                (vectors, self.queries(real))
            }
            "sparse vectors" => (sparse(vectors(real)), sparse(self.queries(real))),
            "a strong common offset" => {
                let offset = Generator::new(Shape::Uniform, SEED, self.dims).vector(usize::MAX);
                let moved = |all: Vec<Vec<f32>>| all.iter().map(|one| sum(one, &offset, 4.0)).collect::<Vec<_>>();
                (moved(vectors(real)), moved(self.queries(real)))
            }
            "queries between two vectors" => {
                let vectors = vectors(real);
                let pairs = vectors.iter().zip(vectors.iter().rev());
                let between = pairs.map(|(one, other)| sum(one, other, 1.0)).take(self.queries).collect();
                (vectors, between)
            }
            "queries halfway to another distribution" => {
                let pairs = self.queries(real).into_iter().zip(self.queries(Shape::Uniform));
                (vectors(real), pairs.map(|(near, far)| sum(&near, &far, 1.0)).collect())
            }
            "queries of another distribution" => (vectors(real), self.queries(Shape::Uniform)),
            FAR_FROM_CLUSTERS => (vectors(Shape::Clustered), self.queries(Shape::Uniform)),
            _ => (vectors(real), self.queries(real)),
        };
        let deleted = if name.ends_with("deleted") { 50 } else { 0 };
        Case { name, vectors, queries, deleted }
    }

    fn vectors(&self, shape: Shape) -> Vec<Vec<f32>> {
        crate::vectors::vectors(shape, SEED, self.count, self.dims).collect()
    }

    fn queries(&self, shape: Shape) -> Vec<Vec<f32>> {
        crate::vectors::queries_for(shape, SEED, self.count, self.dims, self.queries).collect()
    }
}

/// The vectors with the greatest sixteenth of their numbers alone.
fn sparse(mut vectors: Vec<Vec<f32>>) -> Vec<Vec<f32>> {
    for vector in &mut vectors {
        let mut sizes: Vec<f32> = vector.iter().map(|number| number.abs()).collect();
        sizes.sort_by(|a, b| b.total_cmp(a));
        let least = sizes[sizes.len().div_ceil(16) - 1];
        vector.iter_mut().filter(|number| number.abs() < least).for_each(|number| *number = 0.0);
        scale(vector);
    }
    vectors
}

/// The direction of `one + weight * other`.
fn sum(one: &[f32], other: &[f32], weight: f32) -> Vec<f32> {
    let mut sum: Vec<f32> = one.iter().zip(other).map(|(one, other)| one + weight * other).collect();
    scale(&mut sum);
    sum
}

fn scale(vector: &mut [f32]) {
    let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
    vector.iter_mut().for_each(|number| *number /= length);
}
