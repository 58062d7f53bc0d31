//! Texts that do not fit into the model's window: every passage is found, and none outlives its text.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use memorist_engine::config::Backend;
use memorist_engine::embed::{Embedder, HashEmbedder, ModelIdentity};
use memorist_engine::paths::StorePaths;
use memorist_engine::progress::NoProgress;
use memorist_engine::types::{
    EmbeddingState, Export, Exported, Filter, Hit, Mode, NewRecord, Purge, Query, RecordId, RecordUpdate, Viewer,
};
use memorist_engine::{Engine, passages};
use rusqlite::Connection;

use crate::meaning::engine_with_model;
use crate::support::{DIMS, Setup, Store, with_embedder};

/// Words that the model of these tests reads, about as many as the real one.
const WINDOW: usize = 190;
/// A fact to be found, and the query for it.
const FACT: &str = "The zebra vault opens with the copper key that Ingrid hides behind the aquarium.";
const QUERY: &str = "zebra vault copper key ingrid aquarium";

/// Hashes of the words in its window, and a count of the texts that it was given.
struct Windowed {
    inner: HashEmbedder,
    texts: AtomicUsize,
}

impl Windowed {
    fn new() -> Arc<Self> {
        Arc::new(Windowed { inner: HashEmbedder::new(DIMS * 8), texts: AtomicUsize::new(0) })
    }

    fn texts(&self) -> usize {
        self.texts.load(Ordering::Relaxed)
    }
}

impl Embedder for Windowed {
    fn is_measurable(&self) -> bool {
        self.inner.is_measurable()
    }

    fn identity(&self) -> &ModelIdentity {
        self.inner.identity()
    }

    fn embed_query(&self, text: &str) -> memorist_engine::embed::Result<Vec<f32>> {
        let window = text.split_whitespace().take(WINDOW).collect::<Vec<_>>().join(" ");
        self.inner.embed_query(&window)
    }

    fn embed_batch(&self, texts: &[&str]) -> memorist_engine::embed::Result<Vec<Vec<f32>>> {
        self.texts.fetch_add(texts.len(), Ordering::Relaxed);
        texts.iter().map(|text| self.embed_query(text)).collect()
    }
}

/// Word `at` of the text with this number: no other has it.
fn word(number: usize, at: usize) -> String {
    let letter = |n: usize| char::from(b'a' + (n % 26) as u8);
    [number / 26, number, at / 676, at / 26, at].map(letter).iter().collect()
}

/// A text of 2,000 words in paragraphs, with `fact` after `after` of them.
fn long(number: usize, fact: &str, after: usize) -> String {
    let mut text = String::new();
    for at in 0..2_000 {
        if at == after {
            text += &format!("{fact} ");
        }
        text += &word(number, at);
        text += match at % 80 {
            79 => ".\n\n",
            15 | 31 | 47 | 63 => ". ",
            _ => " ",
        };
    }
    text
}

fn opened(model: &Arc<Windowed>, backend: Backend) -> Setup {
    let mut setup = with_embedder(model.clone());
    setup.config.backend = backend;
    setup
}

fn by_meaning(engine: &Engine, query: &Query) -> Vec<Hit> {
    engine.search(&Query { mode: Mode::Vector, ..query.clone() }).expect("searches").hits
}

/// The first hit is the record `id`, for what its passage says.
fn assert_found(engine: &Engine, id: RecordId, query: &Query, what: &str) {
    let hits = by_meaning(engine, query);
    let first = hits.first().unwrap_or_else(|| panic!("{what}: nothing"));
    assert_eq!(first.record.id, id, "{what}");
    assert!(first.vector_score.is_some_and(|cosine| cosine > 0.15), "{what}: {:?}", first.vector_score);
    let passage = first.passage.clone().unwrap_or_else(|| panic!("{what}: no passage"));
    assert!(first.record.content[passage].contains(FACT), "{what}");
    let different: BTreeSet<RecordId> = hits.iter().map(|hit| hit.record.id).collect();
    assert_eq!(different.len(), hits.len(), "{what}: each once");
}

fn assert_sound(engine: &Engine, what: &str) {
    let diagnosis = engine.doctor(false, &NoProgress).expect("looks");
    let unsound: Vec<_> = diagnosis.checks.iter().filter(|check| !check.ok).collect();
    assert!(unsound.is_empty(), "{what}: {unsound:?}");
}

/// How many vectors the index and the database have: as many as there are passages of live records.
fn assert_vectors(store: &Store, texts: &[&str], what: &str) {
    store.settle();
    let wanted: usize = texts.iter().map(|text| 1 + passages::further(None, text).len()).sum();
    assert_eq!(store.engine.index_stats().unwrap().vectors as usize, wanted, "{what}: in the index");
    let database = Connection::open(StorePaths::new(store.folder.path()).database()).unwrap();
    let embedded = "SELECT (SELECT count(*) FROM records WHERE embedding_id IS NOT NULL)
             + (SELECT count(*) FROM passages WHERE embedding_id IS NOT NULL)";
    let embedded: i64 = database.query_row(embedded, [], |row| row.get(0)).unwrap();
    assert_eq!(embedded as usize, wanted, "{what}: in the database");
    assert_sound(&store.engine, what);
}

fn found_in_every_state(backend: Backend) {
    let (model, what) = (Windowed::new(), format!("{backend:?}"));
    let store = Store::new(opened(&model, backend));
    let tagged =
        |number: usize, text: String| NewRecord { tags: vec![format!("t{}", number % 2)], ..NewRecord::new(text) };
    let others: Vec<NewRecord> = (0..8)
        .map(|number| tagged(number, long(number, "", 9_999)))
        .chain((0..100).map(|number| tagged(number, format!("short {number} zebra"))))
        .collect();
    store.engine.add_batch(&others).unwrap();
    store.settle();
    let text = long(99, FACT, 1_700);
    let outcome = store.engine.add(&tagged(1, text.clone())).unwrap();
    assert_eq!(outcome.embedding, EmbeddingState::Pending, "{what}: its passages wait");
    let id = outcome.id;
    store.engine.embed_pending(&NoProgress).unwrap();
    let query = Query { limit: 10, ..Query::new(QUERY) };
    let filtered = Query { filter: Filter { tags: vec!["t1".into()], ..Filter::default() }, ..query.clone() };
    let other = Query { filter: Filter { tags: vec!["t0".into()], ..Filter::default() }, ..query.clone() };
    assert_found(&store.engine, id, &query, &format!("{what}: in the tail"));
    store.settle();
    for (query, state) in [(&query, "indexed"), (&filtered, "filtered")] {
        assert_found(&store.engine, id, query, &format!("{what}: {state}"));
    }
    assert!(by_meaning(&store.engine, &other).iter().all(|hit| hit.record.id != id), "{what}: refused");
    // A candidate that words alone found gets the cosine of its best passage.
    let words = [1_700, 1_701, 1_702].map(|at| word(99, at)).join(" ");
    let hits = store.engine.search(&Query { pool: Some(1), ..Query::new(words) }).unwrap().hits;
    let first = hits.iter().find(|hit| hit.record.id == id).expect("by its words");
    assert!(first.vector_score > Some(0.05), "{what}: {:?}", first.vector_score);
    store.engine.rebuild(&NoProgress).unwrap();
    assert_found(&store.engine, id, &query, &format!("{what}: rebuilt"));
    assert_sound(&store.engine, &what);
    let store = store.reopen(opened(&model, backend));
    assert_found(&store.engine, id, &query, &format!("{what}: opened again"));
    assert_eq!(store.engine.search(&query).unwrap().warnings, Vec::<String>::new());
}

/// With every backend, before and after it is indexed, filtered or not.
#[test]
fn a_fact_in_the_last_third_is_found_in_every_store_state() {
    for backend in [Backend::Hnsw, Backend::Exact, Backend::HnswRs] {
        found_in_every_state(backend);
    }
}

#[test]
fn a_record_with_many_near_passages_crowds_out_no_other() {
    let model = Windowed::new();
    let store = Store::new(opened(&model, Backend::Hnsw));
    let near = (0..2_000).map(|n| format!("zebra{} vault ", n % 3)).collect::<String>();
    store.add(&near);
    let others: Vec<RecordId> = (0..12).map(|n| store.add(&format!("zebra vault number {n}"))).collect();
    store.settle();
    let hits = by_meaning(&store.engine, &Query { limit: 13, pool: Some(13), ..Query::new("zebra0 vault zebra1") });
    let found: BTreeSet<RecordId> = hits.iter().map(|hit| hit.record.id).collect();
    assert_eq!((hits.len(), found.len()), (13, 1 + others.len()));
}

/// Whatever happens to a text, the vectors are those of the texts that are there.
#[test]
fn a_passage_goes_with_its_text() {
    let model = Windowed::new();
    let store = Store::new(opened(&model, Backend::Hnsw));
    let (first, second) = (long(1, FACT, 1_700), long(2, "", 9_999));
    let id = store.add(&first);
    store.add(&second);
    assert_vectors(&store, &[&first, &second], "saved");
    let nothing = |what: &str| {
        let hits = by_meaning(&store.engine, &Query::new(QUERY));
        assert!(hits.iter().all(|hit| hit.vector_score < Some(0.15)), "{what}");
    };
    let change = |text: &str| RecordUpdate { content: Some(text.to_owned()), ..RecordUpdate::default() };
    store.engine.viewed_by(&Viewer::OWNER).update(id, &change("short now")).unwrap();
    nothing("in the tail of the change");
    assert_vectors(&store, &["short now", &second], "shortened");
    nothing("shortened");
    store.engine.viewed_by(&Viewer::OWNER).roll_back(id, 1, None, None).unwrap();
    assert_vectors(&store, &[&first, &second], "rolled back");
    assert_found(&store.engine, id, &Query::new(QUERY), "rolled back");
    let shorter = &first[..first.len() / 2];
    store.engine.viewed_by(&Viewer::OWNER).update(id, &change(shorter)).unwrap();
    assert_vectors(&store, &[shorter.trim(), &second], "cut in half");
    nothing("cut in half");
    store.engine.viewed_by(&Viewer::OWNER).undo(id).unwrap();
    assert_vectors(&store, &[&first, &second], "undone");
    store.engine.viewed_by(&Viewer::OWNER).delete(id).unwrap();
    assert_vectors(&store, &[&second], "deleted");
    store.engine.viewed_by(&Viewer::OWNER).restore(id).unwrap();
    assert_vectors(&store, &[&first, &second], "restored");
    store.engine.viewed_by(&Viewer::OWNER).purge(&Purge::Ids(vec![id]), &NoProgress).unwrap();
    assert_vectors(&store, &[&second], "purged");
    nothing("purged");
}

/// D7.
#[test]
fn imported_passage_embeddings_are_not_embedded_again() {
    let model = Windowed::new();
    let store = Store::new(opened(&model, Backend::Hnsw));
    let id = store.add(&long(1, FACT, 1_700));
    store.add("a short one");
    store.settle();
    let export = Export { embeddings: true, ..Export::of(Viewer::OWNER) };
    let exported = |engine: &Engine| {
        let mut all = Vec::new();
        engine
            .export(&export, |piece| {
                all.push(piece);
                Ok::<_, memorist_engine::Error>(())
            })
            .unwrap();
        all
    };
    let all = exported(&store.engine);
    let other = Windowed::new();
    let copy = Store::new(opened(&other, Backend::Hnsw));
    let mut import = copy.engine.viewed_by(&Viewer::OWNER).import().unwrap();
    for piece in all.clone() {
        match piece {
            Exported::Model(model) => assert_eq!(import.model(&model).unwrap(), None),
            Exported::Record(record) => drop(import.records(&[*record]).unwrap().pop().unwrap().unwrap()),
            Exported::Link(_) => unreachable!("no links"),
        }
    }
    drop(import);
    copy.settle();
    assert_eq!((other.texts(), copy.engine.stats(&Filter::default()).unwrap().pending_embeddings), (0, 0));
    assert_eq!(exported(&copy.engine), all);
    let id = by_meaning(&copy.engine, &Query::new(QUERY)).first().map(|hit| hit.record.id).unwrap_or(id);
    assert_found(&copy.engine, id, &Query::new(QUERY), "imported");
    assert_sound(&copy.engine, "imported");
}

/// Makes a store what it would be if it were from before there were passages.
fn forget_passages(folder: &Path) {
    let database = Connection::open(StorePaths::new(folder).database()).unwrap();
    database
        .execute_batch(
            "DELETE FROM embeddings WHERE hash IN (SELECT hash FROM passages);
             DELETE FROM passages;
             DROP TABLE passages;
             DROP INDEX records_by_date;
             DROP TABLE recalled;
             DROP TABLE copied;
             DROP TABLE unsent_accesses;
             DROP TABLE tokens;
             DELETE FROM meta WHERE key = 'cutter';
             DROP TABLE tombstones;
             DROP TABLE version_tombstones;
             DROP TABLE link_tombstones;
             DROP TRIGGER metadata_of_new_record; DROP TRIGGER metadata_of_changed_record;
             DROP TRIGGER metadata_of_deleted_record; DROP TABLE record_metadata;
             PRAGMA user_version = 7;",
        )
        .unwrap();
    std::fs::remove_dir_all(StorePaths::new(folder).vectors()).unwrap();
}

/// The background embeds what earlier versions left out, and nothing else.
#[test]
fn a_store_of_before_gets_its_passages_when_it_is_opened() {
    let model = Windowed::new();
    let store = Store::new(opened(&model, Backend::Hnsw));
    let text = long(1, FACT, 1_700);
    let id = store.add(&text);
    store.engine.add_batch(&(0..50).map(|n| NewRecord::new(format!("short {n}"))).collect::<Vec<_>>()).unwrap();
    store.settle();
    let Store { engine, folder } = store;
    engine.close();
    forget_passages(folder.path());
    let model = Windowed::new();
    let store = Store { engine: opened(&model, Backend::Hnsw).open(folder.path()).unwrap(), folder };
    store.settle();
    assert_eq!(model.texts(), passages::further(None, &text).len(), "no beginning is embedded again");
    assert_found(&store.engine, id, &Query::new(QUERY), "an older store");
    assert_sound(&store.engine, "an older store");
}

/// Facts, and questions about them in other words.
const ASKED: [(&str, &str); 3] = [
    (
        "The spare house key lies under the third flowerpot left of the garage.",
        "where is the hidden second door opener",
    ),
    ("The lawnmower does not start because mice have chewed its fuel hose.", "why is the grass cutting machine broken"),
    (
        "The passports are in the blue biscuit tin on top of the wardrobe.",
        "in which container are our travel documents",
    ),
];

/// By what they mean, on the real model, among 300 short memories.
#[test]
fn paraphrases_find_facts_at_the_end_of_long_memories() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine_with_model(folder.path());
    let mut memories = bench_data::memories(7, 2_000).map(|memory| memory.content);
    let mut records: Vec<NewRecord> = memories.by_ref().take(300).map(NewRecord::new).collect();
    for (fact, _) in ASKED {
        let (mut text, mut words) = (String::new(), 0);
        while words < 2_000 {
            let next = memories.next().expect("enough");
            words += next.split_whitespace().count();
            text += &next;
            text += "\n\n";
            if words > 1_700 && !text.contains(fact) {
                text += &format!("{fact}\n\n");
            }
        }
        records.push(NewRecord::new(text));
    }
    let outcomes = engine.add_batch(&records).unwrap().into_iter().skip(300);
    engine.embed_pending(&NoProgress).unwrap();
    engine.flush(&NoProgress).unwrap();
    for (outcome, (fact, question)) in outcomes.zip(ASKED) {
        let hits = by_meaning(&engine, &Query::new(question));
        assert_eq!(hits[0].record.id, outcome.unwrap().id, "{question}");
        let passage = hits[0].passage.clone().expect("a passage");
        assert!(hits[0].record.content[passage].contains(fact), "{question}");
    }
}

/// Killed while texts are cut, embedded and indexed.
#[cfg(unix)]
mod killed {
    use std::process::Stdio;

    use super::*;
    use crate::support::another_process;

    const STEPS: [&str; 5] =
        ["some texts cut:1", "vectors applied:1", "file renamed:1", "log trimmed:1", "words applied:1"];

    #[test]
    #[ignore = "the others run it in a process of its own"]
    fn a_child() {
        let Some(folder) = std::env::var_os("MEMORIST_CRASH_STORE") else { return };
        let engine = opened(&Windowed::new(), Backend::Hnsw).open(Path::new(&folder)).expect("opens");
        engine.embed_pending(&NoProgress).expect("embeds");
        engine.add(&NewRecord::new(long(77, "", 9_999))).expect("saves");
        engine.flush(&NoProgress).expect("applies");
    }

    #[test]
    fn killed_at_any_step_a_store_is_sound_and_finds_every_passage() {
        for step in STEPS {
            let store = Store::new(opened(&Windowed::new(), Backend::Hnsw));
            let text = long(1, FACT, 1_700);
            let id = store.add(&text);
            store.add(&long(2, "", 9_999));
            store.settle();
            let Store { engine, folder } = store;
            engine.close();
            forget_passages(folder.path());
            let mut child = another_process("passages::killed::a_child");
            child.env("MEMORIST_CRASH_STORE", folder.path()).env("MEMORIST_CRASH_AT", step).stdin(Stdio::null());
            let ended = child.output().expect("a child");
            let signal = std::os::unix::process::ExitStatusExt::signal(&ended.status);
            assert_eq!(signal, Some(6), "{step}: {}", String::from_utf8_lossy(&ended.stderr));
            let store = Store { engine: opened(&Windowed::new(), Backend::Hnsw).open(folder.path()).unwrap(), folder };
            store.settle();
            assert_found(&store.engine, id, &Query::new(QUERY), step);
            assert_sound(&store.engine, step);
        }
    }
}
