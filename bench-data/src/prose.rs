//! Sentences and paragraphs, on a topic or from the lists of notes and sessions.

use std::sync::LazyLock;

use crate::draws::Draws;
use crate::grammar::{Expansion, Grammar, Source, Template};
use crate::mark::Mark;
use crate::memories::pick_topic;
use crate::vocabulary::{self, Topic, Vocabulary};
use crate::wording::{join_words, tidy};

/// Separates a fact from the question about it.
const THEN: &str = "=>";

/// The lists of notes and sessions, and their numbers.
pub(crate) struct Prose {
    grammar: Grammar,
    pub cjk: usize,
    pub prompt: usize,
    pub opening: usize,
    pub thought: usize,
    pub noted: usize,
    pub decided: usize,
}

/// A fact, and the question about it; both have its mark, and nothing else has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fact {
    pub text: String,
    pub question: String,
}

impl Prose {
    /// The built-in lists, compiled at first use.
    pub fn get() -> &'static Prose {
        static PROSE: LazyLock<Prose> = LazyLock::new(|| {
            compile().expect("the lists are compiled into the program and the tests of this crate compile them")
        });
        &PROSE
    }

    pub fn sentence(&self, list: usize, draws: &mut Draws) -> String {
        expanded(&self.grammar, draws.pick::<Template>(self.grammar.list(list)), any_mark(draws), draws)
    }

    pub fn fact(&self, list: usize, seed: u64, index: usize, draws: &mut Draws) -> Fact {
        let template = draws.pick::<Template>(self.grammar.list(list));
        let text = expanded(&self.grammar, template, Mark::of(seed, index), draws);
        let (text, question) = text.split_once(THEN).unwrap_or((&text, ""));
        Fact { text: text.trim().to_owned(), question: join_words(question) }
    }
}

fn compile() -> Result<Prose, String> {
    let mut grammar = Grammar::default();
    let mut names = vocabulary::common(&mut grammar)?.0;
    for text in [include_str!("vocabulary/notes.txt"), include_str!("vocabulary/sessions.txt")] {
        let source = Source::parse(text)?;
        names = grammar.declare(&source, &names);
        grammar.define(&source, &names)?;
    }
    let list = |name: &str| names.get(name).copied().ok_or_else(|| format!("there is no list {name:?}"));
    Ok(Prose {
        cjk: list("cjk")?,
        prompt: list("prompt")?,
        opening: list("opening")?,
        thought: list("thought")?,
        noted: list("noted")?,
        decided: list("decided")?,
        grammar,
    })
}

fn expanded(grammar: &Grammar, template: &Template, mark: Mark, draws: &mut Draws) -> String {
    let mut text = Expansion::new(grammar, mark, draws.fork());
    text.expand(template, &mut draws.fork());
    tidy(&text.text)
}

/// A mark for texts that are no facts.
fn any_mark(draws: &mut Draws) -> Mark {
    Mark::of(0, draws.below(1 << 20))
}

pub(crate) fn topic(draws: &mut Draws) -> &'static Topic {
    pick_topic(Vocabulary::get(), draws)
}

/// A sentence on a topic: of ten, seven state something, and three are talk.
pub(crate) fn on(topic: &Topic, draws: &mut Draws) -> String {
    let grammar = &Vocabulary::get().grammar;
    let template =
        if draws.percent(70) { &draws.pick(&topic.shapes).1 } else { draws.pick::<Template>(grammar.list(topic.talk)) };
    let mut text = expanded(grammar, template, any_mark(draws), draws);
    if !text.ends_with(['.', '?', '!', '。']) {
        text.push('.');
    }
    text
}

pub(crate) fn paragraph(topic: &Topic, sentences: usize, draws: &mut Draws) -> String {
    let sentences: Vec<String> = (0..sentences).map(|_| on(topic, draws)).collect();
    sentences.join(" ")
}

pub(crate) fn tag(topic: &Topic, draws: &mut Draws) -> String {
    let grammar = &Vocabulary::get().grammar;
    let mut text = Expansion::new(grammar, Mark::of(0, 0), draws.fork());
    text.expand(draws.pick::<Template>(grammar.list(topic.tags)), &mut draws.fork());
    text.text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draws::Purpose;

    #[test]
    fn every_fact_and_its_question_have_its_mark() {
        let prose = Prose::get();
        for (list, prefix) in [(prose.noted, "NF-"), (prose.decided, "SF-")] {
            let grammar = &prose.grammar;
            for template in grammar.list(list) {
                let text = expanded(grammar, template, Mark::of(7, 3), &mut Draws::of(7, Purpose::Note, 3));
                let mut mark = prefix.to_owned();
                Mark::of(7, 3).write(crate::mark::Form::Number, &mut Draws::of(7, Purpose::Note, 3), &mut mark);
                let (text, question) = text.split_once(THEN).unwrap();
                assert!(text.contains(&mark) && question.contains(&mark), "{text} => {question}");
            }
        }
    }
}
