//! Numbers, times and nullable fields as JSON clients really write them.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use memorist_engine::types::{MIN_PLAUSIBLE_MILLIS, MetadataFilter, Millis};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer};

/// A whole number. Accepts `3.0` for 3, as JSON Schema's `integer` does; its schema has no `format`, which strict
/// clients would warn about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Int(pub i64);

/// A time: Unix milliseconds, or an ISO 8601 date or date and time (without an offset in the zone of this machine).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct When(pub i64);

/// A time as text on the wire, ISO 8601 in UTC, for tools that use it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Iso(pub Millis);

/// Importance: 1 to 10, or one of four names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Importance(pub i64);

/// A condition on the metadata of memories: `{"year": {"$gte": 2024}}`, also as JSON within a text.
#[derive(Debug, Clone, PartialEq)]
pub struct Where(pub MetadataFilter);

/// An optional and nullable field, for which null and omission differ.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Patch<T> {
    /// Not given.
    #[default]
    Absent,
    /// `null`.
    Null,
    /// A value.
    Value(T),
}

impl<T> Patch<T> {
    /// Whether it was left out.
    pub fn is_absent(&self) -> bool {
        matches!(self, Patch::Absent)
    }

    /// Applies `change` to the value, if there is one.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Patch<U> {
        match self {
            Patch::Absent => Patch::Absent,
            Patch::Null => Patch::Null,
            Patch::Value(value) => Patch::Value(change(value)),
        }
    }

    /// `None` for a field left out, `Some(None)` for null.
    pub fn into_option(self) -> Option<Option<T>> {
        match self {
            Patch::Absent => None,
            Patch::Null => Some(None),
            Patch::Value(value) => Some(Some(value)),
        }
    }
}

impl<T> From<Option<T>> for Patch<T> {
    /// A value, or null.
    fn from(value: Option<T>) -> Self {
        value.map_or(Patch::Null, Patch::Value)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Patch<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Option::<T>::deserialize(deserializer).map(Patch::from)
    }
}

impl<T: Serialize> Serialize for Patch<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Patch::Absent | Patch::Null => serializer.serialize_none(),
            Patch::Value(value) => value.serialize(serializer),
        }
    }
}

impl<T: JsonSchema> JsonSchema for Patch<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Nullable{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let inner = generator.subschema_for::<T>();
        json_schema!({ "anyOf": [inner, { "type": "null" }], "x-empty": "null" })
    }
}

impl FromStr for Where {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let given: serde_json::Value = serde_json::from_str(text)
            .map_err(|error| format!("{error}; give a JSON object, like '{{\"year\": {{\"$gte\": 2024}}}}'"))?;
        Where::of(&given)
    }
}

impl Where {
    fn of(given: &serde_json::Value) -> Result<Self, String> {
        MetadataFilter::parse(given).map(Where).map_err(|error| match error {
            memorist_engine::Error::Invalid { why, .. } => why,
            other => other.to_string(),
        })
    }
}

impl<'de> Deserialize<'de> for Where {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match serde_json::Value::deserialize(deserializer)? {
            serde_json::Value::String(text) => text.parse(),
            given => Where::of(&given),
        }
        .map_err(de::Error::custom)
    }
}

impl JsonSchema for Where {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Where".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object" })
    }
}

impl When {
    /// A bare number, which must not look like seconds.
    fn of_millis(number: i64) -> Result<Self, String> {
        if (1..MIN_PLAUSIBLE_MILLIS).contains(&number) {
            return Err(format!("{number} looks like seconds; give Unix milliseconds ({})", number * 1_000));
        }
        Ok(When(number))
    }
}

impl FromStr for When {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if let Ok(millis) = text.parse::<i64>() {
            return When::of_millis(millis);
        }
        if let Ok(at) = text.parse::<jiff::Timestamp>() {
            return Ok(When(at.as_millisecond()));
        }
        text.parse::<jiff::civil::DateTime>()
            .and_then(|at| at.to_zoned(jiff::tz::TimeZone::system()))
            .map(|at| When(at.timestamp().as_millisecond()))
            .map_err(|_| {
                format!("{text:?} is not a time; give Unix milliseconds or ISO 8601, like 2026-12-31T09:00:00Z")
            })
    }
}

impl fmt::Display for When {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(at) => write!(f, "{at:.0}"),
            Err(_) => write!(f, "{} ms", self.0),
        }
    }
}

impl Serialize for Iso {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(at) => serializer.collect_str(&format_args!("{at:.3}")),
            // Beyond the range of calendars.
            Err(_) => serializer.serialize_none(),
        }
    }
}

impl Importance {
    /// The name of its level.
    pub fn name(self) -> &'static str {
        match self.0 {
            9.. => "critical",
            7..9 => "high",
            4..7 => "medium",
            ..4 => "low",
        }
    }
}

impl FromStr for Importance {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.trim().to_lowercase().as_str() {
            "critical" => Ok(Importance(10)),
            "high" => Ok(Importance(8)),
            "medium" => Ok(Importance(5)),
            "low" => Ok(Importance(2)),
            text => text
                .parse()
                .map(Importance)
                .map_err(|_| format!("{text:?} is not an importance; give 1 to 10, or low, medium, high or critical")),
        }
    }
}

/// Parses a value from a text, or says why not.
pub(super) type Parse<T> = fn(&str) -> Result<T, String>;

/// Parses a whole number, or a text with `text`.
pub(super) struct WholeOr<T> {
    /// The name of the expected value, for errors.
    pub what: &'static str,
    pub number: fn(i64) -> Result<T, String>,
    pub text: Option<Parse<T>>,
}

impl<T> Visitor<'_> for WholeOr<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.what)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<T, E> {
        (self.number)(number).map_err(E::custom)
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<T, E> {
        let number = i64::try_from(number).map_err(|_| E::custom(format!("{number} is too large")))?;
        self.visit_i64(number)
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<T, E> {
        // 2^53: whole numbers up to here are exact in the doubles that JavaScript clients send.
        if number.fract() == 0.0 && number.abs() <= 9_007_199_254_740_992.0 {
            self.visit_i64(number as i64)
        } else {
            Err(E::invalid_type(de::Unexpected::Float(number), &self))
        }
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        match self.text {
            Some(parse) => parse(text).map_err(E::custom),
            None => Err(E::invalid_type(de::Unexpected::Str(text), &self)),
        }
    }
}

impl<'de> Deserialize<'de> for Int {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(WholeOr { what: "a whole number", number: |number| Ok(Int(number)), text: None })
    }
}

impl<'de> Deserialize<'de> for When {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let what = "a time as Unix milliseconds or ISO 8601 text";
        deserializer.deserialize_any(WholeOr { what, number: When::of_millis, text: Some(When::from_str) })
    }
}

impl<'de> Deserialize<'de> for Importance {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let what = "a whole number from 1 to 10";
        deserializer.deserialize_any(WholeOr {
            what,
            number: |number| Ok(Importance(number)),
            text: Some(Importance::from_str),
        })
    }
}

macro_rules! inline_schema {
    ($type:ident, $schema:tt) => {
        impl schemars::JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!($schema)
            }
        }
    };
}
pub(super) use inline_schema;

inline_schema!(Int, { "type": "integer" });
inline_schema!(Iso, { "type": "string" });
inline_schema!(When, { "type": ["integer", "string"] });
inline_schema!(Importance, {
    "anyOf": [
        { "type": "integer", "minimum": 1, "maximum": 10 },
        { "type": "string", "enum": ["low", "medium", "high", "critical"] }
    ]
});

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{from_str, json};

    #[test]
    fn whole_numbers_may_come_as_doubles() {
        assert_eq!(from_str::<Int>("3").unwrap(), Int(3));
        assert_eq!(from_str::<Int>("3.0").unwrap(), Int(3));
        assert_eq!(from_str::<Int>("-1").unwrap(), Int(-1));
        for refused in ["3.5", "\"3\"", "1e300", "18446744073709551615", "null", "[3]"] {
            assert!(from_str::<Int>(refused).is_err(), "{refused}");
        }
    }

    #[test]
    fn a_condition_may_come_as_json_in_a_text() {
        let object = from_str::<Where>(r#"{"year": {"$gte": 2024}}"#).unwrap();
        assert_eq!(from_str::<Where>(r#""{\"year\": {\"$gte\": 2024}}""#).unwrap(), object);
        for refused in ["7", "[]", "null", "\"\"", "\"year\"", r#"{"year": {"gte": 2024}}"#] {
            assert!(from_str::<Where>(refused).is_err(), "{refused}");
        }
    }

    #[test]
    fn times_come_as_milliseconds_or_iso_8601() {
        for text in ["1767225600000", "\"2026-01-01T00:00:00Z\"", "\"2026-01-01\"", "\"2026-01-01T01:00:00+01:00\""] {
            assert_eq!(from_str::<When>(text).unwrap(), When(1_767_225_600_000), "{text}");
        }
        let error = from_str::<When>("\"tomorrow\"").unwrap_err().to_string();
        assert!(error.contains("tomorrow") && error.contains("ISO 8601"), "{error}");
        assert_eq!(When(1_767_225_600_000).to_string(), "2026-01-01T00:00:00Z");
        assert_eq!(When(i64::MAX).to_string(), format!("{} ms", i64::MAX));
    }

    #[test]
    fn an_iso_time_has_milliseconds() {
        assert_eq!(serde_json::to_value(Iso(1_767_225_600_007)).unwrap(), "2026-01-01T00:00:00.007Z");
    }

    #[test]
    fn importance_has_names() {
        assert_eq!(from_str::<Importance>("\"critical\"").unwrap(), Importance(10));
        assert_eq!(from_str::<Importance>("7").unwrap(), Importance(7));
        assert!(from_str::<Importance>("\"huge\"").unwrap_err().to_string().contains("low, medium, high"));
    }

    #[test]
    fn a_patch_distinguishes_null_from_absent() {
        #[derive(Deserialize)]
        struct Holder {
            #[serde(default)]
            field: Patch<String>,
        }
        let read = |value| serde_json::from_value::<Holder>(value).unwrap().field;
        assert_eq!(read(json!({})), Patch::Absent);
        assert_eq!(read(json!({ "field": null })), Patch::Null);
        assert_eq!(read(json!({ "field": "x" })).into_option(), Some(Some("x".to_owned())));
    }
}
