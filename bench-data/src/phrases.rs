//! Messages of conversations, and facts that change: templates, each about one item of a list.

use std::sync::LazyLock;

use crate::draws::{Draws, visit};
use crate::grammar::{Expansion, Grammar, Names, Source, Template};
use crate::mark::Mark;
use crate::vocabulary;
use crate::wording::{join_words, tidy};

/// The lists of subjects of templates; all are of one length.
const SUBJECTS: [&str; 3] = ["tint", "name", "club"];

/// Separates a message from the query for it.
const THEN: &str = "=>";

/// The templates, and the numbers of their lists.
pub(crate) struct Phrases {
    pub grammar: Grammar,
    /// Questions with answers and queries.
    pub asked: usize,
    /// Statements with queries.
    pub stated: usize,
    /// Queries about items that nobody mentions.
    pub elsewhere: usize,
    /// An old fact, a new one, and a query.
    pub changed: usize,
    /// Small talk.
    pub greeting: usize,
    pub greeted: usize,
    pub filler: usize,
    pub reply: usize,
    pub parting: usize,
    subjects: Vec<Subject>,
}

/// A subject of templates.
struct Subject {
    list: usize,
    items: Items,
    elsewhere: Items,
}

type Items = Vec<String>;

/// Whether a template is about something that occurs in the generated texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum About {
    Known,
    Unknown,
}

impl Phrases {
    /// The built-in templates, compiled at first use.
    pub fn get() -> &'static Phrases {
        static PHRASES: LazyLock<Phrases> = LazyLock::new(|| {
            compile().expect("the templates are compiled into the program and the tests of this crate compile them")
        });
        &PHRASES
    }

    /// Instance `rank` of the templates of `list`: its parts, of which the last is a query. Every template meets every
    /// item it can be about once; `None` beyond.
    pub fn instance(
        &self,
        seed: u64,
        list: usize,
        about: About,
        rank: usize,
        draws: &mut Draws,
    ) -> Option<Vec<String>> {
        let templates = self.grammar.list(list);
        let number = visit(seed, list as u64, rank, templates.len() * self.items(about))?;
        let mut text = Expansion::new(&self.grammar, Mark::of(0, 0), draws.fork());
        for subject in &self.subjects {
            let items = if about == About::Known { &subject.items } else { &subject.elsewhere };
            text.bind(subject.list, &items[number / templates.len()]);
        }
        text.expand(&templates[number % templates.len()], &mut draws.fork());
        let mut parts: Vec<&str> = text.text.split(THEN).collect();
        let query = join_words(parts.pop()?);
        Some(parts.into_iter().map(tidy).chain([query]).collect())
    }

    /// How many items a template can be about.
    fn items(&self, about: About) -> usize {
        let lengths = self.subjects.iter().map(|subject| match about {
            About::Known => subject.items.len(),
            About::Unknown => subject.elsewhere.len(),
        });
        lengths.min().unwrap_or(0)
    }
}

pub(crate) fn sentence(grammar: &Grammar, list: usize, draws: &mut Draws) -> String {
    let mut text = Expansion::new(grammar, Mark::of(0, 0), draws.fork());
    text.expand(draws.pick::<Template>(grammar.list(list)), &mut draws.fork());
    tidy(&text.text)
}

fn compile() -> Result<Phrases, String> {
    let mut grammar = Grammar::default();
    let common = vocabulary::common(&mut grammar)?.0;
    let (talk, names) = declared(&mut grammar, include_str!("vocabulary/conversations.txt"), &common)?;
    let (_, all) = declared(&mut grammar, include_str!("vocabulary/changes.txt"), &names)?;
    let list = |name: &str| all.get(name).copied().ok_or_else(|| format!("there is no list {name:?}"));
    let items = |name: &str| -> Result<Items, String> {
        let section = talk.sections.iter().find(|(section, _)| section == name);
        section.map(|(_, items)| items.clone()).ok_or_else(|| format!("there is no section [{name}]"))
    };
    let subject = |name: &str| {
        Ok(Subject { list: list(name)?, items: items(name)?, elsewhere: items(&format!("{name} elsewhere"))? })
    };
    Ok(Phrases {
        asked: list("asked")?,
        stated: list("stated")?,
        elsewhere: list("elsewhere")?,
        changed: list("changed")?,
        greeting: list("greeting")?,
        greeted: list("greeted")?,
        filler: list("filler")?,
        reply: list("reply")?,
        parting: list("parting")?,
        subjects: SUBJECTS.into_iter().map(subject).collect::<Result<_, String>>()?,
        grammar,
    })
}

/// Compiles a file that uses the lists of `names`. Returns it, and the names that are known after it.
fn declared(grammar: &mut Grammar, text: &str, names: &Names) -> Result<(Source, Names), String> {
    let source = Source::parse(text)?;
    let names = grammar.declare(&source, names);
    grammar.define(&source, &names)?;
    Ok((source, names))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::draws::Purpose;

    #[test]
    fn every_template_is_about_one_item_and_has_its_parts() {
        let phrases = Phrases::get();
        for subject in &phrases.subjects {
            assert_eq!((subject.items.len(), subject.elsewhere.len()), (24, 8));
        }
        for (list, parts, at_least) in
            [(phrases.asked, 3, 30), (phrases.stated, 2, 10), (phrases.changed, 3, 20), (phrases.elsewhere, 1, 10)]
        {
            let templates = phrases.grammar.list(list).len();
            assert!(templates >= at_least, "{templates}");
            let mut queries = HashSet::new();
            for rank in 0..templates * 24 {
                let mut draws = Draws::of(1, Purpose::Conversation, rank as u64);
                let instance = phrases.instance(1, list, About::Known, rank, &mut draws).unwrap();
                assert_eq!(instance.len(), parts, "{instance:?}");
                assert!(instance.iter().all(|part| !part.contains(['{', '}', '|', '(', ')'])), "{instance:?}");
                let items = phrases.subjects.iter().flat_map(|subject| &subject.items);
                let query = instance.last().unwrap();
                assert_eq!(items.filter(|item| query.contains(item.as_str())).count(), 1, "{query}");
                assert!(queries.insert(query.clone()), "{query}");
            }
            let mut draws = Draws::of(1, Purpose::Conversation, 0);
            assert_eq!(phrases.instance(1, list, About::Known, templates * 24, &mut draws), None);
        }
    }
}
