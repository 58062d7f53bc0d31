//! Links between memories, what hangs together by them, and what a project's memories come to.

use super::Engine;
use crate::error::{Error, Result};
use crate::sync::now;
use crate::types::{
    Chain, ChainQuery, Digest, DigestQuery, Direction, Link, LinkKind, Linked, MAX_LIMIT, Outdated, OutdatedQuery,
    Record, RecordId, Viewer,
};

impl Engine {
    /// Links a memory to another. Returns whether the link is new.
    ///
    /// # Errors
    /// [`Error::NotFound`] names the one that is not there, or that `viewer` does not see; [`Error::Invalid`] when they
    /// are one and the same.
    pub fn link(&self, link: Link, viewer: &Viewer) -> Result<bool> {
        viewer.validate()?;
        self.sync.records.link(link, viewer, now())
    }

    /// Makes many links in one transaction. One outcome per link, in order; a refused link does not stop the others.
    pub fn link_batch(&self, links: &[Link], viewer: &Viewer) -> Result<Vec<Result<bool>>> {
        viewer.validate()?;
        self.sync.records.link_batch(links, viewer, now())
    }

    /// Removes a link. False when there was none between two memories that `viewer` sees.
    pub fn unlink(&self, link: Link, viewer: &Viewer) -> Result<bool> {
        viewer.validate()?;
        self.sync.records.unlink(link, viewer)
    }

    /// At most `limit` of the links from a memory and to it, those from it first, as far as `viewer` sees what is at their other end.
    ///
    /// # Errors
    /// [`Error::NotFound`] when no live memory that `viewer` sees has this id.
    pub fn links(&self, id: RecordId, viewer: &Viewer, limit: usize) -> Result<Vec<Link>> {
        viewer.validate()?;
        self.sync.records.snapshot()?.links(id, viewer, limit, now())?.ok_or(Error::NotFound(id))
    }

    /// At most `limit` of the memories that a memory links to, each with the kind of its link, as far as `viewer` sees them;
    /// those of one kind of link alone where it is given.
    ///
    /// # Errors
    /// As [`Engine::links`].
    pub fn linked_from(
        &self,
        id: RecordId,
        kind: Option<LinkKind>,
        viewer: &Viewer,
        limit: usize,
    ) -> Result<Vec<Linked>> {
        self.linked(id, Direction::Forward, kind, viewer, limit)
    }

    /// At most `limit` of the memories that link to a memory: what [`Engine::linked_from`] is the other way.
    ///
    /// # Errors
    /// As [`Engine::links`].
    pub fn linked_to(
        &self,
        id: RecordId,
        kind: Option<LinkKind>,
        viewer: &Viewer,
        limit: usize,
    ) -> Result<Vec<Linked>> {
        self.linked(id, Direction::Backward, kind, viewer, limit)
    }

    fn linked(
        &self,
        id: RecordId,
        direction: Direction,
        kind: Option<LinkKind>,
        viewer: &Viewer,
        limit: usize,
    ) -> Result<Vec<Linked>> {
        viewer.validate()?;
        let linked = self.sync.records.snapshot()?.linked(id, direction, kind, viewer, limit, now())?;
        linked.ok_or(Error::NotFound(id))
    }

    /// All memories that others have taken the place of, of a project where one is given, as far as `viewer` sees them and
    /// those others; the newest first. [`Engine::outdated`] gives them in pages, with what has taken their place.
    ///
    /// # Errors
    /// [`Error::Invalid`] names the name that is not one.
    pub fn superseded(&self, project: Option<&str>, viewer: &Viewer) -> Result<Vec<Record>> {
        let project = project.map(str::to_owned);
        let mut query = OutdatedQuery { project, before: None, limit: MAX_LIMIT, viewer: viewer.clone() };
        query.validate()?;
        let snapshot = self.sync.records.snapshot()?;
        let (now, mut superseded) = (now(), Vec::new());
        loop {
            let page = snapshot.outdated(&query, now)?;
            let is_last = page.len() < query.limit;
            superseded.extend(page.into_iter().map(|outdated| outdated.record));
            query.before = superseded.last().map(|record: &Record| record.id);
            if is_last {
                return Ok(superseded);
            }
        }
    }

    /// What hangs together with a memory; nothing when it is not there, or not seen.
    ///
    /// # Errors
    /// [`Error::Invalid`] names the bound that is not kept.
    pub fn chain(&self, query: &ChainQuery) -> Result<Chain> {
        query.validate()?;
        self.sync.records.snapshot()?.chain(query, now())
    }

    /// A page of the memories that others have taken the place of, the newest first.
    ///
    /// # Errors
    /// [`Error::Invalid`] names the bound that is not kept.
    pub fn outdated(&self, query: &OutdatedQuery) -> Result<Vec<Outdated>> {
        query.validate()?;
        self.sync.records.snapshot()?.outdated(query, now())
    }

    /// What the memories of a project, or all that the viewer sees, come to.
    ///
    /// # Errors
    /// [`Error::Invalid`] names the name that is not one.
    pub fn digest(&self, query: &DigestQuery) -> Result<Digest> {
        query.validate()?;
        let snapshot = self.sync.records.snapshot()?;
        let superseded = self.hidden.superseded(&query.viewer, &snapshot)?;
        snapshot.digest(query, &superseded, now())
    }
}
