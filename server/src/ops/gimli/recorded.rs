//! Lines of a file, from the memories that were read from it.

use memorist_engine::types::{Kind, Place, Record};

use super::passage::{LineRange, MOST_BYTES};
use crate::wire::core::one_line;
use crate::wire::count;
use crate::wire::gimli::{GimliGetResult, said};

/// Fewest bytes that count as repeated: fewer may be alike by chance.
const LEAST_REPEATED: usize = 12;

/// The text of the wanted lines, from the memories that were read from them: turns and chunks whole, in their order.
pub fn recorded(records: &[Record], wanted: LineRange) -> GimliGetResult {
    let mut text = String::new();
    let (mut from, mut to, mut next_from) = (None, 0, None);
    let mut before: Option<(&Place, String)> = None;
    for record in records {
        let Some(place) = record.place.as_ref().filter(|place| is_wanted(place, wanted)) else { continue };
        let content = if is_turn(record) { one_line(&record.content) } else { record.content.clone() };
        let is_part = before.as_ref().is_some_and(|(other, _)| is_turn(record) && same_turn(other, place));
        let piece = if is_part { content.clone() } else { said(record) };
        let piece = match &before {
            Some((_, other)) if is_part || !is_turn(record) => unrepeated(other, &piece).to_owned(),
            _ => piece,
        };
        let is_new_line = from.is_some_and(|from| place.first_line > from);
        if is_new_line && text.len() + piece.len() > MOST_BYTES {
            next_from = Some(count(place.first_line));
            break;
        }
        if before.is_some() {
            text.push(if is_part { ' ' } else { '\n' });
        }
        text.push_str(&piece);
        from = from.or(Some(place.first_line));
        to = to.max(place.last_line);
        before = Some((place, content));
    }
    text.truncate(text.floor_char_boundary(MOST_BYTES));
    let lines = from.map_or(0, |from| to.saturating_sub(from).saturating_add(1));
    let from = count(from.unwrap_or(wanted.from));
    GimliGetResult { text, from, lines: count(lines), next_from, ..GimliGetResult::default() }
}

fn is_wanted(place: &Place, wanted: LineRange) -> bool {
    place.first_line <= wanted.last() && place.last_line >= wanted.from
}

/// Whether a memory is a turn. A chunk of a transcript that was moved in is not: it has no single speaker.
fn is_turn(record: &Record) -> bool {
    record.kind == Kind::Conversation && record.place.as_ref().is_some_and(|place| place.role.is_some())
}

/// Whether these are two parts of one turn.
fn same_turn(one: &Place, other: &Place) -> bool {
    let lines = |place: &Place| (place.first_line, place.last_line);
    lines(one) == lines(other) && one.role == other.role
}

/// A piece without the beginning that repeats the end of the one before.
fn unrepeated<'a>(before: &str, piece: &'a str) -> &'a str {
    let most = piece.len().min(before.len());
    let ends = piece.char_indices().map(|(at, _)| at).chain([piece.len()]);
    let repeated = ends.filter(|end| (LEAST_REPEATED..=most).contains(end) && before.ends_with(&piece[..*end])).max();
    piece[repeated.unwrap_or(0)..].trim_start_matches(['\n', ' '])
}
