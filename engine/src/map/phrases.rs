//! The phrases of texts: words of a language that follow one another, as they are written.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::keywords::significant_words;

/// Words of a phrase, and those of them that are significant.
const WORDS: usize = 4;
const SIGNIFICANT: usize = 3;
/// Shorter words in Latin letters say little.
const SHORT: usize = 3;
/// Where no word follows.
const END: u32 = u32::MAX;

/// The numbers of its words, and then [`END`].
type Words = [u32; WORDS];

/// Phrases that several memories have.
pub struct Shared {
    phrases: Vec<Phrase>,
    /// Each memory with the places of its phrases.
    pub of: Vec<(usize, Vec<usize>)>,
}

/// Words that follow one another.
pub struct Phrase {
    /// As it is written.
    pub text: String,
    /// The places of its significant words, each of which is a phrase, too.
    pub words: Vec<usize>,
}

impl Shared {
    /// The phrase at a place.
    pub fn phrase(&self, at: usize) -> &Phrase {
        &self.phrases[at]
    }

    /// How many phrases there are.
    pub fn count(&self) -> usize {
        self.phrases.len()
    }
}

/// The texts of memories as words, each word once.
#[derive(Default)]
pub struct Phrases {
    words: Vec<Word>,
    numbers: HashMap<String, u32>,
    /// Each memory with its words; [`END`] where a phrase ends.
    texts: Vec<(usize, Vec<u32>)>,
}

struct Word {
    /// As it is written: without a capital if it ever is.
    text: String,
    is_significant: bool,
}

impl Phrases {
    /// Takes a memory in.
    pub fn add(&mut self, at: usize, text: &str) {
        let mut numbers = Vec::new();
        for piece in text.split(|c: char| c.is_whitespace() || ['(', ')', '"', '—', '–', '…'].contains(&c)) {
            let word = piece.trim_matches(is_mark);
            if word.is_empty() || !is_prose(word) {
                numbers.push(END);
                continue;
            }
            if piece.starts_with(is_mark) {
                numbers.push(END);
            }
            let significant: Vec<String> =
                significant_words(word).into_iter().filter(|word| says_something(word)).collect();
            if word.contains(|c: char| c >= UNSPACED) {
                // Their words are not apart, and no phrase is known.
                numbers.extend(significant.into_iter().flat_map(|word| [self.number(&word, &word, true), END]));
            } else if significant.is_empty() {
                numbers.push(self.number(&word.to_lowercase(), word, false));
            } else {
                numbers.push(self.number(&significant.join(" "), word, true));
            }
            if piece.ends_with(is_mark) {
                numbers.push(END);
            }
        }
        self.texts.push((at, numbers));
    }

    fn number(&mut self, key: &str, text: &str, is_significant: bool) -> u32 {
        if let Some(number) = self.numbers.get(key).copied() {
            let known = &mut self.words[number as usize].text;
            if known.starts_with(char::is_uppercase) && text.starts_with(char::is_lowercase) {
                text.clone_into(known);
            }
            return number;
        }
        let number = u32::try_from(self.words.len()).unwrap_or(END);
        self.numbers.insert(key.to_owned(), number);
        self.words.push(Word { text: text.to_owned(), is_significant });
        number
    }

    /// The phrases that at least so many memories have. They begin and end with a significant word.
    pub fn shared(&self, least: u32) -> Shared {
        let of: Vec<(usize, BTreeSet<Words>)> =
            self.texts.iter().map(|(at, numbers)| (*at, self.phrases(numbers))).collect();
        let mut counts: HashMap<&Words, u32> = HashMap::new();
        of.iter().flat_map(|(_, phrases)| phrases).for_each(|phrase| *counts.entry(phrase).or_default() += 1);
        let mut places: BTreeMap<&Words, usize> = BTreeMap::new();
        for (phrase, _) in counts.into_iter().filter(|(_, count)| *count >= least) {
            places.insert(phrase, 0);
        }
        places.values_mut().enumerate().for_each(|(at, place)| *place = at);
        let single = |number: &u32| places.get(&alone(*number)).copied();
        let phrase =
            |words: &&Words| Phrase { text: self.text(words), words: words.iter().filter_map(single).collect() };
        let phrases = places.keys().map(phrase).collect();
        let placed =
            |phrases: &BTreeSet<Words>| phrases.iter().filter_map(|phrase| places.get(phrase).copied()).collect();
        let of = of.iter().map(|(at, phrases)| (*at, placed(phrases))).collect();
        Shared { phrases, of }
    }

    fn phrases(&self, numbers: &[u32]) -> BTreeSet<Words> {
        let is_significant = |number: u32| self.words.get(number as usize).is_some_and(|word| word.is_significant);
        let mut phrases = BTreeSet::new();
        for (at, first) in numbers.iter().enumerate().filter(|(_, number)| is_significant(**number)) {
            let (mut phrase, mut significant) = ([END; WORDS], 0);
            for (length, number) in numbers[at..].iter().take(WORDS).enumerate() {
                if *number == END || length > 0 && number == first || significant == SIGNIFICANT {
                    break;
                }
                phrase[length] = *number;
                if is_significant(*number) {
                    significant += 1;
                    phrases.insert(phrase);
                }
            }
        }
        phrases
    }

    fn text(&self, words: &Words) -> String {
        let words = words.iter().filter_map(|number| self.words.get(*number as usize));
        words.map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")
    }
}

/// The phrase of one word.
fn alone(number: u32) -> Words {
    let mut words = [END; WORDS];
    words[0] = number;
    words
}

/// The first character of scripts that need no spaces.
const UNSPACED: char = '\u{2E80}';

fn is_mark(c: char) -> bool {
    let is_quote = "“”„‟‘’‚‛«»‹›".contains(c);
    is_quote || c.is_ascii_punctuation() && !['/', '\\', '_', '@', '$'].contains(&c)
}

/// Whether a word may be of a language, and no name of a file or in code, no address, no number. Of scripts that need no spaces
/// all are.
fn is_prose(word: &str) -> bool {
    if !word.is_ascii() {
        let has_spaces = !word.contains(|c: char| c >= UNSPACED) && word.contains(|c: char| c.is_ascii_alphabetic());
        return !has_spaces || !word.contains(['/', '\\', '_', '@', '.']);
    }
    let is_name_in_code = word.starts_with(|c: char| c.is_lowercase()) && word.contains(char::is_uppercase);
    word.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'-' || byte == b'\'') && !is_name_in_code
}

fn says_something(word: &str) -> bool {
    word.chars().any(char::is_alphabetic) && (word.chars().count() >= SHORT || !word.is_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words of a text, with a bar where a phrase ends.
    fn words(text: &str) -> String {
        let mut phrases = Phrases::default();
        phrases.add(0, text);
        let numbers = &phrases.texts[0].1;
        let words: Vec<&str> =
            numbers.iter().map(|number| phrases.words.get(*number as usize).map_or("|", |word| &word.text)).collect();
        words.join(" ").replace("| |", "|").replace("| |", "|").trim_matches(['|', ' ']).to_owned()
    }

    #[test]
    fn a_phrase_ends_at_paths_codes_numbers_and_punctuation() {
        for (text, kept) in [
            ("First photo: IMG/DSC_0042.JPG, taken (at dawn).", "First photo | taken | at dawn"),
            ("see https://example.org/a and mail a@b.org, id 0x3f or v1.2", "see | and mail | id | or"),
            ("getUserName fails in main.rs; the well-known parser's bug", "fails in | the well-known parser's bug"),
            ("die Fähre fährt um 8 Uhr", "die Fähre fährt um | Uhr"),
            ("渡轮 main.rs", "渡轮"),
            ("in /home/jörg/notes_alt.md, Fähre.txt and jörg@example.org: «Größe.»", "in | and | Größe"),
            ("the “main.rs” of ‘getUserName’ is the parser’s “own”", "the | of | is the parser’s | own"),
        ] {
            assert_eq!(words(text), kept);
        }
    }

    #[test]
    fn shared_phrases_begin_and_end_with_a_significant_word() {
        let mut phrases = Phrases::default();
        phrases.add(0, "The Harbour of Emden opens");
        phrases.add(1, "near the harbour of Emden");
        let shared = phrases.shared(2);
        let texts = |at: usize| {
            let mut texts: Vec<&str> = shared.of[at].1.iter().map(|at| shared.phrase(*at).text.as_str()).collect();
            texts.sort_unstable();
            texts
        };
        assert_eq!(texts(0), ["Emden", "harbour", "harbour of Emden"]);
        assert_eq!(texts(1), texts(0), "with a capital only if it always has one");
        let words =
            |text: &str| shared.phrases.iter().find(|phrase| phrase.text == text).map(|phrase| phrase.words.len());
        assert_eq!((shared.count(), words("harbour of Emden"), words("Emden")), (3, Some(2), Some(1)));
    }
}
