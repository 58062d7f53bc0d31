//! Conversations, changes and questions without an answer: the same bytes for a seed, and right answers only.

use std::collections::{HashMap, HashSet};

use bench_data::{changes, conversations, memories, unanswerable};
use serde::Serialize;
use sha2::{Digest, Sha256};

fn checksum(data: &impl Serialize) -> String {
    Sha256::digest(serde_json::to_vec(data).unwrap()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The words of more than three letters.
fn words(text: &str) -> HashSet<String> {
    let lower = text.to_lowercase();
    lower.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 3).map(str::to_owned).collect()
}

#[test]
fn a_seed_always_gives_the_same_bytes() {
    let changed: Vec<_> = changes(42, 300).collect();
    let nowhere: Vec<_> = unanswerable(42, 300).collect();
    assert_eq!(checksum(&conversations(42, 40)), "aea6dd4d1c16550ad65de7bf673514528693dccacee530d481159712f4d5f9c6");
    assert_eq!(checksum(&changed), "ea96fd1d0faef24831e58d4894a9ef5ccb34500cc44d3a2fcc25de9a208716fd");
    assert_eq!(checksum(&nowhere), "0eb492670c0051828e47f3b9d4b637a47b391a53a106e1ee3149ea09fe125f9c");
    assert_ne!(conversations(43, 40), conversations(42, 40));
    assert_ne!(changes(43, 300).collect::<Vec<_>>(), changed);
    assert_ne!(unanswerable(43, 300).collect::<Vec<_>>(), nowhere);
}

#[test]
fn a_set_is_the_beginning_of_a_larger_one() {
    let (few, many) = (conversations(7, 10), conversations(7, 40));
    assert_eq!(few.turns, many.turns[..few.turns.len()]);
    assert_eq!(few.lookups, many.lookups[..few.lookups.len()]);
    assert_eq!(changes(7, 20).collect::<Vec<_>>(), changes(7, 300).take(20).collect::<Vec<_>>());
    assert_eq!(unanswerable(7, 20).collect::<Vec<_>>(), unanswerable(7, 300).take(20).collect::<Vec<_>>());
}

#[test]
fn conversations_have_turns_in_order_and_queries_about_them() {
    let all = conversations(42, 40);
    assert!((1_100..=1_300).contains(&all.turns.len()), "{} turns", all.turns.len());
    assert_eq!(all.lookups.len(), 300);
    let mut sessions: HashMap<&str, u32> = HashMap::new();
    for turn in &all.turns {
        let next = sessions.entry(&turn.session).or_default();
        assert_eq!(turn.turn, *next, "{turn:?}");
        *next += 1;
        assert!(!turn.text.is_empty() && !turn.text.contains(['{', '}', '|']), "{turn:?}");
    }
    assert_eq!(sessions.len(), 40);
    let queries: HashSet<_> = all.lookups.iter().map(|lookup| &lookup.text).collect();
    assert_eq!(queries.len(), all.lookups.len(), "a query is asked twice");
    let texts: HashSet<_> = all.turns.iter().map(|turn| &turn.text).collect();
    assert!(texts.len() * 100 > all.turns.len() * 65, "{} different texts", texts.len());
}

#[test]
fn few_answers_share_words_with_a_query_but_their_questions_do() {
    let all = conversations(42, 40);
    let (mut answers, mut with_a_word, mut after_a_filler) = (0, 0, 0);
    for lookup in &all.lookups {
        let query = words(&lookup.text);
        let says = |at: usize| !words(&all.turns[at].text).is_disjoint(&query);
        let before =
            (1..=2).find(|back| all.turns[lookup.answer - back].text.ends_with('?') && says(lookup.answer - back));
        let Some(back) = before.filter(|_| !all.turns[lookup.answer].text.ends_with('?')) else { continue };
        answers += 1;
        with_a_word += usize::from(says(lookup.answer));
        after_a_filler += usize::from(back == 2);
    }
    assert!((235..=245).contains(&answers), "{answers} answers to questions");
    assert!(with_a_word * 20 < answers, "{with_a_word} of {answers} have a word of the query");
    assert!((50..=90).contains(&after_a_filler), "{after_a_filler} after a filler");
}

#[test]
fn when_all_questions_are_asked_the_talk_continues() {
    let all = conversations(3, 200);
    assert!(all.turns.iter().any(|turn| turn.session == "talk 199"));
    assert_eq!(all.lookups.len(), 36 * 24 + 12 * 24);
    assert!(conversations(3, 0).turns.is_empty());
}

#[test]
fn changes_say_something_new_about_the_same() {
    let all: Vec<_> = changes(42, 1_000).collect();
    assert_eq!(all.len(), 24 * 24);
    let queries: HashSet<_> = all.iter().map(|change| &change.query).collect();
    assert_eq!(queries.len(), all.len(), "a query is asked twice");
    for change in &all {
        assert_ne!(change.old, change.new);
        let same = &words(&change.old) & &words(&change.new);
        assert!(!same.is_disjoint(&words(&change.query)), "{change:?}");
    }
}

#[test]
fn unanswerable_questions_have_a_word_that_no_text_has() {
    let all: Vec<_> = unanswerable(42, 1_000).collect();
    assert_eq!(all.len(), 385);
    assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len(), "a question is asked twice");
    let mut said = words("");
    let talk = conversations(42, 200).turns.into_iter().map(|turn| turn.text);
    let facts = changes(42, 576).flat_map(|change| [change.old, change.new]);
    let memories = memories(42, 20_000).map(|memory| memory.content);
    talk.chain(facts).chain(memories).for_each(|text| said.extend(words(&text)));
    for question in &all {
        assert!(!words(question).is_subset(&said), "{question}");
    }
}
