//! The link graph around a record, walked breadth-first.

use std::collections::HashSet;

use rusqlite::CachedStatement;

use super::snapshot::Snapshot;
use crate::error::Result;
use crate::records::lookup::is_live;
use crate::records::rows::to_link;
use crate::types::{Chain, ChainQuery, Direction, Hop, Link, Millis, RecordId};

/// Where the walk has come: a record, and how.
struct ChainStep {
    id: RecordId,
    path: Vec<Link>,
}

impl Snapshot {
    /// Everything within `query.max_depth` links of a record, the nearest first and neighbours in the order of the kinds
    /// of their links, then of their ids. What is not live at `now`, or not seen, is neither returned nor walked through.
    /// Reads ids alone until it knows which records to load.
    pub fn chain(&self, query: &ChainQuery, now: Millis) -> Result<Chain> {
        let (steps, truncated) = self.walk(query, now)?;
        let ids: Vec<RecordId> = steps.iter().map(|step| step.id).collect();
        let mut records = self.records(&ids, now)?.into_iter().peekable();
        let hop = |ChainStep { id, path }| {
            let record = records.next_if(|record| record.id == id)?;
            Some(Hop { record, depth: path.len(), path })
        };
        Ok(Chain { hops: steps.into_iter().filter_map(hop).collect(), truncated })
    }

    fn walk(&self, query: &ChainQuery, now: Millis) -> Result<(Vec<ChainStep>, bool)> {
        let is_live = |id| is_live(self.conn(), id, &query.viewer, now);
        if !is_live(query.start)? {
            return Ok((Vec::new(), false));
        }
        let mut neighbours = self.neighbours(query.direction)?;
        let mut steps = vec![ChainStep { id: query.start, path: Vec::new() }];
        let mut met = HashSet::from([query.start]);
        let mut at = 0;
        while let Some(ChainStep { id, path }) = steps.get(at) {
            if path.len() == query.max_depth {
                break; // and so are all after it
            }
            let (id, path) = (*id, path.clone());
            let mut links = neighbours.query([id])?;
            while let Some(row) = links.next()? {
                let link = to_link(row)?;
                let next = link.other_end(id);
                if !met.insert(next) || !is_live(next)? {
                    continue;
                }
                if steps.len() == query.limit {
                    return Ok((steps, true));
                }
                steps.push(ChainStep { id: next, path: [path.as_slice(), &[link]].concat() });
            }
            at += 1;
        }
        Ok((steps, false))
    }

    /// The links of a record, by kind and the id at their other end. Both indexes have them in this order, so none is
    /// read in vain.
    fn neighbours(&self, direction: Direction) -> Result<CachedStatement<'_>> {
        const FORWARD: &str = "SELECT from_id, kind, to_id, to_id AS next FROM links WHERE from_id = ?1";
        const BACKWARD: &str =
            "SELECT from_id, kind, to_id, from_id AS next FROM links INDEXED BY links_to WHERE to_id = ?1";
        let sql = match direction {
            Direction::Forward => format!("{FORWARD} ORDER BY kind, next"),
            Direction::Backward => format!("{BACKWARD} ORDER BY kind, next"),
            Direction::Both => format!("{FORWARD} UNION ALL {BACKWARD} ORDER BY kind, next"),
        };
        Ok(self.conn().prepare_cached(&sql)?)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{NOW, TestStore, new};
    use super::*;
    use crate::types::{LinkKind, NewRecord, Scope, Viewer};

    /// A store of so many records, ids from 1.
    fn store(records: usize) -> TestStore {
        let store = TestStore::new();
        let news: Vec<_> = (1..=records).map(|at| new(&format!("number {at}"))).collect();
        store.add_batch(&news, NOW).unwrap();
        store
    }

    fn path(from: impl Into<RecordId>, kind: LinkKind, to: impl Into<RecordId>) -> Link {
        Link { from: from.into(), to: to.into(), kind }
    }

    fn link(store: &TestStore, from: impl Into<RecordId>, kind: LinkKind, to: impl Into<RecordId>) {
        assert!(store.link(path(from, kind, to), &Viewer::OWNER, NOW).unwrap());
    }

    /// Ids and depths.
    fn walked(store: &TestStore, query: &ChainQuery) -> Vec<(i64, usize)> {
        let chain = store.view().chain(query, NOW).unwrap();
        for hop in &chain.hops {
            let end = hop.path.iter().fold(query.start, |at, link| link.other_end(at));
            assert_eq!((end, hop.path.len()), (hop.record.id, hop.depth), "{:?}", hop.path);
        }
        chain.hops.iter().map(|hop| (hop.record.id.get(), hop.depth)).collect()
    }

    /// T43, T44: a ring with a short cut, in each direction and to each depth.
    #[test]
    fn a_chain_is_walked_breadth_first_and_ends_in_a_ring() {
        let store = store(6);
        for (from, to) in [(1, 2), (2, 3), (3, 4), (4, 5), (5, 1)] {
            link(&store, from, LinkKind::Caused, to);
        }
        link(&store, 1, LinkKind::Related, 4);
        let chain = |direction, max_depth| {
            let query = ChainQuery { direction, max_depth, ..ChainQuery::new(1.into(), Viewer::OWNER) };
            walked(&store, &query)
        };
        use Direction::{Backward, Both, Forward};
        for direction in Direction::ALL {
            assert_eq!(chain(direction, 0), [(1, 0)], "the start alone");
        }
        assert_eq!(chain(Forward, 1), [(1, 0), (2, 1), (4, 1)]);
        assert_eq!(chain(Forward, 2), [(1, 0), (2, 1), (4, 1), (3, 2), (5, 2)]);
        assert_eq!(chain(Forward, 10), chain(Forward, 2), "each once");
        assert_eq!(chain(Backward, 3), [(1, 0), (5, 1), (4, 2), (3, 3)]);
        assert_eq!(chain(Both, 1), [(1, 0), (2, 1), (5, 1), (4, 1)], "by kind, then by id");
        assert_eq!(walked(&store, &ChainQuery::new(6.into(), Viewer::OWNER)), [(6, 0)]);
        assert_eq!(walked(&store, &ChainQuery::new(99.into(), Viewer::OWNER)), []);
        let query = ChainQuery { direction: Forward, ..ChainQuery::new(1.into(), Viewer::OWNER) };
        let chain = store.view().chain(&query, NOW).unwrap();
        assert_eq!(chain.hops[4].path, [path(1, LinkKind::Related, 4), path(4, LinkKind::Caused, 5)]);
    }

    #[test]
    fn a_chain_does_not_pass_through_expired_or_hidden_memories() {
        let store = store(2);
        let brief = NewRecord { expires_at: Some(NOW + 1), ..new("brief") };
        let scope = Scope { agent: None, project: Some("atlas".into()) };
        let theirs = NewRecord { scope, ..new("theirs") };
        let [brief, theirs] = [brief, theirs].map(|new| store.add(&new, NOW).unwrap().id);
        let last = store.add(&new("last"), NOW).unwrap().id;
        link(&store, 1, LinkKind::Related, brief);
        link(&store, 1, LinkKind::Related, theirs);
        link(&store, brief, LinkKind::Related, 2);
        link(&store, theirs, LinkKind::Related, last);
        let ids = |viewer: Viewer, now| {
            let chain = store.view().chain(&ChainQuery::new(1.into(), viewer), now).unwrap();
            chain.hops.iter().map(|hop| hop.record.id).collect::<Vec<_>>()
        };
        assert_eq!(ids(Viewer::OWNER, NOW), [1.into(), brief, theirs, 2.into(), last]);
        assert_eq!(ids(Viewer::OWNER, NOW + 1), [1.into(), theirs, last]);
        assert_eq!(ids(Viewer::in_project("borealis"), NOW), [1.into(), brief, 2.into()]);
        let hidden = ChainQuery::new(theirs, Viewer::in_project("borealis"));
        assert_eq!(store.view().chain(&hidden, NOW).unwrap(), Chain::default());
    }

    #[test]
    fn a_chain_says_that_the_limit_cut_it() {
        let store = store(12);
        for to in 2..=11 {
            link(&store, 1, LinkKind::Related, to);
            link(&store, to, LinkKind::Related, 12);
        }
        let chain = |limit, max_depth| {
            let query = ChainQuery { limit, max_depth, ..ChainQuery::new(1.into(), Viewer::OWNER) };
            let chain = store.view().chain(&query, NOW).unwrap();
            (chain.hops.len(), chain.truncated)
        };
        assert_eq!(chain(12, 3), (12, false));
        assert_eq!(chain(11, 3), (11, true));
        assert_eq!(chain(11, 1), (11, false), "what is further away is beyond the depth");
        assert_eq!(chain(1, 1), (1, true));
        assert_eq!(chain(1, 0), (1, false));
    }

    #[test]
    fn links_are_read_in_index_order_without_a_sort() {
        let store = TestStore::new();
        let snapshot = store.view();
        for direction in Direction::ALL {
            let sql = snapshot.neighbours(direction).unwrap().expanded_sql().unwrap();
            let mut explain = snapshot.conn().prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
            let plan = explain.query_map([], |row| row.get::<_, String>(3)).unwrap();
            let plan = plan.map(Result::unwrap).collect::<Vec<_>>().join("; ");
            assert!(!plan.contains("TEMP B-TREE"), "{direction}: {plan}");
        }
    }
}
