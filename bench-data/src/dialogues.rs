//! Dialogues with an agent whose turns need a memory that was saved earlier, or none.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use crate::draws::{Draws, Purpose};
use crate::grammar::{Expansion, Grammar, Source};
use crate::mark::Mark;
use crate::vocabulary;
use crate::wording::{join_words, tidy};

/// Kind of a turn, which decides if it needs a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Need {
    /// It asks for a memory.
    Asked,
    /// It asks for a memory in other words.
    InOtherWords,
    /// It needs a memory, and does not ask for it.
    Implied,
    /// It asks the previous question about another subject.
    FollowUp,
    /// It steers: "go on".
    Steering,
    /// It is about the code that is open.
    CodeTalk,
    /// It asks for something unrelated to all memories.
    NeverSaved,
    /// It asks for something else about a known subject.
    Near,
    /// It asks about an unknown subject, and memories about others answer such a question.
    Unknown,
}

impl Need {
    /// Every one, those that need a memory first.
    pub const ALL: [Need; 9] = [
        Need::Asked,
        Need::InOtherWords,
        Need::Implied,
        Need::FollowUp,
        Need::Steering,
        Need::CodeTalk,
        Need::NeverSaved,
        Need::Near,
        Need::Unknown,
    ];

    /// Whether the turn needs a memory.
    pub fn is_one(self) -> bool {
        matches!(self, Need::Asked | Need::InOtherWords | Need::Implied | Need::FollowUp)
    }
}

/// A turn of a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DialogueTurn {
    /// The message.
    pub text: String,
    /// Its kind.
    pub need: Need,
    /// The index of the memory in [`Dialogues::memories`].
    pub memory: Option<usize>,
    /// The messages before it, the newest last.
    pub before: Vec<String>,
    /// Whether it is in the half that thresholds may be chosen by. The halves have no wording in common.
    pub is_for_tuning: bool,
}

/// Saved memories, and turns that come later.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Dialogues {
    /// The memories: every template about every item.
    pub memories: Vec<String>,
    pub turns: Vec<DialogueTurn>,
}

/// Separates a memory from the turns that need it.
const THEN: &str = "=>";
/// Items that the turns of each template are about.
const ITEMS: usize = 4;

struct Lists {
    grammar: Grammar,
    sections: Vec<(String, usize, Vec<String>)>,
}

impl Lists {
    fn get() -> &'static Lists {
        static LISTS: LazyLock<Lists> = LazyLock::new(|| {
            compile().expect("the templates are compiled into the program and the tests of this crate compile them")
        });
        &LISTS
    }

    /// The number of a list, and its items as they are written.
    fn list(&self, name: &str) -> (usize, &[String]) {
        let found = self.sections.iter().find(|(section, ..)| section == name);
        found.map_or((0, &[]), |(_, list, items)| (*list, items))
    }

    /// Template `number` of a list about an item of `subject`.
    fn text(&self, draws: &mut Draws, list: usize, number: usize, subject: &str, item: &str) -> String {
        let mut text = Expansion::new(&self.grammar, Mark::of(0, 0), draws.fork());
        text.bind(self.list(subject).0, item);
        text.expand(&self.grammar.list(list)[number], &mut draws.fork());
        text.text
    }
}

fn compile() -> Result<Lists, String> {
    let mut grammar = Grammar::default();
    let common = vocabulary::common(&mut grammar)?.0;
    let talk = Source::parse(include_str!("vocabulary/conversations.txt"))?;
    let talk_names = grammar.declare(&talk, &common);
    grammar.define(&talk, &talk_names)?;
    let source = Source::parse(include_str!("vocabulary/dialogues.txt"))?;
    let names = grammar.declare(&source, &talk_names);
    grammar.define(&source, &names)?;
    let list = |name: &str| names.get(name).copied().ok_or_else(|| format!("there is no list {name:?}"));
    let sections = source.sections.into_iter().map(|(name, items)| Ok((name.clone(), list(&name)?, items)));
    Ok(Lists { sections: sections.collect::<Result<_, String>>()?, grammar })
}

pub fn dialogues(seed: u64) -> Dialogues {
    let mut draws = draws_of(seed, Purpose::Dialogue);
    let mut all = Dialogues::default();
    add_needed(&mut all, &mut draws, &[("needed", "service"), ("asked of people", "mate")], 2);
    add_others(&mut all, &mut draws);
    all
}

/// More dialogues of `seed`, in technical terms that are rare elsewhere ("timeout", "config"). They have turns that need a
/// memory, and [`Need::Unknown`] ones.
pub fn trade_dialogues(seed: u64) -> Dialogues {
    let mut all = Dialogues::default();
    add_needed(&mut all, draws_of(seed, Purpose::TradeDialogue), &[("needed in words of the trade", "part")], 4);
    all
}

/// Another stream of draws each time.
fn draws_of(seed: u64, purpose: Purpose) -> impl FnMut() -> Draws {
    let mut number = 0;
    move || {
        number += 1;
        Draws::of(seed, purpose, number)
    }
}

/// Adds the memories of sections with the lists of their subjects, the turns that need them, and for each template turns that ask
/// its question about `unknown` subjects.
fn add_needed(all: &mut Dialogues, mut draws: impl FnMut() -> Draws, sections: &[(&str, &str)], unknown: usize) {
    let lists = Lists::get();
    for &(section, subject) in sections {
        let (list, templates) = lists.list(section);
        for template in 0..templates.len() {
            let is_for_tuning = template % 2 == 0;
            let items = lists.list(subject).1;
            let first = draws().below(items.len());
            for (at, item) in items.iter().enumerate() {
                let text = lists.text(&mut draws(), list, template, subject, item);
                let parts: Vec<&str> = text.split(THEN).collect();
                let memory = Some(all.memories.len());
                all.memories.push(tidy(parts[0]));
                let is_needed = (at + items.len() - first) % items.len() < ITEMS;
                let needs = [Need::Asked, Need::InOtherWords, Need::Implied];
                for (need, text) in needs.into_iter().zip(&parts[1..]).filter(|_| is_needed) {
                    let before = before(lists, &mut draws());
                    all.turns.push(DialogueTurn { text: join_words(text), need, memory, before, is_for_tuning });
                }
            }
            // Two that come after those of their neighbours.
            for at in 0..2 {
                let memory = all.memories.len() - items.len() + (first + ITEMS + at) % items.len();
                let asked = lists.text(&mut draws(), list, template, subject, &items[(first + at) % items.len()]);
                let asked = join_words(asked.split(THEN).nth(1).unwrap_or_default());
                let before = vec![asked, before(lists, &mut draws()).swap_remove(0)];
                let text = format!("and for {}?", items[(first + ITEMS + at) % items.len()]);
                let (need, memory) = (Need::FollowUp, Some(memory));
                all.turns.push(DialogueTurn { text, need, memory, before, is_for_tuning });
            }
            // The same of what is not known: the half of the template, as its wording is.
            for item in &lists.list(&format!("{subject} elsewhere")).1[..unknown] {
                let text = lists.text(&mut draws(), list, template, subject, item);
                let asked = join_words(text.split(THEN).nth(1).unwrap_or_default());
                let before = before(lists, &mut draws());
                all.turns.push(DialogueTurn { text: asked, need: Need::Unknown, memory: None, before, is_for_tuning });
            }
        }
    }
}

/// Adds the turns that need no memory.
fn add_others(all: &mut Dialogues, mut draws: impl FnMut() -> Draws) {
    let lists = Lists::get();
    let others = [
        ("steering", Need::Steering),
        ("code talk", Need::CodeTalk),
        ("never saved", Need::NeverSaved),
        ("near", Need::Near),
    ];
    for (section, need) in others {
        let (list, templates) = lists.list(section);
        for (template, written) in templates.iter().enumerate() {
            let subject = if written.contains("$mate") { "mate" } else { "service" };
            let items = lists.list(subject).1;
            let first = draws().below(items.len());
            let mut texts = BTreeSet::new();
            for at in 0..ITEMS {
                let item = &items[(first + at) % items.len()];
                let text = join_words(&lists.text(&mut draws(), list, template, subject, item));
                let is_for_tuning = template % 2 == 0;
                if texts.insert(text.clone()) {
                    let before = before(lists, &mut draws());
                    all.turns.push(DialogueTurn { text, need, memory: None, before, is_for_tuning });
                }
            }
        }
    }
}

/// Returns two messages that precede a turn.
fn before(lists: &Lists, draws: &mut Draws) -> Vec<String> {
    let said = lists.list("before").1;
    (0..2).map(|_| draws.pick(said).clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dialogues_depend_on_the_seed_and_both_halves_have_every_need() {
        let all = dialogues(7);
        assert_eq!(all, dialogues(7));
        assert_ne!(all.memories, dialogues(8).memories);
        assert_eq!(all.memories.len(), all.memories.iter().collect::<BTreeSet<_>>().len());
        for need in Need::ALL {
            for half in [true, false] {
                let turns = all.turns.iter().filter(|turn| turn.need == need && turn.is_for_tuning == half);
                assert!(turns.clone().count() >= 8, "{need:?}");
                assert!(turns.clone().all(|turn| turn.memory.is_some() == need.is_one() && turn.before.len() == 2));
                assert!(turns.clone().all(|turn| !turn.text.contains(['{', '}', '|']) || need == Need::CodeTalk));
            }
        }
    }

    #[test]
    fn trade_dialogues_have_known_and_unknown_things_in_both_halves() {
        let all = trade_dialogues(7);
        assert_eq!(all, trade_dialogues(7));
        for (need, turns) in [(Need::InOtherWords, 28), (Need::Unknown, 28)] {
            for half in [true, false] {
                let of_half = all.turns.iter().filter(|turn| turn.need == need && turn.is_for_tuning == half);
                assert_eq!(of_half.count(), turns, "{need:?}");
            }
        }
        assert!(all.turns.iter().all(|turn| turn.memory.is_some() == turn.need.is_one()));
    }
}
