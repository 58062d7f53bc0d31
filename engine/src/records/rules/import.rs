//! Records and links from another store, merged by ULID: what is new is added with all that belongs to it, what is older
//! here is replaced, what was changed in both stores gets the history of both, and the rest stays as it is.

use std::borrow::Borrow;
use std::collections::{HashMap, HashSet};

use serde_json::Value as Json;

use super::add::{Identity, Text, claim_text, embedding_hashes, insert_row};
use super::log::append;
use super::references::check_body;
use super::scopes::scope_id;
use super::union::{self, Union};
use super::{access, embeddings, links, origins, threads, update, versions};
use crate::body::{self, Body, ULID_PREFIX};
use crate::error::{Error, Result};
use crate::passages::{Passage, further};
use crate::records::log::Change;
use crate::records::rows::{self, MOST_ACCESSES, select_records};
use crate::records::transaction::{Authority, SelectExt, Tx};
use crate::records::{lookup, models};
use crate::text::{self, Hash};
use crate::types::bounds::check_millis;
use crate::types::exchange::parse_ulid;
use crate::types::{
    Earlier, Imported, Kind, Link, Millis, ModelId, NewRecord, Place, Portable, PortableLink, Record, RecordId, Scope,
    Version, Viewer,
};

type UlidBytes = [u8; 16];

/// What an import has met and no record here has.
#[derive(Debug, Default)]
pub struct Aliases {
    /// ULIDs: with the record that has the same text, or with nothing, because the memory has expired or was deleted.
    ulids: HashMap<UlidBytes, Option<RecordId>>,
    /// The texts of memories that were deleted; `None` if these may come back.
    deleted: Option<HashSet<ScopedText>>,
}

/// The row of a scope, and a text in it.
type ScopedText = (i64, Hash);

impl Aliases {
    /// What was deleted stays deleted: also a second memory that would have been the same one, for it has its text.
    pub fn keep_deleted(&mut self) {
        self.deleted.get_or_insert_default();
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
        let mut merge = Merge { model, keep_shared, ..Merge::new(tx, viewer, aliases, now) };
        let valid = records.iter().zip(&valid).filter(|(_, valid)| valid.is_ok());
        let merged = valid.map(|(portable, _)| match merge.record(portable.borrow()) {
            Err(refused @ (Error::Invalid { .. } | Error::Duplicate(_))) => Ok(Err(refused)),
            outcome => outcome.map(Ok),
        });
        let merged = merged.collect::<Result<Vec<_>>>()?;
        access::trim(tx)?;
        Ok((merged, merge.found, merge.deleted))
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
        let merge = Merge::new(tx, viewer, aliases, now);
        let outcomes = links.iter().map(|link| match merge.link(link) {
            Err(refused @ Error::Invalid { .. }) => Ok(Err(refused)),
            outcome => outcome.map(Ok),
        });
        outcomes.collect()
    })
}

/// One transaction of an import.
struct Merge<'a> {
    tx: &'a dyn Tx,
    /// The store's model, where it is that of the embeddings, and its dimensions.
    model: Option<(ModelId, usize)>,
    viewer: &'a Viewer,
    keep_shared: bool,
    /// Those of the transactions before, and those of this one.
    aliases: &'a Aliases,
    found: HashMap<UlidBytes, Option<RecordId>>,
    deleted: HashSet<ScopedText>,
    /// Rows of scopes: the query for one takes long to plan.
    scopes: HashMap<Scope, i64>,
    now: Millis,
}

/// What a ULID stands for.
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

impl<'a> Merge<'a> {
    fn new(tx: &'a dyn Tx, viewer: &'a Viewer, aliases: &'a Aliases, now: Millis) -> Self {
        let (found, deleted, scopes) = (HashMap::new(), HashSet::new(), HashMap::new());
        Merge { tx, model: None, viewer, keep_shared: false, aliases, found, deleted, scopes, now }
    }

    fn record(&mut self, portable: &Portable) -> Result<Imported> {
        let (tx, text) = (self.tx, &portable.text);
        // First of all, so that nothing is said about what is not seen.
        if !self.viewer.sees(&text.scope) {
            return Err(self.not_changed(&text.scope));
        }
        let ulid = parse_ulid("ulid", &portable.ulid)?;
        if text.expires_at.is_some_and(|at| at <= self.now) {
            self.found.insert(ulid, None);
            return Ok(Imported::Expired);
        }
        let before = self.known(&ulid)?;
        let history = match &before {
            Some(before) if before.scope.is(&text.scope) => match self.history(before, portable) {
                Ok(Union::Ours) => return self.joined(before.id, before.version, text, Imported::Unchanged),
                Ok(history) => history,
                Err(Unresolved::Unknown(ulid)) => return Ok(Imported::Waits(ulid)),
                Err(Unresolved::Failed(error)) => return Err(error),
            },
            _ => Union::Theirs,
        };
        match &before {
            // Only now: an export holds what is shared as well, and to import it again unchanged is no change.
            _ if !self.viewer.changes(&text.scope) => return Err(self.not_changed(&text.scope)),
            Some(before) if !before.scope.is(&text.scope) => {
                let why = if self.viewer.sees(&before.scope) {
                    "is that of a memory of another project or agent here, and memories do not move"
                } else {
                    "cannot be used here; import the text as a plain line, without type and ulid"
                };
                return Err(Error::invalid("ulid", why));
            }
            Some(_) if self.keep_shared && text.scope.agent.is_none() => {
                let why = "is none, so that the memory is every agent's, and this call may not replace it";
                return Err(Error::invalid("agent", why));
            }
            _ => {}
        }
        let content_hash = rows::hash_of_content(&text.content);
        let scope = self.scope_id(&text.scope)?;
        if before.is_none() && self.is_deleted(&ulid, text, (scope, content_hash))? {
            self.found.insert(ulid, None);
            return Ok(Imported::Deleted);
        }
        let (session, turn) = (text.session.as_deref(), text.turn);
        let of_turn = Text { hash: &content_hash, scope, session, turn, own: None };
        if before.is_none()
            && let Some(place) = &text.place
            && let Some(twin) = origins::record_of(tx, place.origin)?
        {
            self.found.insert(ulid, Some(twin));
            return Ok(Imported::Duplicate);
        }
        if before.is_none()
            && !text.kind.repeats()
            && let Some(twin) = of_turn.claim(tx, self.now)?
        {
            self.found.insert(ulid, Some(twin.id));
            return self.joined(twin.id, twin.version, text, Imported::Duplicate);
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
        let id = match before {
            Some(before) => self.replace(before, portable, body, &content_hash)?,
            None => {
                self.store_embedding(portable)?;
                let Portable { version, created_at, updated_at, .. } = *portable;
                let identity = Identity { ulid, scope, version, created_at, updated_at };
                insert_row(tx, text, body.as_ref(), &content_hash, (&identity, None))?.0
            }
        };
        self.count_accesses(id, portable)?;
        self.insert_versions(id, scope, portable, &earlier)?;
        if is_new {
            origins::recall(tx, id)?;
        }
        Ok(if is_new { Imported::Created } else { Imported::Replaced })
    }

    /// Compares the histories of a record and of the incoming one. The history of a text that was read somewhere is its file's,
    /// and other systems have numbers alone: then the higher number wins.
    fn history(&self, before: &Record, portable: &Portable) -> Result<Union, Unresolved> {
        let text = &portable.text;
        if before.place.is_some() || text.place.is_some() || text.kind.repeats() || self.aliases.deleted.is_some() {
            return Ok(if before.version >= portable.version { Union::Ours } else { Union::Theirs });
        }
        let (body, bodies) = self.bodies(portable)?;
        let version = |number, since, replaced, text: &NewRecord, body| Version {
            version: number,
            since,
            replaced,
            content: text.content.clone(),
            kind: text.kind,
            source: text.source.clone(),
            context: text.context.clone(),
            confidence: text.confidence,
            importance: text.importance,
            tags: text.tags.clone(),
            expires_at: text.expires_at,
            valid: text.valid,
            body,
        };
        let earlier = portable.earlier.iter().zip(bodies).map(|(earlier, body)| {
            version(earlier.version, earlier.since, Some(earlier.replaced.clone()), &earlier.text, body)
        });
        let newest = version(portable.version, portable.updated_at, None, text, body);
        let theirs = earlier.chain([newest]).collect();
        Ok(union::unite(before.created_at, versions::all(self.tx, before)?, theirs))
    }

    /// Writes the history that two stores have together. The embedding of the incoming memory is that of its newest version.
    fn unite(
        &mut self,
        before: &Record,
        portable: &Portable,
        mut versions: Vec<Version>,
        is_ours: bool,
        other: Option<i64>,
    ) -> Result<Imported> {
        let (tx, id) = (self.tx, before.id);
        let text = |version: &Version| NewRecord {
            content: version.content.clone(),
            kind: version.kind,
            source: version.source.clone(),
            context: version.context.clone(),
            confidence: version.confidence,
            importance: version.importance,
            tags: version.tags.clone(),
            expires_at: version.expires_at,
            valid: version.valid,
            ..portable.text.clone()
        };
        let newest = versions.pop().ok_or_else(|| Error::unreadable("a history has no version"))?;
        let earlier = versions.iter().filter_map(|version| {
            let replaced = version.replaced.clone()?;
            Some(Earlier { version: version.version, since: version.since, replaced, text: text(version) })
        });
        let united = Portable {
            version: newest.version,
            text: text(&newest),
            created_at: before.created_at,
            updated_at: newest.since,
            earlier: earlier.collect(),
            embedding: portable.embedding.clone().filter(|_| !is_ours),
            passages: if is_ours { Vec::new() } else { portable.passages.clone() },
            ..portable.clone()
        };
        self.check_vectors(&united)?;
        if !is_ours {
            check_body(tx, newest.body.as_ref(), &before.scope, Some(id), &[], self.now)?;
        }
        let scope = self.scope_id(&before.scope)?;
        self.replace(before.clone(), &united, newest.body, &rows::hash_of_content(&newest.content))?;
        let bodies: Vec<Option<Body>> = versions.into_iter().map(|version| version.body).collect();
        self.insert_versions(id, scope, &united, &bodies)?;
        Ok(other.map_or(Imported::Replaced, |version| Imported::United { id, version }))
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

    /// Replaces all that there is of a record by a newer version and those before it.
    fn replace(
        &self,
        before: Record,
        portable: &Portable,
        body: Option<Body>,
        content_hash: &Hash,
    ) -> Result<RecordId> {
        let (tx, text, id) = (self.tx, &portable.text, before.id);
        let is_known = text.session.is_none() || text.session == before.session && text.turn.is_none();
        let known = before.session.clone().zip(before.turn).filter(|_| is_known);
        let (session, turn) = match known {
            Some(known) => Some(known),
            None => threads::place(tx, scope_id(tx, &before.scope)?, text, body.as_ref())?,
        }
        .unzip();
        let after = Record {
            version: portable.version,
            content: text.content.clone(),
            content_hash: text::to_hex(content_hash),
            kind: text.kind,
            source: text.source.clone(),
            context: text.context.clone(),
            confidence: text.confidence,
            importance: text.importance,
            tags: rows::unique_tags(&text.tags),
            created_at: portable.created_at,
            updated_at: portable.updated_at,
            expires_at: text.expires_at,
            valid: text.valid,
            session,
            turn,
            body,
            place: self.place_of(&before, text)?,
            ..before.clone()
        };
        if !text.kind.repeats() {
            claim_text(tx, content_hash, &after, self.now)?;
        }
        let hashes = embedding_hashes(tx, id)?;
        tx.execute("DELETE FROM versions WHERE record_id = ?1", &[id.into()])?;
        self.store_embedding(portable)?;
        update::replace(tx, &after, content_hash, &before)?;
        tx.execute("UPDATE records SET created_at = ?2 WHERE id = ?1", &[id.into(), after.created_at.into()])?;
        for hash in hashes {
            embeddings::remove_unused(tx, &hash)?;
        }
        Ok(id)
    }

    /// The place that it has, else that of `text`, unless another record has that.
    fn place_of(&self, before: &Record, text: &NewRecord) -> Result<Option<Place>> {
        let Some(place) = before.place.as_ref().or(text.place.as_ref()) else { return Ok(None) };
        let owner = origins::record_of(self.tx, place.origin)?;
        Ok(owner.is_none_or(|owner| owner == before.id).then(|| place.clone()))
    }

    fn check_vectors(&self, portable: &Portable) -> Result<()> {
        let passages = portable.passages.iter().map(|passage| passage.embedding.as_slice());
        portable.embedding.as_deref().into_iter().chain(passages).try_for_each(|vector| self.check_dims(vector))
    }

    fn check_dims(&self, vector: &[f32]) -> Result<()> {
        match self.model {
            Some((_, dims)) if vector.len() != dims => {
                Err(Error::invalid("embedding", format!("has {} numbers; its model makes {dims}", vector.len())))
            }
            _ => Ok(()),
        }
    }

    /// Before its text, which then need not wait for it.
    fn store_embedding(&self, portable: &Portable) -> Result<()> {
        let Some((model, _)) = self.model else { return Ok(()) };
        let (context, content) = (portable.text.context.as_deref(), &portable.text.content);
        if let Some(vector) = &portable.embedding {
            embeddings::store_ahead(self.tx, model, &text::embedding_hash(context, content), vector)?;
        }
        if portable.passages.is_empty() {
            return Ok(());
        }
        // Those of another version, which cuts elsewhere, are of no use.
        for Passage { bytes, hash, .. } in further(context, content) {
            let own = portable.passages.iter().find(|passage| (passage.from, passage.to) == (bytes.start, bytes.end));
            if let Some(own) = own {
                embeddings::store_ahead(self.tx, model, &hash, &own.embedding)?;
            }
        }
        Ok(())
    }

    fn count_accesses(&self, id: RecordId, portable: &Portable) -> Result<()> {
        let count = portable.access_count.min(MOST_ACCESSES);
        self.tx.execute(
            "UPDATE records SET access_count = ?1, last_accessed_at = ?2 WHERE id = ?3",
            &[count.into(), portable.last_accessed_at.into(), id.into()],
        )?;
        access::replace(self.tx, id, &portable.accesses)
    }

    fn insert_versions(&self, id: RecordId, scope: i64, portable: &Portable, bodies: &[Option<Body>]) -> Result<()> {
        let sql =
            "INSERT INTO versions (record_id, version, replaced_at, reason, kind, scope_id, importance, confidence,
                 updated_at, expires_at, content_hash, embedding_hash, source, tags, context, content, body,
                 valid_from, valid_to)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)";
        for (earlier, body) in portable.earlier.iter().zip(bodies) {
            let text = &earlier.text;
            let tags = rows::tags_json(&rows::unique_tags(&text.tags));
            let body = body.as_ref().map(Body::to_json);
            let content_hash = rows::hash_of_content(&text.content);
            let embedding_hash = text::embedding_hash(text.context.as_deref(), &text.content);
            let values = [
                id.into(),
                earlier.version.into(),
                earlier.replaced.at.into(),
                (&earlier.replaced.reason).into(),
                rows::kind_code(text.kind).into(),
                scope.into(),
                text.importance.into(),
                text.confidence.into(),
                earlier.since.into(),
                text.expires_at.into(),
                (&content_hash).into(),
                (&embedding_hash).into(),
                (&text.source).into(),
                tags.as_ref().into(),
                text.context.as_ref().into(),
                (&text.content).into(),
                body.as_ref().into(),
                text.valid.from.into(),
                text.valid.to.into(),
            ];
            self.tx.execute(sql, &values)?;
        }
        if portable.earlier.len() as i64 != portable.version - 1 {
            versions::mark_incomplete(self.tx, id)?;
        }
        Ok(())
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
        for id in here.into_iter().chain(alias.flatten()) {
            if lookup::is_live(self.tx, id, self.viewer, self.now)? {
                return Ok(Meaning::Record(id));
            }
        }
        Ok(if alias == Some(None) { Meaning::Gone } else { Meaning::Unknown })
    }

    fn link(&self, link: &PortableLink) -> Result<Imported> {
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
                    let why = format!("{ulid} is neither in this store nor in what was imported; import it first");
                    return Err(Error::invalid(field, why));
                }
            }
        }
        let [from, to] = ends;
        // Two with one text have become one.
        if from == to {
            return Ok(Imported::Unchanged);
        }
        let kind = link.kind;
        // Its maker may have been one who may change what this viewer only sees.
        if links::is_there(self.tx, Link { from, to, kind })? {
            return Ok(Imported::Unchanged);
        }
        let is_new = links::insert(self.tx, Link { from, to, kind }, self.viewer, link.created_at, self.now)?;
        Ok(if is_new { Imported::Created } else { Imported::Unchanged })
    }
}
