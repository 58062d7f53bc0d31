//! The functions by name, called on the engine.

use std::sync::Arc;

use memorist_engine::Engine;
use memorist_engine::types::Viewer;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::own::{FUNCTIONS, PageFunction};
use super::pace::Pace;
use super::{answers, map, streams};
use crate::http::{Answer, Slot};
use crate::machines::Standing;
use crate::ops::Context;
use crate::serving::{Access, Changes, Dispatcher, Unavailable};
use crate::tools::{Problem, ProblemKind, to_json};
use crate::wire::explore::OverviewResult;
use crate::wire::{self, MapStateResult};

const READ_ONLY: &str = "the web UI is read-only: it was started with --read-only";
const UNWRITABLE: &str = "this store is read-only here";
/// Functions beside `map` that look at all memories, and that a page calls again with each change.
const PACED: [&str; 2] = ["timeline", "mapLabels"];
/// Fields of results about everyone (sizes of the indexes, names of files), which a page that shows a part does not get.
pub const WIDE_ONLY: [&str; 3] = ["indexes", "remainingFiles", "machines"];
/// Earlier names of functions, each with its present one.
const EARLIER: [(&str, &str); 4] =
    [("why", "explain"), ("neighbours", "neighbors"), ("mapMask", "mapFilter"), ("makeMap", "buildMap")];

/// The state on which functions are called.
pub struct Api {
    /// The engine.
    pub dispatcher: Dispatcher,
    /// The page's view of the store.
    pub context: Arc<Context>,
    /// Tells of changes.
    pub changes: Changes,
    /// Maps that are made.
    pub making: map::Making,
    /// How often all memories are looked at.
    pub pace: Pace,
    /// The room for events.
    pub events: streams::StreamLimit,
    /// The room for exports, each of which reads one state of the store until it is over.
    pub exports: streams::StreamLimit,
    /// Where the store is.
    pub store: String,
    /// Whether nothing may be changed.
    pub read_only: bool,
}

/// The function behind a name.
#[derive(Clone, Copy)]
pub enum Function {
    /// A function with parameters and a result.
    Plain(&'static PageFunction),
    /// A stream of changes, as they happen.
    Events,
    /// Memories as the lines of an export.
    Export,
    /// A function that is answered in bytes.
    Bytes(Bytes),
    Map,
    /// A map is built.
    BuildMap,
}

/// A function that is answered in bytes; `None`: the page has them.
type Bytes = fn(&Engine, &Context, Map<String, Value>) -> Result<Option<Vec<u8>>, Problem>;

impl Function {
    /// The function with this name, or earlier name.
    pub fn named(name: &str) -> Option<Self> {
        let name = EARLIER.iter().find(|(earlier, _)| *earlier == name).map_or(name, |(_, now)| now);
        match name {
            "events" => Some(Function::Events),
            "export" => Some(Function::Export),
            "map" => Some(Function::Map),
            "mapFilter" => Some(Function::Bytes(map::filter)),
            "buildMap" => Some(Function::BuildMap),
            _ => FUNCTIONS.iter().find(|function| function.name == name).map(Function::Plain),
        }
    }
}

impl Api {
    pub async fn answer(self: &Arc<Self>, function: Function, given: Map<String, Value>, slot: Arc<Slot>) -> Answer {
        if let Some(why) = self.widens(&given) {
            return answers::forbidden(&why);
        }
        match function {
            Function::Plain(tool) if PACED.contains(&tool.name) => {
                let api = self.clone();
                self.paced(tool.name, given.clone(), async move { api.call(tool, given).await }).await
            }
            Function::Plain(tool) => self.call(tool, given).await,
            // A page that has one asks whether there is a newer one.
            Function::Map if given.contains_key("have") => {
                let api = self.clone();
                self.paced("map", Map::new(), async move { api.bytes(map::view, given).await }).await
            }
            Function::Map => self.bytes(map::view, given).await,
            Function::Events => streams::events(self.changes.clone(), self.making.subscribe(), &self.events, slot),
            Function::Bytes(function) => self.bytes(function, given).await,
            Function::BuildMap if self.read_only => answers::read_only(READ_ONLY),
            Function::BuildMap => {
                match self.making.begin(&self.dispatcher, self.context.defaults.own_viewer(), given).await {
                    Ok(state) => answers::result(&state),
                    Err(problem) => answers::problem(&problem, None),
                }
            }
            Function::Export => streams::export(self.dispatcher.clone(), &self.context, given, &self.exports, slot),
        }
    }

    async fn paced(
        &self,
        name: &'static str,
        asked: Map<String, Value>,
        look: impl Future<Output = Answer> + Send + 'static,
    ) -> Answer {
        let looked = self.pace.keep(name, asked, look).await;
        looked.unwrap_or_else(|_| answers::unavailable(Unavailable::Panicked))
    }

    async fn call(&self, tool: &'static PageFunction, given: Map<String, Value>) -> Answer {
        let writes = tool.access == Access::Write;
        if writes && self.read_only {
            return answers::read_only(READ_ONLY);
        }
        let context = self.context.clone();
        let (store, read_only, is_narrow) = (self.store.clone(), self.read_only, self.is_narrow());
        let called = self.dispatcher.call(tool.access, move |engine| {
            if writes && !engine.can_write() {
                return answers::read_only(UNWRITABLE);
            }
            let seen = Seen::all_of(&given);
            match (tool.call)(engine, &context, given) {
                Ok(mut result) => {
                    if tool.name == "overview" {
                        result["readOnly"] = (read_only || !engine.can_write()).into();
                        match Overview::json(result, store, engine, &context.defaults.own_viewer()) {
                            Ok(overview) => result = overview,
                            Err(problem) => return answers::problem(&problem, None),
                        }
                    }
                    if is_narrow && let Some(result) = result.as_object_mut() {
                        WIDE_ONLY.iter().for_each(|field| _ = result.shift_remove(*field));
                    }
                    answers::result(&result)
                }
                Err(problem) => {
                    let viewer = context.defaults.own_viewer();
                    let is_conflict = problem.kind == ProblemKind::Conflict;
                    let mut seen = seen.into_iter().filter(|_| is_conflict);
                    answers::problem(&problem, seen.find_map(|seen| seen.other_now(engine, &viewer)))
                }
            }
        });
        called.await.unwrap_or_else(answers::unavailable)
    }

    async fn bytes(&self, function: Bytes, given: Map<String, Value>) -> Answer {
        let context = self.context.clone();
        let called = self.dispatcher.call(Access::Read, move |engine| match function(engine, &context, given) {
            Ok(bytes) => answers::bytes(bytes),
            Err(problem) => answers::problem(&problem, None),
        });
        called.await.unwrap_or_else(answers::unavailable)
    }

    /// Whether it does not show everything.
    fn is_narrow(&self) -> bool {
        self.context.defaults.project().is_some() || self.context.defaults.agent().is_some()
    }

    /// Why the parameters ask for more than this explorer shows, if they do.
    fn widens(&self, given: &Map<String, Value>) -> Option<String> {
        let defaults = &self.context.defaults;
        [("project", defaults.project()), ("agent", defaults.agent())].into_iter().find_map(|(name, own)| {
            let (own, asked) = (own?, given.get(name)?.as_str()?);
            let why =
                || format!("the web UI is limited to the {name} {own:?}; start it without --{name} to see others");
            (asked != own).then(why)
        })
    }
}

/// The result of `overview`, as the page gets it.
#[derive(Serialize, JsonSchema)]
pub struct Overview {
    #[serde(flatten)]
    #[schemars(with = "OverviewResult")]
    overview: Value,
    map: MapStateResult,
    /// The version of memorist.
    version: &'static str,
    /// Where the store is.
    store: String,
    /// Other machines of the person; missing on a page that shows a part of the store.
    machines: Standing,
}

impl Overview {
    fn json(overview: Value, store: String, engine: &Engine, viewer: &Viewer) -> Result<Value, Problem> {
        let map = map::state(engine, viewer)?;
        to_json(&Overview { overview, map, version: env!("CARGO_PKG_VERSION"), store, machines: Standing::of(engine)? })
    }
}

/// The parameters of a call.
pub fn parameters(body: &[u8]) -> Result<Map<String, Value>, Problem> {
    if body.trim_ascii().is_empty() {
        return Ok(Map::new());
    }
    serde_json::from_slice(body)
        .map_err(|error| Problem::input(format!("the parameters are not a JSON object: {error}")))
}

/// The version of a memory that a change is meant for.
struct Seen {
    id: i64,
    version: i64,
}

impl Seen {
    /// The versions that a call is meant for: one, or that of each memory of a merge.
    fn all_of(given: &Map<String, Value>) -> Vec<Self> {
        let of = |given: &Map<String, Value>| {
            let id = given.get("id").or_else(|| given.get("keep"))?.as_i64()?;
            Some(Seen { id, version: given.get("expect")?.as_i64()? })
        };
        let replaced = given.get("replaced").and_then(Value::as_array).into_iter().flatten();
        of(given).into_iter().chain(replaced.filter_map(Value::as_object).filter_map(of)).collect()
    }

    /// The memory as it is now, if it is another version.
    fn other_now(self, engine: &Engine, viewer: &Viewer) -> Option<Value> {
        let now = engine.viewed_by(viewer).get(self.id.into()).ok().flatten()?;
        let is_other = now.version != self.version;
        is_other.then(|| serde_json::to_value(wire::entry(now)).ok()).flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shared_function_is_a_tool_and_none_has_two_names() {
        let names: Vec<_> = FUNCTIONS.iter().map(|tool| tool.name).collect();
        assert!(super::super::own::SHARED.iter().all(|name| names.contains(name)));
        let known = |name: &&&str| matches!(Function::named(name), Some(Function::Plain(tool)) if tool.name == **name);
        assert_eq!(names.iter().filter(known).count(), names.len());
        let unique: std::collections::BTreeSet<_> = names.iter().collect();
        assert_eq!(unique.len(), names.len());
        // They count accesses, or note what was recalled.
        assert!(Function::named("get").is_none() && Function::named("recall").is_none());
    }
}
