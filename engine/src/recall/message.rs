//! The query of a message: the text that somebody wrote, without what programs put around it.

use std::borrow::Cow;

use super::words::{
    self, ARTICLES, CLITICS, DATES, ENGLISH, GERMAN, LEADS, ORDINARY, OWNERS, PLACES, PREPOSITIONS, REQUESTS, TELLING,
    VERBS,
};
use crate::keywords::{codes, is_question, significant_count};
use crate::snippet::both_ends;

/// Bytes of a message that are searched for: half of them from its beginning, half from its end.
const SEARCHED_BYTES: usize = 4 << 10;
/// Number of significant words up to which a question is about the one before.
const MOST_WORDS_OF_FOLLOW_UP: usize = 1;
/// Bytes of a longer message that are looked at: half of them from its beginning, half from its end.
const READ_BYTES: usize = 64 << 10;

/// The query of a message.
#[derive(Debug, PartialEq, Eq)]
pub struct MessageQuery {
    /// The text to search for.
    pub text: String,
    /// The names in the message, in lower case; if it has none, its words with several capitals.
    pub names: Vec<String>,
    /// Whether names may have other endings than in the message, as in many languages; not in English.
    pub are_inflected: bool,
    /// The codes in the message, as they are written.
    pub codes: Vec<String>,
    /// The significant words of the text.
    pub words: usize,
    /// Whether the message is a question.
    pub is_question: bool,
}

/// Returns the query of a message; `None` if all its words are such as every text has. A short question continues the last
/// question in `before` that does not continue another itself: the query asks the same of the thing that the new one names.
/// `is_ordinary` tells whether a word in lower case is known to be no name.
pub fn searched(message: &str, before: &[String], is_ordinary: impl Fn(&str) -> bool) -> Option<MessageQuery> {
    let text = said(message);
    let words = significant_count(&text);
    if words == 0 {
        return None;
    }
    let names = names(&text, &is_ordinary);
    let codes: Vec<String> = codes(&text).into_iter().map(str::to_owned).collect();
    let (are_inflected, is_question) = (!is_english(&text), is_question(&text) || is_japanese_question(&text));
    let continued = |text: &String| {
        text.ends_with('?')
            && significant_count(text) > 0
            && !is_request(text)
            && !continues(text, !self::names(text, &is_ordinary).is_empty())
    };
    let before = match continues(&text, !names.is_empty()) {
        true => before.iter().rev().map(|text| said(text)).find(continued),
        false => None,
    };
    let Some(before) = before else {
        return Some(MessageQuery { text, names, are_inflected, codes, words, is_question });
    };
    let before = if names.is_empty() || asks_for_place(&text) { before } else { of_another(&before, &is_ordinary) };
    let text = format!("{before}\n{text}");
    let words = significant_count(&text);
    Some(MessageQuery { text, names, are_inflected, codes, words, is_question })
}

/// Whether a text ends as a question in Japanese, which needs no mark.
fn is_japanese_question(text: &str) -> bool {
    text.trim_end_matches(['。', ' ']).ends_with('か')
}

/// Whether a message is a question that says little without the one before it.
fn continues(text: &str, has_name: bool) -> bool {
    text.ends_with('?') && (significant_count(text) <= MOST_WORDS_OF_FOLLOW_UP || names_one_thing(text, has_name))
}

/// The text that somebody wrote in a message.
fn said(message: &str) -> String {
    let text = both_ends(message, READ_BYTES).replace('\0', " ");
    let text = without_blocks(&text);
    both_ends(text.trim(), SEARCHED_BYTES).into_owned()
}

/// Whether a question asks what was asked before of something else: "and for the pricing engine?", "what about billing-api?".
fn names_one_thing(text: &str, has_name: bool) -> bool {
    let mut beginning = text.split_whitespace().map(str::to_lowercase);
    let first = beginning.next().unwrap_or_default();
    let second = beginning.next().unwrap_or_default();
    let begins = match &*first {
        "and" | "or" => {
            has_name && significant_count(&second) > 0
                || [PREPOSITIONS, OWNERS].iter().any(|list| words::has(list, &second))
        }
        "what" | "how" => second == "about",
        _ => false,
    };
    begins && {
        let significant: Vec<bool> = text.split_whitespace().map(|word| significant_count(word) > 0).collect();
        let first = significant.iter().position(|is| *is).unwrap_or_default();
        let last = significant.iter().rposition(|is| *is).unwrap_or_default();
        significant[first..=last].iter().all(|is| *is)
    }
}

/// Whether a text with a question mark asks somebody to do something, or offers it: "shall I run the tests?".
fn is_request(text: &str) -> bool {
    let line: Vec<&str> = text.lines().next_back().unwrap_or_default().split_whitespace().collect();
    let all_but_last = &line[..line.len().saturating_sub(1)];
    let start = all_but_last.iter().rposition(|word| word.ends_with(['.', '!', '?', ':'])).map_or(0, |end| end + 1);
    let words = line[start..].iter().map(|word| bare(word).to_lowercase());
    let words: Vec<String> = words.skip_while(|word| word.is_empty() || words::has(LEADS, word)).take(4).collect();
    let beginning = words.join(" ") + " ";
    // "Can you tell me which port it has?" is a question.
    REQUESTS.iter().any(|request| beginning.starts_with(request)) && !words.iter().any(|word| words::has(TELLING, word))
}

/// Whether a question that continues another asks for a place of the same: "and on staging?".
fn asks_for_place(text: &str) -> bool {
    let mut words = text.split_whitespace().map(str::to_lowercase).skip(1).skip_while(|word| word == "about");
    words.next().is_some_and(|word| words::has(PLACES, &word))
}

/// A question about a thing as one about another: "it" stands for the names of what the question is about, and the names in
/// what is asked of it stay.
fn of_another(question: &str, is_ordinary: impl Fn(&str) -> bool) -> String {
    let names = names(question, is_ordinary);
    let words: Vec<(&str, String)> =
        question.split_whitespace().map(|word| (word, bare(word).to_lowercase())).collect();
    let is_name = |word: &&String| names.contains(word);
    let leads_to_subject =
        |word: &str| !words::has(PLACES, word) && (words::has(PREPOSITIONS, word) || words::has(VERBS, word));
    let after = words.windows(2).filter(|pair| leads_to_subject(&pair[0].1)).map(|pair| &pair[1].1);
    let mut subjects: Vec<&String> = after.filter(is_name).collect();
    if subjects.is_empty() {
        subjects.extend(words.iter().rev().map(|(_, word)| word).find(is_name));
    }
    let other = |(word, name): &(&str, String)| match subjects.contains(&name) {
        true => word.replace(bare(word), "it"),
        false => (*word).to_owned(),
    };
    words.iter().map(other).collect::<Vec<_>>().join(" ")
}

/// A word without the marks around it, and not in the genitive.
fn bare(word: &str) -> &str {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric());
    word.strip_suffix("'s").or_else(|| word.strip_suffix("’s")).unwrap_or(word)
}

/// The names in a text, in lower case: identifiers, words with a capital letter in the middle of a sentence, and, among the
/// words that are not ordinary and stand where a name does, the one that is asked about. Without any of these, words with
/// several capitals ("GraphQL"), and without these, abbreviations ("HTTP"): beside a name, they say what is asked of it.
fn names(text: &str, is_ordinary: impl Fn(&str) -> bool) -> Vec<String> {
    let (mut names, mut in_camel_case, mut abbreviations) = (Vec::new(), Vec::new(), Vec::new());
    let (mut asked_about, mut doing) = (None, None);
    let (is_english, is_german) = (is_english(text), is_german(text));
    let (mut begins, mut before) = (true, String::new());
    let mut words = text.split_whitespace().peekable();
    while let Some(word) = words.next() {
        let bare = bare(word);
        let is_identifier = bare.chars().any(|c| "-_./:@#".contains(c)) && !is_joined(bare, is_german);
        let is_capital = bare.starts_with(char::is_uppercase) && bare.chars().count() > 1;
        let name = bare.to_lowercase();
        let mut is_owner = || {
            let is_followed = words.peek().is_some_and(|next| significant_count(next) > 0);
            word.ends_with(char::is_alphanumeric) && is_followed && words::has(OWNERS, &before)
        };
        let may_be_name = |word| is_english && !begins && has_form_of_name(word) && !is_ordinary(word);
        if words::has(DATES, &name) {
            // Capitalised, and names nobody.
        } else if is_identifier {
            names.push(name.clone());
        } else if is_capital && !begins && !(is_german && is_determiner(&before)) {
            let list = match bare.matches(char::is_uppercase).nth(1) {
                _ if is_abbreviation(bare) => &mut abbreviations,
                Some(_) => &mut in_camel_case,
                None => &mut names,
            };
            list.push(name.clone());
        } else if words::has(PREPOSITIONS, &before) {
            asked_about = may_be_name(bare).then(|| name.clone()).or(asked_about);
        } else if doing.is_none() && (words::has(VERBS, &before) || is_owner()) {
            doing = may_be_name(bare).then(|| name.clone());
        }
        begins = word.ends_with(['.', '?', '!', ':']);
        before = name;
    }
    names.extend(asked_about.or(doing));
    [names, in_camel_case, abbreviations].into_iter().find(|names| !names.is_empty()).unwrap_or_default()
}

/// Whether a text is mostly English: in other languages, a word in the place of a name ("was kostet der Server?") may be an ordinary one.
fn is_english(text: &str) -> bool {
    has_tenth_of(text, ENGLISH)
}

/// Whether a text is mostly German, in which every noun has a capital letter.
fn is_german(text: &str) -> bool {
    has_tenth_of(text, GERMAN)
}

fn has_tenth_of(text: &str, list: &str) -> bool {
    let all = text.split_whitespace().count();
    let words = text.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase());
    10 * words.filter(|word| words::has(list, word)).count() >= all
}

/// Whether a German word is an article or an adjective, which a noun follows and no name.
fn is_determiner(word: &str) -> bool {
    let endings = ["e", "en", "er", "es", "em"];
    words::has(ARTICLES, word) || endings.iter().any(|ending| word.ends_with(ending))
}

/// Whether a word with hyphens is an ordinary one: "est-elle", "e-mail", and in German any noun.
fn is_joined(word: &str, is_german: bool) -> bool {
    let is_of_letters = word.chars().all(|c| c.is_alphabetic() || c == '-');
    let begins_with_letter = word.chars().nth(1) == Some('-');
    let last = word.rsplit('-').next().unwrap_or_default().to_lowercase();
    let is_noun = is_german && word.starts_with(char::is_uppercase);
    is_of_letters && (begins_with_letter || is_noun || words::has(CLITICS, &last))
}

/// Whether a word is of capitals and digits, or the plural of one.
fn is_abbreviation(word: &str) -> bool {
    word.strip_suffix('s').unwrap_or(word).chars().all(|c| c.is_uppercase() || c.is_ascii_digit())
}

/// Whether a word is of small letters, of which there are enough, and has no ending of English grammar.
fn has_form_of_name(word: &str) -> bool {
    let is_plural = word.ends_with('s') && !word.ends_with("ss");
    let is_inflected = is_plural || ["ing", "ed", "ly"].iter().any(|ending| word.ends_with(ending));
    let is_word = word.chars().all(char::is_lowercase) && word.len() > 2;
    is_word && !is_inflected && !words::has(ORDINARY, word) && significant_count(word) > 0
}

/// A text without the blocks that programs add to it: `<system-reminder>`, our own `<memorist-recall>`, and all others whose
/// name has a hyphen or an underscore, which no tag of HTML has. A block that is never closed goes to the end.
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
    fn a_message_without_significant_words_is_not_searched_for() {
        for nothing in ["", " \n", "?!", "\0\0", "do that", "what is this for?", "and then?", "👍"] {
            assert_eq!(text_of(nothing), None, "{nothing:?}");
        }
        assert_eq!(text_of(" where is the harbour? ").as_deref(), Some("where is the harbour?"));
        assert_eq!(text_of("京都").as_deref(), Some("京都"));
    }

    #[test]
    fn questions_are_told_by_their_end() {
        let is_question = |text| searched(text, &[], |_| true).unwrap().is_question;
        for question in ["where is the harbour?", "港はどこですか。", "港はどこですか", "港口在哪里？"]
        {
            assert!(is_question(question), "{question}");
        }
        for other in ["go to the harbour", "港へ行きます。"] {
            assert!(!is_question(other), "{other}");
        }
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
    fn both_ends_of_a_long_message_are_searched_for() {
        let long = format!("harbour {} pier", "é<a-b ".repeat(2 << 20));
        let long = long.replace("<a-b ", "");
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
            "fix the osprey",
            "the osprey of it",
            "osprey is a bird",
            "it fails with a gyp error",
            "the ospreys are ospreying",
        ] {
            assert!(names(text).is_empty(), "{text}");
        }
        assert!(super::names("which port does osprey have?", |_| true).is_empty());
    }

    #[test]
    fn the_thing_asked_about_is_the_name_and_trade_words_are_not() {
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
        let searched = |message| searched(message, &before, |_| true).unwrap().text;
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
        let searched = |before: &str, message: &str| searched(message, &[before.to_owned()], |_| true).unwrap();
        let follow_up = "and for ledger-sync?";
        for (before, asked) in [
            ("Which port does Billing-api's proxy use on db-2?", "Which port does it's proxy use on db-2?"),
            ("what is the read-only timeout of billing-api?", "what is the read-only timeout of it?"),
            ("which Postgres version does billing-api use?", "which Postgres version does it use?"),
            ("where is the Grafana page of `billing-api`?", "where is the Grafana page of `it`?"),
            ("who works on README.md or billing-api?", "who works on README.md or it?"),
            ("which port do we use?", "which port do we use?"),
        ] {
            let found = searched(before, follow_up);
            assert_eq!(found.text, format!("{asked}\n{follow_up}"));
            assert_eq!(found.names, ["ledger-sync"]);
        }
        let before = "which port does billing-api use?";
        for same in ["and on db-3?", "what about on db-3?", "and for the tests?"] {
            assert_eq!(searched(before, same).text, format!("{before}\n{same}"));
        }
    }

    fn continued(before: &[&str]) -> String {
        let before: Vec<String> = before.iter().map(|text| (*text).to_owned()).collect();
        let text = searched("and for tidepool?", &before, |_| true).unwrap().text;
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
