//! A made vocabulary; and, with the real one, the tokens of the reference.

use std::sync::{Arc, LazyLock};

use memorist_bert::E5File;

use super::{Unigram, make};
use crate::tests::multilingual_file;

/// Texts, and the tokens that SentencePiece itself makes of them with the model's pieces and scores and its own rule
/// `nmt_nfkc`.
const GOLDEN: &str = include_str!("golden.json");

static REAL: LazyLock<Unigram> = LazyLock::new(|| {
    let file = multilingual_file();
    Unigram::new(Arc::new(make(&E5File::read(&file).unwrap()).unwrap())).unwrap()
});

fn ids(text: &str) -> Vec<u32> {
    let mut ids = Vec::new();
    REAL.push_ids(text, &mut ids);
    assert_eq!(REAL.count(text), ids.len());
    ids
}

#[test]
fn tokens_are_those_of_sentencepiece() {
    let golden: Vec<(String, Vec<u32>)> = serde_json::from_str(GOLDEN).unwrap();
    assert!(golden.len() > 40);
    for (text, expected) in golden {
        assert_eq!(ids(&text), expected, "{text:?}");
    }
}

#[test]
fn composed_or_not_a_text_has_the_same_tokens() {
    for (composed, parts) in
        [("caf\u{e9}", "cafe\u{301}"), ("\u{d300}", "\u{1110}\u{1175}\u{11b7}"), ("\u{30ac}", "\u{ff76}\u{ff9e}")]
    {
        assert_eq!(ids(composed), ids(parts), "{composed}");
    }
}

#[test]
fn unknown_characters_form_one_token_but_are_counted_singly() {
    assert_eq!(ids("\u{1f9a4}\u{1f9a4}\u{1f9a4}"), [6, 3]);
    for (text, share) in [
        ("", 0.0),
        (" \n", 0.0),
        ("a report", 0.0),
        ("\u{43a}\u{43e}\u{442}", 0.0),
        ("\u{1f9a4}", 1.0),
        ("go \u{1f9a4}\u{1f9a4}", 0.5),
        // Dropped: nothing is left.
        ("\u{1}", 1.0),
    ] {
        assert!((REAL.unknown_share(text) - share).abs() < 1e-9, "{text:?}: {}", REAL.unknown_share(text));
    }
}

#[test]
fn it_has_words_that_are_one_piece() {
    for word in ["time", "Time", "\u{432}\u{440}\u{435}\u{43c}\u{44f}"] {
        assert!(REAL.has_word(word), "{word}");
    }
    for word in ["", "osprey nest", "xqzjk", "\u{1f9a4}"] {
        assert!(!REAL.has_word(word), "{word}");
    }
}

#[test]
fn other_bytes_are_no_vocabulary() {
    let file = multilingual_file();
    let whole = make(&E5File::read(&file).unwrap()).unwrap();
    for len in [0, 3, 15, 16, 1_000, 1_200_000, whole.len() - 1] {
        assert!(Unigram::new(Arc::new(whole[..len].to_vec())).is_none(), "{len}");
    }
    for at in [0, 4, 8, 12] {
        let mut bytes = whole.clone();
        bytes[at + 2] ^= 0x7F;
        assert!(Unigram::new(Arc::new(bytes)).is_none(), "{at}");
    }
    assert!(E5File::read(&file[..100]).is_err() && E5File::read(&file[..3_000_000]).is_err());
}
