//! The tools.

use memorist_engine::{Engine, Result};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::problem::{Problem, ProblemKind};
use crate::ops::{self, Context, memory_files};
use crate::serving::Access;
use crate::wire::{self, FileParams};

/// A function that runs a tool with parameters.
pub type ToolFn = fn(&Engine, &Context, Map<String, Value>) -> Result<Value, Problem>;

/// A tool.
#[derive(Clone, Copy)]
pub struct Tool {
    /// Its name: that of the `full` profile without `memory_`.
    pub name: &'static str,
    /// Whether it writes.
    pub access: Access,
    /// Calls it.
    pub call: ToolFn,
}

impl Tool {
    /// A tool that only reads.
    pub const fn reading(name: &'static str, call: ToolFn) -> Self {
        Tool { name, access: Access::Read, call }
    }

    /// A tool that writes.
    pub const fn writing(name: &'static str, call: ToolFn) -> Self {
        Tool { name, access: Access::Write, call }
    }
}

/// Tools that are called in the same way everywhere.
pub const TOOLS: &[Tool] = &[
    Tool::writing("add", |engine, context, given| adapted(engine, context, given, ops::add)),
    Tool::reading("get", |engine, context, given| adapted(engine, context, given, |e, c, p| ops::get(e, c, &p))),
    Tool::writing("update", |engine, context, given| adapted(engine, context, given, ops::update)),
    Tool::writing("delete", |engine, context, given| adapted(engine, context, given, |e, c, p| ops::delete(e, c, &p))),
    Tool::reading("list", |engine, context, given| adapted(engine, context, given, |e, c, p| ops::list(e, c, &p))),
    Tool::writing("link", |engine, context, given| adapted(engine, context, given, |e, c, p| ops::link(e, c, &p))),
    Tool::writing("unlink", |engine, context, given| adapted(engine, context, given, |e, c, p| ops::unlink(e, c, &p))),
    Tool::reading("history", |engine, context, given| {
        adapted(engine, context, given, |e, c, p| ops::history(e, c, &p))
    }),
    Tool::writing("rollback", |engine, context, given| {
        adapted(engine, context, given, |e, c, p| ops::roll_back(e, c, &p))
    }),
    Tool::writing("undo", |engine, context, given| adapted(engine, context, given, |e, c, p| ops::undo(e, c, &p))),
    Tool::reading("recall", |engine, context, given| adapted(engine, context, given, ops::recall)),
    Tool::writing("memory_files", |engine, context, mut given| {
        wire::adapt_values::<FileParams>(&mut given);
        Ok(memory_files::call(engine, context, parsed(given)?)?.into())
    }),
    Tool::writing("clear_memory_files", |engine, context, _| Ok(memory_files::clear(engine, context)?.into())),
    Tool::reading("stats", |engine, context, given| adapted(engine, context, given, |e, c, p| ops::stats(e, c, &p))),
];

/// Calls [`run`] with parameters as models and programs write them.
fn adapted<P: DeserializeOwned + JsonSchema + 'static, R: Serialize>(
    engine: &Engine,
    context: &Context,
    mut given: Map<String, Value>,
    tool: impl FnOnce(&Engine, &Context, P) -> Result<R>,
) -> Result<Value, Problem> {
    wire::adapt_values::<P>(&mut given);
    run(engine, context, given, tool)
}

/// Calls a function of `ops` with parameters as JSON. A memory that is not there is a [`ProblemKind::NotFound`].
pub fn run<P: DeserializeOwned, R: Serialize>(
    engine: &Engine,
    context: &Context,
    given: Map<String, Value>,
    tool: impl FnOnce(&Engine, &Context, P) -> Result<R>,
) -> Result<Value, Problem> {
    let result = value(&tool(engine, context, parsed(given)?)?)?;
    match result.get("error").and_then(Value::as_str) {
        // For a model an unknown id is an answer.
        Some(why) => Err(Problem { kind: ProblemKind::NotFound, message: why.to_owned() }),
        None => Ok(result),
    }
}

/// Parameters.
pub fn parsed<P: DeserializeOwned>(given: Map<String, Value>) -> Result<P, Problem> {
    wire::parse_exactly(given).map_err(Problem::input)
}

/// A result.
pub fn value(result: &impl Serialize) -> Result<Value, Problem> {
    serde_json::to_value(result)
        .map_err(|error| Problem { kind: ProblemKind::Store, message: format!("internal error: {error}") })
}
