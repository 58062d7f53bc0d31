//! 5,000 memories; 100,000 for `.ci/nightly`.

use std::sync::Arc;
use std::time::Instant;

use bench_data::{identifiers, memories};
use memorist_engine::Engine;
use memorist_engine::config::Backend;
use memorist_engine::embed::{Embedder, HashEmbedder};
use memorist_engine::progress::NoProgress;
use memorist_engine::types::{
    AccessKind, Accessed, Earlier, Exported, Filter, LinkKind, Mode, Model, NewRecord, PortableLink, Query, Replaced,
    Scope, Viewer, embedding_bytes, embedding_of,
};

use super::{NOW, WithEmbedding, counted, everything, exported, import, numbered, portable};
use crate::support::{Store, number_from, with_embedder};

/// The done of D7, of 100,000 memories: with versions, links, accesses and embeddings, into another store.
#[test]
fn many_memories_make_an_equal_store_with_equal_answers() {
    let count = number_from("MEMORIST_EXCHANGED", 5_000) as usize;
    let started = Instant::now();
    let step = |what: &str| eprintln!("{what} after {:.1?}", started.elapsed());
    let embedder = Arc::new(HashEmbedder::new(16));
    let exact = || {
        let mut setup = with_embedder(embedder.clone());
        setup.config.backend = Backend::Exact;
        setup.config.index_writer = false;
        setup
    };
    let (here, there) = (Store::new(exact()), Store::new(exact()));
    let identity = embedder.identity().clone();
    let mut all = vec![Exported::Model(Model {
        name: identity.name,
        weights_sha256: identity.weights_sha256,
        pooling: identity.pooling,
        dims: identity.dims,
    })];
    for (n, memory) in memories(42, count).enumerate() {
        let mut text = NewRecord::new(memory.content);
        text.kind = memory.entry_type.parse().unwrap();
        (text.source, text.context, text.confidence) = (memory.source, memory.context, memory.confidence);
        (text.importance, text.tags, text.expires_at) = (memory.importance.into(), memory.tags, memory.expires_at);
        text.scope = Scope { agent: memory.agent, project: memory.project };
        let embedded = memorist_engine::text::embedding_text(text.context.as_deref(), &text.content);
        // As a store has it.
        let bytes = embedding_bytes(&embedder.embed_query(&embedded).unwrap());
        let mut record = portable(n + 1, text).with(embedding_of(&bytes, embedder.identity().dims).unwrap());
        if n % 10 == 0 {
            record.version = 2;
            record.earlier.push(Earlier {
                version: 1,
                since: NOW,
                replaced: Replaced { at: NOW + 1, reason: "reworded".into() },
                text: NewRecord { content: format!("once: {n}"), ..record.text.clone() },
            });
        }
        if n % 7 == 0 {
            let score = Some(1.0 / (1.0 + n as f64));
            record.accesses.push(Accessed { at: NOW, kind: AccessKind::Search, score, query: Some("q".into()) });
            record.access_count = n as i64;
            record.last_accessed_at = Some(NOW);
        }
        all.push(Exported::Record(Box::new(record)));
    }
    for n in (1..count).step_by(5) {
        all.push(Exported::Link(PortableLink {
            from: numbered(n + 1),
            kind: LinkKind::Related,
            to: numbered(n / 2 + 1),
            created_at: NOW,
        }));
    }
    step("generated");
    let report = import(&here.engine, &Viewer::OWNER, &all);
    step("imported");
    let wanted = counted([("record Created", count), ("link Created", count / 5)]);
    assert_eq!(report, wanted);
    let first = exported(&here.engine, &everything());
    step("exported");
    assert!(first == all, "what was imported is exported");
    assert_eq!(import(&there.engine, &Viewer::OWNER, &first), wanted);
    step("imported again");
    assert!(exported(&there.engine, &everything()) == first, "equal stores");
    step("exported again");
    for engine in [&here.engine, &there.engine] {
        engine.flush(&NoProgress).unwrap();
        assert_eq!(engine.stats(&Filter::default()).unwrap().pending_embeddings, 0);
    }
    step("indexed");
    let mut searches = 0;
    for (n, memory) in memories(42, count).enumerate().step_by(count / 75) {
        let mode = [Mode::Hybrid, Mode::Keyword, Mode::Vector][searches % 3];
        let words: Vec<&str> = memory.content.split(' ').take(6).collect();
        for viewer in [Viewer::OWNER, Viewer::in_project(memory.project.as_deref().unwrap_or("none"))] {
            let query = Query { mode, filter: Filter::of(viewer), ..Query::new(words.join(" ")) };
            let hits = |engine: &Engine| -> Vec<_> {
                let hits = engine.search(&query).unwrap().hits.into_iter();
                hits.map(|hit| (hit.record.ulid, hit.score.to_bits(), hit.vector_score, hit.keyword_score)).collect()
            };
            let found = hits(&here.engine);
            assert!(!found.is_empty(), "{n}");
            assert_eq!(found, hits(&there.engine), "{mode:?} {words:?}");
            searches += 1;
        }
    }
    step(&format!("{searches} searches"));
    assert_identifiers_win(&here.engine);
    step("identifiers found");
}

/// Memories with a code, a path, a hash, a version, a quoted phrase or a name of the question are among the first three,
/// whatever else is like it.
fn assert_identifiers_win(engine: &Engine) {
    let made = identifiers(42, 500);
    let records: Vec<NewRecord> = made.iter().map(|one| NewRecord::new(one.content.as_str())).collect();
    let added = engine.add_batch(&records).unwrap();
    engine.embed_pending(&NoProgress).unwrap();
    let mut missed = Vec::new();
    for (one, added) in made.iter().zip(added) {
        let id = added.unwrap().id;
        let hits = engine.search(&Query::new(one.question.as_str())).unwrap().hits;
        let place = hits.iter().position(|hit| hit.record.id == id);
        if place.is_none_or(|place| place >= 3) {
            missed.push((one, place));
        }
    }
    assert!(missed.is_empty(), "{} of {}: {:?}", missed.len(), made.len(), &missed[..missed.len().min(20)]);
}
