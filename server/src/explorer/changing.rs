//! Changes of what somebody else may have changed. `expect` is the version that a person saw: if there is another, nothing is
//! changed, and the problem is a conflict.

use memorist_engine::types::Expect;
use memorist_engine::{Engine, Error, Result};
use serde_json::{Map, Value, json};

use crate::ops::{self, Context, explore};
use crate::tools::{Problem, ProblemKind, parse_params, to_json};
use crate::wire::core::{UndoMany, UndoParams};
use crate::wire::{DeleteParams, DeleteResult, RollbackParams, UndoResult, UpdateParams, UpdateResult};

pub fn update(engine: &Engine, context: &Context, mut given: Map<String, Value>) -> Result<Value, Problem> {
    let expect = expected(&mut given)?;
    let params: UpdateParams = parse_params(given)?;
    let (id, viewer) = (params.id.0, context.defaults.own_viewer());
    let mut update = ops::to_update(engine, params)?;
    update.expect = expect;
    to_json(&UpdateResult::of(&engine.viewed_by(&viewer).update(id.into(), &update).map_err(conflict)?))
}

pub fn delete(engine: &Engine, context: &Context, mut given: Map<String, Value>) -> Result<Value, Problem> {
    let expect = expected(&mut given)?;
    let params: DeleteParams = parse_params(given)?;
    let id = params.id.0.into();
    let deleted =
        engine.viewed_by(&context.defaults.own_viewer()).delete_expected(id, expect.as_ref()).map_err(conflict)?;
    deleted.ok_or(Error::NotFound(id))?;
    to_json(&DeleteResult { success: true, deleted: true })
}

pub fn roll_back(engine: &Engine, context: &Context, mut given: Map<String, Value>) -> Result<Value, Problem> {
    let expect = expected(&mut given)?;
    let RollbackParams { id, version, reason, .. } = parse_params(given)?;
    let viewer = context.defaults.own_viewer();
    let outcome = engine.viewed_by(&viewer).roll_back(id.0.into(), version.0, reason.as_deref(), expect.as_ref());
    to_json(&UpdateResult::of(&outcome.map_err(conflict)?))
}

pub fn merge(engine: &Engine, context: &Context, given: Map<String, Value>) -> Result<Value, Problem> {
    to_json(&explore::merge(engine, context, parse_params(given)?).map_err(conflict)?)
}

/// `undo`: of one memory, or of several in this order. `expect` is the version of each that a person saw. The first that cannot
/// be undone ends it, and the problem says which were.
pub fn undo(engine: &Engine, context: &Context, mut given: Map<String, Value>) -> Result<Value, Problem> {
    let is_one = !given.contains_key("ids");
    let expect = match given.shift_remove("expect") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(versions)) if !is_one => versions,
        Some(version) => vec![version],
    };
    let expect = expect.into_iter().map(version).collect::<Result<Vec<_>, _>>()?;
    let UndoMany(each) = parse_params(given)?;
    if !expect.is_empty() && expect.len() != each.len() {
        return Err(Problem::input("expect: must be the version of each memory"));
    }
    let mut results = Vec::new();
    for (at, params) in each.iter().enumerate() {
        match undo_one(engine, context, params, expect.get(at)) {
            Ok(undone) => results.push(to_json(&undone)?),
            Err(problem) if results.is_empty() => return Err(problem),
            Err(problem) => {
                let done: Vec<_> = each[..at].iter().map(|done| done.id.0.to_string()).collect();
                let why = format!(
                    "memory {} was not undone: {}; undone were: {}",
                    params.id.0,
                    problem.message,
                    done.join(", ")
                );
                return Err(Problem { kind: ProblemKind::Conflict, message: why });
            }
        }
    }
    Ok(if is_one { results.remove(0) } else { json!({ "results": results }) })
}

fn undo_one(
    engine: &Engine,
    context: &Context,
    params: &UndoParams,
    expect: Option<&Expect>,
) -> Result<UndoResult, Problem> {
    if expect.is_none() {
        return ops::undo(engine, context, params.clone()).map_err(conflict);
    }
    if params.version.is_some() || params.linked_id.is_some() {
        return Err(Problem::input("expect: is for the last thing that was done; leave version and linkedId out"));
    }
    let id = params.id.0.into();
    let undone = engine.viewed_by(&context.defaults.own_viewer()).undo_expected(id, expect).map_err(conflict)?;
    Ok(UndoResult::of(id, &[undone]))
}

/// Takes `expect` out of the parameters.
fn expected(given: &mut Map<String, Value>) -> Result<Option<Expect>, Problem> {
    given.shift_remove("expect").filter(|expect| !expect.is_null()).map(version).transpose()
}

fn version(given: Value) -> Result<Expect, Problem> {
    let version = given.as_i64().map(Expect::Version);
    version.ok_or_else(|| Problem::input("expect: must be the version that was seen, a number"))
}

/// An error of the engine; a version that was not expected is a conflict, and so is a link that is gone.
fn conflict(error: Error) -> Problem {
    let is_conflict = matches!(error, Error::Invalid { field: "expect" | "linkedId", .. });
    let problem = Problem::from(error);
    if is_conflict { Problem { kind: ProblemKind::Conflict, ..problem } } else { problem }
}
