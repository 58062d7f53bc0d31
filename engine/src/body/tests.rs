use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::types::{MAX_CONTENT_BYTES, MAX_LABEL_BYTES};

/// Field names of each kind, with a `*` after the required ones: as in the documents.
const DOCUMENTED: [(Kind, &str); 16] = [
    (Kind::Fact, "title description feature metadata"),
    (Kind::Preference, "title description feature metadata"),
    (Kind::Event, "title description feature metadata"),
    (Kind::Insight, "title description feature metadata"),
    // Those of its document, and our own two.
    (Kind::Task, "title description feature status due metadata"),
    (Kind::Relationship, "title description feature metadata"),
    (Kind::Decision, "title* description* feature metadata"),
    (Kind::Pattern, "title* description* feature metadata"),
    (Kind::Bugfix, "title* description* feature metadata"),
    (Kind::Background, "title description feature metadata"),
    (Kind::Contact, "name* email company role type metadata"),
    (Kind::Project, "name* status type description primary_contact_id participants company priority metadata"),
    (
        Kind::Skill,
        "name* description enabled trigger_type trigger_config instructions* required_tools execution_plan max_steps metadata",
    ),
    (Kind::Profile, ""),
    (Kind::Conversation, "session_id user_message* agent_response* metadata"),
    (Kind::Chunk, ""),
];

/// Values that a field of this shape accepts, and values that it refuses for their type.
fn samples(shape: Shape) -> (Vec<Value>, Vec<Value>) {
    let (taken, refused) = match shape {
        Shape::Label | Shape::Text => (json!(["a", " padded ", "日本"]), json!([1, true, ["a"], {"a": 1}])),
        Shape::Choice { of, .. } => (json!(of), json!([1, true, ["work"], "friend", "Work", " work"])),
        Shape::Flag { .. } => (json!([true, false]), json!(["true", 1, [], {}])),
        Shape::Count { .. } | Shape::Record => {
            (json!([1, 7, i64::MAX]), json!(["1", true, [1], {}, 0, -3, 1.5, u64::MAX]))
        }
        Shape::Time => (json!([1_795_426_446_841_i64]), json!(["2026-12-01", 0, 1_795_426_446, 1.5, true])),
        Shape::Labels => (json!([[], ["a"], ["a", "b"]]), json!(["a", 1, {}, [1], ["a", null], [["a"]]])),
        Shape::People => {
            (json!([[], ["Anna", 4], [1]]), json!(["Anna", 4, {}, [null], [0], [1.5], [["a"]], ["ulid:0"]]))
        }
        Shape::Object => (json!([{}, {"cron": "0 9 * * *", "on": [1, null]}]), json!(["a", 1, true, [1]])),
        Shape::Structure => (json!([{}, [], ["one", {"two": 2}]]), json!(["a", 1, true])),
        Shape::Metadata => (
            json!([{}, {"year": 2024, "of": ["a", 1.5, true, null], "deep": {"a": [1]}}]),
            json!(["a", 1, true, [1], {"": 1}, {"$gt": 1}, {"a": vec![0; 257]}, {"a": "x".repeat((64 << 10) + 1)}]),
        ),
    };
    (taken.as_array().unwrap().clone(), refused.as_array().unwrap().clone())
}

/// A body of `kind` with every field of the table.
fn full(kind: Kind) -> Map<String, Value> {
    fields(kind).iter().map(|field| (field.name.to_owned(), samples(field.shape).0[0].clone())).collect()
}

fn with(mut map: Map<String, Value>, name: &str, value: Value) -> Value {
    map.insert(name.to_owned(), value);
    Value::Object(map)
}

fn without(mut map: Map<String, Value>, name: &str) -> Value {
    map.remove(name);
    Value::Object(map)
}

fn body(kind: Kind, value: Value) -> Body {
    Body::new(kind, value).unwrap()
}

fn refusal(kind: Kind, value: Value) -> String {
    Body::new(kind, value).unwrap_err().to_string()
}

/// Lists within each other, the last of them empty.
fn nested(levels: usize) -> Value {
    (1..levels).fold(Value::Array(Vec::new()), |inner, _| Value::Array(vec![inner]))
}

#[test]
fn r9_to_r15_each_kind_has_the_fields_of_its_document() {
    for ((kind, documented), each) in DOCUMENTED.into_iter().zip(Kind::ALL) {
        assert_eq!(kind, each);
        let names: Vec<_> = fields(kind)
            .iter()
            .map(|field| format!("{}{}", field.name, if field.need == Need::Required { "*" } else { "" }))
            .collect();
        assert_eq!(names.join(" "), documented, "{kind}");
        assert!(fields(kind).iter().all(|field| field.path == format!("body.{}", field.name)));
    }
}

#[test]
fn a_field_accepts_values_of_its_shape_and_rejects_others() {
    for kind in Kind::ALL {
        for field in fields(kind) {
            let (taken, refused) = samples(field.shape);
            for value in taken {
                let body = body(kind, with(full(kind), field.name, value.clone()));
                assert_eq!(body.get(field.name), Some(&value), "{kind}");
            }
            for value in refused {
                let why = refusal(kind, with(full(kind), field.name, value.clone()));
                assert!(why.starts_with(&format!("{}: ", field.path)), "{kind} {value}: {why}");
            }
        }
    }
}

#[test]
fn an_absent_or_null_field_gets_its_default_unless_required() {
    for kind in Kind::ALL {
        for field in fields(kind) {
            for value in [without(full(kind), field.name), with(full(kind), field.name, Value::Null)] {
                match (field.need, field.shape.default_value()) {
                    (Need::Optional, default) => assert_eq!(body(kind, value).get(field.name), default.as_ref()),
                    _ => assert_eq!(refusal(kind, value), format!("{}: is missing", field.path)),
                }
            }
        }
    }
    assert_eq!(body(Kind::Contact, json!({"name": "Anna"})).to_json(), r#"{"name":"Anna","type":"work"}"#);
    assert_eq!(
        body(Kind::Skill, json!({"instructions": "Do it.", "name": "do"})).to_json(),
        r#"{"name":"do","enabled":true,"instructions":"Do it.","max_steps":10}"#
    );
}

#[test]
fn a_note_needs_a_description_only_beside_a_title() {
    for given in [json!({}), json!({"feature": "auth"}), json!({"description": "No title."})] {
        assert_eq!(body(Kind::Fact, given.clone()).into_value(), given);
    }
    assert_eq!(refusal(Kind::Fact, json!({"title": "Alone"})), "body.description: is missing");
}

/// 47.3: a record of any kind but a chunk may have metadata alone; the other fields are asked for where one of them is given.
#[test]
fn metadata_may_stand_alone() {
    for kind in Kind::ALL.into_iter().filter(|kind| *kind != Kind::Chunk) {
        let alone = json!({ "metadata": { "year": 2024 } });
        assert_eq!(body(kind, alone.clone()).into_value(), alone, "{kind}");
    }
    let contact = json!({ "metadata": { "year": 2024 }, "email": "a@example.org" });
    assert_eq!(refusal(Kind::Contact, contact), "body.name: is missing");
    assert_eq!(refusal(Kind::Contact, json!({ "metadata": null })), "body.name: is missing");
    assert_eq!(body(Kind::Fact, json!({ "metadata": { "note": "text" } })).text(), None);
}

#[test]
fn fields_are_stored_in_the_order_of_the_table() {
    for kind in Kind::ALL.into_iter().filter(|kind| *kind != Kind::Chunk) {
        let backwards: Map<_, _> = full(kind).into_iter().rev().collect();
        let body = body(kind, Value::Object(backwards));
        assert!(body.as_map().keys().eq(fields(kind).iter().map(|field| field.name)), "{kind}");
    }
    let profile = json!({"b": 1, "a": null});
    assert_eq!(body(Kind::Profile, profile).to_json(), r#"{"b":1,"a":null}"#);
}

#[test]
fn refusals_say_what_is_allowed() {
    let anna = |name, value| with(full(Kind::Contact), name, value);
    let project = |name, value| with(full(Kind::Project), name, value);
    for (kind, given, message) in [
        (
            Kind::Contact,
            anna("colour", json!("red")),
            "body: unknown field \"colour\" of a contact; it has name, email, company, role, type, metadata",
        ),
        (
            Kind::Event,
            json!({"when": 1}),
            "body: unknown field \"when\" of an event; it has title, description, feature, metadata",
        ),
        (
            Kind::Contact,
            anna("type", json!("friend")),
            "body.type: unknown \"friend\"; use one of work, personal, ignored",
        ),
        (Kind::Contact, json!({}), "body.name: is missing"),
        (Kind::Contact, anna("name", json!(7)), "body.name: must be a text, not a number"),
        (Kind::Contact, anna("name", json!(" \n")), "body.name: is empty"),
        (Kind::Skill, with(full(Kind::Skill), "max_steps", json!(0)), "body.max_steps: 0 is less than 1"),
        (
            Kind::Skill,
            with(full(Kind::Skill), "max_steps", json!(2.5)),
            "body.max_steps: 2.5 is not a whole number below 2^63",
        ),
        (
            Kind::Skill,
            with(full(Kind::Skill), "required_tools", json!(["grep", ""])),
            "body.required_tools: entry 2: is empty",
        ),
        (
            Kind::Project,
            project("participants", json!([{}])),
            "body.participants: entry 1: must be a text or an id, not an object",
        ),
        (
            Kind::Project,
            project("primary_contact_id", json!("Anna")),
            "body.primary_contact_id: must be the id of a memory, not a text",
        ),
        (Kind::Chunk, json!({}), "body: a chunk has none"),
        (Kind::Profile, json!("Anna"), "body: must be an object, not a text"),
        (Kind::Fact, Value::Null, "body: must be an object, not null"),
        (Kind::Fact, json!([]), "body: must be an object, not a list"),
    ] {
        assert_eq!(refusal(kind, given), message);
    }
}

#[test]
fn texts_have_a_longest_length_and_no_nul() {
    for kind in Kind::ALL {
        for field in fields(kind) {
            let most = match field.shape {
                Shape::Label => MAX_LABEL_BYTES,
                Shape::Text => MAX_TEXT_BYTES,
                _ => continue,
            };
            body(kind, with(full(kind), field.name, json!("x".repeat(most))));
            for (text, why) in [("x".repeat(most + 1), "bytes long; at most"), ("a\0b".into(), "NUL")] {
                let message = refusal(kind, with(full(kind), field.name, json!(text)));
                assert!(message.starts_with(field.path) && message.contains(why), "{message}");
            }
        }
    }
    for free in [json!({"a": ["\0"]}), json!({"\0": 1}), json!({"a": {"\0": 1}})] {
        assert_eq!(refusal(Kind::Profile, free.clone()), "body: contains a NUL character; remove it");
        let skill = with(full(Kind::Skill), "trigger_config", free);
        assert_eq!(refusal(Kind::Skill, skill), "body.trigger_config: contains a NUL character; remove it");
    }
}

#[test]
fn a_body_is_neither_too_deep_nor_too_long() {
    body(Kind::Profile, json!({"a": nested(MAX_DEPTH - 1)}));
    body(Kind::Skill, with(full(Kind::Skill), "execution_plan", nested(MAX_DEPTH - 1)));
    for depth in [MAX_DEPTH, 120] {
        assert_eq!(
            refusal(Kind::Profile, json!({"a": nested(depth)})),
            "body: is nested too deep; a body is at most 32 deep"
        );
        let skill = with(full(Kind::Skill), "execution_plan", nested(depth));
        assert_eq!(refusal(Kind::Skill, skill), "body.execution_plan: is nested too deep; a body is at most 32 deep");
    }

    let around = r#"{"a":""}"#.len();
    body(Kind::Profile, json!({"a": "x".repeat(MAX_BODY_BYTES - around)}));
    let message = refusal(Kind::Profile, json!({"a": "x".repeat(MAX_BODY_BYTES - around + 1)}));
    assert_eq!(message, "body: is 1048577 bytes of JSON; at most 1048576 are kept");

    body(Kind::Project, with(full(Kind::Project), "participants", json!(vec![1; MAX_ITEMS])));
    let message = refusal(Kind::Project, with(full(Kind::Project), "participants", json!(vec![1; MAX_ITEMS + 1])));
    assert_eq!(message, "body.participants: has 65 entries; at most 64");
}

#[test]
fn a_body_without_content_has_a_text_without_gaps() {
    for (kind, given, text) in [
        (
            Kind::Decision,
            json!({"title": "Use SQLite", "description": "One file.", "feature": "x"}),
            "Use SQLite One file.",
        ),
        (Kind::Task, json!({"description": " Water the plants. "}), "Water the plants."),
        (
            Kind::Contact,
            json!({"name": "Anna", "email": "a@acme.org", "company": "Acme", "role": "CTO", "type": "personal"}),
            "Anna, CTO at Acme (personal) a@acme.org",
        ),
        (Kind::Contact, json!({"name": "Anna"}), "Anna (work)"),
        (Kind::Contact, json!({"name": "Anna", "company": "Acme"}), "Anna at Acme (work)"),
        (
            Kind::Project,
            json!({"name": "Ark", "status": "active", "type": "work", "description": "A boat.", "company": "Noah & Co",
                "priority": "high", "primary_contact_id": 3}),
            "Ark: A boat. (active, work, high; Noah & Co)",
        ),
        (Kind::Project, json!({"name": "Ark"}), "Ark"),
        (Kind::Project, json!({"name": "Ark", "priority": "high"}), "Ark (high)"),
        (Kind::Project, json!({"name": "Ark", "company": "Noah & Co"}), "Ark (Noah & Co)"),
        (
            Kind::Skill,
            json!({"name": "report", "description": "Weekly.", "instructions": "1. Gather\n2. Send"}),
            "report: Weekly.\n1. Gather\n2. Send",
        ),
        (Kind::Skill, json!({"name": "report", "instructions": "Send it."}), "report\nSend it."),
        (
            Kind::Conversation,
            json!({"session_id": "s1", "user_message": "Hi", "agent_response": "Hello"}),
            "User: Hi\nAssistant: Hello",
        ),
        (
            Kind::Profile,
            json!({"name": "Anna", "none": null, "home": {"city": "Bonn", "since": 2019, "": ""},
                "likes": ["tea", {"at": "six"}], "early": true}),
            "name: Anna\nhome.city: Bonn\nhome.since: 2019\nlikes: tea\nlikes.at: six\nearly: true",
        ),
    ] {
        assert_eq!(body(kind, given).text().as_deref(), Some(text));
    }
    for (kind, given) in
        [(Kind::Fact, json!({"feature": "auth"})), (Kind::Profile, json!({"a": [null, {}, " "], "b": []}))]
    {
        assert_eq!(body(kind, given).text(), None);
    }
}

#[test]
fn the_text_of_a_profile_is_never_longer_than_a_content() {
    let profile = body(Kind::Profile, json!({"k".repeat(MAX_BODY_BYTES / 2): vec![7; MAX_BODY_BYTES / 8], "last": 1}));
    let text = profile.text().unwrap();
    assert!(text.len() <= MAX_CONTENT_BYTES && text.ends_with("\nlast: 1"), "{} bytes", text.len());
}

#[test]
fn a_stored_body_round_trips_and_corruption_is_an_error() {
    for kind in Kind::ALL.into_iter().filter(|kind| *kind != Kind::Chunk) {
        let body = body(kind, Value::Object(full(kind)));
        assert_eq!(Body::from_stored(kind, &body.to_json()).unwrap(), body);
        assert_eq!(serde_json::to_string(&body).unwrap(), body.to_json());
    }
    for damaged in ["", "{", "[]", "null", "{\"a\":1}x", "\u{1}"] {
        let error = Body::from_stored(Kind::Fact, damaged).unwrap_err().to_string();
        assert!(error.starts_with("body: the stored body is not a JSON object"), "{error}");
    }
    let of_a_newer_version = Body::from_stored(Kind::Contact, r#"{"name":7,"pager":"123"}"#).unwrap();
    assert_eq!(of_a_newer_version.get("pager"), Some(&json!("123")));
    assert_eq!(of_a_newer_version.text(), None);
}

/// Replaces references, and counts them.
fn replaced(kind: Kind, body: &mut Value, with: impl Fn(&Value) -> Option<Value>) -> usize {
    let mut count = 0;
    let counted = replace_references(kind, body, |reference| {
        count += 1;
        Ok::<_, Error>(with(reference))
    });
    counted.unwrap();
    count
}

#[test]
fn references_to_records_are_found_and_replaced() {
    let project = json!({"name": "Ark", "primary_contact_id": 3, "participants": ["Noah", 4, 5]});
    let stored = body(Kind::Project, project.clone());
    let found = [("body.primary_contact_id", 3), ("body.participants", 4), ("body.participants", 5)];
    assert_eq!(stored.references(), found.map(|(field, id)| (field, id.into())));

    let mut exported = stored.clone().into_value();
    replaced(Kind::Project, &mut exported, |id| Some(json!(format!("{ULID_PREFIX}{id}"))));
    let in_export =
        json!({"name": "Ark", "primary_contact_id": "ulid:3", "participants": ["Noah", "ulid:4", "ulid:5"]});
    assert_eq!(exported, in_export);
    assert!(Body::new(Kind::Project, exported.clone()).is_err(), "a reference left as it was exported is not a name");
    let mut without = exported.clone();
    replaced(Kind::Project, &mut exported, |ulid| {
        Some(json!(ulid.as_str().unwrap()[ULID_PREFIX.len()..].parse::<i64>().unwrap()))
    });
    assert_eq!(body(Kind::Project, exported), stored);
    replaced(Kind::Project, &mut without, |ulid| (ulid == "ulid:5").then(|| json!(5)));
    assert_eq!(without, json!({"name": "Ark", "participants": ["Noah", 5]}), "what is nothing is taken out");

    // A profile may have the same keys, but there they mean what its owner likes.
    assert_eq!(body(Kind::Profile, project.clone()).references(), []);
    assert_eq!(replaced(Kind::Profile, &mut project.clone(), |_| None), 0);
    assert_eq!(replaced(Kind::Project, &mut json!([3]), |_| None), 0);
}

fn any_text() -> impl Strategy<Value = Value> {
    "\\PC{0,12}|[\\s\\S]{0,6}|a?\0|ulid:[0-9A-Z]{26}|work".prop_map(Value::from)
}

/// Any JSON. Its fractions survive a round trip through serde_json; some others are off by one step.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-4_000i32..4_000).prop_map(|eighths| Value::from(f64::from(eighths) / 8.0)),
        any_text(),
    ];
    leaf.prop_recursive(5, 40, 6, |inner| {
        prop_oneof![prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from), object_of(inner)]
    })
}

fn object_of(member: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    prop::collection::hash_map("\\PC{0,8}|[\\s\\S]{0,3}", member, 0..6)
        .prop_map(|members| Value::Object(members.into_iter().collect()))
}

/// An object with the fields of the kind, of which many fit; for a profile, any object.
fn near_body(kind: Kind) -> BoxedStrategy<Value> {
    if kind == Kind::Profile {
        return object_of(any_json()).boxed();
    }
    let members: Vec<_> = fields(kind)
        .iter()
        .map(|field| {
            let value = prop_oneof![
                2 => Just(Value::Null),
                6 => prop::sample::select(samples(field.shape).0),
                6 => any_text(),
                1 => any_json(),
            ];
            value.prop_map(|value| (field.name.to_owned(), value))
        })
        .collect();
    members.prop_map(|members| Value::Object(members.into_iter().collect())).boxed()
}

proptest! {
    #[test]
    fn any_json_is_a_sound_body_or_a_refusal(
        (kind, given) in prop::sample::select(Kind::ALL.to_vec())
            .prop_flat_map(|kind| (Just(kind), prop_oneof![1 => any_json(), 4 => near_body(kind)]))
    ) {
        match Body::new(kind, given.clone()) {
            Ok(body) => {
                prop_assert_eq!(&Body::new(kind, body.clone().into_value()).unwrap(), &body);
                prop_assert_eq!(&Body::from_stored(kind, &body.to_json()).unwrap(), &body);
                prop_assert!(body.text().is_none_or(|text| !text.trim().is_empty() && !text.contains('\0')));
                let places = replaced(kind, &mut body.clone().into_value(), |_| None);
                prop_assert_eq!(body.references().len(), places);
            }
            Err(error) => prop_assert!(error.to_string().starts_with("body"), "{error}"),
        }
        // A file on disk may contain anything.
        if let Ok(stored) = Body::from_stored(kind, &given.to_string()) {
            let _ = (stored.text(), stored.references());
        }
        replaced(kind, &mut given.clone(), |_| None);
    }
}
