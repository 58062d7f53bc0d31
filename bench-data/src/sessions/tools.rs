//! Tool calls and their outputs.

use std::sync::LazyLock;

use crate::code::{self, code};
use crate::draws::{Draws, Purpose};

/// A word in everything that a parser has to leave out: outputs of tools, thinking, system texts and wrappers.
pub const LEFT_OUT: &str = "zqleftoutqz";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// The name of the tool: `shell` or `read`.
    pub name: &'static str,
    /// The command, or the path.
    pub input: String,
    pub output: String,
}

/// Lines of the texts that outputs are cut from, so that they cost little to make.
const LINES: usize = 4_000;

/// A call, and some kilobytes of output.
pub(super) fn call(draws: &mut Draws) -> ToolCall {
    let path = code::path(draws);
    let (name, input, printed) = match draws.below(4) {
        0 => ("read", path, &SOURCE),
        1 => ("shell", format!("rg --line-number {path}"), &SOURCE),
        2 => ("shell", format!("ls -R {}", path.trim_end_matches(".rs")), &LISTING),
        _ => ("shell", "cargo test 2>&1".to_owned(), &TESTS),
    };
    let lines = 10 + draws.zipf(300);
    let first = draws.below(LINES - lines);
    let output = format!("{LEFT_OUT}\n{}", printed.part(first, lines));
    ToolCall { name, input, output }
}

/// A long text, and where its lines begin.
struct Printed {
    text: String,
    starts: Vec<usize>,
}

impl Printed {
    fn of(text: String) -> Self {
        let ends = text.match_indices('\n').map(|(end, _)| end + 1);
        let starts = std::iter::once(0).chain(ends).collect();
        Printed { text, starts }
    }

    fn part(&self, first: usize, lines: usize) -> &str {
        let at = |line: usize| self.starts.get(line).copied().unwrap_or(self.text.len());
        &self.text[at(first)..at(first + lines)]
    }
}

fn draws(number: u64) -> Draws {
    Draws::of(0, Purpose::SessionTurn, number)
}

static SOURCE: LazyLock<Printed> = LazyLock::new(|| Printed::of(code("rust", LINES / 5, &mut draws(0))));

static LISTING: LazyLock<Printed> = LazyLock::new(|| {
    let mut draws = draws(1);
    let lines = (0..LINES).map(|_| {
        let (path, size, hour) = (code::path(&mut draws), draws.below(90_000), draws.below(24));
        format!("-rw-r--r-- 1 ada ada {size:>6} Nov  2 {hour:02}:14 {path}\n")
    });
    Printed::of(lines.collect())
});

static TESTS: LazyLock<Printed> = LazyLock::new(|| {
    let mut draws = draws(2);
    let lines = (0..LINES).map(|_| {
        let path = code::path(&mut draws).replace('/', "::");
        if draws.percent(97) {
            format!("test {} ... \u{1b}[32mok\u{1b}[0m\n", path.trim_end_matches(".rs"))
        } else {
            format!("thread 'main' panicked at '{path}': \"left\" \\ right, {} != 0\n", draws.below(99))
        }
    });
    Printed::of(lines.collect())
});
