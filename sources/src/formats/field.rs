//! JSON values that may be of any kind, and lines that serde would refuse.
//!
//! A text field may be null or a number in the next version of an agent. Then the field is as good as absent, and the rest of its
//! record is read.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use jiff::Timestamp;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// Elements of a list that are read. A line of brackets would otherwise take many times its size.
pub const MAX_LIST: usize = 100_000;

/// The longest label that is kept, in bytes, such as a folder, a model or an identifier. One label may be that of many turns.
const MAX_LABEL: usize = 4 << 10;

/// A value of whatever kind. An object is read as a `T`, of a list the texts and objects are kept.
#[derive(Debug, Default)]
pub enum Field<'a, T = IgnoredAny> {
    /// It is absent or null.
    #[default]
    Nothing,
    Text(Cow<'a, str>),
    Number(i64),
    /// A number with a fraction.
    Fraction(f64),
    Flag(bool),
    Object(T),
    List(Vec<Field<'a, T>>),
}

impl<T> Field<'_, T> {
    /// The text, if it is one that is not empty.
    pub fn text(&self) -> Option<&str> {
        match self {
            Field::Text(text) if !text.is_empty() => Some(text),
            _ => None,
        }
    }

    /// The text as a label of its own. For messages, use [`Field::text`].
    pub fn owned(&self) -> Option<String> {
        self.text().map(label)
    }

    /// The object, if it is one.
    pub fn object(&self) -> Option<&T> {
        match self {
            Field::Object(object) => Some(object),
            _ => None,
        }
    }

    /// The elements of a list; anything else is its own only element.
    pub fn elements(&self) -> &[Self] {
        match self {
            Field::List(list) => list,
            Field::Nothing => &[],
            one => std::slice::from_ref(one),
        }
    }

    pub fn is_true(&self) -> bool {
        matches!(self, Field::Flag(true))
    }

    /// The time, in Unix milliseconds: of a text by RFC 3339, of a number as it is.
    pub fn time(&self) -> Option<i64> {
        match self {
            Field::Text(text) => Some(text.parse::<Timestamp>().ok()?.as_millisecond()),
            Field::Number(milliseconds) => Some(*milliseconds),
            _ => None,
        }
    }

    /// The time of a number of seconds, in Unix milliseconds.
    pub fn time_of_seconds(&self) -> Option<i64> {
        match self {
            Field::Number(seconds) => seconds.checked_mul(1_000),
            Field::Fraction(seconds) => Some((seconds * 1_000.0).round() as i64),
            _ => None,
        }
    }
}

impl<'de: 'a, 'a, T: Deserialize<'de>> Deserialize<'de> for Field<'a, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        AnyKind { is_element: false, field: PhantomData }.deserialize(deserializer)
    }
}

struct AnyKind<'a, T> {
    /// Whether it is an element of a list: then a list is as good as absent, so that lists in lists take no memory.
    is_element: bool,
    field: PhantomData<Field<'a, T>>,
}

impl<'de: 'a, 'a, T: Deserialize<'de>> DeserializeSeed<'de> for AnyKind<'a, T> {
    type Value = Field<'a, T>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de: 'a, 'a, T: Deserialize<'de>> Visitor<'de> for AnyKind<'a, T> {
    type Value = Field<'a, T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any value")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Field::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Field::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Field::Number(number))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(i64::try_from(number).map_or(Field::Nothing, Field::Number))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
        Ok(Field::Fraction(number))
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Self::Value, E> {
        Ok(Field::Flag(flag))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Field::Nothing)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Field::Object)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut kept = Vec::new();
        while kept.len() < MAX_LIST && !self.is_element {
            match list.next_element_seed(AnyKind { is_element: true, field: PhantomData })? {
                Some(element @ (Field::Text(_) | Field::Object(_))) => kept.push(element),
                Some(_) => (),
                None => return Ok(Field::List(kept)),
            }
        }
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Field::List(kept))
    }
}

/// A label, up to the length that is kept.
pub fn label(text: &str) -> String {
    text[..text.floor_char_boundary(MAX_LABEL)].to_owned()
}

/// Reads a line. If serde refuses it for a broken character, that is replaced: programs cut texts between the halves of
/// an emoji. `mended` keeps the bytes of such a line.
pub fn parse<'a, T: Deserialize<'a>>(line: &'a [u8], mended: &'a mut Vec<u8>) -> Option<T> {
    if let Ok(value) = serde_json::from_slice(line) {
        return Some(value);
    }
    *mended = mend(line)?;
    serde_json::from_slice(mended).ok()
}

/// The line with U+FFFD for bytes that are no UTF-8 and for halves of surrogate pairs; `None` if it has neither.
fn mend(line: &[u8]) -> Option<Vec<u8>> {
    let text = String::from_utf8_lossy(line);
    let mut mended = String::with_capacity(text.len());
    let mut rest = &*text;
    while let Some(backslash) = rest.find('\\') {
        let (before, escape) = rest.split_at(backslash);
        mended.push_str(before);
        let length = match (unit(escape), escape.get(6..).and_then(unit)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => 12,
            (Some(0xD800..=0xDFFF), _) => {
                mended.push_str("\\ufffd");
                rest = escape.get(6..).unwrap_or_default();
                continue;
            }
            // Whatever is escaped, a backslash too, begins no escape of its own.
            _ => 1 + escape.chars().nth(1).map_or(0, char::len_utf8),
        };
        let (escape, after) = escape.split_at(length);
        mended.push_str(escape);
        rest = after;
    }
    mended.push_str(rest);
    (mended.as_bytes() != line).then(|| mended.into_bytes())
}

/// The UTF-16 unit that a text begins with, if it begins with `\u` and four digits.
fn unit(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| u32::from_str_radix(digits, 16).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Default, Deserialize)]
    #[serde(default)]
    struct Pair<'a> {
        #[serde(borrow)]
        a: Field<'a>,
        b: Field<'a, Box<Pair<'a>>>,
    }

    fn a_and_b(line: &[u8]) -> Option<String> {
        let mut mended = Vec::new();
        let pair: Pair = parse(line, &mut mended)?;
        let inner: Vec<_> = pair.b.elements().iter().filter_map(Field::object).map(|inner| inner.a.owned()).collect();
        Some(format!("{:?} {inner:?}", pair.a.text()))
    }

    #[test]
    fn a_value_of_another_kind_is_as_good_as_absent() {
        for a in ["null", "7", "7.5", "1e400", "true", "{\"a\":{}}", "[[1,{}],2]", "18446744073709551615"] {
            let line =
                format!("{{\"a\":{a},\"b\":[null,{{\"a\":\"x\"}},4,[]],\"c\":{}{}}}", "[".repeat(300), "]".repeat(300));
            let expected = (a != "1e400").then(|| "None [Some(\"x\")]".to_owned());
            assert_eq!(a_and_b(line.as_bytes()), expected, "{a}");
        }
        assert_eq!(a_and_b(b"[]").as_deref(), Some("None []"));
        assert_eq!(a_and_b(b"7"), None);
        assert_eq!(a_and_b(format!("{{\"a\":{}", "[".repeat(100_000)).as_bytes()), None);
    }

    #[test]
    fn broken_characters_are_replaced() {
        let cases: [(&[u8], &str); 6] = [
            (br#"{"a":"x\ud83d"}"#, "x\u{FFFD}"),
            (br#"{"a":"\ude00\ud83d\ude00\ud83dy\ud83d\n"}"#, "\u{FFFD}😀\u{FFFD}y\u{FFFD}\n"),
            (br#"{"a":"\\ud83d\ud83d"}"#, "\\ud83d\u{FFFD}"),
            (b"{\"a\":\"x\xFF\xC3\"}", "x\u{FFFD}\u{FFFD}"),
            (b"{\"b\":\"\xFF\",\"a\":\"\\ud8001\xFF\"}", "\u{FFFD}1\u{FFFD}"),
            (br#"{"a":"\ud83d\uXYZ0"}"#, ""),
        ];
        for (line, expected) in cases {
            let mut mended = Vec::new();
            let pair: Option<Pair> = parse(line, &mut mended);
            let found = pair.as_ref().and_then(|pair| pair.a.text());
            assert_eq!(found, (!expected.is_empty()).then_some(expected), "{}", String::from_utf8_lossy(line));
        }
    }

    #[test]
    fn a_time_is_read_from_text_and_number() {
        let time = |json| serde_json::from_str::<Field>(json).unwrap().time();
        assert_eq!(time("\"2026-11-02T09:00:00.250Z\""), Some(1_793_610_000_250));
        assert_eq!(time("\"2026-11-02T10:00:00+01:00\""), Some(1_793_610_000_000));
        assert_eq!(time("17"), Some(17));
        for bad in ["\"yesterday\"", "\"\"", "null", "{}", "1.5"] {
            assert_eq!(time(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_label_is_kept_up_to_a_length() {
        let of = |text: &str| Field::<IgnoredAny>::Text(Cow::Borrowed(text)).owned().unwrap();
        assert_eq!(of("a folder"), "a folder");
        assert_eq!(of(&"ä".repeat(MAX_LABEL)).len(), MAX_LABEL);
        assert_eq!(of(&format!("a{}", "ä".repeat(MAX_LABEL))).len(), MAX_LABEL - 1);
    }

    #[test]
    fn a_list_is_kept_up_to_a_length() {
        let list = format!("[{}1]", "{},".repeat(MAX_LIST + 5));
        let Field::List::<IgnoredAny>(list) = serde_json::from_str(&list).unwrap() else { panic!("a list") };
        assert_eq!(list.len(), MAX_LIST);
    }
}
