//! Relevance gate: decides which hits of a search are injected into a turn.
//!
//! A question about something unknown finds something, too: the memory nearest to it, and many others that are as near. So
//! two things count beside the relevance: how far a hit stands out from the others (its share of words and its cosine, against
//! the seventh highest of them), and whether it has a name that the message has. Hits without the name are no part of the
//! crowd, either. The sums were fitted by logistic regression on one half of the turns of `cargo bench --bench recall`, in two
//! of its stores. The cost of a missing name and the sums that are enough were chosen by the same half, in all three stores;
//! the other half checks them.

use super::message::MessageQuery;
use crate::keywords::has_code;
use crate::types::Hit;

/// Hits in the crowd, which are the first of the search, and the rank in it, from 0, that a hit has to stand out from.
const CROWD: usize = 12;
const OF_CROWD: usize = 6;
/// The cosine and the share of words of an unrelated memory, for a crowd that is too small for that rank.
const UNRELATED: (f64, f64) = (0.3, 0.1);

/// The rarity from which a word in common is no accident.
const RARE: f64 = 0.4;
/// The least cosine of a hit without such a word.
const NEAR: f64 = 0.5;
/// The least cosine. Among few memories, each one that is slightly related stands out.
const LEAST_COSINE: f64 = 0.42;
/// The least cosine of a memory with a name of the message, if that is in an inflected language, where fewer words match.
const LEAST_NAMED: f64 = 0.36;
/// The share of words from which the least cosine does not matter.
const SURE_SHARE: f64 = 0.6;
/// The first hit of a crowd answers a question without a name if its cosine is higher than the second by `ALONE`, and at least
/// `LEAST_ALONE`: unrelated memories are about equally far.
const ALONE: f64 = 0.11;
const LEAST_ALONE: f64 = 0.27;
/// The relevance that a hit has at least if it has a name of the message or alone is near, and half of that by itself.
const SINGLED_OUT: f64 = 0.3;
const LEAST_RELEVANCE: f64 = SINGLED_OUT / 2.0;
/// A code or a name that more hits have singles none of them out.
const FEW: usize = 3;
/// The least share of words, where there is no cosine.
const LEAST_SHARE: f64 = 0.5;
/// The sum from which a hit is injected: with a cosine; with a cosine, beside a hit that has the first sum; by words alone. By
/// the fit, the first is a chance of 88 %, the second of 50 %: an agent that gets one memory can as well read a likely one.
const WORTH: f64 = 2.0;
const WORTH_BESIDE: f64 = 0.0;
const WORTH_BY_WORDS: f64 = 3.5;
/// The number of significant words that a message without a name needs, and one that is judged by words alone.
const LEAST_WORDS: usize = 2;
const LEAST_WORDS_ALONE: usize = 3;

/// The relevance gate of one message.
pub struct Gate<'a> {
    min_score: f64,
    /// The names in it, in lower case.
    names: Vec<String>,
    /// Whether a memory may have them with other endings.
    has_inflected_names: bool,
    /// Its codes, if few results have them; or its names, if it says nothing else.
    codes: Vec<String>,
    words: usize,
    /// Whether the model does not know the language of the message.
    is_foreign: bool,
    /// The cosine and the share of words that hits have to stand out from.
    crowd: (f64, f64),
    /// The cosine from which one hit answers the message alone, if any may.
    alone: Option<f64>,
    /// All hits of the search.
    hits: &'a [Hit],
}

impl<'a> Gate<'a> {
    /// The gate of a message for the hits of its search, the best first.
    pub fn new(hits: &'a [Hit], searched: MessageQuery, min_score: f64, is_foreign: bool) -> Self {
        let MessageQuery { names, has_inflected_names, mut codes, significant_words: words, is_question, .. } =
            searched;
        if words <= names.len() {
            codes.extend(names.iter().cloned());
        }
        let having = |code: &String| hits.iter().filter(|hit| has_the_code(hit, code)).count();
        codes.retain(|code| (1..=FEW).contains(&having(code)));
        let is_of_crowd =
            |hit: &&Hit| names.is_empty() || hit.similarity.is_none() || has_one(hit, &names, has_inflected_names);
        let crowd: Vec<&Hit> = hits.iter().filter(is_of_crowd).take(CROWD).collect();
        let of_crowd = |value: fn(&Hit) -> Option<f64>, unrelated: f64| {
            let mut values: Vec<f64> = crowd.iter().copied().filter_map(value).collect();
            values.sort_unstable_by(|a, b| b.total_cmp(a));
            values.get(OF_CROWD).copied().unwrap_or(unrelated)
        };
        let mut cosines: Vec<f64> = hits.iter().filter_map(|hit| hit.similarity).collect();
        cosines.sort_unstable_by(|a, b| b.total_cmp(a));
        let may_stand_alone = is_question && names.is_empty() && !is_foreign && cosines.len() > OF_CROWD;
        let alone = may_stand_alone.then(|| LEAST_ALONE.max(cosines[1] + ALONE));
        let crowd = (of_crowd(|hit| hit.similarity, UNRELATED.0), of_crowd(|hit| hit.word_share, UNRELATED.1));
        Gate { min_score, names, has_inflected_names, codes, words, is_foreign, crowd, alone, hits }
    }

    /// Hits that pass and that the session does not have yet: those with a code of the message, if few hits have it; else those
    /// that are relevant enough, have a rare word of the message or are near to it, and stand out; and beside such a hit, those
    /// that stand out less.
    pub fn passing(&self, is_new: impl Fn(&Hit) -> bool) -> Vec<&'a Hit> {
        if self.words < LEAST_WORDS && self.names.is_empty() {
            return Vec::new();
        }
        if !self.codes.is_empty() {
            let with_code = |hit: &&Hit| self.codes.iter().any(|code| has_the_code(hit, code)) && is_new(hit);
            return self.hits.iter().filter(with_code).collect();
        }
        let new = self.hits.iter().filter(|hit| self.relevance(hit) >= self.min_score && is_new(hit));
        let new: Vec<_> = new.map(|hit| (hit, self.worth(hit))).collect();
        let is_one_worth_it = new.iter().any(|(_, worth)| *worth == Worth::Enough);
        let beside = new.into_iter().filter(|(_, worth)| is_one_worth_it && *worth != Worth::None);
        beside.map(|(hit, _)| hit).collect()
    }

    /// The relevance of a hit, raised if it has a name of the message or alone is near.
    fn relevance(&self, hit: &Hit) -> f64 {
        let is_singled_out = self.is_alone(hit) || has_one(hit, &self.names, self.has_inflected_names);
        match is_singled_out && hit.relevance >= LEAST_RELEVANCE {
            true => hit.relevance.max(SINGLED_OUT),
            false => hit.relevance,
        }
    }

    fn is_alone(&self, hit: &Hit) -> bool {
        self.alone.is_some_and(|least| hit.similarity.is_some_and(|cosine| cosine >= least))
    }

    fn worth(&self, hit: &Hit) -> Worth {
        let is_near = hit.similarity.is_some_and(|cosine| cosine >= NEAR);
        // All of two words are less than most of eight.
        let certain = self.words as f64 / (self.words + 1) as f64;
        let share = certain * hit.word_share.unwrap_or_default();
        let (crowd_cosine, crowd_share) = (self.crowd.0, certain * self.crowd.1);
        let named = match (self.names.is_empty(), has_one(hit, &self.names, self.has_inflected_names)) {
            (true, _) => Named::None,
            (false, true) => Named::Has,
            (false, false) => Named::Lacks,
        };
        // Words do not match a name with another ending.
        let rare = match named {
            Named::Has if self.has_inflected_names => RARE.max(hit.rarest_word.unwrap_or_default()),
            _ => hit.rarest_word.unwrap_or_default(),
        };
        match hit.similarity.filter(|_| !self.is_foreign) {
            Some(cosine) => {
                let by_cosine = 23.0 * cosine - 7.6 * crowd_cosine;
                let by_words = 5.4 * rare + 5.9 * share - 14.3 * crowd_share;
                let sum = -7.4 + by_cosine + by_words + named.weight(0.7, -12.0);
                let least = match named {
                    Named::Has if self.has_inflected_names => LEAST_NAMED,
                    _ => LEAST_COSINE,
                };
                match (rare >= RARE || is_near) && (cosine >= least || share >= SURE_SHARE) {
                    _ if self.is_alone(hit) => Worth::Enough,
                    true if sum >= WORTH => Worth::Enough,
                    _ if sum >= WORTH_BESIDE => Worth::Beside,
                    _ => Worth::None,
                }
            }
            None => {
                let sum = 12.0 * (share - crowd_share) + named.weight(2.2, -8.0);
                match self.words >= LEAST_WORDS_ALONE && share >= LEAST_SHARE && sum >= WORTH_BY_WORDS {
                    true if rare >= RARE => Worth::Enough,
                    _ => Worth::None,
                }
            }
        }
    }
}

/// Whether a hit is worth a turn's attention.
#[derive(PartialEq)]
enum Worth {
    Enough,
    /// Only beside a hit that is [`Worth::Enough`].
    Beside,
    None,
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

/// The texts of a memory.
fn texts(hit: &Hit) -> impl Iterator<Item = &String> {
    let record = &hit.record;
    [Some(&record.content), record.context.as_ref()].into_iter().flatten().chain(&record.tags)
}

/// Whether a memory has a code.
fn has_the_code(hit: &Hit, code: &str) -> bool {
    texts(hit).any(|text| has_code(text, code))
}

/// Whether a memory has one of the names, also with another ending if `has_inflected_names`.
fn has_one(hit: &Hit, names: &[String], has_inflected_names: bool) -> bool {
    texts(hit).any(|text| {
        let text = text.to_lowercase();
        names.iter().any(|name| has_name(&text, name) || has_inflected_names && has_inflected(&text, name))
    })
}

/// Whether a text has a name with other letters at its end: "Klary" for "Klara", "Леону" for "Леон".
fn has_inflected(text: &str, name: &str) -> bool {
    let length = name.chars().count();
    let stem = length - (length.saturating_sub(2)).min(if length < 5 { 1 } else { 2 });
    let stem: String = name.chars().take(stem).collect();
    let is_form = |word: &str| {
        let letters = word.chars().count();
        let is_longer = name.starts_with(word) && letters + 3 >= length;
        letters > 2 && (word.starts_with(&stem) && letters <= length + 2 || is_longer)
    };
    let is_word = name.chars().all(char::is_alphabetic) && length > 2;
    is_word && text.split(|c: char| !c.is_alphanumeric()).any(is_form)
}

/// Whether a text has a name, also in the plural. A name of letters is no part of another word; one with marks may be.
fn has_name(text: &str, name: &str) -> bool {
    let is_word = name.chars().all(char::is_alphanumeric);
    let begins_word = |rest: &str| rest.starts_with(char::is_alphanumeric);
    text.match_indices(name).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + name.len()..]);
        let ends = !begins_word(after) || after.strip_prefix('s').is_some_and(|rest| !begins_word(rest));
        !is_word || ends && !before.ends_with(char::is_alphanumeric)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keywords::tests::record;

    fn hit(id: i64, cosine: f64, share: f64) -> Hit {
        Hit {
            record: record(id, "harbour"),
            passage: None,
            score: 1.0,
            parts: Default::default(),
            relevance: 0.9,
            matched_by: Vec::new(),
            vector_score: Some(cosine),
            similarity: Some(cosine),
            keyword_score: None,
            word_share: Some(share),
            rarest_word: Some(share),
            logit: None,
            placed: None,
            boosted_by: Vec::new(),
            neighbors: Vec::new(),
            contradicted_by: Vec::new(),
        }
    }

    fn said(names: &[&str], codes: &[&str]) -> MessageQuery {
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        MessageQuery {
            text: String::new(),
            names: owned(names),
            has_inflected_names: false,
            codes: owned(codes),
            significant_words: 5,
            is_question: false,
        }
    }

    fn ids(given: &[&Hit]) -> Vec<i64> {
        given.iter().map(|hit| hit.record.id.get()).collect()
    }

    #[test]
    fn a_code_that_few_have_comes_alone_whatever_its_cosine() {
        let mut hits = [hit(1, 0.7, 0.8), hit(2, 0.1, 0.3), hit(3, 0.6, 0.8)];
        hits[1].record.content = "Bug HRB-31: duplicate webhooks".to_owned();
        hits[0].record.content = "Bug HRB-310: duplicate webhooks".to_owned();
        hits[1].relevance = 0.1;
        let given =
            |hits: &[Hit], codes: &[&str]| ids(&Gate::new(hits, said(&[], codes), 0.3, false).passing(|_| true));
        assert_eq!(given(&hits, &["HRB-31"]), [2]);
        assert_eq!(given(&hits, &["HRB-77"]), [1, 3], "a code that none has changes nothing");
        let many: Vec<Hit> =
            (1..=4).map(|id| Hit { record: record(id, &hits[1].record.content), ..hits[1].clone() }).collect();
        assert!(given(&many, &["HRB-31"]).is_empty(), "many have it");
    }

    #[test]
    fn a_question_is_answered_by_what_alone_is_near_in_a_crowd() {
        let given = |first: f64, second: f64, others: i64, searched: MessageQuery| {
            let mut hits = vec![hit(1, first, 0.0), hit(2, second, 0.0)];
            hits.extend((3..3 + others).map(|id| hit(id, 0.1, 0.0)));
            hits[0].relevance = 0.16;
            ids(&Gate::new(&hits, searched, 0.3, false).passing(|_| true))
        };
        let question = |names: &[&str]| MessageQuery { is_question: true, ..said(names, &[]) };
        assert_eq!(given(0.32, 0.2, 5, question(&[])), [1]);
        assert!(given(0.32, 0.22, 5, question(&[])).is_empty(), "another is nearly as near");
        assert!(given(0.26, 0.1, 5, question(&[])).is_empty(), "it is far");
        assert!(given(0.32, 0.2, 4, question(&[])).is_empty(), "no crowd to stand out from");
        assert!(given(0.32, 0.2, 5, said(&[], &[])).is_empty(), "no question");
        assert!(given(0.32, 0.2, 5, question(&["osprey"])).is_empty(), "it lacks the name");
    }

    #[test]
    fn a_name_alone_asks_for_what_has_it() {
        let mut hits = [hit(1, 0.2, 0.8), hit(2, 0.2, 0.1)];
        hits[0].record.content = "Janis runs the harbour".to_owned();
        let alone = MessageQuery { significant_words: 1, ..said(&["janis"], &[]) };
        assert_eq!(ids(&Gate::new(&hits, alone, 0.3, false).passing(|_| true)), [1]);
        let more = MessageQuery { significant_words: 4, ..said(&["janis"], &[]) };
        hits[0].word_share = Some(0.3);
        assert!(Gate::new(&hits, more, 0.3, false).passing(|_| true).is_empty());
    }

    #[test]
    fn a_hit_with_the_name_counts_as_more_relevant() {
        let mut hits = [hit(1, 0.7, 0.9), hit(2, 0.2, 0.1)];
        hits[0].record.content = "Janis runs the harbour".to_owned();
        let mut given = |relevance: f64, min_score: f64, name: &str| {
            hits[0].relevance = relevance;
            ids(&Gate::new(&hits, said(&[name], &[]), min_score, false).passing(|_| true))
        };
        assert_eq!(given(0.16, 0.3, "janis"), [1]);
        assert!(given(0.16, 0.31, "janis").is_empty(), "but not as much more");
        assert!(given(0.14, 0.3, "janis").is_empty());
        assert_eq!(given(0.9, 0.8, "janis"), [1]);
    }

    #[test]
    fn in_a_language_that_the_model_does_not_know_words_decide() {
        let hits = [hit(1, 0.9, 0.2), hit(2, 0.1, 0.9)];
        let given = |is_foreign| ids(&Gate::new(&hits, said(&[], &[]), 0.3, is_foreign).passing(|_| true));
        assert_eq!(given(true), [2]);
        assert!(given(false).contains(&1));
    }

    #[test]
    fn a_likely_hit_comes_only_beside_one_that_stands_out() {
        let hits = [hit(1, 0.7, 0.8), hit(2, 0.4, 0.3), hit(3, 0.2, 0.1)];
        let passing = |hits: &[Hit], known: i64| -> Vec<i64> {
            let gate = Gate::new(hits, said(&[], &[]), 0.3, false);
            gate.passing(|hit| hit.record.id != known.into()).iter().map(|hit| hit.record.id.get()).collect()
        };
        assert_eq!(passing(&hits, 0), [1, 2]);
        assert!(passing(&hits[1..], 0).is_empty());
        assert!(passing(&hits, 1).is_empty(), "nor beside one that the session has");
    }

    #[test]
    fn a_name_is_a_whole_word_of_a_memory_or_its_plural() {
        for text in ["gyp", "gyps fail", "it is gyp's", "node-gyp", "egypt has gyp"] {
            assert!(has_name(text, "gyp"), "{text}");
        }
        for text in ["egypt", "gypsum", "nodegyp", ""] {
            assert!(!has_name(text, "gyp"), "{text}");
        }
        assert!(has_name("see src/main.rs2", "src/main.rs"));
    }

    #[test]
    fn a_name_of_an_inflected_language_has_other_endings() {
        for (text, name) in
            [("klary nie ma", "klara"), ("у леона", "леон"), ("у мии", "мия"), ("leon", "leonowi"), ("bei jan", "jans")]
        {
            assert!(has_inflected(text, name), "{text} {name}");
        }
        for (text, name) in
            [("klasztor", "klara"), ("лето", "леон"), ("an", "ana"), ("", "леон"), ("src", "src/main.rs")]
        {
            assert!(!has_inflected(text, name), "{text} {name}");
        }
    }

    #[test]
    fn hits_without_the_name_are_rejected_and_not_in_the_crowd() {
        let mut hits: Vec<Hit> = (2..=9).map(|id| hit(id, 0.6, 0.5)).collect();
        hits.insert(0, hit(1, 0.6, 0.5));
        let passing = |hits: &[Hit], names: &[&str]| -> Vec<i64> {
            let gate = Gate::new(hits, said(names, &[]), 0.3, false);
            gate.passing(|_| true).iter().map(|hit| hit.record.id.get()).collect()
        };
        assert!(passing(&hits, &[]).is_empty(), "all are alike");
        hits[0].record.content = "Kestrel, in the harbour".to_owned();
        assert_eq!(passing(&hits, &["kestrel"]), [1]);
        assert!(passing(&hits, &["osprey"]).is_empty());
    }
}
