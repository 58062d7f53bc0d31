//! The mark of a memory: a unique number, moment or commit. It makes exact duplicates impossible and gives questions by
//! word an answer that is right by construction.

use crate::draws::{Draws, spread};

/// How a mark is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Seven digits or more.
    Number,
    /// A date and a time of day, to the minute.
    Moment,
    /// Eight hexadecimal digits after the word "commit".
    Commit,
}

/// The mark of one memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark {
    value: u64,
}

impl Mark {
    /// The mark of memory `index`; one to one for a seed.
    pub fn of(seed: u64, index: usize) -> Self {
        Mark { value: spread(seed, index as u64) }
    }

    /// Writes it in `form`.
    /// The forms are distinct, and nothing else in the grammar looks like any of them (a test checks it), so two equal
    /// texts would have the same mark.
    /// says so), so two texts that are equal would carry the same mark.
    pub fn write(self, form: Form, wording: &mut Draws, out: &mut String) {
        match form {
            Form::Number => out.push_str(&format!("{:07}", self.value)),
            Form::Commit => {
                let spread = (self.value as u32).wrapping_mul(0x9e37_79b1);
                out.push_str(&format!("commit {:08x}", spread ^ spread >> 15));
            }
            Form::Moment => {
                const MINUTES_A_DAY: u64 = 24 * 60;
                let (days, minutes) = (self.value / MINUTES_A_DAY, self.value % MINUTES_A_DAY);
                let (hour, minute) = (minutes / 60, minutes % 60);
                // 2024 to 2025 for the first million; beyond a thousand million memories the calendar ends and the first day serves
                let first = jiff::civil::date(2024, 1, 1);
                let day = first.checked_add(jiff::Span::new().days(days.min(2_000_000) as i64)).unwrap_or(first);
                let long = day.strftime("%-d %B %Y");
                out.push_str(&match wording.below(3) {
                    0 => format!("{day} {hour:02}:{minute:02}"),
                    1 => format!("{long} at {hour:02}:{minute:02}"),
                    _ => format!("{long}, {hour:02}:{minute:02}"),
                });
            }
        }
    }
}

/// The marks in `text`, as words that can be searched for; with `searchable`, without moments, whose parts (a day, a
/// time) occur in other memories too.
pub(crate) fn marks_in(text: &str, searchable: bool) -> Vec<&str> {
    let mut after_commit = false;
    let mut marks = Vec::new();
    for word in text.split_whitespace() {
        let word = word.trim_matches(|character: char| !character.is_alphanumeric());
        let longest_number = word.split(|c: char| !c.is_ascii_digit()).map(str::len).max().unwrap_or(0);
        let is_commit = after_commit && word.len() == 8 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_time = word.len() == 5 && word.as_bytes()[2] == b':';
        if longest_number >= 7 || is_commit || (is_time && !searchable) {
            marks.push(word);
        }
        after_commit = word.eq_ignore_ascii_case("commit");
    }
    marks
}
