//! The memories: item `index` of the corpus of a seed, and streams of them.

use std::io::{self, Write};

use serde::{Deserialize, Serialize};

use crate::draws::{Draws, Purpose};
use crate::grammar::{Expansion, Template};
use crate::mark::Mark;
use crate::planted::{self, Planted};
use crate::vocabulary::{Topic, Vocabulary};
use crate::wording::{reword, tidy};

/// A memory, with the field names of the `memory_add` tool: serialised, it is one line of an import.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MemoryRecord {
    pub content: String,
    /// The kind: `fact`, `preference`, `event`, ...
    pub entry_type: String,
    /// Where it came from: `conversation`, `email`, ...
    pub source: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// 0 to 1.
    pub confidence: f64,
    /// 1 to 10.
    pub importance: u8,
    /// Labels, without repeats.
    pub tags: Vec<String>,
    /// The project it belongs to; none: all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The agent it belongs to; none: all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// When it expires, in Unix milliseconds; from the year 2100 on, so that nothing expires during a measurement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<i64>,
}

/// The first `count` memories of `seed`, made one at a time.
///
/// A memory depends on the seed and its index only: a smaller corpus is the beginning of a larger one.
pub fn memories(seed: u64, count: usize) -> impl Iterator<Item = MemoryRecord> {
    (0..count).map(move |index| memory(seed, index))
}

pub fn memory(seed: u64, index: usize) -> MemoryRecord {
    if let Some(planted) = planted::at(seed, index) {
        return planted_record(seed, index, &planted);
    }
    match near_duplicate_of(seed, index) {
        Some(original) => compose(seed, original, index),
        None => compose(seed, index, index),
    }
}

/// The earlier memory that memory `index` repeats in other words, if it is a near-duplicate (about 3 in 100 are). A
/// planted memory, and one that a question by meaning is about, is never repeated.
pub fn near_duplicate_of(seed: u64, index: usize) -> Option<usize> {
    let drawn = |index: usize| {
        let mut draws = Draws::of(seed, Purpose::NearDuplicate, index as u64);
        (draws.below(1000) < 31 && planted::at(seed, index).is_none()).then_some(draws)
    };
    let mut draws = drawn(index).filter(|_| index >= 40)?;
    // no copies of copies: two reworded twins of one memory may share its wording
    (0..8)
        .map(|_| draws.below(index))
        .find(|&original| planted::at(seed, original).is_none() && drawn(original).is_none())
}

/// Writes the first `count` memories of `seed` as JSON lines, in the form that `memorist import` reads.
pub fn write_jsonl(seed: u64, count: usize, mut out: impl Write) -> io::Result<()> {
    for record in memories(seed, count) {
        serde_json::to_writer(&mut out, &record)?;
        out.write_all(b"\n")?;
    }
    out.flush()
}

/// The content of memory `says`, in the words and with the mark of memory `index`.
fn compose(seed: u64, says: usize, index: usize) -> MemoryRecord {
    let vocabulary = Vocabulary::get();
    let grammar = &vocabulary.grammar;
    let mut content = Draws::of(seed, Purpose::Content, says as u64);
    let topic = pick_topic(vocabulary, &mut content);
    let (kind, shape) = content.pick(&topic.shapes);

    let wording = Draws::of(seed, Purpose::Wording, index as u64);
    let mut text = Expansion::new(grammar, Mark::of(seed, index), wording);
    let repeats = says != index;
    if repeats && text.wording().percent(40) {
        append_one_of(&mut text, grammar.list(vocabulary.lead));
    }
    text.expand(shape, &mut content.fork());
    if repeats {
        let mut wording = text.wording().fork();
        text.text = reword(&text.text, &vocabulary.synonyms, &mut wording);
    }
    if !text.marked {
        let own_tail = topic.tail.filter(|_| text.wording().percent(50));
        append_one_of(&mut text, grammar.list(own_tail.unwrap_or(vocabulary.tail)));
    }

    let mut context = Expansion::new(grammar, Mark::of(seed, index), content.fork());
    if content.percent(25) {
        append_one_of(&mut context, grammar.list(topic.context));
    }
    let chance_of_project = if matches!(topic.name, "software" | "operations" | "work") { 45 } else { 6 };
    let project = match text.bound(vocabulary.project_names) {
        Some(project) => content.percent(80).then(|| project.to_owned()),
        None => content.percent(chance_of_project).then(|| drawn_text(vocabulary.project_names, &mut content)),
    };
    MemoryRecord {
        content: tidy(&text.text),
        entry_type: (*kind).to_owned(),
        source: drawn_text(vocabulary.source, &mut content),
        context: (!context.text.is_empty()).then(|| tidy(&context.text)),
        confidence: *content.pick(&[1.0, 1.0, 1.0, 1.0, 0.95, 0.95, 0.9, 0.9, 0.85, 0.8, 0.75, 0.7, 0.6, 0.5, 0.4]),
        importance: importance(kind, &mut content),
        tags: tags(topic, &mut content),
        project,
        agent: content.percent(15).then(|| drawn_text(vocabulary.agent, &mut content)),
        expires_at: content.percent(2).then(|| expiry(&mut content)),
    }
}

/// A topic, by the topics' weights.
pub(crate) fn pick_topic<'a>(vocabulary: &'a Vocabulary, content: &mut Draws) -> &'a Topic {
    let mut ticket = content.below(vocabulary.weight);
    for topic in &vocabulary.topics {
        match ticket.checked_sub(topic.weight) {
            Some(rest) => ticket = rest,
            None => return topic,
        }
    }
    unreachable!("the ticket is below the sum of the topics' weights")
}

/// Appends a part of the wording, not of the content.
fn append_one_of(text: &mut Expansion<'_>, templates: &[Template]) {
    let mut draws = text.wording().fork();
    text.expand(draws.pick::<Template>(templates), &mut draws);
}

/// An item of a list of plain words.
fn drawn_text(list: usize, content: &mut Draws) -> String {
    let mut item = Expansion::new(&Vocabulary::get().grammar, Mark::of(0, 0), content.fork());
    append_one_of(&mut item, Vocabulary::get().grammar.list(list));
    item.text
}

fn importance(kind: &str, content: &mut Draws) -> u8 {
    let usual = match kind {
        "decision" | "bugfix" | "preference" => 6,
        "task" | "contact" | "relationship" | "project" | "profile" => 5,
        _ => 4,
    };
    // three dice of 0 to 2, less 3, around the usual one; and now and then something vital
    let spread = content.below(3) + content.below(3) + content.below(3);
    if content.percent(4) { 10 - content.below(2) as u8 } else { (usual + spread as u8).saturating_sub(3).clamp(1, 10) }
}

fn tags(topic: &Topic, content: &mut Draws) -> Vec<String> {
    let mut tags = vec![topic.name.to_owned()];
    for _ in 0..content.below(4) {
        let tag = drawn_text(topic.tags, content);
        if !tags.contains(&tag) {
            tags.push(tag);
        }
    }
    if content.percent(20) {
        tags.remove(0);
    }
    tags
}

fn expiry(content: &mut Draws) -> i64 {
    const YEAR_2100: i64 = 4_102_444_800_000;
    const DAY: i64 = 86_400_000;
    YEAR_2100 + content.below(7_300) as i64 * DAY
}

fn planted_record(seed: u64, index: usize, planted: &Planted) -> MemoryRecord {
    let mut content = Draws::of(seed, Purpose::Content, index as u64);
    MemoryRecord {
        content: planted.content(),
        entry_type: planted.kind().to_owned(),
        source: drawn_text(Vocabulary::get().source, &mut content),
        context: None,
        confidence: *content.pick(&[1.0, 0.95, 0.9]),
        importance: planted.importance(),
        tags: planted.tags(),
        project: None,
        agent: None,
        expires_at: None,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::mark::marks_in;
    use crate::vocabulary::KINDS;

    const SEED: u64 = 42;

    #[test]
    fn a_hundred_thousand_memories_are_distinct_and_valid() {
        let (mut texts, mut kinds, mut near_duplicates, mut words) = (HashSet::new(), HashSet::new(), 0, 0);
        for (index, record) in memories(SEED, 100_000).enumerate() {
            let text = record.content.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ");
            words += text.split(' ').count();
            near_duplicates += usize::from(near_duplicate_of(SEED, index).is_some());
            if planted::at(SEED, index).is_none() {
                assert_eq!(marks_in(&record.content, false).len(), 1, "seed {SEED}, {index}: {}", record.content);
            }
            assert!(texts.insert(text), "seed {SEED}, {index} is a duplicate: {}", record.content);
            assert!(KINDS.contains(&record.entry_type.as_str()), "{}", record.entry_type);
            kinds.insert(record.entry_type);
            assert!((1..=10).contains(&record.importance) && (0.0..=1.0).contains(&record.confidence));
            let distinct: HashSet<_> = record.tags.iter().collect();
            assert!(distinct.len() == record.tags.len() && record.tags.iter().all(|tag| !tag.trim().is_empty()));
            assert!(record.expires_at.is_none_or(|at| at >= 4_102_444_800_000));
            assert!(!record.content.contains(['{', '}', '|', '\n']) && !record.content.contains("  "));
        }
        assert_eq!(kinds.len(), KINDS.len());
        assert!((2_500..=3_500).contains(&near_duplicates), "{near_duplicates} near-duplicates");
        assert!((15.0..=25.0).contains(&(words as f64 / 100_000.0)), "{words} words");
    }

    #[test]
    fn near_duplicates_say_the_same_in_other_words() {
        let words = |index| {
            let content = memory(SEED, index).content.to_lowercase();
            content.split_whitespace().map(str::to_owned).collect::<HashSet<_>>()
        };
        let shared = |a: usize, b: usize| {
            let (a, b) = (words(a), words(b));
            a.intersection(&b).count() as f64 / a.len().min(b.len()) as f64
        };
        let pairs: Vec<_> = (0..10_000).filter_map(|index| Some((index, near_duplicate_of(SEED, index)?))).collect();
        for (index, original) in &pairs {
            assert!(original < index && near_duplicate_of(SEED, *original).is_none());
            assert_eq!(memory(SEED, *index).entry_type, memory(SEED, *original).entry_type);
        }
        let mean = pairs.iter().map(|&(index, original)| shared(index, original)).sum::<f64>() / pairs.len() as f64;
        let strangers = pairs.iter().map(|&(index, _)| shared(index, index + 1)).sum::<f64>() / pairs.len() as f64;
        assert!(mean > 0.55 && mean < 0.95, "near-duplicates share {mean} of their words");
        assert!(strangers < 0.2, "others share {strangers} of their words");
    }
}
