//! Access to functions. A code, in the address that a person opens, is worth one token, which the page keeps. Both are
//! in the memory of this process alone.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::exit::Failure;
use crate::random;

/// How long a code is valid.
pub const CODE_TIME: Duration = Duration::from_secs(120);
/// Most codes that wait to be used.
const MOST_CODES: usize = 8;
/// Most tokens. The one that was not used for longest makes room.
const MOST_TOKENS: usize = 32;

/// The codes and tokens of a server.
#[derive(Default)]
pub struct BrowserSessions {
    secrets: Mutex<Secrets>,
}

#[derive(Default)]
struct Secrets {
    /// Oldest first, each with the end of its time.
    codes: VecDeque<(String, Instant)>,
    /// The last used last.
    tokens: VecDeque<String>,
}

impl BrowserSessions {
    pub fn new_code(&self, now: Instant) -> Result<String, Failure> {
        let code = random::token()?;
        let mut secrets = self.secrets();
        while secrets.codes.len() >= MOST_CODES {
            secrets.codes.pop_front();
        }
        secrets.codes.push_back((code.clone(), now + CODE_TIME));
        Ok(code)
    }

    /// The token for a code; `None` if the code is unknown, was used, or is too old.
    pub fn redeem(&self, code: &str, now: Instant) -> Result<Option<String>, Failure> {
        let mut secrets = self.secrets();
        secrets.codes.retain(|(_, end)| now < *end);
        let found = position(secrets.codes.iter().map(|(known, _)| known), code.as_bytes());
        let Some(at) = found else { return Ok(None) };
        secrets.codes.remove(at);
        let token = random::token()?;
        while secrets.tokens.len() >= MOST_TOKENS {
            secrets.tokens.pop_front();
        }
        secrets.tokens.push_back(token.clone());
        Ok(Some(token))
    }

    /// Whether this is a token.
    pub fn knows(&self, sent: &[u8]) -> bool {
        let mut secrets = self.secrets();
        let found = position(secrets.tokens.iter(), sent);
        if let Some(token) = found.and_then(|at| secrets.tokens.remove(at)) {
            secrets.tokens.push_back(token);
        }
        found.is_some()
    }

    fn secrets(&self) -> MutexGuard<'_, Secrets> {
        self.secrets.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where the given secret is. All are compared, so that time tells nothing.
fn position<'a>(known: impl Iterator<Item = &'a String>, given: &[u8]) -> Option<usize> {
    known.enumerate().fold(None, |found, (at, known)| {
        let is_same = random::is_same(known.as_bytes(), given);
        if is_same { Some(at) } else { found }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_worth_one_token_for_two_minutes() {
        let (sessions, now) = (BrowserSessions::default(), Instant::now());
        let (first, late) = (sessions.new_code(now).unwrap(), sessions.new_code(now).unwrap());
        assert_eq!(first.len(), 64, "256 bits");
        let token = sessions.redeem(&first, now + CODE_TIME / 2).unwrap().unwrap();
        assert!(sessions.knows(token.as_bytes()) && token != first);
        assert_eq!(sessions.redeem(&first, now).unwrap(), None, "it was used");
        assert_eq!(sessions.redeem(&late, now + CODE_TIME).unwrap(), None, "it is too old");
        for other in ["", &first, &late, &token[1..]] {
            assert!(!sessions.knows(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn there_are_not_more_codes_and_tokens_than_the_limits() {
        let (sessions, now) = (BrowserSessions::default(), Instant::now());
        let token = || sessions.redeem(&sessions.new_code(now).unwrap(), now).unwrap().unwrap();
        let tokens: Vec<_> = (0..MOST_TOKENS).map(|_| token()).collect();
        assert!(sessions.knows(tokens[0].as_bytes()));
        let newest = token();
        assert!(!sessions.knows(tokens[1].as_bytes()), "the one that was not used for longest has made room");
        assert!([&tokens[0], &tokens[2], &newest].iter().all(|token| sessions.knows(token.as_bytes())));
        let codes: Vec<_> = (0..=MOST_CODES).map(|_| sessions.new_code(now).unwrap()).collect();
        assert_eq!(sessions.redeem(&codes[0], now).unwrap(), None);
        assert!(sessions.redeem(&codes[1], now).unwrap().is_some());
    }
}
