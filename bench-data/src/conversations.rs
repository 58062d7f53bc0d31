//! Conversations of two speakers: small talk, and statements and answers that are searched for later.

use serde::{Deserialize, Serialize};

use crate::draws::{Draws, Purpose};
use crate::phrases::{About, Phrases, sentence};
use crate::vocabulary::{Topic, Vocabulary};

/// A message of one speaker; the next one is of the other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// The name of the conversation.
    pub session: String,
    /// The position in it, from 0 on.
    pub turn: u32,
    pub text: String,
}

/// A query, and the turn that answers it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lookup {
    /// The query.
    pub text: String,
    /// The index of the turn.
    pub answer: usize,
}

/// Conversations, and queries that are made later.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conversations {
    /// All turns, one conversation after another.
    pub turns: Vec<Turn>,
    /// Queries in partly other words than the question. Of five, four are answered by the turn after the question or the next
    /// one, which share hardly a word with the query; one is answered by a statement.
    pub lookups: Vec<Lookup>,
}

/// Questions and statements of two conversations.
const PLANTED: usize = 15;
/// One planted item in this many is a statement.
const STATEMENTS: usize = 5;

/// The first `sessions` conversations of `seed`, of about 30 turns each, with 15 queries for every two. A conversation
/// depends on the seed and its number only. After 144 all questions have been asked, and the rest is small talk.
pub fn conversations(seed: u64, sessions: usize) -> Conversations {
    let mut all = Conversations::default();
    for number in 0..sessions {
        let Conversations { turns, lookups } = conversation(seed, number);
        let before = all.turns.len();
        all.lookups.extend(lookups.into_iter().map(|lookup| Lookup { answer: before + lookup.answer, ..lookup }));
        all.turns.extend(turns);
    }
    all
}

/// Conversation `number` by itself.
fn conversation(seed: u64, number: usize) -> Conversations {
    let phrases = Phrases::get();
    let mut draws = Draws::of(seed, Purpose::Conversation, number as u64);
    let topics: [&Topic; 2] = std::array::from_fn(|_| draws.pick(&Vocabulary::get().topics));
    let mut said = Said { session: format!("talk {number}"), draws, conversation: Conversations::default() };
    said.one_of(phrases.greeting);
    said.one_of(phrases.greeted);
    for place in number * PLANTED / 2..(number + 1) * PLANTED / 2 {
        said.small_talk(&topics);
        said.planted(seed, place);
    }
    said.small_talk(&topics);
    said.one_of(phrases.parting);
    said.conversation
}

/// A conversation so far.
struct Said {
    session: String,
    draws: Draws,
    conversation: Conversations,
}

impl Said {
    fn say(&mut self, text: String) {
        let turn = self.conversation.turns.len() as u32;
        self.conversation.turns.push(Turn { session: self.session.clone(), turn, text });
    }

    fn one_of(&mut self, list: usize) {
        let text = sentence(&Phrases::get().grammar, list, &mut self.draws);
        self.say(text);
    }

    fn small_talk(&mut self, topics: &[&Topic]) {
        let topic = self.draws.pick(topics);
        let text = sentence(&Vocabulary::get().grammar, topic.talk, &mut self.draws);
        self.say(text);
        if self.draws.percent(50) {
            self.one_of(Phrases::get().reply);
        }
    }

    /// Adds the question and its answer, or the statement, at this position of all planted items.
    fn planted(&mut self, seed: u64, place: usize) {
        let phrases = Phrases::get();
        let before = place / STATEMENTS;
        let (list, rank) = match place % STATEMENTS {
            4 => (phrases.stated, before),
            _ => (phrases.asked, place - before),
        };
        let Some(mut parts) = phrases.instance(seed, list, About::Known, rank, &mut self.draws) else { return };
        let (Some(query), Some(answer)) = (parts.pop(), parts.pop()) else { return };
        if let Some(question) = parts.pop() {
            self.say(question);
            if self.draws.percent(30) {
                self.one_of(phrases.filler);
            }
        }
        self.conversation.lookups.push(Lookup { text: query, answer: self.conversation.turns.len() });
        self.say(answer);
    }
}
