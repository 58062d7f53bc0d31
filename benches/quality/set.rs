//! A set that is measured: texts, and queries with the texts that answer them.

use std::collections::BTreeMap;

use memorist_engine::types::NewRecord;

/// Texts and queries.
#[derive(Default)]
pub struct Set {
    pub name: String,
    pub texts: Vec<NewRecord>,
    pub queries: Vec<Judged>,
    /// Places of texts, and of those that they supersede.
    pub supersedes: Vec<(usize, usize)>,
}

/// A query, and its answers: places in the set, each with its grade.
pub struct Judged {
    pub text: String,
    pub answers: BTreeMap<usize, u8>,
}

impl Judged {
    /// A query whose answers are all as good.
    pub fn new(text: String, answers: impl IntoIterator<Item = usize>) -> Self {
        Judged { text, answers: answers.into_iter().map(|place| (place, 1)).collect() }
    }
}
