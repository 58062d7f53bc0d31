//! References in bodies, and one profile a scope.

use serde_json::json;

use super::*;
use crate::types::Kind;

fn contact(name: &str, project: Option<&str>) -> NewRecord {
    let body = Some(json!({ "name": name }));
    NewRecord { kind: Kind::Contact, body, scope: scope(None, project), ..new(name) }
}

fn project_of(contact: RecordId, project: Option<&str>) -> NewRecord {
    let body = Some(json!({ "name": "atlas", "primary_contact_id": contact }));
    NewRecord { kind: Kind::Project, body, scope: scope(None, project), ..new(&format!("atlas of {contact}")) }
}

fn a_body_refers_to_contacts_that_its_scope_sees(store: &impl Subject) {
    let [global, ours, theirs] = [("Ada", None), ("Ben", Some("ours")), ("Cleo", Some("theirs"))]
        .map(|(name, project)| store.add(&contact(name, project), NOW).id);
    let fact = store.add(&new("no contact"), NOW).id;
    let add = |id, project| add_one(store.authority(), &project_of(id, project), NOW);
    let id = add(ours, Some("ours")).unwrap().id;
    assert!(add(global, Some("ours")).is_ok() && add(global, None).is_ok());
    for (id, project) in [(theirs, Some("ours")), (ours, None), (fact, None), (99.into(), None)] {
        let refused = add(id, project).unwrap_err().to_string();
        assert!(
            refused.contains(&format!("{id} is not a contact that this memory's project and agent see")),
            "{refused}"
        );
    }
    assert!(store.delete(ours));
    let louder = RecordUpdate { importance: Some(9), ..RecordUpdate::default() };
    assert!(store.update(id, &louder, NOW).is_ok(), "what it referred to before may be gone");
    store.assert_sound();
}

fn a_scope_has_one_profile(store: &impl Subject) {
    let profile = |text: &str, project, expires_at| {
        let body = Some(json!({ "name": text }));
        NewRecord { kind: Kind::Profile, body, scope: scope(None, project), expires_at, ..new(text) }
    };
    let add = |new: &NewRecord, now| add_one(store.authority(), new, now);
    let first = add(&profile("one", None, Some(NOW + 5)), NOW).unwrap().id;
    let refused = add(&profile("two", None, None), NOW).unwrap_err().to_string();
    assert!(refused.contains(&format!("its scope has a profile already: {first}")), "{refused}");
    assert!(add(&profile("two", Some("atlas"), None), NOW).is_ok(), "of another scope");
    let body = Some(Some(json!({ "name": "uno" })));
    assert!(store.update(first, &RecordUpdate { body, ..RecordUpdate::default() }, NOW).is_ok(), "its own");
    assert!(add(&profile("two", None, None), NOW + 5).is_ok(), "the first has expired");
}

on_every_database![a_body_refers_to_contacts_that_its_scope_sees, a_scope_has_one_profile];
