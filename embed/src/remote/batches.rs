//! Texts in requests, and what becomes of those that are refused.

use std::cell::Cell;
use std::sync::OnceLock;

use super::dialect::Numbers;
use super::failure::Failure;
use super::http::{Http, Stop};
use super::profile::{Profile, Purpose};
use super::retry;
use super::text::{cut, half, tokens};
use crate::embedder::Refusal;
use crate::normalise::normalise;

/// The vector of a text, or why it has none.
pub(super) type Outcome = Result<Vec<f32>, Refusal>;

/// A text that every model accepts: if it is refused too, the texts are not the reason.
const PROBE: &str = "test";

/// Asks for the vectors of one call.
pub(super) struct Batches<'a> {
    pub http: &'a Http,
    pub profile: &'a Profile,
    /// Numbers per vector, once they are known.
    pub dims: &'a OnceLock<usize>,
    /// Tokens of a text that the model reads.
    pub max_tokens: usize,
    pub purpose: Purpose,
    pub stop: Stop<'a>,
    /// Whether any text was accepted, so that a refusal is about its text.
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

    /// The vectors of texts that fit into a request.
    pub fn embed(&self, texts: &[&str]) -> Result<Vec<Outcome>, Failure> {
        // Some providers refuse a request with an empty text.
        let is_empty = |text: &str| text.trim().is_empty();
        let full: Vec<&str> =
            texts.iter().filter(|text| !is_empty(text)).map(|text| cut(text, self.max_tokens)).collect();
        let mut made = if full.is_empty() { Vec::new() } else { self.ask(&full)? }.into_iter();
        let empty = || Err(Refusal("it is empty".to_owned()));
        Ok(texts.iter().map(|text| if is_empty(text) { empty() } else { made.next().unwrap_or_else(empty) }).collect())
    }

    fn ask(&self, texts: &[&str]) -> Result<Vec<Outcome>, Failure> {
        let outcomes = match self.request(texts) {
            Ok(vectors) => {
                let outcomes: Vec<Outcome> = vectors.into_iter().map(vector).collect();
                if outcomes.iter().any(Result::is_ok) {
                    self.is_sound.set(true);
                } else if let Some(Err(Refusal(why))) = outcomes.first() {
                    self.require_sound(why)?;
                }
                outcomes
            }
            Err(Failure::Refused(why)) => {
                self.require_sound(&why)?;
                match texts {
                    [text] => vec![self.shorter(text, &why)?],
                    _ => {
                        let (first, second) = texts.split_at(texts.len() / 2);
                        let mut outcomes = self.ask(first)?;
                        outcomes.extend(self.ask(second)?);
                        outcomes
                    }
                }
            }
            Err(other) => return Err(other),
        };
        Ok(outcomes)
    }

    /// The vector of the longest beginning of a refused text that is accepted.
    fn shorter(&self, text: &str, why: &str) -> Result<Outcome, Failure> {
        let mut rest = text;
        while let Some(shorter) = half(rest) {
            match self.request(&[shorter]) {
                Ok(mut vectors) => return Ok(vector(vectors.pop().unwrap_or_default())),
                Err(Failure::Refused(_)) => rest = shorter,
                Err(other) => return Err(other),
            }
        }
        Ok(Err(Refusal(without(why, text))))
    }

    /// Fails unless the provider accepts some text.
    fn require_sound(&self, why: &str) -> Result<(), Failure> {
        if self.is_sound.get() {
            return Ok(());
        }
        match self.request(&[PROBE])?.pop().map(vector) {
            Some(Ok(_)) => {
                self.is_sound.set(true);
                Ok(())
            }
            _ => Err(Failure::Never(why.to_owned())),
        }
        .map_err(|failure| match failure {
            Failure::Refused(why) => Failure::Never(why),
            other => other,
        })
    }

    fn request(&self, texts: &[&str]) -> Result<Vec<Numbers>, Failure> {
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
        let answer = retry::send(
            self.http,
            self.profile,
            &dialect.operation(model),
            &body,
            texts.len(),
            self.purpose,
            self.stop,
        )?;
        let unreadable = |why: String| Failure::Never(format!("its answer cannot be used: {why}"));
        let vectors = dialect.vectors(&answer, texts.len()).map_err(unreadable)?;
        for vector in &vectors {
            let expected = self.dims.get().copied().or(self.profile.dims()).unwrap_or(vector.len());
            if vector.len() != expected || vector.is_empty() {
                return Err(unreadable(format!("a vector has {} numbers where {expected} belong", vector.len())));
            }
            self.dims.get_or_init(|| vector.len());
        }
        Ok(vectors)
    }
}

/// A vector of length 1.
fn vector(numbers: Numbers) -> Outcome {
    let numbers: Option<Vec<f32>> = numbers.into_iter().collect();
    let numbers = numbers.ok_or_else(|| Refusal("its vector has something else than numbers".to_owned()))?;
    normalise(numbers).map_err(|_| Refusal("its vector has no direction".to_owned()))
}

/// A message without what it repeats of the text: it is kept, and a purge of the text must not miss it.
fn without(why: &str, text: &str) -> String {
    const SHORTEST: usize = 12;
    let letters: Vec<char> = why.chars().collect();
    let repeats = letters.windows(SHORTEST).any(|part| text.contains(&part.iter().collect::<String>()));
    let status = why.split(": ").next().unwrap_or_default();
    if repeats { format!("{status}, with a message that repeats the text") } else { why.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_does_not_repeat_the_text() {
        assert_eq!(without("status 400: too long", "my private diary"), "status 400: too long");
        let said = without("status 400: cannot embed 'my private diary'", "this is my private diary of May");
        assert_eq!(said, "status 400, with a message that repeats the text");
    }

    #[test]
    fn a_vector_has_length_one_or_a_reason() {
        assert_eq!(vector(vec![Some(3.0), Some(4.0)]), Ok(vec![0.6, 0.8]));
        assert!(vector(vec![Some(1.0), None]).unwrap_err().0.contains("numbers"));
        assert!(vector(vec![Some(0.0), Some(0.0)]).unwrap_err().0.contains("direction"));
        assert!(vector(vec![Some(f32::INFINITY)]).is_err());
    }
}
