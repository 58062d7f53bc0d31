//! Some lines of a text, of a bounded size.

use crate::wire::count;
use crate::wire::gimli::GimliGetResult;

/// Most bytes of an answer.
pub const MOST_BYTES: usize = 64 << 10;

/// Which lines are wanted.
#[derive(Debug, Clone, Copy)]
pub struct LineRange {
    /// The first, from 1.
    pub from: u64,
    /// How many; all without it.
    pub lines: Option<u64>,
}

impl LineRange {
    /// The last one.
    pub fn last(self) -> u64 {
        self.lines.map_or(u64::MAX, |lines| self.from.saturating_add(lines).saturating_sub(1))
    }
}

pub fn passage(text: &str, wanted: LineRange) -> GimliGetResult {
    let skipped = usize::try_from(wanted.from - 1).unwrap_or(usize::MAX);
    let mut rest = text.lines().skip(skipped).peekable();
    let (mut passage, mut taken) = (String::new(), 0);
    while taken < wanted.lines.unwrap_or(u64::MAX) {
        let fits = |line: &&str| taken == 0 || passage.len() + line.len() < MOST_BYTES;
        let Some(line) = rest.next_if(fits) else { break };
        if taken > 0 {
            passage.push('\n');
        }
        passage.push_str(line);
        taken += 1;
    }
    passage.truncate(passage.floor_char_boundary(MOST_BYTES));
    GimliGetResult {
        text: passage,
        from: count(wanted.from),
        lines: count(taken),
        next_from: rest.peek().map(|_| count(wanted.from.saturating_add(taken))),
        ..GimliGetResult::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str, from: u64, lines: Option<u64>) -> (String, i64, Option<i64>) {
        let passage = passage(text, LineRange { from, lines });
        (passage.text, passage.lines, passage.next_from)
    }

    #[test]
    fn lines_are_counted_from_one_and_go_on() {
        let text = "one\ntwo\nthree\n";
        assert_eq!(lines(text, 1, None), ("one\ntwo\nthree".into(), 3, None));
        assert_eq!(lines(text, 2, Some(1)), ("two".into(), 1, Some(3)));
        assert_eq!(lines(text, 3, Some(9)), ("three".into(), 1, None));
        assert_eq!(lines(text, 4, Some(1)), (String::new(), 0, None));
        assert_eq!(lines(text, 2, Some(0)), (String::new(), 0, Some(2)));
    }

    #[test]
    fn an_answer_is_bounded() {
        let long = format!("{}\nshort", "é".repeat(MOST_BYTES));
        let (text, taken, next) = lines(&long, 1, None);
        assert!(text.len() <= MOST_BYTES && taken == 1 && next == Some(2), "{} {taken} {next:?}", text.len());
        let many = "a line\n".repeat(MOST_BYTES);
        let (text, taken, next) = lines(&many, 1, None);
        assert!(text.len() <= MOST_BYTES && next == Some(taken + 1), "{taken} {next:?}");
    }
}
