//! The state of each memory as one number, so that two machines find what differs between them without sending it; and what one of
//! them sends.
//!
//! A state has the versions, the links and the tombstones of a memory, without anything that only this store knows: ids, accesses,
//! embeddings. What was read from files is left out: each machine reads its own.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use rusqlite::types::ValueRef;
use rusqlite::{Row, params_from_iter};
use sha2::{Digest as _, Sha256};
use ulid::Ulid;

use super::filter::Condition;
use super::snapshot::Snapshot;
use crate::body::Body;
use crate::error::{Error, Result};
use crate::records::{models, rows};
use crate::types::{
    Carried, Export, Exported, Filter, LinkTombstone, MemoryTombstone, Millis, PortableTombstone, RecordId, Scope,
    Stamps, UlidBytes,
};

/// The columns that a version has in every store, but for its body.
const FIELDS: &str = "kind, importance, confidence, content_hash, source, tags, context, valid_from, valid_to";
/// The condition of memories that other machines of the person have, too.
const CARRIED: &str = "r.origin IS NULL";

impl Snapshot {
    /// The states of the memories that `filter` allows, and of those that are gone.
    pub fn stamps(&self, filter: &Filter, now: Millis) -> Result<Stamps> {
        let mut states: BTreeMap<UlidBytes, u64> = BTreeMap::new();
        let mut ulids: HashMap<i64, UlidBytes> = HashMap::new();
        let Condition { sql, values } = Condition::new(filter, None, now);
        let sql =
            format!("SELECT r.id, r.ulid, r.expires_at, r.body, {FIELDS} FROM records r WHERE {CARRIED} AND {sql}");
        self.each_row(&sql, params_from_iter(values), |row| {
            let ulid: UlidBytes = row.get(1)?;
            ulids.insert(row.get(0)?, ulid);
            let mut hash = StateHash::of("newest");
            hash.column(row, 2)?;
            self.add_version(&mut hash, row, 3, now)?;
            add(&mut states, ulid, hash);
            Ok(())
        })?;
        let sql = format!("SELECT record_id, body, {FIELDS} FROM versions");
        self.each_row(&sql, [], |row| {
            let Some(&ulid) = ulids.get(&row.get(0)?) else { return Ok(()) };
            let mut hash = StateHash::of("version");
            self.add_version(&mut hash, row, 1, now)?;
            add(&mut states, ulid, hash);
            Ok(())
        })?;
        self.each_row("SELECT from_id, to_id, kind, created_at FROM links", [], |row| {
            let (Some(&from), Some(&to)) = (ulids.get(&row.get(0)?), ulids.get(&row.get(1)?)) else { return Ok(()) };
            let mut hash = StateHash::of("link");
            hash.bytes(&from);
            hash.bytes(&to);
            hash.column(row, 2)?;
            hash.column(row, 3)?;
            add(&mut states, from, hash.clone());
            add(&mut states, to, hash);
            Ok(())
        })?;
        let known = self.tombstones(filter, None)?;
        for tombstone in &known {
            let mut hash = StateHash::of("tombstone");
            hash.bytes(
                format!(
                    "{:?} {} {:?} {:?}",
                    tombstone.deleted_at, tombstone.is_purged, tombstone.into, tombstone.purged_versions
                )
                .as_bytes(),
            );
            add(&mut states, parse(&tombstone.ulid)?, hash);
        }
        let gone: BTreeSet<UlidBytes> = states.keys().copied().collect();
        for link in self.link_tombstones(&gone, None)? {
            let mut hash = StateHash::of("removed");
            hash.bytes(format!("{} {} {} {}", link.from, link.kind, link.to, link.removed_at).as_bytes());
            for end in [&link.from, &link.to] {
                add(&mut states, parse(end)?, hash.clone());
            }
        }
        Ok(states)
    }

    fn add_version(&self, hash: &mut StateHash, row: &Row<'_>, from: usize, now: Millis) -> Result<()> {
        for column in from + 1..from + 10 {
            hash.column(row, column)?;
        }
        if let Some(json) = row.get_ref(from)?.as_str_or_null().map_err(rusqlite::Error::from)? {
            let kind: i64 = row.get(from + 1)?;
            let kind = rows::kind_of(kind).ok_or_else(|| Error::unreadable(format!("unknown kind {kind}")))?;
            let body = self.body(kind, Some(Body::from_stored(kind, json)?), now)?;
            hash.bytes(body.unwrap_or_default().to_string().as_bytes());
        }
        Ok(())
    }

    /// Calls `visit` with what another machine needs to have the state of these memories: their tombstones, the memories, and their
    /// links.
    ///
    /// # Errors
    /// The first of `visit`, which ends it.
    pub fn export_states<E: From<Error>>(
        &self,
        wanted: &BTreeSet<UlidBytes>,
        filter: &Filter,
        embeddings: bool,
        now: Millis,
        mut visit: impl FnMut(Carried) -> Result<(), E>,
    ) -> Result<(), E> {
        let model = if embeddings { models::current(self.conn())? } else { None };
        let model =
            model.map(|(id, model)| visit(Carried::Exported(Exported::Model(model))).map(|()| id)).transpose()?;
        for tombstone in self.tombstones(filter, Some(wanted))? {
            visit(Carried::Tombstone(PortableTombstone::Memory(tombstone)))?;
        }
        let Condition { sql, values } = Condition::new(filter, None, now);
        let sql = format!("SELECT r.id, r.ulid FROM records r WHERE {CARRIED} AND {sql} ORDER BY r.ulid");
        let (mut ids, mut all) = (Vec::new(), HashMap::new());
        self.each_row(&sql, params_from_iter(values), |row| {
            let (id, ulid): (RecordId, UlidBytes) = (row.get(0)?, row.get(1)?);
            all.insert(id.get(), ulid);
            if wanted.contains(&ulid) {
                ids.push(id);
            }
            Ok(())
        })?;
        let mut carried: BTreeSet<UlidBytes> = all.values().copied().collect();
        for tombstone in self.tombstones(filter, None)? {
            carried.insert(parse(&tombstone.ulid)?);
        }
        for link in self.link_tombstones(&carried, Some(wanted))? {
            visit(Carried::Tombstone(PortableTombstone::Link(link)))?;
        }
        let export = Export { embeddings, filter: filter.clone(), ..Export::default() };
        for &id in &ids {
            let portable = Box::new(self.portable(id, model, &export, now)?);
            visit(Carried::Exported(Exported::Record(portable)))?;
        }
        let mut links = Vec::new();
        let sql = "SELECT l.from_id, l.kind, l.to_id, f.ulid, t.ulid, l.created_at FROM links l
             JOIN records f ON f.id = l.from_id JOIN records t ON t.id = l.to_id ORDER BY f.ulid, l.kind, t.ulid";
        self.each_row(sql, [], |row| {
            let ends = [row.get::<_, i64>(0)?, row.get(2)?].map(|id| all.get(&id));
            if let [Some(from), Some(to)] = ends
                && (wanted.contains(from) || wanted.contains(to))
            {
                links.push(super::export::to_portable_link(row)?);
            }
            Ok(())
        })?;
        links.into_iter().try_for_each(|link| visit(Carried::Exported(Exported::Link(link))))
    }

    /// The tombstones of memories, of all or of the wanted ones, by ULID. One whose scope is not known is seen by those who see all.
    fn tombstones(&self, filter: &Filter, wanted: Option<&BTreeSet<UlidBytes>>) -> Result<Vec<MemoryTombstone>> {
        let mut versions: HashMap<UlidBytes, Vec<Millis>> = HashMap::new();
        self.each_row("SELECT ulid, began FROM version_tombstones ORDER BY ulid, began", [], |row| {
            versions.entry(row.get(0)?).or_default().push(row.get(1)?);
            Ok(())
        })?;
        let sql = "SELECT t.ulid, t.deleted_at, t.is_purged, t.into_ulid, t.scope_id, s.agent, s.project
             FROM tombstones t LEFT JOIN scopes s ON s.id = t.scope_id ORDER BY t.ulid";
        let mut all = Vec::new();
        self.each_row(sql, [], |row| {
            let ulid: UlidBytes = row.get(0)?;
            let scope = Scope { agent: row.get(5)?, project: row.get(6)? };
            let is_known = row.get::<_, Option<i64>>(4)?.is_some();
            let is_seen = if is_known { filter.viewer.sees(&scope) } else { *filter == Filter::default() };
            if is_seen && wanted.is_none_or(|wanted| wanted.contains(&ulid)) {
                all.push(MemoryTombstone {
                    ulid: Ulid::from_bytes(ulid).to_string(),
                    scope,
                    deleted_at: row.get(1)?,
                    is_purged: row.get(2)?,
                    into: row.get::<_, Option<UlidBytes>>(3)?.map(|into| Ulid::from_bytes(into).to_string()),
                    purged_versions: versions.remove(&ulid).unwrap_or_default(),
                });
            }
            Ok(())
        })?;
        Ok(all)
    }

    /// The tombstones of links whose ends are both among `carried`, and one of them wanted.
    fn link_tombstones(
        &self,
        carried: &BTreeSet<UlidBytes>,
        wanted: Option<&BTreeSet<UlidBytes>>,
    ) -> Result<Vec<LinkTombstone>> {
        let mut all = Vec::new();
        let sql = "SELECT from_ulid, kind, to_ulid, removed_at FROM link_tombstones ORDER BY from_ulid, kind, to_ulid";
        self.each_row(sql, [], |row| {
            let (from, to): (UlidBytes, UlidBytes) = (row.get(0)?, row.get(2)?);
            let is_wanted = wanted.is_none_or(|wanted| wanted.contains(&from) || wanted.contains(&to));
            if carried.contains(&from) && carried.contains(&to) && is_wanted {
                let [from, to] = [from, to].map(|end| Ulid::from_bytes(end).to_string());
                all.push(LinkTombstone { from, kind: rows::to_link_kind(row, 1)?, to, removed_at: row.get(3)? });
            }
            Ok(())
        })?;
        Ok(all)
    }

    fn each_row(
        &self,
        sql: &str,
        values: impl rusqlite::Params,
        visit: impl FnMut(&Row<'_>) -> Result<()>,
    ) -> Result<()> {
        self.each(sql, values, visit)
    }
}

fn parse(ulid: &str) -> Result<UlidBytes> {
    crate::types::exchange::parse_ulid("ulid", ulid)
}

/// Parts of a state add up, so that their order does not matter.
fn add(states: &mut BTreeMap<UlidBytes, u64>, ulid: UlidBytes, part: StateHash) {
    let state = states.entry(ulid).or_default();
    *state = state.wrapping_add(part.finish());
}

/// A hash of fields, each with its type and length.
#[derive(Clone)]
struct StateHash(Sha256);

impl StateHash {
    fn of(part: &str) -> Self {
        let mut hash = StateHash(Sha256::new());
        hash.bytes(part.as_bytes());
        hash
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.0.update((bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
    }

    fn column(&mut self, row: &Row<'_>, column: usize) -> Result<()> {
        match row.get_ref(column)? {
            ValueRef::Null => self.0.update([0]),
            ValueRef::Integer(number) => self.bytes(&number.to_le_bytes()),
            ValueRef::Real(number) => self.bytes(&number.to_bits().to_le_bytes()),
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => self.bytes(bytes),
        }
        Ok(())
    }

    fn finish(self) -> u64 {
        let digest: [u8; 32] = self.0.finalize().into();
        u64::from_le_bytes(std::array::from_fn(|at| digest[at]))
    }
}
