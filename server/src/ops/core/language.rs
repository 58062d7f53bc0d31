//! Whether a query is in a language that the embedding model hardly knows.

use memorist_engine::{Engine, Result};
use whichlang::Lang;

/// Words below which a query says too little about its language: a name, a code.
const WORDS: usize = 4;
/// The same in characters, of scripts without spaces between words.
const CHARACTERS: usize = 4;
/// Words of English questions that the other languages do not have.
const ENGLISH: [&str; 20] = [
    "the", "of", "for", "with", "from", "and", "what", "when", "where", "which", "who", "how", "why", "does", "did",
    "is", "are", "my", "our", "we",
];
/// The default model, which was trained on English.
const ENGLISH_MODEL: &str = "all-MiniLM-L6-v2";

/// A note about a query that the default model understands badly.
pub fn note(engine: &Engine, query: &str) -> Result<Option<String>> {
    if looks_english(query) || !engine.index_stats()?.model.is_some_and(|model| model.starts_with(ENGLISH_MODEL)) {
        return Ok(None);
    }
    Ok(Some(
        "Note: the query does not look English, and the embedding model hardly knows another language: use the words that the memory \
         has, or names; a multilingual model (like paraphrase-multilingual-MiniLM-L12-v2) can be set up instead."
            .to_owned(),
    ))
}

fn looks_english(query: &str) -> bool {
    let words =
        || query.split_whitespace().filter(|word| !word.contains(|c: char| c.is_ascii_digit() || "_/:.-".contains(c)));
    let is_dense = |c: char| matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}');
    if query.chars().filter(|c| is_dense(*c)).count() >= CHARACTERS {
        return false;
    }
    let text = words().collect::<Vec<_>>().join(" ").to_lowercase();
    let has_english_word = text.split_whitespace().any(|word| ENGLISH.contains(&word));
    words().count() < WORDS || has_english_word || whichlang::detect_language(&text) == Lang::Eng
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line: a language, a memory, a question about it.
    const QUESTIONS: &str = include_str!("../../../../bench-data/src/agents/languages.tsv");

    #[test]
    fn questions_in_seven_languages_are_told_apart() {
        let (mut english, mut others) = ((0, 0), (0, 0));
        for line in QUESTIONS.lines() {
            let parts: Vec<&str> = line.split('\t').collect();
            let count = if parts[0] == "en" { &mut english } else { &mut others };
            count.0 += 1;
            count.1 += usize::from(looks_english(parts[2]));
        }
        eprintln!("of {} English questions {} look English, of {} others {}", english.0, english.1, others.0, others.1);
        assert!(english.1 >= 24 && others.1 <= 12, "{english:?} {others:?}");
    }

    #[test]
    fn a_name_or_a_code_is_of_no_language() {
        for query in [
            "deploy",
            "E4032",
            "oauth token",
            "Mia",
            "fix for 48.0000001",
            "src/main.rs line 12",
            "Jenkins",
            "email of Jonas Ek",
            "customs form for pets",
        ] {
            assert!(looks_english(query), "{query}");
        }
        assert!(!looks_english("認証はどうなっていますか") && !looks_english("Wann wurde Mia geboren worden sein"));
    }
}
