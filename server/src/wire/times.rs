//! Times as people and models say and read them: "7d", "last week", "2026-11-21 Sat". They are in the zone of this machine.

use std::str::FromStr;

use jiff::civil::{Date, Weekday};
use jiff::fmt::temporal::Pieces;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, Unit, Zoned, ZonedRound};
use memorist_engine::types::Millis;
use serde::de::Deserializer;
use serde::{Deserialize, Serialize};

use super::values::{When, WholeOr, inline_schema};

/// A time that is mostly in the past: as [`When`], or "7d" for seven days ago, or "last week" for its beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(into = "Millis")]
pub struct Past(Moment);

/// A time that is mostly in the future: as [`When`], or "7d" for in seven days, or "next week" for its beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(into = "Millis")]
pub struct Future(Moment);

/// A moment by the clock of this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Moment {
    at: Millis,
    /// It was given as a distance from now.
    is_distance: bool,
}

/// The end of a range of times that are mostly in the past: as [`Past`]. A day is in the range; a week, month or year is if
/// the range begins with it, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PastEnd(NamedTime);

/// The end of a range of times that are mostly in the future: as [`Future`], otherwise like [`PastEnd`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FutureEnd(NamedTime);

/// A moment, or the beginning and the end of the day, week, month or year that a text names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct NamedTime {
    start: Millis,
    end: Millis,
    is_day: bool,
    is_distance: bool,
}

impl NamedTime {
    fn of(start: &Zoned, unit: &str) -> Self {
        let end = span(1, unit).and_then(|span| start.checked_add(span).ok());
        let millis = |at: &Zoned| at.timestamp().as_millisecond();
        let (start, end) = (millis(start), millis(end.as_ref().unwrap_or(start)));
        NamedTime { start, end, is_day: unit == "day", is_distance: unit.is_empty() }
    }

    fn moment(self) -> Moment {
        Moment { at: self.start, is_distance: self.is_distance }
    }

    fn end_after(self, start: Option<Millis>) -> Millis {
        if self.is_day || start == Some(self.start) { self.end } else { self.start }
    }
}

/// A date with the day of the week.
pub fn day(at: Millis) -> String {
    zoned(at).map_or_else(|| format!("{at} ms"), |at| at.strftime("%Y-%m-%d %a").to_string())
}

/// A date and time, to the minute, with the offset and the day of the week; a midnight is a date.
pub fn moment(at: Millis) -> String {
    let Some(zoned) = zoned(at) else { return format!("{at} ms") };
    if zoned.start_of_day().is_ok_and(|start| start == zoned) {
        return day(at);
    }
    zoned.strftime("%Y-%m-%dT%H:%M%:z %a").to_string()
}

fn zoned(at: Millis) -> Option<Zoned> {
    Timestamp::from_millisecond(at).ok().map(|at| at.to_zoned(TimeZone::system()))
}

/// The start of a named day, week, month or year, with the name of that unit; or the time at a distance from `now` in the
/// direction of `sign`, with an empty name.
fn relative(text: &str, now: &Zoned, sign: i64) -> Option<(Zoned, &'static str)> {
    let text = text.trim().to_lowercase();
    let words: Vec<&str> = text.split_whitespace().collect();
    let today = now.start_of_day().ok()?;
    match words.as_slice() {
        ["now"] => return Some((now.clone(), "")),
        ["today"] => return Some((today, "day")),
        ["yesterday"] => return Some((today.yesterday().ok()?, "day")),
        ["tomorrow"] => return Some((today.tomorrow().ok()?, "day")),
        [which @ ("this" | "last" | "next"), unit @ ("week" | "month" | "year")] => {
            let steps = match *which {
                "last" => -1,
                "next" => 1,
                _ => 0,
            };
            let unit = ["week", "month", "year"].into_iter().find(|name| name == unit)?;
            return Some((start_of(unit, &today)?.checked_add(span(steps, unit)?).ok()?, unit));
        }
        [name] | ["this" | "next" | "last" | "on", name] if let Some(day) = weekday(name) => {
            let back = words[0] == "last" || sign < 0 && words[0] != "next" && words[0] != "this";
            return Some((today.nth_weekday(if back { -1 } else { 1 }, day).ok()?, "day"));
        }
        _ => {}
    }
    let text = text.strip_prefix("the ").unwrap_or(&text);
    let ago = text.strip_suffix(" ago").map(|distance| (distance, -1));
    let signs = [("last ", -1), ("past ", -1), ("-", -1), ("in ", 1), ("next ", 1), ("+", 1)];
    let signed = || signs.into_iter().find_map(|(prefix, sign)| Some((text.strip_prefix(prefix)?, sign)));
    let (distance, sign) = ago.or_else(signed).unwrap_or((text, sign));
    let (number, unit) = match ["a ", "an ", "one "].iter().find_map(|one| distance.strip_prefix(one)) {
        Some(unit) => (1, unit),
        // "past week"
        None if text.starts_with("past ") && distance.starts_with(char::is_alphabetic) => (1, distance),
        None => {
            let digits = distance.find(|c: char| !c.is_ascii_digit())?;
            let (number, unit) = distance.split_at(digits);
            (number.parse::<i64>().ok()?, unit)
        }
    };
    Some((now.checked_add(span(number.checked_mul(sign)?, unit.trim())?).ok()?, ""))
}

/// The year, month or day that digits name, with the name of that unit: "2026", "2026-11", "20261126".
fn of_digits(text: &str) -> Option<(Zoned, &'static str)> {
    let (year, rest) = text.trim().split_at_checked(4)?;
    let year: i16 = year.parse().ok().filter(|year| (1900..3000).contains(year))?;
    let number = |digits: &str| digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse::<i8>().ok())?;
    let (month, day, unit) = match rest.len() {
        0 => (1, 1, "year"),
        3 => (number(rest.strip_prefix('-')?)?, 1, "month"),
        4 => (number(rest.get(..2)?)?, number(rest.get(2..)?)?, "day"),
        _ => return None,
    };
    let start = Date::new(year, month, day).ok()?.to_zoned(TimeZone::system()).ok()?;
    Some((start, unit))
}

pub(super) fn weekday(name: &str) -> Option<Weekday> {
    let days = [
        ("monday", Weekday::Monday),
        ("tuesday", Weekday::Tuesday),
        ("wednesday", Weekday::Wednesday),
        ("thursday", Weekday::Thursday),
        ("friday", Weekday::Friday),
        ("saturday", Weekday::Saturday),
        ("sunday", Weekday::Sunday),
    ];
    days.into_iter().find(|(day, _)| *day == name || day[..3] == *name).map(|(_, day)| day)
}

/// A date with the name of its month.
fn date_with_month(text: &str) -> Option<Zoned> {
    let text = text.trim().replace(',', "");
    let formats = ["%B %d %Y", "%b %d %Y", "%d %B %Y", "%d %b %Y"];
    let date = formats.iter().find_map(|format| Date::strptime(format, &text).ok());
    date?.to_zoned(TimeZone::system()).ok()
}

pub(super) fn start_of(unit: &str, today: &Zoned) -> Option<Zoned> {
    match unit {
        "week" => {
            let since_monday = today.weekday().since(Weekday::Monday);
            today.checked_sub(Span::new().days(i64::from(since_monday))).ok()
        }
        "month" => today.first_of_month().ok(),
        _ => today.first_of_year().ok(),
    }
}

pub(super) fn span(number: i64, unit: &str) -> Option<Span> {
    let span = Span::new();
    match unit {
        "min" | "minute" | "minutes" => span.try_minutes(number),
        "h" | "hour" | "hours" => span.try_hours(number),
        "d" | "day" | "days" => span.try_days(number),
        "w" | "week" | "weeks" => span.try_weeks(number),
        "mo" | "month" | "months" => span.try_months(number),
        "y" | "year" | "years" => span.try_years(number),
        _ => return None,
    }
    .ok()
}

fn parsed(text: &str, sign: i64) -> Result<NamedTime, String> {
    if let Some((start, unit)) = of_digits(text) {
        return Ok(NamedTime::of(&start, unit));
    }
    match When::from_str(text) {
        Ok(When(at)) => {
            let is_date = Pieces::parse(text.trim()).is_ok_and(|pieces| pieces.time().is_none());
            let start = zoned(at).filter(|_| is_date);
            let exact = NamedTime { start: at, end: at, is_day: false, is_distance: false };
            Ok(start.map_or(exact, |start| NamedTime::of(&start, "day")))
        }
        // A number that looks like seconds.
        Err(why) if text.trim().parse::<i64>().is_ok() => Err(why),
        Err(_) => {
            let now = Zoned::now().round(ZonedRound::new().smallest(Unit::Millisecond)).map_err(|e| e.to_string())?;
            let at = relative(text, &now, sign).or_else(|| Some((date_with_month(text)?, "day")));
            at.map(|(start, unit)| NamedTime::of(&start, unit)).ok_or_else(|| {
                let like = if sign < 0 { "7d, yesterday, last week" } else { "7d, tomorrow, next week" };
                let today = day(now.timestamp().as_millisecond());
                format!("{text:?} is not a time; give ISO 8601, like 2026-12-31T09:00, or {like}. Today is {today}")
            })
        }
    }
}

macro_rules! time {
    ($type:ident, $sign:literal, $of:expr) => {
        impl FromStr for $type {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                parsed(text, $sign).map($of)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let what = "a time: ISO 8601, a distance like 7d, or Unix milliseconds";
                let number = |number: i64| number.to_string().parse();
                deserializer.deserialize_any(WholeOr { what, number, text: Some($type::from_str) })
            }
        }

        inline_schema!($type, { "type": ["integer", "string"] });
    };
}

time!(Past, -1, |named| Past(named.moment()));
time!(Future, 1, |named| Future(named.moment()));
time!(PastEnd, -1, PastEnd);
time!(FutureEnd, 1, FutureEnd);

macro_rules! moment {
    ($type:ident) => {
        impl $type {
            /// The time by the clock of this machine.
            pub fn at(self) -> Millis {
                self.0.at
            }

            /// The time by a clock that is `ahead` of this machine's: a distance counts from that clock's present.
            pub fn by_clock(self, ahead: Millis) -> Self {
                let ahead = if self.0.is_distance { ahead } else { 0 };
                self.0.at.saturating_add(ahead).into()
            }
        }

        impl From<Millis> for $type {
            fn from(at: Millis) -> Self {
                $type(Moment { at, is_distance: false })
            }
        }

        impl From<$type> for Millis {
            fn from(time: $type) -> Self {
                time.at()
            }
        }
    };
}

moment!(Past);
moment!(Future);

impl PastEnd {
    /// The first moment after a range that begins at `start`.
    pub fn after(self, start: Option<Past>) -> Millis {
        self.0.end_after(start.map(Past::at))
    }
}

impl FutureEnd {
    /// The first moment after a range that begins at `start`.
    pub fn after(self, start: Option<Future>) -> Millis {
        self.0.end_after(start.map(Future::at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str, sign: i64) -> Option<String> {
        // A Saturday.
        let now: Zoned = "2026-11-21T14:05:00+01:00[+01:00]".parse().unwrap();
        relative(text, &now, sign).map(|(at, _)| at.strftime("%Y-%m-%dT%H:%M %a").to_string())
    }

    #[test]
    fn a_relative_time_is_from_now_or_the_start_of_what_it_names() {
        for (text, sign, expected) in [
            ("7d", -1, "2026-11-14T14:05 Sat"),
            ("7 days", 1, "2026-11-28T14:05 Sat"),
            ("2 weeks ago", 1, "2026-11-07T14:05 Sat"),
            ("in 36 h", -1, "2026-11-23T02:05 Mon"),
            ("1 month", -1, "2026-10-21T14:05 Wed"),
            ("Today", -1, "2026-11-21T00:00 Sat"),
            ("yesterday", 1, "2026-11-20T00:00 Fri"),
            ("tomorrow", -1, "2026-11-22T00:00 Sun"),
            ("last week", -1, "2026-11-09T00:00 Mon"),
            ("this week", -1, "2026-11-16T00:00 Mon"),
            ("next month", 1, "2026-12-01T00:00 Tue"),
            ("last year", -1, "2025-01-01T00:00 Wed"),
            ("next Friday", -1, "2026-11-27T00:00 Fri"),
            ("fri", 1, "2026-11-27T00:00 Fri"),
            ("friday", -1, "2026-11-20T00:00 Fri"),
            ("last monday", 1, "2026-11-16T00:00 Mon"),
            ("saturday", 1, "2026-11-28T00:00 Sat"),
            ("last 7 days", -1, "2026-11-14T14:05 Sat"),
            ("the last 7 days", -1, "2026-11-14T14:05 Sat"),
            ("past 24 hours", 1, "2026-11-20T14:05 Fri"),
            ("past week", -1, "2026-11-14T14:05 Sat"),
            ("next 2 weeks", -1, "2026-12-05T14:05 Sat"),
            ("-7d", 1, "2026-11-14T14:05 Sat"),
            ("a week ago", 1, "2026-11-14T14:05 Sat"),
            ("an hour ago", 1, "2026-11-21T13:05 Sat"),
        ] {
            assert_eq!(at(text, sign).as_deref(), Some(expected), "{text}");
        }
        for text in [
            "", "d", "7", "-", "a", "past", "last -7 days", "7 parsecs", "week", "last", "99999999999999999999d",
            "9999999999 y",
        ] {
            assert_eq!(at(text, -1), None, "{text}");
        }
    }

    #[test]
    fn digits_name_a_year_a_month_or_a_day() {
        for (text, start, end) in [
            ("2026", "2026-01-01 Thu", "2027-01-01 Fri"),
            ("2026-11", "2026-11-01 Sun", "2026-12-01 Tue"),
            ("20261126", "2026-11-26 Thu", "2026-11-27 Fri"),
        ] {
            let at: Past = text.parse().unwrap();
            assert_eq!(day(at.at()), start);
            assert_eq!(day(text.parse::<PastEnd>().unwrap().after(Some(at))), end);
        }
        let number: Past = serde_json::from_str("20261126").unwrap();
        assert_eq!(number, "2026-11-26".parse().unwrap());
        for text in ["0001", "2026-13", "20261301", "2026-+1", "202611", "1738540800"] {
            assert!(text.parse::<Past>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_date_may_have_the_name_of_its_month() {
        for text in ["Dec 24, 2026", "December 24 2026", "24 december 2026", "24 Dec 2026"] {
            assert_eq!(day(text.parse::<Future>().unwrap().at()), "2026-12-24 Thu", "{text}");
        }
        assert!("Dec 42, 2026".parse::<Future>().unwrap_err().contains("Today is 20"));
    }

    #[test]
    fn a_day_as_the_end_of_a_range_is_in_it() {
        let day = |text: &str| text.parse::<Past>().unwrap().at();
        let end = |text: &str, start: Option<&str>| {
            text.parse::<PastEnd>().unwrap().after(start.map(|start| start.parse().unwrap()))
        };
        let next = day("2026-11-15");
        for text in ["2026-11-14", "Nov 14, 2026", " 2026-11-14 "] {
            assert_eq!((end(text, Some("2026-11-14")), end(text, None)), (next, next), "{text}");
        }
        assert_eq!(end("today", Some("today")), day("tomorrow"));
        for moment in ["2026-11-14T00:00", "2026-11-14T09:30:00Z", "1767225600000", "1970-01-01T00:00Z"] {
            assert_eq!(end(moment, Some(moment)), day(moment), "{moment}");
        }
        // A longer unit is in it only where it is the beginning as well.
        assert_eq!(end("last week", None), day("last week"));
        assert_eq!(end("last week", Some("last week")), day("this week"));
        assert_eq!(end("this month", Some("last month")), day("this month"));
        let year = "next year".parse::<FutureEnd>().unwrap();
        let start = "next year".parse::<Future>().unwrap();
        assert!(year.after(Some(start)) - start.at() >= 365 * 86_400_000);
        assert!("whenever".parse::<FutureEnd>().unwrap_err().contains("next week"));
    }

    #[test]
    fn a_time_that_is_none_is_refused_with_examples() {
        let error = "whenever".parse::<Past>().unwrap_err();
        assert!(error.contains("\"whenever\" is not a time") && error.contains("last week"), "{error}");
        let error = "whenever".parse::<Future>().unwrap_err();
        assert!(error.contains("next week"), "{error}");
        assert_eq!("1767225600000".parse(), Ok(Past::from(1_767_225_600_000)));
        assert!(serde_json::from_str::<Past>("1767225600").unwrap_err().to_string().contains("looks like seconds"));
    }

    #[test]
    fn a_day_and_a_moment_have_the_day_of_the_week() {
        let noon = "2026-11-21T12:30".parse::<Past>().unwrap().at();
        assert_eq!(day(noon), "2026-11-21 Sat");
        let text = moment(noon);
        assert!(text.starts_with("2026-11-21T12:30") && text.ends_with(" Sat"), "{text}");
        assert_eq!(moment("2026-11-21".parse::<Past>().unwrap().at()), "2026-11-21 Sat");
        assert_eq!((day(i64::MAX), moment(i64::MAX)), (format!("{} ms", i64::MAX), format!("{} ms", i64::MAX)));
    }

    #[test]
    fn a_distance_alone_is_from_the_present_of_another_clock() {
        let moved = |text: &str| {
            let (past, future) = (text.parse::<Past>().unwrap(), text.parse::<Future>().unwrap());
            (past.by_clock(-60).at() - past.at(), future.by_clock(3_600_000).at() - future.at())
        };
        for text in ["in 2 hours", "7d", "3 min ago", "now"] {
            assert_eq!(moved(text), (-60, 3_600_000), "{text}");
        }
        for text in ["2026-12-31T09:00", "2026-12-31", "tomorrow", "last week", "1893456000000"] {
            assert_eq!(moved(text), (0, 0), "{text}");
        }
    }
}
