//! Every filter, alone and combined, against the same rule in plain code.

use std::collections::BTreeSet;

use memorist_engine::Error;
use memorist_engine::progress::NoProgress;
use memorist_engine::types::{
    Filter, Kind, Link, LinkKind, ListQuery, MetadataFilter, Mode, NewRecord, Purge, Query, Reach, Record, RecordId,
    RecordUpdate, Scope, Span, Viewer,
};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::json;

use crate::support::{Store, hashed, words_only};

const RECORDS: usize = 400;
/// In 2033.
const DATE: i64 = 2_000_000_000_000;
const TAGS: [&str; 4] = ["ui", "Billing", "snake_case", "日本"];
const PROJECTS: [Option<&str>; 3] = [None, Some("atlas"), Some("borealis")];
const AGENTS: [Option<&str>; 3] = [None, Some("scribe"), Some("scout")];

fn fill(store: &Store) -> Vec<Record> {
    let mut ids = Vec::new();
    for at in 0..RECORDS {
        let mut record = NewRecord::new(format!("every record has a common word and number {at}"));
        record.kind = Kind::ALL[at % Kind::ALL.len()];
        record.importance = 1 + (at % 10) as i64;
        record.confidence = (at % 5) as f64 / 4.0;
        record.tags =
            TAGS.iter().enumerate().filter(|(bit, _)| at >> bit & 1 == 1).map(|(_, tag)| (*tag).into()).collect();
        record.scope.project = PROJECTS[at % 3].map(Into::into);
        record.scope.agent = AGENTS[at / 3 % 3].map(Into::into);
        let at = at as i64;
        record.valid = match at % 4 {
            0 => Span { from: Some(DATE + at), to: None },
            1 => Span { from: Some(DATE + at), to: Some(DATE + at + 50) },
            2 => Span { from: None, to: Some(DATE + at) },
            _ => Span::default(),
        };
        let metadata = json!({ "year": 2000 + at % 25, "of": [at % 7, TAGS[at as usize % 4]], "even": at % 2 == 0 });
        record.body = match record.kind {
            Kind::Task => Some(json!({ "due": DATE + at, "metadata": metadata })),
            // A scope has one profile with a body at most.
            Kind::Chunk | Kind::Insight | Kind::Profile => None,
            _ => Some(json!({ "metadata": metadata })),
        };
        ids.push(store.engine.add(&record).unwrap().id);
    }
    ids.into_iter().map(|id| store.engine.viewed_by(&Viewer::OWNER).access(id).unwrap()).collect()
}

fn filters(times: Vec<i64>) -> impl Strategy<Value = Filter> {
    let kinds = prop::collection::vec(prop::sample::select(Kind::ALL.to_vec()), 0..3);
    let tags = prop::collection::vec(prop::sample::select(TAGS.to_vec()).prop_map(String::from), 0..3);
    let importance = prop::option::of(1..=10i64);
    let confidence = prop::option::of(prop::sample::select(vec![0.0, 0.25, 0.5, 0.6, 1.0]));
    let reach = |names: [Option<&'static str>; 3]| {
        let own = prop::sample::select(names.to_vec());
        let own = own.prop_map(|name| name.map_or(Reach::Shared, |name| Reach::Own(name.into())));
        prop_oneof![Just(Reach::Every), own]
    };
    let time = prop::option::of(prop::sample::select(times));
    let span = (time.clone(), time);
    let date = prop::option::of(DATE - 10..DATE + RECORDS as i64 + 60);
    let metadata = prop::sample::select(vec![
        json!({ "year": { "$gte": 2020 } }),
        json!({ "year": { "$lt": 2003.5 }, "even": true }),
        json!({ "of": { "$in": [3, "ui"] } }),
        json!({ "$not": { "of": "日本" } }),
        json!({ "$or": [{ "year": { "$exists": false } }, { "even": { "$ne": false } }] }),
    ]);
    let metadata = prop::option::of(metadata.prop_map(|given| MetadataFilter::parse(&given).unwrap()));
    let times = (span.clone(), span, (date.clone(), date), metadata);
    (kinds, tags, importance, confidence, reach(PROJECTS), reach(AGENTS), times).prop_map(
        |(kinds, tags, min_importance, min_confidence, project, agent, (created, updated, happens, metadata))| Filter {
            metadata,
            kinds,
            tags,
            min_importance,
            min_confidence,
            viewer: Viewer { agent, project },
            created_after: created.0,
            created_before: created.1,
            updated_after: updated.0,
            updated_before: updated.1,
            happens_after: happens.0,
            happens_before: happens.1,
        },
    )
}

/// Q9.
#[test]
fn every_mode_returns_what_passes_and_nothing_else() {
    let store = Store::new(hashed());
    compare_filters(&store, &store);
}

/// Fills a store by one opener, and compares every filter by another with the same rule in plain code.
pub fn compare_filters(writer: &Store, reader: &Store) {
    let records = fill(writer);
    let times: Vec<i64> = records.iter().step_by(40).map(|record| record.created_at).collect();
    writer.engine.embed_pending(&NoProgress).unwrap();
    for state in ["not all applied", "applied", "rebuilt"] {
        let mut runner = TestRunner::new(Config { cases: 60, failure_persistence: None, ..Config::default() });
        let outcome = runner.run(&filters(times.clone()), |filter| {
            let expected: BTreeSet<RecordId> =
                records.iter().filter(|record| filter.allows(record)).map(|record| record.id).collect();
            for mode in [Mode::Hybrid, Mode::Vector, Mode::Keyword] {
                let query = Query { mode, limit: 1_000, filter: filter.clone(), ..Query::new("common word") };
                let reply = reader.engine.search(&query).unwrap();
                let found: BTreeSet<RecordId> = reply.hits.iter().map(|hit| hit.record.id).collect();
                prop_assert_eq!(&found, &expected, "{:?} {} {:?}", mode, state, reply.warnings);
            }
            Ok(())
        });
        outcome.unwrap();
        if state == "applied" {
            reader.engine.rebuild(&NoProgress).unwrap();
        }
        reader.settle();
    }
}

/// 47.3: a condition on metadata hides what contradicts a result from no one, is quick also where a part of a word is looked for,
/// and notices every change.
#[test]
fn a_condition_on_metadata_takes_nothing_else_away() {
    let store = Store::new(hashed());
    let add = |text: &str, year: Option<i64>| {
        let body = year.map(|year| json!({ "metadata": { "year": year } }));
        store.engine.add(&NewRecord { body, ..NewRecord::new(text) }).unwrap().id
    };
    let many: Vec<NewRecord> = (0..3_000)
        .map(|at| NewRecord {
            body: Some(json!({ "metadata": { "year": at } })),
            ..NewRecord::new(format!("the coastline of island {at}"))
        })
        .collect();
    store.engine.add_batch(&many).unwrap();
    let (old, new) = (add("The ferry leaves from pier nine", Some(5_000)), add("The ferry leaves from pier two", None));
    let link = Link { from: new, kind: LinkKind::Contradicts, to: old };
    store.engine.viewed_by(&Viewer::OWNER).link(link).unwrap();
    store.settle();
    let of_year = |given: serde_json::Value| Filter {
        metadata: Some(MetadataFilter::parse(&json!({ "year": given })).unwrap()),
        ..Filter::default()
    };
    let reply = store.engine.search(&Query { filter: of_year(json!(5_000)), ..Query::new("ferry") }).unwrap();
    assert_eq!(reply.hits.iter().map(|hit| hit.record.id).collect::<Vec<_>>(), [old]);
    assert_eq!(reply.hits[0].contradicted_by, [new]);

    let begun = std::time::Instant::now();
    let late = of_year(json!({ "$gte": 2_990 }));
    assert_eq!(store.find(&Query { mode: Mode::Keyword, filter: late, limit: 50, ..Query::new("oastlin") }).len(), 10);
    assert!(begun.elapsed().as_secs() < 5, "{:?}: each record has its own search", begun.elapsed());

    let change = |metadata: serde_json::Value| RecordUpdate {
        body_fields: [("metadata".to_owned(), metadata)].into_iter().collect(),
        ..RecordUpdate::default()
    };
    for (year, found) in [(json!({ "year": 7_000 }), 1), (serde_json::Value::Null, 0)] {
        store.engine.viewed_by(&Viewer::OWNER).update(new, &change(year)).unwrap();
        assert_eq!(store.find(&Query { filter: of_year(json!(7_000)), ..Query::new("ferry") }).len(), found);
    }
}

#[test]
fn a_scope_sees_its_own_and_the_global_records() {
    let store = Store::new(hashed());
    compare_scopes(&store, &store);
}

/// Saves a record of each scope by one opener, and compares what each viewer finds by another.
pub fn compare_scopes(writer: &Store, reader: &Store) {
    let in_scope = |agent: Option<&str>, project: Option<&str>, text: &str| {
        let mut record = NewRecord::new(text);
        record.scope.agent = agent.map(Into::into);
        record.scope.project = project.map(Into::into);
        writer.engine.add(&record).unwrap().id
    };
    let global = in_scope(None, None, "shared knowledge of all");
    let atlas = in_scope(None, Some("atlas"), "shared knowledge of atlas");
    let other = in_scope(None, Some("borealis"), "shared knowledge of borealis");
    let scribe = in_scope(Some("scribe"), Some("atlas"), "shared knowledge of the scribe");
    let own = |name: &str| Reach::Own(name.into());
    let find = |agent: Reach, project: Reach| {
        let filter = Filter::of(Viewer { agent, project });
        let mut found = reader.find(&Query { mode: Mode::Keyword, filter, ..Query::new("shared knowledge") });
        found.sort_unstable();
        found
    };
    for settled in [false, true] {
        if settled {
            reader.settle();
        }
        assert_eq!(find(Reach::Every, Reach::Every), [global, atlas, other, scribe]);
        assert_eq!(find(Reach::Every, own("atlas")), [global, atlas, scribe]);
        assert_eq!(find(Reach::Shared, own("atlas")), [global, atlas]);
        assert_eq!(find(own("scout"), own("atlas")), [global, atlas]);
        assert_eq!(find(own("scribe"), Reach::Every), [global, atlas, other, scribe]);
        assert_eq!(find(own("scribe"), Reach::Shared), [global]);
        assert_eq!(find(Reach::Every, own("unheard of")), [global]);
        assert_eq!(find(Reach::Every, Reach::Shared), [global]);
    }
}

/// R23, R24.
#[test]
fn invisible_records_cannot_be_fetched_counted_or_changed() {
    let store = Store::new(hashed());
    refuse_invisible(&store, &store);
}

/// The memories of another project or agent do not exist for any call: those that one opener saves, for the calls of another.
pub fn refuse_invisible(writer: &Store, reader: &Store) {
    let engine = &reader.engine;
    let mut record = NewRecord::new("known to the scribe of atlas alone");
    record.scope = Scope { agent: Some("scribe".into()), project: Some("atlas".into()) };
    let id = writer.engine.add(&record).unwrap().id;
    let update = RecordUpdate { importance: Some(9), ..RecordUpdate::default() };
    let shared = Viewer { agent: Reach::Shared, project: Reach::Shared };
    for viewer in [Viewer::in_project("borealis"), Viewer::of_agent("scout"), shared] {
        assert!(matches!(engine.viewed_by(&viewer).access(id), Err(Error::NotFound(gone)) if gone == id));
        assert_eq!(engine.viewed_by(&viewer).get(id).unwrap(), None);
        assert!(matches!(engine.viewed_by(&viewer).update(id, &update), Err(Error::NotFound(gone)) if gone == id));
        assert!(!engine.viewed_by(&viewer).delete(id).unwrap());
        let filter = Filter::of(viewer);
        assert_eq!(engine.stats(&filter).unwrap().total, 0);
        assert_eq!(engine.list(&ListQuery { limit: 10, filter, ..ListQuery::default() }).unwrap(), []);
    }
    let own = Viewer { agent: Reach::Own("scribe".into()), project: Reach::Own("atlas".into()) };
    let record = engine.viewed_by(&own).access(id).unwrap();
    assert_eq!((record.access_count, record.version), (1, 1), "only what sees it has left a trace");
    assert_eq!(engine.viewed_by(&own).update(id, &update).unwrap().record.version, 2);
    assert!(engine.viewed_by(&own).delete(id).unwrap());
    let nobody = Viewer::in_project(Reach::EVERY);
    assert!(
        engine
            .viewed_by(&nobody)
            .get(id)
            .unwrap_err()
            .to_string()
            .starts_with("project: \"*\" stands for every project")
    );
    let scope = Scope { agent: None, project: Some(Reach::EVERY.into()) };
    let error = engine.add(&NewRecord { scope, ..NewRecord::new("text") }).unwrap_err();
    assert!(error.to_string().starts_with("project: "), "{error}");
}

/// R23, R24: with `--isolate`, a viewer reads shared memories, and cannot change them.
#[test]
fn an_only_viewer_reads_shared_records_and_cannot_change_them() {
    let store = Store::new(words_only());
    let add = |project: Option<&str>, text: &str| {
        let scope = Scope { agent: None, project: project.map(Into::into) };
        store.engine.add(&NewRecord { scope, ..NewRecord::new(text) }).unwrap().id
    };
    let (own, shared, other) = (add(Some("atlas"), "own lamp"), add(None, "shared lamp"), add(None, "another lamp"));
    let theirs = add(Some("borealis"), "their lamp");
    let viewer = Viewer { agent: Reach::Every, project: Reach::Only("atlas".into()) };
    for mode in [Mode::Keyword, Mode::Hybrid] {
        let filter = Filter::of(viewer.clone());
        let mut found = store.find(&Query { mode, filter, ..Query::new("lamp") });
        found.sort_unstable();
        assert_eq!(found, [own, shared, other], "{mode:?}");
    }
    let engine = &store.engine;
    let update = RecordUpdate { importance: Some(9), ..RecordUpdate::default() };
    let link = |from, to| Link { from, kind: LinkKind::Supersedes, to };
    let purge = |purge: Purge| engine.viewed_by(&viewer).purge(&purge, &NoProgress).map(|purged| purged.records);
    assert!(engine.viewed_by(&Viewer::OWNER).link(link(shared, other)).unwrap());
    let refusals = [
        engine.viewed_by(&viewer).update(shared, &update).err(),
        engine.viewed_by(&viewer).roll_back(shared, 1, None, None).err(),
        engine.viewed_by(&viewer).delete(shared).err(),
        purge(Purge::Ids(vec![shared])).err(),
        purge(Purge::Text("shared lamp".into())).err(),
        engine.viewed_by(&viewer).link(link(other, shared)).err(),
        engine.viewed_by(&viewer).unlink(link(shared, other)).err(),
    ];
    for (number, refused) in refusals.into_iter().enumerate() {
        let refused = refused.unwrap_or_else(|| panic!("{number} is not refused")).to_string();
        assert!(refused.contains("belongs to no project") && refused.contains("\"atlas\""), "{number}: {refused}");
    }
    assert_eq!(engine.viewed_by(&Viewer::OWNER).get(shared).unwrap().unwrap().version, 1);
    // Another's does not exist, as ever; its own may be changed, and linked to shared ones.
    assert!(!engine.viewed_by(&viewer).delete(theirs).unwrap());
    assert!(
        engine.viewed_by(&viewer).link(link(own, shared)).unwrap()
            && engine.viewed_by(&viewer).unlink(link(own, shared)).unwrap()
    );
    engine.viewed_by(&viewer).update(own, &update).unwrap();
    assert_eq!(purge(Purge::Text("own lamp".into())).unwrap(), 1);
}
