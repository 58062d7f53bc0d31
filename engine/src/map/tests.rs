//! Layouts and placing, on vectors without a store.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use super::descent::Coords;
use super::file::{Map, Point};
use super::frame::Frame;
use super::layout::{Start, lay_out};
use super::placing::Ground;
use super::random::Random;
use crate::error::{Error, Result};
use crate::passages::PassageKey;
use crate::progress::{NoProgress, Progress};
use crate::types::{RecordId, Seq};
use crate::vectors::exact::ExactIndex;
use crate::vectors::{VectorBatch, VectorIndex, VectorSnapshot};

const DIMS: usize = 12;

/// A vector of length 1, around one of `groups` directions.
fn vector(id: u32, groups: u32) -> Vec<f32> {
    let mut of_group = Random::new(u64::from(id % groups) + 1_000_000);
    let mut own = Random::new(id.into());
    let raw: Vec<f32> = (0..DIMS).map(|_| of_group.signed() + 0.2 * own.signed()).collect();
    let length = raw.iter().map(|number| number * number).sum::<f32>().sqrt();
    raw.iter().map(|number| number / length).collect()
}

fn index(vectors: impl IntoIterator<Item = (u32, Vec<f32>)>) -> Arc<dyn VectorSnapshot> {
    let index = ExactIndex::new("a model");
    let key = |id: u32| PassageKey::from(RecordId::from_key(id.into()));
    let upserts = vectors.into_iter().map(|(id, vector)| (key(id), vector)).collect();
    index.apply(VectorBatch { upserts, deletes: Vec::new() }, Seq::START).unwrap();
    index.snapshot().unwrap()
}

/// Every map that is published.
fn layouts(index: &dyn VectorSnapshot, ids: &[u32], start: Start<'_>) -> Vec<Map> {
    let mut published = Vec::new();
    let publish = |places: &[Coords], frame: Frame| {
        assert!(places.iter().flatten().all(|at| at.is_finite()), "{places:?}");
        published.push(map(ids, places, frame));
        Ok(())
    };
    lay_out(index, ids, start, publish, &NoProgress).unwrap();
    published
}

fn map(ids: &[u32], places: &[Coords], frame: Frame) -> Map {
    let points = ids.iter().zip(places).map(|(&id, &place)| {
        let (x, y) = frame.shown(place);
        Point { id, text: 0, x, y, is_later: false }
    });
    let (lineage, model) = ("a store".into(), "a model".into());
    Map { generation: 1, lineage, model, laid_out: ids.len() as u32, width: frame.width(), points: points.collect() }
}

fn distance(a: &Point, b: &Point) -> f64 {
    (f64::from(a.x) - f64::from(b.x)).hypot(f64::from(a.y) - f64::from(b.y)) / f64::from(u16::MAX)
}

#[test]
fn similar_points_are_near_and_layouts_are_deterministic() {
    let ids: Vec<u32> = (1..=400).collect();
    let index = index(ids.iter().map(|id| (*id, vector(*id, 8))));
    let maps = layouts(&*index, &ids, Start::Vectors);
    assert_eq!(maps.len(), 2, "one to look at, and one that is refined");
    assert_eq!(maps, layouts(&*index, &ids, Start::Vectors));
    for map in &maps {
        let mut right = 0;
        for point in &map.points {
            let others = map.points.iter().filter(|other| other.id != point.id);
            let nearest = others.min_by(|a, b| distance(point, a).total_cmp(&distance(point, b))).unwrap();
            right += usize::from(nearest.id % 8 == point.id % 8);
        }
        assert!(right >= 396, "{right} of 400 are nearest to one of their own");
        let (least, most) =
            map.points.iter().fold((u16::MAX, 0), |(least, most), point| (least.min(point.x), most.max(point.x)));
        assert!(least > 0 && most < u16::MAX && most - least > 20_000, "{least} {most}");
    }
}

#[test]
fn few_points_equal_ones_and_none_have_places() {
    for count in [0, 1, 2, 3, 15, 16, 17] {
        let ids: Vec<u32> = (1..=count).collect();
        let index = index(ids.iter().map(|id| (*id, vector(*id, 3))));
        let maps = layouts(&*index, &ids, Start::Vectors);
        assert!(maps.iter().all(|map| map.points.len() == count as usize && map.width > 0.0), "{count}");
    }
    let ids: Vec<u32> = (1..=300).collect();
    let equal = index(ids.iter().map(|id| (*id, vector(1, 1))));
    let map = layouts(&*equal, &ids, Start::Vectors).pop().unwrap();
    let mut places: Vec<(u16, u16)> = map.points.iter().map(|point| (point.x, point.y)).collect();
    places.sort_unstable();
    places.dedup();
    assert!(places.len() > 250, "equal vectors do not hide each other: {}", places.len());
    let ground = Ground::new(&map, &*equal);
    ground.place(999, &vector(1, 1)).unwrap();
    // A record whose vector has gone meanwhile.
    let maps = layouts(&*equal, &[1, 2, 999], Start::Vectors);
    assert_eq!(maps.last().unwrap().points.len(), 3);
}

#[test]
fn a_new_one_is_placed_among_its_own_whatever_else_is_placed() {
    let ids: Vec<u32> = (1..=400).collect();
    let all = index((1..=440).map(|id| (id, vector(id, 8))));
    let map = layouts(&*index(ids.iter().map(|id| (*id, vector(*id, 8)))), &ids, Start::Vectors).pop().unwrap();
    let ground = Ground::new(&map, &*all);
    for id in 401..=440 {
        let (x, y) = ground.place(id, &vector(id, 8)).unwrap();
        let placed = Point { id, text: 0, x, y, is_later: true };
        let nearest = map.points.iter().min_by(|a, b| distance(&placed, a).total_cmp(&distance(&placed, b))).unwrap();
        assert_eq!(nearest.id % 8, id % 8);
        assert_eq!(Ground::new(&map, &*all).place(id, &vector(id, 8)).unwrap(), (x, y));
    }
    let nothing = Map { points: Vec::new(), laid_out: 0, ..map };
    Ground::new(&nothing, &*all).place(401, &vector(401, 8)).unwrap();
}

#[test]
fn a_warm_layout_adds_new_points_and_moves_old_ones_little() {
    let ids: Vec<u32> = (1..=400).collect();
    let before = index(ids.iter().map(|id| (*id, vector(*id, 8))));
    let map = layouts(&*before, &ids, Start::Vectors).pop().unwrap();
    let all: Vec<u32> = (1..=500).collect();
    let after = index(all.iter().map(|id| (*id, vector(*id, 8))));
    let moved = |start| {
        let new = layouts(&*after, &all, start).pop().unwrap();
        assert_eq!(new.points.len(), 500);
        let mut moved: Vec<f64> = map.points.iter().zip(&new.points).map(|(old, new)| distance(old, new)).collect();
        moved.sort_by(f64::total_cmp);
        moved[moved.len() / 2]
    };
    let (warm, cold) = (moved(Start::Places(&map)), moved(Start::Vectors));
    assert!(warm < 0.03 && warm < cold / 2.0, "{warm} {cold}");
    assert_eq!(layouts(&*after, &all, Start::OtherPlaces(&map)).len(), 2);
}

/// Cancels after some units.
struct Until(AtomicU64);

impl Progress for Until {
    fn start(&self, _: &str, _: Option<u64>) {}
    fn advance(&self, units: u64) {
        self.0.store(self.0.load(Relaxed).saturating_sub(units), Relaxed);
    }
    fn finish(&self) {}
    fn cancelled(&self) -> bool {
        self.0.load(Relaxed) == 0
    }
}

#[test]
fn a_layout_can_be_cancelled_at_any_time() {
    let ids: Vec<u32> = (1..=320).collect();
    let index = index(ids.iter().map(|id| (*id, vector(*id, 8))));
    // Finding neighbours takes 320 units, and each pass 10.
    for (units, seen) in [(0, 0), (320, 0), (400, 0), (900, 1), (2_200, 1)] {
        let mut published = 0;
        let publish = |_: &[Coords], _: Frame| -> Result<()> {
            published += 1;
            Ok(())
        };
        let outcome = lay_out(&*index, &ids, Start::Vectors, publish, &Until(AtomicU64::new(units)));
        assert!(matches!(outcome, Err(Error::Cancelled)), "{units}: {outcome:?}");
        assert_eq!(published, seen, "{units}");
    }
}
