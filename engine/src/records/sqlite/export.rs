//! Records with all that belongs to them, and the links between them, for another store. Memory holds one record at a
//! time, and a bit for each that was exported.

use std::collections::HashMap;
use std::ops::Range;

use roaring::RoaringTreemap;
use rusqlite::{OptionalExtension, Row, params_from_iter};
use serde_json::Value;
use ulid::Ulid;

use super::filter::Condition;
use super::snapshot::Snapshot;
use crate::body::{self, Body, ULID_PREFIX};
use crate::error::{Error, Result};
use crate::records::models;
use crate::records::rows::{self, select_records};
use crate::sensitive::logged_query;
use crate::types::{
    AccessKind, Accessed, Earlier, Export, Exported, Kind, Millis, ModelId, NewRecord, Portable, PortableLink,
    PortablePassage, Record, RecordId, Replaced, Version, Viewer,
};

impl Snapshot {
    /// Calls `visit` with everything that is live and in the export, in the order of [`Exported`].
    ///
    /// # Errors
    /// The first error of `visit`, which ends the export.
    pub fn export<E: From<Error>>(
        &self,
        export: &Export,
        now: Millis,
        mut visit: impl FnMut(Exported) -> Result<(), E>,
    ) -> Result<(), E> {
        let model = if export.embeddings { models::current(self.conn())? } else { None };
        let model = model.map(|(id, model)| visit(Exported::Model(model)).map(|()| id)).transpose()?;
        let Condition { sql, mut values } = Condition::new(&export.filter, None, now);
        // Few are read by their ids, all in the order that they are written in.
        let chosen = export.ids.as_ref().map(|ids| serde_json::json!(ids).to_string());
        let way = if chosen.is_some() { "NOT INDEXED" } else { "INDEXED BY records_by_ulid" };
        let is_chosen = |row: &str| match &chosen {
            Some(_) => format!("{row}.id IN (SELECT value FROM json_each(?))"),
            None => "1".to_owned(),
        };
        values.splice(0..0, chosen.clone().map(Into::into));
        let sql = format!("SELECT r.id FROM records r {way} WHERE {} AND {sql} ORDER BY r.ulid", is_chosen("r"));
        let mut exported = RoaringTreemap::new();
        self.each(&sql, params_from_iter(values), |row| {
            let id: RecordId = row.get(0).map_err(Error::from)?;
            exported.insert(id.key());
            visit(Exported::Record(Box::new(self.portable(id, model, export, now)?)))
        })?;
        let sql = format!(
            "SELECT l.from_id, l.kind, l.to_id, f.ulid, t.ulid, l.created_at
             FROM records f {way}
             CROSS JOIN links l ON l.from_id = f.id CROSS JOIN records t ON t.id = l.to_id
             WHERE {} ORDER BY f.ulid, l.kind, t.ulid",
            is_chosen("f")
        );
        self.each(&sql, params_from_iter(&chosen), |row| {
            let link = rows::to_link(row)?;
            if [link.from, link.to].iter().all(|end| exported.contains(end.key())) {
                visit(Exported::Link(to_portable_link(row)?))?;
            }
            Ok(())
        })
    }

    pub(super) fn each<E: From<Error>>(
        &self,
        sql: &str,
        values: impl rusqlite::Params,
        mut visit: impl FnMut(&Row<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut statement = self.conn().prepare(sql).map_err(Error::from)?;
        let mut rows = statement.query(values).map_err(Error::from)?;
        while let Some(row) = rows.next().map_err(Error::from)? {
            visit(row)?;
        }
        Ok(())
    }

    /// The links from the records with ids from `from` up to `to`, exclusive, whose two ends are live.
    #[cfg(feature = "postgres")]
    pub(in crate::records) fn portable_links(&self, (from, to): (i64, i64), now: Millis) -> Result<Vec<PortableLink>> {
        let mut links = Vec::new();
        let sql = "SELECT l.from_id, l.kind, l.to_id, f.ulid, t.ulid, l.created_at
             FROM links l JOIN records f ON f.id = l.from_id JOIN records t ON t.id = l.to_id
             WHERE l.from_id >= ?1 AND l.from_id < ?2 AND coalesce(f.expires_at > ?3, true) AND coalesce(t.expires_at > ?3, true)
             ORDER BY l.from_id, l.kind, l.to_id";
        self.each(sql, (from, to, now), |row| to_portable_link(row).map(|link| links.push(link)))?;
        Ok(links)
    }

    pub(in crate::records) fn portable(
        &self,
        id: RecordId,
        model: Option<ModelId>,
        export: &Export,
        now: Millis,
    ) -> Result<Portable> {
        let mut record = self.conn().prepare_cached(select_records!("WHERE r.id = ?"))?;
        let record = record.query_row([id], |row| Ok(rows::to_record(row)))??;
        let earlier = self.all_earlier(id)?;
        let (embedding, passages) = match model {
            Some(model) => self.portable_embeddings(model, id)?,
            None => (None, Vec::new()),
        };
        let mut accesses = if export.accesses { self.accesses(id)? } else { Vec::new() };
        // A shared memory was searched for by other projects, too.
        if export.filter.viewer != Viewer::OWNER {
            accesses.iter_mut().for_each(|access| access.query = None);
        }
        Ok(Portable {
            ulid: record.ulid.clone(),
            version: record.version,
            created_at: record.created_at,
            updated_at: record.updated_at,
            access_count: record.access_count,
            last_accessed_at: record.last_accessed_at,
            earlier: earlier.into_iter().map(|version| self.earlier(version, &record, now)).collect::<Result<_>>()?,
            accesses,
            embedding,
            passages,
            text: NewRecord {
                content: record.content,
                kind: record.kind,
                source: record.source,
                context: record.context,
                confidence: record.confidence,
                importance: record.importance,
                tags: record.tags,
                expires_at: record.expires_at,
                valid: record.valid,
                scope: record.scope,
                body: self.body(record.kind, record.body, now)?,
                session: record.session,
                turn: record.turn,
                place: record.place,
            },
        })
    }

    /// The embedding of a record, and those of its further passages.
    fn portable_embeddings(&self, model: ModelId, id: RecordId) -> Result<(Option<Vec<f32>>, Vec<PortablePassage>)> {
        let bytes: HashMap<u8, Range<usize>> =
            self.passages(id)?.into_iter().map(|passage| (passage.number, passage.bytes)).collect();
        let (mut own, mut passages) = (None, Vec::new());
        for (key, embedding) in self.stored_embeddings(model, &[id])? {
            match (key.number(), bytes.get(&key.number())) {
                (0, _) => own = Some(embedding),
                (_, Some(bytes)) => passages.push(PortablePassage { from: bytes.start, to: bytes.end, embedding }),
                (_, None) => {}
            }
        }
        Ok((own, passages))
    }

    fn earlier(&self, version: Version, record: &Record, now: Millis) -> Result<Earlier> {
        let Version { content, kind, source, context, confidence, importance, tags, expires_at, valid, .. } = version;
        let body = self.body(kind, version.body, now)?;
        let scope = record.scope.clone();
        // One from the table of earlier versions was replaced.
        let replaced = version.replaced.unwrap_or(Replaced { at: version.since, reason: "update".into() });
        let (session, turn, place) = (None, None, None);
        let text = NewRecord {
            content,
            kind,
            source,
            context,
            confidence,
            importance,
            tags,
            expires_at,
            valid,
            scope,
            body,
            session,
            turn,
            place,
        };
        Ok(Earlier { version: version.version, since: version.since, replaced, text })
    }

    /// The accesses of a record in the log, oldest first. Earlier versions of memorist kept queries whole.
    fn accesses(&self, id: RecordId) -> Result<Vec<Accessed>> {
        let mut statement = self.conn().prepare_cached(
            "SELECT accessed_at, access_type, relevance_score, query_text FROM access_log WHERE record_id = ? ORDER BY id",
        )?;
        let accesses = statement.query_and_then([id], |row| {
            let name = row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?;
            let kind = [AccessKind::Get, AccessKind::Search].into_iter().find(|kind| kind.as_str() == name);
            let kind = kind.ok_or_else(|| Error::unreadable(format!("unknown kind of access {name:?}")))?;
            // Damage to a query must not keep the memory from being exported.
            let query = row.get_ref(3)?.as_bytes_or_null().map_err(rusqlite::Error::from)?;
            let query = query.map(String::from_utf8_lossy).as_deref().map(logged_query);
            Ok(Accessed { at: row.get(0)?, kind, score: row.get(2)?, query })
        })?;
        accesses.collect()
    }

    /// A body with ULIDs instead of ids, and without references to records that are gone.
    pub(super) fn body(&self, kind: Kind, body: Option<Body>, now: Millis) -> Result<Option<Value>> {
        let Some(body) = body else { return Ok(None) };
        let mut value = body.into_value();
        body::replace_references(kind, &mut value, |id| self.reference(id, now))?;
        Ok(Some(value))
    }

    fn reference(&self, id: &Value, now: Millis) -> Result<Option<Value>> {
        let mut statement = self
            .conn()
            .prepare_cached("SELECT ulid FROM records WHERE id = ? AND (expires_at IS NULL OR expires_at > ?)")?;
        let ulid = statement.query_row((id.as_i64(), now), |row| row.get(0)).optional()?;
        Ok(ulid.map(|ulid| format!("{ULID_PREFIX}{}", Ulid::from_bytes(ulid)).into()))
    }
}

pub(super) fn to_portable_link(row: &Row<'_>) -> Result<PortableLink> {
    Ok(PortableLink {
        from: Ulid::from_bytes(row.get(3)?).to_string(),
        kind: rows::to_link(row)?.kind,
        to: Ulid::from_bytes(row.get(4)?).to_string(),
        created_at: row.get(5)?,
    })
}
