//! Records and links from another store, merged by ULID: new records are added with all that belongs to them, older ones
//! here are replaced, records that were changed in both stores get the history of both, and the rest stays as it is.

mod history;
mod links;
mod tombstones;
mod twins;

use std::borrow::Borrow;
use std::collections::{HashMap, HashSet};

use serde_json::Value as Json;

use super::add::{Identity, Text, insert_row};
use super::log::append;
use super::references::check_body;
use super::scopes::scope_id;
use super::tombstones as noted;
use super::union::{self, Union};
use super::versions::{self, Cause};
use super::{access, origins, threads, trash};
use crate::body::{self, Body, ULID_PREFIX};
use crate::error::{Error, Result};
use crate::records::log::Change;
use crate::records::rows::{self, MOST_ACCESSES, select_records};
use crate::records::transaction::{Authority, SelectExt, Tx};
use crate::records::{lookup, models};
use crate::text::Hash;
use crate::types::exchange::parse_ulid;
use crate::types::{
    Imported, Kind, Millis, ModelId, NewRecord, Portable, PortableLink, PortableTombstone, Record, RecordId, Scope,
    UlidBytes, Viewer,
};

/// ULIDs and texts that an import has met and no record here has.
#[derive(Debug, Default)]
pub struct Aliases {
    /// ULIDs, each with the record that has the same text; `None` if the memory has expired or was deleted.
    ulids: HashMap<UlidBytes, Option<RecordId>>,
    /// The texts of memories that were deleted; `None` if the import is one of this system.
    deleted: Option<HashSet<ScopedText>>,
    /// Whether records that were deleted here are restored.
    restores: bool,
}

/// The row of a scope, and a text in it.
type ScopedText = (i64, Hash);

impl Aliases {
    /// Keeps deleted memories deleted, and does not import others with the same text either.
    pub fn keep_deleted(&mut self) {
        self.deleted.get_or_insert_default();
    }

    /// Restores memories that were deleted here.
    pub fn restore_deleted(&mut self) {
        self.restores = true;
    }
}

/// Merges records into the store, in one transaction. One that is refused does not stop the others.
pub(crate) fn import(
    authority: &impl Authority,
    records: &[impl Borrow<Portable>],
    model: Option<ModelId>,
    viewer: &Viewer,
    keep_shared: bool,
    aliases: &mut Aliases,
    now: Millis,
) -> Result<Vec<Result<Imported>>> {
    let valid: Vec<Result<()>> = records.iter().map(|portable| portable.borrow().validate()).collect();
    let (merged, found, deleted) = authority.write(|tx| {
        let model = match models::current(tx)? {
            Some((current, known)) if model == Some(current) => Some((current, known.dims)),
            _ => None,
        };
        let mut import = ImportTx { model, keep_shared, ..ImportTx::new(tx, viewer, aliases, now) };
        let valid = records.iter().zip(&valid).filter(|(_, valid)| valid.is_ok());
        let merged = valid.map(|(portable, _)| import.attempt(|import| import.record(portable.borrow())));
        let merged = merged.collect::<Result<Vec<_>>>()?;
        access::trim(tx)?;
        Ok((merged, import.found, import.deleted))
    })?;
    aliases.ulids.extend(found);
    if let Some(before) = &mut aliases.deleted {
        before.extend(deleted);
    }
    let mut merged = merged.into_iter();
    let outcome = |valid: Result<()>| valid.and_then(|()| merged.next().expect("one for each valid record"));
    Ok(valid.into_iter().map(outcome).collect())
}

/// Makes links, in one transaction. One that is refused does not stop the others.
pub(crate) fn import_links(
    authority: &impl Authority,
    links: &[PortableLink],
    viewer: &Viewer,
    aliases: &Aliases,
    now: Millis,
) -> Result<Vec<Result<Imported>>> {
    authority.write(|tx| {
        let mut import = ImportTx::new(tx, viewer, aliases, now);
        links.iter().map(|link| import.attempt(|import| import.link(link))).collect()
    })
}

/// Applies the tombstones of another store, in one transaction. A rejected tombstone does not stop the others.
pub(crate) fn import_tombstones(
    authority: &impl Authority,
    tombstones: &[PortableTombstone],
    viewer: &Viewer,
    aliases: &Aliases,
    now: Millis,
) -> Result<Vec<Result<Imported>>> {
    authority.write(|tx| {
        if !tx.keeps_tombstones() {
            return Err(Error::invalid("store", "a team's store takes no tombstones of other machines"));
        }
        let mut import = ImportTx::new(tx, viewer, aliases, now);
        let all = tombstones.iter().map(|tombstone| {
            import.attempt(|import| match tombstone {
                PortableTombstone::Memory(gone) => import.tombstone(gone),
                PortableTombstone::Link(gone) => import.link_tombstone(gone),
            })
        });
        all.collect()
    })
}

/// One transaction of an import.
struct ImportTx<'a> {
    tx: &'a dyn Tx,
    /// The store's model, where it is that of the embeddings, and its dimensions.
    model: Option<(ModelId, usize)>,
    viewer: &'a Viewer,
    keep_shared: bool,
    /// Aliases of the transactions before; `found` has those of this one.
    aliases: &'a Aliases,
    found: HashMap<UlidBytes, Option<RecordId>>,
    deleted: HashSet<ScopedText>,
    /// Rows of scopes: the query for one takes long to plan.
    scopes: HashMap<Scope, i64>,
    now: Millis,
}

/// The record that a ULID stands for.
enum Meaning {
    Record(RecordId),
    /// A memory that has expired or was deleted.
    Gone,
    Unknown,
}

/// The bodies of a record: of its newest version and of those before.
type Bodies = (Option<Body>, Vec<Option<Body>>);

/// Why a reference cannot be resolved.
enum Unresolved {
    Unknown(String),
    Failed(Error),
}

impl From<Error> for Unresolved {
    fn from(error: Error) -> Self {
        Unresolved::Failed(error)
    }
}

impl<'a> ImportTx<'a> {
    /// Does one thing. If it is refused, nothing of it is done.
    fn attempt(&mut self, work: impl FnOnce(&mut Self) -> Result<Imported>) -> Result<Result<Imported>> {
        let tx = self.tx;
        let savepoint = |sql| if tx.keeps_tombstones() { tx.execute(sql, &[]).map(drop) } else { Ok(()) };
        savepoint("SAVEPOINT one")?;
        let outcome = match work(self) {
            Err(refused @ (Error::Invalid { .. } | Error::Duplicate(_) | Error::NotFound(_))) => {
                savepoint("ROLLBACK TO one")?;
                self.scopes.clear();
                Err(refused)
            }
            outcome => Ok(outcome?),
        };
        savepoint("RELEASE one")?;
        Ok(outcome)
    }

    fn new(tx: &'a dyn Tx, viewer: &'a Viewer, aliases: &'a Aliases, now: Millis) -> Self {
        let (found, deleted, scopes) = (HashMap::new(), HashSet::new(), HashMap::new());
        ImportTx { tx, model: None, viewer, keep_shared: false, aliases, found, deleted, scopes, now }
    }

    fn record(&mut self, portable: &Portable) -> Result<Imported> {
        let (tx, text) = (self.tx, &portable.text);
        // First of all, so that nothing is said about what is not seen.
        if !self.viewer.sees(&text.scope) {
            return Err(self.not_changed(&text.scope));
        }
        let named = parse_ulid("ulid", &portable.ulid)?;
        if text.expires_at.is_some_and(|at| at <= self.now) {
            self.found.insert(named, None);
            return Ok(Imported::Expired);
        }
        let mut ulid = noted::resolve(tx, named)?;
        let tombstone = noted::of(tx, &ulid)?;
        if tombstone.is_purged && self.aliases.restores {
            ulid = rows::new_ulid(self.now);
        }
        let mut before = self.known(&ulid)?;
        let history = match &before {
            Some(before) if before.scope.is(&text.scope) => match self.history(before, portable) {
                Ok(Union::Ours) => return self.joined(before.id, before.version, text, Imported::Unchanged),
                Ok(history) => history,
                Err(Unresolved::Unknown(ulid)) => return Ok(Imported::Waits(ulid)),
                Err(Unresolved::Failed(error)) => return Err(error),
            },
            _ => Union::Theirs,
        };
        self.check_change(before.as_ref(), text)?;
        let content_hash = rows::hash_of_content(&text.content);
        let scope = self.scope_id(&text.scope)?;
        if before.is_none() {
            let stays_deleted = tombstone.covers(union::newest_began(portable)) && !self.aliases.restores;
            // Both are asked: the second notes the text, for others that have it.
            if self.is_deleted(&ulid, text, (scope, content_hash))? || stays_deleted {
                self.found.insert(named, None);
                return Ok(Imported::Deleted);
            }
            if let Some(place) = &text.place
                && let Some(twin) = origins::record_of(tx, place.origin)?
            {
                self.found.insert(named, Some(twin));
                return Ok(Imported::Duplicate);
            }
            before = self.bring_back(&ulid, &text.scope)?;
            if before.is_some() {
                let id = before.as_ref().map(|before| before.id);
                let outcome = self.record(portable)?;
                return self.revived(id, &ulid, outcome);
            }
        }
        let (session, turn) = (text.session.as_deref(), text.turn);
        let of_turn = Text { hash: &content_hash, scope, session, turn, own: None };
        match &before {
            None => {
                let twin = if text.kind.repeats() { None } else { of_turn.claim(tx, self.now)? };
                let profile = self.profile(text, scope)?;
                match (twin, profile) {
                    (Some(twin), _) if self.unites() && !self.keeps(text) && self.is_plain(twin.id)? => {
                        self.found.insert(named, Some(twin.id));
                        return self.unite_twin(ulid, twin.id, portable);
                    }
                    (Some(twin), _) => {
                        self.found.insert(named, Some(twin.id));
                        return self.joined(twin.id, twin.version, text, Imported::Duplicate);
                    }
                    (None, Some(profile)) if !self.keeps(text) => {
                        self.found.insert(named, Some(profile));
                        return self.unite_twin(ulid, profile, portable);
                    }
                    (None, _) => {}
                }
            }
            Some(before) if self.unites() && before.place.is_none() => {
                // What it will say may be another memory's by now.
                let newest = match &history {
                    Union::Both { versions, .. } => versions.last().map_or("", |newest| &newest.content),
                    _ => &text.content,
                };
                if self.make_room(before.id, newest)? {
                    return self.record(portable).map(|outcome| match outcome {
                        Imported::Unchanged => Imported::Replaced,
                        outcome => outcome,
                    });
                }
            }
            Some(_) => {}
        }
        let (body, earlier) = match self.bodies(portable) {
            Err(Unresolved::Unknown(ulid)) => return Ok(Imported::Waits(ulid)),
            Err(Unresolved::Failed(error)) => return Err(error),
            Ok(bodies) => bodies,
        };
        if let (Union::Both { versions, is_ours, other }, Some(before)) = (history, &before) {
            return self.unite(before, portable, versions, is_ours, other);
        }
        let own = before.as_ref().map(|before| before.id);
        check_body(tx, body.as_ref(), &text.scope, own, &[], self.now)?;
        self.check_vectors(portable)?;
        let is_new = own.is_none();
        let displaced = match &before {
            Some(before) => self.displaced(before, portable)?,
            None => None,
        };
        let id = match before {
            Some(before) => self.replace(before, portable, body, &content_hash)?,
            None => {
                self.store_embedding(portable)?;
                let Portable { version, created_at, updated_at, .. } = *portable;
                let identity = Identity { ulid, scope, version, created_at, updated_at };
                insert_row(tx, text, body.as_ref(), &content_hash, (&identity, None))?.0
            }
        };
        if ulid != named {
            self.found.insert(named, Some(id));
        }
        self.count_accesses(id, portable)?;
        self.insert_versions(id, scope, portable, &earlier)?;
        if is_new {
            origins::recall(tx, id)?;
            return self.revived(Some(id), &ulid, Imported::Created);
        }
        Ok(displaced.map_or(Imported::Replaced, |version| Imported::United { id, version }))
    }

    /// Checks that this import may change the record `before`, or save `text` as a new one.
    fn check_change(&self, before: Option<&Record>, text: &NewRecord) -> Result<()> {
        match before {
            // Only now: an export holds what is shared as well, and to import it again unchanged is no change.
            _ if !self.viewer.changes(&text.scope) => Err(self.not_changed(&text.scope)),
            Some(before) if !before.scope.is(&text.scope) => {
                let why = if self.viewer.sees(&before.scope) {
                    "belongs to a memory of another project or agent here, and memories do not move"
                } else {
                    "cannot be used here; import the text as a plain line, without type and ulid"
                };
                Err(Error::invalid("ulid", why))
            }
            Some(_) if self.keeps(text) => {
                let why = "is missing: the memory belongs to every agent, and this call may not replace it";
                Err(Error::invalid("agent", why))
            }
            _ => Ok(()),
        }
    }

    /// Whether this import must leave memories of this scope unchanged.
    fn keeps(&self, text: &NewRecord) -> bool {
        self.keep_shared && text.scope.agent.is_none()
    }

    /// Whether a record was saved directly, not read from a file.
    fn is_plain(&self, id: RecordId) -> Result<bool> {
        self.tx.exists("SELECT 1 FROM records WHERE id = ?1 AND origin IS NULL", &[id.into()])
    }

    /// Restores a memory from the trash, if it is there in this scope: it lives on elsewhere.
    fn bring_back(&mut self, ulid: &UlidBytes, scope: &Scope) -> Result<Option<Record>> {
        if !self.unites() {
            return Ok(None);
        }
        let Some((id, deleted)) = trash::with_ulid(self.tx, ulid)? else { return Ok(None) };
        if !deleted.is(scope) {
            return Ok(None);
        }
        trash::bring_back(self.tx, id, self.now)?;
        self.known(ulid)
    }

    /// Gives a record that is restored against its tombstone a version of its own, so that it lives on.
    fn revived(&mut self, id: Option<RecordId>, ulid: &UlidBytes, outcome: Imported) -> Result<Imported> {
        if let Some(id) = id.filter(|_| self.aliases.restores)
            && noted::of(self.tx, ulid)?.covers(noted::began(self.tx, id)?)
        {
            let now = noted::after_deletion(self.tx, id, self.now)?;
            versions::keep_as_it_is(self.tx, id, "restored", &Cause::Undo, now)?;
            let content = self.tx.first("SELECT content FROM records WHERE id = ?1", &[id.into()], |row| row.get(0))?;
            self.make_room(id, &content.unwrap_or_else(String::new))?;
        }
        Ok(match outcome {
            Imported::Unchanged => Imported::Replaced,
            outcome => outcome,
        })
    }

    /// Whether somebody deleted the memory here, or one that had its text, and it must not come back.
    fn is_deleted(&mut self, ulid: &UlidBytes, new: &NewRecord, text: ScopedText) -> Result<bool> {
        let Some(before) = &self.aliases.deleted else { return Ok(false) };
        let is_unique = !new.kind.repeats();
        if is_unique && (before.contains(&text) || self.deleted.contains(&text)) {
            return Ok(true);
        }
        let origin = new.place.as_ref().map_or(Ok(false), |place| origins::is_forgotten(self.tx, place.origin));
        let is_deleted = origin? || origins::is_deleted(self.tx, ulid)?;
        if is_deleted && is_unique {
            self.deleted.insert(text);
        }
        Ok(is_deleted)
    }

    /// Gives a record that stays as it is the place of `text`, if it has none: then it is replaced, else `outcome`.
    fn joined(&mut self, id: RecordId, version: i64, text: &NewRecord, outcome: Imported) -> Result<Imported> {
        if text.session.is_none() || !self.viewer.changes(&text.scope) {
            return Ok(outcome);
        }
        let scope = self.scope_id(&text.scope)?;
        if !threads::join(self.tx, id, scope, text, None)? {
            return Ok(outcome);
        }
        append(self.tx, id, &Change::Put { version, new_text: false })?;
        Ok(Imported::Replaced)
    }

    fn not_changed(&self, scope: &Scope) -> Error {
        let field = if self.viewer.project.changes(scope.project.as_deref()) { "agent" } else { "project" };
        Error::invalid(field, "is another than that of this call, which may not change its memories")
    }

    fn scope_id(&mut self, scope: &Scope) -> Result<i64> {
        if let Some(&id) = self.scopes.get(scope) {
            return Ok(id);
        }
        let id = scope_id(self.tx, scope)?;
        self.scopes.insert(scope.clone(), id);
        Ok(id)
    }

    /// The record of this ULID, live or not.
    fn known(&self, ulid: &UlidBytes) -> Result<Option<Record>> {
        self.tx.first(select_records!("WHERE r.ulid = ?1"), &[ulid.into()], rows::to_record)
    }

    fn count_accesses(&self, id: RecordId, portable: &Portable) -> Result<()> {
        let count = portable.access_count.min(MOST_ACCESSES);
        self.tx.execute(
            "UPDATE records SET access_count = ?1, last_accessed_at = ?2 WHERE id = ?3",
            &[count.into(), portable.last_accessed_at.into(), id.into()],
        )?;
        access::replace(self.tx, id, &portable.accesses)
    }

    fn bodies(&self, portable: &Portable) -> Result<Bodies, Unresolved> {
        let newest = self.body(portable.text.kind, portable.text.body.as_ref())?;
        let earlier = portable.earlier.iter().map(|earlier| self.body(earlier.text.kind, earlier.text.body.as_ref()));
        Ok((newest, earlier.collect::<Result<_, _>>()?))
    }

    /// A body with ids instead of ULIDs, and without references to expired memories.
    fn body(&self, kind: Kind, body: Option<&Json>) -> Result<Option<Body>, Unresolved> {
        let Some(mut body) = body.cloned() else { return Ok(None) };
        body::replace_references(kind, &mut body, |reference| {
            let Some(ulid) = reference.as_str().and_then(|text| text.strip_prefix(ULID_PREFIX)) else {
                let why = format!("{reference} means nothing here; name a memory by \"{ULID_PREFIX}\" and its ULID");
                return Err(Error::invalid("body", why).into());
            };
            match self.meaning("body", ulid)? {
                Meaning::Record(id) => Ok(Some(id.get().into())),
                Meaning::Gone => Ok(None),
                Meaning::Unknown => Err(Unresolved::Unknown(ulid.to_owned())),
            }
        })?;
        Ok(Some(Body::new(kind, body)?))
    }

    fn meaning(&self, field: &'static str, ulid: &str) -> Result<Meaning> {
        let bytes = parse_ulid(field, ulid)?;
        let here: Option<RecordId> =
            self.tx.first("SELECT id FROM records WHERE ulid = ?1", &[(&bytes).into()], |row| row.get(0))?;
        let alias = self.found.get(&bytes).or_else(|| self.aliases.ulids.get(&bytes)).copied();
        let twin = noted::resolve(self.tx, bytes)?;
        let twin = if twin == bytes { None } else { self.known(&twin)?.map(|record| record.id) };
        for id in here.into_iter().chain(twin).chain(alias.flatten()) {
            if lookup::is_live(self.tx, id, self.viewer, self.now)? {
                return Ok(Meaning::Record(id));
            }
        }
        let tombstone = noted::of(self.tx, &bytes)?;
        let is_gone = alias == Some(None) || tombstone.is_purged || tombstone.deleted_at.is_some();
        Ok(if is_gone { Meaning::Gone } else { Meaning::Unknown })
    }
}
