//! The text of a file, whatever it is encoded in.

use std::borrow::Cow;

use chardetng::EncodingDetector;
use encoding_rs::{Encoding, UTF_8};

/// The text of a file.
#[derive(Debug, PartialEq, Eq)]
pub struct Decoded<'a> {
    /// Without a byte order mark, and without NUL.
    pub text: Cow<'a, str>,
    /// Whether the encoding was guessed: the file says none, and is no UTF-8.
    pub is_guessed: bool,
}

/// Decodes a file: by its byte order mark, as UTF-8, or by what its bytes are most likely. `None` if it is no text.
pub fn decode(bytes: &[u8]) -> Option<Decoded<'_>> {
    let (encoding, mark) = Encoding::for_bom(bytes).unwrap_or((UTF_8, 0));
    let bytes = bytes.get(mark..).unwrap_or_default();
    if encoding == UTF_8 && is_binary(bytes) {
        return None;
    }
    let is_guessed = encoding == UTF_8 && !is_utf8(bytes);
    let encoding = if is_guessed { guess(bytes) } else { encoding };
    let text = encoding.decode_without_bom_handling(bytes).0;
    let text = if text.contains('\0') { Cow::Owned(text.replace('\0', " ")) } else { text };
    Some(Decoded { text, is_guessed })
}

fn guess(bytes: &[u8]) -> &'static Encoding {
    let mut detector = EncodingDetector::new();
    detector.feed(bytes, true);
    detector.guess(None, false)
}

/// Whether bytes have more of what no text has than a slip: NUL, and control characters beside those of space and of terminals.
fn is_binary(bytes: &[u8]) -> bool {
    let is_odd = |byte: &&u8| matches!(byte, 0..=6 | 14..=26 | 28..=31);
    let odd = bytes.iter().filter(is_odd).count();
    odd > 1 + bytes.len() / 1_000 || odd * 20 > bytes.len()
}

/// Whether bytes are UTF-8, but for a few that are broken.
fn is_utf8(bytes: &[u8]) -> bool {
    let (mut whole, mut broken) = (0_usize, 0_usize);
    for chunk in bytes.utf8_chunks() {
        whole += chunk.valid().bytes().filter(|byte| *byte >= 0xC0).count();
        broken += usize::from(!chunk.invalid().is_empty());
    }
    broken == 0 || whole > broken
}

#[cfg(test)]
mod tests {
    use encoding_rs::{GBK, SHIFT_JIS, WINDOWS_1251, WINDOWS_1252};

    use super::*;

    fn text(bytes: &[u8]) -> Option<(String, bool)> {
        decode(bytes).map(|decoded| (decoded.text.into_owned(), decoded.is_guessed))
    }

    /// 44.8: a byte order mark says the encoding.
    #[test]
    fn a_byte_order_mark_says_the_encoding() {
        let note = "# Größe\n\n会议记录 😀\n";
        let little: Vec<u8> = [0xFF, 0xFE].into_iter().chain(note.encode_utf16().flat_map(u16::to_le_bytes)).collect();
        let big: Vec<u8> = [0xFE, 0xFF].into_iter().chain(note.encode_utf16().flat_map(u16::to_be_bytes)).collect();
        for bytes in [little, big, format!("\u{feff}{note}").into_bytes(), note.into()] {
            assert_eq!(text(&bytes), Some((note.to_owned(), false)));
        }
    }

    /// 44.8: what says no encoding and is no UTF-8 is guessed.
    #[test]
    fn other_encodings_are_guessed() {
        let chinese = "今天的会议记录。我们讨论了项目的进度和下一步的计划。\n";
        let german = "Die Größe der Tür wäre für Übergänge schön. Straße, Fußgänger und Bäume.\n";
        let russian = "Сегодня мы обсудили план проекта и следующие шаги.\n";
        let japanese = "今日の会議の記録です。次の計画について話しました。\n";
        for (encoding, note) in [(GBK, chinese), (WINDOWS_1252, german), (WINDOWS_1251, russian), (SHIFT_JIS, japanese)]
        {
            let (bytes, _, lost) = encoding.encode(note);
            assert!(!lost);
            assert_eq!(text(&bytes), Some((note.to_owned(), true)), "{}", encoding.name());
        }
    }

    /// 44.8: a slip makes no other file of a note.
    #[test]
    fn a_slip_stays_a_slip() {
        assert_eq!(
            text("one\0 NUL in a note of some length".as_bytes()),
            Some(("one  NUL in a note of some length".into(), false))
        );
        let cut = [&"会议记录，很长的一段文字".as_bytes()[..34], b"\n\xFF end"].concat();
        let (found, is_guessed) = text(&cut).unwrap();
        assert!(found.starts_with("会议记录，很长的一段") && found.contains('\u{fffd}') && !is_guessed, "{found}");
        assert_eq!(text(b""), Some((String::new(), false)));
        assert_eq!(text(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0"), None);
        assert_eq!(text(b"a\0"), None);
        assert_eq!(text(&[0; 5_000]), None);
    }
}
