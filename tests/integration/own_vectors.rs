//! Vectors that the program makes itself: saved, searched and changed, and never replaced without a word.

use memorist_engine::config::Config;
use memorist_engine::progress::NoProgress;
use memorist_engine::types::{EmbeddingState, Filter, Mode, Model, NewRecord, Query, RecordUpdate, Scope, Viewer};
use memorist_engine::{Engine, Error};

use crate::support::{DIMS, Store, hashed};

/// R4.
#[test]
fn an_embedding_of_the_caller_s_own_is_searched_at_once() {
    let store = Store::new(hashed());
    store.add("something to know the model by");
    store.settle();
    assert!(store.engine.is_model_loaded());
    assert_eq!(store.engine.dimensions().unwrap(), DIMS);
    let text = "a kingfisher on the bridge";
    let vector: Vec<f32> = store.engine.embed_query(text).unwrap().iter().map(|number| number * 7.0).collect();
    let outcome = store.engine.add_with(&NewRecord::new(text), &vector).unwrap();
    assert_eq!(outcome.embedding, EmbeddingState::Ready);
    let hit = &store.engine.search(&Query { mode: Mode::Vector, ..Query::new(text) }).unwrap().hits[0];
    assert_eq!(hit.record.id, outcome.id);
    assert!((hit.vector_score.unwrap() - 1.0).abs() < 1e-4, "of length 1, whatever was given");
    for bad in [vec![1.0; DIMS - 1], vec![0.0; DIMS], vec![f32::NAN; DIMS]] {
        let error = store.engine.add_with(&NewRecord::new("refused"), &bad).unwrap_err().to_string();
        assert!(error.starts_with("embedding"), "{error}");
    }
    assert!(store.find(&Query { mode: Mode::Keyword, ..Query::new("refused") }).is_empty(), "nothing was saved");
}

#[test]
fn a_search_by_a_vector_alone_searches_no_words() {
    let folder = tempfile::tempdir().unwrap();
    let engine = Engine::open(folder.path().join("store"), Config::without_model()).unwrap();
    engine.add(&NewRecord::new("a vector has a direction")).unwrap();
    let by_vector = |query| engine.search_with(&query, Some(vec![1.0; 8]));
    let reply = by_vector(Query::of_vector()).unwrap();
    assert!(reply.hits.is_empty() && !reply.no_answer);
    assert!(reply.warnings[0].starts_with("no vector search: no embedding model"), "{:?}", reply.warnings);
    for query in [Query::new(""), Query { mode: Mode::Keyword, ..Query::new(" ") }] {
        assert!(by_vector(query).is_err(), "only a search by the vector alone needs no text");
    }
    assert!(engine.search(&Query::of_vector()).is_err() && engine.search_with(&Query::of_vector(), None).is_err());
}

/// R4: many at once, in one transaction; and a changed text with its own vector.
#[test]
fn records_are_saved_and_changed_with_the_callers_embeddings() {
    let folder = tempfile::tempdir().unwrap();
    let engine = Engine::open(folder.path().join("store"), Config::without_model()).unwrap();
    let vector = |at: usize| (0..8).map(|axis| if axis == at { 3.0 } else { 0.1 }).collect::<Vec<f32>>();
    let new: Vec<NewRecord> = ["one", "two", "", "four", "one"].into_iter().map(NewRecord::new).collect();
    let vectors: Vec<Vec<f32>> = [vector(1), vector(2), vector(3), vec![f32::NAN; 8], vector(5)].into();
    let vectors: Vec<&[f32]> = vectors.iter().map(Vec::as_slice).collect();
    assert!(engine.add_batch_with(&new, &vectors).is_err(), "no model is known yet");
    let model = Model { name: "mine".into(), weights_sha256: "a".repeat(64), pooling: "mine".into(), dims: 8 };
    engine.adopt_model(&model).unwrap();
    engine.adopt_model(&model).unwrap();
    let other = Model { weights_sha256: "b".repeat(64), ..model };
    assert!(matches!(engine.adopt_model(&other), Err(Error::ModelMismatch { .. })));

    let said = engine.add_batch_with(&new, &vectors[1..]).unwrap_err().to_string();
    assert!(said.starts_with("embedding: there are 4 vectors for 5 texts"), "{said}");
    let outcomes = engine.add_batch_with(&new, &vectors).unwrap();
    let ready = |at: usize| outcomes[at].as_ref().is_ok_and(|outcome| outcome.embedding == EmbeddingState::Ready);
    assert!(ready(0) && ready(1));
    let refused = [2, 3, 4].map(|at| outcomes[at].as_ref().unwrap_err().to_string());
    assert!(refused[0].starts_with("content") && refused[1].starts_with("embedding"), "{refused:?}");
    let id = outcomes[0].as_ref().unwrap().id;
    assert!(refused[2].contains(&format!("memory {id} has this text with another vector")), "{refused:?}");

    let nearest = |vector: Vec<f32>| engine.vector_search(vector, 1, Filter::default()).unwrap()[0];
    let (found, distance) = nearest(vector(1));
    assert!(found == id && distance.abs() < 1e-3, "of any length: {distance}");
    let update = RecordUpdate { content: Some("eins".into()), ..RecordUpdate::default() };
    let outcome = engine.viewed_by(&Viewer::OWNER).update_with(id, &update, &vector(6)).unwrap();
    assert_eq!((outcome.record.version, outcome.embedding), (2, EmbeddingState::Ready));
    assert!(nearest(vector(6)).0 == id && nearest(vector(1)).1 > 0.1);
    // The vector alone is new.
    let outcome = engine.viewed_by(&Viewer::OWNER).update_with(id, &RecordUpdate::default(), &vector(7)).unwrap();
    assert_eq!((outcome.record.version, outcome.embedding), (2, EmbeddingState::Ready));
    engine.flush(&NoProgress).unwrap();
    assert!(nearest(vector(7)).0 == id && nearest(vector(7)).1.abs() < 1e-3 && nearest(vector(6)).1 > 0.1);
    // Two records of one text have one vector: none is replaced without a word, and a refused update changes nothing.
    let there = |context: Option<&str>| NewRecord {
        context: context.map(str::to_owned),
        scope: Scope { project: Some("p".into()), agent: None },
        ..NewRecord::new("eins")
    };
    let said = engine.add_with(&there(None), &vector(4)).unwrap_err().to_string();
    assert!(said.contains("has this text with another vector"), "{said}");
    let second = engine.add_with(&there(Some("another one")), &vector(4)).unwrap();
    assert!(second.created && second.embedding == EmbeddingState::Ready && nearest(vector(4)).0 == second.id);
    assert!(engine.add_with(&there(None), &vector(7)).is_err(), "it is the second one's text");
    assert!(!engine.add_with(&there(None), &vector(4)).unwrap().created);
    let same = RecordUpdate { context: Some(None), importance: Some(9), ..RecordUpdate::default() };
    assert!(engine.viewed_by(&Viewer::OWNER).update_with(second.id, &same, &vector(4)).is_err());
    assert_eq!(engine.viewed_by(&Viewer::OWNER).access(second.id).unwrap().version, 1);
    assert!(nearest(vector(7)).0 == id && nearest(vector(7)).1.abs() < 1e-3);
    let bad = engine.viewed_by(&Viewer::OWNER).update_with(id, &update, &[1.0]).unwrap_err().to_string();
    assert!(bad.starts_with("embedding: must be 8 finite numbers"), "{bad}");
}
