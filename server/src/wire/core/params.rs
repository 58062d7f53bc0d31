//! Parameters of the core profile that other profiles have not. Their descriptions are what a model reads.

use memorist_engine::types::LinkKind;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::super::params::{AddParams, expect_schema};
use super::super::schema::LinkKindName;
use super::super::times::Past;
use super::super::values::{Int, Patch};

/// The schema of parameters that are those of `$base` and these, and of which none is required.
macro_rules! extended_schema {
    ($type:ident, $base:ty, $properties:tt) => {
        impl JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                let mut schema = <$base>::json_schema(generator);
                schema.remove("required");
                if let (Some(Value::Object(properties)), Value::Object(more)) =
                    (schema.get_mut("properties"), serde_json::json!($properties))
                {
                    properties.extend(more);
                }
                schema
            }
        }
    };
}

/// `memory_add`: one memory, or several.
#[derive(Debug, Clone)]
pub enum SaveParams {
    /// One.
    One(Box<AddParams>),
    /// Several: the parameters of each, and those of all.
    Several(Vec<Value>, Map<String, Value>),
}

impl<'de> Deserialize<'de> for SaveParams {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error;
        let mut given = Map::deserialize(deserializer)?;
        match given.shift_remove("items").filter(|items| !items.is_null()) {
            Some(Value::Array(items)) if given.get("content").is_none_or(Value::is_null) => {
                Ok(SaveParams::Several(items, given))
            }
            Some(Value::Array(_)) => Err(D::Error::custom("give either content or items")),
            Some(_) => Err(D::Error::custom("items: must be a list of objects, each with content")),
            None => {
                super::super::parse_exactly(given).map(|one| SaveParams::One(Box::new(one))).map_err(D::Error::custom)
            }
        }
    }
}

extended_schema!(SaveParams, AddParams, {
    "items": {
        "type": "array",
        "items": { "type": "object" },
        "maxItems": 100,
        "description": "Several memories instead of content: objects with these parameters."
    }
});

/// `memory_get`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct CoreGetParams {
    /// Memory id.
    pub id: Option<Int>,
    /// Several ids; they share maxTokens.
    pub ids: Option<Vec<Int>>,
    /// Start a long text at this character.
    #[schemars(range(min = 0))]
    pub offset: Option<Int>,
    /// Part of a long text that has these words.
    pub passage: Option<String>,
    /// Include earlier versions.
    pub history: Option<bool>,
    /// Include a deleted memory; only with id.
    pub include_deleted: Option<bool>,
    /// Token budget, default 4000.
    #[schemars(range(min = 1))]
    pub max_tokens: Option<Int>,
    /// See memory_search.
    pub project: Patch<String>,
    /// See memory_search.
    pub agent: Patch<String>,
}

/// `memory_delete`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct CoreDeleteParams {
    /// Memory id.
    pub id: Option<Int>,
    /// Several ids.
    pub ids: Option<Vec<Int>>,
    /// See memory_update.
    #[schemars(schema_with = "expect_schema")]
    pub expect: Option<Value>,
    /// Instead of an id: memories with all these words, or this code. Returns a preview and a token.
    pub query: Option<String>,
    /// Token of the preview; repeat the other parameters to apply.
    pub confirm: Option<String>,
    /// See memory_search.
    pub project: Patch<String>,
    /// See memory_search.
    pub agent: Patch<String>,
}

/// `memory_undo`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UndoParams {
    /// Memory id.
    pub id: Int,
    /// Restore this version (see memory_get with history).
    pub version: Option<Int>,
    /// Remove the links between id and this memory.
    pub linked_id: Option<Int>,
    /// Only links of this type.
    #[serde(default)]
    #[schemars(with = "LinkKindName")]
    pub link_type: Option<LinkKind>,
    /// See memory_search.
    #[serde(default)]
    pub project: Patch<String>,
    /// See memory_search.
    #[serde(default)]
    pub agent: Patch<String>,
}

/// `memory_undo` of the core profile: the parameters for each of `ids`, or for `id`.
#[derive(Debug, Clone)]
pub struct UndoMany(pub Vec<UndoParams>);

impl<'de> Deserialize<'de> for UndoMany {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error;
        let mut given = Map::deserialize(deserializer)?;
        let ids = match given.shift_remove("ids").filter(|ids| !ids.is_null()) {
            None => return super::super::parse_exactly(given).map(|one| UndoMany(vec![one])).map_err(D::Error::custom),
            Some(_) if given.get("id").is_some_and(|id| !id.is_null()) => {
                return Err(D::Error::custom("give either id or ids"));
            }
            Some(Value::Array(ids)) if !ids.is_empty() => ids,
            Some(_) => return Err(D::Error::custom("ids: must be a list of ids")),
        };
        let each = ids.into_iter().map(|id| {
            let mut one = given.clone();
            one.insert("id".into(), id);
            super::super::parse_exactly(one)
        });
        each.collect::<Result<_, _>>().map(UndoMany).map_err(D::Error::custom)
    }
}

extended_schema!(UndoMany, UndoParams, {
    "ids": { "type": "array", "items": { "type": "integer" }, "description": "Several ids." }
});

/// `memory_digest`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct CoreDigestParams {
    /// Only this project's memories; "", "*", default: see memory_search.
    pub project: Patch<String>,
    /// Only memories whose body has this feature.
    pub feature: Option<String>,
    /// Changes since: ISO 8601, "7d" (default), "last week".
    pub since: Option<Past>,
    /// Token budget, default 1500.
    #[schemars(range(min = 1))]
    pub max_tokens: Option<Int>,
    /// See memory_search.
    pub agent: Patch<String>,
}

/// `memory_update`: the parameters of the other profiles, or a query and a token instead of the id.
#[derive(Debug, Clone)]
pub struct CoreUpdateParams {
    /// The change, and the id of the memory: 0 if a query names several.
    pub update: super::super::params::UpdateParams,
    /// The query that names the memories, instead of an id.
    pub query: Option<String>,
    /// The token of the preview.
    pub confirm: Option<String>,
    /// The other parameters as text: "30d" is the same change in each call, but another moment.
    pub given: String,
    /// Whether nothing but its scope is given.
    pub only_moves: bool,
}

impl<'de> Deserialize<'de> for CoreUpdateParams {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error;
        let mut given = Map::deserialize(deserializer)?;
        let mut text = |name: &str| match given.shift_remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(D::Error::custom(format!("{name}: must be a text"))),
        };
        let (query, confirm) = (text("query")?, text("confirm")?);
        let mut changes: Vec<(&String, &Value)> = given.iter().collect();
        changes.sort_by_key(|(name, _)| name.as_str());
        let text_of_given = format!("{changes:?}");
        let names = ["id", "project", "agent", "reason", "expect"];
        let only_moves = given.contains_key("project") && given.keys().all(|name| names.contains(&name.as_str()));
        if query.is_some() || confirm.is_some() {
            if given.get("id").is_some_and(|id| !id.is_null()) {
                return Err(D::Error::custom("give either id or query"));
            }
            given.insert("id".into(), 0.into());
        }
        let update = super::super::parse_exactly(given).map_err(D::Error::custom)?;
        Ok(CoreUpdateParams { update, query, confirm, given: text_of_given, only_moves })
    }
}

extended_schema!(CoreUpdateParams, super::super::params::UpdateParams, {
    "query": {
        "type": "string",
        "description": "Instead of an id: memories with all these words, or this code. Returns a preview and a token."
    },
    "confirm": {
        "type": "string",
        "description": "Token of the preview; repeat the other parameters to apply."
    }
});
