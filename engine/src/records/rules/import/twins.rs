//! Twins: a text that was saved in two stores, or twice in one. The smaller ULID stays, and the histories unite.

use super::super::add::{Text, remove};
use super::super::references::OTHER_PROFILE;
use super::super::scopes::scope_id;
use super::super::tombstones;
use super::super::union::{self, Union};
use super::super::versions;
use super::{ImportTx, Unresolved};
use crate::error::{Error, Result};
use crate::records::lookup;
use crate::records::rows::{self, kind_code};
use crate::records::transaction::SelectExt;
use crate::types::exchange::parse_ulid;
use crate::types::{Imported, Kind, Millis, NewRecord, Portable, Record, RecordId, UlidBytes, Viewer};

impl ImportTx<'_> {
    /// Whether memories unite: those of a store of this kind, in a store of one person's own.
    pub(super) fn unites(&self) -> bool {
        self.aliases.deleted.is_none() && self.tx.keeps_tombstones()
    }

    /// The profile of a scope, which has one.
    pub(super) fn profile(&self, text: &NewRecord, scope: i64) -> Result<Option<RecordId>> {
        if text.kind != Kind::Profile || text.body.is_none() || !self.unites() {
            return Ok(None);
        }
        let none: Option<RecordId> = None;
        let key = [scope.into(), kind_code(Kind::Profile).into(), none.into(), self.now.into()];
        self.tx.first(OTHER_PROFILE, &key, |row| row.get(0))
    }

    /// Unites an incoming memory, known as `ulid`, with the record that has its text.
    pub(super) fn unite_twin(&mut self, ulid: UlidBytes, twin: RecordId, portable: &Portable) -> Result<Imported> {
        let record = self.record_of(twin)?;
        match self.history(&record, portable) {
            Err(Unresolved::Unknown(ulid)) => return Ok(Imported::Waits(ulid)),
            Err(Unresolved::Failed(error)) => return Err(error),
            Ok(Union::Both { versions, is_ours, .. }) => {
                self.unite(&record, portable, versions, is_ours, None)?;
            }
            // It has no version that this one lacks, but for purged ones.
            Ok(Union::Ours | Union::Theirs) => {}
        }
        let own = parse_ulid("ulid", &record.ulid)?;
        self.become_one(twin, own, ulid)?;
        self.joined(twin, record.version, &portable.text, Imported::Duplicate)
    }

    /// Gives a record the smaller one of two ULIDs. The other stands for it from now on.
    fn become_one(&self, id: RecordId, own: UlidBytes, other: UlidBytes) -> Result<()> {
        if own == other {
            return Ok(());
        }
        let (stays, goes) = (own.min(other), own.max(other));
        let sql = "UPDATE records SET ulid = ?2 WHERE id = ?1 AND ulid <> ?2";
        self.tx.execute(sql, &[id.into(), (&stays).into()])?;
        let scope = self.tx.first("SELECT scope_id FROM records WHERE id = ?1", &[id.into()], |row| row.get(0))?;
        tombstones::unite(self.tx, &goes, &stays, scope)
    }

    /// Unites two records: `id` gets the versions and the links of `twin`, which goes.
    pub(super) fn absorb(&mut self, id: RecordId, twin: RecordId) -> Result<()> {
        let other = self.record_of(twin)?;
        let theirs = versions::all(self.tx, &other)?;
        for sql in [
            "INSERT INTO links (from_id, kind, to_id, from_scope, to_scope, created_at)
                 SELECT ?2, kind, to_id, from_scope, to_scope, created_at FROM links WHERE from_id = ?1 AND to_id <> ?2
                 ON CONFLICT (from_id, kind, to_id) DO UPDATE SET created_at = max(created_at, excluded.created_at)",
            "INSERT INTO links (from_id, kind, to_id, from_scope, to_scope, created_at)
                 SELECT from_id, kind, ?2, from_scope, to_scope, created_at FROM links WHERE to_id = ?1 AND from_id <> ?2
                 ON CONFLICT (from_id, kind, to_id) DO UPDATE SET created_at = max(created_at, excluded.created_at)",
        ] {
            self.tx.execute(sql, &[twin.into(), id.into()])?;
        }
        remove(self.tx, twin)?;
        self.found.values_mut().filter(|known| **known == Some(twin)).for_each(|known| *known = Some(id));
        let record = loop {
            let record = self.record_of(id)?;
            let ours = versions::all(self.tx, &record)?;
            let union = union::unite_twins((record.created_at, ours.clone()), (other.created_at, theirs.clone()), &[]);
            let (versions, is_ours) = match union {
                Union::Both { versions, is_ours, .. } => (versions, is_ours),
                Union::Ours | Union::Theirs => (ours, true),
            };
            // The text that is the newest of both may be a third one's.
            let newest = versions.last().map(|newest| newest.content.clone()).unwrap_or_default();
            if let Some(third) = self.other_with(&record, &newest)? {
                self.absorb(id, third)?;
                continue;
            }
            let base = to_portable(if is_ours { &record } else { &other });
            // Its embedding is in the store.
            self.unite(&record, &base, versions, true, None)?;
            break record;
        };
        let [own, gone] = [&record, &other].map(|record| parse_ulid("ulid", &record.ulid));
        self.become_one(id, own?, gone?)?;
        self.break_circles(id)
    }

    /// Unites a record with those that have its text, or the text that it is to have.
    pub(super) fn make_room(&mut self, id: RecordId, content: &str) -> Result<bool> {
        let mut is_changed = false;
        while let Some(twin) = self.other_with(&self.record_of(id)?, content)? {
            self.absorb(id, twin)?;
            is_changed = true;
        }
        Ok(is_changed)
    }

    /// Another live record of somebody's own that has a text in the scope of a record.
    fn other_with(&self, record: &Record, content: &str) -> Result<Option<RecordId>> {
        if record.kind.repeats() {
            return Ok(None);
        }
        let (hash, scope) = (rows::hash_of_content(content), scope_id(self.tx, &record.scope)?);
        let (session, turn) = (record.session.as_deref(), record.turn);
        let twin = Text { hash: &hash, scope, session, turn, own: Some(record.id) }.claim(self.tx, self.now)?;
        twin.map_or(Ok(None), |twin| Ok(self.is_plain(twin.id)?.then_some(twin.id)))
    }

    /// Unites what a tombstone of another store says is one: `goes` is known as `stays` from now on.
    pub(super) fn become_twin(&mut self, goes: UlidBytes, stays: UlidBytes) -> Result<()> {
        let before = tombstones::of(self.tx, &goes)?;
        let scope = before.scope;
        tombstones::unite(self.tx, &goes, &stays, scope)?;
        if let Some(other) = before.into.filter(|other| *other != stays) {
            // Both stand for one memory.
            self.become_twin(other.max(stays), other.min(stays))?;
        }
        let target = tombstones::resolve(self.tx, stays)?;
        match (self.known(&goes)?, self.known(&target)?) {
            (Some(gone), Some(here)) if here.scope.is(&gone.scope) => self.absorb(here.id, gone.id),
            (Some(gone), None) => self.become_one(gone.id, goes, target),
            _ => Ok(()),
        }
    }

    fn record_of(&self, id: RecordId) -> Result<Record> {
        lookup::live(self.tx, id, &Viewer::OWNER, Millis::MIN)?.ok_or(Error::NotFound(id))
    }
}

/// A record as the base of a history that is written: its place in a thread, and what it shares with all its versions.
fn to_portable(record: &Record) -> Portable {
    let text = NewRecord {
        scope: record.scope.clone(),
        session: record.session.clone(),
        turn: record.turn,
        place: record.place.clone(),
        ..NewRecord::new(record.content.clone())
    };
    Portable {
        ulid: record.ulid.clone(),
        version: record.version,
        text,
        created_at: record.created_at,
        updated_at: record.updated_at,
        access_count: record.access_count,
        last_accessed_at: record.last_accessed_at,
        earlier: Vec::new(),
        accesses: Vec::new(),
        embedding: None,
        passages: Vec::new(),
    }
}
