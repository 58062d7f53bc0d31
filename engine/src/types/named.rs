//! Enums that clients give by name. Any other value is refused with the list of names.

use std::fmt;

use serde::de::value::StrDeserializer;
use serde::de::{self, Deserializer, Visitor};
use serde::forward_to_deserialize_any;

/// Implements serde's traits for enums whose derived ones are inherent functions (`#[serde(remote = "Self")]`), so that
/// they are read by [`ByName`].
#[doc(hidden)]
#[macro_export]
macro_rules! read_by_name {
    ($($type:ty),+) => {$(
        impl ::serde::Serialize for $type {
            fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> ::std::result::Result<S::Ok, S::Error> {
                <$type>::serialize(self, serializer)
            }
        }

        impl<'de> ::serde::Deserialize<'de> for $type {
            fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> ::std::result::Result<Self, D::Error> {
                <$type>::deserialize($crate::types::ByName(deserializer))
            }
        }
    )+};
}

/// Reads an enum of plain names from a string only. By default, formats accept a map, too, and for any other value say
/// only that they expected a "string or map".
#[derive(Debug)]
pub struct ByName<D>(pub D);

impl<'de, D: Deserializer<'de>> Deserializer<'de> for ByName<D> {
    type Error = D::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_any(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_str(NameVisitor { names, visitor })
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

/// Parses the name of an enum value.
struct NameVisitor<V> {
    names: &'static [&'static str],
    visitor: V,
}

impl<'de, V: Visitor<'de>> Visitor<'de> for NameVisitor<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "one of `{}`", self.names.join("`, `"))
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<V::Value, E> {
        self.visitor.visit_enum(StrDeserializer::new(name))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json};

    use crate::types::{Direction, Kind, LinkKind, Mode};

    #[test]
    fn an_unknown_name_is_refused_with_the_known_ones() {
        for wrong in [json!(3), json!(true), json!(["related"]), json!({ "related": null })] {
            let why = from_value::<LinkKind>(wrong.clone()).unwrap_err().to_string();
            assert!(why.contains("expected one of `caused`, `related`"), "{wrong}: {why}");
        }
        for why in [
            from_value::<Kind>(json!(3)).unwrap_err(),
            from_value::<Mode>(json!(3)).unwrap_err(),
            from_value::<Direction>(json!(3)).unwrap_err(),
        ] {
            let why = why.to_string();
            assert!(why.starts_with("invalid type: integer `3`, expected one of `"), "{why}");
        }
        let why = from_value::<Mode>(json!("both")).unwrap_err().to_string();
        assert!(why.starts_with("unknown variant `both`, expected one of `hybrid`"), "{why}");
        assert_eq!(from_value::<Mode>(json!("keyword")).unwrap(), Mode::Keyword);
        assert_eq!(json!(Mode::Keyword), "keyword");
    }
}
