//! How likely a record answers a query: comparable between queries and stores, which merged scores are not.
//!
//! A logistic curve over the cosine and the share of the query's words. Its coefficients (version [`RELEVANCE_VERSION`](crate::types::RELEVANCE_VERSION))
//! were fitted on every second query of `benches/quality.rs`, each with its answers in the store and without them, and
//! checked on the others.

/// The weights of the cosine and of the share of words.
struct Coefficients {
    base: f64,
    cosine: f64,
    share: f64,
}

const BOTH: Coefficients = Coefficients { base: -3.3, cosine: 6.1, share: 3.2 };
/// Without a cosine: no model, or it is not embedded yet. A quarter of the words of a query is what unrelated texts share.
const WORDS: Coefficients = Coefficients { base: -2.2, cosine: 0.0, share: 4.6 };
/// Without words.
const MEANING: Coefficients = Coefficients { base: -2.9, cosine: 7.1, share: 0.0 };

/// The relevance of a record, 0 to 1. It never falls as the cosine or the share of words rises.
pub fn relevance(cosine: Option<f64>, share: Option<f64>) -> f64 {
    let (curve, cosine, share) = match (cosine, share) {
        (Some(cosine), Some(share)) => (BOTH, cosine, share),
        (Some(cosine), None) => (MEANING, cosine, 0.0),
        (None, Some(share)) => (WORDS, 0.0, share),
        (None, None) => return 0.0,
    };
    let cosine = cosine.clamp(0.0, 1.0);
    let sum = curve.base + curve.cosine * cosine + curve.share * share;
    1.0 / (1.0 + (-sum).exp())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn more_of_anything_is_never_less_relevant(cosine in -1.0..1.0f64, share in 0.0..1.0f64, more in 0.0..1.0f64) {
            for (cosine, share) in [(Some(cosine), Some(share)), (Some(cosine), None), (None, Some(share))] {
                let is = relevance(cosine, share);
                prop_assert!((0.0..=1.0).contains(&is));
                prop_assert!(relevance(cosine.map(|cosine| cosine + more), share) >= is);
                prop_assert!(relevance(cosine, share.map(|share| share + more)) >= is);
            }
        }
    }
}
