//! Parsers of values.

use std::str::FromStr;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use memorist_engine::types::{Direction, Kind, LinkKind};
use memorist_ingest::sources::moving::System;

/// Every kind of memory, for help, completion and errors.
pub fn kinds() -> impl TypedValueParser<Value = Kind> {
    one_of(Kind::ALL.map(Kind::as_str))
}

/// Every kind of link.
pub fn link_kinds() -> impl TypedValueParser<Value = LinkKind> {
    one_of(LinkKind::ALL.map(LinkKind::as_str))
}

/// Every direction.
pub fn directions() -> impl TypedValueParser<Value = Direction> {
    one_of(Direction::ALL.map(Direction::as_str))
}

/// Every memory system whose store can be read.
pub fn systems() -> impl TypedValueParser<Value = System> {
    PossibleValuesParser::new(System::ALL.map(System::name)).try_map(|name| name.parse::<System>())
}

fn one_of<const N: usize, T>(names: [&'static str; N]) -> impl TypedValueParser<Value = T>
where
    T: FromStr<Err = memorist_engine::Error> + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(names).try_map(|name| name.parse::<T>())
}

/// The id of a memory.
pub fn id(text: &str) -> Result<i64, String> {
    text.parse().map_err(|_| "an id is a whole number; `search` and `list` show the ids".to_owned())
}
