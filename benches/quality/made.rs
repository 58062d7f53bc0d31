//! The sets that are generated.

use std::collections::HashSet;

use bench_data::{Change, Conversations, Identified, Style};
use memorist_engine::types::{Kind, NewRecord};

use super::set::{Judged, Set};

pub const SEED: u64 = 7;
/// Memories of `facts`.
const FACTS: usize = 3_000;
/// Its questions, at most.
const QUESTIONS: usize = 600;
/// Memories with a code.
const CODES: usize = 500;
const SESSIONS: usize = 40;
/// Facts that users tell in chats and are asked about; exchanges of a chat; points of a reply.
const CHAT_FACTS: usize = 200;
const EXCHANGES: usize = 50;
const POINTS: [usize; 4] = [9, 2, 12, 6];
/// Requests of the user to the assistant.
const REQUESTS: [&str; 7] = [
    "Any ideas what I could do with that?",
    "I have been going back and forth on this for a few days now and cannot make up my mind, so what would you do first?",
    "Could you write a short list of what to look out for?",
    "Write me a reminder for next week.",
    "My sister says that there are better ways to go about it, and I am a bit lost with all the advice on the net. How should I start?",
    "What would you recommend?",
    "Tell me what you think of it.",
];
/// Facts that change.
const CHANGES: usize = 300;
/// Memories around them.
const AROUND: usize = 1_000;
/// Long memories, and the words of each.
const LONG: usize = 200;
const LONG_WORDS: usize = 2_000;
/// The memories that facts are taken from, and what is around them.
const LONG_OF: usize = 20_000;

fn memories(count: usize) -> Vec<NewRecord> {
    let record = |made: bench_data::MemoryRecord| NewRecord {
        context: made.context,
        tags: made.tags,
        ..NewRecord::new(made.content)
    };
    bench_data::memories(SEED, count).map(record).collect()
}

pub fn facts() -> Set {
    let questions = bench_data::questions(SEED, FACTS, QUESTIONS);
    let queries = questions.into_iter().map(|question| Judged::new(question.text, question.answers)).collect();
    Set { name: "facts".into(), texts: memories(FACTS), queries, ..Set::default() }
}

pub fn identifiers() -> Set {
    let mut set = Set { name: "identifiers".into(), texts: memories(FACTS), ..Set::default() };
    for Identified { content, question } in bench_data::identifiers(SEED, CODES) {
        set.queries.push(Judged::new(question, [set.texts.len()]));
        set.texts.push(NewRecord::new(content));
    }
    set
}

pub fn conversations() -> Set {
    let Conversations { turns, lookups } = bench_data::conversations(SEED, SESSIONS);
    let texts = turns.into_iter().map(|turn| NewRecord {
        // A turn may be said twice.
        kind: Kind::Conversation,
        session: Some(turn.session),
        turn: Some(turn.turn.into()),
        ..NewRecord::new(turn.text)
    });
    let queries = lookups.into_iter().map(|lookup| Judged::new(lookup.text, [lookup.answer]));
    Set { name: "conversations".into(), texts: texts.collect(), queries: queries.collect(), ..Set::default() }
}

/// Chats of a user with an assistant. The user says two things and asks for help; the assistant answers at length, with the first
/// words of what was said, and offers more.
pub fn chats(seed: u64) -> Set {
    let name = if seed == SEED { "chats" } else { "chats, held out" };
    let mut others = (0..).map(|place| bench_data::memory(seed, place).content);
    let mut set = Set { name: name.into(), ..Set::default() };
    let say = |set: &mut Set, text: String| {
        let exchange = set.texts.len() / 2;
        set.texts.push(NewRecord {
            kind: Kind::Conversation,
            session: Some(format!("chat {}", exchange / EXCHANGES)),
            turn: Some((set.texts.len() % (2 * EXCHANGES)) as i64),
            ..NewRecord::new(text)
        });
    };
    for (at, Change { new, query, .. }) in bench_data::changes(seed, CHAT_FACTS).enumerate() {
        set.queries.push(Judged::new(query, [set.texts.len()]));
        // Every second message says something that nobody asks about later.
        for said in [new, others.next().expect("endless")] {
            let opening: Vec<&str> = said.split_whitespace().take(5).collect();
            let mut reply =
                format!("{} (\"{} …\")", ["Certainly!", "Happy to help.", "Of course."][at % 3], opening.join(" "));
            for point in 1..=POINTS[at % POINTS.len()] {
                reply += &format!("\n{point}. {}", others.next().expect("endless"));
            }
            let offer =
                ["Would you like me to go into more detail?", "Shall I turn this into a checklist?", "Let me know."];
            reply += &format!("\n\n{}", offer[at % offer.len()]);
            let request = REQUESTS[(at + set.texts.len()) % REQUESTS.len()];
            let before = others.next().expect("endless");
            say(&mut set, format!("{before} {said} {request}"));
            say(&mut set, reply);
        }
    }
    set
}

pub fn changes() -> Set {
    let mut set = Set { name: "changes".into(), texts: memories(AROUND), ..Set::default() };
    for Change { old, new, query } in bench_data::changes(SEED, CHANGES) {
        let [before, after] = [set.texts.len(), set.texts.len() + 1];
        set.texts.extend([old, new].map(NewRecord::new));
        set.queries.push(Judged::new(query, [after]));
        set.supersedes.push((after, before));
    }
    set
}

/// Long memories with a fact in one third of each, the first being 0, and a question about it, in other words or with a rare
/// one. What is around it is about anything.
pub fn long(third: usize, style: Style) -> Set {
    let name = ["first", "middle", "last"][third];
    let with = if style == Style::Meaning { "" } else { ", with a rare word" };
    let mut set = Set { name: format!("long, {name} third{with}"), ..Set::default() };
    let asked = bench_data::questions(SEED, LONG_OF, 4 * LONG).into_iter();
    let asked = asked.filter(|question| question.style == style && question.answers.len() == 1);
    let asked: Vec<_> = asked.take(LONG).collect();
    let fact = |question: &bench_data::Question| bench_data::memory(SEED, question.answers[0]).content;
    let facts: HashSet<String> = asked.iter().map(fact).collect();
    let around = (0..).map(|place| bench_data::memory(SEED + 1, place).content);
    let mut around = around.filter(|text| !facts.contains(text));
    for question in asked {
        let fact = fact(&question);
        // In the middle of its third.
        let place = LONG_WORDS * (2 * third + 1) / 6;
        let (mut text, mut words, mut is_in) = (String::new(), 0, false);
        while words < LONG_WORDS {
            let next = if !is_in && words >= place { fact.clone() } else { around.next().expect("endless") };
            is_in |= words >= place;
            words += next.split_whitespace().count();
            text += &next;
            text += "\n\n";
        }
        set.queries.push(Judged::new(question.text, [set.texts.len()]));
        set.texts.push(NewRecord::new(text));
    }
    set
}
