//! A text without what programs put around it.

/// Blocks that programs add to a text: what is between them was said by nobody.
const BLOCKS: [&str; 3] = ["memorist-recall", "system-reminder", "relevant-memories"];

/// `text` without the blocks of programs, trimmed; `None` if nothing is left. Line breaks stay.
pub fn clean(text: &str) -> Option<String> {
    let mut text = text.to_owned();
    for block in BLOCKS {
        while let Some(start) = text.find(&format!("<{block}")) {
            let close = format!("</{block}>");
            let end = text[start..].find(&close).map_or(text.len(), |end| start + end + close.len());
            text.replace_range(start..end, "");
        }
    }
    let trimmed = text.trim();
    (!trimmed.is_empty()).then(|| trimmed.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_programs_are_left_out() {
        let text = "why?\n<memorist-recall id=1>\nold\n</memorist-recall> <system-reminder>x</system-reminder>";
        assert_eq!(clean(text).as_deref(), Some("why?"));
        assert_eq!(clean("<memorist-recall>never closed"), None);
        assert_eq!(clean(" a\n\nb "), Some("a\n\nb".to_owned()));
    }
}
