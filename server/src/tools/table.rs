//! The tools that programs call by name without MCP, with parameters and results as JSON.
//!
//! Programs in other languages call every tool of [`TOOLS`] through the library in `server/src/library/`. The page of
//! the explorer calls a few of them, and tools of its own (`explorer/own.rs` lists both). MCP clients call tools of other
//! tables: one for each *profile*, a named set of MCP tools (`mcp/profiles/`).

use memorist_engine::{Engine, Result};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::problem::{Problem, ProblemKind};
use crate::ops::{self, Context, memory_files};
use crate::serving::Access;
use crate::wire::{self, FileParams};

/// The function of a tool. It takes its parameters as JSON, and returns its result as JSON.
pub type ToolFn = fn(&Engine, &Context, Map<String, Value>) -> Result<Value, Problem>;

/// A tool that is called by name.
#[derive(Clone, Copy)]
pub struct Tool {
    /// The name, unique in a table. In [`TOOLS`] it is the name of the same tool in the MCP profile `full`, without the
    /// prefix `memory_`: `add` for `memory_add`. Two tools are not in that profile: `memory_files`, which is the tool
    /// `memory` of the profile `files`, and `clear_memory_files`, which is no MCP tool.
    pub name: &'static str,
    /// Whether the tool can change memories or links.
    pub access: Access,
    /// The function that runs the tool.
    pub call: ToolFn,
}

impl Tool {
    /// A tool that changes no memory and no link. It may count accesses, and note which memories a session got.
    pub const fn reading(name: &'static str, call: ToolFn) -> Self {
        Tool { name, access: Access::Read, call }
    }

    /// A tool that can change memories or links.
    pub const fn writing(name: &'static str, call: ToolFn) -> Self {
        Tool { name, access: Access::Write, call }
    }
}

/// The tools of the library for other languages (`server/src/library/`). The context has defaults for parameters that a
/// call omits, such as the project.
///
/// `search` is not among them: that of the library also takes a vector that the program computed (`library/tools.rs`),
/// and that of the explorer has other parameters (`explorer/own.rs`).
///
/// A function of `ops` that takes its parameters by reference is called in a closure (`e`: engine, `c`: context,
/// `p`: parameters).
pub const TOOLS: &[Tool] = &[
    Tool::writing("add", |engine, context, params| call_leniently(engine, context, params, ops::add)),
    Tool::reading("get", |engine, context, params| {
        call_leniently(engine, context, params, |e, c, p| ops::get(e, c, &p))
    }),
    Tool::writing("update", |engine, context, params| call_leniently(engine, context, params, ops::update)),
    Tool::writing("delete", |engine, context, params| {
        call_leniently(engine, context, params, |e, c, p| ops::delete(e, c, &p))
    }),
    Tool::reading("list", |engine, context, params| {
        call_leniently(engine, context, params, |e, c, p| ops::list(e, c, &p))
    }),
    Tool::writing("link", |engine, context, params| {
        call_leniently(engine, context, params, |e, c, p| ops::link(e, c, &p))
    }),
    Tool::writing("unlink", |engine, context, params| {
        call_leniently(engine, context, params, |e, c, p| ops::unlink(e, c, &p))
    }),
    Tool::reading("history", |engine, context, params| {
        call_leniently(engine, context, params, |e, c, p| ops::history(e, c, &p))
    }),
    Tool::writing("rollback", |engine, context, params| {
        call_leniently(engine, context, params, |e, c, p| ops::roll_back(e, c, &p))
    }),
    Tool::writing("undo", |engine, context, params| {
        call_leniently(engine, context, params, |e, c, p| ops::undo(e, c, &p))
    }),
    Tool::reading("recall", |engine, context, params| call_leniently(engine, context, params, ops::recall)),
    // The two tools for memory files do not use `call_leniently`: they have their own error type, and their result is a
    // text, not an object that may have a field `error`.
    Tool::writing("memory_files", |engine, context, mut params| {
        wire::adapt_values::<FileParams>(&mut params);
        Ok(memory_files::call(engine, context, parse_params(params)?)?.into())
    }),
    // Takes no parameters.
    Tool::writing("clear_memory_files", |engine, context, _| Ok(memory_files::clear(engine, context)?.into())),
    Tool::reading("stats", |engine, context, params| {
        call_leniently(engine, context, params, |e, c, p| ops::stats(e, c, &p))
    }),
];

/// Calls like [`call_strictly`], but first converts loosely typed values to the types of `P`, such as `"#12"` to 12
/// ([`wire::adapt_values`]).
fn call_leniently<P: DeserializeOwned + JsonSchema + 'static, R: Serialize>(
    engine: &Engine,
    context: &Context,
    mut params: Map<String, Value>,
    operation: impl FnOnce(&Engine, &Context, P) -> Result<R>,
) -> Result<Value, Problem> {
    wire::adapt_values::<P>(&mut params);
    call_strictly(engine, context, params, operation)
}

/// Calls a function of `ops` with parameters as JSON, and returns its result as JSON. It is strict only about types: it
/// converts no loosely typed values, but a null that a parameter does not accept counts as omitted.
///
/// Most of the explorer's own tools use it directly: the page sends values of the right types. The others call
/// [`parse_params`] and [`to_json`] themselves (`explorer/changing.rs`, `explorer/map.rs`).
///
/// # Errors
/// [`ProblemKind::InvalidInput`] for wrong parameters, [`ProblemKind::NotFound`] for an unknown id, and errors of the
/// engine, converted by `Problem::from`.
pub fn call_strictly<P: DeserializeOwned, R: Serialize>(
    engine: &Engine,
    context: &Context,
    params: Map<String, Value>,
    operation: impl FnOnce(&Engine, &Context, P) -> Result<R>,
) -> Result<Value, Problem> {
    let result = to_json(&operation(engine, context, parse_params(params)?)?)?;
    // For an unknown id, an operation of `ops` returns an ordinary result with a text in the field `error`, which a
    // language model reads. For a program it becomes an error here. So no result may have a text in `error` for another
    // reason.
    match result.get("error").and_then(Value::as_str) {
        Some(why) => Err(Problem { kind: ProblemKind::NotFound, message: why.to_owned() }),
        None => Ok(result),
    }
}

/// Parses parameters without conversions. A null that a parameter does not accept counts as omitted
/// ([`wire::parse_exactly`]).
///
/// # Errors
/// [`ProblemKind::InvalidInput`].
pub fn parse_params<P: DeserializeOwned>(params: Map<String, Value>) -> Result<P, Problem> {
    wire::parse_exactly(params).map_err(Problem::input)
}

/// Serializes a result.
///
/// # Errors
/// [`ProblemKind::Store`] if it cannot be JSON, which is a bug.
pub fn to_json(result: &impl Serialize) -> Result<Value, Problem> {
    serde_json::to_value(result)
        .map_err(|error| Problem { kind: ProblemKind::Store, message: format!("internal error: {error}") })
}
