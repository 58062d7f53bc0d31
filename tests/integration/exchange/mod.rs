//! Everything into another store: equal stores, equal bytes, and merging. Rows T38 and D7 of the specification.
//!
//! | file | content |
//! |---|---|
//! | `files.rs` | the files, by the command line |
//! | `large.rs` | 100,000 memories |
//! | `machines.rs` | edits on two machines, by exports |
//! | `states.rs` | exchanges between two machines, with tombstones |
//! | `sync_with.rs` | `memorist sync-with`, over a stand-in for ssh and over a folder |
//!
//! Here: merging, and its permissions.

mod files;
mod large;
mod machines;
mod states;
mod sync_with;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use memorist_engine::embed::{Embedder, HashEmbedder};
use memorist_engine::progress::NoProgress;
use memorist_engine::types::AccessKind;
use memorist_engine::types::{
    Earlier, Export, Exported, Filter, Imported, Kind, Link, LinkKind, ListQuery, Mode, Model, NewRecord, Portable,
    Query, RecordId, RecordUpdate, Replaced, Scope, Viewer,
};
use memorist_engine::{Engine, Error};
use serde_json::json;

use crate::support::{DIMS, Setup, Store, hashed, hashed_with};

const NOW: i64 = 1_767_225_600_000;

/// The ULID of this number.
fn numbered(number: usize) -> String {
    let digits = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    (0..26).rev().map(|place| char::from(digits[(number as u128 >> (5 * place)) as usize % 32])).collect()
}

/// An export with all that there is.
pub fn everything() -> Export {
    Export { embeddings: true, accesses: true, ..Export::default() }
}

/// The content of an export.
pub fn exported(engine: &Engine, export: &Export) -> Vec<Exported> {
    let mut all = Vec::new();
    engine
        .export(export, |exported| {
            all.push(exported);
            Ok::<_, Error>(())
        })
        .unwrap();
    all
}

/// Imports an export, and counts the outcomes.
pub fn import(engine: &Engine, viewer: &Viewer, all: &[Exported]) -> BTreeMap<String, usize> {
    let mut import = engine.viewed_by(viewer).import().unwrap();
    let (mut records, mut links, mut outcomes) = (Vec::new(), Vec::new(), Vec::new());
    for one in all {
        match one {
            Exported::Model(model) => assert_eq!(import.model(model).unwrap(), None),
            Exported::Record(record) => records.push((**record).clone()),
            Exported::Link(link) => links.push(link.clone()),
        }
    }
    for batch in records.chunks(1_000) {
        let first = import.records(batch).unwrap();
        let waiting = batch.iter().zip(&first).filter(|(_, outcome)| matches!(outcome, Ok(Imported::Waits(_))));
        let waiting: Vec<Portable> = waiting.map(|(record, _)| record.clone()).collect();
        outcomes.extend(first.into_iter().filter(|outcome| !matches!(outcome, Ok(Imported::Waits(_)))));
        outcomes.extend(import.records(&waiting).unwrap());
    }
    let mut counts = BTreeMap::new();
    let mut count = |what: &str, outcome: Result<Imported, Error>| {
        let outcome = outcome.map_or_else(|error| error.to_string(), |outcome| format!("{what} {outcome:?}"));
        *counts.entry(outcome).or_insert(0) += 1;
    };
    outcomes.into_iter().for_each(|outcome| count("record", outcome));
    for batch in links.chunks(1_000) {
        import.links(batch).unwrap().into_iter().for_each(|outcome| count("link", outcome));
    }
    counts
}

fn counted<const N: usize>(counts: [(&str, usize); N]) -> BTreeMap<String, usize> {
    counts.into_iter().map(|(what, count)| (what.to_owned(), count)).collect()
}

fn assert_sound(engine: &Engine) {
    let diagnosis = engine.doctor(false, &NoProgress).unwrap();
    let problems: Vec<_> = diagnosis.checks.iter().filter(|check| !check.ok).collect();
    assert!(problems.is_empty(), "{problems:?}");
}

/// The results of a search, by ULID, with their scores. Memories with equal scores may come in any order, and at the
/// end any of them.
pub fn found(engine: &Engine, query: &Query) -> Vec<(u64, Vec<String>)> {
    let mut found: Vec<(u64, Vec<String>)> = Vec::new();
    for hit in engine.search(query).unwrap().hits {
        match found.last_mut() {
            Some((score, ulids)) if *score == hit.score.to_bits() => ulids.push(hit.record.ulid),
            _ => found.push((hit.score.to_bits(), vec![hit.record.ulid])),
        }
    }
    found.iter_mut().for_each(|(_, ulids)| ulids.sort());
    found.pop().map_or(found.clone(), |(score, _)| [found, vec![(score, Vec::new())]].concat())
}

fn scope(agent: Option<&str>, project: Option<&str>) -> Scope {
    Scope { agent: agent.map(Into::into), project: project.map(Into::into) }
}

/// Searches leave no trace: two stores stay equal while both are searched.
fn silent() -> Setup {
    hashed_with(|config| config.log_searches = false)
}

/// A store that has some of everything.
fn rich() -> Store {
    let store = Store::new(silent());
    let engine = &store.engine;
    // In order of their ULIDs, as an import saves them: of two results that tie, the one with the smaller id comes first.
    let add = |record: &NewRecord| {
        std::thread::sleep(Duration::from_millis(2));
        engine.add(record).unwrap().id
    };
    let mut ids = Vec::new();
    for (at, scope) in [
        scope(None, None),
        scope(Some("ann"), None),
        scope(None, Some("atlas")),
        scope(Some("ann"), Some("atlas")),
        scope(Some("\u{1F600} bob"), Some("Größe \"x\"\n")),
    ]
    .into_iter()
    .enumerate()
    {
        for n in 0..8 {
            let mut record = NewRecord::new(format!("note {n} of the h\u{e4}rbour \u{2028} 港 in room {at}"));
            record.kind = Kind::ALL[n];
            record.confidence = 1.0 / (3.0 + n as f64);
            record.importance = 1 + n as i64;
            record.tags = vec![format!("tag {n}"), "e\u{301}".into()];
            record.context = (n % 2 == 0).then(|| format!("said at {n}"));
            record.expires_at = (n == 3).then_some(4_102_444_800_000);
            record.scope = scope.clone();
            record.session = (n % 3 == 2).then(|| format!("talk {at}"));
            record.turn = (n == 5).then_some(40);
            ids.push(add(&record));
        }
    }
    let anna = add(&NewRecord::of_body(Kind::Contact, json!({ "name": "Anna" })).unwrap());
    let gone = add(&NewRecord::of_body(Kind::Contact, json!({ "name": "Gone" })).unwrap());
    let project = json!({ "name": "Ark", "primary_contact_id": gone, "participants": ["Noah", anna, gone] });
    let ark = add(&NewRecord::of_body(Kind::Project, project).unwrap());
    let profile = json!({ "likes": [1, 2.5, null, "tea"], "big": 12_345_678_901_234_567_u64 });
    add(&NewRecord::of_body(Kind::Profile, profile).unwrap());
    for _ in 0..2 {
        let turn = json!({ "user_message": "done?", "agent_response": "done" });
        add(&NewRecord::of_body(Kind::Conversation, turn).unwrap());
    }
    // Later than what refers to it, so that it may come after it in an export.
    let late = add(&NewRecord::of_body(Kind::Contact, json!({ "name": "Late" })).unwrap());
    let body = json!({ "name": "Ark", "primary_contact_id": late, "participants": [anna] });
    let update = RecordUpdate { body: Some(Some(body)), reason: Some("Noah left".into()), ..Default::default() };
    engine.viewed_by(&Viewer::OWNER).update(ark, &update).unwrap();
    engine.viewed_by(&Viewer::OWNER).delete(gone).unwrap();
    for (n, &id) in ids.iter().enumerate().step_by(5) {
        for round in 0..=n % 3 {
            let update = RecordUpdate {
                content: Some(format!("note {n} rewritten {round}")),
                kind: Some(Kind::Insight),
                reason: Some(format!("because {round}")),
                ..Default::default()
            };
            engine.viewed_by(&Viewer::OWNER).update(id, &update).unwrap();
        }
    }
    engine.viewed_by(&Viewer::OWNER).roll_back(ids[10], 1, None, None).unwrap();
    for (n, &id) in ids.iter().enumerate().skip(1) {
        let kind = LinkKind::ALL[n % 5];
        let kind = if kind == LinkKind::Supersedes && n % 10 != 2 { LinkKind::Related } else { kind };
        engine.viewed_by(&Viewer::OWNER).link(Link { from: id, to: ids[n / 2], kind }).unwrap();
    }
    for (n, &id) in ids.iter().enumerate().step_by(3) {
        engine.log_access(id, AccessKind::Search, Some(0.1 * n as f64), Some("h\u{e4}rbour")).unwrap();
        engine.viewed_by(&Viewer::OWNER).access(id).unwrap();
    }
    store.settle();
    store
}

/// D7: an export shows what its viewer sees, without queries.
#[test]
fn an_export_contains_what_its_viewer_sees() {
    let store = rich();
    let all = exported(&store.engine, &Export::of(Viewer::in_project("atlas")));
    let mut ulids = Vec::new();
    for one in &all {
        match one {
            Exported::Record(record) => {
                assert!(Viewer::in_project("atlas").sees(&record.text.scope));
                assert!(record.accesses.is_empty() && record.embedding.is_none());
                ulids.push(record.ulid.clone());
            }
            Exported::Link(link) => assert!(ulids.contains(&link.from) && ulids.contains(&link.to)),
            Exported::Model(_) => panic!("no embeddings were requested"),
        }
    }
    assert!(ulids.is_sorted() && ulids.len() > 20, "{}", ulids.len());
    assert!(
        exported(&store.engine, &Export::of(Viewer::OWNER))
            .iter()
            .any(|one| matches!(one, Exported::Record(record) if !record.accesses.is_empty()))
    );
}

fn ulid(engine: &Engine, id: RecordId) -> String {
    engine.viewed_by(&Viewer::OWNER).get(id).unwrap().unwrap().ulid
}

fn rewrite(engine: &Engine, id: impl Into<RecordId>, text: &str) {
    let update = RecordUpdate { content: Some(text.into()), ..Default::default() };
    engine.viewed_by(&Viewer::OWNER).update(id.into(), &update).unwrap();
}

/// D7.
#[test]
fn a_merge_takes_what_is_newer_and_keeps_the_rest() {
    // Searches are logged in the background, and an export has them.
    let there = Store::new(hashed_with(|config| config.log_searches = false));
    let here = Store::new(hashed());
    for n in 0..4 {
        here.add(&format!("shared heron {n}"));
    }
    assert_eq!(
        import(&there.engine, &Viewer::OWNER, &exported(&here.engine, &everything())),
        counted([("record Created", 4)])
    );
    let id_there = |id: i64| {
        let wanted = ulid(&here.engine, id.into());
        let all = there.engine.list(&ListQuery { limit: 100, ..Default::default() }).unwrap();
        all.into_iter().find(|record| record.ulid == wanted).unwrap().id
    };
    // Newer here; newer there; new here, as another memory there; a link to it.
    rewrite(&here.engine, 1, "a pelican");
    rewrite(&here.engine, 1, "a flamingo");
    rewrite(&there.engine, id_there(2), "a stork");
    // Changed in both: what it was there alone is an earlier version.
    rewrite(&there.engine, id_there(3), "a stray");
    rewrite(&here.engine, 3, "a duck");
    rewrite(&here.engine, 3, "a swan");
    let twin = here.add("the same in both");
    let own = there.add("the same in both");
    here.engine.viewed_by(&Viewer::OWNER).link(Link { from: twin, to: 3.into(), kind: LinkKind::Related }).unwrap();
    here.settle();
    there.settle();
    let united = format!("record {:?}", Imported::United { id: id_there(3), version: 2 });
    let wanted = [
        ("record Replaced", 1),
        (united.as_str(), 1),
        ("record Unchanged", 2),
        ("record Duplicate", 1),
        ("link Created", 1),
    ];
    let all = exported(&here.engine, &everything());
    assert_eq!(import(&there.engine, &Viewer::OWNER, &all), counted(wanted));
    assert_eq!(there.engine.viewed_by(&Viewer::OWNER).links(own, usize::MAX).unwrap()[0].to, id_there(3));
    let flamingo = there.engine.viewed_by(&Viewer::OWNER).history(id_there(1), None, 10).unwrap();
    let texts: Vec<_> = flamingo.iter().map(|version| (version.version, version.content.as_str())).collect();
    assert_eq!(texts, [(3, "a flamingo"), (2, "a pelican"), (1, "shared heron 0")]);
    let swan = there.engine.viewed_by(&Viewer::OWNER).history(id_there(3), None, 10).unwrap();
    let texts: Vec<_> = swan.iter().map(|version| (version.version, version.content.as_str())).collect();
    assert_eq!(texts, [(4, "a swan"), (3, "a duck"), (2, "a stray"), (1, "shared heron 2")]);
    for settled in [false, true] {
        if settled {
            there.engine.flush(&NoProgress).unwrap();
            assert_sound(&there.engine);
        }
        for mode in [Mode::Keyword, Mode::Vector, Mode::Hybrid] {
            let first = there.find(&Query { mode, ..Query::new("flamingo") })[0];
            assert_eq!(first, id_there(1), "{mode:?}");
        }
        assert_eq!(
            there.find(&Query { mode: Mode::Keyword, ..Query::new("heron") }).len(),
            1,
            "what it was is not found"
        );
        assert_eq!(there.find(&Query { mode: Mode::Keyword, ..Query::new("stork") }), [id_there(2)]);
    }
    // The same again changes nothing.
    let before = exported(&there.engine, &everything());
    let wanted = [("record Unchanged", 5), ("link Unchanged", 1)];
    assert_eq!(import(&there.engine, &Viewer::OWNER, &all), counted(wanted));
    assert_eq!(exported(&there.engine, &everything()), before);
    // A newer text that another memory has there: the two are one, with the versions of both.
    rewrite(&here.engine, 4, "a stork");
    import(&there.engine, &Viewer::OWNER, &exported(&here.engine, &everything()));
    let storks = there.find(&Query { mode: Mode::Keyword, ..Query::new("stork") });
    assert_eq!(storks.len(), 1, "{storks:?}");
    let history = there.engine.viewed_by(&Viewer::OWNER).history(storks[0], None, 10).unwrap();
    let texts: BTreeSet<_> = history.iter().map(|version| version.content.as_str()).collect();
    assert_eq!(texts, ["a stork", "shared heron 1", "shared heron 3"].into());
    assert_sound(&there.engine);
}

/// D7: an import writes only what its viewer may change, and a known ULID gives no access to another's memory.
#[test]
fn an_import_writes_only_where_its_viewer_could() {
    let (here, there) = (Store::new(hashed()), Store::new(hashed()));
    let bob = Viewer::of_agent("bob");
    for (agent, text) in [(Some("ann"), "of ann"), (Some("bob"), "of bob"), (None, "of all")] {
        here.engine.add(&NewRecord { scope: scope(agent, None), ..NewRecord::new(text) }).unwrap();
    }
    here.engine.viewed_by(&Viewer::OWNER).link(Link { from: 2.into(), to: 1.into(), kind: LinkKind::Related }).unwrap();
    let mut all = exported(&here.engine, &everything());
    let outcomes = import(&there.engine, &bob, &all);
    assert_eq!(outcomes["record Created"], 2, "{outcomes:?}");
    assert!(outcomes.keys().any(|why| why.starts_with("agent: ")), "{outcomes:?}");
    assert!(outcomes.keys().any(|why| why.contains("neither in this store")), "{outcomes:?}");
    assert_eq!(there.engine.stats(&Filter::default()).unwrap().total, 2);

    import(&there.engine, &Viewer::OWNER, &all);
    let before = exported(&there.engine, &everything());
    for one in &mut all {
        if let Exported::Record(record) = one
            && record.text.content == "of ann"
        {
            (record.version, record.text.scope) = (9, scope(Some("bob"), None));
        }
    }
    let outcomes = import(&there.engine, &bob, &all);
    // bob does not learn whose the memories are that he does not see.
    assert!(outcomes.keys().any(|why| why.starts_with("ulid: ") && why.contains("plain line")), "{outcomes:?}");
    assert!(!outcomes.keys().any(|why| why.starts_with("ulid: ") && why.contains("another")), "{outcomes:?}");
    assert_eq!(exported(&there.engine, &everything()), before);
    let changed = exported(&here.engine, &everything());
    let update = RecordUpdate { content: Some("of ann, later".into()), ..Default::default() };
    here.engine.viewed_by(&Viewer::OWNER).update(1.into(), &update).unwrap();
    import(&there.engine, &bob, &exported(&here.engine, &everything()));
    assert_eq!(exported(&there.engine, &everything()), changed, "a newer version of ann's does not come by bob");
}

#[test]
fn an_export_of_one_project_contains_no_queries() {
    let store = rich();
    let queries = |viewer: Viewer| {
        let export = Export { accesses: true, ..Export::of(viewer) };
        let mut accesses = Vec::new();
        for one in exported(&store.engine, &export) {
            if let Exported::Record(record) = one {
                accesses.extend(record.accesses);
            }
        }
        (accesses.len(), accesses.iter().filter(|access| access.query.is_some()).count())
    };
    let (accesses, with_query) = queries(Viewer::in_project("atlas"));
    assert!(accesses > 0 && with_query == 0, "{with_query} of {accesses}");
    assert!(queries(Viewer::OWNER).1 > 0);
}

/// D7: secrets are refused or redacted in an import as in a write, in earlier versions too.
#[test]
fn secrets_do_not_come_in_by_an_import() {
    let store = Store::new(hashed());
    let secret = concat!("password", ": hunter2-correct-horse");
    let text = NewRecord::new("fine");
    let with = |earlier: &str, reason: &str, now: &str| {
        let replaced = Replaced { at: NOW, reason: reason.into() };
        let earlier = Earlier { version: 1, since: NOW, replaced, text: NewRecord::new(earlier) };
        Portable { version: 2, earlier: vec![earlier], text: NewRecord::new(now), ..portable(1, text.clone()) }
    };
    let mut import = store.engine.viewed_by(&Viewer::OWNER).import().unwrap();
    let batch = [with(secret, "r", "x"), with("y", secret, "x"), with("y", "r", secret), with("y", "r", "kept")];
    let outcomes: Vec<_> =
        import.records(&batch).unwrap().into_iter().map(|outcome| outcome.map_err(|e| e.to_string())).collect();
    for (outcome, field) in outcomes.iter().zip(["versions: 1: content: ", "versions: 1: reason: ", "content: "]) {
        let error = outcome.as_ref().unwrap_err();
        assert!(error.starts_with(field) && !error.contains("hunter2"), "{error}");
    }
    assert_eq!(outcomes[3], Ok(Imported::Created));
    let body = json!({ "title": "Production DB password", "description": "is hunter2-correct-horse" });
    let decision = NewRecord { kind: Kind::Decision, body: Some(body), ..NewRecord::new("how to log in") };
    let earlier = Earlier { text: decision.clone(), ..with("y", "r", "x").earlier.remove(0) };
    let in_versions = Portable { earlier: vec![earlier], ..with("y", "r", "x") };
    for (portable, field) in [(portable(2, decision), "body: "), (in_versions, "versions: 1: body: ")] {
        let error = import.records(&[portable]).unwrap().remove(0).unwrap_err().to_string();
        assert!(error.starts_with(field) && !error.contains("hunter2"), "{error}");
    }
    let redacting = hashed_with(|config| config.sensitive = memorist_engine::sensitive::Sensitive::Redact);
    let redacting = Store::new(redacting);
    let batch = [with(secret, secret, secret)];
    assert_eq!(
        redacting.engine.viewed_by(&Viewer::OWNER).import().unwrap().records(&batch).unwrap()[0].as_ref().unwrap(),
        &Imported::Created
    );
    assert!(!format!("{:?}", exported(&redacting.engine, &everything())).contains("hunter2"));
}

/// A memory of this test, with a ULID of this number.
fn portable(number: usize, text: NewRecord) -> Portable {
    Portable::new(numbered(number), 1, text, NOW)
}

/// D7: the embeddings of another model are skipped, and computed again.
#[test]
fn embeddings_of_another_model_are_of_no_use() {
    let store = Store::new(hashed());
    let mut import = store.engine.viewed_by(&Viewer::OWNER).import().unwrap();
    let identity = HashEmbedder::new(DIMS).identity().clone();
    let other =
        Model { name: "other".into(), weights_sha256: "f".repeat(64), pooling: identity.pooling.clone(), dims: 3 };
    let warning = import.model(&other).unwrap().unwrap();
    assert!(warning.contains("other") && warning.contains("computed again"), "{warning}");
    let embedded = Portable { embedding: Some(vec![1.0, 0.0, 0.0]), ..portable(1, NewRecord::new("a heron")) };
    assert_eq!(import.records(std::slice::from_ref(&embedded)).unwrap()[0].as_ref().unwrap(), &Imported::Created);
    let own = Model { name: identity.name, weights_sha256: identity.weights_sha256, dims: DIMS, ..other };
    assert_eq!(import.model(&own).unwrap(), None);
    let mut refused = |portable: Portable| import.records(&[portable]).unwrap().remove(0).unwrap_err().to_string();
    assert!(
        refused(Portable { text: NewRecord::new("b"), ..portable(2, NewRecord::new("b")) }.with(vec![1.0, 0.0]))
            .contains("2 numbers")
    );
    assert!(refused(portable(3, NewRecord::new("c")).with(vec![0.5; DIMS])).contains("its length must be 1"));
    store.settle();
    assert_eq!(store.find(&Query { mode: Mode::Vector, ..Query::new("heron") }).len(), 1);
    assert_sound(&store.engine);
}

trait WithEmbedding {
    fn with(self, embedding: Vec<f32>) -> Self;
}

impl WithEmbedding for Portable {
    fn with(self, embedding: Vec<f32>) -> Self {
        Portable { embedding: Some(embedding), ..self }
    }
}
