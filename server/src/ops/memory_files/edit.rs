//! Changes of a text, by the rules of Anthropic's SDK.

/// Most places of a text that are named.
const NAMED: usize = 20;
/// Characters of a text that an error repeats.
const REPEATED: usize = 500;

/// The text with `new` for `old`, which it must have once, and the line, from 0, at which that is.
///
/// # Errors
/// Says that it is not there, or where it is more than once. Places that overlap are several, too.
pub fn replaced(path: &str, text: &str, old: &str, new: &str) -> Result<(String, usize), String> {
    let mut places = places(text, old);
    let shown = shortened(old);
    let Some(at) = places.next() else {
        return Err(match old.is_empty() {
            true => "No replacement was performed, old_str is empty.".to_owned(),
            false => format!("No replacement was performed, old_str `{shown}` did not appear verbatim in {path}."),
        });
    };
    let more: Vec<usize> = places.take(NAMED).collect();
    let lines_before = |at: usize| text[..at].matches('\n').count();
    if more.is_empty() {
        return Ok((format!("{}{new}{}", &text[..at], &text[at + old.len()..]), lines_before(at)));
    }
    let named = [at].into_iter().chain(more.iter().copied().take(NAMED - 1));
    let mut lines: Vec<String> = named.map(|at| (lines_before(at) + 1).to_string()).collect();
    if more.len() == NAMED {
        lines.push("...".to_owned());
    }
    Err(format!(
        "No replacement was performed. Multiple occurrences of old_str `{shown}` in lines: {}. Please ensure it is unique",
        lines.join(", ")
    ))
}

/// The bytes at which `old` begins; none of an empty one.
fn places<'a>(text: &'a str, old: &'a str) -> impl Iterator<Item = usize> + 'a {
    let step = old.chars().next().map_or(0, char::len_utf8);
    let mut from = 0;
    std::iter::from_fn(move || {
        let at = from + text.get(from..)?.find(old).filter(|_| step > 0)?;
        from = at + step;
        Some(at)
    })
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(REPEATED) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// The text with further lines behind line `after`. It ends with a line break then.
///
/// # Errors
/// Says which lines there are.
pub fn inserted(text: &str, after: i64, new: &str) -> Result<String, String> {
    let mut lines: Vec<&str> = text.split('\n').collect();
    lines.pop_if(|last| last.is_empty());
    let count = lines.len();
    let at = usize::try_from(after).ok().filter(|at| *at <= count).ok_or_else(|| {
        format!("Invalid `insert_line` parameter: {after}. It should be within the range [0, {count}].")
    })?;
    lines.insert(at, new.trim_end_matches('\n'));
    let mut text = lines.join("\n");
    if !text.ends_with('\n') {
        text.push('\n');
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_replaced_where_it_is_once() {
        assert_eq!(replaced("p", "one\ntwo\n", "two", "2"), Ok(("one\n2\n".to_owned(), 1)));
        assert_eq!(replaced("p", "äöü", "ö", ""), Ok(("äü".to_owned(), 0)));
        for (text, old, why) in [
            ("aaa", "aa", "in lines: 1, 1. "),
            ("üüü", "üü", "in lines: 1, 1. "),
            ("a\nb\na\n", "a", "in lines: 1, 3. "),
            ("abc", "d", "`d` did not appear verbatim in p."),
            ("abc", "", "old_str is empty."),
            ("", "x", "did not appear"),
        ] {
            let refused = replaced("p", text, old, "x").unwrap_err();
            assert!(refused.contains(why), "{text:?} {old:?}: {refused}");
        }
    }

    #[test]
    fn errors_of_long_texts_are_short() {
        let many = replaced("p", &"ab\n".repeat(100_000), "ab", "x").unwrap_err();
        assert!(many.contains("lines: 1, 2, ") && many.contains(", 20, ..."), "{many}");
        assert!(replaced("p", "text", &"ü".repeat(500_000), "x").unwrap_err().len() < 2_000);
    }
}
