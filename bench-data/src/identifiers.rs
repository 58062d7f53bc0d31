//! Memories that only a code, a path, a hash, a version, a quoted phrase or a name tells apart, and questions for them.

use std::collections::HashSet;

use crate::draws::{Draws, Purpose};

/// A memory, and the question that it alone answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identified {
    /// The text of the memory.
    pub content: String,
    pub question: String,
}

/// Words of quoted phrases; each phrase has three.
const PHRASE: [&str; 12] = [
    "amber", "copper", "lantern", "swan", "glass", "harbour", "winter", "orchard", "velvet", "thunder", "paper",
    "north",
];
/// Syllables of names; each name has two.
const SYLLABLES: [&str; 16] =
    ["bra", "cor", "dal", "fen", "gri", "hol", "jar", "kel", "lun", "mor", "nis", "ost", "pel", "qua", "rik", "sva"];

/// Returns `count` memories with questions, in eight forms in turn, no two with the same question.
pub fn identifiers(seed: u64, count: usize) -> Vec<Identified> {
    let mut draws = Draws::of(seed, Purpose::Identifier, 0);
    let mut asked = HashSet::new();
    let mut all = Vec::with_capacity(count);
    while all.len() < count {
        let made = identified(&mut draws, all.len() % 8);
        if asked.insert(made.question.clone()) {
            all.push(made);
        }
    }
    all
}

fn identified(draws: &mut Draws, form: usize) -> Identified {
    let letters: String = (0..2).map(|_| char::from(b'A' + draws.below(26) as u8)).collect();
    let number = 100 + draws.below(9_900);
    let (content, question) = match form {
        0 => (
            format!("The pump in hall {} is the model {letters}-{number}", number % 9),
            format!("where is the pump of model {letters}-{number}"),
        ),
        1 => (
            format!("Error {letters}{number} means that the filter of the press is full"),
            format!("what does {letters}{number} mean?"),
        ),
        2 => {
            let hash = format!("{:08x}", draws.bits() >> 32);
            (format!("The slow start of the importer was mended in commit {hash}"), format!("what was done in {hash}"))
        }
        3 => (
            format!("Invoice {number}/{letters} was paid late, after two reminders"),
            format!("was invoice {number}/{letters} paid"),
        ),
        4 => {
            let path = format!("src/{}/import_{number}.rs", letters.to_lowercase());
            (format!("The parser of dates is in {path} and needs a test"), format!("what is in {path}"))
        }
        5 => {
            let version = format!("{}.{}.{}", number / 1_000 + 1, number % 100, draws.below(20));
            (
                format!("Since version {letters}-lib {version} the cache is off by default"),
                format!("what changed with {letters}-lib {version}"),
            )
        }
        6 => {
            let mut words = PHRASE.to_vec();
            let phrase: Vec<&str> = (0..3).map(|_| words.remove(draws.below(words.len()))).collect();
            let phrase = phrase.join(" ");
            (
                format!("The label on crate {} reads \"{phrase}\"", number % 40),
                format!("which crate has the label \"{phrase}\""),
            )
        }
        _ => {
            let mut name = || {
                let name: String = (0..2).map(|_| *draws.pick(&SYLLABLES)).collect();
                name[..1].to_uppercase() + &name[1..]
            };
            let name = format!("{} {}", name(), name());
            (format!("{name} wants the report before the meeting on Tuesday"), format!("what does {name} want"))
        }
    };
    Identified { content, question }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_the_same_for_one_seed_and_each_question_names_one() {
        let all = identifiers(7, 400);
        assert_eq!(all, identifiers(7, 400));
        assert_eq!(all[..100], identifiers(7, 100));
        assert_ne!(all[0], identifiers(8, 1)[0]);
        let contents: HashSet<&str> = all.iter().map(|one| one.content.as_str()).collect();
        assert_eq!(contents.len(), all.len());
    }
}
