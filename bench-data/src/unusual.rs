//! Vectors and queries unlike those that an index is tuned for: each is a case in which graph indexes often miss neighbours.

use crate::vectors::{Generator, Shape, normalised};

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
    let maker = Maker { count, dims, queries };
    CASES.into_iter().map(move |(name, make, deleted)| {
        let (vectors, queries) = make(&maker);
        Case { name, vectors, queries, deleted }
    })
}

/// Queries evenly on the sphere, of vectors in tight clusters: the hardest case.
pub const FAR_FROM_CLUSTERS: &str = "queries of another distribution, tight clusters";

/// Vectors and queries.
type Made = (Vec<Vec<f32>>, Vec<Vec<f32>>);

/// Makes the vectors and queries of a case.
type Make = fn(&Maker) -> Made;

/// The name of each case, its vectors and queries, and how many are deleted.
const CASES: [(&str, Make, usize); 13] = [
    ("sentence embeddings", |maker| maker.shape(Shape::Realistic), 0),
    ("tight clusters", |maker| maker.shape(Shape::Clustered), 0),
    ("many times the same vectors", |maker| maker.shape(Shape::Duplicated), 0),
    ("islands, a curve, opposites", |maker| maker.shape(Shape::Adversarial), 0),
    ("evenly on the sphere", |maker| maker.shape(Shape::Uniform), 0),
    ("half of the vectors are identical", half_identical, 0),
    ("sparse vectors", sparse, 0),
    ("a strong common offset", with_offset, 0),
    ("queries between two vectors", between_two, 0),
    ("queries halfway to another distribution", halfway, 0),
    ("queries of another distribution", |maker| (maker.vectors(Shape::Realistic), maker.queries(Shape::Uniform)), 0),
    (FAR_FROM_CLUSTERS, |maker| (maker.vectors(Shape::Clustered), maker.queries(Shape::Uniform)), 0),
    ("the 50 nearest of each query were deleted", |maker| maker.shape(Shape::Realistic), 50),
];

struct Maker {
    count: usize,
    dims: usize,
    queries: usize,
}

impl Maker {
    fn shape(&self, shape: Shape) -> Made {
        (self.vectors(shape), self.queries(shape))
    }

    fn vectors(&self, shape: Shape) -> Vec<Vec<f32>> {
        crate::vectors::vectors(shape, SEED, self.count, self.dims).collect()
    }

    fn queries(&self, shape: Shape) -> Vec<Vec<f32>> {
        crate::vectors::queries_for(shape, SEED, self.count, self.dims, self.queries).collect()
    }
}

fn half_identical(maker: &Maker) -> Made {
    let (mut vectors, queries) = maker.shape(Shape::Realistic);
    let first = vectors[0].clone();
    vectors.iter_mut().step_by(2).for_each(|vector| vector.clone_from(&first));
    (vectors, queries)
}

fn with_offset(maker: &Maker) -> Made {
    let offset = Generator::new(Shape::Uniform, SEED, maker.dims).vector(usize::MAX);
    let moved = |all: Vec<Vec<f32>>| all.iter().map(|one| sum(one, &offset, 4.0)).collect();
    let (vectors, queries) = maker.shape(Shape::Realistic);
    (moved(vectors), moved(queries))
}

fn between_two(maker: &Maker) -> Made {
    let vectors = maker.vectors(Shape::Realistic);
    let pairs = vectors.iter().zip(vectors.iter().rev());
    let queries = pairs.map(|(one, other)| sum(one, other, 1.0)).take(maker.queries).collect();
    (vectors, queries)
}

fn halfway(maker: &Maker) -> Made {
    let (vectors, near) = maker.shape(Shape::Realistic);
    let pairs = near.iter().zip(maker.queries(Shape::Uniform));
    (vectors, pairs.map(|(near, far)| sum(near, &far, 1.0)).collect())
}

/// Vectors of which only the greatest sixteenth of the numbers stays.
fn sparse(maker: &Maker) -> Made {
    let greatest = |mut vector: Vec<f32>| {
        let mut sizes: Vec<f32> = vector.iter().map(|number| number.abs()).collect();
        sizes.sort_by(|a, b| b.total_cmp(a));
        let least = sizes[sizes.len().div_ceil(16) - 1];
        vector.iter_mut().filter(|number| number.abs() < least).for_each(|number| *number = 0.0);
        normalised(vector)
    };
    let (vectors, queries) = maker.shape(Shape::Realistic);
    (vectors.into_iter().map(greatest).collect(), queries.into_iter().map(greatest).collect())
}

/// The direction of `one + weight * other`.
fn sum(one: &[f32], other: &[f32], weight: f32) -> Vec<f32> {
    normalised(one.iter().zip(other).map(|(one, other)| one + weight * other).collect())
}
