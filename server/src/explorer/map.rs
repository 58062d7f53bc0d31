//! The map of all memories: its state, making it, and what is drawn.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use memorist_engine::progress::Progress;
use memorist_engine::types::Viewer;
use memorist_engine::{Engine, Error, MapStage, Result};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::sync::watch;
use tokio::time::sleep;

use crate::ops::{self, Context};
use crate::serving::{Access, Dispatcher};
use crate::tools::{Problem, ProblemKind, parse_params, to_json};
use crate::wire::explore::{NearHit, NeighborsResult};
use crate::wire::{self, BuildMapResult, Int, ListParams, MapFrom, MapLabelsResult, MapStateResult};

/// How often the state of a map that is being made is reported.
const REPORTED: Duration = Duration::from_millis(500);
/// Default number of neighbors.
const NEIGHBORS: usize = 8;

#[derive(Clone, Default)]
pub struct Making {
    /// The newest state of the map that is being made, or was.
    newest: Arc<watch::Sender<Option<Value>>>,
    stop: Arc<AtomicBool>,
}

/// `buildMap`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BuildParams {
    from: MapFrom,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ViewParams {
    have: Option<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NeighborsParams {
    id: Int,
    k: Option<Int>,
}

impl Making {
    /// The states of a map while it is made.
    pub fn subscribe(&self) -> watch::Receiver<Option<Value>> {
        self.newest.subscribe()
    }

    /// Stops the making; what was published of it stays.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Begins to make a map in the background.
    pub async fn begin(
        &self,
        dispatcher: &Dispatcher,
        viewer: Viewer,
        given: Map<String, Value>,
    ) -> Result<BuildMapResult, Problem> {
        let BuildParams { from } = parse_params(given)?;
        let of = viewer.clone();
        let state = dispatcher.call(Access::Read, move |engine| engine.viewed_by(&of).map_state()).await;
        let state = state.map_err(|why| Problem { kind: ProblemKind::Locked, message: why.message().to_owned() })??;
        if state.stage == MapStage::NoModel {
            let message = "a map needs embeddings, and no memory has one yet".to_owned();
            return Err(Problem { kind: ProblemKind::Conflict, message });
        }
        if state.progress.is_none() {
            tokio::spawn(self.clone().make(dispatcher.clone(), viewer, from.into()));
        }
        Ok(BuildMapResult { state: "making" })
    }

    async fn make(self, dispatcher: Dispatcher, viewer: Viewer, from: memorist_engine::MapFrom) {
        let until = Until(self.stop.clone());
        let making = dispatcher.call(Access::Read, move |engine| engine.build_map(from, &until));
        let mut making = std::pin::pin!(making);
        let why = loop {
            tokio::select! {
                made = &mut making => match made {
                    Ok(Ok(()) | Err(Error::Cancelled)) => break None,
                    Ok(Err(error)) => break Some(error.to_string()),
                    Err(unavailable) => break Some(unavailable.message().to_owned()),
                },
                () = sleep(REPORTED) => self.report(&dispatcher, &viewer, None).await,
            }
        };
        if let Some(why) = &why {
            tracing::warn!("no map was built: {why}");
        }
        self.report(&dispatcher, &viewer, why).await;
    }

    async fn report(&self, dispatcher: &Dispatcher, viewer: &Viewer, why: Option<String>) {
        let viewer = viewer.clone();
        if let Ok(Ok(mut state)) = dispatcher.call(Access::Read, move |engine| state(engine, &viewer)).await {
            state.why = why.or(state.why);
            self.newest.send_replace(Some(json!(state)));
        }
    }
}

/// Ends with the server.
struct Until(Arc<AtomicBool>);

impl Progress for Until {
    fn start(&self, _what: &str, _total: Option<u64>) {}
    fn advance(&self, _units: u64) {}
    fn finish(&self) {}
    fn cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

pub fn state(engine: &Engine, viewer: &Viewer) -> Result<MapStateResult, Problem> {
    Ok(engine.viewed_by(viewer).map_state()?.into())
}

/// `map`: the bytes that `wire/map.rs` describes; `None` if the page has them.
pub fn view(engine: &Engine, context: &Context, given: Map<String, Value>) -> Result<Option<Vec<u8>>, Problem> {
    let ViewParams { have } = parse_params(given)?;
    let view = engine.viewed_by(&context.defaults.own_viewer()).map()?.ok_or_else(none)?;
    Ok((have != Some(view.generation)).then(|| wire::map_bytes(&view)))
}

/// `mapFilter`: which of its points pass the filters of a list.
pub fn filter(engine: &Engine, context: &Context, given: Map<String, Value>) -> Result<Option<Vec<u8>>, Problem> {
    let params: ListParams = parse_params(given)?;
    let filter = ops::plain_filter(context, &params)?;
    let (view, mask) = engine.viewed_by(&context.defaults.own_viewer()).map_filter(&filter)?.ok_or_else(none)?;
    Ok(Some(wire::mask_bytes(&view, &mask)))
}

/// `mapLabels`.
pub fn labels(engine: &Engine, context: &Context, _: Map<String, Value>) -> Result<Value, Problem> {
    to_json(&MapLabelsResult::from(engine.viewed_by(&context.defaults.own_viewer()).map_labels()?.ok_or_else(none)?))
}

/// `neighbors`: the true nearest of a memory.
pub fn neighbors(engine: &Engine, context: &Context, given: Map<String, Value>) -> Result<Value, Problem> {
    let NeighborsParams { id, k } = parse_params(given)?;
    let k = wire::size("k", k, NEIGHBORS)?;
    let found = engine.viewed_by(&context.defaults.own_viewer()).neighbors(id.0.into(), k)?;
    let results = found.into_iter().map(|(id, similarity)| NearHit { id: id.get(), similarity }).collect();
    to_json(&NeighborsResult { results })
}

fn none() -> Problem {
    Problem { kind: ProblemKind::Conflict, message: "no map yet".to_owned() }
}
