//! Post-processing of a text: spaces and capitals after the grammar, and the rewording of near-duplicates.

use crate::draws::Draws;

/// Closes the gaps that empty choices leave, gives sentences their capital letter, and vowels their "an".
pub(crate) fn tidy(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    let mut sentence_starts = true;
    let mut words = text.split(' ').filter(|word| !word.is_empty()).peekable();
    while let Some(word) = words.next() {
        if word.chars().all(|character| matches!(character, ',' | '.' | ':' | '?')) {
            if !out.ends_with(word) {
                out.push_str(word);
            }
            sentence_starts = word.ends_with(['.', '?']);
            continue;
        }
        if !out.is_empty() {
            out.push(' ');
        }
        let next_has_vowel = words.peek().is_some_and(|next| next.starts_with(['a', 'e', 'i', 'o']));
        match word {
            "a" | "A" if next_has_vowel => {
                out.push_str(if sentence_starts || word == "A" { "An" } else { "an" });
            }
            _ => push_capitalised(&mut out, word, sentence_starts),
        }
        sentence_starts = word.ends_with(['.', '?']) && !word.ends_with("no.");
    }
    out
}

/// The words of `text`, with one space between them.
pub(crate) fn join_words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Names of code (`retry_count`, `src/main.rs`, `k8s`) keep their small letters.
fn push_capitalised(out: &mut String, word: &str, capitalise: bool) {
    let plain = word.trim_end_matches([',', '.', ':', '?']).chars().all(|c| c.is_alphabetic() || c == '\'' || c == '-');
    let mut characters = word.chars();
    match characters.next().filter(|_| capitalise && plain) {
        Some(first) => {
            out.extend(first.to_uppercase());
            out.push_str(characters.as_str());
        }
        None => out.push_str(word),
    }
}

/// Replaces some words by their synonyms.
pub(crate) fn reword(text: &str, synonyms: &[(String, String)], wording: &mut Draws) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for word in text.split(' ') {
        if !out.is_empty() {
            out.push(' ');
        }
        let bare = word.trim_end_matches([',', '.', ':', '?']);
        match synonyms.iter().find(|(known, _)| known == bare) {
            Some((_, synonym)) if wording.percent(75) => {
                out.push_str(synonym);
                out.push_str(&word[bare.len()..]);
            }
            _ => out.push_str(word),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draws::Purpose;

    #[test]
    fn texts_are_tidied() {
        assert_eq!(
            tidy("the pump  fails , always . a error. retry_count is  9"),
            "The pump fails, always. An error. retry_count is 9"
        );
        assert_eq!(tidy("ask a editor, no. 5 knows"), "Ask an editor, no. 5 knows");
    }

    #[test]
    fn synonyms_keep_punctuation() {
        let mut wording = Draws::of(1, Purpose::Wording, 0);
        let synonyms = [("large".to_owned(), "big".to_owned())];
        let reworded: Vec<_> = (0..40).map(|_| reword("it is large, enlarged", &synonyms, &mut wording)).collect();
        assert!(reworded.iter().any(|text| text == "it is big, enlarged"));
        assert!(reworded.iter().any(|text| text == "it is large, enlarged"));
    }
}
