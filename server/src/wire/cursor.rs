//! Cursors of a search. A cursor contains everything that its next page needs, so that the server keeps no state.

use memorist_engine::text::content_hash;
use memorist_engine::types::{MAX_LIMIT, Query, Tier};
use memorist_engine::{Error, Result};

/// Characters of the hash by which a search recognises its cursor.
const MARK: usize = 12;

/// A position in the ranking of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    /// Results before it.
    pub offset: usize,
    /// Candidates that the first page took from each index: with the same number, the ranking is the same.
    pub pool: usize,
    /// The tier of the first page: with another one, the ranking differs.
    pub tier: Tier,
}

/// Every tier, by its number in a cursor.
const TIERS: [Tier; 3] = [Tier::Full, Tier::Keyword, Tier::Substring];

impl Cursor {
    /// As text, for the search of `query`.
    pub fn to_text(self, query: &Query) -> String {
        format!("{}-{}-{}-{}", self.offset, self.pool, self.tier as usize, self.mark(query))
    }

    /// Reads what [`Cursor::to_text`] wrote.
    ///
    /// # Errors
    /// [`Error::Invalid`] when it is not a cursor, or belongs to another search.
    pub fn read(text: &str, query: &Query) -> Result<Self> {
        let cursor = Cursor::parse(text).filter(|cursor| cursor.to_text(query) == text);
        cursor.ok_or_else(|| {
            let why = "does not match this query; repeat the original query and filters, or omit the cursor";
            Error::invalid("cursor", why)
        })
    }

    fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.splitn(4, '-').map(str::parse::<usize>);
        let mut number = || numbers.next()?.ok();
        let (offset, pool, tier) = (number()?, number()?, *TIERS.get(number()?)?);
        (1..MAX_LIMIT).contains(&offset).then_some(Cursor { offset, pool, tier })
    }

    /// The query of this page.
    pub fn page_of(self, query: Query) -> Query {
        let limit = query.limit.min(MAX_LIMIT - self.offset);
        Query { offset: self.offset, pool: Some(self.pool), limit, ..query }
    }

    /// A hash of the position, and of everything that decides the ranking: the page size does not, nor do neighbors or
    /// who asks. A period is in the text, and moves on with the time.
    fn mark(self, query: &Query) -> String {
        let (offset, pool) = (self.offset, Some(self.pool));
        let ranking = Query { offset, pool, limit: 0, neighbors: 0, period: None, tool: "".into(), ..query.clone() };
        let mut mark = content_hash(&format!("{ranking:?}"));
        mark.truncate(MARK);
        mark
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use memorist_engine::types::{Filter, Mode, Period, Viewer, Weights};

    const CURSOR: Cursor = Cursor { offset: 10, pool: 50, tier: Tier::Full };

    #[test]
    fn a_cursor_is_valid_for_its_search_only() {
        let query = Query::new("harbour");
        let text = CURSOR.to_text(&query);
        for tier in TIERS {
            let cursor = Cursor { tier, ..CURSOR };
            assert_eq!(Cursor::read(&cursor.to_text(&query), &query).unwrap(), cursor);
        }
        let page = CURSOR.page_of(Query { limit: 3, ..query.clone() });
        assert_eq!((page.offset, page.pool, page.limit), (10, Some(50), 3));
        assert_eq!(Cursor::read(&text, &page).unwrap(), CURSOR);
        assert_eq!(Cursor::read(&text, &Query { neighbors: 2, ..query.clone() }).unwrap(), CURSOR);
        let period = Some(Period { from: 1, until: 2 });
        assert_eq!(Cursor::read(&text, &Query { period, ..query.clone() }).unwrap(), CURSOR);
        assert_eq!(Cursor::read(&text, &Query { tool: "another".into(), ..query.clone() }).unwrap(), CURSOR);
        let of = |viewer| Filter::of(viewer);
        let others = [
            Query::new("harbours"),
            Query { mode: Mode::Keyword, ..query.clone() },
            Query { weights: Some(Weights::default()), ..query.clone() },
            Query { min_similarity: Some(0.1), ..query.clone() },
            Query { min_score: Some(0.1), ..query.clone() },
            Query { include_superseded: true, ..query.clone() },
            Query { filter: of(Viewer::in_project("apollo")), ..query.clone() },
            Query { filter: of(Viewer::of_agent("apollo")), ..query },
        ];
        for other in others {
            let refused = Cursor::read(&text, &other).unwrap_err().to_string();
            assert!(refused.contains("cursor"), "{refused}");
        }
    }

    #[test]
    fn an_invalid_cursor_is_refused() {
        let query = Query::new("harbour");
        let text = CURSOR.to_text(&query);
        let beyond = Cursor { offset: MAX_LIMIT, ..CURSOR }.to_text(&query);
        let moved = text.replacen("10-", "11-", 1);
        let spelled = format!("+{text}");
        for text in
            ["", "-", "10", "10-50", "10-50-", "10-50-3-x", "9999999999999999999999-1-0-1", &beyond, &moved, &spelled]
        {
            assert!(Cursor::read(text, &query).is_err(), "{text}");
        }
    }

    #[test]
    fn the_last_page_ends_at_the_most_that_a_search_shows() {
        let page = Cursor { offset: MAX_LIMIT - 4, ..CURSOR }.page_of(Query::new("harbour"));
        assert_eq!(page.limit, 4);
        page.validate().unwrap();
    }
}
