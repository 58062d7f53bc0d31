//! Changing the store's model: the embeddings of the next one are gathered beside those in use, and take their place in
//! one transaction. Until then the model in use serves as ever, new texts included.

use roaring::RoaringTreemap;
use rusqlite::{Connection, Transaction};

use super::embeddings::{self, ModelId, Pending};
use super::log::{self, Change};
use super::{Records, Snapshot};
use crate::error::Result;
use crate::text::Hash;
use crate::types::{Millis, Model, RecordId};

/// So many texts may lack their vector when the model is changed: those written in the last moments wait for it as
/// every new text does. Writers that never rest must not keep the change from happening.
pub const FEW: usize = 32;

/// A change of the model that is not finished.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NextModel {
    /// What the store is changing to.
    pub model: Model,
    /// Different texts of live records.
    pub texts: u64,
    /// Those of them that it has not embedded yet.
    pub missing: u64,
}

impl Records {
    /// Begins the change to `model`, or goes on with it; embeddings gathered for a third one are dropped. `None` when
    /// there is nothing to change: the store's model is this one, or it has none.
    pub fn begin_next_model(&self, model: &Model) -> Result<Option<ModelId>> {
        self.write(|tx| {
            let Some((current, stored)) = embeddings::current(tx)? else { return Ok(None) };
            let next = if stored.is_comparable_to(model) { None } else { Some(embeddings::row_of(tx, model)?) };
            match next {
                Some(next) => tx.execute("INSERT OR REPLACE INTO meta VALUES ('next_model', ?)", [next])?,
                None => tx.execute("DELETE FROM meta WHERE key = 'next_model'", [])?,
            };
            drop_others(tx, current, next.unwrap_or(current))?;
            Ok(next)
        })
    }

    /// The first texts of live records with ids above `after` that the next model has not embedded, at most `limit`, each
    /// once. Empty when the change is done.
    ///
    /// # Errors
    /// [`Error::ModelMismatch`](crate::Error::ModelMismatch) when the change to another model has begun meanwhile.
    pub fn missing(&self, next: ModelId, after: RecordId, limit: usize, now: Millis) -> Result<Vec<Pending>> {
        let reader = self.reader()?;
        if is_next(&reader, next)? { missing(&reader, next, after, limit, now) } else { Ok(Vec::new()) }
    }

    /// Stores vectors of the next model, each under the hash that [`Records::missing`] gave for its text. One whose text is
    /// gone is dropped, and so are all when the change is done.
    ///
    /// # Errors
    /// [`Error::Embedding`](crate::Error::Embedding) as [`Records::store_embeddings`];
    /// [`Error::ModelMismatch`](crate::Error::ModelMismatch) when the change to another model has begun meanwhile.
    pub fn store_next(&self, next: ModelId, vectors: &[(Hash, Vec<f32>)]) -> Result<()> {
        self.write(|tx| {
            if !is_next(tx, next)? {
                return Ok(());
            }
            let dims = embeddings::named_by(tx, "next_model")?.map_or(0, |(_, model)| model.dims);
            let mut statement = tx.prepare_cached(
                "INSERT INTO embeddings (model_id, hash, vector) SELECT ?1, ?2, ?3
                 WHERE EXISTS (SELECT 1 FROM records WHERE embedding_hash = ?2)
                     OR EXISTS (SELECT 1 FROM versions WHERE embedding_hash = ?2)
                 ON CONFLICT DO NOTHING",
            )?;
            for (hash, vector) in vectors {
                embeddings::check_vector(vector, dims)?;
                statement.execute((next, hash, embeddings::to_bytes(vector)))?;
            }
            Ok(())
        })
    }

    /// Makes the next model the store's, and drops the embeddings of the one before. Changes nothing and returns false
    /// while more than [`FEW`] texts of live records lack their vector.
    ///
    /// `indexed` are the records that the vector index of the next model has; [`Change::Embed`] is logged for those that
    /// have their vector and are not among them. Without such an index nothing is logged.
    ///
    /// # Errors
    /// [`Error::ModelMismatch`](crate::Error::ModelMismatch) when the change to another model has begun meanwhile.
    pub fn change_model(&self, next: ModelId, indexed: Option<&RoaringTreemap>, now: Millis) -> Result<bool> {
        self.write(|tx| {
            if !is_next(tx, next)? {
                return Ok(true);
            }
            if missing(tx, next, 0, FEW + 1, now)?.len() > FEW {
                return Ok(false);
            }
            tx.execute("UPDATE meta SET value = ? WHERE key = 'model'", [next])?;
            tx.execute("DELETE FROM meta WHERE key = 'next_model'", [])?;
            tx.execute(
                "UPDATE records SET embedding_id =
                     (SELECT e.id FROM embeddings e WHERE e.model_id = ? AND e.hash = records.embedding_hash)",
                [next],
            )?;
            drop_others(tx, next, next)?;
            if let Some(indexed) = indexed {
                log_all_but(tx, indexed, next)?;
            }
            Ok(true)
        })
    }
}

impl Snapshot {
    /// The change of the model that is not finished, where there is one. Looks at every record then.
    pub fn next_model(&self, now: Millis) -> Result<Option<NextModel>> {
        let Some((next, model)) = embeddings::named_by(self.conn(), "next_model")? else { return Ok(None) };
        let (texts, missing): (i64, i64) = self
            .conn()
            .prepare_cached(
                "SELECT count(*), count(*) FILTER (WHERE NOT EXISTS
                     (SELECT 1 FROM embeddings e WHERE e.model_id = ?1 AND e.hash = embedding_hash))
                 FROM (SELECT DISTINCT embedding_hash FROM records WHERE expires_at IS NULL OR expires_at > ?2)",
            )?
            .query_row((next, now), |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(Some(NextModel { model, texts: texts.unsigned_abs(), missing: missing.unsigned_abs() }))
    }
}

/// Whether the store is changing to this model; false when it has it already.
fn is_next(conn: &Connection, model: ModelId) -> Result<bool> {
    if embeddings::named_by(conn, "next_model")?.is_some_and(|(next, _)| next == model) {
        return Ok(true);
    }
    match embeddings::current(conn)? {
        Some((current, _)) if current == model => Ok(false),
        stored => {
            let way_out = "The change to a third model has begun meanwhile: let it finish, or begin this one again.";
            Err(embeddings::not_of_the_store(conn, stored, model, way_out)?)
        }
    }
}

fn missing(conn: &Connection, next: ModelId, after: RecordId, limit: usize, now: Millis) -> Result<Vec<Pending>> {
    let mut statement = conn.prepare_cached(
        "SELECT id, embedding_hash, context, content FROM records r
         WHERE id > ? AND (expires_at IS NULL OR expires_at > ?)
             AND NOT EXISTS (SELECT 1 FROM embeddings e WHERE e.model_id = ? AND e.hash = r.embedding_hash)
         ORDER BY id",
    )?;
    embeddings::each_text_once(statement.query((after, now, next))?, limit)
}

/// Drops the embeddings of all models but these two.
fn drop_others(tx: &Transaction<'_>, current: ModelId, next: ModelId) -> Result<()> {
    let sql = "DELETE FROM embeddings WHERE model_id IN (SELECT id FROM models WHERE id NOT IN (?, ?))";
    tx.execute(sql, (current, next))?;
    Ok(())
}

/// Logs [`Change::Embed`] for the records that have their vector and are not `indexed`.
fn log_all_but(tx: &Transaction<'_>, indexed: &RoaringTreemap, model: ModelId) -> Result<()> {
    let mut statement = tx.prepare("SELECT id FROM records WHERE embedding_id IS NOT NULL ORDER BY id")?;
    for id in statement.query_map([], |row| row.get::<_, RecordId>(0))? {
        let id = id?;
        if !indexed.contains(id.unsigned_abs()) {
            log::append(tx, id, &Change::Embed { model })?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{NOW, Store, model, new};
    use super::*;
    use crate::error::Error;
    use crate::records::LogEntry;
    use crate::types::{EmbeddingState, NewRecord, RecordUpdate, Scope, Viewer};

    const ALL: usize = usize::MAX;

    /// A store of these texts, embedded by a model of two dimensions: its row.
    fn embedded(texts: &[&str]) -> (Store, ModelId) {
        let store = Store::new();
        let old = store.model(&model(2)).unwrap();
        for text in texts {
            store.add(&new(text), NOW).unwrap();
        }
        let vectors: Vec<_> = store.pending(old, ALL, NOW).unwrap().iter().map(|p| (p.hash, vec![0.6, 0.8])).collect();
        store.store_embeddings(old, &vectors).unwrap();
        (store, old)
    }

    /// A vector that tells its text: all numbers its length.
    fn vectors(texts: &[Pending]) -> Vec<(Hash, Vec<f32>)> {
        texts.iter().map(|text| (text.hash, vec![text.text.len() as f32; 3])).collect()
    }

    fn texts(missing: &[Pending]) -> Vec<&str> {
        missing.iter().map(|missing| missing.text.as_str()).collect()
    }

    fn embed(store: &Store, next: ModelId, limit: usize) {
        store.store_next(next, &vectors(&store.missing(next, 0, limit, NOW).unwrap())).unwrap();
    }

    fn content(text: &str) -> RecordUpdate {
        RecordUpdate { content: Some(text.into()), ..RecordUpdate::default() }
    }

    fn assert_sound(store: &Store) {
        assert_eq!(store.integrity().unwrap(), Vec::<String>::new());
    }

    #[test]
    fn the_old_model_serves_until_the_change() {
        let (store, old) = embedded(&["one", "three"]);
        let next = store.begin_next_model(&model(3)).unwrap().unwrap();
        assert_ne!(next, old);
        assert_eq!(texts(&store.missing(next, 0, ALL, NOW).unwrap()), ["one", "three"]);
        assert_eq!(texts(&store.missing(next, 0, 1, NOW).unwrap()), ["one"]);
        assert_eq!(texts(&store.missing(next, 1, ALL, NOW).unwrap()), ["three"]);
        embed(&store, next, ALL);
        assert_eq!(store.missing(next, 0, ALL, NOW).unwrap(), []);
        assert_eq!(store.current_model().unwrap(), Some((old, model(2))));
        assert_eq!(store.view().embeddings(old, &[1, 2]).unwrap(), [(1, vec![0.6, 0.8]), (2, vec![0.6, 0.8])]);
        assert_sound(&store);

        assert!(store.change_model(next, None, NOW).unwrap());
        assert_eq!(store.current_model().unwrap(), Some((next, model(3))));
        let view = store.view();
        assert_eq!(view.embeddings(next, &[1, 2]).unwrap(), [(1, vec![3.0; 3]), (2, vec![5.0; 3])]);
        assert_eq!(view.embeddings(old, &[1, 2]).unwrap(), []);
        assert_eq!((view.next_model(NOW).unwrap(), view.counts(NOW).unwrap().embeddings), (None, 2));
        assert!(matches!(view.require_model(old), Err(Error::ModelMismatch { .. })));
        assert!(matches!(store.store_embeddings(old, &[]), Err(Error::ModelMismatch { .. })), "too late");
        assert_sound(&store);
    }

    #[test]
    fn what_is_written_during_the_change_is_told_apart() {
        let (store, old) = embedded(&["changed", "deleted", "kept", "short lived"]);
        let next = store.begin_next_model(&model(3)).unwrap().unwrap();
        embed(&store, next, ALL);
        store.update(1, &content("changed since"), &Viewer::OWNER, NOW).unwrap();
        assert!(store.delete(2, &Viewer::OWNER).unwrap());
        let twin = NewRecord { scope: Scope { agent: None, project: Some("p".into()) }, ..new("kept") };
        assert_eq!(store.add(&twin, NOW).unwrap().embedding, EmbeddingState::Ready, "by the model in use");
        assert_eq!(store.add(&new("added"), NOW).unwrap().embedding, EmbeddingState::Pending);
        let brief = RecordUpdate { expires_at: Some(Some(NOW + 1)), ..content("expired") };
        store.update(4, &brief, &Viewer::OWNER, NOW).unwrap();

        let missing = store.missing(next, 0, ALL, NOW + 1).unwrap();
        assert_eq!(texts(&missing), ["changed since", "added"]);
        store.delete(6, &Viewer::OWNER).unwrap();
        store.store_next(next, &vectors(&missing)).unwrap();
        assert_eq!(store.view().embeddings(next, &[1, 3, 5]).unwrap().len(), 3);
        assert_eq!(
            store.number("SELECT count(*) FROM embeddings WHERE model_id = 2"),
            4,
            "none of a text that is gone"
        );
        assert_sound(&store);
        assert!(store.change_model(next, None, NOW + 1).unwrap());
        assert_eq!(store.view().embeddings(next, &[1, 2, 3, 4, 5, 6]).unwrap().len(), 3);
        assert_eq!(store.embedding_state(4).unwrap(), EmbeddingState::Pending, "expired: nobody waits for it");
        assert_eq!(store.update(1, &content("changed"), &Viewer::OWNER, NOW + 2).unwrap().version, 3);
        assert_eq!(store.view().embeddings(next, &[1]).unwrap(), [(1, vec![7.0; 3])], "of the earlier version");
        assert_eq!(store.view().embeddings(old, &[1]).unwrap(), []);
        assert_sound(&store);
    }

    #[test]
    fn more_than_a_few_missing_texts_forbid_the_change() {
        let all: Vec<String> = (0..=FEW).map(|n| format!("text {n}")).collect();
        let (store, old) = embedded(&all.iter().map(String::as_str).collect::<Vec<_>>());
        let next = store.begin_next_model(&model(3)).unwrap().unwrap();
        assert!(!store.change_model(next, None, NOW).unwrap());
        assert_eq!(store.current_model().unwrap().unwrap().0, old);
        assert_sound(&store);
        embed(&store, next, 1);
        assert!(store.change_model(next, None, NOW).unwrap());
        let waiting = store.pending(next, ALL, NOW).unwrap();
        assert_eq!(waiting.len(), FEW, "the rest waits");
        store.store_embeddings(next, &vectors(&waiting)).unwrap();
        assert_sound(&store);
    }

    #[test]
    fn what_the_new_index_has_not_is_logged() {
        let (store, _) = embedded(&["in it", "embedded too late for it", "never embedded"]);
        let next = store.begin_next_model(&model(3)).unwrap().unwrap();
        embed(&store, next, 2);
        let head = store.head().unwrap();
        assert!(store.change_model(next, Some(&RoaringTreemap::from([1])), NOW).unwrap());
        let log: Vec<_> = store.view().tail(head, ALL).unwrap();
        assert_eq!(log, [LogEntry { seq: head + 1, record_id: 2, change: Change::Embed { model: next } }]);
    }

    #[test]
    fn an_unfinished_change_goes_on_or_is_dropped() {
        let (store, old) = embedded(&["one", "two", "three"]);
        let vectors_of =
            |model: ModelId| store.number(&format!("SELECT count(*) FROM embeddings WHERE model_id = {model}"));
        let next = store.begin_next_model(&model(3)).unwrap().unwrap();
        embed(&store, next, 2);
        let unfinished = NextModel { model: model(3), texts: 3, missing: 1 };
        assert_eq!(store.view().next_model(NOW).unwrap(), Some(unfinished));
        assert_eq!(store.begin_next_model(&model(3)).unwrap(), Some(next), "goes on");
        assert_eq!((vectors_of(next), vectors_of(old)), (2, 3));

        let third = store.again().begin_next_model(&model(4)).unwrap().unwrap();
        assert_eq!((vectors_of(next), vectors_of(third), vectors_of(old)), (0, 0, 3));
        let displaced = store.missing(next, 0, ALL, NOW).unwrap_err();
        assert!(displaced.to_string().contains("third model has begun"), "{displaced}");
        assert!(matches!(store.store_next(next, &[]), Err(Error::ModelMismatch { .. })));
        assert!(matches!(store.change_model(next, None, NOW), Err(Error::ModelMismatch { .. })));

        assert_eq!(store.begin_next_model(&model(2)).unwrap(), None, "given up");
        assert_eq!(store.view().next_model(NOW).unwrap(), None);
        assert_eq!(store.begin_next_model(&model(3)).unwrap(), Some(next), "its row is still known");
        assert_sound(&store);
    }

    #[test]
    fn a_change_that_another_process_has_made_is_done() {
        let (store, _) = embedded(&["one"]);
        let next = store.begin_next_model(&model(3)).unwrap().unwrap();
        let missing = store.missing(next, 0, ALL, NOW).unwrap();
        let other = store.again();
        other.store_next(next, &vectors(&missing)).unwrap();
        assert!(other.change_model(next, None, NOW).unwrap());
        assert_eq!(store.missing(next, 0, ALL, NOW).unwrap(), []);
        store.store_next(next, &vectors(&missing)).unwrap();
        assert!(store.change_model(next, None, NOW).unwrap());
        assert_eq!(store.begin_next_model(&model(3)).unwrap(), None);
        assert_eq!(store.begin_next_model(&model(2)).unwrap().map(|id| id < next), Some(true), "and back");
    }

    #[test]
    fn a_wrong_vector_of_the_next_model_is_refused_with_its_whole_batch() {
        let (store, _) = embedded(&["text"]);
        let next = store.begin_next_model(&model(3)).unwrap().unwrap();
        let good = vectors(&store.missing(next, 0, ALL, NOW).unwrap())[0].clone();
        for bad in [vec![1.0; 2], vec![f32::NAN; 3]] {
            let error = store.store_next(next, &[good.clone(), (good.0, bad)]).unwrap_err();
            assert!(matches!(error, Error::Embedding(_)), "{error}");
            assert_eq!(store.missing(next, 0, ALL, NOW).unwrap().len(), 1);
        }
    }

    #[test]
    fn a_store_without_a_model_has_nothing_to_change() {
        let store = Store::new();
        store.add(&new("text"), NOW).unwrap();
        assert_eq!(store.begin_next_model(&model(3)).unwrap(), None);
        assert_eq!(store.number("SELECT count(*) FROM models"), 0);
    }
}
