//! [`Scorer`]: the scores of the documents of one segment, or of one part of the tail.

use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::SegmentPostings;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, TERMINATED, TantivyError};

use super::found::Match;
use super::passage::{FREQUENT, Occurrences, Together};
use super::plan::{Clause, Plan};
use super::posting_list::PostingList;
use super::postings::{IndexedRecords, PostingsCursor};
use super::schema::SearchField;
use super::scoring::{PHRASE_BONUS, TermOrigin, relative_idf};
use super::segment::Segment;
use crate::error::Result;

/// The clauses whose postings a scorer reads, and those whose positions it reads, too.
#[derive(Clone, Copy)]
enum PostingsScope {
    /// The clauses of pairs only, with positions.
    Pairs,
    /// Every clause; the clauses of pairs with positions.
    Terms,
    /// Every clause; the clauses of the content with positions.
    Positions,
}

/// The postings of a clause.
struct ClauseCursor<'a, P> {
    postings: P,
    /// Index into [`Plan::clauses`].
    index: usize,
    clause: &'a Clause,
    /// The length of the field in each document, as tantivy rounds it.
    norms: &'a FieldNormReader,
}

/// Two cursors whose terms are a pair of the query.
#[derive(Clone, Copy)]
struct CursorPair {
    /// Index into [`Scorer::cursors`].
    first: usize,
    /// Index into [`Scorer::cursors`].
    second: usize,
    /// The distance of the second word from the first in the query.
    distance: u32,
}

/// Scores documents of one segment or part in ascending order.
pub(super) struct Scorer<'a, P> {
    plan: &'a Plan,
    cursors: Vec<ClauseCursor<'a, P>>,
    pairs: Vec<CursorPair>,
    /// Buffers for positions, reused between calls.
    positions: [Vec<u32>; 2],
    /// A buffer of [`Scorer::best_passage`], reused between calls.
    occurrences: Occurrences,
}

impl<'a> Scorer<'a, SegmentPostings> {
    /// For the scores of documents of a segment.
    pub(super) fn of_segment(plan: &'a Plan, ordinal: usize, segment: &'a Segment) -> Result<Self> {
        Self::reading(PostingsScope::Terms, plan, ordinal, segment)
    }

    /// For the phrase factor of documents whose sums are known: [`Scorer::with_phrase_factor`].
    pub(super) fn of_pairs(plan: &'a Plan, ordinal: usize, segment: &'a Segment) -> Result<Self> {
        Self::reading(PostingsScope::Pairs, plan, ordinal, segment)
    }

    /// For the matches of `docs` of a segment: [`Scorer::match_of`]. If one of them is long, its best passage is needed, and
    /// the positions of all words of the content are read.
    pub(super) fn of_matches(
        plan: &'a Plan,
        ordinal: usize,
        segment: &'a Segment,
        mut docs: impl Iterator<Item = DocId>,
    ) -> Result<Self> {
        let is_any_long = docs.any(|doc| segment.content.norms.fieldnorm(doc) > plan.lengths.long);
        Self::reading(if is_any_long { PostingsScope::Positions } else { PostingsScope::Terms }, plan, ordinal, segment)
    }

    fn reading(scope: PostingsScope, plan: &'a Plan, ordinal: usize, segment: &'a Segment) -> Result<Self> {
        Self::with_cursors(plan, |index, clause| {
            let Some(info) = &clause.infos[ordinal] else { return Ok(None) };
            let is_paired = plan.pairs.iter().any(|pair| pair.first == index || pair.second == index);
            let with_positions = match scope {
                PostingsScope::Pairs if !is_paired => return Ok(None),
                PostingsScope::Pairs | PostingsScope::Terms => is_paired,
                PostingsScope::Positions => clause.field == SearchField::Content,
            };
            let option = match with_positions {
                true => IndexRecordOption::WithFreqsAndPositions,
                false => IndexRecordOption::WithFreqs,
            };
            let field = segment.field(clause.field);
            let postings = field.terms.read_postings_from_terminfo(info, option).map_err(TantivyError::from)?;
            Ok(Some((postings, &field.norms)))
        })
    }
}

impl<'a> Scorer<'a, PostingsCursor<'a>> {
    /// For the records of one part of the tail.
    pub(super) fn of_tail(plan: &'a Plan, part: &'a IndexedRecords) -> Result<Self> {
        Self::with_cursors(plan, |_, clause| {
            let field = part.field(clause.field);
            let term = clause.term.value();
            Ok(field.postings(term.as_str().unwrap_or_default()).map(|postings| (postings, &field.norms)))
        })
    }
}

impl<'a, P> Scorer<'a, P> {
    /// A scorer with a cursor for each clause for which `open` returns postings.
    fn with_cursors(
        plan: &'a Plan,
        open: impl Fn(usize, &'a Clause) -> Result<Option<(P, &'a FieldNormReader)>>,
    ) -> Result<Self> {
        let mut cursors = Vec::with_capacity(plan.clauses.len());
        for (index, clause) in plan.clauses.iter().enumerate() {
            if let Some((postings, norms)) = open(index, clause)? {
                cursors.push(ClauseCursor { postings, index, clause, norms });
            }
        }
        let cursor_of = |clause: usize| cursors.iter().position(|cursor| cursor.index == clause);
        let pairs = plan.pairs.iter().filter_map(|pair| {
            let (first, second) = (cursor_of(pair.first)?, cursor_of(pair.second)?);
            Some(CursorPair { first, second, distance: pair.distance })
        });
        let pairs = pairs.collect();
        Ok(Scorer { plan, cursors, pairs, positions: Default::default(), occurrences: Occurrences::default() })
    }
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

    /// The score of `doc`, 0 if no term occurs in it. `doc` must not decrease. A value below `bar` says only that the
    /// score is below `bar`: the phrase factor may be missing.
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
        self.with_phrase_factor(doc, sum, bar)
    }

    /// The score of `doc`, whose terms add up to `sum`. `doc` and `bar` are as in [`Scorer::score`].
    pub(super) fn with_phrase_factor(&mut self, doc: DocId, sum: f32, bar: f32) -> f32 {
        if self.pairs.is_empty() || sum * (1.0 + PHRASE_BONUS) < bar {
            return sum;
        }
        let pairs = (0..self.pairs.len()).filter(|&pair| self.has_pair(pair, doc)).count();
        self.plan.with_phrase_factor(sum, pairs)
    }

    /// How `doc` matches. `term_scores` receives the score of each query term, without the phrase factor. It has one
    /// entry for each of [`Plan::idfs`], and must be all 0. `doc` must not decrease.
    pub(super) fn match_of(&mut self, doc: DocId, term_scores: &mut [f32]) -> Match {
        // Moves every cursor to `doc`, or beyond it if its term does not occur there.
        let score = self.score(doc, 0.0);
        let plan = self.plan;
        let (mut words, mut is_singled_out, mut lowest_frequency) = (0, false, None);
        let mut is_only_within_words = true;
        for ClauseCursor { clause, postings, norms, .. } in
            self.cursors.iter().filter(|cursor| cursor.postings.doc() == doc)
        {
            is_singled_out |= clause.singles_out(plan.few);
            is_only_within_words &= clause.origin == TermOrigin::Within;
            // A correction, or a word that contains an absent one, is another word: how rare it is says nothing about
            // the query.
            if !matches!(clause.origin, TermOrigin::Correction | TermOrigin::Within) {
                lowest_frequency = Some(lowest_frequency.unwrap_or(u64::MAX).min(clause.frequency));
            }
            let term_score = &mut term_scores[clause.query_term];
            // A word in several fields counts once. Its clauses are before its completions in the plan, so the score of
            // its query term is 0 at its first clause.
            words += usize::from(clause.origin == TermOrigin::Word && *term_score == 0.0);
            *term_score += clause.weight.score(norms.fieldnorm_id(doc), postings.frequency());
        }
        let matching = term_scores.iter().zip(&plan.idfs).filter(|(term_score, _)| **term_score > 0.0);
        // The sum of the idfs, and the number, of the query terms that match: in `doc`, and in its best passage if it
        // is long.
        let in_document = Together::of(matching.map(|(_, idf)| *idf));
        let in_passage = self.best_passage(doc).unwrap_or(in_document);
        let share = if in_passage.weight > 0.0 { (in_passage.weight / plan.total_idf).min(1.0) } else { 0.0 };
        // All words of the query are in `doc`, and in one passage of it if it is long.
        let has_all_words = words > 0 && words == plan.query_words && in_passage.words == in_document.words;
        Match {
            score,
            is_singled_out: is_singled_out || has_all_words,
            share,
            rarest: lowest_frequency.map_or(0.0, |frequency| relative_idf(frequency, plan.docs)),
            // Without any match, `is_only_within_words` is still true.
            is_by_parts: is_only_within_words && score > 0.0,
        }
    }

    /// The query terms in the passage of `doc` in which their idfs add up to most; `None` if its content is not long. A
    /// query term counts in every passage if it occurs more than [`FREQUENT`] times, or outside the content: in the
    /// context, in the tags, or as an identifier. Every cursor must be at `doc` or beyond it.
    fn best_passage(&mut self, doc: DocId) -> Option<Together> {
        let Plan { lengths, idfs, .. } = self.plan;
        let is_in_long_text = |cursor: &ClauseCursor<'_, P>| {
            let is_here = cursor.postings.doc() == doc && cursor.clause.field == SearchField::Content;
            is_here && cursor.norms.fieldnorm(doc) > lengths.long
        };
        if !self.cursors.iter().any(is_in_long_text) {
            return None;
        }
        self.occurrences.clear(idfs.len());
        for cursor in self.cursors.iter_mut().filter(|cursor| cursor.postings.doc() == doc) {
            let query_term = cursor.clause.query_term;
            if is_in_long_text(cursor) && cursor.postings.frequency() <= FREQUENT {
                cursor.postings.positions(&mut self.positions[0]);
                self.occurrences.add(query_term, &self.positions[0]);
            } else {
                self.occurrences.add_everywhere(query_term);
            }
        }
        Some(self.occurrences.best_passage(idfs, lengths.passage))
    }

    /// Whether the content of `doc` has both words of a pair at the distance in the query.
    fn has_pair(&mut self, pair: usize, doc: DocId) -> bool {
        let CursorPair { first, second, distance } = self.pairs[pair];
        for (side, cursor_index) in [first, second].into_iter().enumerate() {
            let postings = &mut self.cursors[cursor_index].postings;
            if postings.doc() < doc {
                postings.seek(doc);
            }
            if postings.doc() != doc {
                return false;
            }
            postings.positions(&mut self.positions[side]);
        }
        let [first, second] = &self.positions;
        first.iter().any(|&at| second.binary_search(&(at + distance)).is_ok())
    }
}
