//! The schemas of results in `wire/results.json`, from which `.ci/types` writes the types of TypeScript and Python.

use std::collections::BTreeSet;

use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use super::api::{Overview, WIDE_ONLY};
use super::own::FUNCTIONS;
use crate::wire::explore::{
    CleanupResult, ExplainResult, FindResult, GraphResult, MemoryResult, MergeResult, NeighborsResult, SimilarResult,
    TimelineResult,
};
use crate::wire::{
    AddResult, BuildMapResult, ChainResult, DeleteResult, ExportResult, HistoryResult, ImportResult, LinkResult,
    ListResult, MapLabelsResult, OutdatedResult, PurgeResult, RecallResult, SearchResult, SearchesResult, StatsResult,
    SyncResult, UndoResult, UnlinkResult, UpdateResult,
};

/// The results of the page's functions.
fn of_page(generator: &mut SchemaGenerator) -> impl IntoIterator<Item = (&'static str, Schema)> {
    macro_rules! results {
        ($($function:literal: $result:ty,)*) => {
            [$(($function, generator.subschema_for::<$result>())),*]
        };
    }
    results! {
        "add": AddResult,
        "buildMap": BuildMapResult,
        "chain": ChainResult,
        "cleanup": CleanupResult,
        "delete": DeleteResult,
        "explain": ExplainResult,
        "graph": GraphResult,
        "history": HistoryResult,
        "link": LinkResult,
        "list": ListResult,
        "mapLabels": MapLabelsResult,
        "memory": MemoryResult,
        "merge": MergeResult,
        "neighbors": NeighborsResult,
        "outdated": OutdatedResult,
        "overview": Overview,
        "purge": PurgeResult,
        "rollback": UpdateResult,
        "search": FindResult,
        "searches": SearchesResult,
        "similar": SimilarResult,
        "stats": StatsResult,
        "timeline": TimelineResult,
        // Of one `id`, which is all that the page gives: of `ids` it is `results`, a list of these.
        "undo": UndoResult,
        "unlink": UnlinkResult,
        "update": UpdateResult,
    }
}

fn schemas() -> Value {
    // The widths of Rust's numbers mean nothing to others.
    let plain = RecursiveTransform(|schema: &mut Schema| {
        schema.remove("format");
        schema.remove("minimum");
        schema.remove("maximum");
    });
    let settings = SchemaSettings::draft2020_12().for_serialize().with_transform(plain);
    let mut generator = settings.into_generator();
    let page: Map<String, Value> =
        of_page(&mut generator).into_iter().map(|(name, of)| (name.into(), of.into())).collect();
    // Python's library has these besides.
    let _ = (generator.subschema_for::<ExportResult>(), generator.subschema_for::<ImportResult>());
    let _ = (generator.subschema_for::<RecallResult>(), generator.subschema_for::<SearchResult>());
    let _ = generator.subschema_for::<SyncResult>();
    let mut types = generator.take_definitions(true);
    for required in types.values_mut().filter_map(|schema| schema.get_mut("required")?.as_array_mut()) {
        required.retain(|name| !WIDE_ONLY.iter().any(|wide| name == wide));
    }
    json!({ "page": page, "$defs": types })
}

#[test]
fn schemas_of_results_are_those_of_the_file() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/src/wire/results.json");
    let written = serde_json::to_string_pretty(&schemas()).unwrap() + "\n";
    if std::env::var_os("MEMORIST_UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(file, &written).unwrap();
    }
    let kept = std::fs::read_to_string(file).unwrap_or_default();
    let first = written.lines().zip(kept.lines()).find(|(written, kept)| written != kept);
    assert!(
        written == kept,
        "{first:?}: run again with MEMORIST_UPDATE_SNAPSHOTS=1, run .ci/types, and review the changes"
    );
}

#[test]
fn page_functions_have_a_result_type() {
    let functions: BTreeSet<_> = FUNCTIONS.iter().map(|function| function.name).collect();
    let mut generator = SchemaGenerator::default();
    let typed: BTreeSet<_> = of_page(&mut generator).into_iter().map(|(name, _)| name).collect();
    assert_eq!(typed, functions.into_iter().chain(["buildMap"]).collect());
}
