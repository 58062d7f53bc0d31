//! [`Plan`]: the terms that a query searches for, each with its weight. `planning.rs` makes it.
//!
//! - A *query term* is a word or an identifier of the query that some record has, or for which the plan has other terms.
//! - A *term* is an entry of the index that is searched for: the query term itself, or one that stands for it.
//! - A *clause* is a term in one field.

use std::collections::BTreeSet;

use tantivy::postings::TermInfo;
use tantivy::query::{
    Bm25StatisticsProvider, Bm25Weight, BooleanQuery, BoostQuery, EnableScoring, Query, TermQuery, Weight,
};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{Searcher, TantivyError, Term};

use super::passage::Lengths;
use super::schema::SearchField;
use super::scoring::{TermOrigin, assumed_tokens, idf, with_phrase_factor};
use super::segment::{Segment, TextField};
use super::sums::Addend;
use crate::error::Result;

/// A term in one field. A term that occurs in several fields has a clause for each.
pub(super) struct Clause {
    pub(super) field: SearchField,
    pub(super) term: Term,
    pub(super) origin: TermOrigin,
    /// The query term for which the term is searched: an index into [`Plan::idfs`].
    pub(super) query_term: usize,
    /// The document frequency from which the weight is computed.
    pub(super) frequency: u64,
    /// The boost of the field times the factor of the origin.
    pub(super) boost: f32,
    pub(super) weight: Bm25Weight,
    /// For each segment, by its ordinal, where the postings are; `None` if it has none. In the tail the term is looked
    /// up.
    pub(super) infos: Vec<Option<TermInfo>>,
}

impl Clause {
    /// Whether the term singles out the records that have it. An identifier does, a word if at most `few` records have it.
    /// Terms that only stand for a word of the query do not.
    pub(super) fn singles_out(&self, few: u64) -> bool {
        match self.origin {
            TermOrigin::Identifier => true,
            TermOrigin::Word => self.frequency <= few,
            TermOrigin::Correction | TermOrigin::Completion | TermOrigin::Within => false,
        }
    }
}

/// Two content clauses whose terms are a pair of the query.
pub(super) struct ClausePair {
    /// Index into [`Plan::clauses`].
    pub(super) first: usize,
    /// Index into [`Plan::clauses`].
    pub(super) second: usize,
    /// The distance of the second word from the first in the query.
    pub(super) distance: u32,
}

/// A query against a list of segments and the parts of a tail.
pub(super) struct Plan {
    pub(super) clauses: Vec<Clause>,
    /// The pairs of the query of which both words occur in contents.
    pub(super) pairs: Vec<ClausePair>,
    /// The number of pairs of the query, with those of absent words.
    pub(super) query_pairs: usize,
    /// The number of words of the query, with absent ones.
    pub(super) query_words: usize,
    /// A word singles out the records that have it if they are at most this many. 0, so no word does, if the query has
    /// only stop words.
    pub(super) few: u64,
    /// The idf of each query term. If no record has it, the idf comes from the terms that stand for it: the highest of
    /// its corrections or that of the words that contain it, each times the factor of the origin; that of its
    /// completions, without a factor.
    pub(super) idfs: Vec<f32>,
    /// The sum of the idfs of all words and identifiers of the query, without factors. One that no record has counts as
    /// `idf(0, docs)`; as the most frequent of the words that contain it or complete it, if the plan has such words. If
    /// the limit of words or of identifiers is reached (`planning.rs`), those beyond it do not count, nor do absent
    /// ones.
    pub(super) total_idf: f32,
    /// The number of documents in all segments and the tail, with deleted and replaced ones that are not merged away yet.
    pub(super) docs: u64,
    /// The number of tokens in their contents.
    pub(super) tokens: u64,
    /// From which length a text is long, and how long its passages are, for this query.
    pub(super) lengths: Lengths,
}

impl Plan {
    /// Whether there is nothing to search for: no query term occurs, and no other term stands for one.
    pub(super) fn is_empty(&self) -> bool {
        self.clauses.is_empty()
    }

    /// Every term, once.
    pub(super) fn terms(&self) -> Vec<String> {
        let terms = self.clauses.iter().filter_map(|clause| clause.term.value().as_str().map(str::to_owned));
        terms.collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Whether all terms are corrections: no word of the query occurs as it is written.
    pub(super) fn has_only_corrections(&self) -> bool {
        !self.is_empty() && self.clauses.iter().all(|clause| clause.origin == TermOrigin::Correction)
    }

    /// Whether every term is a guess, a correction or a word that contains an absent one, and at least one is such a
    /// word.
    pub(super) fn matches_only_within_words(&self) -> bool {
        let is_guess = |clause: &Clause| matches!(clause.origin, TermOrigin::Correction | TermOrigin::Within);
        self.clauses.iter().all(is_guess) && self.clauses.iter().any(|clause| clause.origin == TermOrigin::Within)
    }

    /// The maximum phrase factor.
    pub(super) fn max_phrase_factor(&self) -> f32 {
        with_phrase_factor(1.0, self.pairs.len(), self.query_pairs)
    }

    /// The share that each query term adds to [`Match::share`](super::found::Match::share) where it counts.
    pub(super) fn shares(&self) -> Vec<f32> {
        self.idfs.iter().map(|idf| idf / self.total_idf).collect()
    }

    /// See [`Matches::information`](super::found::Matches::information).
    pub(super) fn information(&self) -> f32 {
        let passages = self.docs.max(self.tokens / u64::from(self.lengths.passage)).max(1);
        let all_terms: f32 = self.idfs.iter().sum();
        // Among so many passages, some one may have words of this idf by chance: that of a word in one passage only. If
        // all query terms together have less, a text with all of them does not have them by chance.
        let by_chance = idf(1, passages).min(all_terms);
        self.total_idf / by_chance
    }

    /// How many postings of a segment would be read without pruning.
    pub(super) fn posting_count(&self, ordinal: usize) -> u64 {
        let infos = self.clauses.iter().filter_map(|clause| clause.infos[ordinal].as_ref());
        infos.map(|info| u64::from(info.doc_freq)).sum()
    }

    /// The tokens that BM25 assumes in a field, over all documents.
    pub(super) fn tokens_of(&self, field: SearchField) -> u64 {
        assumed_tokens(field, self.tokens, self.docs)
    }

    /// The query as a tantivy [`Weight`], from which tantivy knows which blocks of postings to skip. Its scores lack
    /// the phrase factor.
    pub(super) fn pruning_weight(&self, searcher: &Searcher) -> Result<Box<dyn Weight>> {
        let scoring = EnableScoring::enabled_from_statistics_provider(self, searcher);
        let term_query = |clause: &Clause| TermQuery::new(clause.term.clone(), IndexRecordOption::WithFreqs);
        // tantivy does not prune a union of one query, so a single content clause is a bare term query, without its
        // boost. That boost is at most 1. So scores are too high rather than too low: tantivy prunes less, but drops
        // none of the best.
        if let [clause] = &self.clauses[..]
            && clause.field == SearchField::Content
        {
            return Ok(term_query(clause).weight(scoring)?);
        }
        let boosted = |clause: &Clause| Box::new(BoostQuery::new(Box::new(term_query(clause)), clause.boost)) as Box<_>;
        Ok(BooleanQuery::union(self.clauses.iter().map(boosted).collect()).weight(scoring)?)
    }

    /// The addends of the scores of the documents of one segment, without the phrase factor.
    pub(super) fn addends<'a>(&'a self, ordinal: usize, segment: &'a Segment) -> Result<Vec<Addend<'a>>> {
        let mut addends = Vec::with_capacity(self.clauses.len());
        for (index, clause) in self.clauses.iter().enumerate() {
            let Some(info) = &clause.infos[ordinal] else { continue };
            let TextField { terms, norms } = segment.field(clause.field);
            let postings = terms.read_postings_from_terminfo(info, IndexRecordOption::WithFreqs);
            let postings = postings.map_err(TantivyError::from)?;
            addends.push(Addend { postings, bit: self.pair_bit(index), weight: &clause.weight, norms });
        }
        Ok(addends)
    }

    /// A mask with one bit, another one for each clause that is in a pair; 0 for the other clauses.
    fn pair_bit(&self, clause: usize) -> u32 {
        let mut paired = self.pairs.iter().flat_map(|pair| [pair.first, pair.second]);
        paired.position(|index| index == clause).map_or(0, |at| 1 << at)
    }

    /// For each pair, the bits of both clauses.
    pub(super) fn pair_bits(&self) -> Vec<u32> {
        self.pairs.iter().map(|pair| self.pair_bit(pair.first) | self.pair_bit(pair.second)).collect()
    }

    /// The score of a document whose terms add up to `sum`, and whose content has `pairs` of the pairs.
    pub(super) fn with_phrase_factor(&self, sum: f32, pairs: usize) -> f32 {
        with_phrase_factor(sum, pairs, self.query_pairs)
    }
}

impl Bm25StatisticsProvider for Plan {
    fn total_num_tokens(&self, field: Field) -> tantivy::Result<u64> {
        let clause = self.clauses.iter().find(|clause| clause.term.field() == field);
        Ok(clause.map_or(0, |clause| self.tokens_of(clause.field)))
    }

    fn total_num_docs(&self) -> tantivy::Result<u64> {
        Ok(self.docs)
    }

    fn doc_freq(&self, term: &Term) -> tantivy::Result<u64> {
        Ok(self.clauses.iter().find(|clause| clause.term == *term).map_or(0, |clause| clause.frequency))
    }
}
