//! BM25 of a query over several segments, and the parts of a tail, as one corpus.
//!
//! A [`Plan`] contains the terms of a query that occur at all, with weights from the statistics of all segments; a
//! [`Scorer`] scores the documents of one segment one after the other. Every score comes from [`Scorer::score`] or from the
//! sums of `sums.rs`. Both add the terms in the order of the plan, so that a record has one score, to the last bit, however
//! it was found.
//!
//! The weight of a term is its inverse document frequency (one for the three fields, from the field where it is most
//! frequent) times the field's share:
//!
//! | field | times idf |
//! |---|---|
//! | content | BM25 (k1 = 1.2, b = 0.75): 1.0 for one occurrence in a text of average length, 2.2 at most |
//! | context | 0.5 where it occurs, however often, however long the context |
//! | tags | 0.8 in the same way |
//! | exact (identifiers) | 1.2 in the same way, with its own document frequency |
//!
//! A word that no record has counts as those that are one letter away from it (`typos.rs`), with [`TYPO`] of their weight. If the
//! last word is also the beginning of one, those that begin with it count as if it was one of them (`completions.rs`), with
//! [`COMPLETED`] of its weight. If the query asks for it, a word that no record has, with or without a typo, counts as those that
//! contain it (`within.rs`), with [`PART`] of their weight, and as no rarer than the most frequent of them.
//!
//! The sum is increased by [`PHRASE_BONUS`] times the share of the query's word pairs that occur in the content as in
//! the query.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::{SegmentPostings, TermInfo};
use tantivy::query::{
    Bm25StatisticsProvider, Bm25Weight, BooleanQuery, BoostQuery, EnableScoring, Query, TermQuery, Weight,
};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, Searcher, TERMINATED, TantivyError, Term};

use super::completions::completions;
use super::found::Match;
use super::passage::{FREQUENT, Lengths, Occurrences, Together};
use super::posting_list::PostingList;
use super::postings::{IndexedRecords, PostingsCursor};
use super::query::{KeywordQuery, MAX_PAIRS, Pair};
use super::schema::{Fields, SearchField};
use super::segment::{Segment, TextField};
use super::sums::Addend;
use super::tail::TailPart;
use super::typos::corrections;
use super::within;
use crate::error::Result;

/// The bonus of a document that contains all pairs of a query.
pub(super) const PHRASE_BONUS: f32 = 0.25;
/// A word that more records contain does not single any of them out.
const FEW: u64 = 10;
/// A search uses this many of the rarest words: the others hardly change the order.
const MAX_WORDS: usize = 32;
/// And the rarest identifiers, this many.
const MAX_IDENTIFIERS: usize = 16;

/// Words of a query that may have a typo.
const MAX_TYPOS: usize = 2;
/// Corrections of a word with a typo: the most frequent ones.
const MAX_CORRECTIONS: usize = 3;
/// See [`rareness`].
const LEAST_DOCS: u64 = 1_000;
/// Weight of a correction.
const TYPO: f32 = 0.6;
/// Weight of a word that contains a word of the query.
const PART: f32 = 0.6;
/// Weight of a word that begins with the last word of the query.
const COMPLETED: f32 = 0.8;

const CONTEXT_SHARE: f32 = 0.5;
const TAGS_SHARE: f32 = 0.8;
const EXACT_SHARE: f32 = 1.2;
/// The least average length of the contents, in words. Where most texts are short, BM25 takes one of twice the length for a
/// long one, and prefers what has next to nothing beside the word.
const LEAST_AVERAGE: u64 = 160;
/// The average length assumed for fields other than the content. Relative to it every real length vanishes.
const ENDLESS: u64 = 1_000_000;
/// BM25 of one occurrence against an [`ENDLESS`] average, with idf 1: (k1 + 1) / (1 + k1 * (1 - b)).
const ONE_OCCURRENCE: f32 = 2.2 / 1.3;

// Each word of a pair has a bit.
const _: () = assert!(2 * MAX_PAIRS <= u32::BITS as usize);

/// The share of a field in a score.
fn boost(place: SearchField) -> f32 {
    match place {
        SearchField::Content => 1.0,
        SearchField::Context => CONTEXT_SHARE / ONE_OCCURRENCE,
        SearchField::Tags => TAGS_SHARE / ONE_OCCURRENCE,
        SearchField::Exact => EXACT_SHARE / ONE_OCCURRENCE,
    }
}

/// How a term comes from the query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TermOrigin {
    Word,
    Identifier,
    /// A word that no record has is one letter away from it.
    Typo,
    /// It begins with the last word of the query.
    Completed,
    /// It contains a word that no record has.
    Part,
}

/// The terms that a scorer reads of a segment.
#[derive(Clone, Copy)]
enum PostingsScope {
    /// The words of pairs, with their positions.
    Pairs,
    /// Every term; the words of pairs with their positions.
    Terms,
    /// Every term; the words of the content with their positions.
    Positions,
}

/// A term in a field.
struct Clause {
    place: SearchField,
    /// Which word or identifier it is, of those of the query that occur.
    text: usize,
    origin: TermOrigin,
    term: Term,
    /// The share of the field, less for a correction.
    boost: f32,
    weight: Bm25Weight,
    /// The document frequency behind its weight.
    frequency: u64,
    /// Its postings, by segment.
    found: Vec<Option<TermInfo>>,
}

impl Clause {
    /// Whether it singles out the records that have it, if that are at most `few`.
    fn singles_out(&self, few: u64) -> bool {
        match self.origin {
            TermOrigin::Identifier => true,
            TermOrigin::Word => self.frequency <= few,
            TermOrigin::Typo | TermOrigin::Completed | TermOrigin::Part => false,
        }
    }
}

/// A query against a list of segments and the parts of a tail.
pub(super) struct Plan {
    clauses: Vec<Clause>,
    /// Index into `clauses` of the content clauses of each pair, and the distance.
    pairs: Vec<Pair>,
    /// All pairs of the query, including those with a word that never occurs.
    pairs_asked: usize,
    /// All words of the query, including those that never occur.
    words_asked: usize,
    /// Words in more documents than this do not single any of them out.
    few: u64,
    /// The inverse document frequencies of all words and identifiers of the query, together.
    rarity: f32,
    /// The inverse document frequency of each that occurs.
    rarities: Vec<f32>,
    docs: u64,
    /// Tokens of all contents.
    tokens: u64,
    lengths: Lengths,
}

impl Plan {
    pub(super) fn new(query: &KeywordQuery, fields: &Fields, segments: &[Segment], parts: &[TailPart]) -> Result<Plan> {
        let mut docs: u64 = segments.iter().map(|segment| u64::from(segment.reader.max_doc())).sum();
        docs += parts.iter().map(|part| part.indexed.records().len() as u64).sum::<u64>();
        let mut tokens: u64 = segments.iter().map(|segment| segment.content.terms.total_num_tokens()).sum();
        tokens += parts.iter().map(|part| part.indexed.field(SearchField::Content).total_tokens()).sum::<u64>();
        let look = |word: &str| {
            let places = [SearchField::Content, SearchField::Context, SearchField::Tags];
            ResolvedTerm::look(word, &places, fields, segments, parts)
        };
        let in_content = |word: &str| {
            let in_tail = parts.iter().map(|part| part.indexed.field(SearchField::Content).doc_freq(word)).sum();
            segments.iter().try_fold(in_tail, |sum: u64, segment| Ok(sum + segment.content.frequency(word)?))
        };
        let query = &*query.with_parts(|word| Ok(look(word)?.frequency == 0))?;
        let (pairs_asked, words_asked) = (query.pairs.len(), query.words.len());
        let few = if query.is_of_stop_words { 0 } else { FEW };
        let (clauses, pairs, rarity, rarities) = (Vec::new(), Vec::new(), 0.0, Vec::new());
        let lengths = Lengths::of(&query.words);
        let mut plan = Plan { clauses, pairs, pairs_asked, words_asked, few, rarity, rarities, docs, tokens, lengths };
        let words = rarest(&query.words, MAX_WORDS, look)?;
        let mut content_clause = vec![None; query.words.len()];
        let words_found = words.len();
        let completed = match &query.beginning {
            Some(beginning) => completions(beginning, segments, parts)?,
            None => Vec::new(),
        };
        let completed: Vec<String> = completed.into_iter().filter(|stem| !query.words.contains(stem)).collect();
        let unfinished = query.beginning.as_ref().filter(|_| !completed.is_empty());
        let unfinished = unfinished.and_then(|word| query.index_of(word));
        let mut unfinished_text = None;
        let is_absent = |index: &usize| unfinished != Some(*index) && words.iter().all(|(found, _)| found != index);
        let typos: Vec<usize> = match words_found < MAX_WORDS && !query.is_of_stop_words {
            true => (0..query.words.len()).filter(is_absent).collect(),
            false => Vec::new(),
        };
        for (index, found) in words {
            if found.terms.first().is_some_and(|(place, ..)| *place == SearchField::Content) {
                content_clause[index] = Some(plan.clauses.len());
            }
            plan.add(TermOrigin::Word, found);
            if unfinished == Some(index) {
                unfinished_text = Some(plan.rarities.len() - 1);
            }
        }
        if !completed.is_empty() {
            let found = completed.iter().map(|stem| look(stem)).collect::<Result<_>>()?;
            plan.add_completions(found, unfinished_text);
        }
        let identifiers = rarest(&query.identifiers, MAX_IDENTIFIERS, |identifier| {
            ResolvedTerm::look(identifier, &[SearchField::Exact], fields, segments, parts)
        })?;
        // Of too many, the most frequent were left out; else what is not found occurs nowhere.
        let absent = |asked: usize, found: usize, most: usize| if found < most { asked - found } else { 0 };
        // What it begins stands for it.
        let completed_one = usize::from(unfinished.is_some() && unfinished_text.is_none());
        let absent = absent(query.words.len() - completed_one, words_found, MAX_WORDS)
            + absent(query.identifiers.len(), identifiers.len(), MAX_IDENTIFIERS);
        plan.rarity += absent as f32 * idf(0, docs);
        identifiers.into_iter().for_each(|(_, found)| plan.add(TermOrigin::Identifier, found));
        let (mut corrected, mut unknown) = (0, Vec::new());
        for index in typos {
            let found = if corrected < MAX_TYPOS { corrections(&query.spelt[index], in_content)? } else { None };
            corrected += usize::from(found.is_some());
            let mut found: Vec<(String, u64)> = found.into_iter().flatten().collect();
            if found.is_empty() {
                unknown.push(query.words[index].as_str());
            }
            found.sort_by_key(|(_, frequency)| Reverse(*frequency));
            found.truncate(MAX_CORRECTIONS);
            plan.add_corrections(found.iter().map(|(stem, _)| look(stem)).collect::<Result<_>>()?);
        }
        if query.within_words {
            for terms in within::terms_around(&unknown, plan.is_empty(), segments, parts)? {
                plan.add_parts(terms.iter().map(|term| look(term)).collect::<Result<_>>()?);
            }
        }
        plan.pairs = query
            .pairs
            .iter()
            .filter_map(|pair| {
                let (first, second) = (content_clause[pair.first]?, content_clause[pair.second]?);
                Some(Pair { first, second, distance: pair.distance })
            })
            .collect();
        Ok(plan)
    }

    fn add(&mut self, origin: TermOrigin, found: ResolvedTerm) {
        let rarity = idf(found.frequency, self.docs);
        self.rarity += rarity;
        self.rarities.push(rarity);
        self.add_clauses(origin, found);
    }

    /// Adds what a word that no record has may have meant.
    fn add_corrections(&mut self, found: Vec<ResolvedTerm>) {
        let Some(rarity) = found.iter().map(|found| idf(found.frequency, self.docs)).reduce(f32::max) else { return };
        self.rarities.push(TYPO * rarity);
        found.into_iter().for_each(|found| self.add_clauses(TermOrigin::Typo, found));
    }

    /// Adds what contains a word that was counted as absent. All count alike, as with completions.
    fn add_parts(&mut self, found: Vec<ResolvedTerm>) {
        let Some(frequency) = found.iter().map(|found| found.frequency).max() else { return };
        let rarity = idf(frequency, self.docs);
        self.rarity += rarity - idf(0, self.docs);
        self.rarities.push(PART * rarity);
        found.into_iter().for_each(|found| self.add_clauses(TermOrigin::Part, ResolvedTerm { frequency, ..found }));
    }

    /// Adds what begins with the last word, which is this text of the plan if records have it as it is. All count alike: that
    /// few records have one says nothing of what was meant.
    fn add_completions(&mut self, found: Vec<ResolvedTerm>, text: Option<usize>) {
        let frequency = found.iter().map(|found| found.frequency).max().unwrap_or_default();
        if text.is_none() {
            let rarity = idf(frequency, self.docs);
            self.rarity += rarity;
            self.rarities.push(rarity);
        }
        let text = text.unwrap_or(self.rarities.len() - 1);
        found
            .into_iter()
            .for_each(|found| self.add_clauses_of(TermOrigin::Completed, text, ResolvedTerm { frequency, ..found }));
    }

    /// Adds the terms of the newest of `rarities`.
    fn add_clauses(&mut self, origin: TermOrigin, found: ResolvedTerm) {
        self.add_clauses_of(origin, self.rarities.len() - 1, found);
    }

    fn add_clauses_of(&mut self, origin: TermOrigin, text: usize, found: ResolvedTerm) {
        let frequency = found.frequency;
        for (place, term, infos) in found.terms {
            let average = self.tokens_of(place) as f32 / self.docs as f32;
            let share = match origin {
                TermOrigin::Word | TermOrigin::Identifier => 1.0,
                TermOrigin::Typo => TYPO,
                TermOrigin::Completed => COMPLETED,
                TermOrigin::Part => PART,
            };
            let boost = boost(place) * share;
            let weight = Bm25Weight::for_one_term_without_explain(frequency, self.docs, average).boost_by(boost);
            self.clauses.push(Clause { place, text, origin, term, boost, weight, frequency, found: infos });
        }
    }

    /// The number of tokens assumed for a field, over all documents.
    fn tokens_of(&self, place: SearchField) -> u64 {
        match place {
            SearchField::Content => self.tokens.max(self.docs * LEAST_AVERAGE),
            _ => self.docs * ENDLESS,
        }
    }

    /// Whether no term of the query occurs anywhere.
    pub(super) fn is_empty(&self) -> bool {
        self.clauses.is_empty()
    }

    /// Every term, once.
    pub(super) fn terms(&self) -> Vec<String> {
        let terms = self.clauses.iter().filter_map(|clause| clause.term.value().as_str().map(str::to_owned));
        terms.collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Whether no word of the query occurs as it is spelt, but only those one letter away.
    pub(super) fn is_of_typos(&self) -> bool {
        !self.is_empty() && self.clauses.iter().all(|clause| clause.origin == TermOrigin::Typo)
    }

    /// Whether no word of the query occurs by itself, but only within others, or one letter away.
    pub(super) fn is_within_words(&self) -> bool {
        let is_guess = |clause: &Clause| matches!(clause.origin, TermOrigin::Typo | TermOrigin::Part);
        self.clauses.iter().all(is_guess) && self.clauses.iter().any(|clause| clause.origin == TermOrigin::Part)
    }

    /// The maximum factor of the phrase bonus.
    pub(super) fn most_bonus(&self) -> f32 {
        match self.pairs_asked {
            0 => 1.0,
            asked => 1.0 + PHRASE_BONUS * self.pairs.len() as f32 / asked as f32,
        }
    }

    /// The share that each word and identifier that occurs adds to [`Match::share`].
    pub(super) fn shares(&self) -> Vec<f32> {
        self.rarities.iter().map(|rarity| rarity / self.rarity).collect()
    }

    /// See [`Matches::information`](super::found::Matches::information).
    pub(super) fn information(&self) -> f32 {
        let passages = self.docs.max(self.tokens / u64::from(self.lengths.passage)).max(1);
        let most: f32 = self.rarities.iter().sum();
        self.rarity / idf(1, passages).min(most)
    }

    /// How many postings of the segment would be read without pruning.
    pub(super) fn postings(&self, segment: usize) -> u64 {
        self.clauses
            .iter()
            .filter_map(|clause| clause.found[segment].as_ref())
            .map(|info| u64::from(info.doc_freq))
            .sum()
    }

    /// The score without the phrase bonus as a tantivy weight, for its block-max pruning.
    pub(super) fn pruning_weight(&self, searcher: &Searcher) -> Result<Box<dyn Weight>> {
        let scoring = EnableScoring::enabled_from_statistics_provider(self, searcher);
        let term_query = |clause: &Clause| TermQuery::new(clause.term.clone(), IndexRecordOption::WithFreqs);
        // tantivy prunes a single term and a union of several terms, but not a union of one.
        if let [clause] = &self.clauses[..]
            && clause.place == SearchField::Content
        {
            return Ok(term_query(clause).weight(scoring)?);
        }
        let boosted = |clause: &Clause| Box::new(BoostQuery::new(Box::new(term_query(clause)), clause.boost)) as Box<_>;
        Ok(BooleanQuery::union(self.clauses.iter().map(boosted).collect()).weight(scoring)?)
    }

    /// The addends of the scores of the documents of one segment, without the phrase bonus.
    pub(super) fn addends<'a>(&'a self, ordinal: usize, segment: &'a Segment) -> Result<Vec<Addend<'a>>> {
        let mut addends = Vec::with_capacity(self.clauses.len());
        for (index, clause) in self.clauses.iter().enumerate() {
            let Some(info) = &clause.found[ordinal] else { continue };
            let TextField { terms, norms } = segment.field(clause.place);
            let postings = terms.read_postings_from_terminfo(info, IndexRecordOption::WithFreqs);
            let postings = postings.map_err(TantivyError::from)?;
            addends.push(Addend { postings, bit: self.pair_bit(index), weight: &clause.weight, norms });
        }
        Ok(addends)
    }

    /// The bit of a clause among those of pairs; none if it is of no pair.
    fn pair_bit(&self, clause: usize) -> u32 {
        let mut words = self.pairs.iter().flat_map(|pair| [pair.first, pair.second]);
        words.position(|word| word == clause).map_or(0, |at| 1 << at)
    }

    /// The bits of both words of each pair.
    pub(super) fn pair_bits(&self) -> Vec<u32> {
        self.pairs.iter().map(|pair| self.pair_bit(pair.first) | self.pair_bit(pair.second)).collect()
    }

    /// The score of a document whose terms add up to `sum`, with so many pairs of the query.
    pub(super) fn with_pairs(&self, sum: f32, pairs: usize) -> f32 {
        with_pairs(sum, pairs, self.pairs_asked)
    }

    /// A scorer of the documents of one segment.
    pub(super) fn scorer<'a>(&'a self, ordinal: usize, segment: &'a Segment) -> Result<Scorer<'a, SegmentPostings>> {
        self.scorer_of(ordinal, segment, PostingsScope::Terms)
    }

    /// A scorer that judges these documents of a segment. In long texts it reads where words stand.
    pub(super) fn judging_scorer<'a>(
        &'a self,
        ordinal: usize,
        segment: &'a Segment,
        mut docs: impl Iterator<Item = DocId>,
    ) -> Result<Scorer<'a, SegmentPostings>> {
        let is_any_long = docs.any(|doc| segment.content.norms.fieldnorm(doc) > self.lengths.long);
        self.scorer_of(ordinal, segment, if is_any_long { PostingsScope::Positions } else { PostingsScope::Terms })
    }

    /// A scorer of the words of pairs alone: for the phrase bonus of documents whose sums are known.
    pub(super) fn pair_scorer<'a>(
        &'a self,
        ordinal: usize,
        segment: &'a Segment,
    ) -> Result<Scorer<'a, SegmentPostings>> {
        self.scorer_of(ordinal, segment, PostingsScope::Pairs)
    }

    fn scorer_of<'a>(
        &'a self,
        ordinal: usize,
        segment: &'a Segment,
        reads: PostingsScope,
    ) -> Result<Scorer<'a, SegmentPostings>> {
        self.scorer_over(|index, clause| {
            let Some(info) = &clause.found[ordinal] else { return Ok(None) };
            let paired = self.pairs.iter().any(|pair| pair.first == index || pair.second == index);
            let with_positions = match reads {
                PostingsScope::Pairs if !paired => return Ok(None),
                PostingsScope::Pairs | PostingsScope::Terms => paired,
                PostingsScope::Positions => clause.place == SearchField::Content,
            };
            let option = match with_positions {
                true => IndexRecordOption::WithFreqsAndPositions,
                false => IndexRecordOption::WithFreqs,
            };
            let field = segment.field(clause.place);
            let postings = field.terms.read_postings_from_terminfo(info, option).map_err(TantivyError::from)?;
            Ok(Some((postings, &field.norms)))
        })
    }

    /// A scorer of the records of one part of the tail.
    pub(super) fn tail_scorer<'a>(&'a self, part: &'a IndexedRecords) -> Result<Scorer<'a, PostingsCursor<'a>>> {
        self.scorer_over(|_, clause| {
            let field = part.field(clause.place);
            let term = clause.term.value();
            Ok(field.postings(term.as_str().unwrap_or_default()).map(|postings| (postings, &field.norms)))
        })
    }

    fn scorer_over<'a, P>(
        &'a self,
        open: impl Fn(usize, &'a Clause) -> Result<Option<(P, &'a FieldNormReader)>>,
    ) -> Result<Scorer<'a, P>> {
        let mut cursors = Vec::with_capacity(self.clauses.len());
        for (index, clause) in self.clauses.iter().enumerate() {
            if let Some((postings, norms)) = open(index, clause)? {
                cursors.push(ClauseCursor { postings, index, clause, norms });
            }
        }
        let cursor_of = |clause: usize| cursors.iter().position(|cursor| cursor.index == clause);
        let pairs = self
            .pairs
            .iter()
            .filter_map(|pair| {
                let (first, second) = (cursor_of(pair.first)?, cursor_of(pair.second)?);
                Some(Pair { first, second, distance: pair.distance })
            })
            .collect();
        let (pairs_asked, words_asked, few) = (self.pairs_asked, self.words_asked, self.few);
        let (rarity, docs, rarities, lengths) = (self.rarity, self.docs, &self.rarities[..], &self.lengths);
        let (positions, occurrences) = (Default::default(), Occurrences::default());
        Ok(Scorer {
            cursors,
            pairs,
            pairs_asked,
            words_asked,
            few,
            rarity,
            docs,
            rarities,
            lengths,
            positions,
            occurrences,
        })
    }
}

impl Bm25StatisticsProvider for Plan {
    fn total_num_tokens(&self, field: Field) -> tantivy::Result<u64> {
        let place = self.clauses.iter().find(|clause| clause.term.field() == field).map(|clause| clause.place);
        Ok(place.map_or(0, |place| self.tokens_of(place)))
    }

    fn total_num_docs(&self) -> tantivy::Result<u64> {
        Ok(self.docs)
    }

    fn doc_freq(&self, term: &Term) -> tantivy::Result<u64> {
        Ok(self.clauses.iter().find(|clause| clause.term == *term).map_or(0, |clause| clause.frequency))
    }
}

/// A sum with the bonus for so many of the pairs of a query. More pairs never make less of it.
fn with_pairs(sum: f32, pairs: usize, asked: usize) -> f32 {
    if pairs == 0 { sum } else { sum * (1.0 + PHRASE_BONUS * pairs as f32 / asked as f32) }
}

/// The inverse document frequency of BM25, of a term in so many of all documents.
fn idf(frequency: u64, docs: u64) -> f32 {
    let (frequency, docs) = (frequency.min(docs) as f32, docs as f32);
    (1.0 + (docs - frequency + 0.5) / (frequency + 0.5)).ln()
}

/// How rare a term in so many of all documents is, 0 to 1. Among few documents every word is in few of them: they count as
/// [`LEAST_DOCS`].
fn rareness(frequency: u64, docs: u64) -> f32 {
    let docs = docs.max(LEAST_DOCS);
    idf(frequency, docs) / idf(0, docs)
}

/// A word or identifier of the query, looked up.
struct ResolvedTerm {
    /// Its document frequency: that of the field where it occurs most.
    frequency: u64,
    /// The fields in which it occurs.
    terms: Vec<(SearchField, Term, Vec<Option<TermInfo>>)>,
}

impl ResolvedTerm {
    fn look(
        text: &str,
        places: &[SearchField],
        fields: &Fields,
        segments: &[Segment],
        parts: &[TailPart],
    ) -> Result<ResolvedTerm> {
        let mut found = ResolvedTerm { frequency: 0, terms: Vec::new() };
        for &place in places {
            let term = Term::from_field_text(fields.field(place), text);
            let infos = segments.iter().map(|segment| segment.field(place).find(&term)).collect::<Result<Vec<_>>>()?;
            let in_segments: u64 = infos.iter().flatten().map(|info| u64::from(info.doc_freq)).sum();
            let in_tail: u64 = parts.iter().map(|part| part.indexed.field(place).doc_freq(text)).sum();
            let frequency = in_segments + in_tail;
            if frequency > 0 {
                found.frequency = found.frequency.max(frequency);
                found.terms.push((place, term, infos));
            }
        }
        Ok(found)
    }
}

/// Looks up every text and keeps the `most` rarest of those that occur, in the order of the query, with their indexes.
fn rarest(
    texts: &[String],
    most: usize,
    look: impl Fn(&str) -> Result<ResolvedTerm>,
) -> Result<Vec<(usize, ResolvedTerm)>> {
    let mut kept = Vec::with_capacity(texts.len());
    for (index, text) in texts.iter().enumerate() {
        let found = look(text)?;
        if found.frequency > 0 {
            kept.push((index, found));
        }
    }
    if kept.len() > most {
        kept.sort_by_key(|(index, found)| (found.frequency, *index));
        kept.truncate(most);
        kept.sort_by_key(|(index, _)| *index);
    }
    Ok(kept)
}

struct ClauseCursor<'a, P> {
    postings: P,
    /// Index into the clauses of the plan.
    index: usize,
    clause: &'a Clause,
    norms: &'a FieldNormReader,
}

/// Scores documents of one segment or part, in ascending order.
pub(super) struct Scorer<'a, P> {
    cursors: Vec<ClauseCursor<'a, P>>,
    /// Indexes into `cursors`.
    pairs: Vec<Pair>,
    pairs_asked: usize,
    words_asked: usize,
    few: u64,
    rarity: f32,
    docs: u64,
    rarities: &'a [f32],
    lengths: &'a Lengths,
    positions: [Vec<u32>; 2],
    occurrences: Occurrences,
}

impl<P: PostingList> Scorer<'_, P> {
    /// The first document at or after `from` in which a term occurs. `from` must not decrease.
    pub(super) fn next(&mut self, from: DocId) -> DocId {
        let mut next = TERMINATED;
        for cursor in &mut self.cursors {
            if cursor.postings.doc() < from {
                cursor.postings.seek(from);
            }
            next = next.min(cursor.postings.doc());
        }
        next
    }

    /// The score of `doc`, 0 if no term occurs in it. `doc` must not decrease. If the score is known to be below `bar`,
    /// any value below `bar` may be returned.
    pub(super) fn score(&mut self, doc: DocId, bar: f32) -> f32 {
        let mut sum = 0.0;
        for cursor in &mut self.cursors {
            if cursor.postings.doc() < doc {
                cursor.postings.seek(doc);
            }
            if cursor.postings.doc() == doc {
                sum += cursor.clause.weight.score(cursor.norms.fieldnorm_id(doc), cursor.postings.frequency());
            }
        }
        self.with_bonus(doc, sum, bar)
    }

    /// The score of a document whose terms add up to `sum`. `bar` is as in `score`.
    pub(super) fn with_bonus(&mut self, doc: DocId, sum: f32, bar: f32) -> f32 {
        if self.pairs.is_empty() || sum * (1.0 + PHRASE_BONUS) < bar {
            return sum;
        }
        let together = (0..self.pairs.len()).filter(|&pair| self.stands_together(pair, doc)).count();
        with_pairs(sum, together, self.pairs_asked)
    }

    /// How `doc` matches, and what each word and identifier adds to its score, into `parts`, which are 0 before. `doc` must
    /// not decrease.
    pub(super) fn judge(&mut self, doc: DocId, parts: &mut [f32]) -> Match {
        let score = self.score(doc, 0.0);
        let (mut words, mut is_singled_out, mut fewest) = (0, false, None);
        let mut is_by_parts = true;
        for ClauseCursor { clause, postings, norms, .. } in
            self.cursors.iter().filter(|cursor| cursor.postings.doc() == doc)
        {
            is_singled_out |= clause.singles_out(self.few);
            is_by_parts &= clause.origin == TermOrigin::Part;
            if !matches!(clause.origin, TermOrigin::Typo | TermOrigin::Part) {
                fewest = Some(fewest.unwrap_or(u64::MAX).min(clause.frequency));
            }
            let part = &mut parts[clause.text];
            // A word may be in several fields.
            words += usize::from(clause.origin == TermOrigin::Word && *part == 0.0);
            *part += clause.weight.score(norms.fieldnorm_id(doc), postings.frequency());
        }
        let had = parts.iter().zip(self.rarities).filter(|(part, _)| **part > 0.0);
        let had = Together::of(had.map(|(_, rarity)| *rarity));
        let together = self.best_passage(doc).unwrap_or(had);
        let share = if together.weight > 0.0 { (together.weight / self.rarity).min(1.0) } else { 0.0 };
        let has_all = words > 0 && words == self.words_asked && together.words == had.words;
        Match {
            score,
            is_singled_out: is_singled_out || has_all,
            share,
            rarest: fewest.map_or(0.0, |fewest| rareness(fewest, self.docs)),
            is_by_parts: is_by_parts && score > 0.0,
        }
    }

    /// The words of the best passage of a long text; `None` of another text. The cursors of its terms are there. An identifier
    /// has no positions: it counts as one of every passage, and so does what is in the context and the tags.
    fn best_passage(&mut self, doc: DocId) -> Option<Together> {
        let in_long_text = |cursor: &ClauseCursor<'_, P>| {
            let is_here = cursor.postings.doc() == doc && cursor.clause.place == SearchField::Content;
            is_here && cursor.norms.fieldnorm(doc) > self.lengths.long
        };
        if !self.cursors.iter().any(in_long_text) {
            return None;
        }
        self.occurrences.clear(self.rarities.len());
        for cursor in self.cursors.iter_mut().filter(|cursor| cursor.postings.doc() == doc) {
            let word = cursor.clause.text;
            if in_long_text(cursor) && cursor.postings.frequency() <= FREQUENT {
                cursor.postings.positions(&mut self.positions[0]);
                self.occurrences.add(word, &self.positions[0]);
            } else {
                self.occurrences.add_everywhere(word);
            }
        }
        Some(self.occurrences.best_passage(self.rarities, self.lengths.passage))
    }

    fn stands_together(&mut self, pair: usize, doc: DocId) -> bool {
        let Pair { first, second, distance } = self.pairs[pair];
        for (index, cursor) in [first, second].into_iter().enumerate() {
            let postings = &mut self.cursors[cursor].postings;
            if postings.doc() < doc {
                postings.seek(doc);
            }
            if postings.doc() != doc {
                return false;
            }
            postings.positions(&mut self.positions[index]);
        }
        let [first, second] = &self.positions;
        first.iter().any(|&at| second.binary_search(&(at + distance)).is_ok())
    }
}
