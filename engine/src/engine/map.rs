//! The map of all memories.

use std::sync::Arc;

use super::{Engine, Memories};
use crate::error::{Error, IndexKind, Remedy, Result};
use crate::map::{Frame, Ground, Map, MapLabels, MapView, Point, Seen, Start, labels, lay_out, nearest_allowed};
use crate::progress::Progress;
use crate::records::{ModelId, PointRows, Snapshot};
use crate::sync::identity;
use crate::types::{Filter, Query, RecordId};
use crate::vectors::VectorSnapshot;

/// Memories that are placed at once: half a second of work.
const PLACED_AT_ONCE: usize = if cfg!(test) { 600 } else { 5_000 };
/// A new layout is offered when this share of the points of the last one was placed later.
const OLD: f64 = 0.2;
/// Memories whose neighbors [`Memories::neighbors`] gives at most.
const MAX_NEIGHBORS: usize = 100;

/// The starting point of a new map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MapFrom {
    /// Nothing: all places are new.
    Scratch,
    /// The present map, whose points move little. That of another model is a start, too.
    Present,
}

/// Whether there is a map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MapStage {
    /// No memory has a vector, so that there can be none.
    NoModel,
    /// None was made.
    None,
    /// This process makes the first one.
    Making,
    /// There is one.
    Ready,
}

/// The state of the map.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct MapState {
    /// Whether there is one.
    pub stage: MapStage,
    /// How far the one is that this process makes, from 0 to 1: also where an older one can be shown.
    pub progress: Option<f64>,
    /// The generation of the view that was shown last, or of the map. 0 without one.
    pub generation: u32,
    /// How many memories are on it.
    pub points: u64,
    /// How many of them were placed after the layout.
    pub placed: u64,
    /// How many memories the viewer sees.
    pub of: u64,
    /// Whether [`Memories::map`] has more to place than at once.
    pub has_unplaced: bool,
    /// Whether a new layout from the present one would help: many were placed later, or the model is another.
    pub is_old: bool,
    /// Why a map that was there is of no use.
    pub why: Option<&'static str>,
}

impl Engine {
    /// Makes a map: of 100,000 memories in some 20 seconds of one processor, of which the map can be seen after a third. In a
    /// store that can only be read it stays in memory.
    ///
    /// # Errors
    /// [`Error::NothingToMeasure`] without vectors; [`Error::IndexUnusable`]; [`Error::Held`] while one is being made;
    /// [`Error::Cancelled`]: what was published stays.
    pub fn build_map(&self, from: MapFrom, progress: &dyn Progress) -> Result<()> {
        let Some((_, model)) = self.store.model()? else {
            let why = "a map needs embeddings, and no memory has one".into();
            return Err(Error::NothingToMeasure { why, remedy: Some(Remedy::EmbedMemories) });
        };
        let making = self.store.map.begin_making()?;
        let reporting = making.reporting(progress);
        std::thread::scope(|scope| {
            // On a thread of its own, whose priority can be lowered and stays so.
            let builder = std::thread::Builder::new().name("memorist-map".into());
            let made = builder.spawn_scoped(scope, || {
                step_back();
                self.make(from, identity(&model), &reporting)
            });
            let made = made.map_err(|error| Error::io(self.store.map.folder(), error))?.join();
            made.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    fn make(&self, from: MapFrom, model: String, progress: &dyn Progress) -> Result<()> {
        self.store.reopen()?;
        let query = Query::new("map");
        let (index, rows, changed) = self.with_indexes(|context| {
            let (model, now) = (self.store.model()?.map(|(model, _)| model), self.store.now());
            let view = context.open_view(&query, model, now)?;
            Ok((view.vectors, view.records.point_rows(now)?, view.tail.vector_ids.clone()))
        })?;
        let index = index.ok_or_else(|| {
            let why = self.store.vectors.get().err().unwrap_or_else(|| "it is of another model".into());
            Error::IndexUnusable { index: IndexKind::Vector, why }
        })?;
        let read = || self.store.records.copy().snapshot()?.point_rows(self.store.now());
        // The index has the vectors that these had before. They are placed afterwards, by their new ones.
        let indexed = index.keys() - changed;
        let laid_out: Vec<(u32, u32)> = rows
            .rows
            .iter()
            .filter(|row| row.has_vector && indexed.contains(row.id.key()))
            .filter_map(|row| Some((u32::try_from(row.id.key()).ok()?, row.text)))
            .collect();
        let ids: Vec<u32> = laid_out.iter().map(|(id, _)| *id).collect();
        let present = self.store.map.newest()?.0.filter(|map| from == MapFrom::Present && !map.points.is_empty());
        let start = match present.as_deref() {
            Some(map) if map.model == model => Start::Places(map),
            Some(map) => Start::OtherPlaces(map),
            None => Start::Vectors,
        };
        let publish = |places: &[[f32; 2]], frame: Frame| {
            let points = laid_out.iter().zip(places).map(|(&(id, text), &place)| {
                let (x, y) = frame.shown(place);
                Point { id, text, x, y, is_later: false }
            });
            let points: Vec<Point> = points.collect();
            let laid_out = points.len() as u32;
            let map = Map {
                generation: 0,
                lineage: String::new(),
                model: model.clone(),
                laid_out,
                width: frame.width(),
                points,
            };
            self.store.map.replace(read, |_, _| Ok(Some(map))).map(drop)
        };
        lay_out(&*index, &ids, start, publish, progress)
    }
}

impl Memories<'_> {
    /// Whether there is a map, and how good it is.
    pub fn map_state(&self) -> Result<MapState> {
        self.viewer.validate()?;
        let (newest, why) = self.engine.store.map.newest()?;
        let progress = self.engine.store.map.progress();
        let model = self.engine.store.model()?.map(|(_, model)| identity(&model));
        let map = newest.as_ref().filter(|map| Some(&map.model) == model.as_ref());
        let stage = match (&model, map, progress) {
            (None, ..) => MapStage::NoModel,
            (_, Some(_), _) => MapStage::Ready,
            (_, None, Some(_)) => MapStage::Making,
            (_, None, None) => MapStage::None,
        };
        let view = self.engine.store.map.last_seen(self.viewer).filter(|_| map.is_some());
        let placed = map.map_or(0, |map| map.points.iter().filter(|point| point.is_later).count() as u64);
        let is_other_models = newest.is_some() && map.is_none() && model.is_some();
        Ok(MapState {
            stage,
            progress,
            generation: view.as_ref().map_or(map.map_or(0, |map| map.generation), |view| view.generation),
            points: view.as_ref().map_or(map.map_or(0, |map| map.points.len() as u64), |view| view.len() as u64),
            placed,
            of: match &view {
                Some(view) => view.of,
                None => self
                    .engine
                    .store
                    .records
                    .copy()
                    .snapshot()?
                    .matching(&Filter::of(self.viewer.clone()), self.engine.store.now())?
                    .len(),
            },
            has_unplaced: map.is_some() && self.engine.store.map.has_unplaced(self.viewer),
            is_old: is_other_models || map.is_some_and(|map| placed as f64 > OLD * f64::from(map.laid_out)),
            why: why.or(is_other_models.then_some("its vectors were made by another model")),
        })
    }

    /// The map as the viewer sees it; `None` without one. Memories that are new or have changed are placed first, at most some
    /// thousands at once; nothing else moves.
    pub fn map(&self) -> Result<Option<Arc<MapView>>> {
        self.viewer.validate()?;
        let Some((model_id, model)) = self.engine.store.model()? else { return Ok(None) };
        let model = identity(&model);
        let of_this_model = |map: Option<Arc<Map>>| map.filter(|map| map.model == model);
        let Some(mut map) = of_this_model(self.engine.store.map.newest()?.0) else { return Ok(None) };
        let snapshot = self.engine.store.records.copy().snapshot()?;
        let now = self.engine.store.now();
        let mut seen = Seen {
            head: snapshot.head(),
            superseding: snapshot.superseding()?,
            map: map.generation,
            has_unplaced: false,
        };
        if let Some(view) = self.engine.store.map.seen(self.viewer, &seen, now) {
            return Ok(Some(view));
        }
        let rows = snapshot.point_rows(now)?;
        if !to_place(&map, &rows).is_empty()
            && let Some(index) = self.engine.store.vector_snapshot()?
        {
            let placed = self.engine.store.map.replace(
                || self.engine.store.records.copy().snapshot()?.point_rows(now),
                |newest, rows| match newest.filter(|newest| newest.model == model) {
                    // Vectors at least as new as the texts: a place of an older text's vector would stay.
                    Some(newest) => {
                        placed_on(newest, &*index, rows, &self.engine.store.records.copy().snapshot()?, model_id)
                    }
                    None => Ok(None),
                },
            )?;
            let Some(placed) = of_this_model(placed) else { return Ok(None) };
            seen.has_unplaced = placed.generation > map.generation && !to_place(&placed, &rows).is_empty();
            map = placed;
            seen.map = map.generation;
        }
        let superseded = self.engine.sets.superseded(self.viewer, &snapshot)?;
        let view = MapView::new(&map, &rows, &superseded, self.viewer);
        Ok(Some(self.engine.store.map.keep_view(self.viewer, seen, view)))
    }

    /// A bit for each point of the map that the viewer was shown last: whether its memory passes the filter, whose own viewer may
    /// see less. With the generation of that map, and how many points it has. `None` without a map.
    ///
    /// # Errors
    /// [`Error::Invalid`] names the bound of the filter that is violated.
    pub fn map_filter(&self, filter: &Filter) -> Result<Option<(Arc<MapView>, Vec<u8>)>> {
        filter.validate()?;
        let Some(view) = self.shown()? else { return Ok(None) };
        let ids = self.engine.store.records.copy().snapshot()?.matching(filter, self.engine.store.now())?;
        let mask = view.mask(&ids);
        Ok(Some((view, mask)))
    }

    /// The map that the viewer was shown last; another one, if that was none.
    fn shown(&self) -> Result<Option<Arc<MapView>>> {
        self.engine.store.map.last_seen(self.viewer).map_or_else(|| self.map(), |view| Ok(Some(view)))
    }

    /// Labels of the regions of the map that the viewer was shown last, in words of the memories that it sees now. `None` without a
    /// map. They are not stored.
    pub fn map_labels(&self) -> Result<Option<MapLabels>> {
        let Some(view) = self.shown()? else { return Ok(None) };
        let snapshot = self.engine.store.records.copy().snapshot()?;
        // Some may have expired since, or belong to somebody else.
        let shown = snapshot.matching(&Filter::of(self.viewer.clone()), self.engine.store.now())?;
        let beginning = |id: u32, chars| match shown.contains(id.into()) {
            true => snapshot.beginning(RecordId::from_key(id.into()), chars),
            false => Ok(None),
        };
        labels(&view, beginning).map(Some)
    }

    /// The `k` memories nearest to one by meaning that the viewer sees, each with its cosine, nearest first: by the index, without
    /// regard to words. None while it has no vector.
    ///
    /// # Errors
    /// [`Error::NotFound`], also if the viewer does not see it; [`Error::Invalid`] if `k` is out of bounds.
    pub fn neighbors(&self, id: RecordId, k: usize) -> Result<Vec<(RecordId, f32)>> {
        if !(1..=MAX_NEIGHBORS).contains(&k) {
            return Err(Error::invalid("k", format!("must be between 1 and {MAX_NEIGHBORS}")));
        }
        self.require(id)?;
        let (Some((model, _)), Some(index)) = (self.engine.store.model()?, self.engine.store.vector_snapshot()?) else {
            return Ok(Vec::new());
        };
        let snapshot = self.engine.store.records.copy().snapshot()?;
        let Some(vector) = snapshot.embedding(model, id)? else { return Ok(Vec::new()) };
        let mut allowed = snapshot.matching(&Filter::of(self.viewer.clone()), self.engine.store.now())?;
        allowed.remove(id.key());
        nearest_allowed(&*index, &vector, k, allowed)
    }
}

/// The records whose text is not on the map, and has a vector: their ids, with the text.
fn to_place(map: &Map, rows: &PointRows) -> Vec<(u32, u32)> {
    let is_placed = |id: u32, text: u32| map.row(id).is_some_and(|at| map.points[at].text == text);
    let with_vectors = rows.rows.iter().filter(|row| row.has_vector);
    let ids = with_vectors.filter_map(|row| Some((u32::try_from(row.id.key()).ok()?, row.text)));
    ids.filter(|(id, text)| !is_placed(*id, *text)).take(PLACED_AT_ONCE).collect()
}

/// The map with the next records on it that have no place.
fn placed_on(
    map: &Map,
    index: &dyn VectorSnapshot,
    rows: &PointRows,
    snapshot: &Snapshot,
    model: ModelId,
) -> Result<Option<Map>> {
    let missing = to_place(map, rows);
    let ground = Ground::new(map, index);
    let ids: Vec<RecordId> = missing.iter().map(|(id, _)| RecordId::from_key((*id).into())).collect();
    let mut placed = Vec::with_capacity(missing.len());
    for (key, vector) in snapshot.embeddings(model, &ids)?.into_iter().filter(|(key, _)| key.number() == 0) {
        let at = missing.binary_search_by_key(&key.record().key(), |(id, _)| u64::from(*id));
        let Some(&(id, text)) = at.ok().and_then(|at| missing.get(at)) else { continue };
        let (x, y) = ground.place(id, &vector)?;
        placed.push(Point { id, text, x, y, is_later: true });
    }
    if placed.is_empty() {
        return Ok(None);
    }
    let mut changed = map.clone();
    changed.points.retain(|point| placed.binary_search_by_key(&point.id, |new| new.id).is_err());
    changed.points.extend(placed);
    changed.points.sort_unstable_by_key(|point| point.id);
    Ok(Some(changed))
}

/// Gives this thread the lowest priority, where the system has one for threads.
fn step_back() {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::nice(19);
}

#[cfg(test)]
mod tests;
