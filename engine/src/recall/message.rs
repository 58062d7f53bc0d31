//! Makes the query of a message for automatic recall:
//!
//! - removes the blocks that programs added to the message, such as `<system-reminder>`;
//! - puts the question that a follow-up continues ("and tidepool?") before it;
//! - finds the names in the message: the relevance gate (`gate.rs`) favors the memories that have one of them.
//!
//! The *significant words* of a text are its different words without stop words and symbols.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use super::words::{
    self, ARTICLES, BEFORE_SUBJECTS, CLITICS, DATES, DETERMINERS, ENGLISH, GERMAN, LEADS, MORE_ORDINARY_WORDS,
    PLACE_PREPOSITIONS, PREPOSITIONS, REQUESTS, TELLING,
};
use crate::keywords::{codes, is_question, significant_count};
use crate::snippet::both_ends;

/// Maximum bytes of a message to read. Of a longer message, half is read from each end. Limits the time to remove
/// blocks.
const READ_BYTES: usize = 64 << 10;
/// Maximum bytes of the text without blocks to keep. Of a longer text, half is kept from each end, joined by a line
/// break.
const SEARCHED_BYTES: usize = 4 << 10;
/// A question of at most this many significant words is always a follow-up: "and tidepool?". `is_only_a_topic` finds
/// longer follow-ups.
const SHORT_QUESTION_WORDS: usize = 1;
/// A follow-up, and the question that it continues, must end with one of these, without a quote or a bracket after it:
/// the common, the CJK or the Arabic question mark.
const QUESTION_MARKS: [char; 3] = ['?', '？', '؟'];

/// The query of a message.
#[derive(Debug, PartialEq, Eq)]
pub struct MessageQuery {
    /// The text to search for: the message. For a follow-up that continues a question: this question (perhaps with a
    /// name replaced by "it"), a line break, and the message.
    pub text: String,
    /// The names in the message, in lower case (see `names`).
    pub names: Vec<String>,
    /// Whether a memory also has a name if it has it with another ending ("Klary" for "Klara"). True unless the message
    /// is recognized as English; many short English messages are not recognized.
    pub has_inflected_names: bool,
    /// The codes in the message as they are written: file paths, and words with a digit, `_`, `@`, `::` or camel case,
    /// such as `HRB-31` (`keywords/codes.rs` has the rules; `billing-api` is none). If few results have a code, the
    /// gate keeps only those. A code may be in `names`, too.
    pub codes: Vec<String>,
    /// Number of significant words in `text`.
    pub significant_words: usize,
    /// Whether the message ends with a question mark, perhaps before quotes or brackets, or like a Japanese question.
    pub is_question: bool,
}

/// Returns the query of a message; `None` if the message has no significant word.
///
/// `earlier` are the messages before it, of the user and of the agent, the oldest first. A follow-up continues the last
/// self-contained question among them. `is_ordinary` tells whether a lower-case word is in a vocabulary of ordinary
/// words, and so is no name.
pub fn message_query(message: &str, earlier: &[String], is_ordinary: impl Fn(&str) -> bool) -> Option<MessageQuery> {
    let message = searched_text(message);
    let significant_words = significant_count(&message);
    if significant_words == 0 {
        return None;
    }
    let query = MessageQuery {
        names: names(&message, &is_ordinary),
        has_inflected_names: !is_english(&message),
        codes: codes(&message).into_iter().map(str::to_owned).collect(),
        significant_words,
        is_question: is_question(&message) || is_japanese_question(&message),
        text: message,
    };
    if !is_follow_up(&query.text, !query.names.is_empty()) {
        return Some(query);
    }
    let mut earlier = earlier.iter().rev().map(|text| searched_text(text));
    let Some(question) = earlier.find(|text| is_self_contained_question(text, &is_ordinary)) else {
        return Some(query);
    };
    // A follow-up with a name ("and for ledger-sync?") has another topic than the question, unless the name is a place
    // ("and on db-3?"). A follow-up without a name ("and for the tests?") has the same topic.
    let is_about_another = !query.names.is_empty() && !asks_about_place(&query.text);
    let question = if is_about_another { with_it_as_topic(&question, &is_ordinary) } else { question };
    let text = format!("{question}\n{}", query.text);
    // Names and codes stay those of the message.
    Some(MessageQuery { significant_words: significant_count(&text), text, ..query })
}

/// The text of a message without the blocks of programs, cut to [`SEARCHED_BYTES`].
fn searched_text(message: &str) -> String {
    let text = both_ends(message, READ_BYTES).replace('\0', " ");
    let text = without_blocks(&text);
    both_ends(text.trim(), SEARCHED_BYTES).into_owned()
}

/// Whether a text ends like a Japanese question, which needs no question mark. Follow-ups, and the questions that they
/// continue, do need one: `is_follow_up` and `is_self_contained_question` do not call this.
fn is_japanese_question(text: &str) -> bool {
    text.trim_end_matches(['。', ' ']).ends_with('か')
}

/// Whether a text is a question that says too little by itself: a very short one, or "what about billing-api?".
/// `has_name` tells whether the text has a name (see `names`).
fn is_follow_up(text: &str, has_name: bool) -> bool {
    let is_short = || significant_count(text) <= SHORT_QUESTION_WORDS;
    text.ends_with(QUESTION_MARKS) && (is_short() || is_only_a_topic(text, has_name))
}

/// Whether a follow-up can continue a text: it is a question, and neither a follow-up itself nor a request.
fn is_self_contained_question(text: &str, is_ordinary: impl Fn(&str) -> bool) -> bool {
    text.ends_with(QUESTION_MARKS)
        && significant_count(text) > 0
        && !is_request(text)
        && !is_follow_up(text, !names(text, is_ordinary).is_empty())
}

/// Whether an English question consists of a topic, the thing that it asks about, and words that lead to it: "and for
/// the pricing engine?", "what about billing-api?". `has_name` is as in `is_follow_up`.
fn is_only_a_topic(text: &str, has_name: bool) -> bool {
    let mut lower_case = text.split_whitespace().map(str::to_lowercase);
    let first = lower_case.next().unwrap_or_default();
    let second = lower_case.next().unwrap_or_default();
    let begins_like_follow_up = match &*first {
        "and" | "or" => {
            // Any significant second word is accepted if the text has a name, as the name may come later: "and staging
            // billing-api?".
            let may_be_name = has_name && significant_count(&second) > 0;
            may_be_name || words::has(PREPOSITIONS, &second) || words::has(DETERMINERS, &second)
        }
        "what" | "how" => second == "about",
        _ => false,
    };
    begins_like_follow_up && is_one_phrase(text)
}

/// Whether no other word stands between the significant words of a text: "and the pricing engine?". "And the harbour of
/// tidepool?" is a new question, which continues none.
fn is_one_phrase(text: &str) -> bool {
    let is_significant: Vec<bool> = text.split_whitespace().map(|word| significant_count(word) > 0).collect();
    let first = is_significant.iter().position(|is| *is);
    let last = is_significant.iter().rposition(|is| *is);
    first.zip(last).is_some_and(|(first, last)| is_significant[first..=last].iter().all(|is| *is))
}

/// Whether the last sentence of a text, a question, asks somebody to do something or offers it: "shall I run the
/// tests?".
fn is_request(text: &str) -> bool {
    let words = last_sentence(text).into_iter().map(|word| bare(word).to_lowercase());
    // "please", "ok" and other words of `LEADS` come before the request. Four words suffice for a request and a word of
    // `TELLING`.
    let words: Vec<String> = words.skip_while(|word| word.is_empty() || words::has(LEADS, word)).take(4).collect();
    // Each of `REQUESTS` ends with a space, so that it matches only whole words.
    let beginning = words.join(" ") + " ";
    let begins_like_request = REQUESTS.iter().any(|request| beginning.starts_with(request));
    // "Can you tell me which port it has?" is no request: it asks for knowledge.
    begins_like_request && !words.iter().any(|word| words::has(TELLING, word))
}

/// The words of the last sentence in the last line of a text.
fn last_sentence(text: &str) -> Vec<&str> {
    let line: Vec<&str> = text.lines().next_back().unwrap_or_default().split_whitespace().collect();
    // The last word ends the sentence itself.
    let all_but_last = &line[..line.len().saturating_sub(1)];
    let start = all_but_last.iter().rposition(|word| ends_sentence(word)).map_or(0, |end| end + 1);
    line[start..].to_vec()
}

fn ends_sentence(word: &str) -> bool {
    word.ends_with(['.', '!', '?', ':'])
}

/// Whether a follow-up asks about the same topic in another place: "and on staging?", "what about in Berlin?".
fn asks_about_place(text: &str) -> bool {
    // The second word, or the third if the second is "about".
    let mut words = text.split_whitespace().map(str::to_lowercase).skip(1).skip_while(|word| word == "about");
    words.next().is_some_and(|word| words::has(PLACE_PREPOSITIONS, &word))
}

/// Replaces the names that are the topic of a question by "it": "which port does billing-api use on db-2?" becomes
/// "which port does it use on db-2?". Line breaks become spaces.
///
/// A name is a topic after one of `BEFORE_SUBJECTS`, or after one of `PREPOSITIONS` that is not in
/// `PLACE_PREPOSITIONS`. If there is no such name, the last name is the topic. Other names stay.
fn with_it_as_topic(question: &str, is_ordinary: impl Fn(&str) -> bool) -> String {
    let names = names(question, is_ordinary);
    let words: Vec<(&str, String)> =
        question.split_whitespace().map(|word| (word, bare(word).to_lowercase())).collect();
    let is_name = |word: &&String| names.contains(word);
    let precedes_topic = |word: &str| {
        !words::has(PLACE_PREPOSITIONS, word) && (words::has(PREPOSITIONS, word) || words::has(BEFORE_SUBJECTS, word))
    };
    let candidates = words.windows(2).filter(|pair| precedes_topic(&pair[0].1)).map(|pair| &pair[1].1);
    let mut topics: Vec<&String> = candidates.filter(is_name).collect();
    if topics.is_empty() {
        // The last name: "who works on README.md or billing-api?" is about billing-api.
        topics.extend(words.iter().rev().map(|(_, word)| word).find(is_name));
    }
    let replaced = |(word, lower_case): &(&str, String)| match topics.contains(&lower_case) {
        true => word.replace(bare(word), "it"),
        false => (*word).to_owned(),
    };
    words.iter().map(replaced).collect::<Vec<_>>().join(" ")
}

/// A word without the punctuation around it and without `'s`.
fn bare(word: &str) -> &str {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric());
    word.strip_suffix("'s").or_else(|| word.strip_suffix("’s")).unwrap_or(word)
}

/// The names in a text, in lower case. Returns all words of one group: the first of these that is not empty.
///
/// 1. Identifiers, which have a mark inside (`billing-api`); words of which only the first letter is a capital ("Priya");
///    and in an English text at most one lower-case word, the topic.
/// 2. Words with several capitals ("GraphQL").
/// 3. Abbreviations ("HTTP").
///
/// Groups 2 and 3 come last because they mostly say what is asked about a topic: "why does Priya not use GraphQL?".
///
/// A lower-case word can be the topic if `can_be_lower_case_name` accepts it and `is_ordinary` does not. The topic is
/// the last such word directly after one of `PREPOSITIONS` ("the limit of osprey"). If there is none, it is the first
/// such word directly after one of `BEFORE_SUBJECTS` ("does osprey have"), or between one of `DETERMINERS` and a
/// significant word ("the osprey queue").
///
/// The first word of a sentence is a name only if it is an identifier. English days and months are no names. Nor are
/// capitalized words of a German text after an article or an adjective, which are probably nouns.
fn names(text: &str, is_ordinary: impl Fn(&str) -> bool) -> Vec<String> {
    let (mut names, mut several_capitals, mut abbreviations) = (Vec::new(), Vec::new(), Vec::new());
    let (mut last_after_preposition, mut first_elsewhere) = (None, None);
    let (is_english, is_german) = (is_english(text), is_german(text));
    let (mut begins_sentence, mut previous) = (true, String::new());
    let mut words = text.split_whitespace().peekable();
    while let Some(word) = words.next() {
        let bare = bare(word);
        let lower_case = bare.to_lowercase();
        // A mark counts only inside of a word: "@oskar" and "#12" are no identifiers.
        let is_identifier = bare.chars().any(|c| "-_./:@#".contains(c)) && !is_ordinary_compound(bare, is_german);
        let is_capitalized = bare.starts_with(char::is_uppercase) && bare.chars().count() > 1;
        let is_lower_case_name =
            || is_english && !begins_sentence && can_be_lower_case_name(bare) && !is_ordinary(bare);
        // Between one of `DETERMINERS` and a significant word, without punctuation before that.
        let mut is_in_noun_phrase = || {
            let is_followed = words.peek().is_some_and(|next| significant_count(next) > 0);
            word.ends_with(char::is_alphanumeric) && is_followed && words::has(DETERMINERS, &previous)
        };
        if words::has(DATES, &lower_case) {
            // Days and months are no names, though English writes them with a capital letter.
        } else if is_identifier {
            names.push(lower_case.clone());
        } else if is_capitalized && !begins_sentence && !(is_german && precedes_german_noun(&previous)) {
            let group = if is_abbreviation(bare) {
                &mut abbreviations
            } else if bare.matches(char::is_uppercase).count() > 1 {
                &mut several_capitals
            } else {
                &mut names
            };
            group.push(lower_case.clone());
        } else if words::has(PREPOSITIONS, &previous) {
            if is_lower_case_name() {
                last_after_preposition = Some(lower_case.clone());
            }
        } else if first_elsewhere.is_none()
            && (words::has(BEFORE_SUBJECTS, &previous) || is_in_noun_phrase())
            && is_lower_case_name()
        {
            first_elsewhere = Some(lower_case.clone());
        }
        begins_sentence = ends_sentence(word);
        previous = lower_case;
    }
    names.extend(last_after_preposition.or(first_elsewhere));
    [names, several_capitals, abbreviations].into_iter().find(|group| !group.is_empty()).unwrap_or_default()
}

/// Whether a text is English. In other languages, names may have other endings, and no lower-case word is taken for a
/// name: an ordinary word may stand where English has a name ("was kostet der Server?").
fn is_english(text: &str) -> bool {
    is_in_language_of(text, ENGLISH)
}

/// Whether a text is German, where every noun has a capital letter.
fn is_german(text: &str) -> bool {
    is_in_language_of(text, GERMAN)
}

/// Whether a text is in the language of a list of words that other languages hardly have: at least one word in ten is
/// in it.
fn is_in_language_of(text: &str, list: &str) -> bool {
    let count = text.split_whitespace().count();
    let words = text.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase());
    10 * words.filter(|word| words::has(list, word)).count() >= count
}

/// Whether the word after a German word is probably a noun, and no name: after an article of `ARTICLES`, or a word with
/// an ending that adjectives and the other articles have.
fn precedes_german_noun(word: &str) -> bool {
    let endings = ["e", "en", "er", "es", "em"];
    words::has(ARTICLES, word) || endings.iter().any(|ending| word.ends_with(ending))
}

/// Whether a word of letters and hyphens is an ordinary compound, and so no identifier: it has a one-letter prefix
/// ("e-mail"), ends with a pronoun ("est-elle"), or begins with a capital letter in a German text. "billing-api" is an
/// identifier, and so is "read-only".
fn is_ordinary_compound(word: &str, is_german: bool) -> bool {
    let has_only_letters = word.chars().all(|c| c.is_alphabetic() || c == '-');
    let has_one_letter_prefix = word.chars().nth(1) == Some('-');
    let last = word.rsplit('-').next().unwrap_or_default().to_lowercase();
    let is_noun = is_german && word.starts_with(char::is_uppercase);
    has_only_letters && (has_one_letter_prefix || is_noun || words::has(CLITICS, &last))
}

/// Whether a word consists of capitals and digits, perhaps with the "s" of a plural: "HTTP", "S3", "APIs".
fn is_abbreviation(word: &str) -> bool {
    word.strip_suffix('s').unwrap_or(word).chars().all(|c| c.is_uppercase() || c.is_ascii_digit())
}

/// Whether a word is in lower case, has at least three bytes and no ending of an English plural, verb or adverb, and is
/// neither a stop word nor in `MORE_ORDINARY_WORDS`. The caller also asks its `is_ordinary`.
fn can_be_lower_case_name(word: &str) -> bool {
    let is_plural = word.ends_with('s') && !word.ends_with("ss");
    let has_ending = is_plural || ["ing", "ed", "ly"].iter().any(|ending| word.ends_with(ending));
    let is_lower_case = word.chars().all(char::is_lowercase) && word.len() > 2;
    is_lower_case && !has_ending && !words::has(MORE_ORDINARY_WORDS, word) && significant_count(word) > 0
}

/// A text without the blocks that programs add to it: `<system-reminder>`, our own `<memorist-recall>`, and all others
/// whose tag begins with a lower-case ASCII letter and has a hyphen or an underscore, which no standard HTML tag has. A
/// block without a closing tag goes to the end of the text. But an opening tag directly after a letter, a digit, `_` or
/// `:` begins no block if it has no closing tag: it is a type in code, as in `Vec<my_type>`.
fn without_blocks(text: &str) -> Cow<'_, str> {
    let last_closings = last_closings(text);
    let (mut kept, mut from) = (String::new(), 0);
    while let Some(block) = find_block(text, from, &last_closings) {
        kept.push_str(&text[from..block.start]);
        kept.push(' ');
        from = block.end;
    }
    if from == 0 {
        return Cow::Borrowed(text);
    }
    kept.push_str(&text[from..]);
    Cow::Owned(kept)
}

/// The first block of a program that begins at or after `from`.
fn find_block(text: &str, from: usize, last_closings: &HashMap<&str, usize>) -> Option<Range<usize>> {
    text[from..].match_indices('<').find_map(|(at, _)| {
        let start = from + at;
        let (tag, after) = split_tag(&text[start + 1..]);
        let ends_name = after.starts_with(|c: char| c == '>' || c.is_ascii_whitespace());
        let is_of_program = tag.starts_with(|c: char| c.is_ascii_lowercase()) && tag.contains(['-', '_']);
        if !ends_name || !is_of_program {
            return None;
        }
        // The map tells only whether a closing tag follows. The block ends at the first one.
        if last_closings.get(tag).is_some_and(|closing| *closing > start) {
            let closing = format!("</{tag}>");
            return text[start..].find(&closing).map(|at| start..start + at + closing.len());
        }
        let is_type = text[..start].ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | ':'));
        (!is_type).then_some(start..text.len())
    })
}

/// The start of the last closing tag of each name. With it, opening tags without a closing tag do not each cost a
/// search to the end of the text.
fn last_closings(text: &str) -> HashMap<&str, usize> {
    let closings = text.match_indices("</").map(|(start, _)| (split_tag(&text[start + 2..]), start));
    closings.filter(|((_, after), _)| after.starts_with('>')).map(|((tag, _), start)| (tag, start)).collect()
}

/// The name of the tag that a text begins with, and the text after the name.
fn split_tag(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_')).unwrap_or(text.len());
    text.split_at(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_of(message: &str) -> Option<String> {
        message_query(message, &[], |_| true).map(|query| query.text)
    }

    #[test]
    fn a_message_without_significant_words_is_not_searched_for() {
        for nothing in ["", " \n", "?!", "\0\0", "do that", "what is this for?", "and then?", "👍"] {
            assert_eq!(text_of(nothing), None, "{nothing:?}");
        }
        assert_eq!(text_of(" where is the harbour? ").as_deref(), Some("where is the harbour?"));
        assert_eq!(text_of("京都").as_deref(), Some("京都"));
    }

    #[test]
    fn questions_are_recognized_by_their_end() {
        let is_question = |text| message_query(text, &[], |_| true).unwrap().is_question;
        for question in ["where is the harbour?", "港はどこですか。", "港はどこですか", "港口在哪里？"]
        {
            assert!(is_question(question), "{question}");
        }
        for other in ["go to the harbour", "港へ行きます。"] {
            assert!(!is_question(other), "{other}");
        }
    }

    #[test]
    fn blocks_of_programs_are_removed() {
        let text = "where <memorist-recall note=\"x\">\n#1 harbour\n</memorist-recall>is <system-reminder>y</system-reminder> \
                    the <b>pier</b> of a < b_c and Vec<my_type>?";
        let found = searched_text(text);
        assert_eq!(
            found.split_whitespace().collect::<Vec<_>>().join(" "),
            "where is the <b>pier</b> of a < b_c and Vec<my_type>?"
        );
        assert_eq!(text_of("<memorist-recall>the harbour is closed"), None);
        assert_eq!(text_of("<environment_context>pier</environment_context>"), None);
        assert_eq!(searched_text("the pier<my_note>x</my_note> <my_note>y"), "the pier");
    }

    #[test]
    fn a_generic_type_in_code_is_no_block() {
        for text in
            ["why is Vec<my_type> slow in billing-api?", "does iter::<my_type>() copy?", "</my_type> Vec<my_type> <b>"]
        {
            assert_eq!(searched_text(text), text);
        }
    }

    #[test]
    fn both_ends_of_a_long_message_are_searched_for() {
        let long = format!("harbour {} pier", "é".repeat(2 << 20));
        let found = text_of(&long).unwrap();
        assert!(found.starts_with("harbour") && found.ends_with("pier") && found.len() <= SEARCHED_BYTES + 1);
    }

    #[test]
    fn names_are_identifiers_and_capitals_within_a_sentence() {
        let text = "Who is Priya's boss? Deploy billing-api to `src/main.rs`. I ask @oskar, then HTTP - a well known (Rust) one. Not on Friday, 3 May.";
        assert_eq!(names(text, |_| true), ["priya", "billing-api", "src/main.rs", "rust"]);
        assert_eq!(names("why are HTTP and S3 better than APIs?", |_| true), ["http", "s3", "apis"]);
        assert_eq!(names("is it McAllister of OpenAI who asks for HTTP?", |_| true), ["mcallister", "openai"]);
        assert_eq!(names("why does Priya not use GraphQL?", |_| true), ["priya"]);
    }

    #[test]
    fn a_word_that_is_not_ordinary_is_a_name_where_names_stand() {
        let names = |text| names(text, |word| !matches!(word, "osprey" | "kestrel" | "gyp" | "ospreys" | "ospreying"));
        for text in ["which port does osprey have?", "the rate limit of osprey, please", "drain the osprey queue"] {
            assert_eq!(names(text), ["osprey"], "{text}");
        }
        assert_eq!(names("why does kestrel not use GraphQL?"), ["kestrel"]);
        assert_eq!(names("the ports (of osprey, for one)."), ["osprey"]);
        assert_eq!(names("what is the rate limit “of osprey”?"), ["osprey"]);
        for text in [
            "fix the osprey", "the osprey of it", "osprey is a bird", "it fails with a gyp error",
            "the ospreys are ospreying",
        ] {
            assert!(names(text).is_empty(), "{text}");
        }
        assert!(super::names("which port does osprey have?", |_| true).is_empty());
    }

    #[test]
    fn a_topic_is_a_name_and_a_technical_word_is_not() {
        let names = |text| {
            names(text, |word| !matches!(word, "osprey" | "kestrel" | "zorble" | "config" | "retry" | "timeout"))
        };
        assert_eq!(names("what is the zorble limit of osprey?"), ["osprey"]);
        assert_eq!(names("why is zorble of osprey in kestrel?"), ["kestrel"]);
        assert_eq!(names("when does osprey have zorble?"), ["osprey"]);
        assert_eq!(names("is the timeout value for osprey right?"), ["osprey"]);
        assert_eq!(names("where is the config file of osprey?"), ["osprey"]);
        assert!(names("what is the policy for retry?").is_empty());
    }

    #[test]
    fn in_another_language_no_word_in_lower_case_is_a_name() {
        let names = |text| names(text, |_| false);
        for text in
            ["was kostet der Server?", "wanneer was kestrel in de lucht?", "combien de ports has on kestrel a nantes?"]
        {
            assert!(!names(text).iter().any(|name| matches!(&**name, "kostet" | "kestrel")), "{text}");
        }
        assert_eq!(names("when was kestrel down?"), ["kestrel"]);
    }

    #[test]
    fn a_short_question_continues_the_question_before() {
        let before = ["which port has kestrel?", "It has 4000."].map(str::to_owned);
        let searched = |message| message_query(message, &before, |_| true).unwrap().text;
        assert_eq!(searched("And for the pricing engine?"), "which port has kestrel?\nAnd for the pricing engine?");
        assert_eq!(searched("the pricing engine?"), "the pricing engine?");
        assert_eq!(searched("and tidepool?"), "which port has kestrel?\nand tidepool?");
        assert_eq!(searched("and tidepool!"), "and tidepool!");
        assert_eq!(searched("And the pricing engine?"), "which port has kestrel?\nAnd the pricing engine?");
        assert_eq!(searched("or staging of billing-api?"), "or staging of billing-api?");
        assert_eq!(searched("What about billing-api today?"), "which port has kestrel?\nWhat about billing-api today?");
        for another in ["And is the build red?", "And is billing-api red?"] {
            assert_eq!(searched(another), another);
        }
        assert_eq!(searched("and the harbour of tidepool?"), "and the harbour of tidepool?");
    }

    #[test]
    fn a_follow_up_asks_the_same_of_another_thing() {
        let query = |before: &str, message: &str| message_query(message, &[before.to_owned()], |_| true).unwrap();
        let follow_up = "and for ledger-sync?";
        // Each question, and how the query has it. The `'s` of a name stays.
        for (before, with_it) in [
            ("Which port does Billing-api's proxy use on db-2?", "Which port does it's proxy use on db-2?"),
            ("what is the read-only timeout of billing-api?", "what is the read-only timeout of it?"),
            ("which Postgres version does billing-api use?", "which Postgres version does it use?"),
            ("where is the Grafana page of `billing-api`?", "where is the Grafana page of `it`?"),
            ("who works on README.md or billing-api?", "who works on README.md or it?"),
            ("which port do we use?", "which port do we use?"),
        ] {
            let found = query(before, follow_up);
            assert_eq!(found.text, format!("{with_it}\n{follow_up}"));
            assert_eq!(found.names, ["ledger-sync"]);
        }
        let before = "which port does billing-api use?";
        for same in ["and on db-3?", "what about on db-3?", "and for the tests?"] {
            assert_eq!(query(before, same).text, format!("{before}\n{same}"));
        }
    }

    #[test]
    fn a_follow_up_may_end_with_another_question_mark() {
        let before = ["which port does billing-api use？".to_owned()];
        let query = |message| message_query(message, &before, |_| true).unwrap().text;
        assert_eq!(query("and for ledger-sync？"), "which port does it use？\nand for ledger-sync？");
        assert_eq!(query("why kestrel؟"), "which port does billing-api use？\nwhy kestrel؟");
    }

    fn continued(before: &[&str]) -> String {
        let before: Vec<String> = before.iter().map(|text| (*text).to_owned()).collect();
        let text = message_query("and for tidepool?", &before, |_| true).unwrap().text;
        text.strip_suffix("\nand for tidepool?").unwrap_or("nothing").to_owned()
    }

    #[test]
    fn no_request_or_offer_is_continued() {
        let asked = "which port do we use?";
        for other in [
            "Can you look at that module?",
            "Please, could you fix billing-api?",
            "I see two places. Shall I change `src/main.rs`?",
            "OK - should I go on?",
            "It is done\nShall we go on?",
            "Want me to run the tests of billing-api?",
            "can you have a look at the module?",
            "do you want that?",
        ] {
            assert_eq!(continued(&[asked, other]), asked, "{other}");
        }
        for question in [
            "can you tell me which port we have?",
            "Could you please remember what the limit is?",
            "do we use tabs?",
            "do you know the limit?",
        ] {
            assert_eq!(continued(&[asked, question]), question);
        }
        assert_eq!(continued(&["Shall I go on?"]), "nothing");
    }

    #[test]
    fn a_chain_of_follow_ups_continues_its_first_question() {
        let asked = "which port does billing-api use?";
        assert_eq!(continued(&[asked, "and for mailroom?", "really?", "why?"]), asked);
        assert_eq!(continued(&[asked, "And on db-2?", "and for ledger-sync?", "It has 4107."]), asked);
        assert_eq!(continued(&["and for mailroom?"]), "nothing");
    }
}
