//! Saving, changing and deleting: twins, versions, what is logged, what goes with a record.

use std::borrow::Cow;

use serde_json::json;

use super::*;
use crate::body::Body;
use crate::records::rules::access::{Access, record_access};
use crate::records::rules::undo::{self, Undoing};
use crate::records::rules::{save, update};
use crate::text;
use crate::types::{AccessKind, Expect, GivenFields, Kind, LinkKind, Origin, Place, Reach, Save, Span};

/// R1.
fn a_record_comes_back_as_it_was_given(store: &impl Subject) {
    let given = NewRecord {
        content: "caf\u{e9}, \"quoted\"\n\u{1F600}".into(),
        kind: Kind::Chunk,
        source: "a file".into(),
        context: Some("around it".into()),
        confidence: 0.25,
        importance: 10,
        tags: vec!["z".into(), "a \"b\"".into(), "Z".into(), "日本".into()],
        expires_at: Some(NOW + 1_000),
        valid: Span { from: Some(-7), to: Some(NOW) },
        scope: Scope { agent: Some("agent".into()), project: Some("project".into()) },
        body: None,
        session: Some("s".into()),
        turn: Some(7),
        place: Some(Place {
            role: Some("user".into()),
            ..Place::new(Origin::from_bytes([7; 16]), "/log/a.jsonl", 3, 4)
        }),
    };
    let outcome = store.add(&given, NOW);
    assert!(outcome.created);
    let record = store.record(outcome.id, NOW).unwrap();
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
        valid: given.valid,
        access_count: 0,
        last_accessed_at: None,
        body: None,
        session: Some("s".into()),
        turn: Some(7),
        place: given.place,
    };
    assert_eq!(record, expected);
}

fn invalid_input_stores_nothing(store: &impl Subject) {
    let bad = [
        (new(" \n"), "content"),
        (new("a\0b"), "content"),
        (NewRecord { importance: 11, ..new("x") }, "importance"),
        (NewRecord { confidence: f64::NAN, ..new("x") }, "confidence"),
        (NewRecord { expires_at: Some(1_700_000_000), ..new("x") }, "expires_at"),
        (NewRecord { tags: vec![String::new()], ..new("x") }, "tags"),
    ];
    for (record, field) in &bad {
        let error = add_one(store.authority(), record, NOW).unwrap_err();
        assert!(error.to_string().starts_with(field), "{error}");
    }
    store.add(&new("sound"), NOW);
    assert_eq!(store.head(), 1);
    assert_eq!(store.count("records"), 1);
}

/// D1, D2.
fn a_text_is_saved_once_per_scope(store: &impl Subject) {
    let first = store.add(&new("caf\u{e9}"), NOW);
    let head = store.head();
    let again = store.add(&NewRecord { importance: 9, ..new("cafe\u{301}") }, NOW + 7);
    assert_eq!((again.id, again.created), (first.id, false));
    let record = store.record(first.id, NOW).unwrap();
    assert_eq!((record.updated_at, record.created_at, record.importance), (NOW + 7, NOW, 5));
    let put = Change::Put { version: 1, new_text: false };
    assert_eq!(store.log(head), [(first.id, put)], "the indexes hold when it was updated");

    let scopes = [(None, Some("p")), (Some("p"), None), (Some("a"), Some("p")), (Some("a"), Some("q"))];
    let mut ids = vec![first.id];
    for _ in 0..2 {
        for (agent, project) in scopes {
            let scope = scope(agent, project);
            ids.push(store.add(&NewRecord { scope, ..new("caf\u{e9}") }, NOW).id);
        }
    }
    assert_eq!(ids[1..5], ids[5..]);
    assert_eq!(store.count("records"), 5);
    let conversation = NewRecord { kind: Kind::Conversation, ..new("yes") };
    assert_ne!(store.add(&conversation, NOW).id, store.add(&conversation, NOW).id, "a kind that repeats");
}

fn an_update_keeps_the_version_before(store: &impl Subject) {
    let id = store.add(&NewRecord { tags: vec!["old".into(), "both".into()], ..new("first") }, NOW).id;
    let update = RecordUpdate {
        content: Some("second".into()),
        kind: Some(Kind::Task),
        context: Some(Some("why".into())),
        tags: Some(vec!["both".into(), "new".into(), "new".into()]),
        ..Default::default()
    };
    let updated = store.update(id, &update, NOW + 1).unwrap();
    assert_eq!(store.record(id, NOW + 1).unwrap(), updated);
    assert_eq!(updated.content_hash, text::content_hash("second"));
    assert_eq!((updated.version, updated.updated_at, updated.created_at), (2, NOW + 1, NOW));
    assert_eq!(updated.tags, ["both", "new"]);
    let before = format!(
        "SELECT count(*) FROM versions WHERE record_id = {id} AND version = 1 AND content = 'first'
         AND kind = 0 AND context IS NULL AND tags = '[\"old\",\"both\"]' AND updated_at = {NOW}
         AND replaced_at = {NOW} + 1 AND reason = 'update'"
    );
    assert_eq!(store.number(&before), 1);
    assert_eq!(store.log(1), [(id, Change::Put { version: 2, new_text: true })]);

    let emptied = RecordUpdate { context: Some(None), tags: Some(vec![]), ..Default::default() };
    let emptied = store.update(id, &emptied, NOW + 2).unwrap();
    assert_eq!((emptied.context, emptied.tags), (None, vec![]));
    let louder = store.update(id, &RecordUpdate { importance: Some(9), ..Default::default() }, NOW + 3).unwrap();
    assert_eq!(store.log(3), [(id, Change::Put { version: 4, new_text: false })]);
    assert_eq!(store.update(id, &content("second"), NOW + 4).unwrap(), louder, "no change, no version");
    assert_eq!(store.head(), 4);
    store.assert_sound();
}

fn an_update_refuses_what_it_must(store: &impl Subject) {
    let one = store.add(&new("one"), NOW).id;
    let two = store.add(&NewRecord { expires_at: Some(NOW + 10), ..new("two") }, NOW).id;
    assert!(matches!(store.update(one, &content("two"), NOW), Err(Error::Duplicate(id)) if id == two));
    for absent in [0, -1, 99, i64::MAX] {
        assert!(matches!(store.update(absent, &content("x"), NOW), Err(Error::NotFound(id)) if id.get() == absent));
    }
    assert!(matches!(store.update(two, &content("x"), NOW + 10), Err(Error::NotFound(_))), "expired");
    let composed = store.update(one, &content("one\u{301}"), NOW).unwrap();
    let same_hash = store.update(one, &content("on\u{e9}"), NOW).unwrap();
    assert_eq!(composed.content_hash, same_hash.content_hash);
    assert_eq!(store.log(3), [(one, Change::Put { version: 3, new_text: false })]);
}

fn delete_leaves_nothing(store: &impl Subject) {
    let model = store.adopt(1);
    let id = store.add(&NewRecord { tags: vec!["t".into()], ..new("secret") }, NOW).id;
    let ulid = ulid::Ulid::from_string(&store.record(id, NOW).unwrap().ulid).unwrap().to_bytes();
    for text in ["secret two", "secret three"] {
        assert_eq!(store.embed(model, 1), 1);
        store.update(id, &content(text), NOW).unwrap();
    }
    let access = Access { id, kind: AccessKind::Get, score: None, query: Some("secret"), counts: true };
    record_access(store.authority(), &[access], NOW).unwrap();
    let other = store.add(&new("other"), NOW).id;
    assert!(store.link(Link { from: id, kind: LinkKind::Related, to: other }, &Viewer::OWNER, NOW).unwrap());
    assert_eq!(store.count("embeddings"), 2);
    let head = store.head();
    assert!(store.delete(id));
    assert_eq!(store.log(head), [(id, Change::Delete { ulid })]);
    for table in ["versions", "embeddings", "access_log", "links"] {
        assert_eq!(store.count(table), 0, "{table}");
    }
    assert_eq!(store.record(id, NOW), None);
    for absent in [id.get(), -1, 0, i64::MIN] {
        assert!(!store.delete(absent));
    }
    assert_eq!(store.head(), head + 1, "nothing deleted, nothing logged");
    assert!(store.delete(other));
    assert!(store.add(&new("another"), NOW).id > other, "ids are never used twice");
}

fn an_embedding_that_another_record_uses_stays(store: &impl Subject) {
    let model = store.adopt(1);
    let one = store.add(&new("shared"), NOW).id;
    let scope = scope(None, Some("p"));
    let two = store.add(&NewRecord { scope, ..new("shared") }, NOW).id;
    assert_eq!(store.embed(model, 1), 2);
    store.delete(one);
    assert_eq!(store.vectors(model, &[two]), [(two, vec![6.0])]);
    store.delete(two);
    assert_eq!(store.count("embeddings"), 0);
}

fn an_expired_twin_gives_its_text_up(store: &impl Subject) {
    let brief = NewRecord { expires_at: Some(NOW + 10), ..new("brief") };
    let old = store.add(&brief, NOW).id;
    assert!(!store.add(&new("brief"), NOW + 9).created);
    let fresh = store.add(&new("brief"), NOW + 10);
    assert!(fresh.created && fresh.id != old, "{fresh:?}");
    assert_eq!(store.record(old, NOW), None);
    assert!(matches!(store.log(2)[..], [(gone, Change::Delete { .. }), (new, Change::Put { .. })]
        if gone == old && new == fresh.id));

    let expired = store.add(&NewRecord { expires_at: Some(NOW + 20), ..new("other") }, NOW + 10).id;
    store.update(fresh.id, &content("other"), NOW + 20).unwrap();
    assert_eq!(store.number(&format!("SELECT count(*) FROM records WHERE id = {expired}")), 0);
    store.assert_sound();
}

fn an_invalid_record_of_a_batch_does_not_stop_the_others(store: &impl Subject) {
    let batch = [new("one"), new(""), new("two"), new("one")];
    let outcomes = add::add_batch(store.authority(), &batch, NOW).unwrap();
    let ids: Vec<_> = outcomes.iter().map(|o| o.as_ref().ok().map(|o| (o.id, o.created))).collect();
    assert_eq!(ids, [Some((1.into(), true)), None, Some((2.into(), true)), Some((1.into(), false))]);
    assert!(matches!(outcomes[1], Err(Error::Invalid { field: "content", .. })));

    assert_eq!(store.log(0).len(), 3, "the second save of a text changes when it was updated");
    assert_eq!(store.record(2, NOW).unwrap().content, "two");
}

/// 39.15, 41.1.
fn what_belongs_to_a_save_is_there_with_it(store: &impl Subject) {
    let model = store.adopt(2);
    let known = store.add(&NewRecord { tags: vec!["a".into()], ..new("known") }, NOW).id;
    store.update(known, &RecordUpdate { importance: Some(7), ..Default::default() }, NOW).unwrap();
    let of = |record, links: &[(LinkKind, i64)]| Save {
        record: NewRecord { tags: vec!["b".into()], ..record },
        links: links.iter().map(|(kind, id)| (*kind, (*id).into())).collect(),
        given: Some(GivenFields::default()),
        viewer: Viewer::OWNER,
    };
    let nobody = json!({ "name": "x", "primary_contact_id": 99 });
    let nobody = NewRecord { kind: Kind::Project, body: Some(nobody), ..new("nobody's") };
    let saves = [
        of(new("first"), &[(LinkKind::Supersedes, 1), (LinkKind::Related, 1)]),
        of(new(""), &[]),
        of(nobody, &[]),
        of(new("known"), &[(LinkKind::Related, 1), (LinkKind::Related, 2)]),
        of(new("first"), &[]),
        of(new("lost"), &[(LinkKind::Related, 1), (LinkKind::Related, 99)]),
    ];
    let vectors = ["first", "known"].map(|text| (text::embedding_hash(None, text), vec![1.0, 0.0]));
    let vectors = (model, vectors.into_iter().collect());
    let outcomes = save::save(store.authority(), &saves, Some(&vectors), NOW + 1).unwrap();
    let ids: Vec<_> = outcomes.iter().map(|one| one.as_ref().ok().map(|one| one.added.id.get())).collect();
    assert_eq!(ids, [Some(2), None, None, Some(1), Some(2), None], "{outcomes:?}");
    assert!(matches!(outcomes[5], Err(Error::NotFound(id)) if id.get() == 99), "{outcomes:?}");
    let linked = |at: usize| outcomes[at].as_ref().unwrap().links.iter().map(|link| link.is_ok()).collect::<Vec<_>>();
    assert_eq!((linked(0), linked(3)), (vec![true, true], vec![false, true]), "not with itself");
    assert!(outcomes[0].as_ref().unwrap().updated.is_none() && outcomes[4].as_ref().unwrap().updated.is_some());
    assert_eq!((store.count("links"), store.count("records"), store.count("embeddings")), (3, 2, 2));
    assert_eq!(store.embedding_state(2), EmbeddingState::Ready);
    assert_eq!(store.record(1, NOW + 1).unwrap().tags, ["a", "b"]);
    // A link was made last.
    let undone = undo::undo(store.authority(), 1.into(), None, &Viewer::OWNER, NOW + 2).unwrap();
    assert!(matches!(undone, Undoing::Link(link) if link.other_end(1.into()) == 2.into()), "{undone:?}");
    store.assert_sound();
}

/// The vector of a text that is there, and gets the context that it was made with.
fn a_changed_context_has_its_vector_at_once(store: &impl Subject) {
    let model = store.adopt(2);
    let known = store.add(&new("known"), NOW).id;
    assert_eq!(store.embed(model, 2), 1);
    let record = NewRecord { context: Some("where".into()), importance: 9, ..new("known") };
    let vectors = [(text::embedding_hash(Some("where"), "known"), vec![1.0, 0.0])];
    let given = Some(GivenFields { context: true, ..GivenFields::default() });
    let save = Save { record, links: Vec::new(), given, viewer: Viewer::OWNER };
    let vectors = Some((model, vectors.into_iter().collect()));
    let saved = save::save(store.authority(), &[save], vectors.as_ref(), NOW + 1).unwrap().remove(0).unwrap();
    let after = saved.updated.unwrap().unwrap().after;
    assert_eq!((after.id, after.context.as_deref(), after.importance), (known, Some("where"), 5), "it was not given");
    assert_eq!((saved.added.embedding, store.embedding_state(known)), (EmbeddingState::Ready, EmbeddingState::Ready));
    store.assert_sound();
}

/// Vectors of another model, or of the wrong size, are left out.
fn a_vector_that_does_not_fit_is_not_stored(store: &impl Subject) {
    let model = store.adopt(2);
    let save = |text: &str, model: ModelId, vector: Vec<f32>| {
        let record = new(text);
        let vectors = (model, [(text::embedding_hash(None, text), vector)].into_iter().collect());
        let save = Save { record, links: Vec::new(), given: None, viewer: Viewer::OWNER };
        let saved = save::save(store.authority(), &[save], Some(&vectors), NOW).unwrap().remove(0).unwrap();
        saved.added.embedding
    };
    assert_eq!(save("one", model, vec![1.0]), EmbeddingState::Pending);
    assert_eq!(save("two", model, vec![f32::NAN, 1.0]), EmbeddingState::Pending);
    assert_eq!(save("three", (model.get() + 1).into(), vec![1.0, 0.0]), EmbeddingState::Pending);
    assert_eq!(save("four", model, vec![1.0, 0.0]), EmbeddingState::Ready);
    assert_eq!((store.count("records"), store.count("embeddings")), (4, 1));
    store.assert_sound();
}

fn an_earlier_version_comes_back_as_a_new_one(store: &impl Subject) {
    let id = store.add(&NewRecord { expires_at: Some(NOW + 5), ..new("first") }, NOW).id;
    let update = RecordUpdate { expires_at: Some(None), ..content("second") };
    store.update(id, &update, NOW + 1).unwrap();
    let back = |version, now| update::roll_back(store.authority(), id, version, None, None, &Viewer::OWNER, now);
    let first = back(1, NOW + 6).unwrap().after;
    assert_eq!((first.version, first.content.as_str(), first.expires_at), (3, "first", None), "it is over by now");
    assert_eq!(store.log(2), [(id, Change::Put { version: 3, new_text: true })]);
    assert_eq!(store.number("SELECT count(*) FROM versions WHERE version = 2 AND reason = 'rollback to 1'"), 1);
    let refused = back(7, NOW + 6).unwrap_err().to_string();
    assert!(refused.contains("available: 2, 1"), "{refused}");
    assert_eq!(store.count("versions"), 2);
    store.assert_sound();
}

/// A decision that is changed, changed again, and changed back.
fn a_superseded_text_that_is_saved_again_is_current_again(store: &impl Subject) {
    let save = |text: &str, now| store.add(&new(text), now);
    let supersede = |from: RecordId, to: RecordId| {
        store.link(Link { from, to, kind: LinkKind::Supersedes }, &Viewer::OWNER, NOW).unwrap();
    };
    let [jenkins, actions, argo] = ["Jenkins", "Actions", "Argo"].map(|text| save(text, NOW).id);
    supersede(actions, jenkins);
    supersede(argo, actions);
    let elsewhere = NewRecord { scope: scope(None, Some("atlas")), ..new("Concourse") };
    let elsewhere = store.add(&elsewhere, NOW).id;
    supersede(elsewhere, jenkins);
    let again = save("Jenkins", NOW + 1);
    assert_eq!((again.id, again.created, again.supersedes_again), (jenkins, false, vec![argo]));
    let links = store.write(|tx| tx.all("SELECT from_id, kind, to_id FROM links ORDER BY from_id", &[], rows::to_link));
    let supersedes = links.iter().map(|link| (link.from, link.to)).collect::<Vec<_>>();
    assert_eq!(supersedes, [(jenkins, argo), (argo, actions), (elsewhere, jenkins)], "what others see stays");
    assert_eq!(store.record(jenkins, NOW + 1).map(|record| (record.version, record.updated_at)), Some((2, NOW + 1)));
    assert_eq!(store.number("SELECT count(*) FROM versions WHERE reason = 'current again'"), 1);
    assert_eq!(save("Jenkins", NOW + 2).supersedes_again, []);
    assert_eq!(save("Actions", NOW + 3).supersedes_again, [jenkins]);
    store.assert_sound();
}

fn a_change_happens_only_to_what_is_expected(store: &impl Subject) {
    let id = store.add(&NewRecord { tags: vec!["Rigging".into()], ..new("We sail at dawn") }, NOW).id;
    let refused = |expect: Expect| {
        let update = RecordUpdate { expect: Some(expect.clone()), ..content("We row") };
        let refused = store.update(id, &update, NOW).unwrap_err().to_string();
        let delete = trash::delete(store.authority(), id, Some(&expect), &Viewer::OWNER, NOW).unwrap_err();
        assert_eq!(delete.to_string(), refused);
        assert!(refused.starts_with("expect: ") && refused.contains("We sail at dawn"), "{refused}");
    };
    refused(Expect::Version(2));
    refused(Expect::Words("sail dusk".into()));
    refused(Expect::Words("sai".into()));
    let nothing = Some(Expect::Words("---".into()));
    let delete = trash::delete(store.authority(), id, nothing.as_ref(), &Viewer::OWNER, NOW).unwrap_err();
    assert!(delete.to_string().starts_with("expect: \"---\" has no word"), "{delete}");
    for expect in [Expect::Version(1), Expect::Words("DAWN rigging".into())] {
        let text = format!("We sail at dawn: {expect:?}");
        let update = RecordUpdate { expect: Some(expect), ..content(&text) };
        assert_eq!(store.update(id, &update, NOW).unwrap().content, text);
    }
}

fn several_are_changed_and_deleted_or_none(store: &impl Subject) {
    let ids = ["one", "two", "three"].map(|text| store.add(&new(text), NOW).id);
    let update = |text: &str, version| RecordUpdate { expect: Some(Expect::Version(version)), ..content(text) };
    let change = |texts: [(&str, i64); 3]| {
        let updates = ids.iter().zip(texts).map(|(id, (text, version))| (*id, Cow::Owned(update(text, version))));
        update::update(store.authority(), &updates.collect::<Vec<_>>(), None, &Viewer::OWNER, NOW)
    };
    let delete = |versions: [i64; 3]| {
        let expected: Vec<_> = ids.into_iter().zip(versions.map(Expect::Version)).collect();
        trash::delete_all(store.authority(), &expected, &Viewer::OWNER, NOW)
    };
    let texts = || ids.map(|id| store.record(id, NOW).map(|record| (record.content, record.version)));
    let before = texts();
    assert!(matches!(change([("1", 1), ("2", 1), ("3", 7)]), Err(Error::Invalid { field: "expect", .. })));
    assert!(matches!(change([("1", 1), ("2", 1), ("1", 1)]), Err(Error::Duplicate(other)) if other == ids[0]));
    assert!(matches!(delete([1, 1, 2]), Err(Error::Invalid { field: "expect", .. })));
    assert_eq!((texts(), store.count("versions"), store.count("trash")), (before, 0, 0));
    let changed = change([("1", 1), ("2", 1), ("3", 1)]).unwrap();
    assert_eq!(changed.iter().map(|one| &*one.after.content).collect::<Vec<_>>(), ["1", "2", "3"]);
    delete([2, 2, 2]).unwrap();
    assert!(matches!(delete([2, 2, 2]), Err(Error::NotFound(id)) if id == ids[0]));
    assert_eq!((store.count("records"), store.count("trash")), (0, 3));
    store.assert_sound();
}

fn tags_and_fields_are_changed_one_by_one(store: &impl Subject) {
    let task = NewRecord { kind: Kind::Task, tags: vec!["Ship".into(), "dock".into()], ..new("Paint the hull") };
    let id = store.add(&task, NOW).id;
    let update = RecordUpdate {
        add_tags: vec!["ship".into(), "paint".into()],
        remove_tags: vec!["DOCK".into()],
        body_fields: [("status".to_owned(), "done".into())].into_iter().collect(),
        valid_from: Some(Some(NOW)),
        ..RecordUpdate::default()
    };
    let done = store.update(id, &update, NOW).unwrap();
    assert_eq!(done.tags, ["Ship", "paint"]);
    assert_eq!(done.body.unwrap().get("status"), Some(&"done".into()));
    assert_eq!(done.valid, Span { from: Some(NOW), to: None });
    let fact = RecordUpdate { kind: Some(Kind::Fact), ..RecordUpdate::default() };
    assert_eq!(store.update(id, &fact, NOW).unwrap().body, None, "a fact is neither open nor done");
    let wrong = RecordUpdate { valid_to: Some(Some(NOW - 1)), ..RecordUpdate::default() };
    assert!(matches!(store.update(id, &wrong, NOW), Err(Error::Invalid { field: "valid_to", .. })));
}

/// 47.3: metadata is changed by itself, and stays when the rest of a body is replaced or removed.
fn metadata_stays_beside_the_body(store: &impl Subject) {
    let metadata = |year: i64| json!({ "year": year });
    let body = json!({ "feature": "sails", "metadata": metadata(1) });
    let id = store.add(&NewRecord { body: Some(body), ..new("We mend the mainsail") }, NOW).id;
    let update = |update: RecordUpdate| {
        let body = store.update(id, &update, NOW).unwrap().body.map(Body::into_value);
        body.unwrap_or_default()
    };
    let fields = |value: serde_json::Value| RecordUpdate {
        body_fields: [("metadata".to_owned(), value)].into_iter().collect(),
        ..RecordUpdate::default()
    };
    let body = |body: Option<serde_json::Value>| RecordUpdate { body: Some(body), ..RecordUpdate::default() };
    let feature = json!({ "feature": "rigging" });
    assert_eq!(update(fields(metadata(2))), json!({ "feature": "sails", "metadata": metadata(2) }));
    assert_eq!(update(body(Some(feature.clone()))), json!({ "feature": "rigging", "metadata": metadata(2) }));
    assert_eq!(update(body(None)), json!({ "metadata": metadata(2) }));
    let decision = RecordUpdate { kind: Some(Kind::Decision), ..RecordUpdate::default() };
    assert_eq!(update(decision), json!({ "metadata": metadata(2) }), "it needs no title");
    assert_eq!(update(fields(serde_json::Value::Null)), serde_json::Value::Null);
    assert!(store.update(id, &fields(json!([1])), NOW).is_err());
}

fn a_name_is_one_however_it_is_typed(store: &impl Subject) {
    let of = |project: &str, agent: &str, tags: &[&str]| NewRecord {
        scope: Scope { project: Some(project.into()), agent: Some(agent.into()) },
        tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
        ..new("The kettle is in the kitchen")
    };
    let first = store.add(&of(" Cafe\u{301}\n", "Ann\u{e9}", &["the\u{301}", " th\u{e9} ", "Tea "]), NOW);
    let record = store.record(first.id, NOW).unwrap();
    let owner = (record.scope.project.as_deref(), record.scope.agent.as_deref());
    assert_eq!(
        (owner, &record.tags[..]),
        ((Some("Caf\u{e9}"), Some("Ann\u{e9}")), &["th\u{e9}".into(), "Tea".into()][..])
    );
    let again = store.add(&of("Caf\u{e9}", "Anne\u{301} ", &[]), NOW);
    assert_eq!((again.id, again.created), (first.id, false), "the same project, and so the same memory");
    let update = RecordUpdate { remove_tags: vec!["THe\u{301}".into()], ..RecordUpdate::default() };
    assert_eq!(store.update(first.id, &update, NOW).unwrap().tags, ["Tea"]);
    let other = store.add(&of("Cafe", "Ann\u{e9}", &[]), NOW);
    assert!(other.created, "an accent makes another name");
}

fn an_expired_record_is_revived_by_another_expiry(store: &impl Subject) {
    let id = store.add(&NewRecord { expires_at: Some(NOW + 1), ..new("brief") }, NOW).id;
    let expiry = |at| RecordUpdate { expires_at: Some(at), ..RecordUpdate::default() };
    let later = NOW + 9;
    assert!(matches!(store.update(id, &expiry(Some(NOW + 5)), later), Err(Error::NotFound(_))), "that is over, too");
    assert!(store.record(id, later).is_none());
    assert_eq!(store.update(id, &expiry(Some(later + 1)), later).unwrap().expires_at, Some(later + 1));
    assert!(store.record(id, later).is_some());
    let twin = store.add(&new("brief"), later + 1).id;
    assert!(matches!(store.update(id, &expiry(None), later + 1), Err(Error::NotFound(_))), "its text was saved again");
    assert!(store.record(twin, later + 1).is_some());
    store.assert_sound();
}

fn only_who_may_change_a_record_changes_it(store: &impl Subject) {
    let of = |project: Option<&str>| NewRecord { scope: scope(None, project), ..new("text") };
    let [global, theirs] = [of(None), of(Some("theirs"))].map(|new| store.add(&new, NOW).id);
    let before = store.contents();
    let reader = Viewer { project: Reach::Only("mine".into()), agent: Reach::Every };
    let update = |id, viewer: &Viewer| update_one(store.authority(), id, &content("changed"), viewer, NOW);
    assert!(matches!(update(theirs, &Viewer::in_project("mine")), Err(Error::NotFound(id)) if id == theirs));
    let delete = |id, viewer: &Viewer| trash::delete(store.authority(), id, None, viewer, NOW);
    assert_eq!(delete(theirs, &Viewer::in_project("mine")).unwrap(), None);
    assert!(matches!(update(global, &reader), Err(Error::Invalid { .. })));
    assert!(matches!(delete(global, &reader), Err(Error::Invalid { .. })));
    assert_eq!(store.contents(), before);
}

on_every_database![
    a_superseded_text_that_is_saved_again_is_current_again,
    a_change_happens_only_to_what_is_expected,
    several_are_changed_and_deleted_or_none,
    tags_and_fields_are_changed_one_by_one,
    metadata_stays_beside_the_body,
    a_name_is_one_however_it_is_typed,
    an_expired_record_is_revived_by_another_expiry,
    a_record_comes_back_as_it_was_given,
    invalid_input_stores_nothing,
    a_text_is_saved_once_per_scope,
    an_update_keeps_the_version_before,
    an_update_refuses_what_it_must,
    delete_leaves_nothing,
    an_embedding_that_another_record_uses_stays,
    an_expired_twin_gives_its_text_up,
    an_invalid_record_of_a_batch_does_not_stop_the_others,
    what_belongs_to_a_save_is_there_with_it,
    a_changed_context_has_its_vector_at_once,
    a_vector_that_does_not_fit_is_not_stored,
    an_earlier_version_comes_back_as_a_new_one,
    only_who_may_change_a_record_changes_it,
];
