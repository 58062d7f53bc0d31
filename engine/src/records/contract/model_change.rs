//! The change to another model.

use roaring::RoaringTreemap;

use super::*;
use crate::records::rules::embeddings::store_embeddings;
use crate::records::rules::next_model::{self, MAX_UNEMBEDDED_AT_SWITCH};

const ALL: usize = usize::MAX;

/// Saves these texts, embedded by a model of two dimensions: its row.
fn embedded<S: Subject>(store: &S, texts: &[&str]) -> ModelId {
    let old = store.adopt(2);
    for text in texts {
        store.add(&new(text), NOW);
    }
    store.embed(old, 2);
    old
}

fn begin<S: Subject>(store: &S, dims: usize) -> Option<ModelId> {
    next_model::begin_next_model(store.authority(), &model(dims)).unwrap()
}

fn missing<S: Subject>(store: &S, next: ModelId, after: i64, limit: usize, now: Millis) -> Vec<Pending> {
    store.write(|tx| models::missing(tx, next, after.into(), limit, now))
}

/// Embeds the first texts that the next model, of three dimensions, has not.
fn embed<S: Subject>(store: &S, next: ModelId, limit: usize) {
    let vectors = vectors_of(&missing(store, next, 0, limit, NOW), 3);
    next_model::store_next(store.authority(), next, &vectors).unwrap();
}

fn change<S: Subject>(store: &S, next: ModelId, now: Millis) -> bool {
    next_model::change_model(store.authority(), next, None, MAX_UNEMBEDDED_AT_SWITCH, now).unwrap()
}

fn texts(missing: &[Pending]) -> Vec<&str> {
    missing.iter().map(|missing| missing.text.as_str()).collect()
}

fn current<S: Subject>(store: &S) -> ModelId {
    store.write(|tx| models::current(tx)).expect("a model").0
}

/// The vectors of these records under a model.
fn vectors<S: Subject>(store: &S, model: ModelId, ids: &[i64]) -> Vec<(i64, Vec<f32>)> {
    let ids: Vec<RecordId> = ids.iter().copied().map(RecordId::from).collect();
    store.vectors(model, &ids).into_iter().map(|(id, vector)| (id.get(), vector)).collect()
}

/// How many vectors a model has.
fn embeddings_of<S: Subject>(store: &S, model: ModelId) -> i64 {
    store.number(&format!("SELECT count(*) FROM embeddings WHERE model_id = {}", model.get()))
}

fn the_old_model_serves_until_the_change(store: &impl Subject) {
    let old = embedded(store, &["one", "three"]);
    let next = begin(store, 3).unwrap();
    assert_ne!(next, old);
    assert_eq!(texts(&missing(store, next, 0, ALL, NOW)), ["one", "three"]);
    assert_eq!(texts(&missing(store, next, 0, 1, NOW)), ["one"]);
    assert_eq!(texts(&missing(store, next, 1, ALL, NOW)), ["three"]);
    embed(store, next, ALL);
    assert_eq!(missing(store, next, 0, ALL, NOW), []);
    assert_eq!(current(store), old);
    assert_eq!(vectors(store, old, &[1, 2]), [(1, vec![3.0; 2]), (2, vec![5.0; 2])]);
    store.assert_sound();

    assert!(change(store, next, NOW));
    assert_eq!(current(store), next);
    assert_eq!(vectors(store, next, &[1, 2]), [(1, vec![3.0; 3]), (2, vec![5.0; 3])]);
    assert_eq!(vectors(store, old, &[1, 2]), []);
    assert_eq!((store.write(|tx| models::next(tx)), store.count("embeddings")), (None, 2));
    assert!(matches!(store_embeddings(store.authority(), old, &[]), Err(Error::ModelMismatch { .. })), "too late");
    store.assert_sound();
}

fn what_is_written_during_the_change_is_embedded_by_both(store: &impl Subject) {
    let old = embedded(store, &["changed", "deleted", "kept", "short lived"]);
    let next = begin(store, 3).unwrap();
    embed(store, next, ALL);
    store.update(1, &content("changed since"), NOW).unwrap();
    assert!(store.delete(2));
    let twin = NewRecord { scope: scope(None, Some("p")), ..new("kept") };
    assert_eq!(store.add(&twin, NOW).embedding, EmbeddingState::Ready, "by the model in use");
    assert_eq!(store.add(&new("added"), NOW).embedding, EmbeddingState::Pending);
    let brief = RecordUpdate { expires_at: Some(Some(NOW + 1)), ..content("expired") };
    store.update(4, &brief, NOW).unwrap();

    let since = missing(store, next, 0, ALL, NOW + 1);
    assert_eq!(texts(&since), ["changed since", "added"]);
    store.delete(6);
    next_model::store_next(store.authority(), next, &vectors_of(&since, 3)).unwrap();
    assert_eq!(vectors(store, next, &[1, 3, 5]).len(), 3);
    assert_eq!(embeddings_of(store, next), 4, "none of a text that is gone");
    store.assert_sound();
    assert!(change(store, next, NOW + 1));
    assert_eq!(vectors(store, next, &[1, 2, 3, 4, 5, 6]).len(), 3);
    assert_eq!(store.embedding_state(4), EmbeddingState::Pending, "expired: nobody waits for it");
    assert_eq!(store.update(1, &content("changed"), NOW + 2).unwrap().version, 3);
    assert_eq!(vectors(store, next, &[1]), [(1, vec![7.0; 3])], "of the earlier version");
    assert_eq!(vectors(store, old, &[1]), []);
    store.assert_sound();
}

fn too_many_missing_texts_forbid_the_change(store: &impl Subject) {
    let all: Vec<String> = (0..=MAX_UNEMBEDDED_AT_SWITCH).map(|n| format!("text {n}")).collect();
    let old = embedded(store, &all.iter().map(String::as_str).collect::<Vec<_>>());
    let next = begin(store, 3).unwrap();
    assert!(!change(store, next, NOW));
    assert_eq!(current(store), old);
    embed(store, next, 1);
    assert!(change(store, next, NOW));
    assert_eq!(store.embed(next, 3), MAX_UNEMBEDDED_AT_SWITCH, "the rest waits");
    store.assert_sound();
}

fn what_the_new_index_lacks_is_logged(store: &impl Subject) {
    embedded(store, &["in it", "embedded too late for it", "never embedded"]);
    let next = begin(store, 3).unwrap();
    embed(store, next, 2);
    let head = store.head();
    let indexed = RoaringTreemap::from([1]);
    assert!(next_model::change_model(store.authority(), next, Some(&indexed), MAX_UNEMBEDDED_AT_SWITCH, NOW).unwrap());
    assert_eq!(store.log(head), [(2.into(), Change::Embed { model: next })]);
}

fn an_unfinished_change_goes_on_or_is_dropped(store: &impl Subject) {
    let old = embedded(store, &["one", "two", "three"]);
    let next = begin(store, 3).unwrap();
    embed(store, next, 2);
    assert_eq!(begin(store, 3), Some(next), "goes on");
    assert_eq!((embeddings_of(store, next), embeddings_of(store, old)), (2, 3));

    let third = begin(store, 4).unwrap();
    assert_eq!((embeddings_of(store, next), embeddings_of(store, third), embeddings_of(store, old)), (0, 0, 3));
    let displaced = next_model::store_next(store.authority(), next, &[]).unwrap_err();
    assert!(matches!(displaced, Error::ModelChanging { .. }));
    assert!(displaced.to_string().contains("Another model change has begun"), "{displaced}");
    let changed = next_model::change_model(store.authority(), next, None, MAX_UNEMBEDDED_AT_SWITCH, NOW);
    assert!(matches!(changed, Err(Error::ModelChanging { .. })));

    assert_eq!(begin(store, 2), None, "given up");
    assert_eq!(store.write(|tx| models::next(tx)), None);
    assert_eq!(begin(store, 3), Some(next), "its row is still known");
    store.assert_sound();
}

fn a_change_that_another_process_has_made_is_done(store: &impl Subject) {
    let old = embedded(store, &["one"]);
    let next = begin(store, 3).unwrap();
    embed(store, next, ALL);
    assert!(change(store, next, NOW));
    let before = store.contents();
    assert_eq!(store.write(|tx| models::require_next(tx, next)), None);
    next_model::store_next(store.authority(), next, &[([1; 32], vec![1.0; 3])]).unwrap();
    assert!(change(store, next, NOW));
    assert_eq!(begin(store, 3), None);
    assert_eq!(store.contents(), before);
    assert_eq!(begin(store, 2), Some(old), "and back");
}

fn a_wrong_vector_of_the_next_model_is_refused_with_its_whole_batch(store: &impl Subject) {
    embedded(store, &["text"]);
    let next = begin(store, 3).unwrap();
    let good = vectors_of(&missing(store, next, 0, ALL, NOW), 3)[0].clone();
    for bad in [vec![1.0; 2], vec![f32::NAN; 3]] {
        let error = next_model::store_next(store.authority(), next, &[good.clone(), (good.0, bad)]).unwrap_err();
        assert!(matches!(error, Error::Embedding(_)), "{error}");
        assert_eq!(missing(store, next, 0, ALL, NOW).len(), 1);
    }
}

fn a_store_without_a_model_has_nothing_to_change(store: &impl Subject) {
    store.add(&new("text"), NOW);
    assert_eq!(begin(store, 3), None);
    assert_eq!(store.count("models"), 0);
}

on_every_database![
    a_store_without_a_model_has_nothing_to_change,
    ; of the owner:
    the_old_model_serves_until_the_change,
    what_is_written_during_the_change_is_embedded_by_both,
    too_many_missing_texts_forbid_the_change,
    what_the_new_index_lacks_is_logged,
    an_unfinished_change_goes_on_or_is_dropped,
    a_change_that_another_process_has_made_is_done,
    a_wrong_vector_of_the_next_model_is_refused_with_its_whole_batch,
];
