//! A store that was between two models continues with the right one.

use std::fs;

use rusqlite::Connection;

use super::super::super::testing::NOW;
use super::super::salvage;
use super::testing::{DIMS, DamagedStore, PAGE, sound};
use crate::progress::NoProgress;
use crate::records::Records;

/// The sound database with a second model that has embedded this many texts. Both models are rows of the store; `meta`
/// sets the entries that name them.
fn with_two_models(embedded: usize, meta: &str) -> DamagedStore {
    let store = DamagedStore::new(&sound().bytes);
    let conn = Connection::open(store.paths().database()).unwrap();
    conn.execute_batch(&format!(
        "INSERT INTO models VALUES (2, 'next', 'x', 'mean', {DIMS});
         INSERT INTO embeddings (model_id, hash, vector) SELECT 2, hash, vector FROM embeddings LIMIT {embedded};
         {meta}"
    ))
    .unwrap();
    store
}

/// Between two models, the store continues the change where the damage left its mark, and else stays with the
/// model in use. Nothing else is lost.
#[test]
fn a_store_between_two_models_is_salvaged() {
    let all = sound().contents.vectors.len();
    let next = "INSERT INTO meta VALUES ('next_model', 2);";
    let no_model = "DELETE FROM meta WHERE key = 'model';";
    // The mark, the number of texts that the second model has embedded, and the models and embeddings that are saved.
    let cases = [
        (next.to_owned(), 40, (1, Some(2)), all + 40, 0),
        (format!("{next} {no_model}"), all, (1, Some(2)), 2 * all, 0),
        (String::new(), 40, (1, None), all, 0),
        (no_model.to_owned(), 40, (1, None), all, 0),
        // The change is done, and a vector of the model before came back.
        ("UPDATE meta SET value = 2 WHERE key = 'model';".into(), 40, (2, None), 40, 1),
        (format!("{no_model} DELETE FROM embeddings WHERE model_id = 1;"), 40, (2, None), 40, 1),
        ("INSERT INTO meta VALUES ('next_model', 7);".into(), 40, (1, None), all, 0),
        ("INSERT INTO meta VALUES ('next_model', 1);".into(), 40, (1, None), all, 0),
    ];
    for (meta, embedded, (model, next), vectors, fewest_to_embed) in cases {
        let store = with_two_models(embedded, &meta);
        let salvaged = salvage(&store.paths(), &NoProgress).unwrap_or_else(|error| panic!("{meta}: {error}"));
        assert_eq!(salvaged.records, sound().contents.records.len() as u64, "{meta}");
        assert_eq!(salvaged.to_embed > 0, fewest_to_embed > 0, "{meta}: {}", salvaged.to_embed);
        let records = Records::open(&store.paths()).unwrap();
        assert_eq!(records.integrity().unwrap(), Vec::<String>::new(), "{meta}");
        assert_eq!(records.current_model().unwrap().map(|(id, _)| id), Some(model.into()), "{meta}");
        let view = records.snapshot().unwrap();
        let changing_to = view.next_model(NOW).unwrap().map(|next| next.model.name);
        assert_eq!(changing_to, next.map(|_| "next".to_owned()), "{meta}");
        assert_eq!(view.counts(NOW).unwrap().embeddings, vectors as u64, "{meta}");
    }
}

/// Damaged pages of a store between two models lose only the rows on them.
#[test]
fn damaged_pages_between_two_models_lose_only_their_rows() {
    let next = "INSERT INTO meta VALUES ('next_model', 2);";
    for table in ["meta", "models", "embeddings", "versions"] {
        let store = with_two_models(sound().contents.vectors.len() / 2, next);
        let path = store.paths().database();
        let mut bytes = fs::read(&path).unwrap();
        let page = *sound().pages_of[table].last().unwrap();
        bytes[(page - 1) * PAGE..page * PAGE].fill(0xA5);
        fs::write(&path, bytes).unwrap();
        let salvaged = salvage(&store.paths(), &NoProgress).unwrap_or_else(|error| panic!("{table}: {error}"));
        assert_eq!(salvaged.records, sound().contents.records.len() as u64, "{table}");
        assert_eq!(Records::open(&store.paths()).unwrap().integrity().unwrap(), Vec::<String>::new(), "{table}");
    }
}
