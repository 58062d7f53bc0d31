//! The share of memories in an answer: thousands of chunks and turns must not drown what somebody saved.
//!
//! Every third place of the first results is reserved for memories, if there are any that are not [doubtful](DOUBTFUL) and
//! at least two fifths as relevant as the results that they displace. Displaced results come on the next page. A query that
//! names kinds gets these.

use super::Engine;
use crate::error::Result;
use crate::search::QueryVector;
use crate::types::{DOUBTFUL, Filter, Hit, Kind, Mode, Placed, Query, SearchReply};

/// One place in so many is kept for memories.
const ONE_IN: usize = 3;
/// A memory is at least so relevant, as a share of what it displaces.
const LEAST_SHARE: f64 = 0.4;

impl Engine {
    /// The reply with its share of memories.
    pub(super) fn with_share(
        &self,
        query: &Query,
        vector: Option<QueryVector>,
        mut reply: SearchReply,
    ) -> Result<SearchReply> {
        let kept = query.limit / ONE_IN;
        let memories = reply.hits.iter().filter(|hit| !is_read(hit)).count();
        let is_first = query.offset == 0 && query.mode == Mode::Hybrid && query.filter.kinds.is_empty();
        if !is_first || memories >= kept || memories == reply.hits.len() {
            return Ok(reply);
        }
        let kinds = Kind::ALL.into_iter().filter(|kind| !kind.is_read()).collect();
        let filter = Filter { kinds, ..query.filter.clone() };
        let own = Query { filter, limit: kept, substring_tier: false, rerank: false, ..query.clone() };
        let others = self.search_by(&own, vector)?.hits;
        let known = |hit: &Hit| reply.hits.iter().any(|known| known.record.id == hit.record.id);
        let others: Vec<Hit> = others.into_iter().filter(|hit| hit.relevance >= DOUBTFUL && !known(hit)).collect();
        for mut memory in others.into_iter().take(kept - memories) {
            if reply.hits.len() >= query.limit {
                let displaced = reply.hits.iter().rposition(is_read);
                let displaced = displaced.filter(|&at| memory.relevance >= LEAST_SHARE * reply.hits[at].relevance);
                let Some(at) = displaced else { break };
                reply.hits.remove(at);
                reply.more = true;
            }
            memory.placed = Some(Placed::Kept);
            // It was ranked among memories alone.
            memory.score = reply.hits.last().map_or(memory.score, |last| memory.score.min(last.score));
            reply.hits.push(memory);
            reply.reserved += 1;
        }
        reply.weaker = reply.weaker.min(query.limit - reply.hits.len());
        Ok(reply)
    }
}

/// Whether it was read from a file.
fn is_read(hit: &Hit) -> bool {
    hit.record.kind.is_read()
}
