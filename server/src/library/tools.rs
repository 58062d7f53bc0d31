//! The tools, by name.

use memorist_engine::{Engine, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::open::Library;
use super::problem::{Problem, ProblemKind};
use crate::ops::{self, Context};
use crate::wire::{self, SearchParams};

impl Library {
    /// Calls a tool: parameters and result as in the `full` profile, whose tools begin with `memory_`. A memory that is
    /// not there is a [`ProblemKind::NotFound`], and search results have the bodies of their memories.
    ///
    /// # Errors
    /// Those of the tool.
    pub fn call(&self, tool: &str, given: Map<String, Value>) -> Result<Value, Problem> {
        match tool {
            "add" => self.run(given, ops::add),
            "get" => self.run(given, |engine, context, params| ops::get(engine, context, &params)),
            "update" => self.run(given, ops::update),
            "delete" => self.run(given, |engine, context, params| ops::delete(engine, context, &params)),
            "list" => self.run(given, |engine, context, params| ops::list(engine, context, &params)),
            "link" => self.run(given, |engine, context, params| ops::link(engine, context, &params)),
            "unlink" => self.run(given, |engine, context, params| ops::unlink(engine, context, &params)),
            "history" => self.run(given, |engine, context, params| ops::history(engine, context, &params)),
            "rollback" => self.run(given, |engine, context, params| ops::roll_back(engine, context, &params)),
            "undo" => self.run(given, |engine, context, params| ops::undo(engine, context, &params)),
            "recall" => self.run(given, ops::recall),
            "stats" => self.run(given, |engine, context, params| ops::stats(engine, context, &params)),
            "search" => self.search(given, None),
            _ => Err(Problem::input(format!("there is no tool {tool:?}"))),
        }
    }

    /// Searches; with the vector that the program has made of the query, where it has.
    ///
    /// # Errors
    /// Those of the tool, and if the vector is not one of the store's model.
    pub fn search(&self, given: Map<String, Value>, vector: Option<Vec<f32>>) -> Result<Value, Problem> {
        let params: SearchParams = parsed(given)?;
        let query = self.context.query(&params)?;
        query.validate()?;
        let reply = match vector {
            Some(vector) => self.engine.search_with(&query, Some(vector))?,
            None => ops::reply(&self.engine, &params, &query)?,
        };
        let bodies: Vec<_> =
            reply.hits.iter().map(|hit| hit.record.body.clone().map(|body| body.into_value())).collect();
        let mut result = value(&wire::search_result(reply, &params, &query))?;
        let hits = result.get_mut("results").and_then(Value::as_array_mut);
        for (hit, body) in hits.into_iter().flatten().zip(bodies) {
            if let Some(body) = body {
                hit["body"] = body;
            }
        }
        Ok(result)
    }

    fn run<P: DeserializeOwned, R: Serialize>(
        &self,
        given: Map<String, Value>,
        tool: impl FnOnce(&Engine, &Context, P) -> Result<R>,
    ) -> Result<Value, Problem> {
        let result = value(&tool(&self.engine, &self.context, parsed(given)?)?)?;
        match result.get("error").and_then(Value::as_str) {
            // For a model an unknown id is an answer.
            Some(why) => Err(Problem { kind: ProblemKind::NotFound, message: why.to_owned() }),
            None => Ok(result),
        }
    }
}

pub(super) fn parsed<P: DeserializeOwned>(given: Map<String, Value>) -> Result<P, Problem> {
    wire::parse(given).map_err(Problem::input)
}

pub(super) fn value(result: &impl Serialize) -> Result<Value, Problem> {
    serde_json::to_value(result)
        .map_err(|error| Problem { kind: ProblemKind::Store, message: format!("internal error: {error}") })
}
