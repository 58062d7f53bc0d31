//! The vectors: unit length, the same bits for a seed, and as hard as they claim to be.

use bench_data::profile::neighbour_profile;
use bench_data::vectors::{Generator, Shape, queries_for, vectors};
use sha2::{Digest, Sha256};

#[test]
fn every_vector_has_length_one() {
    for shape in Shape::ALL {
        for dims in [2, 7, 384, 4_096] {
            let queries = queries_for(shape, 1, 5_000, dims, 20);
            for vector in vectors(shape, 1, 50, dims).chain(queries) {
                assert_eq!(vector.len(), dims);
                let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
                assert!((length - 1.0).abs() < 1e-5, "{shape:?}, {dims} dimensions: {length}");
            }
        }
    }
}

#[test]
fn a_seed_always_gives_the_same_bits() {
    let mut hasher = Sha256::new();
    for shape in Shape::ALL {
        for vector in vectors(shape, 42, 4_000, 64).step_by(10).chain(queries_for(shape, 42, 4_000, 64, 20)) {
            vector.iter().for_each(|value| hasher.update(value.to_le_bytes()));
        }
    }
    let checksum: String = hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(checksum, "19baf8a60116c1c235c9927295f31eac02d7fb2c2ad71ceab60c19c2d617cf70");
}

#[test]
fn vectors_do_not_depend_on_how_many_there_are() {
    for shape in Shape::ALL {
        let small: Vec<_> = vectors(shape, 3, 40, 16).collect();
        let large: Vec<_> = vectors(shape, 3, 90, 16).collect();
        assert_eq!(small, large[..40]);
        assert_eq!(Generator::new(shape, 3, 16).vector(77), large[77]);
        assert_ne!(small, vectors(shape, 4, 40, 16).collect::<Vec<_>>());
    }
}

#[test]
fn realistic_vectors_are_as_hard_as_real_ones() {
    const DIMS: usize = 384;
    let base: Vec<f32> = vectors(Shape::Realistic, 42, 20_000, DIMS).flatten().collect();
    let queries: Vec<f32> = queries_for(Shape::Realistic, 42, 20_000, DIMS, 200).flatten().collect();
    let profile = neighbour_profile(&base, &queries, DIMS);
    // the first 20,000 of the 100,000 embeddings of short texts that the generator was fitted to
    let real = [(1, 0.615), (10, 0.496), (100, 0.385)];
    for ((rank, spread), (real_rank, mean)) in profile.neighbours.iter().zip(real) {
        assert_eq!(*rank, real_rank);
        assert!((spread.mean - mean).abs() < 0.03, "neighbour {rank}: {spread:?}, real {mean}");
        assert!(spread.low < mean - 0.07 && spread.high > mean + 0.1, "neighbour {rank}: {spread:?}");
    }
    assert!((profile.random_mean - 0.107).abs() < 0.02, "{}", profile.random_mean);
    assert!((profile.random_deviation - 0.102).abs() < 0.02, "{}", profile.random_deviation);
}

#[test]
fn shapes_are_what_they_are_called() {
    let profile = |shape, count| {
        let base: Vec<f32> = vectors(shape, 5, count, 96).flatten().collect();
        let queries: Vec<f32> = queries_for(shape, 5, count, 96, 100).flatten().collect();
        neighbour_profile(&base, &queries, 96)
    };
    let clustered = profile(Shape::Clustered, 8_000);
    assert!(clustered.neighbours[0].1.median > 0.95 && clustered.random_mean < 0.1, "{clustered:?}");
    let uniform = profile(Shape::Uniform, 8_000);
    assert!(uniform.neighbours[0].1.high < 0.55 && uniform.random_mean.abs() < 0.01, "{uniform:?}");

    let mut duplicated: Vec<Vec<u32>> =
        vectors(Shape::Duplicated, 5, 20_000, 16).map(|vector| vector.iter().map(|v| v.to_bits()).collect()).collect();
    duplicated.sort_unstable();
    let longest = duplicated.chunk_by(|a, b| a == b).map(<[_]>::len).max();
    assert!(longest >= Some(1_000), "{longest:?}");
    let distinct = duplicated.chunk_by(|a, b| a == b).count();
    assert!((2_000..10_000).contains(&distinct), "{distinct}");

    let cosine = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    let adversarial: Vec<_> = vectors(Shape::Adversarial, 5, 4_000, 96).collect();
    assert!(cosine(&adversarial[0], &adversarial[999]) > 0.99, "an island is tight");
    assert!(cosine(&adversarial[1_400], &adversarial[1_401]) > 0.99, "the curve is dense");
    assert!(cosine(&adversarial[1_000], &adversarial[1_999]) < -0.9, "and long");
    let caps: Vec<_> = adversarial[3_000..].iter().map(|vector| cosine(&adversarial[3_000], vector)).collect();
    assert!(caps.iter().all(|cosine| cosine.abs() > 0.5), "opposites");
    assert!(caps.iter().any(|&cosine| cosine < 0.0) && caps[1..].iter().any(|&cosine| cosine > 0.0), "on both sides");
}

#[test]
fn a_profile_is_exact() {
    let base = [1.0, 0.0, 0.0, 1.0, 0.6, 0.8];
    let profile = neighbour_profile(&base, &[0.0, 1.0], 2);
    assert_eq!(profile.neighbours.len(), 1);
    assert_eq!(profile.neighbours[0].0, 1);
    assert_eq!(profile.neighbours[0].1.mean, 1.0);
    // three pairs: 0, 0.6 and 0.8
    assert!((profile.random_mean - 0.4667).abs() < 0.01, "{}", profile.random_mean);
}
