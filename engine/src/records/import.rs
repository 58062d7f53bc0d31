//! Records and links from another store, merged by ULID: what is new is added with all that belongs to it, what is older
//! here is replaced, and the rest stays as it is.

use std::borrow::Borrow;
use std::collections::HashMap;

use rusqlite::{OptionalExtension, Transaction, params};
use serde_json::Value;

use super::embeddings::{self, ModelId};
use super::row::{self, select_records};
use super::tally::MOST_ACCESSES;
use super::write::{self, Place};
use super::{Records, access, change, history, links};
use crate::body::{self, Body, ULID_PREFIX};
use crate::error::{Error, Result};
use crate::text::{self, Hash};
use crate::types::bounds::check_millis;
use crate::types::exchange::parse_ulid;
use crate::types::{Imported, Kind, Link, Millis, Portable, PortableLink, Record, RecordId, Scope, Viewer};

type UlidBytes = [u8; 16];

/// What ULIDs that an import has met stand for where they are none of a record here: the record with the same text, or
/// nothing, because the time of theirs is over.
#[derive(Debug, Default)]
pub struct Aliases(HashMap<UlidBytes, Option<RecordId>>);

impl Records {
    /// Merges records into the store, in one transaction, for a `viewer` who must see the scope of each. `model` is that
    /// of their embeddings; without it these are passed over. With `keep_shared`, what belongs to no agent is not
    /// replaced. The outcomes are in the order of `records`; one that is
    /// refused does not stop the others, a failure of the database stops them all.
    pub fn import(
        &self,
        records: &[impl Borrow<Portable>],
        model: Option<ModelId>,
        viewer: &Viewer,
        keep_shared: bool,
        aliases: &mut Aliases,
        now: Millis,
    ) -> Result<Vec<Result<Imported>>> {
        let valid: Vec<Result<()>> = records.iter().map(|portable| portable.borrow().validate()).collect();
        self.write(|tx| {
            let model = match embeddings::current(tx)? {
                Some((current, known)) if model == Some(current) => Some((current, known.dims)),
                _ => None,
            };
            let mut merge = Merge { tx, model, viewer, keep_shared, aliases, scopes: HashMap::new(), now };
            let outcomes = records.iter().zip(valid).map(|(portable, valid)| {
                match valid.and_then(|()| merge.record(portable.borrow())) {
                    Err(refused @ (Error::Invalid { .. } | Error::Duplicate(_))) => Ok(Err(refused)),
                    outcome => outcome.map(Ok),
                }
            });
            let outcomes = outcomes.collect();
            access::trim(tx)?;
            outcomes
        })
    }

    /// Makes links between records that `viewer` sees, in one transaction; one that is there stays as it is. The outcomes
    /// are in the order of `links`; one that is refused does not stop the others.
    pub fn import_links(
        &self,
        links: &[PortableLink],
        viewer: &Viewer,
        aliases: &mut Aliases,
        now: Millis,
    ) -> Result<Vec<Result<Imported>>> {
        self.write(|tx| {
            let merge = Merge { tx, model: None, viewer, keep_shared: false, aliases, scopes: HashMap::new(), now };
            let outcomes = links.iter().map(|link| match merge.link(link) {
                Err(refused @ Error::Invalid { .. }) => Ok(Err(refused)),
                outcome => outcome.map(Ok),
            });
            outcomes.collect()
        })
    }
}

/// One transaction of an import.
struct Merge<'a> {
    tx: &'a Transaction<'a>,
    /// The store's model, where it is that of the embeddings, and its dimensions.
    model: Option<(ModelId, usize)>,
    viewer: &'a Viewer,
    keep_shared: bool,
    aliases: &'a mut Aliases,
    /// Rows of scopes: SQLite plans the query for one anew each time.
    scopes: HashMap<Scope, i64>,
    now: Millis,
}

/// What a ULID stands for.
enum Meant {
    Record(RecordId),
    /// One whose time is over.
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

impl Merge<'_> {
    fn record(&mut self, portable: &Portable) -> Result<Imported> {
        let (tx, text) = (self.tx, &portable.text);
        // First of all, so that nothing is told of what is not seen.
        if !self.viewer.sees(&text.scope) {
            return Err(self.not_changed(&text.scope));
        }
        let ulid = parse_ulid("ulid", &portable.ulid)?;
        if text.expires_at.is_some_and(|at| at <= self.now) {
            self.aliases.0.insert(ulid, None);
            return Ok(Imported::Expired);
        }
        let before = self.known(&ulid)?;
        match &before {
            Some(before) if before.scope == text.scope && before.version >= portable.version => {
                return Ok(Imported::Unchanged);
            }
            // Only now: an export holds what is shared as well, and to import it again unchanged is no change.
            _ if !self.viewer.changes(&text.scope) => return Err(self.not_changed(&text.scope)),
            Some(before) if before.scope != text.scope => {
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
        let content_hash = row::hash_of_content(&text.content);
        let scope = self.scope_id(&text.scope)?;
        if before.is_none()
            && !text.kind.repeats()
            && let Some(twin) = write::twin(tx, &content_hash, scope, self.now)?
        {
            if twin.live {
                self.aliases.0.insert(ulid, Some(twin.id));
                return Ok(Imported::Duplicate);
            }
            write::remove(tx, twin.id)?;
        }
        let (body, earlier) = match self.bodies(portable) {
            Err(Unresolved::Unknown(ulid)) => return Ok(Imported::Waits(ulid)),
            Err(Unresolved::Failed(error)) => return Err(error),
            Ok(bodies) => bodies,
        };
        let own = before.as_ref().map(|before| before.id);
        write::check_body(tx, body.as_ref(), &text.scope, own, &[], self.now)?;
        self.check_dims(portable.embedding.as_deref())?;
        let outcome = if own.is_some() { Imported::Replaced } else { Imported::Created };
        let id = match before {
            Some(before) => self.replace(before, portable, body, &content_hash)?,
            None => {
                self.store_embedding(portable)?;
                let Portable { version, created_at, updated_at, .. } = *portable;
                let place = Place { ulid, scope, version, created_at, updated_at };
                write::insert_row(tx, text, body.as_ref(), &content_hash, &place)?.0
            }
        };
        self.count_accesses(id, portable)?;
        self.insert_versions(id, scope, portable, &earlier)?;
        Ok(outcome)
    }

    fn not_changed(&self, scope: &Scope) -> Error {
        let field = if self.viewer.project.changes(scope.project.as_deref()) { "agent" } else { "project" };
        Error::invalid(field, "is another than that of this call, which may not change its memories")
    }

    fn scope_id(&mut self, scope: &Scope) -> Result<i64> {
        if let Some(&id) = self.scopes.get(scope) {
            return Ok(id);
        }
        let id = row::scope_id(self.tx, scope)?;
        self.scopes.insert(scope.clone(), id);
        Ok(id)
    }

    /// The record of this ULID, live or not.
    fn known(&self, ulid: &UlidBytes) -> Result<Option<Record>> {
        let mut statement = self.tx.prepare_cached(select_records!("WHERE r.ulid = ?"))?;
        Ok(statement.query_row([ulid], row::to_record).optional()?)
    }

    /// Puts a newer version, with those before it, in the place of all that there is of a record.
    fn replace(
        &self,
        before: Record,
        portable: &Portable,
        body: Option<Body>,
        content_hash: &Hash,
    ) -> Result<RecordId> {
        let (tx, text, id) = (self.tx, &portable.text, before.id);
        let after = Record {
            version: portable.version,
            content: text.content.clone(),
            content_hash: text::to_hex(content_hash),
            kind: text.kind,
            source: text.source.clone(),
            context: text.context.clone(),
            confidence: text.confidence,
            importance: text.importance,
            tags: row::unique_tags(&text.tags),
            created_at: portable.created_at,
            updated_at: portable.updated_at,
            expires_at: text.expires_at,
            body,
            ..before.clone()
        };
        if !text.kind.repeats() {
            write::take_place(tx, content_hash, &after, self.now)?;
        }
        let mut hashes = tx.prepare_cached(
            "SELECT embedding_hash FROM records WHERE id = ?1
             UNION SELECT embedding_hash FROM versions WHERE record_id = ?1",
        )?;
        let hashes = hashes.query_map([id], |row| row.get(0))?.collect::<rusqlite::Result<Vec<Hash>>>()?;
        tx.prepare_cached("DELETE FROM versions WHERE record_id = ?")?.execute([id])?;
        self.store_embedding(portable)?;
        change::replace(tx, &after, content_hash, &before)?;
        tx.prepare_cached("UPDATE records SET created_at = ? WHERE id = ?")?.execute((after.created_at, id))?;
        for hash in hashes {
            embeddings::remove_unused(tx, &hash)?;
        }
        Ok(id)
    }

    fn check_dims(&self, embedding: Option<&[f32]>) -> Result<()> {
        match (self.model, embedding) {
            (Some((_, dims)), Some(vector)) if vector.len() != dims => {
                Err(Error::invalid("embedding", format!("has {} numbers; its model makes {dims}", vector.len())))
            }
            _ => Ok(()),
        }
    }

    /// Before its text, which then need not wait for it.
    fn store_embedding(&self, portable: &Portable) -> Result<()> {
        let (Some((model, _)), Some(vector)) = (self.model, &portable.embedding) else { return Ok(()) };
        let hash = text::embedding_hash(portable.text.context.as_deref(), &portable.text.content);
        embeddings::store_ahead(self.tx, model, &hash, vector)
    }

    fn count_accesses(&self, id: RecordId, portable: &Portable) -> Result<()> {
        self.tx.prepare_cached("UPDATE records SET access_count = ?, last_accessed_at = ? WHERE id = ?")?.execute((
            portable.access_count.min(MOST_ACCESSES),
            portable.last_accessed_at,
            id,
        ))?;
        access::replace(self.tx, id, &portable.accesses)
    }

    fn insert_versions(&self, id: RecordId, scope: i64, portable: &Portable, bodies: &[Option<Body>]) -> Result<()> {
        let mut insert = self.tx.prepare_cached(
            "INSERT INTO versions (record_id, version, replaced_at, reason, kind, scope_id, importance, confidence,
                 updated_at, expires_at, content_hash, embedding_hash, source, tags, context, content, body)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        )?;
        for (earlier, body) in portable.earlier.iter().zip(bodies) {
            let text = &earlier.text;
            insert.execute(params![
                id,
                earlier.version,
                earlier.replaced.at,
                earlier.replaced.reason,
                row::kind_code(text.kind),
                scope,
                text.importance,
                text.confidence,
                earlier.since,
                text.expires_at,
                row::hash_of_content(&text.content),
                text::embedding_hash(text.context.as_deref(), &text.content),
                text.source,
                row::tags_json(&row::unique_tags(&text.tags)),
                text.context,
                text.content,
                body.as_ref().map(Body::to_json),
            ])?;
        }
        if portable.earlier.len() as i64 != portable.version - 1 {
            history::mark_incomplete(self.tx, id)?;
        }
        Ok(())
    }

    fn bodies(&self, portable: &Portable) -> Result<Bodies, Unresolved> {
        let newest = self.body(portable.text.kind, portable.text.body.as_ref())?;
        let earlier = portable.earlier.iter().map(|earlier| self.body(earlier.text.kind, earlier.text.body.as_ref()));
        Ok((newest, earlier.collect::<Result<_, _>>()?))
    }

    /// A body with ids in the place of ULIDs; what refers to a memory whose time is over falls away.
    fn body(&self, kind: Kind, body: Option<&Value>) -> Result<Option<Body>, Unresolved> {
        let Some(mut body) = body.cloned() else { return Ok(None) };
        body::replace_references(kind, &mut body, |reference| {
            let Some(ulid) = reference.as_str().and_then(|text| text.strip_prefix(ULID_PREFIX)) else {
                let why = format!("{reference} means nothing here; name a memory by \"{ULID_PREFIX}\" and its ULID");
                return Err(Error::invalid("body", why).into());
            };
            match self.meant("body", ulid)? {
                Meant::Record(id) => Ok(Some(id.into())),
                Meant::Gone => Ok(None),
                Meant::Unknown => Err(Unresolved::Unknown(ulid.to_owned())),
            }
        })?;
        Ok(Some(Body::new(kind, body)?))
    }

    fn meant(&self, field: &'static str, ulid: &str) -> Result<Meant> {
        let bytes = parse_ulid(field, ulid)?;
        let mut statement = self.tx.prepare_cached("SELECT id FROM records WHERE ulid = ?")?;
        let here: Option<RecordId> = statement.query_row([bytes], |row| row.get(0)).optional()?;
        let alias = self.aliases.0.get(&bytes).copied();
        for id in here.into_iter().chain(alias.flatten()) {
            if links::is_live(self.tx, id, self.viewer, self.now)? {
                return Ok(Meant::Record(id));
            }
        }
        Ok(if alias == Some(None) { Meant::Gone } else { Meant::Unknown })
    }

    fn link(&self, link: &PortableLink) -> Result<Imported> {
        check_millis("createdAt", link.created_at)?;
        if link.from == link.to {
            return Err(Error::invalid("to", "is the memory itself"));
        }
        let mut ends = [0; 2];
        for (end, (field, ulid)) in ends.iter_mut().zip([("from", &link.from), ("to", &link.to)]) {
            match self.meant(field, ulid)? {
                Meant::Record(id) => *end = id,
                Meant::Gone => return Ok(Imported::Expired),
                Meant::Unknown => {
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
