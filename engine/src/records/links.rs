//! Links between records. They go with either of their ends.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension, Row, params_from_iter};

use super::filter::Condition;
use super::{Records, Snapshot, row};
use crate::error::{Error, Result};
use crate::types::{Direction, Link, LinkKind, Linked, Millis, RecordId, Scope, Viewer};

impl Records {
    /// Makes a link between two live records that `viewer` sees. Returns whether it is new.
    ///
    /// # Errors
    /// [`Error::NotFound`] names the record that is missing; [`Error::Invalid`] when it is one and the same, or would come
    /// to supersede itself.
    pub fn link(&self, link: Link, viewer: &Viewer, now: Millis) -> Result<bool> {
        self.write(|tx| insert(tx, link, viewer, now, now))
    }

    /// Makes many links in one transaction. The outcomes are in the order of `links`; one that is refused does not stop
    /// the others, a failure of the database stops them all.
    pub fn link_batch(&self, links: &[Link], viewer: &Viewer, now: Millis) -> Result<Vec<Result<bool>>> {
        self.write(|tx| {
            let outcomes = links.iter().map(|link| match insert(tx, *link, viewer, now, now) {
                Err(refused @ (Error::Invalid { .. } | Error::NotFound(_))) => Ok(Err(refused)),
                outcome => outcome.map(Ok),
            });
            outcomes.collect()
        })
    }

    /// Removes a link between two records that `viewer` sees. Returns whether there was one.
    pub fn unlink(&self, link: Link, viewer: &Viewer) -> Result<bool> {
        self.write(|tx| {
            for id in [link.from, link.to] {
                if !row::scope_of(tx, id)?.is_some_and(|scope| viewer.sees(&scope)) {
                    return Ok(false);
                }
            }
            check_ends(tx, link, viewer)?;
            let mut delete = tx.prepare_cached("DELETE FROM links WHERE from_id = ? AND kind = ? AND to_id = ?")?;
            Ok(delete.execute((link.from, link_code(link.kind), link.to))? == 1)
        })
    }
}

impl Snapshot {
    /// At most `limit` of the links from a record and to it, those from it first, whose other end is live and seen by
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

    /// The links of a record in one direction, of one kind where it is given, whose other end is live and seen.
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
        let mut found = statement.query_map((id, kind.map(link_code)), to_link)?;
        while links.len() < limit
            && let Some(link) = found.next().transpose()?
        {
            if is_live(self.conn(), link.other_end(id), viewer, now)? {
                links.push(link);
            }
        }
        Ok(links)
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
        of.and_seen("l.from_scope", viewer);
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

/// Makes a link as of `made_at` between two that are live `now`. What would come to supersede itself is refused: all of
/// the ring would be hidden from every search.
pub(super) fn insert(conn: &Connection, link: Link, viewer: &Viewer, made_at: Millis, now: Millis) -> Result<bool> {
    if link.from == link.to {
        return Err(Error::invalid("toId", format!("{} is the memory itself", link.to)));
    }
    for id in [link.from, link.to] {
        if !is_live(conn, id, viewer, now)? {
            return Err(Error::NotFound(id));
        }
    }
    check_ends(conn, link, viewer)?;
    if link.kind == LinkKind::Supersedes && supersedes(conn, link.to, link.from)? {
        let why = format!("memory {} supersedes memory {} already; remove that link first", link.to, link.from);
        return Err(Error::invalid("linkType", why));
    }
    let mut insert = conn.prepare_cached(
        "INSERT INTO links SELECT f.id, ?2, t.id, f.scope_id, t.scope_id, ?4 FROM records f, records t
         WHERE f.id = ?1 AND t.id = ?3 ON CONFLICT DO NOTHING",
    )?;
    Ok(insert.execute((link.from, link_code(link.kind), link.to, made_at))? == 1)
}

/// Whether this very link is in the table.
pub(super) fn is_there(conn: &Connection, link: Link) -> Result<bool> {
    let mut statement =
        conn.prepare_cached("SELECT EXISTS (SELECT 1 FROM links WHERE from_id = ? AND kind = ? AND to_id = ?)")?;
    Ok(statement.query_row((link.from, link_code(link.kind), link.to), |row| row.get(0))?)
}

/// Checks that `viewer`, who sees both ends of a link, may change one of them: nobody else sees the link, then.
fn check_ends(conn: &Connection, link: Link, viewer: &Viewer) -> Result<()> {
    for id in [link.from, link.to] {
        if row::scope_of(conn, id)?.is_some_and(|scope| viewer.changes(&scope)) {
            return Ok(());
        }
    }
    row::scope_of(conn, link.from)?.map_or(Ok(()), |scope| viewer.check_change(link.from, &scope))
}

/// Whether a record supersedes another, or what does.
fn supersedes(conn: &Connection, id: RecordId, other: RecordId) -> Result<bool> {
    let mut statement = conn.prepare_cached(
        "WITH RECURSIVE older (id) AS (
             SELECT ?1 UNION SELECT l.to_id FROM older JOIN links l ON l.from_id = older.id AND l.kind = ?3
         ) SELECT EXISTS (SELECT 1 FROM older WHERE id = ?2)",
    )?;
    Ok(statement.query_row((id, other, link_code(LinkKind::Supersedes)), |row| row.get(0))?)
}

/// Reads `from_id`, `kind` and `to_id`.
pub(super) fn to_link(row: &Row<'_>) -> rusqlite::Result<Link> {
    let code: i64 = row.get(1)?;
    let kind = usize::try_from(code).ok().and_then(|code| LinkKind::ALL.get(code)).copied();
    let kind = kind.ok_or(rusqlite::Error::IntegralValueOutOfRange(1, code))?;
    Ok(Link { from: row.get(0)?, kind, to: row.get(2)? })
}

/// The number that stands for a kind: its place in [`LinkKind::ALL`].
fn link_code(kind: LinkKind) -> i64 {
    kind as i64
}

/// Whether `viewer` sees a live record of this id.
pub(super) fn is_live(conn: &Connection, id: RecordId, viewer: &Viewer, now: Millis) -> Result<bool> {
    let mut statement = conn.prepare_cached(
        "SELECT s.agent, s.project FROM records r JOIN scopes s ON s.id = r.scope_id
         WHERE r.id = ? AND (r.expires_at IS NULL OR r.expires_at > ?)",
    )?;
    let scope = statement.query_row((id, now), |row| Ok(Scope { agent: row.get(0)?, project: row.get(1)? }));
    Ok(scope.optional()?.is_some_and(|scope| viewer.sees(&scope)))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{NOW, Store, new};
    use super::*;
    use crate::types::{NewRecord, Scope};

    fn link(from: RecordId, kind: LinkKind, to: RecordId) -> Link {
        Link { from, to, kind }
    }

    #[test]
    fn the_code_of_a_kind_is_its_place_in_the_list() {
        for (place, kind) in LinkKind::ALL.into_iter().enumerate() {
            assert_eq!(link_code(kind), place as i64);
        }
        assert_eq!(link_code(LinkKind::Supersedes), 2, "as the triggers and an index of the schema have it");
    }

    /// T41, T42.
    #[test]
    fn a_link_is_made_once_and_goes_with_either_end() {
        let store = Store::new();
        let ids: Vec<_> = ["a", "b", "c"].iter().map(|text| store.add(&new(text), NOW).unwrap().id).collect();
        let (ab, bc) = (link(ids[0], LinkKind::Caused, ids[1]), link(ids[1], LinkKind::Supersedes, ids[2]));
        for link in [ab, bc] {
            assert!(store.link(link, &Viewer::OWNER, NOW).unwrap());
            assert!(!store.link(link, &Viewer::OWNER, NOW).unwrap(), "unique");
        }
        let links = |id| store.view().links(id, &Viewer::OWNER, 9, NOW).unwrap();
        assert_eq!(links(ids[1]), Some(vec![bc, ab]));
        assert_eq!(store.view().links(ids[1], &Viewer::OWNER, 1, NOW).unwrap(), Some(vec![bc]));
        let count = || store.number("SELECT value FROM meta WHERE key = 'superseding'");
        assert_eq!(count(), 1);
        assert!(store.delete(ids[2], &Viewer::OWNER).unwrap());
        assert_eq!((links(ids[1]), links(ids[2]), count()), (Some(vec![ab]), None, 2));
        assert!(store.unlink(ab, &Viewer::OWNER).unwrap());
        assert!(!store.unlink(ab, &Viewer::OWNER).unwrap());
        assert_eq!(store.number("SELECT count(*) FROM links"), 0);
        assert_eq!(store.integrity().unwrap(), Vec::<String>::new());
    }

    /// R17.
    #[test]
    fn what_is_linked_is_asked_for_by_direction_and_kind() {
        let store = Store::new();
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
        assert_eq!(store.view().linked(99, Direction::Both, None, &Viewer::OWNER, 9, NOW).unwrap(), None);
    }

    #[test]
    fn nothing_comes_to_supersede_itself() {
        let store = Store::new();
        let [a, b, c] = ["a", "b", "c"].map(|text| store.add(&new(text), NOW).unwrap().id);
        let link = |from, kind, to| store.link(link(from, kind, to), &Viewer::OWNER, NOW);
        assert!(link(b, LinkKind::Supersedes, a).unwrap() && link(c, LinkKind::Supersedes, b).unwrap());
        for (from, to) in [(a, b), (a, c), (b, c)] {
            let refused = link(from, LinkKind::Supersedes, to).unwrap_err().to_string();
            assert!(refused.starts_with("linkType: ") && refused.contains("already"), "{refused}");
        }
        assert!(link(c, LinkKind::Supersedes, a).unwrap() && link(a, LinkKind::Related, c).unwrap());
        assert!(!link(c, LinkKind::Supersedes, b).unwrap(), "there already");
    }

    #[test]
    fn only_what_is_there_and_seen_is_linked() {
        let store = Store::new();
        let a = store.add(&new("a"), NOW).unwrap().id;
        let brief = store.add(&NewRecord { expires_at: Some(NOW + 1), ..new("brief") }, NOW).unwrap().id;
        let scope = Scope { agent: None, project: Some("atlas".into()) };
        let theirs = store.add(&NewRecord { scope, ..new("theirs") }, NOW).unwrap().id;
        let seen = Viewer::in_project("borealis");
        assert!(matches!(store.link(link(a, LinkKind::Related, a), &seen, NOW), Err(Error::Invalid { .. })));
        for (other, now) in [(99, NOW), (theirs, NOW), (brief, NOW + 1)] {
            for link in [link(a, LinkKind::Related, other), link(other, LinkKind::Related, a)] {
                assert!(matches!(store.link(link, &seen, now), Err(Error::NotFound(id)) if id == other));
            }
        }
        let across = link(theirs, LinkKind::Supersedes, a);
        assert!(store.link(across, &Viewer::in_project("atlas"), NOW).unwrap());
        assert!(!store.unlink(across, &seen).unwrap(), "not seen from there");
        assert!(store.unlink(across, &Viewer::OWNER).unwrap());
    }
}
