//! The questions: right answers, and only those.

use std::collections::HashSet;

use bench_data::{Style, memories, questions};

/// Words without case and without the commonest English endings, as a stemming index sees them.
fn stems(text: &str) -> HashSet<String> {
    // a character of Chinese or Japanese counts as a word
    let lower: String = text
        .to_lowercase()
        .chars()
        .flat_map(|c| if ('\u{3040}'..'\u{a000}').contains(&c) { [' ', c, ' '] } else { [c, '\0', '\0'] })
        .filter(|&c| c != '\0')
        .collect();
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words
        .map(|word| {
            let endings = ["ning", "ing", "ed", "s"];
            let stem = endings.iter().find_map(|ending| word.strip_suffix(ending)).filter(|stem| stem.len() > 2);
            stem.unwrap_or(word).to_owned()
        })
        .collect()
}

#[test]
fn questions_by_word_fit_their_answers_only() {
    for seed in [42, 5] {
        let corpus: Vec<_> = memories(seed, 3_000).map(|record| stems(&record.content)).collect();
        let asked = questions(seed, corpus.len(), 600);
        assert_eq!(asked.len(), 600);
        for question in asked.iter().filter(|question| question.style == Style::Word) {
            let wanted = stems(&question.text);
            let found: Vec<_> = (0..corpus.len()).filter(|&index| wanted.is_subset(&corpus[index])).collect();
            assert_eq!(found, question.answers, "seed {seed}: {}", question.text);
        }
    }
}

#[test]
fn questions_by_meaning_use_other_words() {
    let corpus: Vec<_> = memories(42, 5_000).map(|record| stems(&record.content)).collect();
    let (mut shared, mut asked) = (0, 0);
    for question in questions(42, corpus.len(), 500).iter().filter(|question| question.style == Style::Meaning) {
        let words = stems(&question.text);
        let long = words.iter().filter(|word| word.len() > 4);
        asked += long.clone().count();
        shared += long.filter(|word| question.answers.iter().any(|&answer| corpus[answer].contains(*word))).count();
    }
    assert!(asked > 500 && shared * 8 < asked, "{shared} of {asked} words are shared with the answer");
}

#[test]
fn questions_with_both_have_a_word_of_the_answer_alone() {
    let corpus: Vec<_> = memories(42, 5_000).map(|record| record.content).collect();
    let asked = questions(42, corpus.len(), 500);
    let both: Vec<_> =
        asked.iter().filter(|question| question.style == Style::Both && question.answers[0] > 100).collect();
    assert!(both.len() > 50);
    for question in both {
        let mark = question.text.split(' ').next_back().unwrap();
        let found: Vec<_> = (0..corpus.len()).filter(|&index| corpus[index].contains(mark)).collect();
        assert_eq!(found, question.answers, "{}", question.text);
    }
}

#[test]
fn any_number_of_questions_works_for_any_corpus() {
    for count in [0, 1, 2, 100, 1_000] {
        for how_many in [0, 1, 30, 5_000] {
            let asked = questions(9, count, how_many);
            assert!(asked.len() <= how_many);
            let texts: HashSet<_> = asked.iter().map(|question| &question.text).collect();
            assert_eq!(texts.len(), asked.len(), "a question is asked twice ({count}, {how_many})");
            for question in &asked {
                assert!(!question.answers.is_empty() && question.answers.is_sorted());
                assert!(question.answers.iter().all(|&answer| answer < count));
            }
        }
    }
    assert!(questions(9, 100, 5_000).iter().filter(|question| question.style == Style::Meaning).count() >= 20);
    assert_eq!(questions(9, 10_000, 3_000).len(), 3_000);
}
