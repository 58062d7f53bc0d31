//! The store's model, and the vectors of texts.

use std::borrow::Cow;
use std::collections::HashMap;

use super::*;
use crate::error::Remedy;
use crate::records::meta;
use crate::records::rules::embeddings::{adopt_model, store_embeddings};
use crate::records::rules::next_model::{begin_next_model, change_model};
use crate::records::rules::refused::{retry, set_aside};
use crate::records::rules::update;
use crate::text::{self, to_hex};
use crate::types::{Expect, Model};

/// R18, E11: the store keeps the identity of its model.
fn the_first_model_is_the_stores_and_another_is_refused(store: &impl Subject) {
    let current = || store.write(|tx| models::current(tx));
    assert_eq!(current(), None);
    assert!(matches!(
        store.authority().write(|tx| models::require_current(tx, 1.into())),
        Err(Error::ModelMismatch { .. })
    ));
    let adopt = |model: &Model| adopt_model(store.authority(), model);
    let id = adopt(&model(3)).unwrap();
    assert_eq!(adopt(&model(3)).unwrap(), id);
    assert_eq!(adopt(&Model { name: "renamed".into(), ..model(3) }).unwrap(), id, "a name is only a name");
    assert_eq!(current(), Some((id, model(3))));
    for other in
        [model(4), Model { pooling: "cls".into(), ..model(3) }, Model { weights_sha256: "f".repeat(64), ..model(3) }]
    {
        let error = adopt(&other).unwrap_err();
        assert!(matches!(error, Error::ModelMismatch { .. }));
        assert_eq!(error.remedy(), Some(Remedy::Reembed), "{error}");
    }
    assert!(matches!(store_embeddings(store.authority(), unknown(id), &[]), Err(Error::ModelMismatch { .. })));
}

/// A model that the store does not have.
fn unknown(last: ModelId) -> ModelId {
    (last.get() + 1).into()
}

fn texts_wait_until_their_vector_is_stored(store: &impl Subject) {
    let model = store.adopt(3);
    let in_context = NewRecord { context: Some("in the evening".into()), ..new("dark") };
    let first = store.add(&in_context, NOW);
    assert_eq!((first.embedding, store.embedding_state(first.id)), (EmbeddingState::Pending, EmbeddingState::Pending));
    let hash = text::embedding_hash(Some("in the evening"), "dark");
    assert_eq!(store.pending(NOW), [Pending { record_id: first.id, hash, text: "in the evening\ndark".into() }]);
    let before = store.head();
    assert_eq!(store.embed(model, 3), 1);
    assert_eq!(store.pending(NOW), []);
    assert_eq!(store.vectors(model, &[99.into(), first.id]), [(first.id, vec![19.0; 3])]);
    assert_eq!(store.vectors(unknown(model), &[first.id]), []);
    assert_eq!(store.log(before), [(first.id, Change::Embed { model })]);
    assert_eq!(store.add(&in_context, NOW).embedding, EmbeddingState::Ready);
    store.assert_sound();
}

fn equal_texts_are_embedded_once(store: &impl Subject) {
    let model = store.adopt(3);
    let add = |project: &str| store.add(&NewRecord { scope: scope(None, Some(project)), ..new("same") }, NOW);
    let (one, two) = (add("one").id, add("two").id);
    assert_eq!(store.pending(NOW).len(), 1);
    assert_eq!(store.embed(model, 3), 2);
    let three = add("three");
    assert_eq!(three.embedding, EmbeddingState::Ready);
    assert_eq!(store.vectors(model, &[one, two, three.id]).len(), 3);
    assert_eq!(store.count("embeddings"), 1);
}

fn a_wrong_vector_is_refused_with_its_whole_batch(store: &impl Subject) {
    let model = store.adopt(3);
    store.add(&new("text"), NOW);
    let hash = store.pending(NOW)[0].hash;
    let good = (hash, vec![1.0, 0.0, 0.0]);
    for bad in [vec![1.0; 2], vec![1.0; 4], vec![], vec![f32::NAN; 3], vec![1.0, f32::INFINITY, 0.0]] {
        let error = store_embeddings(store.authority(), model, &[good.clone(), (hash, bad)]).unwrap_err();
        assert!(matches!(error, Error::Embedding(_)), "{error}");
        assert_eq!(store.pending(NOW).len(), 1);
    }
}

fn the_vector_of_a_text_that_is_gone_is_dropped(store: &impl Subject) {
    let model = store.adopt(3);
    let id = store.add(&new("fleeting"), NOW).id;
    let hash = store.pending(NOW)[0].hash;
    store.delete(id);
    assert_eq!(store_embeddings(store.authority(), model, &[(hash, vec![0.0; 3])]).unwrap(), 0);
    assert_eq!(store.count("embeddings"), 0);
}

fn an_expired_record_does_not_wait(store: &impl Subject) {
    store.adopt(3);
    store.add(&NewRecord { expires_at: Some(NOW + 5), ..new("brief") }, NOW);
    assert_eq!(store.pending(NOW + 4).len(), 1);
    assert_eq!(store.pending(NOW + 5), []);
}

fn going_back_to_an_earlier_text_finds_its_vector(store: &impl Subject) {
    let model = store.adopt(3);
    let id = store.add(&new("first"), NOW).id;
    store.embed(model, 3);
    store.update(id, &content("the second"), NOW).unwrap();
    assert_eq!(store.vectors(model, &[id]), [], "not the vector of the old text");
    assert_eq!(store.embed(model, 3), 1);
    store.update(id, &content("first"), NOW).unwrap();
    assert_eq!(store.pending(NOW), []);
    assert_eq!(store.vectors(model, &[id]), [(id, vec![5.0; 3])]);
    store.delete(id);
    assert_eq!(store.count("embeddings"), 0);
    store.assert_sound();
}

/// 41.1.
fn an_update_stores_the_vector_of_its_new_text(store: &impl Subject) {
    let model = store.adopt(3);
    let in_project = |text: &str, project: &str| NewRecord { scope: scope(None, Some(project)), ..new(text) };
    let [id, other] = ["one", "two"].map(|text| store.add(&in_project(text, "a"), NOW).id);
    store.embed(model, 3);
    let waiting = store.add(&in_project("later", "b"), NOW).id;
    let hash = |text: &str| text::embedding_hash(None, text);
    let vectors = |model| {
        let of = |text: &str, vector: &[f32]| (hash(text), vector.to_vec());
        let [later, next] = [of("later", &[1.0, 0.0, 0.0]), of("next", &[0.0, 1.0, 0.0])];
        (model, HashMap::from([later, next, of("fresh", &[0.0, 0.0, 1.0]), of("bad", &[1.0])]))
    };
    let all = |updates: &[(RecordId, RecordUpdate)], model| {
        let updates: Vec<_> = updates.iter().map(|(id, update)| (*id, Cow::Borrowed(update))).collect();
        update::update(store.authority(), &updates, Some(&vectors(model)), &Viewer::OWNER, NOW)
    };
    let put = |id, version| (id, Change::Put { version, new_text: true });
    // The one who has the text already gets the vector, too.
    let before = store.head();
    all(&[(id, content("later")), (other, content("next"))], model).unwrap();
    let log = [(waiting, Change::Embed { model }), put(id, 2), put(other, 2)];
    assert_eq!(store.log(before), log);
    let [later, next] = [vec![1.0, 0.0, 0.0], vec![0.0, 1.0, 0.0]];
    let stored = [(id, later.clone()), (other, next), (waiting, later)];
    assert_eq!(store.vectors(model, &[id, other, waiting]), stored);
    assert_eq!(store.pending(NOW), []);
    // Updates that are refused leave no vector.
    let embeddings = store.count("embeddings");
    let wrong = RecordUpdate { expect: Some(Expect::Version(9)), ..content("two") };
    assert!(all(&[(id, content("fresh")), (other, wrong)], model).is_err());
    assert_eq!(store.count("embeddings"), embeddings);
    // Another text than the one that was embedded waits; so does one with a vector of another model, or a wrong one.
    let in_context = RecordUpdate { context: Some(Some("since then".into())), ..content("fresh") };
    for (update, made_by) in [(in_context, model), (content("bad"), model), (content("fresh"), unknown(model))] {
        let update = RecordUpdate { context: update.context.clone().or(Some(None)), ..update };
        all(&[(id, update)], made_by).unwrap();
        assert_eq!((store.embedding_state(id), store.count("embeddings")), (EmbeddingState::Pending, embeddings));
    }
    store.assert_sound();
}

/// X5: a text that the model refuses is set aside, with the reason.
fn a_refused_text_waits_no_longer_until_the_model_changes(store: &impl Subject) {
    let model = store.adopt(3);
    let ids = ["good", "bad", "worse"].map(|text| store.add(&new(text), NOW).id);
    let hashes: Vec<_> = store.pending(NOW).iter().map(|pending| pending.hash).collect();
    let aside = |model, hash, why: &str| set_aside(store.authority(), model, &[(hash, why.to_owned())]).unwrap();
    aside(model, hashes[1], "status 400: no");
    aside(model, hashes[2], "its vector has no direction");
    assert_eq!(store.pending(NOW).iter().map(|pending| pending.record_id).collect::<Vec<_>>(), [ids[0]]);
    let refused = || store.write(|tx| models::refused(tx, NOW)).into_iter().map(|one| (one.record_id, one.why));
    let expected = [(ids[1], "status 400: no".to_owned()), (ids[2], "its vector has no direction".to_owned())];
    assert!(refused().eq(expected));
    store.assert_sound();
    // What is gone leaves nothing, and a new text is tried.
    store.delete(ids[2]);
    aside(model, hashes[2], "after it was deleted");
    let kept = store.write(|tx| meta::text(tx, models::REFUSED)).unwrap();
    assert!(kept.contains(&to_hex(&hashes[1])) && !kept.contains(&to_hex(&hashes[2])), "{kept}");
    store.update(ids[1], &content("better"), NOW).unwrap();
    assert_eq!((refused().count(), store.pending(NOW).len()), (0, 2));
    store.update(ids[1], &content("bad"), NOW).unwrap();
    assert_eq!(refused().count(), 1, "the text is refused still");
    // Another model is given every text, and its refusals are its own.
    let next = begin_next_model(store.authority(), &super::model(4)).unwrap().unwrap();
    let missing = || store.write(|tx| models::missing(tx, next, RecordId::START, 9, NOW)).len();
    assert_eq!(missing(), 2);
    aside(next, hashes[0], "not this one");
    assert_eq!(missing(), 1);
    assert!(change_model(store.authority(), next, None, 1, NOW).unwrap());
    assert!(refused().eq([(ids[0], "not this one".to_owned())]));
    retry(store.authority()).unwrap();
    assert_eq!((refused().count(), store.pending(NOW).len()), (0, 2));
    store.assert_sound();
}

on_every_database![
    the_first_model_is_the_stores_and_another_is_refused,
    texts_wait_until_their_vector_is_stored,
    equal_texts_are_embedded_once,
    a_wrong_vector_is_refused_with_its_whole_batch,
    the_vector_of_a_text_that_is_gone_is_dropped,
    an_expired_record_does_not_wait,
    going_back_to_an_earlier_text_finds_its_vector,
    an_update_stores_the_vector_of_its_new_text,
    ; of the owner:
    a_refused_text_waits_no_longer_until_the_model_changes,
];
