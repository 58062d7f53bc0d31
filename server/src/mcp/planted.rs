//! 39.6 and 39.7: a text in each place of each tool that takes one, of every profile. Purged, it is in no file that the product writes;
//! if it is a secret, it never was.
//!
//! The places come from the schemas, as in `leaks.rs`. What takes no text of anybody: numbers, flags, choices. A time, a cursor or
//! the id of a memory refuses it. `memory_purge` keeps nothing of what it is given. The name of an export is that of a file which is
//! the user's.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use clap::ValueEnum;
use jiff::tz::TimeZone;
use memorist_engine::progress::NoProgress;
use memorist_engine::sensitive::Sensitive;
use memorist_engine::types::{Purge, RecordId, Viewer};
use memorist_ingest::daily_log::DailyLog;
use serde_json::{Map, Value, json};

use super::leaks::World;
use super::profiles::{Profile, ToolDef};
use crate::args::ProfileName;
use crate::ops::{self, Context};
use crate::wire::{Int, PurgeParams, PurgeResult};

/// Occurs in nothing else.
const MARKER: &str = "xqzvkestrel";

/// Places that take no text as it is: times, cursors, ids, choices, files.
const REFUSED: [&str; 14] = [
    "confirm", "createdAfter", "createdBefore", "cursor", "date_from", "date_to", "entryType", "expect",
    "happensAfter", "happensBefore", "path", "since", "updatedAfter", "updatedBefore",
];

/// A token as a program gives it out.
fn secret() -> String {
    ["ghp", "_Zk3mQx9LpB7vZk3mQx9LpB7vZk3mQx9LpB7v"].concat()
}

/// The files in which a text occurs. Another process looks: this one has the database open.
fn files_with(folder: &Path, text: &str) -> Vec<PathBuf> {
    let found = Command::new("grep").args(["-rliaF", "--", text]).arg(folder).output().unwrap();
    String::from_utf8_lossy(&found.stdout).lines().map(PathBuf::from).collect()
}

/// A value of this shape, filled with a text; `None` if the shape takes none.
fn filled(shape: &Value, text: &str) -> Option<Value> {
    let shapes = ["anyOf", "oneOf"].iter().filter_map(|key| shape.get(key)?.as_array()).flatten();
    let is = |name: &str| match shape.get("type") {
        Some(Value::Array(names)) => names.iter().any(|of| of == name),
        Some(of) => of == name,
        None => false,
    };
    if shape.get("enum").is_some() {
        return None;
    }
    if is("string") || shape.as_object().is_none_or(Map::is_empty) {
        return Some(text.into());
    }
    if is("array") {
        return Some(json!([filled(shape.get("items").unwrap_or(&Value::Null), text)?]));
    }
    if is("object") {
        let properties = shape.get("properties").and_then(Value::as_object);
        let fields =
            properties.into_iter().flatten().filter_map(|(name, shape)| Some((name.clone(), filled(shape, text)?)));
        let fields: Map<String, Value> = fields.collect();
        return Some(Value::Object(fields));
    }
    shapes.filter_map(|shape| filled(shape, text)).next()
}

/// Calls of a tool with a text in one place more than it needs, by place.
fn calls(world: &mut World, tool: &ToolDef, text: &str) -> Vec<(String, Map<String, Value>)> {
    let properties = tool.definition.input_schema.get("properties").and_then(Value::as_object).cloned();
    let state = world.state();
    let mut calls = Vec::new();
    for (name, shape) in properties.unwrap_or_default() {
        let Some(value) = filled(&shape, text) else { continue };
        // Others are left out or drawn: a few times, so that some fit.
        for _ in 0..4 {
            let mut arguments = world.arguments(tool, &state);
            arguments.insert(name.clone(), value.clone());
            if name == "body" {
                // The one whose fields are its writer's.
                arguments.insert("entryType".into(), "profile".into());
                arguments.remove("metadata");
                arguments.insert(name.clone(), json!({ "likes": text, text: [text, { text: text }] }));
            }
            if matches!(&*name, "metadata" | "where") {
                arguments.insert(name.clone(), json!({ "likes": text }));
            }
            calls.push((name.clone(), arguments));
        }
    }
    calls
}

/// Where a server of these tests writes.
struct PlantFixture {
    world: World,
    context: Context,
    beside: tempfile::TempDir,
}

impl PlantFixture {
    fn new(sensitive: Sensitive) -> Self {
        let (world, beside) = (World::with(sensitive), tempfile::tempdir().unwrap());
        let log = DailyLog::new(beside.path().join("log"), TimeZone::UTC);
        let context = Context {
            exports: beside.path().join("exports"),
            memory_search: world.files(),
            daily_log: Some(Arc::new(log)),
            ..Context::default()
        };
        PlantFixture { world, context, beside }
    }

    /// Plants a text by every tool. Returns the places where it was always refused.
    fn plant(&mut self, text: &str) -> BTreeSet<String> {
        let (mut places, mut answered) = (BTreeSet::new(), BTreeSet::new());
        for name in ProfileName::value_variants() {
            for tool in &Profile::of(*name).tools {
                if tool.definition.name == "memory_purge" {
                    continue;
                }
                for (place, arguments) in calls(&mut self.world, tool, text) {
                    if (tool.run)(&self.world.engine, &self.context, arguments).is_ok() {
                        answered.insert(place.clone());
                    }
                    places.insert(place);
                }
            }
        }
        // What is searched is kept by then.
        self.world
            .engine
            .viewed_by(&Viewer::OWNER)
            .purge(&Purge::Text("of nothing that is there".into()), &NoProgress)
            .unwrap();
        &places - &answered
    }

    fn purge(&self, params: PurgeParams) -> PurgeResult {
        ops::purge(&self.world.engine, &self.context, PurgeParams { confirm: true, ..params }, &NoProgress).unwrap()
    }

    fn purge_text(&self, text: &str) -> PurgeResult {
        self.purge(PurgeParams { text: Some(text.into()), ..PurgeParams::default() })
    }

    /// Where the text is, but in exports.
    fn found(&self, text: &str) -> Vec<PathBuf> {
        let mut found = files_with(self.world.folder.path(), text);
        found.extend(files_with(&self.beside.path().join("log"), text));
        found
    }
}

/// 39.6
#[test]
fn purge_erases_tool_arguments_wherever_they_were_stored() {
    let mut fixture = PlantFixture::new(Sensitive::Refuse);
    let refused = fixture.plant(MARKER);
    assert!(refused.iter().all(|place| REFUSED.contains(&&**place)), "never planted: {refused:?}");
    let found = fixture.found(MARKER);
    for place in ["memory.db", "/keywords/", "/log/"] {
        assert!(found.iter().any(|file| file.to_string_lossy().contains(place)), "not in {place}: {found:?}");
    }
    let purged = fixture.purge_text(MARKER);
    assert!(purged.complete && purged.records > 30 && purged.queries > 30, "{purged:?}");
    // A name takes no memories along, and is reported.
    let names = [format!("the name of an agent: {MARKER}"), format!("the name of a project: {MARKER}")];
    assert_eq!(purged.stays, names);
    let is_named = |id: &RecordId, world: &World| {
        let (_, record) = &world.state()[id];
        [&record.scope.agent, &record.scope.project].into_iter().flatten().any(|name| name == MARKER)
    };
    let ids: Vec<RecordId> = fixture.world.state().into_keys().collect();
    let ids = ids.iter().filter(|id| is_named(id, &fixture.world)).map(|id| Int(id.get())).collect();
    fixture.purge(PurgeParams { ids: Some(ids), ..PurgeParams::default() });
    let purged = fixture.purge_text(MARKER);
    assert_eq!((&*purged.stays, &*purged.remaining_files), (&[][..], &[][..]));
    assert_eq!(fixture.found(MARKER), Vec::<PathBuf>::new());
}

/// 39.7
#[test]
fn no_secret_that_a_tool_was_given_is_kept_wherever_it_was() {
    for sensitive in [Sensitive::Refuse, Sensitive::Redact] {
        let mut fixture = PlantFixture::new(sensitive);
        let refused = fixture.plant(&secret());
        // The name of a field cannot be redacted.
        let is_taken = |place: &String| !REFUSED.contains(&&**place) && place != "body";
        assert!(sensitive == Sensitive::Refuse || !refused.iter().any(is_taken), "{refused:?}");
        assert_eq!(fixture.found(&secret()), Vec::<PathBuf>::new(), "{sensitive:?}");
        let export = Profile::of(ProfileName::Full).tool("memory_export").unwrap();
        (export.run)(&fixture.world.engine, &fixture.context, Map::new()).unwrap();
        assert_eq!(files_with(fixture.beside.path(), &secret()), Vec::<PathBuf>::new(), "{sensitive:?}");
        if sensitive == Sensitive::Redact {
            assert!(!fixture.found("[redacted: ").is_empty());
        }
    }
}
