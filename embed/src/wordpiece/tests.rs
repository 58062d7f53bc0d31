//! Compared with `tokenizers`, on the vocabulary of the default model.

use std::fmt::Write;
use std::sync::LazyLock;

use proptest::prelude::*;
use tokenizers::Tokenizer;

use super::WordPiece;
use crate::tests::{settings, tokenizer_json};
use crate::{ModelSettings, ModelSource, local_tokenizer};

/// With the marks that stay as tokens instead of unused ones, so that their order shows.
static JSON: LazyLock<String> = LazyLock::new(|| {
    let mut json = String::from_utf8(tokenizer_json()).unwrap();
    for (index, mark) in MARKS.chars().take(6).enumerate() {
        json = json.replace(&format!("\"[unused{index}]\""), &format!("\"##{mark}\""));
    }
    json
});
static OURS: LazyLock<WordPiece> = LazyLock::new(|| WordPiece::from_tokenizer_json(&JSON).unwrap());
static THEIRS: LazyLock<Tokenizer> = LazyLock::new(|| {
    let mut tokenizer: Tokenizer = JSON.parse().unwrap();
    tokenizer.with_padding(None).with_truncation(None).unwrap();
    tokenizer
});

fn theirs(text: &str) -> Vec<u32> {
    THEIRS.encode_fast(text, false).unwrap().get_ids().to_vec()
}

#[track_caller]
fn assert_same(text: &str) {
    let ids = OURS.ids(text);
    assert_eq!(ids, theirs(text), "{text:?}");
    assert_eq!(OURS.count(text), ids.len(), "{text:?}");
}

#[test]
fn words_and_their_parts() {
    assert_eq!(OURS.ids("Hello, world!"), [7592, 1010, 2088, 999]);
    assert_eq!(OURS.ids("a\u{302e}\u{1d165}"), OURS.ids("a\u{1d165}\u{302e}"));
    for text in ["", " ", "unaffable", "don't_stop(now)", "a\u{b}b\u{7f}c\td", "\u{feff}x\u{200b}y\u{ad}z", "e\u{301}"]
    {
        assert_same(text);
    }
}

#[test]
fn it_has_words_that_are_one_token() {
    for word in ["harbour", "time", "Time"] {
        assert!(OURS.has_word(word), "{word}");
    }
    // The last two are one token each: that of what is unknown.
    for word in ["osprey", "timeout", "config", "", "[UNK]", "x".repeat(101).as_str()] {
        assert!(!OURS.has_word(word), "{word}");
    }
}

#[test]
fn the_share_of_a_text_that_is_unknown() {
    for (text, share) in [
        ("", 0.0),
        (" \n", 0.0),
        ("a report", 0.0),
        // In the vocabulary letter by letter: read, if not understood.
        ("\u{43a}\u{43e}\u{442}", 0.0),
        ("\u{1f680}", 1.0),
        ("go \u{1f680}\u{1f680}", 0.5),
        // Of no kind that is read.
        ("\u{e000}", 1.0),
        ("!\u{1f680}", 0.5),
    ] {
        assert!((OURS.unknown_share(text) - share).abs() < 1e-9, "{text:?}: {}", OURS.unknown_share(text));
    }
    assert_eq!(OURS.unknown_share(&"x".repeat(101)), 1.0, "too long a word");
}

#[test]
fn special_tokens_in_a_text_are_tokens() {
    assert_eq!(OURS.ids("a[SEP]b"), [1037, 102, 1038]);
    for text in
        ["[CLS] a [SEP]", "[MASK][PAD]x[UNK]", "[cls] [SEP", "[[MASK]]", "e[MASK]\u{301}", "\u{65e5}[CLS]\u{672c}"]
    {
        assert_same(text);
    }
}

#[test]
fn a_word_of_more_than_a_hundred_characters_is_unknown() {
    for count in [99, 100, 101, 102] {
        for word in ["a", "\u{e9}", "\u{1100}", "e\u{301}", "\u{ac01}", "\u{302e}", "\u{302e}\u{1d165}"] {
            assert_same(&format!("x {} y", word.repeat(count)));
        }
    }
}

#[test]
fn every_character_alone_and_between_letters() {
    // Above there are no characters yet, but tags and private ones.
    let above = ('\u{32000}'..=char::MAX).step_by(97).chain('\u{e0000}'..'\u{e0200}');
    let chars: Vec<char> = ('\0'..'\u{32000}').chain(above).collect();
    for chars in chars.chunks(128) {
        let mut text = String::new();
        chars.iter().for_each(|char| write!(text, "{char} a{char}b x\u{302e}{char}\u{1d165} ").unwrap());
        assert_same(&text);
    }
}

/// Marks that stay and are sorted by their class, beside those that go.
const MARKS: &str = "\u{302e}\u{302f}\u{1d165}\u{1d166}\u{1d16d}\u{16ff0}\u{301}\u{323}\u{345}\u{5b0}\u{94d}\u{3099}\u{20dd}\
                     \u{1ab0}\u{1dc0}\u{8d3}\u{10f46}\u{1e2ec}\u{34f}";

fn texts() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-zA-Z]{1,12}",
        1 => "[a-z0-9\\-_./]{80,120}",
        2 => "[ \t\r\n]{1,3}",
        2 => "[!-/:-@\\[-`{-~]{1,3}",
        1 => "(\\[CLS\\]|\\[SEP\\]|\\[MASK\\]|\\[UNK\\]|\\[PAD\\]|\\[)",
        2 => proptest::collection::vec(proptest::sample::select(MARKS.chars().collect::<Vec<_>>()), 1..5)
            .prop_map(String::from_iter),
        1 => "[\u{0}-\u{1f}\u{7f}-\u{a0}\u{ad}\u{200b}-\u{200f}\u{2028}-\u{202f}\u{feff}\u{fffd}\u{e000}]{1,3}",
        1 => "[\u{c0}-\u{24f}\u{1e00}-\u{1eff}]{1,8}",
        1 => "[\u{370}-\u{3ff}\u{1f00}-\u{1fff}\u{400}-\u{52f}]{1,8}",
        1 => "[\u{590}-\u{6ff}\u{900}-\u{97f}\u{e00}-\u{e7f}]{1,8}",
        1 => "[\u{3000}-\u{30ff}\u{4e00}-\u{4fff}\u{f900}-\u{faff}\u{ff00}-\u{ffef}]{1,8}",
        1 => "[\u{1100}-\u{11ff}\u{ac00}-\u{d7a3}]{1,6}",
        1 => "[\u{1f300}-\u{1faff}\u{1f1e6}-\u{1f1ff}\u{200d}\u{fe0f}\u{20000}-\u{2fa1f}]{1,4}",
        1 => "\\PC{1,6}",
        1 => any::<String>(),
    ];
    proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_gives_the_same_ids(text in texts()) {
        assert_same(&text);
    }
}

#[test]
fn a_tokenizer_of_another_kind_is_refused() {
    assert!(WordPiece::from_tokenizer_json("{}").is_none());
    for (from, to) in [
        ("\"lowercase\": true", "\"lowercase\": false"),
        ("\"BertPreTokenizer\"", "\"Whitespace\""),
        ("\"##\"", "\"@@\""),
        ("\"WordPiece\"", "\"WordLevel\""),
        ("\"unk_token\": \"[UNK]\"", "\"unk_token\": \"[no]\""),
        ("\"normalized\": false", "\"normalized\": true"),
    ] {
        let compact = |text: &str| text.replace("\": ", "\":");
        let (json, from, to) = (compact(&JSON), compact(from), compact(to));
        assert!(json.contains(&from), "{from}");
        assert!(WordPiece::from_tokenizer_json(&json).is_some());
        assert!(WordPiece::from_tokenizer_json(&json.replace(&from, &to)).is_none(), "{to}");
    }
}

#[test]
fn the_tokenizer_is_found_on_this_machine_only() {
    drop(tokenizer_json());
    assert_eq!(local_tokenizer(&settings()).unwrap().count("dark theme"), 2);
    let folder = tempfile::tempdir().unwrap();
    let empty = ModelSettings { cache_dir: Some(folder.path().to_owned()), ..ModelSettings::default() };
    assert!(local_tokenizer(&empty).is_none());
    assert_eq!(folder.path().read_dir().unwrap().count(), 0, "nothing is fetched");
    let own = ModelSettings::from(ModelSource::Folder(folder.path().to_owned()));
    assert!(local_tokenizer(&own).is_none());
    std::fs::write(folder.path().join("tokenizer.json"), &*JSON).unwrap();
    assert!(local_tokenizer(&own).is_some(), "without a model beside it");
    assert!(local_tokenizer(&ModelSource::None.into()).is_none());
}
