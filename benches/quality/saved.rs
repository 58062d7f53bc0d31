//! A set in a store of its own.

use std::collections::{BTreeMap, BTreeSet};

use memorist_engine::Engine;
use memorist_engine::config::Config;
use memorist_engine::embed::setup_reranker;
use memorist_engine::progress::NoProgress;
use memorist_engine::types::{Hit, Link, LinkKind, Mode, Query, RecordId, Viewer};
use tempfile::TempDir;

use super::set::{Judged, Set};

/// The store of a set, and its queries with the ids of the answers.
pub struct SavedSet {
    pub queries: Vec<SetQuery>,
    engine: Engine,
    _folder: TempDir,
}

/// A query, embedded once.
pub struct SetQuery {
    text: String,
    vector: Vec<f32>,
    pub answers: BTreeMap<RecordId, u8>,
    /// Memories to delete, in this order, so that nothing answers it: the answers, and those that they supersede.
    evidence: Vec<RecordId>,
}

impl SavedSet {
    pub fn new(set: Set) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let mut config = Config::default();
        config.log_searches = false;
        let engine = Engine::open(folder.path(), config.clone()).expect("a store");
        engine.prepare_model(&mut |plan| eprintln!("{plan}"), &NoProgress).expect("the default model");
        setup_reranker(&config.model, &mut |plan| eprintln!("{plan}"), &NoProgress).expect("the reranker");
        let mut ids: Vec<RecordId> = Vec::new();
        for chunk in set.texts.chunks(1_000) {
            ids.extend(
                engine.add_batch(chunk).expect("saves").into_iter().map(|outcome| outcome.expect("a record").id),
            );
        }
        let links: Vec<Link> = set
            .supersedes
            .iter()
            .map(|&(new, old)| Link { from: ids[new], kind: LinkKind::Supersedes, to: ids[old] })
            .collect();
        for link in engine.viewed_by(&Viewer::OWNER).link_batch(&links).expect("links") {
            link.expect("a link");
        }
        engine.embed_pending(&NoProgress).expect("embeds");
        engine.flush(&NoProgress).expect("indexes");
        eprintln!("\n{}: {} memories, {} queries", set.name, ids.len(), set.queries.len());
        let mut saved = SavedSet { queries: Vec::new(), engine, _folder: folder };
        saved.queries = set.queries.into_iter().map(|judged| saved.judged(judged, &ids, &links)).collect();
        saved
    }

    fn judged(&self, Judged { text, answers }: Judged, ids: &[RecordId], links: &[Link]) -> SetQuery {
        // Texts that are the same are one record.
        let answers: BTreeMap<RecordId, u8> = answers.into_iter().map(|(place, grade)| (ids[place], grade)).collect();
        let superseded = links.iter().filter(|link| answers.contains_key(&link.from)).map(|link| link.to);
        let evidence = answers.keys().copied().chain(superseded).collect();
        SetQuery { answers, evidence, ..self.asked(text) }
    }

    /// A query without answers.
    pub fn asked(&self, text: String) -> SetQuery {
        let vector = self.engine.embed_query(&text).expect("a vector");
        SetQuery { text, vector, answers: BTreeMap::new(), evidence: Vec::new() }
    }

    /// The hits of a query, searched for as `like` says.
    pub fn hits(&self, asked: &SetQuery, like: &Query) -> Vec<Hit> {
        let query = Query { text: asked.text.clone(), ..like.clone() };
        let vector = (query.mode != Mode::Keyword).then(|| asked.vector.clone());
        self.engine.search_with(&query, vector).expect("searches").hits
    }

    /// Searches without the evidence in the store.
    pub fn without_evidence<T>(&self, asked: &SetQuery, search: impl FnOnce() -> T) -> T {
        let ids: BTreeSet<RecordId> = asked.evidence.iter().copied().collect();
        assert_eq!(ids.len(), asked.evidence.len(), "what supersedes goes first, once");
        for id in &asked.evidence {
            assert!(self.engine.viewed_by(&Viewer::OWNER).delete(*id).expect("deletes"), "{id} is not there");
        }
        let found = search();
        // In the other direction, so that the ends of a link are there when it comes back.
        for id in asked.evidence.iter().rev() {
            self.engine.viewed_by(&Viewer::OWNER).undo(*id).expect("undoes");
        }
        found
    }
}
