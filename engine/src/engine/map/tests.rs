//! The map of a store: made, shared, followed, forgotten.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use memorist_embed::{self as embed, Embedder, ModelIdentity};

use super::*;
use crate::config::{Clock, Config};
use crate::progress::NoProgress;
use crate::types::{Link, LinkKind, NewRecord, Purge, RecordUpdate, Scope, Viewer};

const DIMS: usize = 16;

/// Makes vectors of texts such as `harbour 17`: near to those of the same first word.
struct ByFirstWord(ModelIdentity);

impl Embedder for ByFirstWord {
    fn identity(&self) -> &ModelIdentity {
        &self.0
    }

    fn embed_query(&self, text: &str) -> embed::Result<Vec<f32>> {
        let number = |text: &str, at: usize| {
            let hash =
                text.bytes().fold(at as u64 + 7, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3));
            (hash.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as f32 / (1 << 23) as f32 - 1.0
        };
        let first = text.split(' ').next().unwrap_or_default();
        let raw: Vec<f32> = (0..DIMS).map(|at| number(first, at) + 0.2 * number(text, at)).collect();
        let length = raw.iter().map(|x| x * x).sum::<f32>().sqrt();
        Ok(raw.iter().map(|x| x / length).collect())
    }

    fn embed_batch(&self, texts: &[&str]) -> embed::Result<Vec<Vec<f32>>> {
        texts.iter().map(|text| self.embed_query(text)).collect()
    }
}

fn identity_of(model: &str) -> ModelIdentity {
    ModelIdentity { name: model.into(), weights_sha256: model.into(), pooling: "mean".into(), dims: DIMS }
}

fn open_with(folder: &Path, model: &str) -> Engine {
    let config = Config { log_searches: false, ..Config::without_model() };
    Engine::open_with_embedder(folder, config, Arc::new(ByFirstWord(identity_of(model)))).unwrap()
}

fn open(folder: &Path) -> Engine {
    open_with(folder, "a model")
}

const TOPICS: [&str; 6] = ["harbour", "garden", "invoice", "telescope", "violin", "kitchen"];

fn fill(engine: &Engine, from: usize, to: usize) -> Vec<RecordId> {
    let texts = (from..to).map(|at| NewRecord::new(format!("{} number {at}", TOPICS[at % TOPICS.len()])));
    let added = engine.add_batch(&texts.collect::<Vec<_>>()).unwrap();
    engine.embed_pending(&NoProgress).unwrap();
    engine.flush(&NoProgress).unwrap();
    added.into_iter().map(|outcome| outcome.unwrap().id).collect()
}

fn places(view: &MapView) -> HashMap<u32, (u16, u16)> {
    (0..view.len()).map(|at| (view.ids[at], (view.x[at], view.y[at]))).collect()
}

fn seen(engine: &Engine) -> Arc<MapView> {
    engine.viewed_by(&Viewer::OWNER).map().unwrap().expect("a map")
}

fn state(engine: &Engine) -> MapState {
    engine.viewed_by(&Viewer::OWNER).map_state().unwrap()
}

#[test]
fn without_vectors_or_before_one_is_made_there_is_no_map() {
    let folder = tempfile::tempdir().unwrap();
    let engine = Engine::open(folder.path(), Config::without_model()).unwrap();
    engine.add(&NewRecord::new("words alone")).unwrap();
    assert_eq!((state(&engine).stage, state(&engine).of), (MapStage::NoModel, 1));
    let why = engine.build_map(MapFrom::Scratch, &NoProgress).unwrap_err();
    assert!(matches!(why, Error::NothingToMeasure { .. }), "{why}");
    assert_eq!(engine.viewed_by(&Viewer::OWNER).map().unwrap(), None);
    engine.close();
    let engine = open(folder.path());
    fill(&engine, 0, 3);
    assert_eq!(state(&engine).stage, MapStage::None);
    assert_eq!(
        (
            engine.viewed_by(&Viewer::OWNER).map_filter(&Filter::default()).unwrap(),
            engine.viewed_by(&Viewer::OWNER).map_labels().unwrap()
        ),
        (None, None)
    );
    assert!(!folder.path().join("map").exists(), "looking makes no files");
    engine.build_map(MapFrom::Present, &NoProgress).unwrap();
    assert_eq!((seen(&engine).len(), state(&engine).stage), (4, MapStage::Ready));
}

#[test]
fn new_memories_move_no_point_and_deleted_ones_disappear() {
    let folder = tempfile::tempdir().unwrap();
    let engine = open(folder.path());
    let ids = fill(&engine, 0, 300);
    engine.build_map(MapFrom::Scratch, &NoProgress).unwrap();
    let first = seen(&engine);
    assert_eq!((first.len(), first.flags.iter().all(|flags| *flags == 0), first.of), (300, true, 300));
    assert!(Arc::ptr_eq(&first, &seen(&engine)), "looking again computes nothing");
    assert!(!state(&engine).is_old);

    fill(&engine, 300, 1_300);
    assert_eq!(seen(&engine).len(), 900, "some at a time");
    assert!(state(&engine).has_unplaced);
    let all = seen(&engine);
    assert!(!state(&engine).has_unplaced);
    let (before, after) = (places(&first), places(&all));
    assert_eq!((after.len(), state(&engine).placed), (1_300, 1_000));
    assert!(all.generation > first.generation && state(&engine).is_old);
    assert!(before.iter().all(|(id, place)| after[id] == *place));
    assert_eq!(all.flags.iter().filter(|flags| **flags == crate::map::PLACED_LATER).count(), 1_000);
    // A new one is nearest to one of its topic.
    let right = (0..all.len()).filter(|at| all.flags[*at] != 0).filter(|&at| {
        let away = |other: &usize| {
            let along = |of: &[u16]| (f64::from(of[at]) - f64::from(of[*other])).powi(2);
            along(&all.x) + along(&all.y)
        };
        let nearest = (0..all.len()).filter(|other| *other != at).min_by(|a, b| away(a).total_cmp(&away(b))).unwrap();
        all.ids[nearest] as usize % TOPICS.len() == all.ids[at] as usize % TOPICS.len()
    });
    assert!(right.count() > 950);

    engine.viewed_by(&Viewer::OWNER).delete(ids[7]).unwrap();
    let update = RecordUpdate { content: Some("violin of another kind".into()), ..Default::default() };
    engine.viewed_by(&Viewer::OWNER).update(ids[8], &update).unwrap();
    engine.viewed_by(&Viewer::OWNER).link(Link { from: ids[1], to: ids[2], kind: LinkKind::Supersedes }).unwrap();
    engine.embed_pending(&NoProgress).unwrap();
    engine.flush(&NoProgress).unwrap();
    let last = seen(&engine);
    let now = places(&last);
    assert_eq!(now.len(), 1_299);
    let moved: Vec<u32> = now.iter().filter(|(id, place)| after[id] != **place).map(|(id, _)| *id).collect();
    assert_eq!(moved, [ids[8].key() as u32]);
    let flags_of = |id: RecordId| last.flags[last.ids.iter().position(|own| u64::from(*own) == id.key()).unwrap()];
    assert_eq!((flags_of(ids[8]), flags_of(ids[2])), (crate::map::PLACED_LATER, crate::map::SUPERSEDED));

    // Another process has the same places, also after a warm layout.
    let other = open(folder.path());
    assert_eq!(places(&seen(&other)), now);
    other.build_map(MapFrom::Present, &NoProgress).unwrap();
    assert!(!state(&engine).is_old);
    assert_eq!(places(&seen(&engine)), places(&seen(&other)));
    assert_ne!(places(&seen(&engine)), now);
}

#[test]
fn a_viewer_s_map_has_only_visible_points_names_and_words() {
    let folder = tempfile::tempdir().unwrap();
    let engine = open(folder.path());
    let of = |project: Option<&str>, text: String| NewRecord {
        scope: Scope { agent: None, project: project.map(Into::into) },
        tags: vec!["even".into()].into_iter().filter(|_| text.ends_with(['0', '2', '4', '6', '8'])).collect(),
        ..NewRecord::new(text)
    };
    let records: Vec<NewRecord> = (0..60)
        .flat_map(|at| [of(None, format!("garden tulips {at}")), of(Some("secret"), format!("harbour smuggling {at}"))])
        .collect();
    engine.add_batch(&records).unwrap();
    engine.embed_pending(&NoProgress).unwrap();
    engine.flush(&NoProgress).unwrap();
    engine.build_map(MapFrom::Scratch, &NoProgress).unwrap();
    let all = seen(&engine);
    assert_eq!((all.len(), &all.project_names[..]), (120, &["secret".to_owned()][..]));
    assert_eq!(all.projects.iter().filter(|project| **project == 1).count(), 60);
    let words = |viewer: &Viewer| {
        let labels = engine.viewed_by(viewer).map_labels().unwrap().unwrap();
        labels.levels.concat().into_iter().map(|label| label.text).collect::<Vec<_>>().join(" ")
    };
    assert!(words(&Viewer::OWNER).contains("smuggling") && words(&Viewer::OWNER).contains("tulips"));

    let other = Viewer::in_project("other");
    let view = engine.viewed_by(&other).map().unwrap().unwrap();
    assert_eq!((view.len(), view.of, view.project_names.len()), (60, 60, 0));
    assert!(!words(&other).contains("smuggling") && words(&other).contains("tulips"));
    let even = Filter { tags: vec!["even".into()], ..Filter::of(other.clone()) };
    let (masked, mask) = engine.viewed_by(&other).map_filter(&even).unwrap().unwrap();
    assert_eq!(
        (masked.generation, mask.len(), mask.iter().map(|byte| byte.count_ones()).sum::<u32>()),
        (view.generation, 8, 30)
    );
    for at in 0..masked.len() {
        let content = engine.viewed_by(&other).get(RecordId::from(i64::from(masked.ids[at]))).unwrap().unwrap().content;
        let is_even = content.ends_with(['0', '2', '4', '6', '8']);
        assert_eq!(mask[at / 8] >> (at % 8) & 1 == 1, is_even, "{content}");
    }

    // Who sees all filters by a project: the points are his own.
    let (masked, mask) = engine.viewed_by(&Viewer::OWNER).map_filter(&even).unwrap().unwrap();
    assert_eq!((masked.len(), mask.iter().map(|byte| byte.count_ones()).sum::<u32>()), (120, 30));
    assert_eq!(seen(&engine).generation, masked.generation);

    let near = engine.viewed_by(&other).neighbors(1.into(), 70).unwrap();
    assert_eq!(near.len(), 59, "all others that he sees");
    assert!(near.is_sorted_by(|a, b| a.1 >= b.1) && near.iter().all(|(id, _)| id.get() % 2 == 1 && id.get() != 1));
    assert!(matches!(engine.viewed_by(&other).neighbors(2.into(), 5), Err(Error::NotFound(_))));
    assert!(matches!(engine.viewed_by(&other).neighbors(1.into(), 0), Err(Error::Invalid { .. })));
}

#[test]
fn a_memory_that_expired_after_mapping_is_in_no_label() {
    let folder = tempfile::tempdir().unwrap();
    let now = Arc::new(std::sync::atomic::AtomicI64::new(1_700_000_000_000));
    let of = now.clone();
    let clock = Clock::new(move || of.load(std::sync::atomic::Ordering::Relaxed));
    let config = Config { clock, log_searches: false, ..Config::without_model() };
    let engine =
        Engine::open_with_embedder(folder.path(), config, Arc::new(ByFirstWord(identity_of("a model")))).unwrap();
    fill(&engine, 0, 30);
    let brief = |at: usize| NewRecord {
        expires_at: Some(1_700_000_005_000),
        ..NewRecord::new(format!("telescope xylophone {at}"))
    };
    for added in engine.add_batch(&(0..20).map(brief).collect::<Vec<_>>()).unwrap() {
        added.unwrap();
    }
    engine.embed_pending(&NoProgress).unwrap();
    engine.flush(&NoProgress).unwrap();
    engine.build_map(MapFrom::Scratch, &NoProgress).unwrap();
    let words = || format!("{:?}", engine.viewed_by(&Viewer::OWNER).map_labels().unwrap());
    assert!(words().contains("xylophone"));
    now.store(1_700_000_005_001, std::sync::atomic::Ordering::Relaxed);
    assert!(!words().contains("xylophone") && words().contains("garden"), "{}", words());
}

#[test]
fn a_purged_memory_is_in_no_map_and_its_words_in_no_label() {
    let folder = tempfile::tempdir().unwrap();
    let engine = open(folder.path());
    fill(&engine, 0, 30);
    let secret: Vec<NewRecord> = (0..20).map(|at| NewRecord::new(format!("telescope xylophone {at}"))).collect();
    let ids: Vec<u64> =
        engine.add_batch(&secret).unwrap().into_iter().map(|outcome| outcome.unwrap().id.key()).collect();
    engine.embed_pending(&NoProgress).unwrap();
    engine.flush(&NoProgress).unwrap();
    engine.build_map(MapFrom::Scratch, &NoProgress).unwrap();
    let words = || format!("{:?}", engine.viewed_by(&Viewer::OWNER).map_labels().unwrap());
    assert!(words().contains("xylophone"));
    // A text that a memory had before: what the file knows of it goes, too.
    let changed = RecordUpdate { content: Some("telescope of glass".into()), ..Default::default() };
    engine.viewed_by(&Viewer::OWNER).update(RecordId::from_key(ids[0]), &changed).unwrap();
    let kept = |id: u64| {
        let map = Map::read(&folder.path().join("map/places")).unwrap().unwrap().unwrap();
        map.row(id as u32).map(|row| map.points[row])
    };
    let text_before = kept(ids[0]).unwrap().text;
    let purged = engine.viewed_by(&Viewer::OWNER).purge(&Purge::Text("xylophone".into()), &NoProgress).unwrap();
    assert!(purged.complete && purged.records == 19 && purged.remaining_files.is_empty(), "{purged:?}");
    assert!(ids[1..].iter().all(|id| kept(*id).is_none()));
    assert_ne!(kept(ids[0]).unwrap().text, text_before);
    assert!(!words().contains("xylophone"));
    assert_eq!(seen(&engine).len(), 31);
}

#[test]
fn a_corrupt_or_foreign_map_is_ignored_and_reported() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("map/places");
    let engine = open(folder.path());
    fill(&engine, 0, 50);
    let checked = |engine: &Engine, repair| {
        let checks = engine.doctor(repair, &NoProgress).unwrap().checks;
        checks.into_iter().find(|check| check.name == "map").map(|check| (check.ok, check.details.join(" ")))
    };
    assert_eq!(checked(&engine, false), None);
    engine.build_map(MapFrom::Scratch, &NoProgress).unwrap();
    assert_eq!(checked(&engine, false).unwrap(), (true, "50 places, 0 of them found after the layout".into()));

    let sound = std::fs::read(&file).unwrap();
    let mut damaged = sound.clone();
    damaged[200] ^= 1;
    std::fs::write(&file, damaged).unwrap();
    assert_eq!(engine.viewed_by(&Viewer::OWNER).map().unwrap(), None);
    assert_eq!((state(&engine).stage, state(&engine).why), (MapStage::None, Some("its checksum is wrong")));
    assert_eq!(checked(&engine, false).unwrap(), (false, "out of use: its checksum is wrong".into()));
    assert_eq!(checked(&engine, true), None);
    assert!(!file.exists());

    let foreign = Map { lineage: "another".into(), ..Map::from_bytes(&sound).unwrap() };
    foreign.write(&file).unwrap();
    assert_eq!(
        (engine.viewed_by(&Viewer::OWNER).map().unwrap(), state(&engine).why),
        (None, Some("it was made from another store"))
    );
    engine.build_map(MapFrom::Present, &NoProgress).unwrap();
    let places_before = places(&seen(&engine));
    engine.close();

    let engine = open_with(folder.path(), "another model");
    engine.reembed(&NoProgress).unwrap();
    engine.flush(&NoProgress).unwrap();
    assert_eq!(engine.viewed_by(&Viewer::OWNER).map().unwrap(), None);
    let MapState { stage, is_old, why, .. } = state(&engine);
    assert_eq!((stage, is_old, why), (MapStage::None, true, Some("its vectors were made by another model")));
    assert!(checked(&engine, false).unwrap().0);
    engine.build_map(MapFrom::Present, &NoProgress).unwrap();
    assert_ne!(places(&seen(&engine)), places_before);
    assert_eq!(state(&engine).why, None);
}

/// An engine that leaves the indexes to others: it writes no map either.
#[test]
fn a_reader_maps_in_memory_and_places_changes_by_new_vectors() {
    let folder = tempfile::tempdir().unwrap();
    let writer = open(folder.path());
    let ids = fill(&writer, 0, 120);
    writer.close();
    let config = Config { index_writer: false, log_searches: false, ..Config::without_model() };
    let embedder = Arc::new(ByFirstWord(identity_of("a model")));
    let reader = Engine::open_with_embedder(folder.path(), config, embedder).unwrap();
    // One of the harbour moves to the violins; the index has its old vector.
    let update = RecordUpdate { content: Some("violin from the harbour".into()), ..Default::default() };
    reader.viewed_by(&Viewer::OWNER).update(ids[0], &update).unwrap();
    reader.embed_pending(&NoProgress).unwrap();
    reader.build_map(MapFrom::Scratch, &NoProgress).unwrap();
    let view = seen(&reader);
    assert_eq!(view.len(), 120);
    let later: Vec<u32> = (0..120).filter(|at| view.flags[*at] != 0).map(|at| view.ids[at]).collect();
    assert_eq!(later, [ids[0].key() as u32]);
    let places = places(&view);
    let away = |other: usize| {
        let [(x, y), (other_x, other_y)] = [ids[0], ids[other]].map(|id| places[&(id.key() as u32)]);
        (f64::from(x) - f64::from(other_x)).powi(2) + (f64::from(y) - f64::from(other_y)).powi(2)
    };
    let nearest = (1..120).min_by(|a, b| away(*a).total_cmp(&away(*b))).unwrap();
    assert_eq!(TOPICS[nearest % TOPICS.len()], "violin");
    assert!(!folder.path().join("map").exists());
}

#[test]
fn a_map_cannot_be_built_while_another_is_being_built() {
    let folder = tempfile::tempdir().unwrap();
    let engine = open(folder.path());
    fill(&engine, 0, 20);
    let other = open(folder.path());
    let making = other.store.map.begin_making().unwrap();
    assert_eq!((state(&other).stage, state(&other).progress), (MapStage::Making, Some(0.0)));
    for engine in [&engine, &other] {
        let busy = engine.build_map(MapFrom::Scratch, &NoProgress).unwrap_err();
        assert!(matches!(busy, Error::Held(_)), "{busy}");
    }
    drop(making);
    engine.build_map(MapFrom::Scratch, &NoProgress).unwrap();
    assert_eq!(state(&engine).progress, None);
}
