//! MDX: Markdown with JavaScript in it. The prose is kept; imports, exports and comments are left out.

use std::borrow::Cow;
use std::ops::Range;

use memchr::{memchr2, memmem};

use super::block::{lines, without};
use super::front_matter;

/// The marks around a comment.
const OPEN: &str = "{/*";
const CLOSE: &str = "*/}";
/// Words behind `export`.
const EXPORTED: [&str; 10] =
    ["const", "let", "var", "function", "async", "class", "default", "type", "interface", "enum"];

/// A text without its statements and comments. Its lines stay where they are, and code blocks as they are.
pub fn without_code(text: &str) -> Cow<'_, str> {
    let mut code = Code { text, found: Vec::new(), may_balance: true, may_close: true };
    let (mut fence, mut after_blank) = (None::<&str>, true);
    for (start, line) in lines(text, front_matter::read(text).end) {
        let end = start + line.len();
        let from = code.end().max(start);
        if from == end {
            continue;
        }
        fence = match fence {
            Some(open) if line.trim().starts_with(open) && line.trim().trim_start_matches(&open[..1]).is_empty() => {
                None
            }
            Some(open) => Some(open),
            None if from == start && after_blank && is_statement(line) => {
                code.statement(start);
                continue;
            }
            None => fence_of(line),
        };
        if fence.is_none() {
            code.comments(from, end);
        }
        after_blank = line.trim().is_empty();
    }
    without(text, &code.found)
}

/// The marks that open a code block: `~~~`.
fn fence_of(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let mark = line.chars().next().filter(|mark| "`~".contains(*mark))?;
    let length = line.len() - line.trim_start_matches(mark).len();
    (length >= 3).then(|| &line[..length])
}

/// Whether a line begins an import or an export, and is not a sentence that begins with this word.
fn is_statement(line: &str) -> bool {
    if let Some(rest) = line.strip_prefix("import") {
        let is_named = ["\"", "'"].iter().any(|quote| rest.contains(&format!(" from {quote}")));
        return is_named || rest.trim_start().starts_with(['{', '*', '"', '\'']);
    }
    let Some(rest) = line.strip_prefix("export ") else { return false };
    rest.starts_with(['{', '*']) || EXPORTED.iter().any(|word| Some(*word) == rest.split_whitespace().next())
}

/// The parts of a text that are code, in their order.
struct Code<'a> {
    text: &'a str,
    found: Vec<Range<usize>>,
    /// False once a statement was found without an end, or a comment: then none is looked for again.
    may_balance: bool,
    may_close: bool,
}

impl Code<'_> {
    fn end(&self) -> usize {
        self.found.last().map_or(0, |last| last.end)
    }

    /// Adds the statement that begins here: it ends before the first empty line that is in no bracket, or before the first
    /// empty line if a bracket is never closed.
    fn statement(&mut self, start: usize) {
        let (mut depth, mut template, mut first) = (0_isize, false, None);
        for (at, line) in lines(self.text, start) {
            if line.trim().is_empty() {
                first = first.or(Some(at));
                if !self.may_balance || (depth <= 0 && !template) {
                    return self.found.push(start..at);
                }
            }
            depth += brackets(line, &mut template);
        }
        self.may_balance &= depth <= 0 && !template;
        let end = first.filter(|_| !self.may_balance).unwrap_or(self.text.len());
        self.found.push(start..end);
    }

    /// Adds the comments that begin between two places of a line. A mark within backticks is an example.
    fn comments(&mut self, mut from: usize, end: usize) {
        let mut is_quoted = false;
        while let Some(at) = self.text.as_bytes().get(from..end).and_then(|rest| memchr2(b'`', b'{', rest)) {
            let at = from + at;
            let rest = &self.text[at..];
            is_quoted ^= rest.starts_with('`');
            from = at + 1;
            if self.may_close && !is_quoted && rest.starts_with(OPEN) {
                let close = memmem::find(&rest.as_bytes()[OPEN.len()..], CLOSE.as_bytes());
                self.may_close = close.is_some();
                if let Some(close) = close {
                    from = at + OPEN.len() + close + CLOSE.len();
                    self.found.push(at..from);
                }
            }
        }
    }
}

/// How many brackets a line opens more than it closes, beside those of its strings. `template` says whether it is in a text
/// between backticks.
fn brackets(line: &str, template: &mut bool) -> isize {
    let (mut depth, mut quote, mut is_escaped) = (0, None, false);
    for byte in line.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'`' if quote.is_none() => *template = !*template,
            b'"' | b'\'' if !*template && quote.is_none_or(|open| open == byte) => {
                quote = if quote.is_none() { Some(byte) } else { None };
            }
            b'(' | b'[' | b'{' if !*template && quote.is_none() => depth += 1,
            b')' | b']' | b'}' if !*template && quote.is_none() => depth -= 1,
            _ => {}
        }
    }
    depth
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 44.11: imports, exports and comments are left out, and the lines stay.
    #[test]
    fn code_is_left_out_and_the_lines_stay() {
        let text = "---\ntitle: A\n---\nimport Tabs from '@theme/Tabs'\nimport {\n  a,\n\n  b } from \"x\"\n\n\
                    export const meta = {\n  note: `(\n\n`,\n  say: \"it's {\",\n}\n\n# Title {/* inside */}\n\n\
                    {/* over\n\ntwo `lines` */} The prose <Tabs a={1}>stays</Tabs>.\nLast {props.word} `{/* shown */}`\n";
        let left = without_code(text);
        assert_eq!(
            left,
            "---\ntitle: A\n---\n\n\n\n\n\n\n\n\n\n\n\n\n\n# Title \n\n\n\n The prose <Tabs a={1}>stays</Tabs>.\n\
             Last {props.word} `{/* shown */}`\n"
        );
        assert_eq!(left.lines().count(), text.lines().count());
    }

    /// 44.11: what only looks like code is kept.
    #[test]
    fn prose_is_kept() {
        for text in [
            "import taxes are due.\nexport licenses, too.\n",
            "a\nimport x from 'y'\n",
            "```js\nimport x from 'y'\n{/* shown */}\n~~~\n\nexport const a = 1\n```\n",
            "A {/* that is never closed\n\nstays\n",
            "---\nimport: x\n",
            "",
        ] {
            assert_eq!(without_code(text), text);
        }
        assert_eq!(without_code("export const a = (\n\nprose\n"), "\n\nprose\n");
        assert_eq!(without_code("export const a = 'x'"), "");
        assert_eq!(
            without_code("~~~~\n~~~\nimport 'x'\n~~~~\nb\n\nimport 'x'\n"),
            "~~~~\n~~~\nimport 'x'\n~~~~\nb\n\n\n"
        );
    }
}
