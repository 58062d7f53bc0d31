//! Dialogues whose turns have a code, a path or a name of what was saved; and memories in other languages with questions.

use crate::dialogues::{DialogueTurn, Dialogues, Need};
use crate::draws::{Draws, Purpose};

/// A memory with `{}` for what it is about, and turns about it.
struct Kind {
    memories: [&'static str; 4],
    turns: [&'static str; 8],
}

const BUGS: Kind = Kind {
    memories: [
        "Bug {}: duplicate webhook deliveries, cured by an idempotency key",
        "Bug {}: the queue of webhooks stalls after a deploy, cured by draining it first",
        "Bug {}: webhook signatures fail when the clock is off by a minute",
        "Bug {}: deliveries arrive out of order, cured by a sequence number",
    ],
    turns: [
        "What was {} about?", "do you remember {}?", "please continue with {}", "any news on {}",
        "I am looking at {} again", "Reopen {}, it is back", "why did {} take so long?", "how did we fix {}",
    ],
};
const PATHS: Kind = Kind {
    memories: [
        "{} is generated: never edit it by hand",
        "The owner of {} is the platform team, ask them before a change",
        "{} must stay below 400 lines, the linter refuses more",
        "Tests of {} need a running database",
    ],
    turns: [
        "open {}", "rename the second function in {}", "look at {} please", "can you explain {} to me",
        "there is a typo in {}", "what do I have to know about {}?", "split {} into two files",
        "review my change to {}",
    ],
};
const NAMES: Kind = Kind {
    memories: [
        "{} runs the harbor office and prefers calls before noon",
        "{} is the accountant, reachable on Mondays only",
        "{} teaches the children to swim",
        "{} rents us the workshop behind the station",
    ],
    turns: [
        "who is {}?", "Who was {} again?", "tell me about {}", "what do we know of {}?", "so who is {} then?",
        "remind me who {} is", "do I know {}?", "what does {} do?",
    ],
};

const SYLLABLES: [&str; 12] = ["ja", "nis", "mi", "ro", "tal", "ven", "ka", "lu", "bor", "es", "ti", "ran"];
/// Things that each template of a memory is about; consecutive ones have similar names.
const THINGS: usize = 6;

/// Dialogues about bugs, files and people of `seed`, each kind with its name. Turns about things that were not saved need no
/// memory.
pub fn coded_dialogues(seed: u64) -> [(&'static str, Dialogues); 3] {
    let mut draws = Draws::of(seed, Purpose::CodedDialogue, 0);
    let bugs = dialogues(&BUGS, |number| format!("HRB-{}", 11 + number), &mut draws);
    let paths = dialogues(&PATHS, |number| format!("src/{}/{}.rs", word(number), word(number * 7 + 5)), &mut draws);
    let people = dialogues(&NAMES, |number| capitalized(&word(number * 5 + 1)), &mut draws);
    [("codes", bugs), ("paths", paths), ("names", people)]
}

/// A word that differs for each number below 144.
fn word(number: usize) -> String {
    let [first, second] = [number % SYLLABLES.len(), number / SYLLABLES.len() % SYLLABLES.len()];
    format!("{}{}", SYLLABLES[first], SYLLABLES[second])
}

fn capitalized(word: &str) -> String {
    let (first, rest) = word.split_at(1);
    first.to_uppercase() + rest
}

fn dialogues(kind: &Kind, thing: impl Fn(usize) -> String, draws: &mut Draws) -> Dialogues {
    let mut all = Dialogues::default();
    let saved = kind.memories.len() * THINGS;
    for number in 0..saved {
        all.memories.push(kind.memories[number % kind.memories.len()].replace("{}", &thing(number)));
    }
    for (at, wording) in kind.turns.iter().enumerate() {
        let mut turn = |number: usize, need: Need, memory: Option<usize>| {
            let text = wording.replace("{}", &thing(number));
            all.turns.push(DialogueTurn { text, need, memory, before: Vec::new(), is_for_tuning: at % 2 == 0 });
        };
        for _ in 0..THINGS {
            let number = draws.below(saved);
            turn(number, Need::Asked, Some(number));
        }
        (0..THINGS).for_each(|number| turn(saved + number, Need::Unknown, None));
    }
    all
}

/// A language, a memory in it, a question that it answers in other words, and one in its own words.
pub type InLanguage = [&'static str; 4];

/// Made questions in eight languages, 25 memories of each.
pub fn languages() -> Vec<InLanguage> {
    let columns = |line: &'static str| line.splitn(4, '\t').collect::<Vec<_>>().try_into().expect("four columns");
    include_str!("agents/languages.tsv").lines().map(columns).collect()
}

/// Dialogues of [`languages`], two of each language: one half of the memories is saved, and questions about the other half need
/// none.
pub fn language_dialogues() -> Vec<(&'static str, [Dialogues; 2])> {
    let mut all: Vec<(&str, Vec<InLanguage>)> = Vec::new();
    for line in languages() {
        match all.last_mut().filter(|(language, _)| *language == line[0]) {
            Some((_, lines)) => lines.push(line),
            None => all.push((line[0], vec![line])),
        }
    }
    all.into_iter().map(|(language, lines)| (language, [0, 1].map(|saved| half_saved(&lines, saved)))).collect()
}

/// Persons that the first memories of a language are about; the others, but for [`CLARA_ALSO`], are about nobody.
const PERSONS: [Option<&str>; 11] = {
    let [mia, leon, clara, jan] = [Some("Mia"), Some("Leon"), Some("Clara"), Some("Jan")];
    [mia, leon, clara, mia, leon, clara, jan, clara, jan, Some("Ruth"), Some("Otto")]
};
const CLARA_ALSO: usize = 23;

fn half_saved(lines: &[InLanguage], saved: usize) -> Dialogues {
    let person = |at: usize| if at == CLARA_ALSO { Some("Clara") } else { PERSONS.get(at).copied().flatten() };
    let is_known =
        |at: usize| person(at).is_some() && (saved..lines.len()).step_by(2).any(|other| person(other) == person(at));
    let mut all = Dialogues::default();
    for (at, [_, memory, in_other_words, asked]) in lines.iter().enumerate() {
        let is_saved = at % 2 == saved;
        for (need, text) in [(Need::InOtherWords, in_other_words), (Need::Asked, asked)] {
            all.turns.push(DialogueTurn {
                text: (*text).to_owned(),
                need: match is_saved {
                    true => need,
                    false if is_known(at) => Need::Near,
                    false => Need::Unknown,
                },
                memory: is_saved.then_some(all.memories.len()),
                before: Vec::new(),
                is_for_tuning: at / 2 % 2 == 0,
            });
        }
        if is_saved {
            all.memories.push((*memory).to_owned());
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn turns_name_one_memory_or_none_in_both_halves() {
        assert_eq!(coded_dialogues(7), coded_dialogues(7));
        for (name, all) in coded_dialogues(7) {
            assert_eq!(all.memories.iter().collect::<BTreeSet<_>>().len(), 24, "{name}");
            for (need, half) in
                [(Need::Asked, true), (Need::Asked, false), (Need::Unknown, true), (Need::Unknown, false)]
            {
                let of_half = all.turns.iter().filter(|turn| turn.need == need && turn.is_for_tuning == half);
                assert_eq!(of_half.count(), 24, "{name} {need:?}");
            }
        }
        let of_languages = language_dialogues();
        assert_eq!((languages().len(), of_languages.len()), (200, 8));
        for (language, halves) in of_languages {
            let turns = halves.iter().flat_map(|half| &half.turns);
            let of = |need: Need| turns.clone().filter(|turn| turn.need == need).count();
            let counts = [of(Need::Asked), of(Need::InOtherWords), of(Need::Near), of(Need::Unknown)];
            assert_eq!(counts, [25, 25, 16, 34], "{language}");
        }
    }
}
