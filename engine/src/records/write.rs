//! Adding and deleting records.

use std::borrow::Borrow;

use rusqlite::{OptionalExtension, Transaction, params};

use super::log::{self, Change};
use super::row;
use super::{Records, embeddings};
use crate::body::Body;
use crate::error::{Error, Result};
use crate::text::{self, Hash};
use crate::types::{AddOutcome, EmbeddingState, Kind, Millis, NewRecord, Record, RecordId, Scope, Viewer};

impl Records {
    /// Saves a record; it is on the disk when this returns. A text that a live record of the same scope already has is
    /// not saved again: the outcome names that record, whose `updated_at` becomes `now`.
    pub fn add(&self, new: &NewRecord, now: Millis) -> Result<AddOutcome> {
        new.validate()?;
        self.write(|tx| insert(tx, new, now))
    }

    /// Saves many records in one transaction. The outcomes are in the order of `news`; an invalid one does not stop the
    /// others, a failure of the database stops them all.
    pub fn add_batch(&self, news: &[impl Borrow<NewRecord>], now: Millis) -> Result<Vec<Result<AddOutcome>>> {
        let valid: Vec<Result<()>> = news.iter().map(|new| new.borrow().validate()).collect();
        self.write(|tx| {
            news.iter()
                .zip(valid)
                .map(|(new, valid)| match valid {
                    Ok(()) => insert(tx, new.borrow(), now).map(Ok),
                    Err(error) => Ok(Err(error)),
                })
                .collect()
        })
    }

    /// Deletes a record for good: its versions, its access rows, and its embeddings that no other record uses. Returns
    /// whether there was one that `viewer` sees (an expired one counts).
    ///
    /// # Errors
    /// [`Error::Invalid`] when `viewer` sees it and may not change it.
    pub fn delete(&self, id: RecordId, viewer: &Viewer) -> Result<bool> {
        self.write(|tx| Ok(row::may_change(tx, id, viewer)? && remove(tx, id)?))
    }
}

/// A record with the same text in the same scope, of a kind that does not repeat.
pub(super) struct Twin {
    pub(super) id: RecordId,
    pub(super) live: bool,
    embedding: EmbeddingState,
}

pub(super) fn twin(tx: &Transaction<'_>, hash: &Hash, scope: i64, now: Millis) -> Result<Option<Twin>> {
    let mut statement = tx.prepare_cached(
        "SELECT id, kind, expires_at IS NULL OR expires_at > ?3, embedding_id
         FROM records WHERE content_hash = ?1 AND scope_id = ?2",
    )?;
    let mut rows = statement.query((hash, scope, now))?;
    while let Some(row) = rows.next()? {
        if !row::to_kind(row, 1)?.repeats() {
            return Ok(Some(Twin { id: row.get(0)?, live: row.get(2)?, embedding: state(row.get(3)?) }));
        }
    }
    Ok(None)
}

/// Makes room for the text of `record` in its scope: an expired record that has it goes.
///
/// # Errors
/// [`Error::Duplicate`] when a live one has it.
pub(super) fn take_place(tx: &Transaction<'_>, hash: &Hash, record: &Record, now: Millis) -> Result<()> {
    let scope = row::scope_id(tx, &record.scope)?;
    match twin(tx, hash, scope, now)? {
        Some(twin) if twin.id != record.id && twin.live => Err(Error::Duplicate(twin.id)),
        Some(twin) if twin.id != record.id => remove(tx, twin.id).map(drop),
        _ => Ok(()),
    }
}

/// Checks a body against the records around it: what it refers to are contacts that its own scope sees, and a scope has
/// one profile. `own` is the record that has the body already; what it refers to as `known` is let be.
pub(super) fn check_body(
    tx: &Transaction<'_>,
    body: Option<&Body>,
    scope: &Scope,
    own: Option<RecordId>,
    known: &[RecordId],
    now: Millis,
) -> Result<()> {
    let Some(body) = body else { return Ok(()) };
    let viewer = Viewer::of(scope);
    for (field, id) in body.references().into_iter().filter(|(_, id)| !known.contains(id)) {
        let is_contact = row::live(tx, id, &viewer, now)?.is_some_and(|record| record.kind == Kind::Contact);
        if !is_contact {
            return Err(Error::invalid(
                field,
                format!("{id} is not a contact that this memory's project and agent see"),
            ));
        }
    }
    if body.kind() == Kind::Profile {
        let mut other = tx.prepare_cached(
            "SELECT id FROM records INDEXED BY records_by_scope WHERE scope_id = ?1 AND kind = ?2 AND body IS NOT NULL
             AND id IS NOT ?3 AND (expires_at IS NULL OR expires_at > ?4)",
        )?;
        let key = (row::scope_id(tx, scope)?, row::kind_code(Kind::Profile), own, now);
        if let Some(id) = other.query_row(key, |row| row.get::<_, RecordId>(0)).optional()? {
            return Err(Error::invalid("entryType", format!("its scope has a profile already: {id}; update that one")));
        }
    }
    Ok(())
}

fn state(embedding_id: Option<i64>) -> EmbeddingState {
    if embedding_id.is_some() { EmbeddingState::Ready } else { EmbeddingState::Pending }
}

fn insert(tx: &Transaction<'_>, new: &NewRecord, now: Millis) -> Result<AddOutcome> {
    let scope = row::scope_id(tx, &new.scope)?;
    let body = new.checked_body()?;
    check_body(tx, body.as_ref(), &new.scope, None, &[], now)?;
    let content_hash = row::hash_of_content(&new.content);
    if !new.kind.repeats()
        && let Some(twin) = twin(tx, &content_hash, scope, now)?
    {
        if twin.live {
            tx.prepare_cached("UPDATE records SET updated_at = ? WHERE id = ?")?.execute((now, twin.id))?;
            return Ok(AddOutcome { id: twin.id, created: false, embedding: twin.embedding });
        }
        remove(tx, twin.id)?;
    }
    let ulid = row::new_ulid(now);
    let place = Place { ulid, scope, version: 1, created_at: now, updated_at: now };
    let (id, embedding) = insert_row(tx, new, body.as_ref(), &content_hash, &place)?;
    Ok(AddOutcome { id, created: true, embedding })
}

/// What a row of `records` holds that a [`NewRecord`] does not say.
pub(super) struct Place {
    pub(super) ulid: [u8; 16],
    pub(super) scope: i64,
    pub(super) version: i64,
    pub(super) created_at: Millis,
    pub(super) updated_at: Millis,
}

/// Writes a record that may be there, and tells the log.
pub(super) fn insert_row(
    tx: &Transaction<'_>,
    new: &NewRecord,
    body: Option<&Body>,
    content_hash: &Hash,
    place: &Place,
) -> Result<(RecordId, EmbeddingState)> {
    let embedding_hash = match new.context.as_deref() {
        None => *content_hash,
        context => text::embedding_hash(context, &new.content),
    };
    let embedding_id = embeddings::find(tx, &embedding_hash)?;
    tx.prepare_cached(
        "INSERT INTO records (ulid, version, kind, scope_id, importance, confidence, created_at, updated_at, expires_at,
             content_hash, embedding_hash, embedding_id, source, tags, context, content, body)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )?
    .execute(params![
        place.ulid,
        place.version,
        row::kind_code(new.kind),
        place.scope,
        new.importance,
        new.confidence,
        place.created_at,
        place.updated_at,
        new.expires_at,
        content_hash,
        embedding_hash,
        embedding_id,
        new.source,
        row::tags_json(&row::unique_tags(&new.tags)),
        new.context,
        new.content,
        body.map(Body::to_json),
    ])?;
    let id = tx.last_insert_rowid();
    log::append(tx, id, &Change::Put { version: place.version, new_text: true })?;
    Ok((id, state(embedding_id)))
}

/// Removes a record with all that belongs to it, and tells the log. Returns whether there was one.
pub(super) fn remove(tx: &Transaction<'_>, id: RecordId) -> Result<bool> {
    let mut statement = tx.prepare_cached("SELECT ulid FROM records WHERE id = ?")?;
    let Some(ulid) = statement.query_row([id], |row| row.get(0)).optional()? else { return Ok(false) };
    let mut statement = tx.prepare_cached(
        "SELECT embedding_hash FROM records WHERE id = ?1
         UNION SELECT embedding_hash FROM versions WHERE record_id = ?1",
    )?;
    let hashes = statement.query_map([id], |row| row.get(0))?.collect::<rusqlite::Result<Vec<Hash>>>()?;
    tx.prepare_cached("DELETE FROM records WHERE id = ?")?.execute([id])?;
    for hash in hashes {
        embeddings::remove_unused(tx, &hash)?;
    }
    log::append(tx, id, &Change::Delete { ulid })?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{NOW, Store, new};
    use super::*;
    use crate::records::LogEntry;
    use crate::types::RecordUpdate;

    fn log(store: &Store, after: u64) -> Vec<(RecordId, Change)> {
        store
            .view()
            .tail(after, usize::MAX)
            .unwrap()
            .into_iter()
            .map(|LogEntry { record_id, change, .. }| (record_id, change))
            .collect()
    }

    fn content(text: &str) -> RecordUpdate {
        RecordUpdate { content: Some(text.into()), ..Default::default() }
    }

    /// R1.
    #[test]
    fn a_record_comes_back_as_it_was_given() {
        let store = Store::new();
        let given = NewRecord {
            content: "caf\u{e9}, \"quoted\"\n\u{1F600}".into(),
            kind: Kind::Chunk,
            source: "a file".into(),
            context: Some("around it".into()),
            confidence: 0.25,
            importance: 10,
            tags: vec!["z".into(), "a \"b\"".into(), "z".into(), "日本".into()],
            expires_at: Some(NOW + 1_000),
            scope: Scope { agent: Some("agent".into()), project: Some("project".into()) },
            body: None,
        };
        let outcome = store.add(&given, NOW).unwrap();
        assert!(outcome.created);
        let record = store.get(outcome.id, &Viewer::OWNER, NOW).unwrap().unwrap();
        let ulid = ulid::Ulid::from_string(&record.ulid).unwrap();
        assert_eq!(ulid.timestamp_ms(), NOW.unsigned_abs());
        let expected = Record {
            id: outcome.id,
            ulid: record.ulid.clone(),
            version: 1,
            content_hash: text::content_hash(&given.content),
            content: given.content,
            kind: given.kind,
            source: given.source,
            context: given.context,
            confidence: given.confidence,
            importance: given.importance,
            tags: vec!["z".into(), "a \"b\"".into(), "日本".into()],
            scope: given.scope,
            created_at: NOW,
            updated_at: NOW,
            expires_at: given.expires_at,
            access_count: 0,
            last_accessed_at: None,
            body: None,
        };
        assert_eq!(record, expected);
    }

    #[test]
    fn invalid_input_stores_nothing() {
        let store = Store::new();
        let bad = [
            (new(" \n"), "content"),
            (new("a\0b"), "content"),
            (NewRecord { importance: 11, ..new("x") }, "importance"),
            (NewRecord { confidence: f64::NAN, ..new("x") }, "confidence"),
            (NewRecord { expires_at: Some(1_700_000_000), ..new("x") }, "expiresAt"),
            (NewRecord { tags: vec![String::new()], ..new("x") }, "tags"),
        ];
        for (record, field) in &bad {
            let error = store.add(record, NOW).unwrap_err();
            assert!(error.to_string().starts_with(field), "{error}");
        }
        let id = store.add(&new("sound"), NOW).unwrap().id;
        let update = RecordUpdate { importance: Some(0), ..Default::default() };
        assert!(matches!(store.update(id, &update, &Viewer::OWNER, NOW), Err(Error::Invalid { .. })));
        assert!(matches!(store.update(id, &RecordUpdate::default(), &Viewer::OWNER, NOW), Err(Error::Invalid { .. })));
        assert_eq!(store.head().unwrap(), 1);
        assert_eq!(store.view().counts(NOW).unwrap().live, 1);
    }

    /// D1, D2.
    #[test]
    fn a_text_is_saved_once_per_scope() {
        let store = Store::new();
        let first = store.add(&new("caf\u{e9}"), NOW).unwrap();
        let head = store.head().unwrap();
        let again = store.add(&NewRecord { importance: 9, ..new("cafe\u{301}") }, NOW + 7).unwrap();
        assert_eq!((again.id, again.created), (first.id, false));
        let record = store.get(first.id, &Viewer::OWNER, NOW).unwrap().unwrap();
        assert_eq!((record.updated_at, record.created_at, record.importance), (NOW + 7, NOW, 5));
        assert_eq!(store.head().unwrap(), head, "the indexes need not hear of it");

        let scopes = [(None, Some("p")), (Some("p"), None), (Some("a"), Some("p")), (Some("a"), Some("q"))];
        let mut ids = vec![first.id];
        for _ in 0..2 {
            for (agent, project) in scopes {
                let scope = Scope { agent: agent.map(Into::into), project: project.map(Into::into) };
                ids.push(store.add(&NewRecord { scope, ..new("caf\u{e9}") }, NOW).unwrap().id);
            }
        }
        assert_eq!(ids, [1, 2, 3, 4, 5, 2, 3, 4, 5]);
    }

    #[test]
    fn the_place_of_an_expired_twin_is_taken() {
        let store = Store::new();
        let brief = NewRecord { expires_at: Some(NOW + 10), ..new("brief") };
        let old = store.add(&brief, NOW).unwrap().id;
        assert!(!store.add(&new("brief"), NOW + 9).unwrap().created);
        let fresh = store.add(&new("brief"), NOW + 10).unwrap();
        assert!(fresh.created && fresh.id != old, "{fresh:?}");
        assert_eq!(store.get(old, &Viewer::OWNER, NOW).unwrap(), None);
        assert!(matches!(log(&store, 1)[..], [(gone, Change::Delete { .. }), (new, Change::Put { .. })]
            if gone == old && new == fresh.id));

        let expired = store.add(&NewRecord { expires_at: Some(NOW + 20), ..new("other") }, NOW + 10).unwrap().id;
        store.update(fresh.id, &content("other"), &Viewer::OWNER, NOW + 20).unwrap();
        assert_eq!(store.number(&format!("SELECT count(*) FROM records WHERE id = {expired}")), 0);
        assert_eq!(store.integrity().unwrap(), Vec::<String>::new());
    }

    #[test]
    fn a_batch_is_one_transaction_that_invalid_ones_do_not_stop() {
        let store = Store::new();
        let batch = [new("one"), new(""), new("two"), new("one")];
        let outcomes = store.add_batch(&batch, NOW).unwrap();
        let ids: Vec<_> = outcomes.iter().map(|o| o.as_ref().ok().map(|o| (o.id, o.created))).collect();
        assert_eq!(ids, [Some((1, true)), None, Some((2, true)), Some((1, false))]);
        assert!(matches!(outcomes[1], Err(Error::Invalid { field: "content", .. })));

        store.sql(
            "CREATE TRIGGER refuse BEFORE INSERT ON records WHEN new.content = 'no'
                   BEGIN SELECT raise(ABORT, 'refused'); END",
        );
        assert!(store.add_batch(&[new("three"), new("no"), new("four")], NOW).is_err());
        assert_eq!(store.head().unwrap(), 2, "a failure of the database stops them all");
    }

    #[test]
    fn an_update_keeps_the_version_before() {
        let store = Store::new();
        let id = store.add(&NewRecord { tags: vec!["old".into(), "both".into()], ..new("first") }, NOW).unwrap().id;
        let update = RecordUpdate {
            content: Some("second".into()),
            kind: Some(Kind::Task),
            context: Some(Some("why".into())),
            tags: Some(vec!["both".into(), "new".into(), "new".into()]),
            ..Default::default()
        };
        let updated = store.update(id, &update, &Viewer::OWNER, NOW + 1).unwrap();
        assert_eq!(store.get(id, &Viewer::OWNER, NOW + 1).unwrap().unwrap(), updated);
        assert_eq!(updated.content_hash, text::content_hash("second"));
        assert_eq!((updated.version, updated.updated_at, updated.created_at), (2, NOW + 1, NOW));
        assert_eq!(updated.tags, ["both", "new"]);
        let before = format!(
            "SELECT count(*) FROM versions WHERE record_id = {id} AND version = 1 AND content = 'first'
             AND kind = 0 AND context IS NULL AND tags = '[\"old\",\"both\"]' AND updated_at = {NOW}
             AND replaced_at = {NOW} + 1 AND reason = 'update'"
        );
        assert_eq!(store.number(&before), 1);
        assert_eq!(log(&store, 1), [(id, Change::Put { version: 2, new_text: true })]);

        let emptied = RecordUpdate { context: Some(None), tags: Some(vec![]), ..Default::default() };
        let emptied = store.update(id, &emptied, &Viewer::OWNER, NOW + 2).unwrap();
        assert_eq!((emptied.context, emptied.tags), (None, vec![]));
        assert_eq!(store.number("SELECT count(*) FROM record_tags"), 0);
        let louder = store
            .update(id, &RecordUpdate { importance: Some(9), ..Default::default() }, &Viewer::OWNER, NOW + 3)
            .unwrap();
        assert_eq!(log(&store, 3), [(id, Change::Put { version: 4, new_text: false })]);
        assert_eq!(
            store.update(id, &content("second"), &Viewer::OWNER, NOW + 4).unwrap(),
            louder,
            "no change, no version"
        );
        assert_eq!(store.head().unwrap(), 4);
        assert_eq!(store.integrity().unwrap(), Vec::<String>::new());
    }

    #[test]
    fn an_update_refuses_what_it_must() {
        let store = Store::new();
        let one = store.add(&new("one"), NOW).unwrap().id;
        let two = store.add(&NewRecord { expires_at: Some(NOW + 10), ..new("two") }, NOW).unwrap().id;
        assert!(
            matches!(store.update(one, &content("two"), &Viewer::OWNER, NOW), Err(Error::Duplicate(id)) if id == two)
        );
        for absent in [0, -1, 99, i64::MAX] {
            assert!(
                matches!(store.update(absent, &content("x"), &Viewer::OWNER, NOW), Err(Error::NotFound(id)) if id == absent)
            );
        }
        assert!(
            matches!(store.update(two, &content("x"), &Viewer::OWNER, NOW + 10), Err(Error::NotFound(_))),
            "expired"
        );
        let composed = store.update(one, &content("one\u{301}"), &Viewer::OWNER, NOW).unwrap();
        let same_hash = store.update(one, &content("on\u{e9}"), &Viewer::OWNER, NOW).unwrap();
        assert_eq!(composed.content_hash, same_hash.content_hash);
        assert_eq!(log(&store, 3), [(one, Change::Put { version: 3, new_text: false })]);
    }

    #[test]
    fn delete_leaves_nothing() {
        let store = Store::new();
        let model = store.model(&super::super::testing::model(1)).unwrap();
        let id = store.add(&NewRecord { tags: vec!["t".into()], ..new("secret") }, NOW).unwrap().id;
        let ulid =
            ulid::Ulid::from_string(&store.get(id, &Viewer::OWNER, NOW).unwrap().unwrap().ulid).unwrap().to_bytes();
        for text in ["secret two", "secret three"] {
            let hash = store.pending(model, 1, NOW).unwrap()[0].hash;
            store.store_embeddings(model, &[(hash, vec![1.0])]).unwrap();
            store.update(id, &content(text), &Viewer::OWNER, NOW).unwrap();
        }
        let access = crate::records::Access {
            id,
            kind: crate::records::AccessKind::Get,
            score: None,
            query: Some("secret"),
            counts: true,
        };
        store.record_access(&[access], NOW).unwrap();
        assert_eq!(store.view().counts(NOW).unwrap().embeddings, 2);
        let head = store.head().unwrap();
        assert!(store.delete(id, &Viewer::OWNER).unwrap());
        assert_eq!(log(&store, head), [(id, Change::Delete { ulid })]);
        for table in ["records", "versions", "embeddings", "access_log", "record_tags"] {
            assert_eq!(store.number(&format!("SELECT count(*) FROM {table}")), 0, "{table}");
        }
        for absent in [id, -1, 0, i64::MIN] {
            assert!(!store.delete(absent, &Viewer::OWNER).unwrap());
        }
        assert_eq!(store.head().unwrap(), head + 1, "nothing deleted, nothing logged");
        assert!(store.add(&new("another"), NOW).unwrap().id > id, "ids are not used twice");
    }

    #[test]
    fn an_embedding_that_another_record_uses_stays() {
        let store = Store::new();
        let model = store.model(&super::super::testing::model(1)).unwrap();
        let one = store.add(&new("shared"), NOW).unwrap().id;
        let scope = Scope { agent: None, project: Some("p".into()) };
        let two = store.add(&NewRecord { scope, ..new("shared") }, NOW).unwrap().id;
        let hash = store.pending(model, 1, NOW).unwrap()[0].hash;
        store.store_embeddings(model, &[(hash, vec![1.0])]).unwrap();
        store.delete(one, &Viewer::OWNER).unwrap();
        assert_eq!(store.view().embeddings(model, &[two]).unwrap(), [(two, vec![1.0])]);
        store.delete(two, &Viewer::OWNER).unwrap();
        assert_eq!(store.number("SELECT count(*) FROM embeddings"), 0);
    }

    #[test]
    fn a_record_and_its_log_entry_are_there_together_or_not_at_all() {
        let store = Store::new();
        let id = store.add(&new("kept"), NOW).unwrap().id;
        store.sql("CREATE TRIGGER refuse BEFORE INSERT ON sync_log BEGIN SELECT raise(ABORT, 'full'); END");
        let before = store.get(id, &Viewer::OWNER, NOW).unwrap();
        assert!(store.add(&new("lost"), NOW).is_err());
        assert!(store.update(id, &content("changed"), &Viewer::OWNER, NOW).is_err());
        assert!(store.delete(id, &Viewer::OWNER).is_err());
        assert_eq!(store.get(id, &Viewer::OWNER, NOW).unwrap(), before);
        assert_eq!(store.view().counts(NOW).unwrap().live, 1);
        assert_eq!(store.number("SELECT count(*) FROM versions"), 0);
        store.sql("DROP TRIGGER refuse");
        assert!(store.add(&new("lost"), NOW).unwrap().created, "the store works on");
    }
}
