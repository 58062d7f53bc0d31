//! The history of a memory in two stores: compared, united and written.

use super::super::add::{claim_text, embedding_hashes};
use super::super::references::check_body;
use super::super::scopes::scope_id;
use super::super::union::{self, Union};
use super::super::{embeddings, origins, threads, tombstones, update, versions};
use super::{ImportTx, Unresolved};
use crate::body::Body;
use crate::error::{Error, Result};
use crate::passages::{Passage, further};
use crate::records::rows;
use crate::text::{self, Hash};
use crate::types::exchange::parse_ulid;
use crate::types::{Earlier, Imported, NewRecord, Place, Portable, Record, RecordId, Replaced, Version};

impl ImportTx<'_> {
    /// Compares the histories of a record and of the incoming memory. The history of a text that was read somewhere is its file's,
    /// and other systems have numbers alone: then the higher number wins.
    pub(super) fn history(&self, before: &Record, portable: &Portable) -> Result<Union, Unresolved> {
        let text = &portable.text;
        if before.place.is_some() || text.place.is_some() || self.aliases.deleted.is_some() {
            return Ok(if before.version >= portable.version { Union::Ours } else { Union::Theirs });
        }
        let (body, bodies) = self.bodies(portable)?;
        let theirs = union::versions_of(portable, body, bodies);
        let ours = (before.created_at, versions::all(self.tx, before)?);
        let purged = tombstones::versions(self.tx, &parse_ulid("ulid", &before.ulid)?)?;
        let unite = if before.ulid == portable.ulid { union::unite } else { union::unite_twins };
        Ok(unite(ours, (portable.created_at, theirs), &purged))
    }

    /// The version of an incoming history that was the newest in one of two stores until their histories were united elsewhere, if
    /// that is news here.
    pub(super) fn displaced(&self, before: &Record, portable: &Portable) -> Result<Option<i64>> {
        let is_displaced = |replaced: &Replaced| replaced.reason == union::ELSEWHERE;
        let mut all = portable.earlier.iter().rev().filter(|earlier| is_displaced(&earlier.replaced));
        // Ours, or the last one: below a later version, somebody has looked.
        let own = all.clone().find(|earlier| earlier.text.content == before.content);
        let last = portable.earlier.last().map(|earlier| earlier.version);
        let Some(theirs) = own.or_else(|| all.next().filter(|earlier| Some(earlier.version) == last)) else {
            return Ok(None);
        };
        if theirs.text.content == portable.text.content {
            // Somebody has taken it back.
            return Ok(None);
        }
        let ours = versions::all(self.tx, before)?;
        let is_known = ours.iter().any(|version| {
            version.content == theirs.text.content && version.replaced.as_ref().is_some_and(is_displaced)
        });
        Ok((!is_known).then_some(theirs.version))
    }

    /// Writes the history that two stores have together. The embedding of the incoming memory is that of its newest version.
    pub(super) fn unite(
        &mut self,
        before: &Record,
        portable: &Portable,
        mut versions: Vec<Version>,
        is_ours: bool,
        other: Option<i64>,
    ) -> Result<Imported> {
        let id = before.id;
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
            created_at: before.created_at.min(portable.created_at),
            updated_at: newest.since,
            earlier: earlier.collect(),
            embedding: portable.embedding.clone().filter(|_| !is_ours),
            passages: if is_ours { Vec::new() } else { portable.passages.clone() },
            ..portable.clone()
        };
        self.check_vectors(&united)?;
        if !is_ours {
            check_body(self.tx, newest.body.as_ref(), &before.scope, Some(id), &[], self.now)?;
        }
        let scope = self.scope_id(&before.scope)?;
        self.replace(before.clone(), &united, newest.body, &rows::hash_of_content(&newest.content))?;
        let bodies: Vec<Option<Body>> = versions.into_iter().map(|version| version.body).collect();
        self.insert_versions(id, scope, &united, &bodies)?;
        Ok(other.map_or(Imported::Replaced, |version| Imported::United { id, version }))
    }

    /// Replaces all that there is of a record by a newer version and those before it.
    pub(super) fn replace(
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

    pub(super) fn check_vectors(&self, portable: &Portable) -> Result<()> {
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
    pub(super) fn store_embedding(&self, portable: &Portable) -> Result<()> {
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

    pub(super) fn insert_versions(
        &self,
        id: RecordId,
        scope: i64,
        portable: &Portable,
        bodies: &[Option<Body>],
    ) -> Result<()> {
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
}
