//! Every change keeps the previous version, and any version can be restored.

use memorist_engine::Error;
use memorist_engine::types::{Kind, Mode, NewRecord, Query, RecordUpdate, Viewer};
use serde_json::json;

use crate::support::{Store, hashed};

fn content(text: &str, reason: Option<&str>) -> RecordUpdate {
    RecordUpdate { content: Some(text.into()), reason: reason.map(Into::into), ..RecordUpdate::default() }
}

/// R11.
#[test]
fn a_version_says_what_replaced_it_and_why_and_comes_back() {
    let store = Store::new(hashed());
    let engine = &store.engine;
    let id = store.add("the harbour opens at six");
    engine.viewed_by(&Viewer::OWNER).update(id, &content("the harbour opens at seven", Some("new timetable"))).unwrap();
    let update = RecordUpdate { importance: Some(9), tags: Some(vec!["hours".into()]), ..RecordUpdate::default() };
    engine.viewed_by(&Viewer::OWNER).update(id, &update).unwrap();

    let versions = engine.viewed_by(&Viewer::OWNER).history(id, None, 10).unwrap();
    let seen: Vec<_> = versions.iter().map(|one| (one.version, one.content.as_str(), one.importance)).collect();
    assert_eq!(
        seen,
        [
            (3, "the harbour opens at seven", 9),
            (2, "the harbour opens at seven", 5),
            (1, "the harbour opens at six", 5)
        ]
    );
    let reasons: Vec<_> = versions.iter().map(|one| one.replaced.as_ref().map(|by| by.reason.as_str())).collect();
    assert_eq!(reasons, [None, Some("update"), Some("new timetable")]);
    assert_eq!(versions[1].replaced.as_ref().unwrap().at, versions[0].since);
    let page = engine.viewed_by(&Viewer::OWNER).history(id, Some(3), 1).unwrap();
    assert_eq!(page, versions[1..2]);

    let back = engine.viewed_by(&Viewer::OWNER).roll_back(id, 1, None, None).unwrap().record;
    assert_eq!((back.version, back.content.as_str(), back.importance), (4, "the harbour opens at six", 5));
    assert!(back.tags.is_empty());
    for settled in [false, true] {
        if settled {
            store.settle();
        }
        assert_eq!(store.find(&Query { mode: Mode::Keyword, ..Query::new("six") }), [id]);
        assert_eq!(store.find(&Query { mode: Mode::Keyword, ..Query::new("seven") }), []);
    }
    let last = engine.viewed_by(&Viewer::OWNER).history(id, None, 2).unwrap();
    assert_eq!(last[1].replaced.as_ref().unwrap().reason, "rollback to 1");
    assert_eq!(
        engine.viewed_by(&Viewer::OWNER).roll_back(id, 1, None, None).unwrap().record.version,
        4,
        "it is that already"
    );
}

#[test]
fn an_impossible_rollback_is_refused_with_a_reason() {
    let store = Store::new(hashed());
    let engine = &store.engine;
    let id = store.add("first text");
    engine.viewed_by(&Viewer::OWNER).update(id, &content("second text", None)).unwrap();
    let refused =
        |version| engine.viewed_by(&Viewer::OWNER).roll_back(id, version, None, None).unwrap_err().to_string();
    assert_eq!(refused(7), format!("version: memory {id} has no earlier version 7; available: 1"));
    assert!(refused(2).contains("no earlier version"), "the newest is not an earlier one");
    let other = store.add("first text");
    assert!(
        matches!(engine.viewed_by(&Viewer::OWNER).roll_back(id, 1, None, None), Err(Error::Duplicate(twin)) if twin == other)
    );
    let elsewhere = Viewer { project: memorist_engine::types::Reach::Own("atlas".into()), ..Viewer::OWNER };
    let mut theirs = NewRecord::new("theirs");
    theirs.scope.project = Some("borealis".into());
    let theirs = engine.add(&theirs).unwrap().id;
    assert!(matches!(engine.viewed_by(&elsewhere).history(theirs, None, 1), Err(Error::NotFound(_))));
    assert!(matches!(engine.viewed_by(&elsewhere).roll_back(theirs, 1, None, None), Err(Error::NotFound(_))));
    assert!(
        matches!(engine.viewed_by(&Viewer::OWNER).history(999.into(), None, 1), Err(Error::NotFound(id)) if id.get() == 999)
    );
    let error = engine.viewed_by(&Viewer::OWNER).history(id, None, 0).unwrap_err();
    assert!(error.to_string().starts_with("limit: 0"), "{error}");
}

/// An expiry that has passed is not restored with its version.
#[test]
fn a_version_that_had_expired_comes_back_without_its_expiry() {
    let store = Store::new(hashed());
    let engine = &store.engine;
    let brief = NewRecord { expires_at: Some(memorist_engine::now() + 300), ..NewRecord::new("brief") };
    let id = engine.add(&brief).unwrap().id;
    engine
        .viewed_by(&Viewer::OWNER)
        .update(id, &RecordUpdate { expires_at: Some(None), ..RecordUpdate::default() })
        .unwrap();
    std::thread::sleep(std::time::Duration::from_millis(320));
    engine.viewed_by(&Viewer::OWNER).update(id, &content("lasting", None)).unwrap();
    let back = engine.viewed_by(&Viewer::OWNER).roll_back(id, 1, Some("it still holds"), None).unwrap().record;
    assert_eq!((back.content.as_str(), back.expires_at), ("brief", None));
}

/// R10, R11: one profile for an agent, whose history says why it changed.
#[test]
fn an_agent_has_one_profile_with_its_history() {
    let store = Store::new(hashed());
    let engine = &store.engine;
    let of = |agent: &str, body| {
        let mut record = NewRecord::of_body(Kind::Profile, body).unwrap();
        record.scope.agent = Some(agent.into());
        engine.add(&record)
    };
    let id = of("scout", json!({ "name": "Ada", "likes": { "tea": "green" } })).unwrap().id;
    assert_ne!(of("scribe", json!({ "name": "Ada", "likes": { "tea": "green" } })).unwrap().id, id);
    let error = of("scout", json!({ "name": "Bo" })).unwrap_err().to_string();
    assert_eq!(error, format!("kind: its scope has a profile already: {id}; update that one"));

    let body = json!({ "name": "Ada", "likes": { "tea": "black" } });
    let update = RecordUpdate { body: Some(Some(body)), reason: Some("asked her".into()), ..RecordUpdate::default() };
    let record = engine.viewed_by(&Viewer::of_agent("scout")).update(id, &update).unwrap().record;
    assert_eq!(record.content, "name: Ada\nlikes.tea: black", "the text follows the body");
    let versions = engine.viewed_by(&Viewer::of_agent("scout")).history(id, None, 10).unwrap();
    assert_eq!(versions[1].body.as_ref().unwrap().as_map()["likes"]["tea"], "green");
    assert_eq!(versions[1].replaced.as_ref().unwrap().reason, "asked her");
    let back = engine.viewed_by(&Viewer::of_agent("scout")).roll_back(id, 1, None, None).unwrap().record;
    assert_eq!(back.body.unwrap().as_map()["likes"]["tea"], "green");
}
