//! The tools, by name.

use memorist_engine::Result;
use memorist_engine::types::Mode;
use serde_json::{Map, Value};

use super::open::Library;
use crate::ops::{self, memory_files};
use crate::tools::{self, Problem, parse_params, to_json};
use crate::wire::{self, FileParams, SearchParams};

impl Library {
    /// Calls a tool: parameters and result as in the `full` profile, whose tools begin with `memory_`. A memory that is
    /// not there is a [`NotFound`](crate::library::ProblemKind::NotFound), and search results have the bodies of their memories.
    /// Beside them, `memory_files` is the tool `memory` of the profile `files`, and `clear_memory_files`, without
    /// parameters, is no MCP tool.
    ///
    /// # Errors
    /// Errors of the tool.
    pub fn call(&self, tool: &str, mut given: Map<String, Value>) -> Result<Value, Problem> {
        match (tool, tools::named(tool)) {
            ("search", _) => self.search(given, None),
            ("memory_files", _) => {
                wire::adapt_values::<FileParams>(&mut given);
                Ok(memory_files::call(&self.engine, &self.context, parse_params(given)?)?.into())
            }
            ("clear_memory_files", _) => Ok(memory_files::clear(&self.engine, &self.context)?.into()),
            (_, Some(known)) => known.call(&self.engine, &self.context, given),
            (_, None) => Err(Problem::input(format!("unknown tool {tool:?}"))),
        }
    }

    /// Searches; with the vector that the program has made of the query, where it has.
    ///
    /// # Errors
    /// Errors of the tool, and if the vector is not one of the store's model.
    pub fn search(&self, given: Map<String, Value>, vector: Option<Vec<f32>>) -> Result<Value, Problem> {
        let params: SearchParams = parse_params(given)?;
        let viewer = self.context.defaults.viewer(&params.project, &params.agent)?;
        let query = self.context.query(&params, viewer)?;
        let reply = match vector {
            Some(vector) => {
                if query.mode != Mode::Keyword {
                    self.check_model()?;
                }
                query.validate_with_vector()?;
                ops::no_reply(&params, &query).map_or_else(|| self.engine.search_with(&query, Some(vector)), Ok)?
            }
            None => {
                query.validate()?;
                ops::reply(&self.engine, &params, &query)?
            }
        };
        let bodies: Vec<_> =
            reply.hits.iter().map(|hit| hit.record.body.clone().map(|body| body.into_value())).collect();
        let mut result = to_json(&wire::search_result(reply, &params, &query))?;
        let hits = result.get_mut("results").and_then(Value::as_array_mut);
        for (hit, body) in hits.into_iter().flatten().zip(bodies) {
            if let Some(body) = body {
                hit["body"] = body;
            }
        }
        Ok(result)
    }
}
