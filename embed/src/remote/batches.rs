//! Texts in requests, and what becomes of those that are refused.

use std::cell::Cell;

use super::dialect::Numbers;
use super::failure::Failure;
use super::http::{Http, Stop};
use super::profile::{Profile, Purpose};
use super::retry::{self, Attempts};
use super::text::{cut, half, tokens};
use crate::embedder::Refusal;
use crate::normalise::normalise;

/// The vector of a text, or why it has none.
pub(super) type Outcome = Result<Vec<f32>, Refusal>;

/// A text that every model accepts: if it is refused too, the texts are not the reason.
pub(super) const PROBE: &str = "test";

/// Asks for the vectors of one call.
pub(super) struct Batches<'a> {
    pub http: &'a Http,
    pub profile: &'a Profile,
    /// Numbers per vector, if they are known.
    pub dims: Option<usize>,
    /// Tokens of a text that the model reads.
    pub max_tokens: usize,
    pub purpose: Purpose,
    pub attempts: Attempts,
    pub stop: Stop<'a>,
    /// Whether any text was accepted, so that a refusal is probably about its text.
    pub is_sound: Cell<bool>,
}

impl Batches<'_> {
    /// How many of the first texts fit into a request.
    pub fn fitting(&self, texts: &[&str]) -> usize {
        let limits = self.profile.dialect.limits();
        let most = self.profile.settings.batch.unwrap_or(limits.texts).clamp(1, limits.texts);
        let mut left = limits.tokens;
        let fits = |text: &&&str| {
            let needed = tokens(text).min(self.max_tokens);
            let fits = needed <= left;
            left = left.saturating_sub(needed);
            fits
        };
        texts.iter().take(most).take_while(fits).count().max(1)
    }

    /// Adds the outcomes of texts that fit into a request: of all, or of the first where the provider fails.
    pub fn embed(&self, texts: &[&str], made: &mut Vec<Outcome>) -> Result<(), Failure> {
        // Some providers refuse a request with an empty text.
        let is_empty = |text: &str| text.trim().is_empty();
        let full: Vec<&str> =
            texts.iter().filter(|text| !is_empty(text)).map(|text| cut(text, self.max_tokens)).collect();
        let mut outcomes = Vec::with_capacity(full.len());
        let asked = if full.is_empty() { Ok(()) } else { self.ask(&full, &mut outcomes) };
        let mut outcomes = outcomes.into_iter();
        made.extend(texts.iter().map_while(|text| match is_empty(text) {
            true => Some(Err(Refusal("it is empty".to_owned()))),
            false => outcomes.next(),
        }));
        asked
    }

    fn ask(&self, texts: &[&str], made: &mut Vec<Outcome>) -> Result<(), Failure> {
        let why = match self.request(texts, self.attempts) {
            Ok(vectors) => {
                let outcomes: Vec<Outcome> = vectors.into_iter().map(|numbers| self.outcome(numbers)).collect();
                if outcomes.iter().any(Result::is_ok) {
                    self.is_sound.set(true);
                } else {
                    self.require_sound(self.attempts)?;
                }
                made.extend(outcomes);
                return Ok(());
            }
            Err(Failure::Refused(why)) => {
                if texts.len() > 1 && !self.is_sound.get() {
                    self.require_sound(self.attempts)?;
                }
                why
            }
            Err(Failure::ServerError(why, pause)) if self.purpose == Purpose::Document => {
                // Perhaps because of one text, for which the others must not wait.
                self.require_sound(Attempts::ONE).map_err(|failure| match failure {
                    Failure::Cancelled | Failure::OtherLength { .. } => failure,
                    _ => Failure::ServerError(why.clone(), pause),
                })?;
                // Or it has recovered meanwhile.
                if let [text] = texts
                    && let Some(vector) = self.accepted(text)?
                {
                    made.push(Ok(vector));
                    return Ok(());
                }
                why
            }
            Err(other) => return Err(other),
        };
        match texts {
            [text] => made.push(self.shorter(text, &why)?),
            _ => {
                let (first, second) = texts.split_at(texts.len() / 2);
                self.ask(first, made)?;
                self.ask(second, made)?;
            }
        }
        Ok(())
    }

    /// The vector of the longest beginning of a refused text that is accepted.
    fn shorter(&self, text: &str, why: &str) -> Result<Outcome, Failure> {
        let mut rest = text;
        while let Some(shorter) = half(rest) {
            if let Some(vector) = self.accepted(shorter)? {
                return Ok(Ok(vector));
            }
            rest = shorter;
        }
        // By now the provider may refuse everything, as it does when an account is closed.
        self.require_sound(self.attempts)?;
        Ok(Err(Refusal(why.to_owned())))
    }

    /// The vector of a text; `None` if it is refused.
    fn accepted(&self, text: &str) -> Result<Option<Vec<f32>>, Failure> {
        match self.request(&[text], self.attempts) {
            Ok(mut vectors) => Ok(vectors.pop().and_then(|numbers| self.outcome(numbers).ok())),
            Err(Failure::Refused(_) | Failure::ServerError(..)) => Ok(None),
            Err(other) => Err(other),
        }
    }

    /// Fails unless the provider accepts the probe now.
    fn require_sound(&self, attempts: Attempts) -> Result<(), Failure> {
        let numbers = match self.request(&[PROBE], attempts) {
            Err(Failure::Refused(why)) => return Err(Failure::Never(why)),
            made => made?.pop().unwrap_or_default(),
        };
        let found = numbers.len();
        match (self.outcome(numbers), self.dims) {
            (Ok(_), _) => {
                self.is_sound.set(true);
                Ok(())
            }
            (Err(_), Some(known)) if found > 0 && found != known => Err(Failure::OtherLength { found, known }),
            (Err(Refusal(why)), _) => Err(unreadable(&why)),
        }
    }

    fn request(&self, texts: &[&str], attempts: Attempts) -> Result<Vec<Numbers>, Failure> {
        let form = self.profile.form(self.purpose);
        let prefixed: Vec<String>;
        let texts = match form.prefix.as_str() {
            "" => texts.to_vec(),
            prefix => {
                prefixed = texts.iter().map(|text| format!("{prefix}{text}")).collect();
                prefixed.iter().map(String::as_str).collect()
            }
        };
        let (dialect, model) = (&self.profile.dialect, &self.profile.settings.model);
        let body = dialect.body(model, &texts, &form.fields);
        let answer =
            retry::send(self.http, self.profile, &dialect.operation(model), &body, texts.len(), attempts, self.stop)?;
        dialect.vectors(&answer, texts.len()).map_err(|why| unreadable(&why))
    }

    /// A vector of length 1.
    fn outcome(&self, numbers: Numbers) -> Outcome {
        match (numbers.len(), self.dims) {
            (0, _) => Err(Refusal("there is no vector for it".to_owned())),
            (found, Some(dims)) if found != dims => {
                Err(Refusal(format!("its vector has {found} numbers where {dims} belong")))
            }
            _ => vector(numbers),
        }
    }
}

fn unreadable(why: &str) -> Failure {
    Failure::Never(format!("its answer cannot be used: {why}"))
}

/// A vector of length 1.
fn vector(numbers: Numbers) -> Outcome {
    let numbers: Option<Vec<f32>> = numbers.into_iter().collect();
    let numbers = numbers.ok_or_else(|| Refusal("its vector has something else than numbers".to_owned()))?;
    normalise(numbers).map_err(|_| Refusal("its vector has no direction".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_has_length_one_or_a_reason() {
        assert_eq!(vector(vec![Some(3.0), Some(4.0)]), Ok(vec![0.6, 0.8]));
        assert!(vector(vec![Some(1.0), None]).unwrap_err().0.contains("numbers"));
        assert!(vector(vec![Some(0.0), Some(0.0)]).unwrap_err().0.contains("direction"));
        assert!(vector(vec![Some(f32::INFINITY)]).is_err());
    }
}
