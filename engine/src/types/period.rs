//! A period that a query is about.

use super::span::Span;
use super::units::Millis;

/// From one moment up to another, which is not in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Period {
    /// Its beginning.
    pub from: Millis,
    /// Its end.
    pub until: Millis,
}

impl Period {
    /// Whether a record is of this period: by when it happened or was true; if it does not say, by when it is due or was
    /// saved. One with a beginning and no end happened then.
    pub fn has(self, valid: Span, due: Option<Millis>, created_at: Millis) -> bool {
        let meets = |(from, to): (Millis, Millis)| from < self.until && to >= self.from;
        match valid.ends() {
            Some(happened) => meets(happened),
            None => due.into_iter().chain([created_at]).any(|at| meets((at, at))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_of_the_period_in_which_it_happened() {
        let period = Period { from: 100, until: 200 };
        let has = |from, to, created_at| period.has(Span { from, to }, None, created_at);
        assert!(has(None, None, 100) && has(None, None, 199));
        assert!(!has(None, None, 99) && !has(None, None, 200));
        assert!(has(Some(150), None, 900) && !has(Some(99), None, 150) && !has(Some(200), None, 150));
        let due = |valid_from, due, created_at| period.has(Span { from: valid_from, to: None }, Some(due), created_at);
        assert!(due(None, 150, 900) && due(None, 900, 150) && !due(None, 900, 99) && !due(Some(900), 150, 150));
        assert!(has(None, Some(100), 900) && !has(None, Some(99), 150));
        assert!(has(Some(50), Some(300), 900) && has(Some(50), Some(100), 900) && !has(Some(50), Some(99), 150));
    }
}
