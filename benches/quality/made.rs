//! The sets that are generated.

use bench_data::{Change, Conversations, Identified};
use memorist_engine::types::{Kind, NewRecord};

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
