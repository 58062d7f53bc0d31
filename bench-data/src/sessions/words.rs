//! Prompts to an agent, and its answers.

use super::tools::{self, LEFT_OUT, ToolCall};
use crate::code::{LANGUAGES, code};
use crate::draws::Draws;
use crate::prose::{self, Prose};

/// A message of the user or the agent.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionTurn {
    /// Whether the user said it.
    pub is_user: bool,
    pub text: String,
    /// The thinking of the agent before it.
    pub thinking: Option<String>,
    /// The tool calls of the agent before it.
    pub tools: Vec<ToolCall>,
    /// When, in Unix milliseconds.
    pub at: i64,
}

/// A session's title.
pub(super) fn title(draws: &mut Draws) -> String {
    let prompt = Prose::get().sentence(Prose::get().prompt, draws);
    prompt.trim_end_matches(['.', '?']).chars().take(48).collect::<String>().trim_end().to_owned()
}

/// A turn, with a fact among its paragraphs if there is one.
pub(super) fn turn(is_user: bool, fact: Option<&str>, at: i64, draws: &mut Draws) -> SessionTurn {
    let mut paragraphs = if is_user { prompt(draws) } else { answer(draws) };
    let tools: Vec<ToolCall> =
        if is_user { Vec::new() } else { (0..draws.below(4)).map(|_| tools::call(draws)).collect() };
    let thinking = (!is_user && draws.percent(60)).then(|| thought(draws));
    // The last draw, so that nothing else of the turn depends on it.
    if let Some(fact) = fact {
        paragraphs.insert(draws.below(paragraphs.len() + 1), fact.to_owned());
    }
    SessionTurn { is_user, text: paragraphs.join("\n\n"), thinking, tools, at }
}

fn prompt(draws: &mut Draws) -> Vec<String> {
    let mut paragraphs = vec![Prose::get().sentence(Prose::get().prompt, draws)];
    if draws.percent(30) {
        let sentences = 1 + draws.below(4);
        paragraphs.push(prose::paragraph(prose::topic(draws), sentences, draws));
    }
    if draws.percent(6) {
        paragraphs.push(Prose::get().sentence(Prose::get().cjk, draws));
    }
    if draws.percent(8) {
        paragraphs.push(fence(5, draws));
    }
    paragraphs
}

fn answer(draws: &mut Draws) -> Vec<String> {
    let topic = prose::topic(draws);
    let mut paragraphs = vec![Prose::get().sentence(Prose::get().opening, draws)];
    for _ in 0..1 + draws.below(3) {
        let sentences = 1 + draws.below(4);
        paragraphs.push(prose::paragraph(topic, sentences, draws));
    }
    if draws.percent(25) {
        let items: Vec<String> = (0..2 + draws.below(3)).map(|_| format!("- {}", prose::on(topic, draws))).collect();
        paragraphs.push(items.join("\n"));
    }
    if draws.percent(25) {
        paragraphs.push(fence(2, draws));
    }
    paragraphs
}

fn fence(pieces: usize, draws: &mut Draws) -> String {
    let language = *draws.pick(&LANGUAGES);
    let pieces = 1 + draws.below(pieces);
    format!("```{language}\n{}```", code(language, pieces, draws))
}

fn thought(draws: &mut Draws) -> String {
    let sentences: Vec<String> =
        (0..1 + draws.below(3)).map(|_| Prose::get().sentence(Prose::get().thought, draws)).collect();
    format!("{} {LEFT_OUT}", sentences.join(" "))
}
