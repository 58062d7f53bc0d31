//! A tool: its texts, its schemas, and its function from JSON to JSON.

use std::sync::Arc;

use memorist_engine::Engine;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::problem::{Problem, ProblemKind};
use crate::ops::Context;
use crate::serving::Access;
use crate::wire;

/// The function of a tool, from adapted parameters to a result.
type Run = dyn Fn(&Engine, &Context, Map<String, Value>) -> Result<ToolOutput, Problem> + Send + Sync;

/// Makes a JSON schema.
pub type Schema = fn() -> Arc<Map<String, Value>>;

/// The result of a call.
#[derive(Debug)]
pub struct ToolOutput {
    /// The structured result, if the tool has one.
    pub structured: Option<Value>,
    /// The result as text, if there is a form that reads better than JSON.
    pub words: Option<String>,
}

/// The effect of a tool on the store, for clients that ask for confirmation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolEffect {
    /// It returns counts, and no text of a memory.
    Count,
    /// It returns saved data, and changes nothing that a caller could break. Its description says that this is data.
    Read,
    /// It adds; existing data stays, and is not added twice.
    Add,
    /// It adds with each call.
    Append,
    /// It changes or removes existing data.
    Change,
}

impl ToolEffect {
    /// Whether the tool can change memories or links. One that reads may count accesses, and note which memories a
    /// session got.
    pub fn access(self) -> Access {
        match self {
            ToolEffect::Count | ToolEffect::Read => Access::Read,
            ToolEffect::Add | ToolEffect::Append | ToolEffect::Change => Access::Write,
        }
    }
}

/// A tool.
#[derive(Clone)]
pub struct Tool {
    pub name: &'static str,
    pub effect: ToolEffect,
    pub title: &'static str,
    pub description: &'static str,
    /// A few words by which a model finds the tool, for clients that show it only the names of most tools.
    pub hint: Option<&'static str>,
    /// Parameters that are understood, but not published.
    pub hidden: &'static [&'static str],
    /// The published schema of the parameters.
    pub parameters: Schema,
    /// The schema of the result; `None` if that is text.
    pub result: Option<Schema>,
    /// Gives parameters the form of the schema, where the meaning is plain: `"#12"` becomes 12.
    pub adapt: fn(&mut Map<String, Value>),
    /// Whether null has a meaning for this parameter.
    pub is_nullable: fn(&str) -> bool,
    pub run: Arc<Run>,
}

impl Tool {
    /// A tool with parameters `P` and result `R`.
    pub fn new<P, R, E>(effect: ToolEffect, name: &'static str, run: fn(&Engine, &Context, P) -> Result<R, E>) -> Self
    where
        P: DeserializeOwned + JsonSchema + 'static,
        R: Serialize + JsonSchema + 'static,
        E: Into<Problem> + 'static,
    {
        Tool::with_text(effect, name, run, |_| None)
    }

    /// A tool whose result has a text form, too.
    pub fn with_text<P, R, E>(
        effect: ToolEffect,
        name: &'static str,
        run: fn(&Engine, &Context, P) -> Result<R, E>,
        words: fn(&R) -> Option<String>,
    ) -> Self
    where
        P: DeserializeOwned + JsonSchema + 'static,
        R: Serialize + JsonSchema + 'static,
        E: Into<Problem> + 'static,
    {
        let schema = Some(wire::output_schema::<R> as Schema);
        Tool::of::<P>(effect, name, schema, wire::adapt_values::<P>, move |engine, context, params| {
            let result = run(engine, context, parse_params(params)?).map_err(Into::<Problem>::into)?;
            Ok(ToolOutput { structured: Some(to_json(&result)?), words: words(&result) })
        })
    }

    /// A tool whose result is text alone. Models may use other names of its parameters.
    pub fn text<P, E>(
        effect: ToolEffect,
        name: &'static str,
        run: fn(&Engine, &Context, P) -> Result<String, E>,
    ) -> Self
    where
        P: DeserializeOwned + JsonSchema + 'static,
        E: Into<Problem> + 'static,
    {
        Tool::of::<P>(effect, name, None, wire::lenient::<P>, move |engine, context, params| {
            wire::check_names::<P>(&params)?;
            let words = run(engine, context, parse_params(params)?).map_err(Into::<Problem>::into)?;
            Ok(ToolOutput { structured: None, words: Some(words) })
        })
    }

    fn of<P: JsonSchema + 'static>(
        effect: ToolEffect,
        name: &'static str,
        result: Option<Schema>,
        adapt: fn(&mut Map<String, Value>),
        run: impl Fn(&Engine, &Context, Map<String, Value>) -> Result<ToolOutput, Problem> + Send + Sync + 'static,
    ) -> Self {
        Tool {
            name,
            effect,
            title: "",
            description: "",
            hint: None,
            hidden: &[],
            parameters: wire::input_schema::<P>,
            result,
            adapt,
            is_nullable: wire::is_nullable::<P>,
            run: Arc::new(run),
        }
    }

    pub fn describe(self, title: &'static str, description: &'static str) -> Self {
        Tool { title, description, ..self }
    }

    pub fn hint(self, hint: &'static str) -> Self {
        Tool { hint: Some(hint), ..self }
    }

    pub fn hide(self, hidden: &'static [&'static str]) -> Self {
        Tool { hidden, ..self }
    }

    /// Calls the tool for a program: adapts the parameters, and returns the structured result.
    ///
    /// # Errors
    /// As of [`call_strictly`].
    pub fn call(&self, engine: &Engine, context: &Context, mut params: Map<String, Value>) -> Result<Value, Problem> {
        (self.adapt)(&mut params);
        found((self.run)(engine, context, params)?.structured.unwrap_or_default())
    }
}

/// Calls a function of `ops` with parameters as JSON, and returns its result as JSON. It is strict only about types: it
/// converts no loosely typed values, but a null that a parameter does not accept counts as omitted.
///
/// # Errors
/// [`ProblemKind::InvalidInput`] for wrong parameters, [`ProblemKind::NotFound`] for an unknown id, and errors of the
/// engine, converted by `Problem::from`.
pub fn call_strictly<P: DeserializeOwned, R: Serialize>(
    engine: &Engine,
    context: &Context,
    params: Map<String, Value>,
    operation: impl FnOnce(&Engine, &Context, P) -> memorist_engine::Result<R>,
) -> Result<Value, Problem> {
    found(to_json(&operation(engine, context, parse_params(params)?)?)?)
}

/// For an unknown id, an operation of `ops` returns an ordinary result with a text in the field `error`, which a
/// language model reads. For a program it becomes an error here. So no result may have a text in `error` for another
/// reason.
fn found(result: Value) -> Result<Value, Problem> {
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
