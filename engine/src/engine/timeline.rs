//! Timelines: event counts of the memories of a store, by time.

use std::collections::BTreeMap;

use jiff::civil::Date;

use super::Engine;
use crate::error::Result;
use crate::types::{DAY, Filter, Happened, Millis, Timeline, TimelineUnit};

/// Most buckets: nobody could distinguish more.
const MOST_BUCKETS: i64 = 400;

impl Engine {
    /// The timeline of the memories that pass the filter, as far as the store still knows it. A day begins at midnight `offset`
    /// milliseconds ahead of UTC.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid) names the bound that is violated.
    pub fn timeline(&self, filter: &Filter, offset: Millis) -> Result<Timeline> {
        filter.validate()?;
        let days = self.store.records.snapshot()?.happened(filter, offset, self.store.now())?;
        Ok(in_buckets(days, offset))
    }
}

/// Days by their numbers since 1970, in buckets of the shortest unit of which there are few enough. Before the last of as many
/// months as there may be, all is in the first.
fn in_buckets(days: BTreeMap<i64, Happened>, offset: Millis) -> Timeline {
    let Some((first, last)) = days.keys().next().copied().zip(days.keys().next_back().copied()) else {
        return Timeline::default();
    };
    let count = |unit| index(unit, last) - index(unit, first) + 1;
    let units = [TimelineUnit::Day, TimelineUnit::Week];
    let unit = units.into_iter().find(|unit| count(*unit) <= MOST_BUCKETS).unwrap_or(TimelineUnit::Month);
    let earliest = index(unit, last) - MOST_BUCKETS + 1;
    let mut buckets: BTreeMap<i64, Happened> = BTreeMap::new();
    for (day, happened) in days {
        let at = index(unit, day).max(earliest);
        let bucket = buckets.entry(at).or_default();
        bucket.start = start(unit, at).saturating_mul(DAY).saturating_sub(offset);
        for (kind, count) in happened.saved {
            *bucket.saved.entry(kind).or_default() += count;
        }
        bucket.changed += happened.changed;
        bucket.superseded += happened.superseded;
        bucket.expired += happened.expired;
        bucket.deleted += happened.deleted;
    }
    Timeline { unit, buckets: buckets.into_values().collect() }
}

/// 1970-01-05 was a Monday.
const FIRST_MONDAY: i64 = 4;

/// The number of the bucket that a day is in.
fn index(unit: TimelineUnit, day: i64) -> i64 {
    match unit {
        TimelineUnit::Day => day,
        TimelineUnit::Week => (day - FIRST_MONDAY).div_euclid(7),
        TimelineUnit::Month => {
            let date = date(day);
            i64::from(date.year()) * 12 + i64::from(date.month()) - 1
        }
    }
}

/// The first day of a bucket.
fn start(unit: TimelineUnit, index: i64) -> i64 {
    match unit {
        TimelineUnit::Day => index,
        TimelineUnit::Week => index * 7 + FIRST_MONDAY,
        TimelineUnit::Month => {
            let (year, month) = (index.div_euclid(12), index.rem_euclid(12) + 1);
            let first = i16::try_from(year).ok().zip(i8::try_from(month).ok());
            first.and_then(|(year, month)| Date::new(year, month, 1).ok()).map_or(0, number)
        }
    }
}

/// The date of a day; the first or last that there is, of one beyond.
fn date(day: i64) -> Date {
    let epoch = Date::constant(1970, 1, 1);
    let span = i32::try_from(day).ok().and_then(|days| jiff::Span::new().try_days(days).ok());
    let beyond = if day < 0 { Date::MIN } else { Date::MAX };
    span.and_then(|span| epoch.checked_add(span).ok()).unwrap_or(beyond)
}

/// The number of a date since 1970.
fn number(date: Date) -> i64 {
    let since = Date::constant(1970, 1, 1).until((jiff::Unit::Day, date));
    since.map_or(0, |span| i64::from(span.get_days()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Kind;

    fn days(of: &[i64]) -> BTreeMap<i64, Happened> {
        let one = || Happened { changed: 1, saved: BTreeMap::from([(Kind::Fact, 2)]), ..Happened::default() };
        of.iter().map(|day| (*day, one())).collect()
    }

    #[test]
    fn the_unit_is_the_shortest_of_which_there_are_few_enough() {
        let unit = |of: &[i64]| in_buckets(days(of), 0).unit;
        assert_eq!(unit(&[]), TimelineUnit::Day);
        assert_eq!(unit(&[20_000, 20_399]), TimelineUnit::Day);
        assert_eq!(unit(&[20_000, 20_400]), TimelineUnit::Week);
        assert_eq!(unit(&[17_000, 20_000]), TimelineUnit::Month);
    }

    /// Against dates.
    #[test]
    fn weeks_begin_on_monday_and_months_on_the_first() {
        // 2024-10-04 is a Friday.
        let friday = number(Date::constant(2024, 10, 4));
        let week = in_buckets(days(&[friday, friday + 2, friday + 3, friday + 500]), 0);
        assert_eq!(week.unit, TimelineUnit::Week);
        assert_eq!(week.buckets[0].start, number(Date::constant(2024, 9, 30)) * DAY);
        let counts: Vec<u64> = week.buckets.iter().map(|bucket| bucket.changed).collect();
        assert_eq!(counts, [2, 1, 1], "Friday and Sunday, Monday, and much later");
        let month =
            in_buckets(days(&[number(Date::constant(1999, 12, 31)), number(Date::constant(2000, 1, 1)), friday]), 0);
        let starts: Vec<Millis> = month.buckets.iter().map(|bucket| bucket.start).collect();
        let first = |year, month| number(Date::constant(year, month, 1)) * DAY;
        assert_eq!((month.unit, starts), (TimelineUnit::Month, vec![first(1999, 12), first(2000, 1), first(2024, 10)]));
        assert_eq!(month.buckets[0].saved, BTreeMap::from([(Kind::Fact, 2)]));
    }

    #[test]
    fn the_first_bucket_takes_older_events_without_overflow() {
        let long = in_buckets(days(&[i64::MIN / DAY, -100_000, 0, 20_000, 20_001, 106_751_991_167]), 0);
        assert!(long.buckets.len() as i64 <= MOST_BUCKETS);
        assert_eq!(long.buckets.iter().map(|bucket| bucket.changed).sum::<u64>(), 6);
    }

    #[test]
    fn a_day_begins_at_local_midnight() {
        let hour = 60 * 60 * 1_000;
        let ahead = in_buckets(days(&[20_000]), 2 * hour);
        assert_eq!(ahead.buckets[0].start, 20_000 * DAY - 2 * hour);
    }
}
