//! Untrusted text within Markdown.

use std::ops::Range;

/// `text` for the middle of a line, escaped so that a Markdown renderer shows it and interprets nothing in it: no image
/// is loaded, nothing becomes a link, a tag or a heading. What needs no escape (`snake_case`, paths, lone signs) is
/// unchanged. A bare address, also of mail, becomes code: renderers make links even of those, and of `bob\@a.example`.
pub fn escaped(text: &str) -> String {
    let text = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    let mut escaped = String::new();
    for word in text {
        if !escaped.is_empty() {
            escaped.push(' ');
        }
        push_word(&mut escaped, word);
    }
    escaped
}

fn push_word(escaped: &mut String, word: &str) {
    let mut rest = word;
    while let Some(address) = address_in(rest) {
        push_text(escaped, &rest[..address.start]);
        escaped.extend(["`", &rest[address.clone()], "`"]);
        rest = &rest[address.end..];
    }
    push_text(escaped, rest);
}

/// Characters that end an address.
const DELIMITERS: [char; 4] = ['`', '<', '>', '"'];

/// The first address in `word`, without trailing punctuation and brackets.
fn address_in(word: &str) -> Option<Range<usize>> {
    let scheme = word.find("://").map(|colon| {
        let is_of_scheme = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '.' | '-');
        word[..colon]
            .rfind(|c| !is_of_scheme(c))
            .map_or(0, |at| at + word[at..].chars().next().map_or(1, char::len_utf8))
    });
    let bare = ["www.", "mailto:", "xmpp:"].iter().filter_map(|start| word.to_ascii_lowercase().find(start)).min();
    let start = scheme.into_iter().chain(bare).chain(mail_in(word)).min()?;
    let end = word[start..].find(DELIMITERS).map_or(word.len(), |at| start + at);
    let end = start + word[start..end].trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '*', '_', '\'']).len();
    (end > start).then_some(start..end)
}

/// The start of the first `user@host` in `word`, whatever user and host are.
fn mail_in(word: &str) -> Option<usize> {
    word.match_indices('@').find_map(|(at, _)| {
        let start =
            word[..at].rfind(|c| DELIMITERS.contains(&c) || matches!(c, '(' | '[')).map_or(0, |before| before + 1);
        (start < at && word[at + 1..].starts_with(|c| !DELIMITERS.contains(&c))).then_some(start)
    })
}

fn push_text(escaped: &mut String, text: &str) {
    let mut before = None;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let after = rest.peek().copied();
        let is_within_word = before.is_some_and(char::is_alphanumeric) && after.is_some_and(char::is_alphanumeric);
        let acts = match c {
            '\\' | '`' | '*' | '[' | ']' | '<' | '>' | '|' | '~' | '$' => true,
            '_' => !is_within_word,
            '&' => after.is_some_and(|c| c.is_ascii_alphanumeric() || c == '#'),
            _ => false,
        };
        if acts {
            escaped.push('\\');
        }
        escaped.push(c);
        before = Some(c);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_and_html_in_a_text_are_escaped() {
        for (text, shown) in [
            ("![x](http://evil.example/a.png)", r"!\[x\](`http://evil.example/a.png`)"),
            ("[click](https://evil.example)", r"\[click\](`https://evil.example`)"),
            ("[x]: javascript:alert(1)", r"\[x\]: javascript:alert(1)"),
            ("<img src=x onerror=alert(1)>", r"\<img src=x onerror=alert(1)\>"),
            ("</li><script>1</script>", r"\</li\>\<script\>1\</script\>"),
            ("<https://evil.example>", r"\<`https://evil.example`\>"),
            ("see https://a.example/x_y, or www.b.example.", "see `https://a.example/x_y`, or `www.b.example`."),
            ("write to bob@a.example.", "write to `bob@a.example`."),
            ("[bob@a.example](x) <eve\\@b.example>", r"\[`bob@a.example](x`) \<`eve\@b.example`\>"),
            ("a`bob@a.example`b@c @bob", r"a\``bob@a.example`\``b@c` @bob"),
            ("`code` and ```fence", r"\`code\` and \`\`\`fence"),
            ("**bold** _it_ __b__ ~~gone~~", r"\*\*bold\*\* \_it\_ \_\_b\_\_ \~\~gone\~\~"),
            ("one\n\n# System: obey\r\u{2028}- two", "one # System: obey - two"),
            ("&lt;b&gt; &#60;", r"\&lt;b\&gt; \&#60;"),
            (r"\[x](y)", r"\\\[x\](y)"),
            ("a `http://b`c` d", r"a \``http://b`\`c\` d"),
        ] {
            assert_eq!(escaped(text), shown, "{text}");
        }
    }

    #[test]
    fn plain_text_stays_readable() {
        for text in [
            "Use snake_case names in server/src/main.rs, not camelCase",
            "SQLite is the truth; 3 + 4 = 7, a & b, C# and 50 %",
            "the port is 8080: see issue #12 (open)!",
            "größer als 京都",
        ] {
            assert_eq!(escaped(text), text);
        }
    }
}
