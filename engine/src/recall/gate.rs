//! Whether a result of the search is worth a turn's attention.
//!
//! A question about what is not known finds something, too: that which is nearest to it, and much else that is as near. So
//! what counts beside the relevance is how far a result stands out from the others (its words, and its cosine, against those of
//! the seventh of them), and whether it has a name that the message has. The sums were fitted by logistic regression on one
//! half of the turns of `cargo bench --bench recall`, in both of its stores; the other half checks them.

use crate::types::Hit;

/// So many of the first results are the crowd, and this one of them, from 0, is what the others stand out from.
const CROWD: usize = 12;
const OF_CROWD: usize = 6;
/// The cosine and the share of words of an unrelated memory, where there are not so many.
const UNRELATED: (f64, f64) = (0.3, 0.1);

/// A word in common that is at least so rare is no accident.
const RARE: f64 = 0.4;
/// Without one, the texts have to be this near to each other.
const NEAR: f64 = 0.55;
/// The least cosine. Among few memories, each that is somehow about it stands out.
const LEAST_COSINE: f64 = 0.45;
/// The least share of words, where there is no cosine.
const LEAST_SHARE: f64 = 0.5;
/// The sum from which a result is worth it: with a cosine; by words alone.
const WORTH: f64 = 3.0;
const WORTH_BY_WORDS: f64 = 3.5;
/// A message with fewer significant words says too little, unless it has a name; by words alone.
const LEAST_WORDS: usize = 2;
const LEAST_WORDS_ALONE: usize = 3;

/// What a message gives to judge by.
pub struct Gate<'a> {
    min_score: f64,
    /// The names in it, in lower case.
    names: Vec<String>,
    words: usize,
    /// The cosine and the share that results stand out from.
    crowd: (f64, f64),
    /// All results of the search.
    pub hits: &'a [Hit],
}

impl<'a> Gate<'a> {
    /// That of a message with these names and so many significant words, among the results of its search, the best first.
    pub fn new(hits: &'a [Hit], names: Vec<String>, words: usize, min_score: f64) -> Self {
        let crowd = &hits[..hits.len().min(CROWD)];
        let of_crowd = |value: fn(&Hit) -> Option<f64>, unrelated: f64| {
            let mut values: Vec<f64> = crowd.iter().filter_map(value).collect();
            values.sort_unstable_by(|a, b| b.total_cmp(a));
            values.get(OF_CROWD).copied().unwrap_or(unrelated)
        };
        let crowd = (of_crowd(|hit| hit.vector_score, UNRELATED.0), of_crowd(|hit| hit.word_share, UNRELATED.1));
        Gate { min_score, names, words, crowd, hits }
    }

    /// Whether a result is relevant enough, has a rare word of the message or is near to it, and stands out.
    pub fn passes(&self, hit: &Hit) -> bool {
        let rare = hit.rarest_word.unwrap_or_default();
        let is_near = hit.vector_score.is_some_and(|cosine| cosine >= NEAR);
        let says_enough = self.words >= LEAST_WORDS || !self.names.is_empty();
        says_enough && hit.relevance >= self.min_score && (rare >= RARE || is_near) && self.stands_out(hit, rare)
    }

    fn stands_out(&self, hit: &Hit, rare: f64) -> bool {
        // All of two words are less than most of eight.
        let certain = self.words as f64 / (self.words + 1) as f64;
        let share = certain * hit.word_share.unwrap_or_default();
        let (crowd_cosine, crowd_share) = (self.crowd.0, certain * self.crowd.1);
        let named = match (self.names.is_empty(), self.names.iter().any(|name| has(hit, name))) {
            (true, _) => Named::None,
            (false, true) => Named::Has,
            (false, false) => Named::Lacks,
        };
        match hit.vector_score {
            Some(cosine) => {
                let by_cosine = 23.0 * cosine - 7.6 * crowd_cosine;
                let by_words = 5.4 * rare + 5.9 * share - 14.3 * crowd_share;
                cosine >= LEAST_COSINE && -7.4 + by_cosine + by_words + named.weight(0.7, -8.0) >= WORTH
            }
            None => {
                let sum = 12.0 * (share - crowd_share) + named.weight(2.2, -8.0);
                self.words >= LEAST_WORDS_ALONE && share >= LEAST_SHARE && sum >= WORTH_BY_WORDS
            }
        }
    }
}

/// Whether a memory has a name of the message.
enum Named {
    /// The message has none.
    None,
    Has,
    Lacks,
}

impl Named {
    fn weight(&self, has: f64, lacks: f64) -> f64 {
        match self {
            Named::None => 0.0,
            Named::Has => has,
            Named::Lacks => lacks,
        }
    }
}

fn has(hit: &Hit, name: &str) -> bool {
    let record = &hit.record;
    let texts = [Some(&record.content), record.context.as_ref()].into_iter().flatten().chain(&record.tags);
    texts.into_iter().any(|text| text.to_lowercase().contains(name))
}
