//! The period that a query names: "last May", "yesterday", "in 2023", "3 weeks ago".
//!
//! Words that are no time in most queries ("may", "march", a number) count only where another word says that they are one.

use std::ops::Range;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Span, Zoned};
use memorist_engine::types::Period;

use super::times::{span, start_of, weekday};

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
/// Words before a month or a year that say that it is one.
const BEFORE: [&str; 11] = ["in", "of", "during", "since", "last", "this", "early", "late", "mid", "until", "from"];
const YEARS: Range<i16> = 1900..2100;

/// The first period that `query` names, as seen from `now`. With "since" it lasts until now.
pub fn period(query: &str, now: &Zoned) -> Option<Period> {
    let text = query.to_lowercase();
    let clean = |word: &'_ str| word.trim_matches(|c: char| !c.is_alphanumeric()).trim_end_matches("'s").to_owned();
    let words: Vec<String> = text.split_whitespace().map(clean).filter(|word| !word.is_empty()).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    (0..words.len()).find_map(|at| {
        let (from, until) = at_word(&words[at..], words[..at].last().copied(), now)?;
        let until = if words[..at].last() == Some(&"since") { now.clone() } else { until };
        let millis = |at: &Zoned| at.timestamp().as_millisecond();
        Some(Period { from: millis(&from), until: millis(&until) }).filter(|period| period.from < period.until)
    })
}

/// The period that `words` begin with, after the word `before`.
fn at_word(words: &[&str], before: Option<&str>, now: &Zoned) -> Option<(Zoned, Zoned)> {
    let today = now.start_of_day().ok()?;
    let is_named = before.is_some_and(|before| BEFORE.contains(&before));
    match words {
        ["today" | "tonight", ..] | ["this", "morning" | "afternoon" | "evening", ..] => day(&today),
        ["yesterday", ..] | ["last", "night" | "evening", ..] => day(&today.yesterday().ok()?),
        ["tomorrow", ..] => day(&today.tomorrow().ok()?),
        ["last" | "past", number, unit, ..] if let (Some(count), true) = (counted(number), is_unit(unit)) => {
            Some((now.checked_sub(span(count, unit)?).ok()?, now.clone()))
        }
        [which @ ("this" | "last" | "past" | "next"), unit @ ("week" | "month" | "year"), ..] => {
            of_unit(unit, steps(which), &today)
        }
        [which @ ("last" | "next"), name, ..] if let Some(weekday) = weekday_name(name) => {
            day(&today.nth_weekday(if *which == "last" { -1 } else { 1 }, weekday).ok()?)
        }
        ["on", name, ..] if let Some(weekday) = weekday_name(name) => day(&today.nth_weekday(-1, weekday).ok()?),
        [number, unit, "ago", ..] if let Some(count) = counted(number) => ago(count, unit, now),
        [name, rest @ ..] if let Some(month) = month(name) => {
            let is_month = is_named || !matches!(*name, "may" | "march");
            of_month(month, rest, is_month, before == Some("last"), &today)
        }
        [number, name, rest @ ..] if let (Some(number), Some(month)) = (day_number(number), month(name)) => {
            day_of_month(number, month, year(rest.first()), &today)
        }
        [number, ..] if is_named && let Some(year) = year(Some(number)) => of_year(year),
        [iso, ..] => of_iso(iso),
        [] => None,
    }
}

fn steps(which: &str) -> i64 {
    match which {
        "this" => 0,
        "next" => 1,
        _ => -1,
    }
}

/// A number in digits or in a word.
fn counted(word: &str) -> Option<i64> {
    const NUMBERS: [&str; 13] =
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
    match word {
        "a" | "an" => Some(1),
        "few" => Some(3),
        _ => word.parse().ok().or_else(|| NUMBERS.iter().position(|number| *number == word).map(|at| at as i64)),
    }
    .filter(|count| (1..1_000).contains(count))
}

fn is_unit(word: &str) -> bool {
    matches!(word, "day" | "days" | "week" | "weeks" | "month" | "months" | "year" | "years" | "hours" | "minutes")
}

fn weekday_name(word: &str) -> Option<jiff::civil::Weekday> {
    // "sun" and "sat" are words of their own.
    weekday(word).filter(|_| word.ends_with("day"))
}

fn month(word: &str) -> Option<i8> {
    let at = MONTHS.iter().position(|month| *month == word)?;
    i8::try_from(at + 1).ok()
}

fn year(word: Option<&&str>) -> Option<i16> {
    word?.parse().ok().filter(|year| YEARS.contains(year))
}

/// "7", "7th" or "7,".
fn day_number(word: &str) -> Option<i8> {
    let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let is_ordinal = matches!(&word[digits.len()..], "" | "st" | "nd" | "rd" | "th");
    digits.parse().ok().filter(|day| is_ordinal && (1..=31).contains(day))
}

fn day(start: &Zoned) -> Option<(Zoned, Zoned)> {
    Some((start.clone(), start.tomorrow().ok()?))
}

/// The week, month or year in which `steps` units from today is.
fn of_unit(unit: &str, steps: i64, today: &Zoned) -> Option<(Zoned, Zoned)> {
    let start = start_of(unit, today)?.checked_add(span(steps, unit)?).ok()?;
    let end = start.checked_add(span(1, unit)?).ok()?;
    Some((start, end))
}

/// The day, week, month or year so long ago; of hours and minutes, the time since.
fn ago(count: i64, unit: &str, now: &Zoned) -> Option<(Zoned, Zoned)> {
    if !is_unit(unit) && !matches!(unit, "hour" | "minute") {
        return None;
    }
    let then = now.checked_sub(span(count, unit)?).ok()?;
    let start = then.start_of_day().ok()?;
    match unit.trim_end_matches('s') {
        "day" => day(&start),
        unit @ ("week" | "month" | "year") => of_unit(unit, 0, &start),
        _ => Some((then, now.clone())),
    }
}

/// A month with what follows it: "7 2023", "7th", "2023". Without a year it is the newest one that has begun, with `last`
/// one that is over.
fn of_month(month: i8, rest: &[&str], is_month: bool, last: bool, today: &Zoned) -> Option<(Zoned, Zoned)> {
    if let Some(number) = rest.first().and_then(|word| day_number(word)) {
        return day_of_month(number, month, year(rest.get(1)), today);
    }
    let given = year(rest.first());
    if given.is_none() && !is_month {
        return None;
    }
    let is_over = month < today.month() || month == today.month() && !last;
    let year = given.unwrap_or(if is_over { today.year() } else { today.year() - 1 });
    let start = zoned(Date::new(year, month, 1).ok()?)?;
    let end = start.checked_add(Span::new().months(1)).ok()?;
    Some((start, end))
}

/// A day of a month; without a year the newest that is not in the future.
fn day_of_month(number: i8, month: i8, year: Option<i16>, today: &Zoned) -> Option<(Zoned, Zoned)> {
    let is_past = (month, number) <= (today.month(), today.day());
    let year = year.unwrap_or(if is_past { today.year() } else { today.year() - 1 });
    day(&zoned(Date::new(year, month, number).ok()?)?)
}

fn of_year(year: i16) -> Option<(Zoned, Zoned)> {
    Some((zoned(Date::new(year, 1, 1).ok()?)?, zoned(Date::new(year + 1, 1, 1).ok()?)?))
}

/// "2023-05-07" and "2023-05".
fn of_iso(word: &str) -> Option<(Zoned, Zoned)> {
    let number = |part: Option<&str>| part.filter(|part| part.len() == 2).and_then(|part| part.parse().ok());
    let mut parts = word.split('-');
    let year = year(parts.next().as_ref())?;
    let month = number(parts.next())?;
    match (parts.next(), parts.next()) {
        (None, _) => {
            let start = zoned(Date::new(year, month, 1).ok()?)?;
            let end = start.checked_add(Span::new().months(1)).ok()?;
            Some((start, end))
        }
        (date, None) => day(&zoned(Date::new(year, month, number(date)?).ok()?)?),
        _ => None,
    }
}

fn zoned(date: Date) -> Option<Zoned> {
    date.to_zoned(TimeZone::system()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A Saturday.
    fn now() -> Zoned {
        zoned(Date::new(2026, 11, 21).unwrap()).unwrap().checked_add(Span::new().hours(15)).unwrap()
    }

    /// Its days, the last one included.
    fn days(query: &str) -> Option<String> {
        let period = super::period(query, &now())?;
        let show = |at: i64| {
            let at = jiff::Timestamp::from_millisecond(at).unwrap().to_zoned(TimeZone::system());
            at.strftime("%Y-%m-%d").to_string()
        };
        let (from, to) = (show(period.from), show(period.until - 1));
        Some(if from == to { from } else { format!("{from} {to}") })
    }

    #[test]
    fn a_query_names_a_period() {
        for (query, wanted) in [
            ("what did we decide yesterday?", "2026-11-20"),
            ("Today's plan", "2026-11-21"),
            ("who called last night", "2026-11-20"),
            ("what did Ada say last week", "2026-11-09 2026-11-15"),
            ("this month's bills", "2026-11-01 2026-11-30"),
            ("the holidays last year, in Rome", "2025-01-01 2025-12-31"),
            ("what happened last Monday", "2026-11-16"),
            ("the talk on Friday", "2026-11-20"),
            ("what did we plan last May", "2026-05-01 2026-05-31"),
            ("what did we plan last November", "2025-11-01 2025-11-30"),
            ("what did we plan in November", "2026-11-01 2026-11-30"),
            ("the trip in December", "2025-12-01 2025-12-31"),
            ("the trip in May 2023", "2023-05-01 2023-05-31"),
            ("May 2023", "2023-05-01 2023-05-31"),
            ("the 7th May 2023 meeting", "2023-05-07"),
            ("on May 7th, 2023", "2023-05-07"),
            ("meeting of 7 May", "2026-05-07"),
            ("what was new in 2023?", "2023-01-01 2023-12-31"),
            ("since 2025 what changed", "2025-01-01 2026-11-21"),
            ("since yesterday", "2026-11-20 2026-11-21"),
            ("3 days ago", "2026-11-18"),
            ("two weeks ago we met", "2026-11-02 2026-11-08"),
            ("a month ago", "2026-10-01 2026-10-31"),
            ("in the last 3 days", "2026-11-18 2026-11-21"),
            ("the log of 2023-05-07", "2023-05-07"),
            ("the log of 2023-05", "2023-05-01 2023-05-31"),
        ] {
            assert_eq!(days(query).as_deref(), Some(wanted), "{query}");
        }
    }

    #[test]
    fn words_that_look_like_a_time_are_none() {
        for query in [
            "may I open the window",
            "the army will march on Rome",
            "room 2023",
            "error 404 in module 12",
            "the sun sat on the hill",
            "what lasts for weeks",
            "2023-05-07-1",
            "2023-13-01 and 2023-02-30",
            "version 1.2.3 of may-fly",
            "99999999999999999999 days ago",
            "days ago",
            "last",
            "",
            "\u{130}\u{130} ago",
        ] {
            assert_eq!(days(query), None, "{query}");
        }
    }
}
