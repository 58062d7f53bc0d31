//! The sets that are generated.

use std::collections::HashSet;

use bench_data::{Change, Conversations};
use memorist_engine::types::{Kind, NewRecord};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::set::{Judged, Set};

pub const SEED: u64 = 7;
/// Memories of `facts`.
const FACTS: usize = 3_000;
/// Its questions, at most.
const QUESTIONS: usize = 600;
/// Memories with a code.
const CODES: usize = 500;
/// Conversations.
const SESSIONS: usize = 40;
/// Facts that change.
const CHANGES: usize = 300;
/// Memories around them.
const AROUND: usize = 1_000;

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
    let mut texts = memories(FACTS);
    let mut random = ChaCha8Rng::seed_from_u64(SEED);
    let mut codes = HashSet::new();
    let mut queries = Vec::new();
    while codes.len() < CODES {
        let letters: String = (0..2).map(|_| char::from(random.random_range(b'A'..=b'Z'))).collect();
        let number: u32 = random.random_range(100..10_000);
        let (text, query) = match codes.len() % 4 {
            0 => (
                format!("The pump in hall {} is the model {letters}-{number}", number % 9),
                format!("{letters}-{number}"),
            ),
            1 => (
                format!("Error {letters}{number} means that the filter of the press is full"),
                format!("what does {letters}{number} mean?"),
            ),
            2 => {
                let hash: String = (0..8).map(|_| format!("{:x}", random.random_range(0..16))).collect();
                (
                    format!("The slow start of the importer was mended in commit {hash}"),
                    format!("what was done in {hash}"),
                )
            }
            _ => (
                format!("Invoice {number}/{letters} was paid late, after two reminders"),
                format!("invoice {number}/{letters}"),
            ),
        };
        if codes.insert(query.clone()) {
            queries.push(Judged::new(query, [texts.len()]));
            texts.push(NewRecord::new(text));
        }
    }
    Set { name: "identifiers".into(), texts, queries, ..Set::default() }
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
