//! Questions about the memories whose right answers are known.

use serde::{Deserialize, Serialize};

use crate::draws::{Draws, Purpose};
use crate::mark::marks_in;
use crate::memories::memory;
use crate::planted;
use crate::style::Style;

/// A question and its right answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    pub text: String,
    /// Indices of the memories that answer it, ascending; at least one.
    pub answers: Vec<usize>,
    pub style: Style,
}

/// Up to `how_many` different questions about the first `count` memories of `seed`.
/// The hand-written ones come first, those about the earliest memories leading (the first about colours on screen).
/// Then the styles take turns: a person and a piece of news in other words, the mark of a memory, the opening words of
/// a memory with its mark. Fewer are returned if the corpus has no more: questions by meaning end with the planted
/// memories (60 hand-written, then one in 32 up to index 20,000), the others continue while memories with searchable
/// marks last.
pub fn questions(seed: u64, count: usize, how_many: usize) -> Vec<Question> {
    let mut questions = hand_written(count);
    if questions.len() < how_many {
        let mut meaning = by_pairs(seed, count);
        let mut marks = by_marks(seed, count);
        while questions.len() < how_many {
            let before = questions.len();
            questions.extend(meaning.next());
            questions.extend(marks.next().map(|(index, mark)| word_question(index, &mark)));
            questions.extend(marks.next().map(|(index, mark)| both_question(seed, index, &mark)));
            if questions.len() == before {
                break;
            }
        }
    }
    questions.truncate(how_many);
    questions
}

fn hand_written(count: usize) -> Vec<Question> {
    let memories = planted::hand_written();
    let place = |name: &str| memories.iter().position(|memory| memory.name == name).map(planted::place_of);
    let mut questions = Vec::new();
    for memory in memories {
        for asked in &memory.asked {
            let names = asked.also.iter().chain([&memory.name]);
            let answers: Option<Vec<usize>> = names.map(|name| place(name).filter(|&place| place < count)).collect();
            questions.extend(answers.map(|mut answers| {
                answers.sort_unstable();
                Question { text: asked.text.to_owned(), answers, style: asked.style }
            }));
        }
    }
    questions
}

fn by_pairs(seed: u64, count: usize) -> impl Iterator<Item = Question> {
    (0..planted::pair_count()).map_while(move |rank| {
        let answer = Some(planted::place_of_pair(rank)).filter(|&place| place < count)?;
        let ((_, person), (_, news)) = planted::pair(seed, rank)?;
        Some(Question { text: format!("{person} {news}"), answers: vec![answer], style: Style::Meaning })
    })
}

/// Memories with a searchable mark, in a separate order, each once.
fn by_marks(seed: u64, count: usize) -> impl Iterator<Item = (usize, String)> {
    let offset = if count == 0 { 0 } else { Draws::of(seed, Purpose::Question, 0).below(count) };
    let stride = stride(count);
    (0..count).filter_map(move |turn| {
        // in 128 bits, because turn * stride may exceed 64 where usize has 32
        let index = ((turn as u128 * stride as u128 + offset as u128) % count as u128) as usize;
        let content = memory(seed, index).content;
        marks_in(&content, true).first().map(|mark| (index, (*mark).to_owned()))
    })
}

/// About 0.618 of `count`, without a common factor: its multiples visit all indices, far from one another.
fn stride(count: usize) -> usize {
    let common_factor = |mut a: usize, mut b: usize| {
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    (count / 1000 * 618 + count % 1000 * 618 / 1000..).find(|&stride| common_factor(stride, count) <= 1).unwrap_or(1)
}

fn word_question(index: usize, mark: &str) -> Question {
    Question { text: mark.to_owned(), answers: vec![index], style: Style::Word }
}

fn both_question(seed: u64, index: usize, mark: &str) -> Question {
    let content = memory(seed, index).content;
    let opening: Vec<&str> = content.split(' ').take(6).filter(|word| !word.contains(mark)).collect();
    Question { text: format!("{} {mark}", opening.join(" ")), answers: vec![index], style: Style::Both }
}
