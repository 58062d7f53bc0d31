//! Numbers and times for people.

use crate::escape;
use crate::wire::When;

/// `12,345`.
pub fn thousands(number: u64) -> String {
    indicatif::HumanCount(number).to_string()
}

/// `12.34 MB`.
pub fn bytes(number: u64) -> String {
    indicatif::DecimalBytes(number).to_string()
}

/// A time in microseconds as `850 µs`, `1.2 ms` or `3.4 s`.
pub fn micros(micros: u64) -> String {
    match micros {
        0..1_000 => format!("{micros} µs"),
        1_000..1_000_000 => format!("{:.1} ms", micros as f64 / 1e3),
        _ => format!("{:.1} s", micros as f64 / 1e6),
    }
}

/// Unix milliseconds as `2026-01-01T00:00:00Z`, or a dash.
pub fn time(millis: Option<i64>) -> String {
    millis.map_or_else(|| "-".to_owned(), |at| When(at).to_string())
}

/// `1 memory`, `2 memories`.
pub fn memories(number: u64) -> String {
    if number == 1 { "1 memory".to_owned() } else { format!("{} memories", thousands(number)) }
}

/// A text on one line: white space becomes one space, and control characters are escaped.
pub fn one_line(text: &str) -> String {
    escape::text(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_readable() {
        assert_eq!(thousands(1_234_567), "1,234,567");
        assert_eq!([micros(850), micros(1_250), micros(3_400_000)], ["850 µs", "1.2 ms", "3.4 s"]);
        assert_eq!((memories(1), memories(2_000)), ("1 memory".into(), "2,000 memories".into()));
        assert_eq!(time(None), "-");
    }

    #[test]
    fn a_text_cannot_move_the_cursor() {
        assert_eq!(one_line("a\r\n\n b\t\u{1b}[2Jc "), "a b <U+001B>[2Jc");
    }
}
