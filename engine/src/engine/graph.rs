//! Links between memories, the memories that they connect, and digests.

use std::collections::BTreeMap;

use super::{Engine, Memories};
use crate::error::{Error, Result};
use crate::records::Snapshot;
use crate::records::rules::links;
use crate::types::bounds::check_limit;
use crate::types::{
    Chain, ChainQuery, Digest, DigestQuery, Direction, Kind, Link, LinkKind, Linked, MAX_LIMIT, Mark, Outdated,
    OutdatedQuery, Record, RecordId,
};

impl Engine {
    /// The memories linked to a memory, directly or through others; nothing if it does not exist or is not visible.
    ///
    /// # Errors
    /// [`Error::Invalid`] names the bound that is violated.
    pub fn chain(&self, query: &ChainQuery) -> Result<Chain> {
        query.validate()?;
        self.store.records.snapshot()?.chain(query, self.store.now())
    }

    /// A page of the superseded memories, the newest first.
    ///
    /// # Errors
    /// [`Error::Invalid`] names the bound that is violated.
    pub fn outdated(&self, query: &OutdatedQuery) -> Result<Vec<Outdated>> {
        query.validate()?;
        self.store.records.snapshot()?.outdated(query, self.store.now())
    }

    /// A summary of the memories of a project, or of all that the viewer sees.
    ///
    /// # Errors
    /// [`Error::Invalid`] names the invalid name.
    pub fn digest(&self, query: &DigestQuery) -> Result<Digest> {
        query.validate()?;
        self.digest_of(query, &self.store.records.snapshot()?)
    }

    /// A summary like [`Engine::digest`], of the local data: it does not ask the server of a team's store. For polling.
    ///
    /// # Errors
    /// [`Error::Invalid`] names the invalid name.
    pub fn digest_local(&self, query: &DigestQuery) -> Result<Digest> {
        query.validate()?;
        self.digest_of(query, &self.store.records.copy().snapshot()?)
    }

    fn digest_of(&self, query: &DigestQuery, snapshot: &Snapshot) -> Result<Digest> {
        let superseded = self.sets.superseded(&query.viewer, snapshot)?;
        snapshot.digest(query, &superseded, self.store.now())
    }

    /// The newest memories of one kind in the view of a digest, of at least this importance; at most `limit`, without the
    /// superseded ones.
    ///
    /// # Errors
    /// [`Error::Invalid`] names the invalid name.
    pub fn newest_of_kind(
        &self,
        query: &DigestQuery,
        kind: Kind,
        min_importance: Option<i64>,
        limit: usize,
    ) -> Result<Vec<Record>> {
        query.validate()?;
        check_limit(limit)?;
        let snapshot = self.store.records.snapshot()?;
        let superseded = self.sets.superseded(&query.viewer, &snapshot)?;
        snapshot.newest(query, kind, min_importance, limit, &superseded, self.store.now())
    }
}

impl Memories<'_> {
    /// Links a memory to another. Returns whether the link is new.
    ///
    /// # Errors
    /// [`Error::NotFound`] names the memory that does not exist, or that the viewer does not see; [`Error::Invalid`] if
    /// both are the same.
    pub fn link(&self, link: Link) -> Result<bool> {
        self.viewer.validate()?;
        links::link(&self.engine.store.records, link, self.viewer, self.engine.store.now())
    }

    /// Creates many links in one transaction. One outcome per link, in order; a refused link does not stop the others.
    pub fn link_batch(&self, links: &[Link]) -> Result<Vec<Result<bool>>> {
        self.viewer.validate()?;
        links::link_batch(&self.engine.store.records, links, self.viewer, self.engine.store.now())
    }

    /// Removes a link. False if there was none between two memories that the viewer sees.
    pub fn unlink(&self, link: Link) -> Result<bool> {
        self.viewer.validate()?;
        links::unlink(&self.engine.store.records, link, self.viewer, self.engine.store.now())
    }

    /// At most `limit` of a memory's links, outgoing first. The viewer must see the memory at the other end.
    ///
    /// # Errors
    /// [`Error::NotFound`] when no live memory that the viewer sees has this id.
    pub fn links(&self, id: RecordId, limit: usize) -> Result<Vec<Link>> {
        self.viewer.validate()?;
        self.engine
            .store
            .records
            .snapshot()?
            .links(id, self.viewer, limit, self.engine.store.now())?
            .ok_or(Error::NotFound(id))
    }

    /// At most `limit` of the memories that a memory links to ([`Direction::Forward`]), that link to it
    /// ([`Direction::Backward`]), or both; only those of one kind of link, if it is given.
    ///
    /// # Errors
    /// As [`Memories::links`].
    pub fn linked(
        &self,
        id: RecordId,
        direction: Direction,
        kind: Option<LinkKind>,
        limit: usize,
    ) -> Result<Vec<Linked>> {
        self.viewer.validate()?;
        let linked = self.engine.store.records.snapshot()?.linked(
            id,
            direction,
            kind,
            self.viewer,
            limit,
            self.engine.store.now(),
        )?;
        linked.ok_or(Error::NotFound(id))
    }

    /// Every link between two of these memories, of what the viewer sees.
    pub fn links_among(&self, ids: &[RecordId]) -> Result<Vec<Link>> {
        self.viewer.validate()?;
        self.engine.store.records.snapshot()?.links_among(ids, self.viewer, self.engine.store.now())
    }

    /// The status links of these memories: which others supersede or contradict them, or the reverse, as far as the viewer sees
    /// them; each with the first `chars` characters of the other memory.
    pub fn status_links(&self, ids: &[RecordId], chars: usize) -> Result<BTreeMap<RecordId, Vec<Mark>>> {
        self.viewer.validate()?;
        self.engine.store.records.snapshot()?.marks(ids, self.viewer, chars, self.engine.store.now())
    }

    /// All superseded memories, optionally of one project, if the viewer sees them and those that supersede them; the
    /// newest first. [`Engine::outdated`] returns them in pages, with what supersedes them.
    ///
    /// # Errors
    /// [`Error::Invalid`] names the invalid name.
    pub fn superseded(&self, project: Option<&str>) -> Result<Vec<Record>> {
        let project = project.map(str::to_owned);
        let mut query = OutdatedQuery { project, before: None, limit: MAX_LIMIT, viewer: self.viewer.clone() };
        query.validate()?;
        let snapshot = self.engine.store.records.snapshot()?;
        let (now, mut superseded) = (self.engine.store.now(), Vec::new());
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
}
