//! Bodies through the whole engine: saved, changed, searched, and refused.

use memorist_engine::body::Body;
use memorist_engine::types::{Kind, Mode, NewRecord, Query, RecordId, RecordUpdate, Scope, Viewer};
use memorist_engine::{Engine, Error};
use serde_json::{Value, json};

use crate::support::{Store, hashed};

fn add(engine: &Engine, kind: Kind, body: Value) -> Result<RecordId, Error> {
    NewRecord::of_body(kind, body).and_then(|record| engine.add(&record)).map(|outcome| outcome.id)
}

/// R7, R9, R12, R13, R14, R15: what is saved comes back whole, with its defaults, and is found by its words.
#[test]
fn every_kind_with_a_body_is_kept_and_found() {
    let store = Store::new(hashed());
    let engine = &store.engine;
    let contact = json!({ "name": "Ada Lovelace", "email": "ada@example.org", "role": "analyst" });
    let ada = add(engine, Kind::Contact, contact).unwrap();
    let cases = [
        (Kind::Decision, json!({ "title": "Use SQLite", "description": "one file", "feature": "storage" }), "SQLite"),
        (Kind::Pattern, json!({ "title": "Write behind", "description": "queue and flush" }), "flush"),
        (Kind::Bugfix, json!({ "title": "Off by one", "description": "the last page was lost" }), "page"),
        (Kind::Project, json!({ "name": "Engine", "status": "active", "primary_contact_id": ada }), "engine"),
        (Kind::Skill, json!({ "name": "deploy", "instructions": "tag, then push" }), "push"),
        (Kind::Conversation, json!({ "user_message": "hello there", "agent_response": "good day" }), "hello"),
    ];
    for (kind, body, word) in cases {
        let id = add(engine, kind, body.clone()).unwrap();
        for settled in [false, true] {
            if settled {
                store.settle();
            }
            assert!(store.find(&Query { mode: Mode::Keyword, ..Query::new(word) }).contains(&id), "{kind}: {word}");
        }
        let kept = engine.viewed_by(&Viewer::OWNER).get(id).unwrap().unwrap().body.unwrap();
        for (name, value) in body.as_object().unwrap() {
            assert_eq!(kept.get(name), Some(value), "{kind}");
        }
        if kind == Kind::Skill {
            assert_eq!((kept.get("enabled"), kept.get("max_steps")), (Some(&json!(true)), Some(&json!(10))));
        }
    }
}

#[test]
fn an_invalid_body_is_refused_with_its_field_and_not_saved() {
    let store = Store::new(hashed());
    let engine = &store.engine;
    let refused = |kind, body| add(engine, kind, body).unwrap_err().to_string();
    let friend = refused(Kind::Contact, json!({ "name": "Bo", "type": "friend" }));
    assert_eq!(friend, "body.type: unknown \"friend\"; use one of work, personal, ignored");
    assert!(refused(Kind::Contact, json!({ "name": "Bo", "colour": "red" })).contains("unknown field \"colour\""));
    assert!(refused(Kind::Chunk, json!({ "a": 1 })).starts_with("body: "));
    let nobody = refused(Kind::Project, json!({ "name": "Engine", "primary_contact_id": 99 }));
    assert!(nobody.starts_with("body.primary_contact_id: 99 is not a contact"), "{nobody}");
    assert_eq!(engine.stats(&Default::default()).unwrap().total, 0);
}

/// A reference must not reveal to a project what it does not see.
#[test]
fn a_body_refers_only_to_what_its_own_scope_sees() {
    let store = Store::new(hashed());
    let engine = &store.engine;
    let in_project = |project: Option<&str>, kind, body| {
        let scope = Scope { agent: None, project: project.map(Into::into) };
        engine.add(&NewRecord { scope, ..NewRecord::of_body(kind, body).unwrap() }).map(|outcome| outcome.id)
    };
    let theirs = in_project(Some("borealis"), Kind::Contact, json!({ "name": "Ada" })).unwrap();
    let global = in_project(None, Kind::Contact, json!({ "name": "Bo" })).unwrap();
    let fact = store.add("no contact at all");
    let project = |contact| json!({ "name": format!("with {contact}"), "primary_contact_id": contact });
    assert!(in_project(Some("atlas"), Kind::Project, project(global)).is_ok());
    for id in [theirs, fact] {
        assert!(in_project(Some("atlas"), Kind::Project, project(id)).is_err(), "{id}");
    }
    assert!(in_project(Some("borealis"), Kind::Project, project(theirs)).is_ok());
}

#[test]
fn kind_and_body_changes_are_checked_and_update_the_text() {
    let store = Store::new(hashed());
    let engine = &store.engine;
    let id = add(engine, Kind::Decision, json!({ "title": "Use tantivy", "description": "for words" })).unwrap();
    let body = |body: Value| RecordUpdate { body: Some(Some(body)), ..RecordUpdate::default() };
    let change = |update: &RecordUpdate| engine.viewed_by(&Viewer::OWNER).update(id, update);
    let changed = change(&body(json!({ "title": "Use tantivy", "description": "for keywords" }))).unwrap().record;
    assert_eq!((changed.content.as_str(), changed.version), ("Use tantivy for keywords", 2));
    let own_words = RecordUpdate { content: Some("tantivy it is".into()), ..RecordUpdate::default() };
    change(&own_words).unwrap();
    let kept = change(&body(json!({ "title": "Use tantivy", "description": "again" }))).unwrap().record;
    assert_eq!(kept.content, "tantivy it is", "a text of its own stays");

    assert!(change(&body(json!({ "title": "no description" }))).is_err());
    let contact = RecordUpdate { kind: Some(Kind::Contact), ..RecordUpdate::default() };
    assert!(change(&contact).unwrap_err().to_string().starts_with("body"), "a decision's body is not a contact's");
    let bare = RecordUpdate { kind: Some(Kind::Fact), body: Some(None), ..RecordUpdate::default() };
    let bare = change(&bare).unwrap().record;
    assert_eq!((bare.kind, bare.body, bare.version), (Kind::Fact, None, 5));
}

/// R11: a deleted contact does not prevent changes to memories that refer to it, nor rollbacks.
#[test]
fn a_memory_of_a_deleted_contact_can_be_changed_and_rolled_back() {
    let store = Store::new(hashed());
    let engine = &store.engine;
    let contact = |name: &str| add(engine, Kind::Contact, json!({ "name": name })).unwrap();
    let (ada, bo) = (contact("Ada"), contact("Bo"));
    let of = |contact: RecordId| json!({ "name": "Engine", "primary_contact_id": contact });
    let id = add(engine, Kind::Project, of(ada)).unwrap();
    assert!(engine.viewed_by(&Viewer::OWNER).delete(ada).unwrap());

    let change =
        |update: RecordUpdate| engine.viewed_by(&Viewer::OWNER).update(id, &update).map(|outcome| outcome.record);
    let body = |body: Value| RecordUpdate { body: Some(Some(body)), ..RecordUpdate::default() };
    let referred = |body: &Option<Body>| body.as_ref().unwrap().references()[0].1;
    let louder = change(RecordUpdate { importance: Some(9), ..RecordUpdate::default() }).unwrap();
    assert_eq!((louder.version, referred(&louder.body)), (2, ada));
    let described = json!({ "name": "Engine", "description": "of a ship", "primary_contact_id": ada });
    assert_eq!(referred(&change(body(described)).unwrap().body), ada);
    assert_eq!(referred(&change(body(of(bo))).unwrap().body), bo);
    let new = change(body(of(ada))).unwrap_err().to_string();
    assert!(new.starts_with("body.primary_contact_id: "), "no new reference to a deleted record: {new}");

    let back = engine.viewed_by(&Viewer::OWNER).roll_back(id, 1, None, None).unwrap().record;
    assert_eq!((back.version, referred(&back.body)), (5, ada));
    // One that exists, but is not a contact any longer, must not be restored unnoticed.
    change(body(of(bo))).unwrap();
    let nobody = RecordUpdate { kind: Some(Kind::Fact), body: Some(None), ..RecordUpdate::default() };
    engine.viewed_by(&Viewer::OWNER).update(bo, &nobody).unwrap();
    change(body(json!({ "name": "Engine" }))).unwrap();
    let refused = engine.viewed_by(&Viewer::OWNER).roll_back(id, 6, None, None).unwrap_err().to_string();
    assert!(refused.starts_with("body.primary_contact_id: "), "{refused}");
    store.settle();
    assert!(engine.doctor(false, &memorist_engine::progress::NoProgress).unwrap().is_sound());
}

/// S1 keeps every turn: the same words in two sessions are two.
#[test]
fn a_conversation_repeats_itself_and_a_fact_does_not() {
    let store = Store::new(hashed());
    let turn = || json!({ "session_id": "s", "user_message": "ok", "agent_response": "done" });
    let (first, second) =
        (add(&store.engine, Kind::Conversation, turn()), add(&store.engine, Kind::Conversation, turn()));
    let (first, second) = (first.unwrap(), second.unwrap());
    assert_ne!(first, second);
    let text = store.engine.viewed_by(&Viewer::OWNER).get(first).unwrap().unwrap().content;
    let fact = store.engine.add(&NewRecord::new(text.clone())).unwrap();
    assert!(fact.created, "a turn is not a duplicate of a fact");
    assert!(!store.engine.add(&NewRecord::new(text)).unwrap().created);
    let as_fact = RecordUpdate { kind: Some(Kind::Fact), body: Some(None), ..RecordUpdate::default() };
    let refused = store.engine.viewed_by(&Viewer::OWNER).update(first, &as_fact);
    assert!(matches!(refused, Err(Error::Duplicate(twin)) if twin == fact.id));
    store.settle();
    assert!(store.engine.doctor(false, &memorist_engine::progress::NoProgress).unwrap().is_sound());
}
