//! The built-in sentences, and the vectors of the statements among them.

/// A line: a group, `statement` or `question`, the text.
const SENTENCES: &str = include_str!("sentences.tsv");
/// The sentences of one kind, by group, in the order of the file.
pub fn sentences(kind: &str) -> Vec<(&'static str, Vec<&'static str>)> {
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in SENTENCES.lines() {
        let mut columns = line.splitn(3, '\t');
        let (Some(group), Some(of), Some(text)) = (columns.next(), columns.next(), columns.next()) else { continue };
        if of == kind {
            match groups.last_mut().filter(|(last, _)| *last == group) {
                Some((_, texts)) => texts.push(text),
                None => groups.push((group, vec![text])),
            }
        }
    }
    groups
}

/// The sizes of the groups of statements. They are as the file has them, so that a kept scale of other sentences does not fit.
fn group_sizes() -> Vec<usize> {
    sentences("statement").iter().map(|(_, texts)| texts.len()).collect()
}

/// How many of the first groups are languages; the others are numbers, symbols and code.
fn languages() -> usize {
    sentences("statement").iter().take_while(|(group, _)| group.len() == 2).count()
}

/// The vectors of the built-in statements.
#[derive(Debug, Clone, PartialEq)]
pub struct Statements {
    dims: usize,
    numbers: Vec<f32>,
    /// Where each group ends, as a number of statements.
    ends: Vec<usize>,
    languages: usize,
}

impl Statements {
    /// The vectors one after another, in the order of the sentences.
    pub fn new(dims: usize, numbers: Vec<f32>) -> Self {
        let mut end = 0;
        let ends = group_sizes().into_iter().map(|size| {
            end += size;
            end
        });
        Statements { dims, numbers, ends: ends.collect(), languages: languages() }
    }

    /// How many there are.
    pub fn count() -> usize {
        group_sizes().iter().sum()
    }

    /// Dimensions of the vectors.
    pub fn dims(&self) -> usize {
        self.dims
    }

    /// The vectors one after another.
    pub fn numbers(&self) -> &[f32] {
        &self.numbers
    }

    /// The cosines of a vector to the statements of a group.
    pub fn cosines(&self, vector: &[f32], group: usize) -> Vec<f64> {
        let start = if group == 0 { 0 } else { self.ends[group - 1] };
        let numbers = &self.numbers[start * self.dims..self.ends[group] * self.dims];
        let cosine = |other: &[f32]| f64::from(vector.iter().zip(other).map(|(a, b)| a * b).sum::<f32>());
        numbers.chunks_exact(self.dims.max(1)).map(cosine).collect()
    }

    /// How near unrelated texts in the language of this vector are to it. A group that is no language counts only if it is
    /// nearer by two spreads: such texts are a little nearer to everything than others.
    pub fn level(&self, vector: &[f32], spread: f64) -> f64 {
        if vector.len() != self.dims {
            return f64::MIN;
        }
        let level_of = |group: usize| {
            let cosines = self.cosines(vector, group);
            let best = cosines.iter().copied().fold(f64::MIN, f64::max);
            (cosines.iter().sum::<f64>() - best) / (cosines.len() - 1).max(1) as f64
        };
        let language = (0..self.languages).map(level_of).fold(f64::MIN, f64::max);
        let other = (self.languages..self.ends.len()).map(level_of).fold(f64::MIN, f64::max);
        if other > language + 2.0 * spread { other } else { language }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn sentences_are_unrelated_statements_and_questions_in_languages_that_have_both() {
        let (statements, questions) = (sentences("statement"), sentences("question"));
        assert_eq!((statements.len(), questions.len(), languages()), (45, 10, 40));
        assert!(statements.iter().all(|(_, texts)| texts.len() >= 4));
        assert!(questions.iter().all(|(language, texts)| texts.len() >= 4
            && statements[..languages()].iter().any(|(group, _)| group == language)));
        let all = statements.iter().chain(&questions).flat_map(|(_, texts)| texts);
        let lines = SENTENCES.lines().count();
        assert_eq!((all.clone().count(), all.collect::<BTreeSet<_>>().len()), (lines, lines));
    }
}
