//! Reads a `tokenizer.json`, if it describes a tokenizer of this kind.

use std::collections::HashMap;

use aho_corasick::{AhoCorasick, MatchKind};
use serde::Deserialize;

use super::model::{Added, Model};
use super::trie::Trie;

#[derive(Deserialize)]
struct TokenizerJson {
    #[serde(default)]
    added_tokens: Vec<AddedToken>,
    normalizer: Normalizer,
    pre_tokenizer: PreTokenizer,
    model: ModelPart,
}

#[derive(Deserialize)]
struct AddedToken {
    content: String,
    single_word: bool,
    lstrip: bool,
    rstrip: bool,
    normalized: bool,
}

#[derive(Deserialize)]
struct Normalizer {
    r#type: String,
    clean_text: bool,
    handle_chinese_chars: bool,
    strip_accents: Option<bool>,
    lowercase: bool,
}

#[derive(Deserialize)]
struct PreTokenizer {
    r#type: String,
}

#[derive(Deserialize)]
struct ModelPart {
    r#type: String,
    unk_token: String,
    continuing_subword_prefix: String,
    max_input_chars_per_word: usize,
    vocab: HashMap<String, u32>,
}

/// Reads the file; `None` if it is not of this kind.
pub fn read(json: &str) -> Option<Model> {
    let TokenizerJson { added_tokens, normalizer, pre_tokenizer, model } = serde_json::from_str(json).ok()?;
    let of_this_kind = normalizer.r#type == "BertNormalizer"
        && normalizer.clean_text
        && normalizer.handle_chinese_chars
        && normalizer.strip_accents != Some(false)
        && normalizer.lowercase
        && model.max_input_chars_per_word > 0
        && pre_tokenizer.r#type == "BertPreTokenizer"
        && model.r#type == "WordPiece"
        // Begins with punctuation: so no word begins with it.
        && model.continuing_subword_prefix == "##"
        && added_tokens.iter().all(|token| {
            !(token.single_word || token.lstrip || token.rstrip || token.normalized || token.content.is_empty())
        });
    if !of_this_kind {
        return None;
    }
    let ids =
        added_tokens.iter().map(|token| model.vocab.get(&token.content).copied()).collect::<Option<Vec<u32>>>()?;
    let added = match added_tokens.as_slice() {
        [] => None,
        tokens => {
            let texts = tokens.iter().map(|token| &token.content);
            let texts = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(texts).ok()?;
            Some(Added { texts, ids })
        }
    };
    let unknown = *model.vocab.get(&model.unk_token)?;
    let one_byte = |byte: usize| model.vocab.get(char::from(byte as u8).encode_utf8(&mut [0; 4])).copied();
    Some(Model {
        unknown,
        punctuation: std::array::from_fn(|byte| one_byte(byte).unwrap_or(unknown)),
        max_chars: model.max_input_chars_per_word,
        vocabulary: Trie::new(&model.vocab)?,
        added,
    })
}
