//! Sessions of coding agents, without the format of any: [`crate::transcripts`] writes them.
//!
//! | file | job |
//! |---|---|
//! | `words.rs` | prompts and answers |
//! | `tools.rs` | tool calls and their outputs |

mod tools;
mod words;

use crate::draws::{Draws, Purpose};
use crate::prose::{Fact, Prose};

pub use tools::{LEFT_OUT, ToolCall};
pub use words::SessionTurn;

#[derive(Debug, Clone, PartialEq)]
pub struct Session {
    /// A UUID.
    pub id: String,
    pub cwd: String,
    pub branch: String,
    /// The model that answers.
    pub model: &'static str,
    pub title: String,
    /// When it began, in Unix milliseconds.
    pub started: i64,
    /// The turns, of the user and the agent in turn.
    pub turns: Vec<SessionTurn>,
    /// A fact that one turn says.
    pub fact: Option<SessionFact>,
    key: u64,
}

/// A question, and the turn that answers it. Both have a mark, such as `SF-0123456`, that occurs nowhere else in the
/// sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionFact {
    pub question: String,
    /// The id of the session.
    pub session: String,
    /// The place of the turn, from 0 on.
    pub turn: usize,
    /// Whether the user said it.
    pub is_user: bool,
    /// The sentence of the turn that answers.
    pub answer: String,
    pub mark: String,
}

const PROJECTS: [&str; 8] =
    ["harbor", "nova-ledger", "quillpad", "tidepool", "lantern", "meridian", "kestrel", "signal-box"];
const BRANCHES: [&str; 6] = ["main", "main", "fix/retries", "feature/import", "release-2.4", "dev"];
const MODELS: [&str; 4] = ["claude-sonnet-4-5", "gpt-5-codex", "gemini-2.5-pro", "qwen3-coder"];

/// The first `count` sessions of `seed`, of `turns` turns each, made one at a time.
///
/// A turn depends on the seed, the session's index and its place only; which one says the session's fact, on the number of
/// turns too.
pub fn sessions(seed: u64, count: usize, turns: usize) -> impl Iterator<Item = Session> {
    (0..count).map(move |index| session(seed, index, turns))
}

pub fn session(seed: u64, index: usize, turns: usize) -> Session {
    const FIRST: i64 = 1_735_689_600_000; // 2025
    const TWO_YEARS_OF_MINUTES: usize = 2 * 365 * 24 * 60;
    let mut draws = Draws::of(seed, Purpose::Session, index as u64);
    let key = draws.bits();
    let started = FIRST + draws.below(TWO_YEARS_OF_MINUTES) as i64 * 60_000 + draws.below(60_000) as i64;
    let mut session = Session {
        id: uuid(key, 0),
        cwd: format!("/home/ada/code/{}", draws.pick(&PROJECTS)),
        branch: (*draws.pick(&BRANCHES)).to_owned(),
        model: MODELS[draws.below(MODELS.len())],
        title: words::title(&mut draws),
        started,
        turns: Vec::with_capacity(turns),
        fact: None,
        key,
    };
    let Fact { text: answer, question } = Prose::get().fact(Prose::get().decided, seed, index, &mut draws);
    let place = (turns > 0).then(|| draws.below(turns));
    let mut at = started;
    for turn in 0..turns {
        let mut draws = Draws::of(key, Purpose::SessionTurn, turn as u64);
        at += 2_000 + draws.below(240_000) as i64;
        let fact = (place == Some(turn)).then_some(answer.as_str());
        session.turns.push(words::turn(turn.is_multiple_of(2), fact, at, &mut draws));
    }
    session.fact = place.and_then(|turn| {
        let mark = question.split_whitespace().find(|word| word.starts_with("SF-"))?.to_owned();
        let is_user = session.turns.get(turn)?.is_user;
        Some(SessionFact { question, session: session.id.clone(), turn, is_user, answer, mark })
    });
    session
}

impl Session {
    /// A UUID for record `number` of the session, from 1 on.
    pub fn record_id(&self, number: usize) -> String {
        uuid(self.key, number as u64)
    }

    /// When the last turn was, in Unix milliseconds.
    pub fn ended(&self) -> i64 {
        self.turns.last().map_or(self.started, |turn| turn.at)
    }
}

fn uuid(key: u64, number: u64) -> String {
    // Odd factors and shifts map the numbers of a session one to one.
    let mix = |value: u64| {
        let value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        value ^ value >> 31
    };
    let high = mix(key.wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
    let low = mix(high ^ key.rotate_left(32));
    let (variant, node) = (0x8000 | low >> 48 & 0x3fff, low & 0xffff_ffff_ffff);
    format!("{:08x}-{:04x}-4{:03x}-{variant:04x}-{node:012x}", high >> 32, high >> 16 & 0xffff, high & 0xfff)
}
