//! The period that a query names: "last May", "yesterday", "1-8 December", "14.11.", "in 2023", "3 weeks ago".
//!
//! A date without a year is the last one in a question about the past ("did", "was"), the next one in one about the future
//! ("will", "due"), else the nearest, where the next one counts up to [`AHEAD`] days. A season is that of the northern
//! hemisphere, in whole months. Words that are no time in most queries ("may", "spring", a number) count only where another
//! word says that they are one.

use std::ops::Range;

use jiff::civil::{Date, Weekday};
use jiff::tz::TimeZone;
use jiff::{ToSpan as _, Zoned};
use memorist_engine::types::Period;

use super::times::{span, start_of, weekday};

const MONTHS: [&str; 12] = [
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
];
/// Names of seasons, each with its first month.
const SEASONS: [(&str, i8); 5] = [("spring", 3), ("summer", 6), ("autumn", 9), ("fall", 9), ("winter", 12)];
const ORDINALS: [&str; 4] = ["first", "second", "third", "fourth"];
const NUMBERS: [&str; 13] =
    ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
/// Words before a month, a season or a year that say that it is one.
const BEFORE: [&str; 13] =
    ["in", "of", "during", "since", "early", "late", "mid", "until", "till", "from", "by", "between", "before"];
/// Words between the ends of a range.
const TO: [&str; 4] = ["to", "until", "till", "through"];
/// Words of questions about the past, and about the future.
const PAST: [&str; 8] = ["did", "was", "were", "had", "happened", "went", "said", "been"];
const FUTURE: [&str; 8] = ["will", "shall", "upcoming", "coming", "due", "planned", "scheduled", "going"];
/// Days up to which the next of two dates may be the nearest.
const AHEAD: i32 = 90;
const YEARS: Range<i16> = 1900..2100;

/// A range from a day up to another, which is not in it.
type Days = (Date, Date);

/// The choice among dates that have the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Which {
    /// The last one that is over.
    Last,
    /// The present one, or that of this year.
    This,
    /// The first one that has not begun.
    Next,
    /// The last one that has begun.
    Past,
    /// The first one that is not over.
    Future,
    /// The nearest.
    Near,
}

impl Which {
    /// The choice that a word before the date names.
    fn named(word: &str) -> Option<Self> {
        match word {
            "last" | "past" | "previous" => Some(Which::Last),
            "this" | "current" => Some(Which::This),
            "next" | "coming" => Some(Which::Next),
            _ => None,
        }
    }

    /// The choice by the tense of a question.
    fn of_tense(words: &[&str]) -> Self {
        let has = |some: &[&str]| words.iter().any(|word| some.contains(word));
        match (has(&PAST), has(&FUTURE)) {
            (true, false) => Which::Past,
            (false, true) => Which::Future,
            _ => Which::Near,
        }
    }

    fn steps(self) -> i64 {
        match self {
            Which::Last | Which::Past => -1,
            Which::Next | Which::Future => 1,
            Which::This | Which::Near => 0,
        }
    }

    /// The days of the year that is meant.
    fn pick(self, today: Date, of_year: impl Fn(i16) -> Option<Days>) -> Option<Days> {
        // Some dates are in leap years only.
        let years = today.year().saturating_sub(8)..=today.year().saturating_add(8);
        let all: Vec<Days> = years.filter_map(&of_year).collect();
        let past = || all.iter().rev().find(|(start, _)| *start <= today).copied();
        let future = || all.iter().find(|(_, end)| *end > today).copied();
        match self {
            Which::Last => all.iter().rev().find(|(_, end)| *end <= today).copied(),
            Which::Next => all.iter().find(|(start, _)| *start > today).copied(),
            Which::This => past().filter(|(_, end)| *end > today).or_else(|| of_year(today.year())),
            Which::Past => past(),
            Which::Future => future(),
            Which::Near => match (past(), future()) {
                (Some(past), Some(future)) => {
                    let (since, until) = (days_between(past.1, today), days_between(today, future.0));
                    Some(if until <= AHEAD && until < since { future } else { past })
                }
                (past, future) => past.or(future),
            },
        }
    }
}

fn days_between(from: Date, to: Date) -> i32 {
    (to - from).get_days()
}

/// A day, a month or a year, as far as it is named.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct PartialDate {
    year: Option<i16>,
    month: Option<i8>,
    day: Option<i8>,
}

impl PartialDate {
    /// Reads a point from the first words. Returns it with the number of these words. A day may lack its month.
    fn read(words: &[&str]) -> Option<(Self, usize)> {
        let of = |at: usize| usize::from(words.get(at).is_some_and(|word| matches!(*word, "of" | "in")));
        let year = |at: usize| words.get(at).and_then(|word| year(word));
        let first = *words.first()?;
        if let Some(month) = month(first) {
            let day = words.get(1).and_then(|word| day_number(word));
            let at = 1 + usize::from(day.is_some());
            let at = if year(at).is_none() && day.is_none() { at + of(at) } else { at };
            let year = year(at);
            let used = if year.is_some() { at + 1 } else { 1 + usize::from(day.is_some()) };
            return Some((PartialDate { year, month: Some(month), day }, used));
        }
        if let Some(day) = day_number(first) {
            let at = 1 + of(1);
            let Some(month) = words.get(at).and_then(|word| month(word)) else {
                return Some((PartialDate { day: Some(day), ..PartialDate::default() }, 1));
            };
            let year = year(at + 1);
            return Some((
                PartialDate { year, month: Some(month), day: Some(day) },
                at + 1 + usize::from(year.is_some()),
            ));
        }
        if let Some(year) = year(0) {
            return Some((PartialDate { year: Some(year), ..PartialDate::default() }, 1));
        }
        Some((Self::numeric(first)?, 1))
    }

    /// "2026-11-14", "2026-11", "14.11." and "14.11.2026".
    fn numeric(word: &str) -> Option<Self> {
        let number = |part: &str| part.parse().ok().filter(|_| part.len() <= 2);
        let (year_part, month, day) = match *word.split('-').collect::<Vec<_>>() {
            [year, month] if month.len() == 2 => (year, number(month)?, None),
            [year, month, day] if month.len() == 2 && day.len() == 2 => (year, number(month)?, Some(number(day)?)),
            _ => match *word.split('.').collect::<Vec<_>>() {
                [day, month, year] => (year, number(month)?, Some(number(day)?)),
                _ => return None,
            },
        };
        let given = year(year_part);
        let is_point = given.is_some() || year_part.is_empty();
        is_point.then_some(PartialDate { year: given, month: Some(month), day })
    }

    fn of_year(self, year: i16) -> Option<Days> {
        let start = Date::new(year, self.month.unwrap_or(1), self.day.unwrap_or(1)).ok()?;
        let span = match self {
            PartialDate { day: Some(_), .. } => 1.day(),
            PartialDate { month: Some(_), .. } => 1.month(),
            _ => 1.year(),
        };
        Some((start, start.checked_add(span).ok()?))
    }

    /// The range up to another point. Either may have the year or month that the other leaves out.
    fn to(mut self, mut end: Self, today: Date, which: Which) -> Option<Days> {
        self.month = self.month.or(end.month.filter(|_| self.day.is_some()));
        end.month = end.month.or(self.month.filter(|_| end.day.is_some()));
        let is_next_year = (end.month, end.day) < (self.month, self.day);
        let of_years = |from: i16, to: i16| {
            let (start, _) = self.of_year(from)?;
            let (_, end) = end.of_year(to)?;
            Some((start, end)).filter(|(start, end)| start < end)
        };
        let step = i16::from(is_next_year);
        match (self.year, end.year) {
            (Some(from), Some(to)) => of_years(from, to),
            (Some(from), None) => of_years(from, from + step),
            (None, Some(to)) => of_years(to - step, to),
            (None, None) if self.month.is_none() || end.month.is_none() => None,
            (None, None) => which.pick(today, |year| of_years(year, year.checked_add(step)?)),
        }
    }

    fn days(self, today: Date, which: Which) -> Option<Days> {
        match self.year {
            Some(year) => self.of_year(year),
            None if self.month.is_none() => None,
            None => which.pick(today, |year| self.of_year(year)),
        }
    }
}

/// The first period that `query` names, as seen from `now`. With "since" it lasts until now.
pub fn period(query: &str, now: &Zoned) -> Option<Period> {
    let text = query.to_lowercase();
    let words: Vec<&str> =
        text.split_whitespace().flat_map(parts).map(cleaned).filter(|word| !word.is_empty()).collect();
    let tense = Which::of_tense(&words);
    (0..words.len()).find_map(|at| {
        let before = words[..at].last().copied();
        let (from, until) = at_word(&words[at..], before, tense, now)?;
        let until = if before == Some("since") { now.clone() } else { until };
        let millis = |at: &Zoned| at.timestamp().as_millisecond();
        Some(Period { from: millis(&from), until: millis(&until) }).filter(|period| period.from < period.until)
    })
}

/// A word, and the parts of a range that is written as one: "1-8", "1.–8.", "28.11.-3.12.".
fn parts(word: &str) -> Vec<&str> {
    let is_day = |part: &str| day_number(part.trim_end_matches('.')).is_some() || dotted(part);
    match word.split_once(['-', '–', '—']) {
        Some(("", "")) => vec!["to"],
        Some((from, to)) if is_day(bare(from)) && is_day(bare(to)) => vec![from, "to", to],
        _ => vec![word],
    }
}

/// A word without quotes, brackets and the marks at the end of a sentence.
fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric() && c != '.')
}

/// A word without punctuation around it; a date like "14.11." keeps its last dot.
fn cleaned(word: &str) -> &str {
    let bare = bare(word);
    if dotted(bare) {
        return bare;
    }
    bare.trim_matches('.').trim_end_matches("'s").trim_end_matches("’s")
}

fn dotted(word: &str) -> bool {
    word.contains('.') && PartialDate::numeric(word).is_some()
}

/// The period that `words` begin with, after the word `before`.
fn at_word(words: &[&str], before: Option<&str>, tense: Which, now: &Zoned) -> Option<(Zoned, Zoned)> {
    let today = now.date();
    let days = |days: Days| Some((zoned(days.0)?, zoned(days.1)?));
    if let Some(which) = words.first().and_then(|word| Which::named(word)) {
        let rest = &words[1..];
        return match *rest {
            [number, unit, ..] if let (Some(count), true) = (counted(number), is_unit(unit)) => {
                let other = now.checked_add(span(count.checked_mul(which.steps())?, unit)?).ok()?;
                Some(if which == Which::Next { (now.clone(), other) } else { (other, now.clone()) })
            }
            ["night" | "evening", ..] if which == Which::Last => days(day(today.yesterday().ok()?)?),
            ["morning" | "afternoon" | "evening", ..] if which == Which::This => days(day(today)?),
            _ => {
                let is_named = which != Which::This || rest.first() != Some(&"may");
                days(unit(rest, which, today).or_else(|| date(rest, is_named, which, today))?)
            }
        };
    }
    let is_named = before.is_some_and(|before| BEFORE.contains(&before));
    match *words {
        ["today" | "tonight", ..] => days(day(today)?),
        ["yesterday", ..] => days(day(today.yesterday().ok()?)?),
        ["tomorrow", ..] => days(day(today.tomorrow().ok()?)?),
        ["on" | "by", name, ..] if let Some(weekday) = weekday_name(name) => days(of_weekday(weekday, tense, today)?),
        [number, unit, "ago", ..] if let Some(count) = counted(number) => distant(-count, unit, now),
        ["in", number, unit, ..] if let Some(count) = counted(number) => distant(count, unit, now),
        _ => days(date(words, is_named, tense, today)?),
    }
}

/// A date, a range of them, a quarter or a season. `is_named`: an ambiguous word is taken for one.
fn date(words: &[&str], is_named: bool, which: Which, today: Date) -> Option<Days> {
    if let Some(days) = part_of_year(words, is_named, which, today) {
        return Some(days);
    }
    let (point, used) = PartialDate::read(words)?;
    let is_certain = point.day.is_some() || point.month.is_some() && point.year.is_some();
    let is_certain = is_certain || point.month.is_some() && !matches!(words[0], "may" | "march") && words[0].len() > 3;
    if let Some((to, rest)) = words[used..].split_first()
        && (TO.contains(to) || *to == "and" && is_named)
        && let Some((end, _)) = PartialDate::read(rest)
        && let Some(days) = point.to(end, today, which).filter(|_| is_named || is_certain)
    {
        return Some(days);
    }
    point.days(today, which).filter(|_| is_named || is_certain)
}

/// A quarter or a season, of a year or without.
fn part_of_year(words: &[&str], is_named: bool, which: Which, today: Date) -> Option<Days> {
    let (first, used, is_named) = match *words {
        [year_word, quarter, ..]
            if year(year_word).is_some()
                && let Some(first) = quarter_month(quarter) =>
        {
            return quarter_of(first, year(year_word)?);
        }
        [number, "quarter", ..] if let Some(at) = ORDINALS.iter().position(|ordinal| ordinal == &number) => {
            (1 + 3 * i8::try_from(at).ok()?, 2, true)
        }
        [word, ..] if let Some(first) = quarter_month(word) => (first, 1, true),
        [word, ..] => (SEASONS.iter().find(|(season, _)| *season == word)?.1, 1, is_named),
        [] => return None,
    };
    let rest = &words[used..];
    let rest = rest.strip_prefix(&["of"]).unwrap_or(rest);
    match rest.first().and_then(|word| year(word)) {
        Some(year) => quarter_of(first, year),
        None if is_named => which.pick(today, |year| quarter_of(first, year)),
        None => None,
    }
}

/// The first month of "q3".
fn quarter_month(word: &str) -> Option<i8> {
    match word {
        "q1" => Some(1),
        "q2" => Some(4),
        "q3" => Some(7),
        "q4" => Some(10),
        _ => None,
    }
}

/// Three months.
fn quarter_of(first: i8, year: i16) -> Option<Days> {
    let start = Date::new(year, first, 1).ok()?;
    Some((start, start.checked_add(3.months()).ok()?))
}

/// The week, month, quarter, year, weekend or day of the week that a word names.
fn unit(words: &[&str], which: Which, today: Date) -> Option<Days> {
    match *words {
        ["quarter", ..] => {
            let first = today.first_of_month().checked_sub((i64::from(today.month() - 1) % 3).months()).ok()?;
            let start = first.checked_add((3 * which.steps()).months()).ok()?;
            Some((start, start.checked_add(3.months()).ok()?))
        }
        ["weekend", ..] => {
            let monday = of_unit("week", which.steps(), today)?.0;
            Some((monday.checked_add(5.days()).ok()?, monday.checked_add(7.days()).ok()?))
        }
        [unit @ ("week" | "month" | "year"), ..] => of_unit(unit, which.steps(), today),
        [name, ..] => of_weekday(weekday_name(name)?, which, today),
        [] => None,
    }
}

/// The week, month or year in which `steps` units from today is.
fn of_unit(unit: &str, steps: i64, today: Date) -> Option<Days> {
    let start = start_of(unit, &zoned(today)?)?.date().checked_add(span(steps, unit)?).ok()?;
    Some((start, start.checked_add(span(1, unit)?).ok()?))
}

/// The last or the next one, not today; the nearest one, perhaps today.
fn of_weekday(weekday: Weekday, which: Which, today: Date) -> Option<Days> {
    let (last, next) = (today.nth_weekday(-1, weekday).ok()?, today.nth_weekday(1, weekday).ok()?);
    day(match which {
        Which::Last | Which::Past => last,
        Which::This | Which::Next | Which::Future => next,
        Which::Near if today.weekday() == weekday => today,
        Which::Near if days_between(today, next) < days_between(last, today) => next,
        Which::Near => last,
    })
}

/// The day, week, month or year so far from now; of hours and minutes, the time between.
fn distant(count: i64, unit: &str, now: &Zoned) -> Option<(Zoned, Zoned)> {
    if !is_unit(unit) && !matches!(unit, "hour" | "minute") {
        return None;
    }
    let then = now.checked_add(span(count, unit)?).ok()?;
    let days = match unit.trim_end_matches('s') {
        "day" => day(then.date())?,
        unit @ ("week" | "month" | "year") => of_unit(unit, 0, then.date())?,
        _ if count < 0 => return Some((then, now.clone())),
        _ => return Some((now.clone(), then)),
    };
    Some((zoned(days.0)?, zoned(days.1)?))
}

/// A number in digits or in a word.
fn counted(word: &str) -> Option<i64> {
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

fn weekday_name(word: &str) -> Option<Weekday> {
    // "sun" and "sat" are words of their own.
    weekday(word).filter(|_| word.ends_with("day"))
}

/// A month by its name or the first three letters of it.
fn month(word: &str) -> Option<i8> {
    let is_name = |month: &&str| *month == word || month[..3] == *word || word == "sept" && *month == "september";
    let at = MONTHS.iter().position(is_name)?;
    i8::try_from(at + 1).ok()
}

fn year(word: &str) -> Option<i16> {
    word.parse().ok().filter(|year| word.len() == 4 && YEARS.contains(year))
}

/// "7" or "7th".
fn day_number(word: &str) -> Option<i8> {
    let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let is_ordinal = matches!(&word[digits.len()..], "" | "st" | "nd" | "rd" | "th");
    digits.parse().ok().filter(|day| is_ordinal && digits.len() <= 2 && (1..=31).contains(day))
}

fn day(date: Date) -> Option<Days> {
    Some((date, date.tomorrow().ok()?))
}

fn zoned(date: Date) -> Option<Zoned> {
    date.to_zoned(TimeZone::system()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A Saturday.
    fn now() -> Zoned {
        zoned(Date::new(2026, 11, 21).unwrap()).unwrap().checked_add(15.hours()).unwrap()
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
            ("the trip in December", "2026-12-01 2026-12-31"),
            ("where was the trip in December", "2025-12-01 2025-12-31"),
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
            ("the day of 2023-05-07.", "2023-05-07"),
            ("on 14 November", "2026-11-14"),
            ("November 14th", "2026-11-14"),
            ("the 14th of November 2024", "2024-11-14"),
            ("Nov 14, 2024", "2024-11-14"),
            ("on 14.11.", "2026-11-14"),
            ("am 14.11.2024?", "2024-11-14"),
            ("the fair, 1-8 December", "2026-12-01 2026-12-08"),
            ("1–8 December 2025", "2025-12-01 2025-12-08"),
            ("December 1 to 8", "2026-12-01 2026-12-08"),
            ("1.-8. December", "2026-12-01 2026-12-08"),
            ("from 28 November to 3 December", "2026-11-28 2026-12-03"),
            ("28.11.-3.12.", "2026-11-28 2026-12-03"),
            ("28 December - 3 January 2026", "2025-12-28 2026-01-03"),
            ("28 December 2025 until 3 January", "2025-12-28 2026-01-03"),
            ("between 5 and 7 May", "2026-05-05 2026-05-07"),
            ("2023-05-07 to 2023-05-09", "2023-05-07 2023-05-09"),
            ("from March to May 2025", "2025-03-01 2025-05-31"),
            ("from 2023 to 2024", "2023-01-01 2024-12-31"),
            ("when will we meet on 7 May", "2027-05-07"),
            ("who came on 3 December", "2026-12-03"),
            ("who was there on 3 December", "2025-12-03"),
            ("the tax return due in November", "2026-11-01 2026-11-30"),
            ("due on 29 February", "2028-02-29"),
            ("next May", "2027-05-01 2027-05-31"),
            ("last spring", "2026-03-01 2026-05-31"),
            ("this autumn", "2026-09-01 2026-11-30"),
            ("next winter", "2026-12-01 2027-02-28"),
            ("in summer we moved", "2026-06-01 2026-08-31"),
            ("fall 2024", "2024-09-01 2024-11-30"),
            ("the results of Q3", "2026-07-01 2026-09-30"),
            ("Q1 2025", "2025-01-01 2025-03-31"),
            ("2025 Q4 plan", "2025-10-01 2025-12-31"),
            ("the second quarter of 2025", "2025-04-01 2025-06-30"),
            ("last quarter", "2026-07-01 2026-09-30"),
            ("next quarter", "2027-01-01 2027-03-31"),
            ("next Tuesday", "2026-11-24"),
            ("will he call on Friday", "2026-11-27"),
            ("due by Tuesday", "2026-11-24"),
            ("on Tuesday", "2026-11-24"),
            ("last weekend", "2026-11-14 2026-11-15"),
            ("tomorrow", "2026-11-22"),
            ("in two weeks", "2026-11-30 2026-12-06"),
            ("in the next 3 days", "2026-11-21 2026-11-24"),
            ("since last May", "2026-05-01 2026-11-21"),
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
            "this may break",
            "a spring framework for Q5",
            "the fall of Rome",
            "1 to 8",
            "2 to 3 weeks",
            "31.02.2025",
            "0-0 0.0. 99.99.",
            "00-00",
            "0000-01-01 and 99999-01-01 and 0.1.0000",
            "version 1.2.34",
            "in 0 days",
            "next",
            "- – —",
            "14 of",
        ] {
            assert_eq!(days(query), None, "{query}");
        }
    }
}
