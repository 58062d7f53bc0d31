//! The built-in sentences, and the vectors of the statements among them.

/// A line: a group, `statement` or `question`, the text. The questions of a group are about its first statements, in the same order.
const SENTENCES: &str = include_str!("sentences.tsv");

/// A group: a language, or texts that are in none.
#[derive(Debug, PartialEq, Eq)]
pub struct Group {
    /// Two letters are a language.
    pub name: &'static str,
    pub statements: Vec<&'static str>,
    /// One about each of the first statements.
    pub questions: Vec<&'static str>,
}

/// All groups, in the order of the file: the languages come first.
pub fn groups() -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for line in SENTENCES.lines() {
        let mut columns = line.splitn(3, '\t');
        let (Some(name), Some(kind), Some(text)) = (columns.next(), columns.next(), columns.next()) else { continue };
        if groups.last().is_none_or(|last| last.name != name) {
            groups.push(Group { name, statements: Vec::new(), questions: Vec::new() });
        }
        if let Some(group) = groups.last_mut() {
            if kind == "statement" { group.statements.push(text) } else { group.questions.push(text) }
        }
    }
    groups
}

/// The vectors of the built-in statements.
#[derive(Debug, Clone, PartialEq)]
pub struct Statements {
    dims: usize,
    numbers: Vec<f32>,
    /// Where each group ends, as a number of statements.
    ends: Vec<usize>,
    /// How many of the first groups are languages; the others are numbers, symbols and code.
    languages: usize,
}

impl Statements {
    /// The vectors one after another, in the order of the sentences.
    pub fn new(dims: usize, numbers: Vec<f32>) -> Self {
        let groups = groups();
        let mut end = 0;
        let ends = groups.iter().map(|group| {
            end += group.statements.len();
            end
        });
        let languages = groups.iter().take_while(|group| group.name.len() == 2).count();
        Statements { dims, numbers, ends: ends.collect(), languages }
    }

    /// How many there are.
    pub fn count() -> usize {
        groups().iter().map(|group| group.statements.len()).sum()
    }

    /// Dimensions of the vectors.
    pub fn dims(&self) -> usize {
        self.dims
    }

    /// The vectors one after another.
    pub fn numbers(&self) -> &[f32] {
        &self.numbers
    }

    /// How many groups there are.
    pub fn group_count(&self) -> usize {
        self.ends.len()
    }

    /// Whether a group is a language.
    pub fn is_language(&self, group: usize) -> bool {
        group < self.languages
    }

    /// The vectors of a group.
    pub fn of_group(&self, group: usize) -> impl Iterator<Item = &[f32]> {
        let start = if group == 0 { 0 } else { self.ends[group - 1] };
        self.numbers[start * self.dims..self.ends[group] * self.dims].chunks_exact(self.dims.max(1))
    }

    /// The level of a vector in each group: its mean cosine to the statements, without the best of them.
    pub fn levels(&self, vector: &[f32]) -> Vec<f64> {
        (0..self.group_count())
            .map(|group| {
                let cosines = self.of_group(group).map(|statement| cosine(vector, statement));
                let (count, sum, best) = cosines
                    .fold((0, 0.0, f64::MIN), |(count, sum, best): (usize, f64, f64), one| {
                        (count + 1, sum + one, best.max(one))
                    });
                (sum - best) / count.saturating_sub(1).max(1) as f64
            })
            .collect()
    }
}

/// The cosine of two vectors of length 1.
pub fn cosine(a: &[f32], b: &[f32]) -> f64 {
    f64::from(a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_group_has_enough_unique_statements_for_its_questions() {
        let groups = groups();
        let asked = groups.iter().filter(|group| !group.questions.is_empty()).count();
        assert_eq!((groups.len(), asked, Statements::new(0, Vec::new()).languages), (45, 22, 40));
        for group in &groups {
            assert!(group.statements.len() >= 4, "{}", group.name);
            assert!(group.questions.len() <= group.statements.len(), "{}", group.name);
        }
        let all: Vec<_> = groups.iter().flat_map(|group| group.statements.iter().chain(&group.questions)).collect();
        let lines = SENTENCES.lines().count();
        assert_eq!((all.len(), all.iter().collect::<BTreeSet<_>>().len()), (lines, lines));
    }
}
