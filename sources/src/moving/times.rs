//! Times in the many ways that stores write them, as Unix milliseconds.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use serde_json::Value;

/// Earlier times are refused by memorist: 10^11 ms is March 1973. Smaller numbers are seconds.
const MIN_MILLIS: f64 = 1e11;
/// The year 5138 in milliseconds. Larger numbers are microseconds.
const MAX_MILLIS: f64 = 1e14;
const MAX_MICROS: f64 = 1e17;

/// The time in `value`: a number of seconds, milliseconds, microseconds or nanoseconds, which differ in size; or ISO 8601,
/// without an offset in UTC.
pub fn millis(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => of_number(number.as_f64()?),
        Value::String(text) => of_text(text.trim()),
        _ => None,
    }
}

/// The end of the day in `value`, `YYYY-MM-DD`.
pub fn end_of_day(value: &Value) -> Option<i64> {
    let date: Date = value.as_str()?.trim().parse().ok()?;
    in_utc(date.tomorrow().ok()?.to_datetime(jiff::civil::Time::midnight()))
}

fn of_number(number: f64) -> Option<i64> {
    let millis = match number {
        _ if number < MIN_MILLIS => number * 1e3,
        _ if number < MAX_MILLIS => number,
        _ if number < MAX_MICROS => number / 1e3,
        _ => number / 1e6,
    };
    // The type is wide enough for all numbers between.
    (MIN_MILLIS..MAX_MILLIS).contains(&millis).then_some(millis as i64)
}

fn of_text(text: &str) -> Option<i64> {
    if let Ok(number) = text.parse::<f64>() {
        return of_number(number);
    }
    let millis = match text.parse::<Timestamp>() {
        Ok(at) => at.as_millisecond(),
        Err(_) => in_utc(text.parse::<DateTime>().ok()?)?,
    };
    of_number(millis as f64).filter(|_| millis as f64 >= MIN_MILLIS)
}

fn in_utc(at: DateTime) -> Option<i64> {
    Some(at.to_zoned(TimeZone::UTC).ok()?.timestamp().as_millisecond())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_write_a_time_is_the_same_time() {
        let at = 1_770_000_000_000;
        let ways = [
            Value::from(1_770_000_000_i64),
            Value::from(1_770_000_000.0),
            Value::from(at),
            Value::from(1_770_000_000_000_000_i64),
            Value::from(1_770_000_000_000_000_000_i64),
            "2026-02-02T02:40:00Z".into(),
            "2026-02-02T02:40:00.000+00:00".into(),
            "2026-02-01T18:40:00-08:00".into(),
            "2026-02-02 02:40:00".into(),
            " 1770000000 ".into(),
        ];
        for way in ways {
            assert_eq!(millis(&way), Some(at), "{way}");
        }
        assert_eq!(millis(&"2026-02-02".into()), Some(1_769_990_400_000));
        assert_eq!(end_of_day(&"2026-02-01".into()), Some(1_769_990_400_000));
    }

    #[test]
    fn an_invalid_time_is_none() {
        for other in [Value::Null, 0.into(), (-5).into(), "".into(), "soon".into(), "1970-01-02".into(), true.into()] {
            assert_eq!(millis(&other), None, "{other}");
        }
        for other in [1e300, f64::MAX, i64::MAX as f64] {
            let _ = millis(&Value::from(other));
        }
        assert_eq!(millis(&"NaN".into()), None);
        assert_eq!(end_of_day(&"9999-12-31".into()), None);
    }
}
