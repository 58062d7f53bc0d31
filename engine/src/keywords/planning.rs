//! Makes the [`Plan`] of a query: looks its words and identifiers up in all segments and the tail, and finds the terms
//! that stand for absent words. A word is a stem here. It is absent if no record has it and it has no completion.

use std::cmp::Reverse;

use tantivy::Term;
use tantivy::postings::TermInfo;
use tantivy::query::Bm25Weight;

use super::completions::completions;
use super::passage::Lengths;
use super::plan::{Clause, ClausePair, Plan};
use super::query::KeywordQuery;
use super::schema::{Fields, SearchField};
use super::scoring::{FEW, TermOrigin, field_boost, idf};
use super::segment::Segment;
use super::tail::TailPart;
use super::typos::corrections;
use super::within;
use crate::error::Result;

/// A query searches for this many words at most, the rarest: others hardly change the order.
const MAX_WORDS: usize = 32;
/// A query searches for this many identifiers at most, the rarest.
const MAX_IDENTIFIERS: usize = 16;
/// At most this many absent words are checked for a typo: the first ones of the query that are neither too short nor
/// too long, and have only letters of one known alphabet (`typos.rs`).
const MAX_CHECKED_WORDS: usize = 2;
/// At most this many corrections of one word are searched for, the most frequent ones.
const MAX_CORRECTIONS: usize = 3;

/// The fields in which words are searched. The content must be first: `Planner::add_words` relies on it.
const WORD_FIELDS: [SearchField; 3] = [SearchField::Content, SearchField::Context, SearchField::Tags];

impl Plan {
    /// The plan of a query for all segments and the parts of the tail.
    pub(super) fn new(query: &KeywordQuery, fields: &Fields, segments: &[Segment], parts: &[TailPart]) -> Result<Plan> {
        let corpus = Corpus { fields, segments, parts };
        // Names in camel case that no record has are replaced by their parts.
        let query = &*query.with_camel_case_split(|name| Ok(corpus.look_up_word(name)?.frequency == 0))?;
        let words = rarest(&query.words, MAX_WORDS, |word| corpus.look_up_word(word))?;
        let identifiers =
            rarest(&query.identifiers, MAX_IDENTIFIERS, |text| corpus.look_up(text, &[SearchField::Exact]))?;
        let completions = corpus.completions(query)?;
        // The index of the last word, if it has completions: it is not absent then. Also `None` if it is not in
        // `query.words`.
        let beginning = query.beginning.as_ref().filter(|_| !completions.is_empty());
        let completed = beginning.and_then(|word| query.index_of(word));
        // If `MAX_WORDS` words were found, a word that is missing in `words` may occur, too, and have been left out. So
        // none is taken for absent. The same holds for identifiers.
        let is_absent = |index: &usize| completed != Some(*index) && words.iter().all(|(known, _)| known != index);
        let absent_words: Vec<usize> =
            if words.len() < MAX_WORDS { (0..query.words.len()).filter(is_absent).collect() } else { Vec::new() };
        let absent_identifiers =
            if identifiers.len() < MAX_IDENTIFIERS { query.identifiers.len() - identifiers.len() } else { 0 };

        // The order matters. Completions share the query term of their word, so words are before them;
        // `Scorer::match_of` counts a word by the first clause of its query term. Words within words are last: they are
        // for words without a correction, and they may be shorter if the plan is still empty. Each step but the
        // corrections changes `Plan::total_idf`.
        let mut planner = Planner::new(query, corpus);
        planner.add_words(words);
        if !completions.is_empty() {
            planner.add_completions(&completions, completed)?;
        }
        let absent = absent_words.len() + absent_identifiers;
        planner.plan.total_idf += absent as f32 * idf(0, planner.plan.docs);
        identifiers.into_iter().for_each(|(_, identifier)| planner.add(TermOrigin::Identifier, identifier));
        if !query.is_of_stop_words {
            let unknown = planner.add_corrections(&absent_words)?;
            if query.within_words {
                planner.add_within(&unknown)?;
            }
        }
        Ok(planner.with_pairs())
    }
}

/// Builds a plan.
struct Planner<'a> {
    query: &'a KeywordQuery,
    corpus: Corpus<'a>,
    plan: Plan,
    /// For each word of the query, its clause in the content: an index into [`Plan::clauses`].
    content_clauses: Vec<Option<usize>>,
    /// For each word of the query that occurs, its entry in [`Plan::idfs`].
    query_terms: Vec<Option<usize>>,
}

impl<'a> Planner<'a> {
    fn new(query: &'a KeywordQuery, corpus: Corpus<'a>) -> Self {
        let plan = Plan {
            clauses: Vec::new(),
            pairs: Vec::new(),
            query_pairs: query.pairs.len(),
            query_words: query.words.len(),
            few: if query.is_of_stop_words { 0 } else { FEW },
            idfs: Vec::new(),
            total_idf: 0.0,
            docs: corpus.docs(),
            tokens: corpus.tokens(),
            lengths: Lengths::of(&query.words),
        };
        let (content_clauses, query_terms) = (vec![None; query.words.len()], vec![None; query.words.len()]);
        Planner { query, corpus, plan, content_clauses, query_terms }
    }

    /// Adds the words that occur, each with its index in the query.
    fn add_words(&mut self, words: Vec<(usize, ResolvedTerm)>) {
        for (index, word) in words {
            if word.terms.first().is_some_and(|(field, ..)| *field == SearchField::Content) {
                self.content_clauses[index] = Some(self.plan.clauses.len());
            }
            self.query_terms[index] = Some(self.plan.idfs.len());
            self.add(TermOrigin::Word, word);
        }
    }

    /// Adds a word or an identifier that occurs.
    fn add(&mut self, origin: TermOrigin, found: ResolvedTerm) {
        let idf = idf(found.frequency, self.plan.docs);
        self.plan.total_idf += idf;
        let query_term = self.add_query_term(idf);
        self.add_clauses(origin, query_term, found);
    }

    /// Adds the completions of the last word of the query. They share the query term of that word if records have the
    /// word, and are a query term of their own otherwise. `completed` is the index of the word in the query.
    fn add_completions(&mut self, completions: &[String], completed: Option<usize>) -> Result<()> {
        let completions = self.corpus.look_up_words(completions)?;
        let frequency = completions.iter().map(|found| found.frequency).max().unwrap_or_default();
        let query_term = match completed.and_then(|index| self.query_terms[index]) {
            Some(query_term) => query_term,
            None => {
                let idf = idf(frequency, self.plan.docs);
                self.plan.total_idf += idf;
                self.add_query_term(idf)
            }
        };
        // All with the idf of the most frequent one (`scoring.rs`).
        for found in completions {
            self.add_clauses(TermOrigin::Completion, query_term, ResolvedTerm { frequency, ..found });
        }
        Ok(())
    }

    /// Adds the corrections of absent words, which are indexes in the query. Returns the words without one, also those
    /// that were not checked.
    ///
    /// In [`Plan::total_idf`] the word stays absent: a record with a correction has another word than the query.
    fn add_corrections(&mut self, absent_words: &[usize]) -> Result<Vec<&'a str>> {
        let (query, mut checked, mut unknown) = (self.query, 0, Vec::new());
        for &index in absent_words {
            // `None` for a word that is not checked: it is too short, for example, or enough were checked.
            let frequencies = match checked < MAX_CHECKED_WORDS {
                true => corrections(&query.as_written[index], |stem| self.corpus.frequency_in_content(stem))?,
                false => None,
            };
            checked += usize::from(frequencies.is_some());
            let mut stems: Vec<(String, u64)> = frequencies.into_iter().flatten().collect();
            if stems.is_empty() {
                unknown.push(query.words[index].as_str());
                continue;
            }
            stems.sort_by_key(|(_, frequency)| Reverse(*frequency));
            stems.truncate(MAX_CORRECTIONS);
            let corrections = self.corpus.look_up_words(stems.iter().map(|(stem, _)| stem))?;
            let idfs = corrections.iter().map(|found| idf(found.frequency, self.plan.docs));
            let highest = idfs.reduce(f32::max).unwrap_or_default();
            let query_term = self.add_query_term(TermOrigin::Correction.factor() * highest);
            corrections.into_iter().for_each(|found| self.add_clauses(TermOrigin::Correction, query_term, found));
        }
        Ok(unknown)
    }

    /// Adds the words that contain one of the `unknown` words.
    ///
    /// In [`Plan::total_idf`] the word is no longer absent: a record with a word that contains it has what was written.
    fn add_within(&mut self, unknown: &[&str]) -> Result<()> {
        // If the plan has nothing else, shorter words are looked for, too.
        let is_nothing_else_known = self.plan.is_empty();
        for terms in within::terms_around(unknown, is_nothing_else_known, self.corpus.segments, self.corpus.parts)? {
            let containing = self.corpus.look_up_words(&terms)?;
            let Some(frequency) = containing.iter().map(|found| found.frequency).max() else { continue };
            let containing_idf = idf(frequency, self.plan.docs);
            self.plan.total_idf += containing_idf - idf(0, self.plan.docs);
            let query_term = self.add_query_term(TermOrigin::Within.factor() * containing_idf);
            // All with the idf of the most frequent one (`scoring.rs`).
            for found in containing {
                self.add_clauses(TermOrigin::Within, query_term, ResolvedTerm { frequency, ..found });
            }
        }
        Ok(())
    }

    /// Adds an entry to [`Plan::idfs`]. Returns its index.
    fn add_query_term(&mut self, idf: f32) -> usize {
        self.plan.idfs.push(idf);
        self.plan.idfs.len() - 1
    }

    /// Adds a term, with a clause for each field in which it occurs.
    fn add_clauses(&mut self, origin: TermOrigin, query_term: usize, found: ResolvedTerm) {
        let (docs, frequency) = (self.plan.docs, found.frequency);
        for (field, term, infos) in found.terms {
            let average_length = self.plan.tokens_of(field) as f32 / docs as f32;
            let boost = field_boost(field) * origin.factor();
            let weight = Bm25Weight::for_one_term_without_explain(frequency, docs, average_length).boost_by(boost);
            self.plan.clauses.push(Clause { field, term, origin, query_term, frequency, boost, weight, infos });
        }
    }

    /// The plan, with the pairs of words that both occur in contents.
    fn with_pairs(mut self) -> Plan {
        for pair in &self.query.pairs {
            if let (Some(first), Some(second)) = (self.content_clauses[pair.first], self.content_clauses[pair.second]) {
                self.plan.pairs.push(ClausePair { first, second, distance: pair.distance });
            }
        }
        self.plan
    }
}

/// All segments and the parts of the tail, as one index.
#[derive(Clone, Copy)]
struct Corpus<'a> {
    fields: &'a Fields,
    segments: &'a [Segment],
    parts: &'a [TailPart],
}

impl Corpus<'_> {
    fn docs(&self) -> u64 {
        let in_segments: u64 = self.segments.iter().map(|segment| u64::from(segment.reader.max_doc())).sum();
        in_segments + self.parts.iter().map(|part| part.indexed.records().len() as u64).sum::<u64>()
    }

    /// The number of tokens in all contents.
    fn tokens(&self) -> u64 {
        let in_segments: u64 = self.segments.iter().map(|segment| segment.content.terms.total_num_tokens()).sum();
        let in_part = |part: &TailPart| part.indexed.field(SearchField::Content).total_tokens();
        in_segments + self.parts.iter().map(in_part).sum::<u64>()
    }

    /// Terms that begin with the last word of the query, if it is to be completed; without words of the query.
    fn completions(&self, query: &KeywordQuery) -> Result<Vec<String>> {
        let Some(beginning) = &query.beginning else { return Ok(Vec::new()) };
        let mut completions = completions(beginning, self.segments, self.parts)?;
        completions.retain(|term| !query.words.contains(term));
        Ok(completions)
    }

    fn frequency_in_content(&self, word: &str) -> Result<u64> {
        let in_tail = self.parts.iter().map(|part| part.indexed.field(SearchField::Content).doc_freq(word)).sum();
        self.segments.iter().try_fold(in_tail, |sum: u64, segment| Ok(sum + segment.content.frequency(word)?))
    }

    fn look_up_word(&self, word: &str) -> Result<ResolvedTerm> {
        self.look_up(word, &WORD_FIELDS)
    }

    fn look_up_words<'w>(&self, words: impl IntoIterator<Item = &'w String>) -> Result<Vec<ResolvedTerm>> {
        words.into_iter().map(|word| self.look_up_word(word)).collect()
    }

    fn look_up(&self, text: &str, fields: &[SearchField]) -> Result<ResolvedTerm> {
        let mut found = ResolvedTerm { frequency: 0, terms: Vec::new() };
        for &field in fields {
            let term = Term::from_field_text(self.fields.field(field), text);
            let infos =
                self.segments.iter().map(|segment| segment.field(field).find(&term)).collect::<Result<Vec<_>>>()?;
            let in_segments: u64 = infos.iter().flatten().map(|info| u64::from(info.doc_freq)).sum();
            let in_tail: u64 = self.parts.iter().map(|part| part.indexed.field(field).doc_freq(text)).sum();
            let frequency = in_segments + in_tail;
            if frequency > 0 {
                found.frequency = found.frequency.max(frequency);
                found.terms.push((field, term, infos));
            }
        }
        Ok(found)
    }
}

/// A word or identifier that was looked up.
struct ResolvedTerm {
    /// Its document frequency in the field in which most records have it. 0 if it occurs nowhere.
    frequency: u64,
    /// The fields in which it occurs, each with the postings by segment.
    terms: Vec<(SearchField, Term, Vec<Option<TermInfo>>)>,
}

/// Looks up every text. Of those that occur it keeps at most `limit`, the rarest, in the order of the query, with their
/// indexes.
fn rarest(
    texts: &[String],
    limit: usize,
    look_up: impl Fn(&str) -> Result<ResolvedTerm>,
) -> Result<Vec<(usize, ResolvedTerm)>> {
    let mut kept = Vec::with_capacity(texts.len());
    for (index, text) in texts.iter().enumerate() {
        let found = look_up(text)?;
        if found.frequency > 0 {
            kept.push((index, found));
        }
    }
    if kept.len() > limit {
        kept.sort_by_key(|(index, found)| (found.frequency, *index));
        kept.truncate(limit);
        kept.sort_by_key(|(index, _)| *index);
    }
    Ok(kept)
}
