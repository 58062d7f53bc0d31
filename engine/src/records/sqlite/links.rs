//! The links of records.

use std::collections::{BTreeMap, BTreeSet};

use roaring::RoaringTreemap;
use rusqlite::params_from_iter;

use super::filter::Condition;
use super::snapshot::{Snapshot, stored_limit};
use crate::error::Result;
use crate::records::lookup::is_live;
use crate::records::rows::{link_code, to_link};
use crate::types::{Direction, Link, LinkKind, Linked, Mark, Millis, RecordId, Viewer};

impl Snapshot {
    /// At most `limit` of the links from a record and to it, those from it first, where the other end is live and seen by
    /// `viewer`; each in the order of kinds, then of ids. `None` when the record itself is not. Of a hub with many more
    /// no others are read: the indexes have them in this order.
    pub fn links(&self, id: RecordId, viewer: &Viewer, limit: usize, now: Millis) -> Result<Option<Vec<Link>>> {
        if !is_live(self.conn(), id, viewer, now)? {
            return Ok(None);
        }
        let mut links = Vec::new();
        for direction in [Direction::Forward, Direction::Backward] {
            let left = limit - links.len();
            links.extend(self.links_of(id, direction, None, viewer, left, now)?);
        }
        Ok(Some(links))
    }

    /// At most `limit` of the live records that a record links to, or with [`Direction::Backward`] of those that link to
    /// it, seen by `viewer`, each with the kind of its link, in the order of kinds, then of ids; those of one kind alone
    /// where it is given. `None` when the record itself is not live or not seen.
    pub fn linked(
        &self,
        id: RecordId,
        direction: Direction,
        kind: Option<LinkKind>,
        viewer: &Viewer,
        limit: usize,
        now: Millis,
    ) -> Result<Option<Vec<Linked>>> {
        if !is_live(self.conn(), id, viewer, now)? {
            return Ok(None);
        }
        let mut linked = Vec::new();
        for one_way in [Direction::Forward, Direction::Backward] {
            if direction != Direction::Both && direction != one_way {
                continue;
            }
            let links = self.links_of(id, one_way, kind, viewer, limit - linked.len(), now)?;
            let ids: Vec<RecordId> = links.iter().map(|link| link.other_end(id)).collect();
            let records = self.records(&ids, now)?.into_iter().zip(&links);
            linked.extend(records.map(|(record, link)| Linked { record, kind: link.kind }));
        }
        Ok(Some(linked))
    }

    /// The links of a record in one direction, of one kind where it is given, where the other end is live and seen.
    fn links_of(
        &self,
        id: RecordId,
        direction: Direction,
        kind: Option<LinkKind>,
        viewer: &Viewer,
        limit: usize,
        now: Millis,
    ) -> Result<Vec<Link>> {
        let sql = match direction {
            Direction::Backward => {
                "SELECT from_id, kind, to_id FROM links INDEXED BY links_to
                 WHERE to_id = ?1 AND (?2 IS NULL OR kind = ?2) ORDER BY kind, from_id"
            }
            _ => {
                "SELECT from_id, kind, to_id FROM links
                 WHERE from_id = ?1 AND (?2 IS NULL OR kind = ?2) ORDER BY kind, to_id"
            }
        };
        let mut links = Vec::new();
        let mut statement = self.conn().prepare_cached(sql)?;
        let mut found = statement.query((id, kind.map(link_code)))?;
        while links.len() < limit
            && let Some(row) = found.next()?
        {
            let link = to_link(row)?;
            if is_live(self.conn(), link.other_end(id), viewer, now)? {
                links.push(link);
            }
        }
        Ok(links)
    }

    /// Every link between two of `ids`, of the live records that `viewer` sees, in the order of their ids.
    pub fn links_among(&self, ids: &[RecordId], viewer: &Viewer, now: Millis) -> Result<Vec<Link>> {
        let ids = serde_json::json!(ids).to_string();
        let mut of = Condition::live("f", now);
        of.and_seen("l.from_scope", viewer, None);
        let mut to = Condition::live("t", now);
        to.and_seen("l.to_scope", viewer, None);
        let sql = format!(
            "SELECT DISTINCT l.from_id, l.kind, l.to_id FROM json_each(?) wanted
             CROSS JOIN links l ON l.from_id = wanted.value
             CROSS JOIN records f ON f.id = l.from_id CROSS JOIN records t ON t.id = l.to_id
             WHERE l.to_id IN (SELECT value FROM json_each(?)) AND {} AND {} ORDER BY l.from_id, l.kind, l.to_id",
            of.sql, to.sql
        );
        let values = [vec![ids.clone().into(), ids.into()], of.values, to.values].concat();
        let mut statement = self.conn().prepare_cached(&sql)?;
        let mut rows = statement.query(params_from_iter(values))?;
        let mut links = Vec::new();
        while let Some(row) = rows.next()? {
            links.push(to_link(row)?);
        }
        Ok(links)
    }

    /// At most `limit` of the live records with an id above `after` that contradict others, each with these, as far as
    /// `viewer` sees both; without those in `superseded`, whose contradictions are settled.
    pub fn contradictions(
        &self,
        viewer: &Viewer,
        superseded: &RoaringTreemap,
        after: RecordId,
        limit: usize,
        now: Millis,
    ) -> Result<Vec<(RecordId, Vec<RecordId>)>> {
        let mut condition = Condition { sql: "l.from_id > ? AND l.kind = ?".into(), values: Vec::new() };
        condition.values = vec![after.into(), link_code(LinkKind::Contradicts).into()];
        condition.and_seen("l.from_scope", viewer, None);
        condition.and_seen("l.to_scope", viewer, None);
        let sql = format!(
            "SELECT l.from_id, l.to_id FROM links l NOT INDEXED WHERE {} ORDER BY l.from_id, l.to_id",
            condition.sql
        );
        let mut statement = self.conn().prepare_cached(&sql)?;
        let mut rows = statement.query(params_from_iter(condition.values))?;
        let mut found: Vec<(RecordId, Vec<RecordId>)> = Vec::new();
        while let Some(row) = rows.next()? {
            let (from, to): (RecordId, RecordId) = (row.get(0)?, row.get(1)?);
            let is_new = found.last().is_none_or(|(last, _)| *last != from);
            if is_new && found.len() == limit {
                break;
            }
            let is_open = |id: RecordId| {
                Ok::<_, crate::Error>(!superseded.contains(id.key()) && is_live(self.conn(), id, viewer, now)?)
            };
            if is_open(from)? && is_open(to)? {
                match found.last_mut() {
                    Some((_, others)) if !is_new => others.push(to),
                    _ => found.push((from, vec![to])),
                }
            }
        }
        Ok(found)
    }

    /// The status links of each of `ids`: the live records that `viewer` sees and that supersede or contradict it, or
    /// that it supersedes or contradicts, with the first `chars` characters of each text.
    pub fn marks(
        &self,
        ids: &[RecordId],
        viewer: &Viewer,
        chars: usize,
        now: Millis,
    ) -> Result<BTreeMap<RecordId, Vec<Mark>>> {
        let ids: BTreeSet<RecordId> = ids.iter().copied().collect();
        let ids = serde_json::json!(ids).to_string();
        let kinds = [LinkKind::Supersedes, LinkKind::Contradicts];
        let codes = kinds.map(|kind| link_code(kind).to_string()).join(", ");
        let mut found = BTreeMap::<RecordId, Vec<Mark>>::new();
        for (by_other, own, other, index) in
            [(true, "to", "from", "INDEXED BY links_to"), (false, "from", "to", "NOT INDEXED")]
        {
            let mut of = Condition::live("r", now);
            of.and_seen(&format!("l.{other}_scope"), viewer, None);
            let sql = format!(
                "SELECT l.from_id, l.kind, l.to_id, substr(r.content, 1, ?) FROM json_each(?) wanted
                 CROSS JOIN links l {index} ON l.{own}_id = wanted.value AND l.kind IN ({codes})
                 CROSS JOIN records r ON r.id = l.{other}_id WHERE {} ORDER BY l.{own}_id, l.kind, l.{other}_id",
                of.sql
            );
            of.values.splice(0..0, [stored_limit(chars).into(), ids.clone().into()]);
            let mut statement = self.conn().prepare_cached(&sql)?;
            let mut rows = statement.query(params_from_iter(of.values))?;
            while let Some(row) = rows.next()? {
                let link = to_link(row)?;
                let (id, other) = if by_other { (link.to, link.from) } else { (link.from, link.to) };
                let mark = Mark { kind: link.kind, by_other, other, beginning: row.get(3)? };
                found.entry(id).or_default().push(mark);
            }
        }
        Ok(found)
    }

    /// The live records that `viewer` sees and that have a link of `kind` to one of `ids`, by that one, in the order of
    /// their ids.
    pub fn linked_from(
        &self,
        ids: &[RecordId],
        kind: LinkKind,
        viewer: &Viewer,
        now: Millis,
    ) -> Result<BTreeMap<RecordId, Vec<RecordId>>> {
        let mut of = Condition::live("r", now);
        of.and_seen("l.from_scope", viewer, None);
        let sql = format!(
            "SELECT l.to_id, l.from_id FROM json_each(?) wanted
             CROSS JOIN links l INDEXED BY links_to ON l.to_id = wanted.value AND l.kind = ?
             CROSS JOIN records r ON r.id = l.from_id WHERE {} ORDER BY l.to_id, l.from_id",
            of.sql
        );
        of.values.splice(0..0, [serde_json::json!(ids).to_string().into(), link_code(kind).into()]);
        let mut statement = self.conn().prepare_cached(&sql)?;
        let mut rows = statement.query(params_from_iter(of.values))?;
        let mut found = BTreeMap::<RecordId, Vec<RecordId>>::new();
        while let Some(row) = rows.next()? {
            found.entry(row.get(0)?).or_default().push(row.get(1)?);
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{NOW, TestStore, new};
    use super::*;
    use crate::types::NewRecord;

    fn link(from: RecordId, kind: LinkKind, to: RecordId) -> Link {
        Link { from, to, kind }
    }

    #[test]
    fn the_links_of_a_record_are_those_from_it_then_those_to_it() {
        let store = TestStore::new();
        let [a, b, c] = ["a", "b", "c"].map(|text| store.add(&new(text), NOW).unwrap().id);
        let (ab, bc) = (link(a, LinkKind::Caused, b), link(b, LinkKind::Supersedes, c));
        for link in [ab, bc] {
            assert!(store.link(link, &Viewer::OWNER, NOW).unwrap());
        }
        let links = |id, limit| store.view().links(id, &Viewer::OWNER, limit, NOW).unwrap();
        assert_eq!((links(b, 9), links(b, 1)), (Some(vec![bc, ab]), Some(vec![bc])));
        assert!(store.delete(c, &Viewer::OWNER, NOW).unwrap());
        assert_eq!((links(b, 9), links(c, 9)), (Some(vec![ab]), None));
    }

    #[test]
    fn contradictions_are_those_that_are_not_settled() {
        let store = TestStore::new();
        let [a, b, c, d] = ["a", "b", "c", "d"].map(|text| store.add(&new(text), NOW).unwrap().id);
        let scope = crate::types::Scope { agent: None, project: Some("atlas".into()) };
        let own = store.add(&NewRecord { scope, ..new("own") }, NOW).unwrap().id;
        let brief = store.add(&NewRecord { expires_at: Some(NOW + 1), ..new("brief") }, NOW).unwrap().id;
        for (from, kind, to) in [
            (b, LinkKind::Contradicts, a),
            (b, LinkKind::Contradicts, brief),
            (b, LinkKind::Related, c),
            (d, LinkKind::Contradicts, c),
            (own, LinkKind::Contradicts, a),
        ] {
            assert!(store.link(link(from, kind, to), &Viewer::OWNER, NOW).unwrap());
        }
        let found = |viewer: &Viewer, after: RecordId, limit, now| {
            let view = store.view();
            view.contradictions(viewer, &view.superseded(viewer).unwrap(), after, limit, now).unwrap()
        };
        let start = RecordId::START;
        let all = [(b, vec![a, brief]), (d, vec![c]), (own, vec![a])];
        assert_eq!(found(&Viewer::OWNER, start, 9, NOW), all);
        assert_eq!(found(&Viewer::OWNER, start, 1, NOW), all[..1]);
        assert_eq!(found(&Viewer::OWNER, b, 9, NOW), all[1..]);
        assert_eq!(found(&Viewer::in_project("borealis"), start, 9, NOW + 1), [(b, vec![a]), (d, vec![c])]);
        assert!(store.link(link(d, LinkKind::Supersedes, c), &Viewer::OWNER, NOW).unwrap());
        assert_eq!(found(&Viewer::OWNER, b, 9, NOW), all[2..]);
    }

    #[test]
    fn links_among_records_are_those_that_do_not_leave_them() {
        let store = TestStore::new();
        let [a, b, c, d] = ["a", "b", "c", "d"].map(|text| store.add(&new(text), NOW).unwrap().id);
        let scope = crate::types::Scope { agent: None, project: Some("atlas".into()) };
        let own = store.add(&NewRecord { scope, ..new("own") }, NOW).unwrap().id;
        let brief = store.add(&NewRecord { expires_at: Some(NOW + 1), ..new("brief") }, NOW).unwrap().id;
        let [ab, ba, bc] = [link(a, LinkKind::Caused, b), link(b, LinkKind::Related, a), link(b, LinkKind::Caused, c)];
        let [own_a, a_brief] = [link(own, LinkKind::Caused, a), link(a, LinkKind::Caused, brief)];
        for link in [ab, ba, bc, link(c, LinkKind::Caused, d), own_a, a_brief] {
            assert!(store.link(link, &Viewer::OWNER, NOW).unwrap());
        }
        let among = |ids: &[RecordId], viewer: &Viewer, now| store.view().links_among(ids, viewer, now).unwrap();
        assert_eq!(among(&[b, a, b], &Viewer::OWNER, NOW), [ab, ba]);
        assert_eq!(among(&[a, b, c], &Viewer::OWNER, NOW), [ab, bc, ba]);
        assert_eq!(among(&[a, own], &Viewer::OWNER, NOW), [own_a]);
        assert_eq!(among(&[a, own], &Viewer::in_project("borealis"), NOW), []);
        assert_eq!(among(&[a, brief], &Viewer::OWNER, NOW), [a_brief]);
        assert_eq!(among(&[a, brief], &Viewer::OWNER, NOW + 1), []);
    }

    /// R17.
    #[test]
    fn linked_records_are_found_by_direction_and_kind() {
        let store = TestStore::new();
        let [a, b, c, d] = ["a", "b", "c", "d"].map(|text| store.add(&new(text), NOW).unwrap().id);
        let brief = store.add(&NewRecord { expires_at: Some(NOW + 1), ..new("brief") }, NOW).unwrap().id;
        for (from, kind, to) in [
            (a, LinkKind::Related, c),
            (a, LinkKind::Related, b),
            (a, LinkKind::Caused, d),
            (a, LinkKind::Caused, brief),
            (c, LinkKind::Implements, a),
            (d, LinkKind::Related, a),
        ] {
            assert!(store.link(link(from, kind, to), &Viewer::OWNER, NOW).unwrap());
        }
        let linked = |direction, kind, limit| {
            let found = store.view().linked(a, direction, kind, &Viewer::OWNER, limit, NOW + 1).unwrap().unwrap();
            found.into_iter().map(|linked| (linked.kind, linked.record.id)).collect::<Vec<_>>()
        };
        let from = [(LinkKind::Caused, d), (LinkKind::Related, b), (LinkKind::Related, c)];
        assert_eq!(linked(Direction::Forward, None, 9), from);
        assert_eq!(linked(Direction::Forward, Some(LinkKind::Related), 9), from[1..]);
        assert_eq!(linked(Direction::Forward, Some(LinkKind::Related), 1), from[1..2]);
        assert_eq!(linked(Direction::Forward, Some(LinkKind::Contradicts), 9), []);
        let to = [(LinkKind::Related, d), (LinkKind::Implements, c)];
        assert_eq!(linked(Direction::Backward, None, 9), to);
        assert_eq!(linked(Direction::Backward, Some(LinkKind::Implements), 9), to[1..]);
        assert_eq!(linked(Direction::Both, None, 4), [&from[..], &to[..1]].concat());
        assert_eq!(store.view().linked(99.into(), Direction::Both, None, &Viewer::OWNER, 9, NOW).unwrap(), None);
    }
}
