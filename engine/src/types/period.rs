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
    /// Whether a record is of this period: by when it happened or was true, or by when it was saved if it does not say. One
    /// with a beginning and no end happened then.
    pub fn has(self, valid: Span, created_at: Millis) -> bool {
        let (from, to) = match (valid.from, valid.to) {
            (None, None) => (created_at, created_at),
            (from, to) => (from.or(to).unwrap_or(created_at), to.or(from).unwrap_or(created_at)),
        };
        from < self.until && to >= self.from
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_of_the_period_in_which_it_happened() {
        let period = Period { from: 100, until: 200 };
        let has = |from, to, created_at| period.has(Span { from, to }, created_at);
        assert!(has(None, None, 100) && has(None, None, 199));
        assert!(!has(None, None, 99) && !has(None, None, 200));
        assert!(has(Some(150), None, 900) && !has(Some(99), None, 150) && !has(Some(200), None, 150));
        assert!(has(None, Some(100), 900) && !has(None, Some(99), 150));
        assert!(has(Some(50), Some(300), 900) && has(Some(50), Some(100), 900) && !has(Some(50), Some(99), 150));
    }
}
