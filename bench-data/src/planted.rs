//! Memories that are planted among the others because a question is about them, and their positions.

use std::sync::LazyLock;

use crate::draws::visit;
use crate::style::Style;

pub(crate) struct Memory {
    pub name: &'static str,
    pub kind: &'static str,
    pub importance: u8,
    pub tags: Vec<&'static str>,
    pub content: &'static str,
    pub asked: Vec<PlantedQuestion>,
    /// Words and phrases that occur in no other memory.
    #[cfg_attr(not(test), allow(dead_code, reason = "tests hold the grammar to it"))]
    pub reserved: Vec<&'static str>,
}

pub(crate) struct PlantedQuestion {
    pub style: Style,
    pub text: &'static str,
    /// Names of further memories that answer it.
    pub also: Vec<&'static str>,
}

/// Persons and news about them, each in the words of the memory and of a question.
pub(crate) struct Pairs {
    persons: Vec<(&'static str, &'static str)>,
    news: Vec<(&'static str, &'static str)>,
}

pub(crate) enum Planted {
    HandWritten(&'static Memory),
    /// The meeting of a person and a piece of news.
    Pair {
        person: &'static str,
        news: &'static str,
    },
}

/// The hand-written memories, in the order of their positions.
pub(crate) fn hand_written() -> &'static [Memory] {
    static MEMORIES: LazyLock<Vec<Memory>> = LazyLock::new(|| {
        parse_memories(include_str!("vocabulary/planted.txt"))
            .expect("the file is compiled into the program and every test of this crate parses it")
    });
    &MEMORIES
}

fn pairs() -> &'static Pairs {
    static PAIRS: LazyLock<Pairs> = LazyLock::new(|| {
        parse_pairs(include_str!("vocabulary/pairs.txt"))
            .expect("the file is compiled into the program and every test of this crate parses it")
    });
    &PAIRS
}

/// How many hand-written memories are among the first hundred.
const EARLY: usize = 24;

/// The position of the hand-written memory `number`.
pub(crate) fn place_of(number: usize) -> usize {
    if number < EARLY { 4 * number + 1 } else { 107 + 52 * (number - EARLY) }
}

/// The position of the pair of rank `rank`. It never collides with a hand-written memory: these are at 1 or 3 modulo 4.
pub(crate) fn place_of_pair(rank: usize) -> usize {
    96 + 32 * rank
}

/// How many pairs there are.
pub(crate) fn pair_count() -> usize {
    pairs().persons.len() * pairs().news.len()
}

/// The planted memory at `index`, if any.
pub(crate) fn at(seed: u64, index: usize) -> Option<Planted> {
    let number = match index.checked_sub(107) {
        Some(late) if late % 52 == 0 => Some(EARLY + late / 52),
        None if index % 4 == 1 => Some(index / 4).filter(|&number| number < EARLY),
        _ => None,
    };
    if let Some(memory) = number.and_then(|number| hand_written().get(number)) {
        return Some(Planted::HandWritten(memory));
    }
    let distance = index.checked_sub(96).filter(|distance| distance % 32 == 0)?;
    let ((person, _), (news, _)) = pair(seed, distance / 32)?;
    Some(Planted::Pair { person, news })
}

type Worded = (&'static str, &'static str);

/// The person and the news of the pair of rank `rank`, each in the words of the memory and of a question.
pub(crate) fn pair(seed: u64, rank: usize) -> Option<(Worded, Worded)> {
    let number = visit(seed, 1, rank, pair_count())?;
    let Pairs { persons, news } = pairs();
    Some((persons[number % persons.len()], news[number / persons.len()]))
}

impl Planted {
    pub fn content(&self) -> String {
        match self {
            Planted::HandWritten(memory) => memory.content.to_owned(),
            Planted::Pair { person, news } => format!("{person} {news}"),
        }
    }

    pub fn kind(&self) -> &'static str {
        match self {
            Planted::HandWritten(memory) => memory.kind,
            Planted::Pair { .. } => "relationship",
        }
    }

    pub fn importance(&self) -> u8 {
        match self {
            Planted::HandWritten(memory) => memory.importance,
            Planted::Pair { .. } => 4,
        }
    }

    pub fn tags(&self) -> Vec<String> {
        match self {
            Planted::HandWritten(memory) => memory.tags.iter().map(|&tag| tag.to_owned()).collect(),
            Planted::Pair { .. } => vec!["people".to_owned()],
        }
    }
}

fn parse_memories(text: &'static str) -> Result<Vec<Memory>, String> {
    let mut memories: Vec<Memory> = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let wrong = || format!("cannot read {line:?}");
        if let Some(head) = line.strip_prefix("= ") {
            let mut fields = head.split(" | ");
            let mut field = || fields.next().ok_or_else(wrong);
            memories.push(Memory {
                name: field()?,
                kind: field()?,
                importance: field()?.parse().map_err(|error| format!("{line:?}: {error}"))?,
                tags: field()?.split(' ').collect(),
                content: "",
                asked: Vec::new(),
                reserved: Vec::new(),
            });
            continue;
        }
        let memory = memories.last_mut().ok_or_else(wrong)?;
        match line.split_once(' ').ok_or_else(wrong)? {
            ("!", words) => memory.reserved.extend(words.split(", ")),
            (letter @ ("m" | "w" | "b"), question) => {
                let (also, text) = match question.strip_prefix('+') {
                    Some(rest) => rest.split_once(' ').ok_or_else(wrong)?,
                    None => ("", question),
                };
                let style = match letter {
                    "m" => Style::Meaning,
                    "w" => Style::Word,
                    _ => Style::Both,
                };
                let also = also.split(',').filter(|name| !name.is_empty()).collect();
                memory.asked.push(PlantedQuestion { style, text, also });
            }
            _ if memory.content.is_empty() => memory.content = line,
            _ => return Err(wrong()),
        }
    }
    Ok(memories)
}

fn parse_pairs(text: &'static str) -> Result<Pairs, String> {
    let mut pairs = Pairs { persons: Vec::new(), news: Vec::new() };
    let mut section = "";
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        match line.split_once(" => ") {
            None => section = line,
            Some(worded) if section == "[persons]" => pairs.persons.push(worded),
            Some(worded) if section == "[news]" => pairs.news.push(worded),
            Some(_) => return Err(format!("{line:?} is in no section")),
        }
    }
    Ok(pairs)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::memories::memories;
    use crate::vocabulary::KINDS;

    /// The words of `text` between single spaces, with a space at either end.
    fn spaced_words(text: &str) -> String {
        let lower = text.to_lowercase();
        let words = lower.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '-').filter(|word| !word.is_empty());
        words.fold(" ".to_owned(), |line, word| line + word + " ")
    }

    #[test]
    fn hand_written_memories_are_complete() {
        let memories = hand_written();
        assert_eq!(memories.len(), 60);
        let names: HashSet<_> = memories.iter().map(|memory| memory.name).collect();
        assert_eq!(names.len(), memories.len(), "a name is used twice");
        for memory in memories {
            assert!(KINDS.contains(&memory.kind) && (1..=10).contains(&memory.importance), "{}", memory.name);
            assert!(!memory.content.is_empty() && !memory.reserved.is_empty(), "{}", memory.name);
            assert!(memory.asked.iter().any(|asked| asked.style == Style::Meaning), "{}", memory.name);
            let also = memory.asked.iter().flat_map(|asked| &asked.also);
            also.for_each(|name| assert!(names.contains(name), "there is no memory {name}"));
        }
    }

    #[test]
    fn each_is_at_its_position_only() {
        let mut found = vec![0; hand_written().len()];
        let mut pairs = HashSet::new();
        for index in 0..30_000 {
            match at(7, index) {
                Some(Planted::HandWritten(memory)) => {
                    let number = hand_written().iter().position(|other| std::ptr::eq(other, memory)).unwrap();
                    assert_eq!(place_of(number), index);
                    assert!(index < 2_000);
                    found[number] += 1;
                }
                Some(pair @ Planted::Pair { .. }) => assert!(pairs.insert(pair.content()), "{} twice", pair.content()),
                None => {}
            }
        }
        assert!(found.iter().all(|&times| times == 1), "{found:?}");
        assert_eq!(pairs.len(), pair_count());
        assert!((0..hand_written().len()).filter(|&number| place_of(number) < 100).count() >= 20);
    }

    #[test]
    fn reserved_words_occur_in_their_memory_only() {
        for seed in [42, 1] {
            for (index, record) in memories(seed, 20_000).enumerate() {
                let text = spaced_words(&record.content);
                for (number, memory) in hand_written().iter().enumerate() {
                    for phrase in &memory.reserved {
                        let occurs = text.contains(&spaced_words(phrase));
                        assert!(!occurs || place_of(number) == index, "seed {seed}, {index}: {phrase:?} in {text}");
                    }
                }
            }
        }
        for memory in hand_written() {
            let text = spaced_words(memory.content);
            assert!(memory.reserved.iter().any(|phrase| text.contains(&spaced_words(phrase))), "{}", memory.name);
        }
    }
}
