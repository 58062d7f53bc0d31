//! Tests of the whole keyword index, against simple models of it.

mod damage;
mod filters;
mod ranking;
mod scripts;
mod terms;
mod windows;
mod writing;

use std::path::Path;
use std::sync::{Arc, LazyLock};

use roaring::RoaringTreemap;

use super::analysis::{Singles, words};
use super::folding::normalise;
use super::{DocLocation, KeywordIndex, KeywordQuery, KeywordSnapshot, Match, TailIndex, TantivyIndex};
use crate::error::Result;
use crate::types::{Filter, Kind, Record, RecordId, Scope, Span};

/// The id of the store of the test indexes.
const STORE: &str = "01TEST";

/// A record with the id and content given and defaults otherwise.
pub(crate) fn record(id: i64, content: &str) -> Record {
    Record {
        id: id.into(),
        ulid: format!("{id:026}"),
        version: 1,
        content: content.to_owned(),
        content_hash: crate::text::content_hash(content),
        kind: Kind::Fact,
        source: "test".to_owned(),
        context: None,
        confidence: 1.0,
        importance: 5,
        tags: Vec::new(),
        scope: Scope::default(),
        created_at: 1_700_000_000_000 + id,
        updated_at: 1_700_000_000_000 + id,
        expires_at: None,
        valid: Span::default(),
        access_count: 0,
        last_accessed_at: None,
        body: None,
        session: None,
        turn: None,
        place: None,
    }
}

/// A search in one step.
trait SearchExt {
    fn search(
        &self,
        query: &KeywordQuery,
        k: usize,
        filter: &Filter,
        except: &RoaringTreemap,
        tail: Option<&TailIndex>,
    ) -> Result<Vec<(RecordId, f32)>>;

    /// How each of `ids` matches, if it is there.
    fn matches(&self, query: &KeywordQuery, ids: &[RecordId], tail: Option<&TailIndex>) -> Result<Vec<Option<Match>>>;
}

impl SearchExt for dyn KeywordSnapshot + '_ {
    fn search(
        &self,
        query: &KeywordQuery,
        k: usize,
        filter: &Filter,
        except: &RoaringTreemap,
        tail: Option<&TailIndex>,
    ) -> Result<Vec<(RecordId, f32)>> {
        let found = self.query(query, tail)?.best(k, filter, except)?;
        Ok(found.into_iter().map(|found| (found.id, found.score)).collect())
    }

    fn matches(&self, query: &KeywordQuery, ids: &[RecordId], tail: Option<&TailIndex>) -> Result<Vec<Option<Match>>> {
        let search = self.query(query, tail)?;
        let places = search.places(ids)?;
        let there: Vec<DocLocation> = places.iter().copied().flatten().collect();
        let matches = search.matches(&there)?;
        for (index, found) in matches.records.iter().enumerate() {
            let sum: f32 = matches.parts(index).iter().sum();
            assert!(sum <= found.score * 1.001 && sum * 1.251 >= found.score, "{found:?} {:?}", matches.parts(index));
        }
        let mut matches = matches.records.into_iter();
        Ok(places.into_iter().map(|place| place.and_then(|_| matches.next())).collect())
    }
}

/// Records numbered from 1.
pub(super) fn records(contents: &[&str]) -> Vec<Record> {
    contents.iter().zip(1..).map(|(content, id)| record(id, content)).collect()
}

/// An index of `records` in `folder`.
pub(crate) fn index_of(folder: &Path, records: &[Record]) -> TantivyIndex {
    let index = TantivyIndex::create(folder, STORE).unwrap();
    index.apply(records, &[], 1.into()).unwrap();
    index
}

/// The scores of `ids`.
fn scores_of(
    snapshot: &dyn KeywordSnapshot,
    query: &KeywordQuery,
    ids: &[RecordId],
    tail: Option<&TailIndex>,
) -> crate::error::Result<Vec<Option<f32>>> {
    Ok(snapshot.matches(query, ids, tail)?.into_iter().map(|found| found.map(|found| found.score)).collect())
}

/// The ids that `query` finds in `snapshot`, best first.
fn ids(snapshot: &dyn KeywordSnapshot, query: &str) -> Vec<i64> {
    let hits = search(snapshot, query, 100, None);
    hits.into_iter().map(|(id, _)| id.get()).collect()
}

/// A search without filter.
fn search(snapshot: &dyn KeywordSnapshot, query: &str, k: usize, tail: Option<&TailIndex>) -> Vec<(RecordId, f32)> {
    let none = RoaringTreemap::new();
    snapshot.search(&KeywordQuery::new(query), k, &Filter::default(), &none, tail).unwrap()
}

/// A tail of these records.
fn tail_of(records: &[Record]) -> TailIndex {
    grown(&TailIndex::default(), records, &[])
}

/// A tail with these changes.
fn grown(tail: &TailIndex, upserts: &[Record], deletes: &[RecordId]) -> TailIndex {
    let changed = upserts.iter().map(|record| record.id).chain(deletes.iter().copied());
    let touched = changed.map(RecordId::key).collect();
    tail.extended(&touched, upserts.iter().cloned().map(Arc::new).collect()).unwrap()
}

/// The ids that `query` finds among `contents`, numbered from 1. They are indexed in memory, beside an empty index.
fn found_among(contents: &[&str], query: &str) -> Vec<i64> {
    static EMPTY: LazyLock<Arc<dyn KeywordSnapshot>> = LazyLock::new(|| {
        let folder = tempfile::tempdir().unwrap();
        index_of(folder.path(), &[]).snapshot().unwrap()
    });
    let tail = tail_of(&records(contents));
    search(EMPTY.as_ref(), query, 100, Some(&tail)).into_iter().map(|(id, _)| id.get()).collect()
}

/// The words of a text.
fn words_of(text: &str, singles: Singles) -> Vec<String> {
    let mut found = Vec::new();
    words(&normalise(text), singles, |word, _| found.push(word.to_owned()));
    found
}

/// A small deterministic generator (SplitMix64) for texts.
struct TextGenerator(u64);

impl TextGenerator {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// Words of a vocabulary of `size` in which the first are the most frequent.
    fn text(&mut self, words: usize, size: usize) -> String {
        let word = |random: &mut TextGenerator| {
            let bound = 1 + random.below(size);
            format!("word{}", random.below(bound))
        };
        (0..words).map(|_| word(self)).collect::<Vec<_>>().join(" ")
    }
}
