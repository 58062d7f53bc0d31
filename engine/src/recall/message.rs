//! What of a message is searched for: what somebody said, without what programs put around it.

use std::borrow::Cow;

use crate::keywords::significant_count;
use crate::snippet::both_ends;

/// Bytes of a message that are searched for: half of them from its beginning, half from its end.
const SEARCHED_BYTES: usize = 4 << 10;
/// A question of at most so many significant words is about what was asked before.
const MOST_WORDS_OF_FOLLOW_UP: usize = 1;
/// One that begins so may have more of them, if they name one thing.
const BEGINNINGS_OF_FOLLOW_UP: [&str; 4] = ["and ", "or ", "what about ", "how about "];
/// What a name in lower case comes after.
const BEFORE_NAMES: &str = "of for from with against about in on at to by into is are was were does did do has have can \
     could will would should when if than";
/// And if a word follows that it belongs to: "the osprey queue", but not "the schema of it".
const BEFORE_NAMES_OF_OWNERS: &str = "the our";
/// What begins with a capital letter in English and names nobody.
const DATES: &str = "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august \
     september october november december";
/// Of a longer message, so many bytes at each end are looked at.
const READ_BYTES: usize = 64 << 10;

/// What of a message is looked up.
#[derive(Debug, PartialEq, Eq)]
pub struct Searched {
    /// The text to search for.
    pub text: String,
    /// The names in the message, in lower case; if it has none, its abbreviations.
    pub names: Vec<String>,
    /// The significant words of the text.
    pub words: usize,
}

/// What to look up for a message; `None` if it says nothing: it has no words but those that every text has. A short question
/// continues the message before. `is_ordinary` tells whether a word in lower case is known to be no name.
pub fn searched(message: &str, before: &[String], is_ordinary: impl Fn(&str) -> bool) -> Option<Searched> {
    let text = said(message);
    let words = significant_count(&text);
    if words == 0 {
        return None;
    }
    let names = names(&text, is_ordinary);
    let continues = text.ends_with('?') && (words <= MOST_WORDS_OF_FOLLOW_UP || names_one_thing(&text));
    let (text, words) = match before.iter().rev().map(|text| said(text)).find(|text| text.ends_with('?')) {
        Some(before) if continues => {
            let text = format!("{before}\n{text}");
            let words = significant_count(&text);
            (text, words)
        }
        _ => (text, words),
    };
    Some(Searched { text, names, words })
}

/// What somebody said in a message.
fn said(message: &str) -> String {
    let text = both_ends(message, READ_BYTES).replace('\0', " ");
    let text = without_blocks(&text);
    both_ends(text.trim(), SEARCHED_BYTES).into_owned()
}

/// Whether a question asks what was asked before of something else: "and for the pricing engine?".
fn names_one_thing(text: &str) -> bool {
    let lower = text.to_lowercase();
    let significant: Vec<bool> = text.split_whitespace().map(|word| significant_count(word) > 0).collect();
    let first = significant.iter().position(|is| *is).unwrap_or_default();
    let last = significant.iter().rposition(|is| *is).unwrap_or_default();
    BEGINNINGS_OF_FOLLOW_UP.iter().any(|beginning| lower.starts_with(beginning))
        && significant[first..=last].iter().all(|is| *is)
}

/// The names in a text, in lower case: identifiers, what begins with a capital letter in the middle of a sentence, and what is
/// no ordinary word and stands where a name does. Without one of these, abbreviations: beside a name, they say what is asked
/// of it.
fn names(text: &str, is_ordinary: impl Fn(&str) -> bool) -> Vec<String> {
    let (mut names, mut abbreviations) = (Vec::new(), Vec::new());
    let (mut begins, mut before) = (true, String::new());
    let mut words = text.split_whitespace().peekable();
    while let Some(word) = words.next() {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        let bare = bare.strip_suffix("'s").or_else(|| bare.strip_suffix("’s")).unwrap_or(bare);
        let is_identifier = bare.chars().any(|c| "-_./:@#".contains(c));
        let is_capital = bare.starts_with(char::is_uppercase) && bare.chars().count() > 1;
        let name = bare.to_lowercase();
        let is_abbreviation =
            bare.chars().all(char::is_alphabetic) && bare.matches(char::is_uppercase).nth(1).is_some();
        let follows = |list: &str| list.split(' ').any(|other| other == before);
        let is_owner =
            word.ends_with(char::is_alphanumeric) && words.peek().is_some_and(|next| significant_count(next) > 0);
        let stands_as_name = follows(BEFORE_NAMES) || is_owner && follows(BEFORE_NAMES_OF_OWNERS);
        let may_be_name = !begins && has_form_of_name(bare) && stands_as_name;
        let is_date = DATES.split(' ').any(|date| date == name);
        if is_capital && !begins && is_abbreviation {
            abbreviations.push(name);
        } else if !is_date && (is_identifier || is_capital && !begins || may_be_name && !is_ordinary(bare)) {
            names.push(name);
        }
        begins = word.ends_with(['.', '?', '!', ':']);
        before = word.to_lowercase();
    }
    if names.is_empty() { abbreviations } else { names }
}

/// Whether a word is of small letters, of which there are enough, and has no ending of English grammar.
fn has_form_of_name(word: &str) -> bool {
    let is_plural = word.ends_with('s') && !word.ends_with("ss");
    let is_inflected = is_plural || ["ing", "ed", "ly"].iter().any(|ending| word.ends_with(ending));
    word.chars().all(char::is_lowercase) && word.len() > 2 && !is_inflected && significant_count(word) > 0
}

/// A text without the blocks that programs add to it: `<system-reminder>`, our own `<memorist-recall>`, and all others whose
/// name has a hyphen or an underscore, which no tag of HTML has. What is never closed goes to the end.
fn without_blocks(text: &str) -> Cow<'_, str> {
    let Some(first) = find_block(text) else { return Cow::Borrowed(text) };
    let (mut kept, mut rest, mut block) = (String::new(), text, Some(first));
    while let Some((at, name)) = block {
        kept.push_str(&rest[..at]);
        kept.push(' ');
        let close = format!("</{name}>");
        rest = rest[at..].split_once(&*close).map_or("", |(_, after)| after);
        block = find_block(rest);
    }
    kept.push_str(rest);
    Cow::Owned(kept)
}

/// Where the first such block begins, and its name.
fn find_block(text: &str) -> Option<(usize, &str)> {
    text.match_indices('<').find_map(|(at, _)| {
        let rest = &text[at + 1..];
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_')).unwrap_or(rest.len());
        let name = &rest[..end];
        let is_tag = rest[end..].starts_with(|c: char| c == '>' || c.is_ascii_whitespace());
        let is_of_program = name.starts_with(|c: char| c.is_ascii_lowercase()) && name.contains(['-', '_']);
        (is_tag && is_of_program).then_some((at, name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_of(message: &str) -> Option<String> {
        searched(message, &[], |_| true).map(|searched| searched.text)
    }

    #[test]
    fn what_says_nothing_is_not_searched_for() {
        for nothing in ["", " \n", "?!", "\0\0", "do that", "what is this for?", "and then?", "👍"] {
            assert_eq!(text_of(nothing), None, "{nothing:?}");
        }
        assert_eq!(text_of(" where is the harbour? ").as_deref(), Some("where is the harbour?"));
        assert_eq!(text_of("京都").as_deref(), Some("京都"));
    }

    #[test]
    fn blocks_of_programs_are_no_part_of_it() {
        let text = "where <memorist-recall note=\"x\">\n#1 harbour\n</memorist-recall>is <system-reminder>y</system-reminder> \
                    the <b>pier</b> of a < b_c and Vec<my_type>?";
        let found = said(text);
        assert_eq!(
            found.split_whitespace().collect::<Vec<_>>().join(" "),
            "where is the <b>pier</b> of a < b_c and Vec"
        );
        assert_eq!(text_of("<memorist-recall>the harbour is closed"), None);
        assert_eq!(text_of("<environment_context>pier</environment_context>"), None);
    }

    #[test]
    fn of_a_long_message_both_ends_are_searched_for() {
        let long = format!("harbour {} pier", "é<a-b ".repeat(2 << 20));
        let long = long.replace("<a-b ", "");
        let found = text_of(&long).unwrap();
        assert!(found.starts_with("harbour") && found.ends_with("pier") && found.len() <= SEARCHED_BYTES + 1);
    }

    #[test]
    fn names_are_identifiers_and_capitals_within_a_sentence() {
        let text = "Who is Priya's boss? Deploy billing-api to `src/main.rs`. I ask @oskar, then HTTP - a well known (Rust) one. Not on Friday, 3 May.";
        assert_eq!(names(text, |_| true), ["priya", "billing-api", "src/main.rs", "rust"]);
        assert_eq!(names("why is HTTP better than GraphQL?", |_| true), ["http", "graphql"]);
    }

    #[test]
    fn a_word_that_is_not_ordinary_is_a_name_where_names_stand() {
        let names = |text| names(text, |word| !matches!(word, "osprey" | "kestrel" | "gyp" | "ospreys" | "ospreying"));
        for text in ["which port does osprey have?", "the rate limit of osprey, please", "drain the osprey queue"] {
            assert_eq!(names(text), ["osprey"], "{text}");
        }
        assert_eq!(names("why does kestrel not use GraphQL?"), ["kestrel"]);
        for text in [
            "fix the osprey",
            "the osprey of it",
            "osprey is a bird",
            "it fails with a gyp error",
            "the ospreys are ospreying",
            "of osprey.\nWhat?",
        ] {
            assert_eq!(names(text).is_empty(), !text.starts_with("of"), "{text}");
        }
        assert!(super::names("which port does osprey have?", |_| true).is_empty());
    }

    #[test]
    fn a_short_question_continues_the_question_before() {
        let before = ["which port has kestrel?", "It has 4000."].map(str::to_owned);
        let searched = |message| searched(message, &before, |_| true).unwrap().text;
        assert_eq!(searched("And for the pricing engine?"), "which port has kestrel?\nAnd for the pricing engine?");
        assert_eq!(searched("the pricing engine?"), "the pricing engine?");
        assert_eq!(searched("and tidepool?"), "which port has kestrel?\nand tidepool?");
        assert_eq!(searched("and tidepool!"), "and tidepool!");
        assert_eq!(searched("and the harbour of tidepool?"), "and the harbour of tidepool?");
    }
}
