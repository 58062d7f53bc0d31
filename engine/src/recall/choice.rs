//! Chooses the memories that are injected, and how much of their texts.

use std::collections::{BTreeSet, HashMap};

use super::gate::Gate;
use super::message::MessageQuery;
use crate::keywords::significant_words;
use crate::overlap;
use crate::snippet;
use crate::types::{Hit, Recall, RecallRequest, Recalled, RecordId, SearchReply};

/// Hits of the search to choose from. All turns of the asking session may be among the first.
pub const CANDIDATES: usize = 50;
/// Most characters of one memory.
const MOST_CHARS: usize = 480;
/// Least room for another memory, in characters: a shorter text says nothing.
const LEAST_CHARS: usize = 60;
/// Characters of a token.
const CHARS_PER_TOKEN: usize = 4;
/// Two memories of which one has this share of the words of the other are copies, unless they have other numbers.
const COPY: f64 = 0.9;

/// Chooses the hits that are injected. `known` are the memories that the session has, with their versions.
pub fn choose(
    SearchReply { mut hits, is_foreign, .. }: SearchReply,
    searched: MessageQuery,
    request: &RecallRequest,
    known: &HashMap<RecordId, i64>,
) -> Recall {
    hits.retain(|hit| !is_own(hit, request));
    let text = searched.text.clone();
    let gate = Gate::new(&hits, searched, request.min_score, is_foreign);
    let is_new = |hit: &Hit| known.get(&hit.record.id) != Some(&hit.record.version);
    let mut room = request.max_tokens.saturating_mul(CHARS_PER_TOKEN);
    let mut recall = Recall::default();
    for hit in gate.passing(is_new) {
        if recall.memories.len() == request.max_results || room < LEAST_CHARS && !recall.is_silent() {
            break;
        }
        if recall.memories.iter().any(|other| is_copy(&hit.record.content, &other.record.content)) {
            continue;
        }
        let most = MOST_CHARS.min(room);
        let shown = snippet::cut_near(&hit.record.content, hit.passage.as_ref(), &text, most);
        let text = shown.unwrap_or_else(|| hit.record.content.clone());
        room = room.saturating_sub(text.chars().count());
        recall.memories.push(Recalled {
            record: hit.record.clone(),
            text,
            relevance: hit.relevance,
            score: hit.score,
            contradicted_by: hit.contradicted_by.clone(),
        });
    }
    recall.memories.sort_by(|a, b| b.relevance.total_cmp(&a.relevance));
    let used = recall.memories.iter().map(|memory| memory.text.chars().count()).sum::<usize>();
    recall.tokens = used.div_ceil(CHARS_PER_TOKEN);
    recall
}

/// Whether a hit is from the asking session or a subagent of it, whose context has it already.
fn is_own(hit: &Hit, request: &RecallRequest) -> bool {
    let (Some(own), Some(asking)) = (&hit.record.session, &request.session) else { return false };
    own.strip_prefix(&**asking).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Whether two texts say the same, or one of them more.
fn is_copy(one: &str, other: &str) -> bool {
    let [a, b] = [one, other].map(significant_words);
    let [a, b] = [&a, &b].map(|words| words.iter().map(String::as_str).collect::<BTreeSet<_>>());
    let share = overlap::coefficient(&a, &b);
    one == other || share.is_some_and(|share| share >= COPY) && overlap::numbers(one) == overlap::numbers(other)
}
