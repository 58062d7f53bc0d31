//! Memories of two projects and of everybody: who sees which, and how a filter narrows a search.
//!
//! Run: `cargo run --example filters_and_scopes`

use memorist_engine::config::Config;
use memorist_engine::types::{Filter, Kind, NewRecord, Query, Scope, Viewer};
use memorist_engine::{Engine, Result};

fn main() -> Result<()> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    // Without a model, searches go by words.
    let engine = Engine::open(folder.path().join("store"), Config::without_model())?;

    let project = |name: &str| Scope { project: Some(name.into()), agent: None };
    let memory = |text: &str, importance, scope| NewRecord { importance, scope, ..NewRecord::new(text) };
    engine.add(&memory("The release branch is called trunk", 8, project("atlas")))?;
    engine.add(&memory("The release branch is called main", 8, project("borealis")))?;
    engine.add(&memory("A release needs two reviews", 5, Scope::default()))?;
    engine.add(&NewRecord {
        kind: Kind::Event,
        tags: vec!["release".into()],
        ..memory("Release 1.4 broke the login", 9, project("atlas"))
    })?;

    let show = |what: &str, filter: Filter| -> Result<usize> {
        let reply = engine.search(&Query { filter, ..Query::new("release") })?;
        eprintln!("{what}:");
        reply.hits.iter().for_each(|hit| eprintln!("  {}", hit.record.content));
        Ok(reply.hits.len())
    };
    // A project sees its own memories and the global ones.
    let atlas = Filter::of(Viewer::in_project("atlas"));
    assert_eq!(show("in atlas", atlas.clone())?, 3);
    assert_eq!(show("everything", Filter::default())?, 4);
    // A filter is part of the search, so that it returns as many results as without one.
    assert_eq!(show("in atlas, importance 8 and more", Filter { min_importance: Some(8), ..atlas.clone() })?, 2);
    assert_eq!(show("in atlas, tagged", Filter { tags: vec!["release".into()], ..atlas.clone() })?, 1);
    assert_eq!(show("in atlas, events", Filter { kinds: vec![Kind::Event], ..atlas })?, 1);
    Ok(())
}
