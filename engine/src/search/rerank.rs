//! The first results once more, by a model that reads the query and a memory together.
//!
//! It adds to their scores, and orders none alone: right answers in other words get low logits, which say nothing. What it has
//! not read stays below, in its order. The rule, from `cargo bench --bench quality` and public talk:
//!
//! - It reads the best first: at most 10, of turns of sessions 20, that are near the best; three at least. It stops at a
//!   clear answer, so that five pairs are usual. The number of pairs is the limit, not the time: every machine answers alike.
//! - A score gains 0.05 for each unit of the logit above -5, up to 8. A short turn that ends with a question mark counts 3
//!   less, as it asks for the same and answers nothing.
//! - Of a short turn, it reads the turn before as well; of a long text, the passage with most of the query.

use std::sync::Arc;

use memorist_embed::Reranker;

use super::at_once::at_once;
use super::threads::QUESTION_WORDS;
use super::view::View;
use crate::error::{Error, Result};
use crate::keywords::{count_words, is_question};
use crate::snippet;
use crate::types::{Hit, Millis, Placed, Query, Record};

/// At least so many are read, and at most; of turns of sessions, more.
const LEAST_READ: usize = 3;
const MOST_READ: usize = 10;
const MOST_TURNS: usize = 20;
/// A score is near the best one if it is no further below.
const NEAR: f64 = 0.15;
/// A logit from which no more are read, and that of a turn.
const ANSWERED: f32 = 4.0;
const ANSWERED_BY_TURN: f32 = 6.0;
/// The score gained for each unit of the logit, between these bounds.
const GAIN: f64 = 0.05;
const LEAST_LOGIT: f32 = -5.0;
const MOST_LOGIT: f32 = 8.0;
const MOST_GAIN: f64 = GAIN * (MOST_LOGIT - LEAST_LOGIT) as f64;
/// How much less the logit of a short question counts.
const QUESTION: f32 = 3.0;
/// A turn of at most so many words is read together with the turn before, of which as many words are read.
const TURN_WORDS: u32 = 60;
/// Characters that are read of a long text: about 110 words.
const PASSAGE_CHARS: usize = 660;
/// The share of its letters that a text in English has in ASCII, at least.
const ENGLISH_LETTERS: f64 = 0.75;

/// How many results have to be there to rerank the first page.
pub const NEEDED: usize = MOST_TURNS;

/// Puts the first results in order by what the reranker says of them, and returns the best logit; `None` if it has not read
/// all of them. The scores are up to 1.65 then, until [`scale`] is called.
///
/// # Errors
/// Errors of the database, and of the reranker: then the order has not changed.
pub fn rerank(
    view: &View,
    hits: &mut [Hit],
    query: &Query,
    reranker: &Arc<dyn Reranker>,
    now: Millis,
) -> Result<Option<f32>> {
    let Some(best) = hits.first().map(|hit| hit.score) else { return Ok(None) };
    let is_near = |hit: &Hit| best - hit.score <= NEAR;
    let may_be_read = |(at, hit): &(usize, &Hit)| {
        let most = if is_turn(&hit.record) { MOST_TURNS } else { MOST_READ };
        *at < LEAST_READ || *at < most && is_near(hit)
    };
    let count = hits.iter().enumerate().take_while(may_be_read).count();
    let mut logits = Vec::with_capacity(count);
    // Two at once, whatever the machine has: what is read after the answer does not count.
    'reading: for pair in hits[..count].chunks(2) {
        let texts: Vec<Option<String>> =
            pair.iter().map(|hit| text_of(view, hit, query, now)).collect::<Result<_>>()?;
        for (hit, logit) in pair.iter().zip(judge_pair(reranker, &query.text, texts)) {
            let logit = logit?;
            logits.push(logit);
            let answered = if is_turn(&hit.record) { ANSWERED_BY_TURN } else { ANSWERED };
            if logit.is_some_and(|logit| logit >= answered) {
                break 'reading;
            }
        }
    }
    let read = logits.len();
    let mut gains = logits.iter();
    for hit in &mut *hits {
        hit.logit = gains.next().copied().flatten();
        hit.score += gain(hit);
    }
    let before: Vec<_> = hits[..read].iter().map(|hit| hit.record.id).collect();
    hits[..read].sort_by(|a, b| b.score.total_cmp(&a.score));
    for (hit, before) in hits.iter_mut().zip(before) {
        if hit.record.id != before {
            hit.placed = Some(Placed::Reranked);
        }
    }
    let read: Option<Vec<f32>> = logits.into_iter().collect();
    Ok(read.and_then(|logits| logits.into_iter().reduce(f32::max)))
}

/// Brings the scores of reranked results back to 0 to 1.
pub fn scale(hits: &mut [Hit]) {
    hits.iter_mut().for_each(|hit| hit.score /= 1.0 + MOST_GAIN);
}

/// The logits of one or two texts, the second one on another thread.
fn judge_pair(reranker: &Arc<dyn Reranker>, question: &str, texts: Vec<Option<String>>) -> Vec<Result<Option<f32>>> {
    let mut texts = texts.into_iter();
    let (first, second) = (texts.next().flatten(), texts.next());
    let Some(second) = second else { return vec![judge(&**reranker, question, first)] };
    let (there, owned) = (Arc::clone(reranker), question.to_owned());
    let (second, first) = at_once(move || judge(&*there, &owned, second), || judge(&**reranker, question, first));
    vec![first, second]
}

/// The logit of a text; `None` of one that is not to be read, or where it is no number.
fn judge(reranker: &dyn Reranker, question: &str, text: Option<String>) -> Result<Option<f32>> {
    let Some(text) = text else { return Ok(None) };
    // Whatever is wrong with it, the search goes on without it.
    let logit = reranker.judge(question, &text).map_err(Error::Embedding)?;
    Ok(Some(logit).filter(|logit| logit.is_finite()))
}

fn gain(hit: &Hit) -> f64 {
    let Some(logit) = hit.logit else { return 0.0 };
    let logit = if is_short_question(&hit.record) { logit - QUESTION } else { logit };
    GAIN * f64::from(logit.clamp(LEAST_LOGIT, MOST_LOGIT) - LEAST_LOGIT)
}

fn is_turn(record: &Record) -> bool {
    record.session.is_some() && record.turn.is_some()
}

/// Whether it is a question as in `threads.rs`.
fn is_short_question(record: &Record) -> bool {
    is_turn(record) && is_question(&record.content) && count_words(&record.content) <= QUESTION_WORDS
}

/// The text of a result that the reranker reads; `None` if it is not in English.
fn text_of(view: &View, hit: &Hit, query: &Query, now: Millis) -> Result<Option<String>> {
    let record = &hit.record;
    let passage = snippet::cut_near(&record.content, hit.passage.as_ref(), &query.text, PASSAGE_CHARS);
    let text = passage.unwrap_or_else(|| record.content.clone());
    if !may_be_english(&text) {
        return Ok(None);
    }
    if !is_turn(record) || count_words(&record.content) > TURN_WORDS {
        return Ok(Some(text));
    }
    let place = |record: &Record| (record.turn, record.id);
    let is_before = |other: &Record| {
        place(other) < place(record)
            && query.filter.allows(other)
            && !view.hidden.contains(other.id.key())
            && may_be_english(&other.content)
    };
    let before = view.records.around(record.id, 1, now)?.into_iter().find(is_before);
    Ok(Some(match before {
        Some(before) => {
            let words: Vec<&str> = before.content.split_whitespace().take(TURN_WORDS as usize).collect();
            format!("{text}\n(before: {})", words.join(" "))
        }
        None => text,
    }))
}

/// Whether a text may be in English: most of its letters are in ASCII.
pub fn may_be_english(text: &str) -> bool {
    let letters = text.chars().filter(|c| c.is_alphabetic());
    let (ascii, all) = letters.fold((0u32, 0u32), |(ascii, all), c| (ascii + u32::from(c.is_ascii()), all + 1));
    f64::from(ascii) >= ENGLISH_LETTERS * f64::from(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keywords::tests::record;

    fn hit(id: i64, content: &str, logit: f32) -> Hit {
        Hit { logit: Some(logit), ..super::super::unscored(record(id, content)) }
    }

    fn turn(content: &str, logit: f32) -> Hit {
        let mut hit = hit(1, content, logit);
        (hit.record.session, hit.record.turn) = (Some("s".to_owned()), Some(1));
        hit
    }

    #[test]
    fn low_logits_say_nothing_and_high_ones_no_more_than_that() {
        let gain = |logit: f32| gain(&hit(1, "the harbour", logit));
        assert_eq!((gain(-12.0), gain(-5.0), gain(8.0), gain(11.0)), (0.0, 0.0, MOST_GAIN, MOST_GAIN));
        assert!((gain(1.0) - 0.3).abs() < 1e-9);
    }

    #[test]
    fn a_short_question_in_a_session_counts_less() {
        assert!((gain(&turn("Ada: where is it?\" ", 1.0)) - 0.15).abs() < 1e-9);
        let long = format!("{} where is it?", "word ".repeat(30));
        for other in [turn("Ada: it is there.", 1.0), turn(&long, 1.0), hit(1, "where is it?", 1.0)] {
            assert!((gain(&other) - 0.3).abs() < 1e-9, "{}", other.record.content);
        }
    }

    #[test]
    fn text_in_other_letters_is_not_english() {
        for text in ["the harbour", "café in Zürich", "42", ""] {
            assert!(may_be_english(text), "{text}");
        }
        for text in ["Кота зовут Миро", "猫的名字", "ώρα"] {
            assert!(!may_be_english(text), "{text}");
        }
    }
}
