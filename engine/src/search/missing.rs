//! The codes of a query that no memory has.

use super::view::View;
use crate::error::Result;
use crate::keywords::{KeywordQuery, codes};
use crate::types::Query;

/// The codes of the query, as they are written there, that no memory has which passes its filter. None while the keyword index is
/// unusable.
pub fn missing_codes(view: &View, query: &Query) -> Result<Vec<String>> {
    let Some(keywords) = &view.keywords else { return Ok(Vec::new()) };
    let except = (&view.tail.keyword_ids - view.tail.words.ids()) | &*view.hidden;
    let mut missing = Vec::new();
    for code in codes(&query.text) {
        let search = keywords.query(&KeywordQuery::of_code(code), Some(&view.tail.words))?;
        if search.is_of_typos() || search.best(1, &query.filter, &except)?.is_empty() {
            missing.push(code.to_owned());
        }
    }
    Ok(missing)
}
