//! The bytes of the explorer's map.
//!
//! # `POST /api/map` on one page
//!
//! Little-endian. Each column begins at a multiple of 4 bytes.
//!
//! | bytes | content |
//! |---|---|
//! | 4 | `MMAP` |
//! | u32 | the version of this format: 1 |
//! | u32 | the generation: another one shows something else |
//! | u32 | how many points: n |
//! | u32 | how many bytes the next has |
//! | JSON | `{"kinds":[…],"projects":[…],"agents":[…]}`, with spaces after it |
//! | u32 × n | ids |
//! | u16 × n | x, from the left, over the whole width |
//! | u16 × n | y, from the top, in the same unit |
//! | u16 × n | project: 0 is global, else 1 more than its position in the names |
//! | u16 × n | agent, in the same way |
//! | u16 × n | the days from 1970 to the creation |
//! | u8 × n | kind, a position in the names |
//! | u8 × n | importance |
//! | u8 × n | flags: 1 superseded, 2 placed after the layout, 4 its text has changed since it was placed |
//!
//! Points are in an order that looks random: the first of them are a fair sample.
//!
//! # `POST /api/mapFilter`
//!
//! u32 the generation; u32 the number of points; then a bit for each of them, in that order, the lowest of a byte first.

use memorist_engine::map::{MapLabel, MapLabels, MapView};
use memorist_engine::types::Kind;
use memorist_engine::{MapStage, MapState};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

const MAGIC: [u8; 4] = *b"MMAP";
const VERSION: u32 = 1;
/// The bytes of a column are a multiple of this.
const ALIGNED: usize = 4;

/// The bytes of a map.
pub fn map_bytes(view: &MapView) -> Vec<u8> {
    let names = json!({ "kinds": Kind::ALL, "projects": view.project_names, "agents": view.agent_names });
    let mut names = names.to_string().into_bytes();
    names.resize(names.len().next_multiple_of(ALIGNED), b' ');
    let mut bytes = Vec::with_capacity(20 + names.len() + view.len() * 17 + 9 * ALIGNED);
    bytes.extend(MAGIC);
    let numbers = [VERSION, view.generation, view.len() as u32, names.len() as u32];
    bytes.extend(numbers.into_iter().flat_map(u32::to_le_bytes));
    bytes.extend(names);
    bytes.extend(view.ids.iter().flat_map(|id| id.to_le_bytes()));
    for column in [&view.x, &view.y, &view.projects, &view.agents, &view.days] {
        bytes.extend(column.iter().flat_map(|number| number.to_le_bytes()));
        bytes.resize(bytes.len().next_multiple_of(ALIGNED), 0);
    }
    for column in [&view.kinds, &view.importances, &view.flags] {
        bytes.extend(column);
        bytes.resize(bytes.len().next_multiple_of(ALIGNED), 0);
    }
    bytes
}

/// The bytes of a mask over the points of a map.
pub fn mask_bytes(view: &MapView, mask: &[u8]) -> Vec<u8> {
    let numbers = [view.generation, view.len() as u32];
    numbers.into_iter().flat_map(u32::to_le_bytes).chain(mask.iter().copied()).collect()
}

/// The start of a new map: the parameter of `buildMap`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum MapFrom {
    Scratch,
    /// The present map.
    Warm,
}

impl From<MapFrom> for memorist_engine::MapFrom {
    fn from(from: MapFrom) -> Self {
        match from {
            MapFrom::Scratch => memorist_engine::MapFrom::Scratch,
            MapFrom::Warm => memorist_engine::MapFrom::Present,
        }
    }
}

/// The result of `buildMap`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BuildMapResult {
    #[schemars(extend("enum" = ["making"]))]
    pub state: &'static str,
}

/// The state of the map.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MapStateResult {
    /// Whether there is one; `noModel`: no memory has a vector, so that there can be none.
    #[schemars(extend("enum" = ["noModel", "none", "making", "ready"]))]
    pub state: &'static str,
    /// How far the one is that is being made, from 0 to 1: also where an older one can be shown.
    pub progress: Option<f64>,
    /// The generation of the map. 0 without one.
    pub generation: u32,
    /// How many memories are on it.
    pub points: u64,
    /// How many of them were placed after the layout.
    pub placed: u64,
    /// How many memories the viewer sees.
    pub of: u64,
    /// Whether some new memories are not on it yet: they will be in a moment.
    pub has_unplaced: bool,
    /// Whether a new layout is worth it: many were placed later, or the model is another.
    pub is_old: bool,
    /// Why the last one was not made, or is of no use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl From<MapState> for MapStateResult {
    fn from(state: MapState) -> Self {
        MapStateResult {
            state: match state.stage {
                MapStage::NoModel => "noModel",
                MapStage::None => "none",
                MapStage::Making => "making",
                MapStage::Ready => "ready",
            },
            progress: state.progress,
            generation: state.generation,
            points: state.points,
            placed: state.placed,
            of: state.of,
            has_unplaced: state.has_unplaced,
            is_old: state.is_old,
            why: state.why.map(str::to_owned),
        }
    }
}

/// The labels of a map.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MapLabelsResult {
    pub generation: u32,
    /// For three distances, the farthest first.
    pub levels: Vec<Vec<LabelEntry>>,
}

/// The label of a region.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LabelEntry {
    pub x: u16,
    pub y: u16,
    pub text: String,
    pub count: u64,
}

impl From<MapLabels> for MapLabelsResult {
    fn from(labels: MapLabels) -> Self {
        let entry = |MapLabel { x, y, text, count, .. }| LabelEntry { x, y, text, count };
        let levels = labels.levels.into_iter().map(|level| level.into_iter().map(entry).collect());
        MapLabelsResult { generation: labels.generation, levels: levels.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view() -> MapView {
        let mut view = MapView::default();
        view.generation = 7;
        view.ids = vec![3, 0x0102_0304, 5];
        (view.x, view.y) = (vec![0, 65_535, 258], vec![1, 2, 3]);
        (view.projects, view.agents, view.days) = (vec![0, 1, 2], vec![0, 0, 1], vec![20_000, 20_001, 20_002]);
        (view.kinds, view.importances, view.flags) = (vec![0, 1, 14], vec![5, 10, 1], vec![0, 2, 5]);
        (view.project_names, view.agent_names) = (vec!["ä".into(), "b".into()], vec!["claude".into()]);
        view
    }

    #[test]
    fn the_bytes_are_those_of_the_page() {
        let bytes = map_bytes(&view());
        let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        assert_eq!((&bytes[..4], number(4), number(8), number(12)), (&b"MMAP"[..], 1, 7, 3));
        let columns = 20 + number(16) as usize;
        assert_eq!(columns % 4, 0);
        let names: serde_json::Value = serde_json::from_slice(&bytes[20..columns]).unwrap();
        assert_eq!((names["projects"][0].as_str(), names["agents"][0].as_str()), (Some("ä"), Some("claude")));
        assert_eq!(names["kinds"].as_array().unwrap().len(), Kind::ALL.len());
        let expected = b"\x03\0\0\0\x04\x03\x02\x01\x05\0\0\0\
            \0\0\xff\xff\x02\x01\0\0\
            \x01\0\x02\0\x03\0\0\0\
            \0\0\x01\0\x02\0\0\0\
            \0\0\0\0\x01\0\0\0\
            \x20\x4e\x21\x4e\x22\x4e\0\0\
            \0\x01\x0e\0\
            \x05\x0a\x01\0\
            \0\x02\x05\0";
        assert_eq!(bytes[columns..], *expected);
        let empty = map_bytes(&MapView::default());
        assert_eq!(empty.len(), 20 + u32::from_le_bytes(empty[16..20].try_into().unwrap()) as usize);
        assert_eq!(mask_bytes(&view(), &[0b101]), [7, 0, 0, 0, 3, 0, 0, 0, 0b101]);
    }

    #[test]
    fn a_new_map_starts_from_scratch_or_warm() {
        let read = |text: &str| serde_json::from_str::<MapFrom>(text);
        assert_eq!((read("\"scratch\"").unwrap(), read("\"warm\"").unwrap()), (MapFrom::Scratch, MapFrom::Warm));
        read("\"cold\"").unwrap_err();
    }
}
