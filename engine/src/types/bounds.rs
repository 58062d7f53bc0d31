//! The bounds of every field, checked with the same messages at every entry point.

use super::units::Millis;
use crate::error::{Error, Result};

/// Longest content, in bytes of UTF-8 (1 MiB). Longer text is a file, not a memory.
pub const MAX_CONTENT_BYTES: usize = 1 << 20;
/// Longest context, source, tag, project or agent, in bytes (64 KiB for context, 1 KiB for the others).
pub const MAX_CONTEXT_BYTES: usize = 64 << 10;
/// See [`MAX_CONTEXT_BYTES`].
pub const MAX_LABEL_BYTES: usize = 1 << 10;
/// Most tags of one record.
pub const MAX_TAGS: usize = 64;
/// Longest query, in bytes.
pub const MAX_QUERY_BYTES: usize = 64 << 10;
/// Largest place in a thread: every JSON parser reads it exactly.
pub const MAX_TURN: i64 = (1 << 53) - 1;
/// Most records on each side that come along with a result.
pub const MAX_NEIGHBORS: usize = 5;
/// Most items of one list, and most results of one search that a model or a person asks for.
pub const MAX_LIMIT: usize = 1_000;
/// Most results of one search of a program.
pub const MAX_RESULTS: usize = 10_000;
/// Most candidates that a search takes from each index, unless its limit needs more.
pub const MAX_POOL: usize = 4 * MAX_LIMIT;
/// Earlier times are refused as seconds mistaken for milliseconds (10^11 ms is March 1973).
pub const MIN_PLAUSIBLE_MILLIS: Millis = 100_000_000_000;

pub(crate) fn check_content(content: &str) -> Result<()> {
    if content.trim().is_empty() {
        return Err(Error::invalid("content", "is empty; give the text to remember"));
    }
    check_length("content", content, MAX_CONTENT_BYTES)
}

pub(crate) fn check_context(context: &str) -> Result<()> {
    check_length("context", context, MAX_CONTEXT_BYTES)
}

pub(crate) fn check_length(field: &'static str, text: &str, most: usize) -> Result<()> {
    if text.len() > most {
        return Err(Error::invalid(
            field,
            format!("is {} bytes long; at most {most} are kept: split it into several memories", text.len()),
        ));
    }
    check_nul(field, text)
}

pub(crate) fn check_nul(field: &'static str, text: &str) -> Result<()> {
    if text.contains('\0') {
        return Err(Error::invalid(field, "contains a NUL character; remove it"));
    }
    Ok(())
}

pub(crate) fn check_label(field: &'static str, label: &str) -> Result<()> {
    if label.trim().is_empty() {
        return Err(Error::invalid(field, "is empty; leave it out instead"));
    }
    if label.len() > MAX_LABEL_BYTES {
        return Err(Error::invalid(field, format!("is {} bytes long; at most {MAX_LABEL_BYTES}", label.len())));
    }
    check_nul(field, label)
}

pub(crate) fn check_tags(tags: &[String]) -> Result<()> {
    if tags.len() > MAX_TAGS {
        return Err(Error::invalid("tags", format!("{} tags; at most {MAX_TAGS}", tags.len())));
    }
    tags.iter().try_for_each(|tag| check_label("tags", tag))
}

pub(crate) fn check_confidence(confidence: f64) -> Result<()> {
    check_unit("confidence", confidence)
}

pub(crate) fn check_unit(field: &'static str, value: f64) -> Result<()> {
    if !(0.0..=1.0).contains(&value) {
        return Err(Error::invalid(field, format!("{value} is outside 0 to 1")));
    }
    Ok(())
}

pub(crate) fn check_importance(importance: i64) -> Result<()> {
    check_range("importance", importance)
}

pub(crate) fn check_range(field: &'static str, value: i64) -> Result<()> {
    if !(1..=10).contains(&value) {
        return Err(Error::invalid(field, format!("{value} is outside 1 to 10")));
    }
    Ok(())
}

pub(crate) fn check_millis(field: &'static str, at: Millis) -> Result<()> {
    match at {
        ..1 => Err(Error::invalid(field, format!("{at} is before 1970; give Unix milliseconds"))),
        1..MIN_PLAUSIBLE_MILLIS => Err(Error::invalid(
            field,
            format!("{at} looks like seconds; give Unix milliseconds ({})", at.saturating_mul(1000)),
        )),
        MIN_PLAUSIBLE_MILLIS.. => Ok(()),
    }
}

pub(crate) fn check_thread(session: Option<&str>, turn: Option<i64>) -> Result<()> {
    if let Some(session) = session {
        check_label("session", session)?;
    }
    match turn {
        Some(_) if session.is_none() => Err(Error::invalid("turn", "requires a session")),
        Some(turn) if !(0..=MAX_TURN).contains(&turn) => {
            Err(Error::invalid("turn", format!("{turn} is outside 0 to {MAX_TURN}")))
        }
        _ => Ok(()),
    }
}

pub(crate) fn check_limit(limit: usize) -> Result<()> {
    check_limit_up_to(limit, MAX_LIMIT)
}

pub(crate) fn check_limit_up_to(limit: usize, most: usize) -> Result<()> {
    if limit == 0 || limit > most {
        return Err(Error::invalid("limit", format!("{limit} is outside 1 to {most}")));
    }
    Ok(())
}
