//! The first results of a search, read together with the query by a second model: here one that looks for a word.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use memorist_engine::embed::{self, Reranker};
use memorist_engine::types::{
    Filter, Hit, Kind, Link, LinkKind, NewRecord, Placed, Query, RecordId, SearchReply, Viewer,
};

use crate::support::{Store, hashed};

/// Says that a text with "answer" answers clearly, one with `likely` perhaps, and of any other the same.
struct Reader {
    likely: &'static str,
    otherwise: f32,
    read: Mutex<Vec<String>>,
    fails: Option<(usize, fn() -> embed::Error)>,
    count: AtomicUsize,
}

impl Default for Reader {
    fn default() -> Self {
        Reader { likely: "maybe", otherwise: -11.0, read: Mutex::default(), fails: None, count: AtomicUsize::new(0) }
    }
}

impl Reranker for Reader {
    fn judge(&self, _question: &str, text: &str) -> embed::Result<f32> {
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        if let Some((_, error)) = self.fails.filter(|(from, _)| count >= *from) {
            return Err(error());
        }
        self.read.lock().unwrap().push(text.to_owned());
        Ok(match text {
            _ if text.contains("answer") => 7.0,
            _ if text.contains(self.likely) => 1.0,
            _ => self.otherwise,
        })
    }
}

fn store(reader: &Arc<Reader>) -> Store {
    let Store { engine, folder } = Store::new(hashed());
    Store { engine: engine.with_reranker(reader.clone()), folder }
}

fn reply(store: &Store, text: &str) -> SearchReply {
    store.engine.search(&Query { rerank: true, ..Query::new(text) }).unwrap()
}

fn ids(hits: &[Hit]) -> Vec<RecordId> {
    hits.iter().map(|hit| hit.record.id).collect()
}

/// Memories about the harbour, all as far from a question about it.
fn harbours(store: &Store, count: usize, first: &str) -> Vec<RecordId> {
    let mut ids = vec![store.add(&format!("the harbour {first}"))];
    ids.extend((1..count).map(|at| store.add(&format!("the harbour gate{at}"))));
    store.settle();
    ids
}

#[test]
fn reranking_puts_the_answer_first_with_its_logit() {
    let reader = Arc::new(Reader::default());
    let store = store(&reader);
    let maybe = harbours(&store, 8, "maybe")[0];
    let before = store.engine.search(&Query::new("harbour")).unwrap().hits;
    assert!(before.iter().all(|hit| hit.logit.is_none()) && reader.read.lock().unwrap().is_empty());
    assert_ne!(before[0].record.id, maybe);

    let reply = reply(&store, "harbour");
    assert_eq!(reply.hits[0].record.id, maybe);
    assert_eq!((reply.hits[0].logit, reply.hits[1].logit), (Some(1.0), Some(-11.0)));
    assert_eq!(ids(&reply.hits).len(), before.len());
    let others = |hits: &[Hit]| ids(hits).into_iter().filter(|id| *id != maybe).collect::<Vec<_>>();
    assert_eq!(others(&reply.hits), others(&before), "the others stay in their order");
    assert!(reply.hits.windows(2).all(|pair| pair[0].score >= pair[1].score));
    assert!(reply.hits.iter().all(|hit| (0.0..=1.0).contains(&hit.score)));
}

#[test]
fn ten_are_read_at_most_and_none_after_a_clear_answer() {
    let reader = Arc::new(Reader::default());
    let store = store(&reader);
    harbours(&store, 30, "of all");
    reply(&store, "harbour");
    assert_eq!(reader.read.lock().unwrap().len(), 10);

    store.add("the harbour answer");
    store.settle();
    reader.read.lock().unwrap().clear();
    let hits = reply(&store, "harbour answer").hits;
    assert_eq!(hits[0].logit, Some(7.0));
    assert!(reader.read.lock().unwrap().len() <= 2, "{:?}", reader.read.lock().unwrap());
    assert_eq!(hits.iter().filter(|hit| hit.logit.is_some()).count(), 1, "what is read after it does not count");
}

#[test]
fn pages_belong_to_one_order() {
    let store = store(&Arc::new(Reader { likely: "3", ..Reader::default() }));
    harbours(&store, 30, "of all");
    let page = |rerank, limit, offset| Query { rerank, limit, offset, pool: Some(50), ..Query::new("harbour") };
    let whole = store.find(&page(true, 30, 0));
    let before = store.find(&page(false, 30, 0));
    let place = before.iter().position(|id| *id == whole[0]).unwrap();
    assert!((3..10).contains(&place), "it comes from beyond the first page: {place}");
    for limit in [3, 5] {
        let pages: Vec<RecordId> = (0..30).step_by(limit).flat_map(|at| store.find(&page(true, limit, at))).collect();
        assert_eq!(pages, whole, "{limit}");
    }
}

#[test]
fn the_newer_stays_first_if_the_reranker_finds_no_answer() {
    let store = store(&Arc::new(Reader::default()));
    store.add("the harbour gate opens at seven on Mondays");
    store.add("the harbour gate opens at eight on Mondays now");
    store.add("a harbour somewhere with a gate, which opens at times that nobody in the village remembers");
    store.settle();
    let text = "harbour gate opens at";
    let plain = store.engine.search(&Query::new(text)).unwrap().hits;
    assert!(plain[0].record.content.contains("eight"), "{plain:?}");
    assert_eq!(ids(&reply(&store, text).hits), ids(&plain));
}

#[test]
fn a_turn_is_read_with_the_turn_before_if_that_is_seen() {
    let reader = Arc::new(Reader::default());
    let store = store(&reader);
    let said = |turn: i64, text: &str| {
        let record =
            NewRecord { kind: Kind::Conversation, session: Some("s".into()), turn: Some(turn), ..NewRecord::new(text) };
        store.engine.add(&record).unwrap().id
    };
    let asked = said(1, "Ada: where is the key?");
    let answered = said(2, "Bert: maybe under the harbour wall");
    store.settle();
    let read = || {
        reader.read.lock().unwrap().clear();
        reply(&store, "harbour wall");
        let read = reader.read.lock().unwrap().clone();
        read.into_iter().find(|text| text.starts_with("Bert")).expect("it is read")
    };
    assert_eq!(read(), "Bert: maybe under the harbour wall\n(before: Ada: where is the key?)");
    assert_eq!(reply(&store, "harbour wall").hits[0].record.id, answered);
    let link = Link { from: answered, to: asked, kind: LinkKind::Supersedes };
    store.engine.viewed_by(&Viewer::OWNER).link(link).unwrap();
    assert_eq!(read(), "Bert: maybe under the harbour wall");
    assert!(store.engine.viewed_by(&Viewer::OWNER).unlink(link).unwrap());
    assert!(read().contains("before"));
    assert!(store.engine.viewed_by(&Viewer::OWNER).delete(asked).unwrap());
    assert_eq!(read(), "Bert: maybe under the harbour wall");
}

#[test]
fn a_turn_that_the_filter_excludes_is_not_read() {
    let reader = Arc::new(Reader::default());
    let store = store(&reader);
    for (turn, text) in [(1, "Ada: where is the key?"), (2, "Bert: maybe under the harbour wall")] {
        let record =
            NewRecord { kind: Kind::Conversation, session: Some("s".into()), turn: Some(turn), ..NewRecord::new(text) };
        let tags = if turn == 2 { vec!["public".to_owned()] } else { Vec::new() };
        store.engine.add(&NewRecord { tags, ..record }).unwrap();
    }
    store.settle();
    let filter = Filter { tags: vec!["public".to_owned()], ..Filter::default() };
    store.engine.search(&Query { rerank: true, filter, ..Query::new("harbour wall") }).unwrap();
    assert_eq!(*reader.read.lock().unwrap(), ["Bert: maybe under the harbour wall"]);
}

#[test]
fn non_english_hits_and_queries_are_not_reranked() {
    let reader = Arc::new(Reader::default());
    let store = store(&reader);
    store.add("Кота зовут Миро, answer");
    store.settle();
    assert_eq!(reply(&store, "Как зовут кота").hits[0].logit, None);
    assert_eq!(reply(&store, "answer").hits[0].logit, None);
    assert!(reader.read.lock().unwrap().is_empty());
}

#[test]
fn a_reranker_that_fails_is_a_warning_and_changes_nothing() {
    let failed = || embed::Error::Failed("it is tired".to_owned());
    let unread = || embed::Error::Io { path: "model".into(), source: std::io::ErrorKind::Other.into() };
    for fails in [(0, failed as fn() -> embed::Error), (3, failed), (0, unread)] {
        let reader = Arc::new(Reader { fails: Some(fails), ..Reader::default() });
        let store = store(&reader);
        harbours(&store, 8, "maybe");
        let before = store.engine.search(&Query::new("harbour")).unwrap().hits;
        let reply = reply(&store, "harbour");
        assert_eq!(reply.hits, before);
        assert!(reply.warnings.iter().any(|warning| warning.contains("not reranked")), "{:?}", reply.warnings);
    }
}

#[test]
fn a_logit_that_is_no_number_says_nothing() {
    let store = store(&Arc::new(Reader { likely: "gate", otherwise: f32::NAN, ..Reader::default() }));
    harbours(&store, 3, "of all");
    let reply = reply(&store, "harbour");
    let mut logits: Vec<_> = reply.hits.iter().map(|hit| hit.logit).collect();
    logits.sort_by(|a, b| b.partial_cmp(a).unwrap());
    assert_eq!(logits, [Some(1.0), Some(1.0), None]);
    assert!(reply.hits.iter().all(|hit| (0.0..=1.0).contains(&hit.score)));
}

#[test]
fn it_is_probably_not_here_if_nothing_read_answers() {
    for (otherwise, is_nothing) in [(-11.0, true), (-5.0, false)] {
        let reader = Arc::new(Reader { otherwise, ..Reader::default() });
        let store = store(&reader);
        // Many, so that no word singles one out.
        for at in 0..30 {
            store.add(&format!("the ferry leaves quay{at} at noon"));
        }
        store.settle();
        let text = "at which hour does the ferry to Wick leave";
        let plain = store.engine.search(&Query::new(text)).unwrap();
        assert!((0.25..0.5).contains(&plain.hits[0].relevance) && !plain.no_answer, "{}", plain.hits[0].relevance);
        let read = reply(&store, text);
        assert_eq!(read.no_answer, is_nothing, "{otherwise}");
        assert_eq!(read.hits.len(), plain.hits.len(), "nothing is dropped for it");
        for (least, is_doubted) in [(0.1, is_nothing), (0.25, false)] {
            let query = Query { rerank: true, min_relevance: Some(least), ..Query::new(text) };
            assert_eq!(store.engine.search(&query).unwrap().no_answer, is_doubted, "{otherwise} {least}");
        }
        // One of the first is not read, and may be the answer.
        store.add("паром ferry to Wick: уходит в полдень at the hour");
        store.settle();
        let read = reply(&store, text);
        assert!(read.hits[..3].iter().any(|hit| hit.logit.is_none()), "{:?}", read.hits[0]);
        assert!(!read.no_answer);
    }
}

#[test]
fn the_reason_is_said_where_the_order_is_not_that_of_relevance() {
    let reader = Arc::new(Reader::default());
    let store = store(&reader);
    store.add("the old harbour office closes");
    let answer = store.add("the harbour office closes: the answer of the year");
    store.settle();
    let hits = reply(&store, "old harbour office closes").hits;
    assert_eq!((hits[0].record.id, hits[0].placed), (answer, Some(Placed::Reranked)));
}
