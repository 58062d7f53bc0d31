//! JSON, JSONC and JSON5: edited in a concrete syntax tree, which keeps comments, order and spacing.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstContainerNode, CstInputValue, CstNode, CstObject, CstObjectProp, CstRootNode};
use serde_json::Value;

use super::entry::{Entry, Slot};
use super::refused::Refused;

fn options(loose: bool) -> ParseOptions {
    ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_missing_commas: false,
        allow_loose_object_property_names: loose,
        allow_single_quoted_strings: loose,
        allow_hexadecimal_numbers: loose,
        allow_unary_plus_numbers: loose,
        allow_bare_decimal_point_numbers: loose,
        allow_non_finite_numbers: loose,
        allow_extended_string_escapes: loose,
    }
}

fn parse(text: &str, loose: bool) -> Result<CstRootNode, String> {
    CstRootNode::parse(text, &options(loose)).map_err(|error| error.to_string())
}

pub(super) fn read(text: &str, loose: bool) -> Result<Value, String> {
    let root = parse(text, loose)?;
    match root.value() {
        None => Ok(Value::Null),
        Some(node) => node.to_serde_value().ok_or_else(|| "a value has no meaning in JSON".to_owned()),
    }
}

pub(super) fn insert(text: &str, loose: bool, entry: &Entry) -> Result<String, Refused> {
    let root = parse(text, loose).map_err(Refused::Unreadable)?;
    let mut object = root.object_value_or_create().ok_or(Refused::Unsafe)?;
    for (depth, key) in entry.path.iter().enumerate() {
        let member = only(&object, key)?;
        if member.as_ref().and_then(CstObjectProp::value).is_some_and(|value| value.as_null_keyword().is_some())
            && let Some(member) = member
        {
            let is_list = depth + 1 == entry.path.len() && entry.slot == Slot::Item;
            member.set_value(if is_list { CstInputValue::Array(vec![]) } else { CstInputValue::Object(vec![]) });
        }
        if depth + 1 == entry.path.len() && entry.slot == Slot::Item {
            let list = object.array_value_or_create(key).ok_or_else(|| entry.wrong_type(depth))?;
            list.append(input(&entry.value));
            return Ok(root.to_string());
        }
        object = object.object_value_or_create(key).ok_or_else(|| entry.wrong_type(depth))?;
    }
    match &entry.slot {
        Slot::Member(name) if only(&object, name)?.is_none() => drop(object.append(name, input(&entry.value))),
        _ => return Err(Refused::Unsafe),
    }
    Ok(root.to_string())
}

pub(super) fn remove(text: &str, loose: bool, entry: &Entry) -> Result<String, Refused> {
    let root = parse(text, loose).map_err(Refused::Unreadable)?;
    let mut object = root.object_value().ok_or(Refused::Unsafe)?;
    for (depth, key) in entry.path.iter().enumerate() {
        let member = only(&object, key)?.ok_or(Refused::Unsafe)?;
        if depth + 1 == entry.path.len() && entry.slot == Slot::Item {
            remove_item(&member.array_value().ok_or(Refused::Unsafe)?, &entry.value)?;
            return Ok(root.to_string());
        }
        object = member.object_value().ok_or(Refused::Unsafe)?;
    }
    let Slot::Member(name) = &entry.slot else { return Err(Refused::Unsafe) };
    only(&object, name)?.ok_or(Refused::Unsafe)?.remove();
    Ok(root.to_string())
}

fn remove_item(list: &CstArray, value: &Value) -> Result<(), Refused> {
    let is_ours = |node: &CstNode| node.to_serde_value().as_ref() == Some(value);
    let node = list.elements().into_iter().rfind(is_ours).ok_or(Refused::Unsafe)?;
    match node {
        CstNode::Container(CstContainerNode::Object(object)) => object.remove(),
        _ => return Err(Refused::Unsafe),
    }
    Ok(())
}

/// The member of this name. Two of one name are refused: programs differ in which of them counts.
fn only(object: &CstObject, name: &str) -> Result<Option<CstObjectProp>, Refused> {
    let mut named = object.properties().into_iter().filter(|member| member.decoded_name().as_deref() == Some(name));
    match (named.next(), named.next()) {
        (_, Some(_)) => Err(Refused::InTheWay(format!("`{name}` stands in it twice"))),
        (member, None) => Ok(member),
    }
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(value) => CstInputValue::Number(value.to_string()),
        Value::String(value) => CstInputValue::String(value.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(members) => {
            CstInputValue::Object(members.iter().map(|(name, value)| (name.clone(), input(value))).collect())
        }
    }
}
