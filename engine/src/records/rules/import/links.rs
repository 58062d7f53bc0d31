//! Links of an import. A circle of memories that supersede one another loses its oldest link, in whatever order they came.

use super::super::{links, tombstones};
use super::{ImportTx, Meaning};
use crate::error::{Error, Result};
use crate::records::rows::{self, link_code};
use crate::records::transaction::SelectExt;
use crate::types::bounds::check_millis;
use crate::types::exchange::parse_ulid;
use crate::types::{Imported, Link, LinkKind, LinkTombstone, Millis, PortableLink, RecordId};

impl ImportTx<'_> {
    pub(super) fn link(&self, link: &PortableLink) -> Result<Imported> {
        check_millis("created_at", link.created_at)?;
        if link.from == link.to {
            return Err(Error::invalid("to", "is the memory itself"));
        }
        let mut ends = [RecordId::START; 2];
        for (end, (field, ulid)) in ends.iter_mut().zip([("from", &link.from), ("to", &link.to)]) {
            match self.meaning(field, ulid)? {
                Meaning::Record(id) => *end = id,
                Meaning::Gone => return Ok(Imported::Expired),
                Meaning::Unknown => {
                    let why = format!("{ulid} is neither in this store nor in the import; import it first");
                    return Err(Error::invalid(field, why));
                }
            }
        }
        let [from, to] = ends;
        // Two with one text have become one.
        if from == to {
            return Ok(Imported::Unchanged);
        }
        let made = Link { from, to, kind: link.kind };
        if let Some(made_at) = links::made_at(self.tx, made)? {
            if self.unites() && link.created_at > made_at {
                self.date(made, link.created_at)?;
            }
            return Ok(Imported::Unchanged);
        }
        if !self.aliases.restores && self.removed_at(made)?.is_some_and(|at| link.created_at <= at) {
            return Ok(Imported::Deleted);
        }
        let mut removed = None;
        loop {
            match links::insert(self.tx, made, self.viewer, link.created_at, self.now) {
                // There may be several ways round.
                Err(Error::Invalid { field: "link_kind", .. }) if self.unites() => {
                    let oldest = self.break_circle(made, link.created_at)?;
                    if oldest == made {
                        return Ok(Imported::Turned(made));
                    }
                    removed = Some(oldest);
                }
                outcome => {
                    let added = if outcome? { Imported::Created } else { Imported::Unchanged };
                    return Ok(removed.map_or(added, Imported::Turned));
                }
            }
        }
    }

    /// A link that was removed in another store.
    pub(super) fn link_tombstone(&self, gone: &LinkTombstone) -> Result<Imported> {
        check_millis("removed_at", gone.removed_at)?;
        let mut ends = [[0; 16]; 2];
        for (end, (field, ulid)) in ends.iter_mut().zip([("from", &gone.from), ("to", &gone.to)]) {
            *end = parse_ulid(field, ulid)?;
        }
        let resolved = [tombstones::resolve(self.tx, ends[0])?, tombstones::resolve(self.tx, ends[1])?];
        let here = (self.known(&resolved[0])?, self.known(&resolved[1])?);
        if ![&here.0, &here.1].into_iter().flatten().all(|end| self.viewer.sees(&end.scope)) {
            return Ok(Imported::Unchanged);
        }
        for [from, to] in [ends, resolved] {
            if tombstones::removed_at(self.tx, &from, gone.kind, &to)?.is_none_or(|before| before < gone.removed_at) {
                tombstones::note_link(self.tx, &from, gone.kind, &to, gone.removed_at)?;
            }
        }
        if let (Some(from), Some(to)) = here {
            let link = Link { from: from.id, to: to.id, kind: gone.kind };
            if links::made_at(self.tx, link)?.is_some_and(|made_at| made_at <= gone.removed_at) {
                links::remove(self.tx, link, self.viewer, gone.removed_at)?;
                return Ok(Imported::Deleted);
            }
        }
        Ok(Imported::Unchanged)
    }

    /// Breaks the circle that `new` would close: its oldest link goes, by the ULIDs of its ends where two are as old. Returns which.
    fn break_circle(&self, new: Link, made_at: Millis) -> Result<Link> {
        let mut circle = vec![(new, made_at)];
        circle.extend(self.way(new.to, new.from)?);
        let mut oldest = None;
        for (link, made_at) in circle {
            let key = (made_at, self.ulid_of(link.from)?, self.ulid_of(link.to)?);
            if oldest.as_ref().is_none_or(|(least, _)| key < *least) {
                oldest = Some((key, link));
            }
        }
        let Some(((made_at, from, to), link)) = oldest else { return Ok(new) };
        // As of when it was made: one that is made again later stays.
        tombstones::note_link(self.tx, &from, link.kind, &to, made_at)?;
        let sql = "DELETE FROM links WHERE from_id = ?1 AND kind = ?2 AND to_id = ?3";
        self.tx.execute(sql, &[link.from.into(), link_code(link.kind).into(), link.to.into()])?;
        Ok(link)
    }

    /// Breaks the circles that go through a record.
    pub(super) fn break_circles(&self, id: RecordId) -> Result<()> {
        'broken: loop {
            for (link, made_at) in self.superseded_by(id)? {
                if !self.way(link.to, id)?.is_empty() {
                    self.break_circle(link, made_at)?;
                    continue 'broken;
                }
            }
            return Ok(());
        }
    }

    /// The links over which a record supersedes another.
    fn way(&self, from: RecordId, to: RecordId) -> Result<Vec<(Link, Millis)>> {
        let mut ways: Vec<Vec<(Link, Millis)>> = vec![Vec::new()];
        let mut seen = vec![from];
        while let Some(way) = ways.pop() {
            let at = way.last().map_or(from, |(link, _)| link.to);
            if at == to {
                return Ok(way);
            }
            for next in self.superseded_by(at)? {
                if !seen.contains(&next.0.to) {
                    seen.push(next.0.to);
                    ways.push([way.as_slice(), &[next]].concat());
                }
            }
        }
        Ok(Vec::new())
    }

    /// The links from a record to those that it supersedes, and when each was made.
    fn superseded_by(&self, id: RecordId) -> Result<Vec<(Link, Millis)>> {
        let sql = "SELECT from_id, kind, to_id, created_at FROM links WHERE from_id = ?1 AND kind = ?2 ORDER BY to_id";
        let values = [id.into(), link_code(LinkKind::Supersedes).into()];
        self.tx.all(sql, &values, |row| Ok((rows::to_link(row)?, row.get(3)?)))
    }

    fn date(&self, link: Link, made_at: Millis) -> Result<()> {
        let sql = "UPDATE links SET created_at = ?4 WHERE from_id = ?1 AND kind = ?2 AND to_id = ?3";
        let values = [link.from.into(), link_code(link.kind).into(), link.to.into(), made_at.into()];
        self.tx.execute(sql, &values).map(drop)
    }

    fn removed_at(&self, link: Link) -> Result<Option<Millis>> {
        tombstones::removed_at(self.tx, &self.ulid_of(link.from)?, link.kind, &self.ulid_of(link.to)?)
    }

    pub(super) fn ulid_of(&self, id: RecordId) -> Result<[u8; 16]> {
        let ulid = self.tx.first("SELECT ulid FROM records WHERE id = ?1", &[id.into()], |row| row.get(0))?;
        ulid.ok_or(Error::NotFound(id))
    }
}
