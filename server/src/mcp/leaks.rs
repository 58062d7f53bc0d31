//! Leak tests: no answer of a tool of any profile, errors included, contains anything of a memory that its caller does
//! not see, and such a memory stays unchanged. The same for resources and completions. (Prompts cannot leak: they are
//! made without the store.)
//!
//! Every memory has unique words. Arguments are generated from the parameter names that a tool publishes, so that a new
//! tool is tested as soon as it is in a table; a parameter with a new name fails the test until a generator for it is
//! added.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use clap::ValueEnum;
use memorist_engine::Engine;
use memorist_engine::config::{Config, ModelSource, TeamSettings};
use memorist_engine::embed::HashEmbedder;
use memorist_engine::progress::NoProgress;
use memorist_engine::sensitive::Sensitive;
use memorist_engine::types::{
    FileContent, FileReading, Filter, Kind, Link, LinkKind, ListQuery, MAX_LIMIT, NewRecord, NewSource, Origin, Place,
    Reach, Record, RecordId, Scope, SourceKind, Viewer,
};
use rmcp::model::{ArgumentInfo, CompleteRequestParams, CompletionContext, Reference};
use serde_json::{Map, Value, json};

use super::clients::default_viewer;
use super::profiles::{Profile, SCOPES, ToolDef};
use super::{completions, prompts, resources};
use crate::args::ProfileName;
use crate::memory_search::MemorySearch;
use crate::ops::Context;
use crate::tools::ToolOutput;
use crate::wire::Defaults;

pub(super) const AGENTS: [&str; 3] = ["ann", "bob", Reach::MAIN];
pub(super) const PROJECTS: [&str; 2] = ["apollo", "gemini"];
/// Calls of each tool for each viewer.
const CALLS: usize = 4;

/// How often each tool of a profile is called by each viewer: one that is alone has several commands.
pub(super) fn calls_of(profile: &Profile) -> usize {
    CALLS.max(20 / profile.tools.len())
}

/// Small random numbers, the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    fn often(&mut self) -> bool {
        self.below(2) == 0
    }
}

const FILES: [&str; 3] = ["/memories/a.md", "/memories/b.md", "/memories/c/a.md"];

/// A store with memories of every agent and project, and the generator of arguments.
pub(super) struct World {
    pub(super) engine: Engine,
    /// The one that answers, if it is another node of the same store.
    node: Option<Engine>,
    dice: Dice,
    /// Words in use.
    words: usize,
    pub(super) folder: tempfile::TempDir,
}

fn open(folder: &Path, team: Option<TeamSettings>, sensitive: Sensitive) -> Engine {
    let mut config = Config::without_model();
    (config.team, config.sensitive) = (team, sensitive);
    Engine::open_with_embedder(folder, config, Arc::new(HashEmbedder::new(64))).unwrap()
}

/// The content of the store as its owner sees it: the memories, and the links of each.
pub(super) type StoreContents = BTreeMap<RecordId, (Vec<Link>, Record)>;

impl World {
    pub(super) fn new() -> Self {
        World::with(Sensitive::Refuse)
    }

    /// A world with this setting for secrets.
    pub(super) fn with(sensitive: Sensitive) -> Self {
        let folder = tempfile::tempdir().unwrap();
        World::filled(open(folder.path(), None, sensitive), None, folder)
    }

    fn filled(engine: Engine, node: Option<Engine>, folder: tempfile::TempDir) -> Self {
        let mut world = World { engine, node, dice: Dice(7), words: 0, folder };
        let owners = |names: &[&'static str]| names.iter().copied().map(Some).chain([None]).collect::<Vec<_>>();
        for agent in owners(&AGENTS) {
            for project in owners(&PROJECTS) {
                let scope = Scope { agent: agent.map(Into::into), project: project.map(Into::into) };
                for _ in 0..6 {
                    world.add(scope.clone());
                }
                world.read(SourceKind::Notes, &scope);
                world.read(SourceKind::Sessions, &scope);
            }
        }
        let links: Vec<Link> = (0..120).map(|_| world.any_link()).collect();
        world.engine.viewed_by(&Viewer::OWNER).link_batch(&links).unwrap();
        world.engine.embed_pending(&NoProgress).unwrap();
        world
    }

    /// Settings for tools that read files into this store.
    pub(super) fn files(&self) -> Arc<MemorySearch> {
        let store = Some(self.folder.path().to_owned());
        Arc::new(MemorySearch { store, model: ModelSource::None.into(), ..MemorySearch::default() })
    }

    /// An unused word.
    fn word(&mut self) -> String {
        self.words += 1;
        format!("own{}word", self.words)
    }

    pub(super) fn add(&mut self, scope: Scope) {
        let (own, context, tag) = (self.word(), self.word(), self.word());
        let mut record = NewRecord::new(format!("the harbour of {own}"));
        record.kind = self.dice.one(&Kind::ALL[..10]);
        record.context = Some(format!("said by {context}"));
        record.tags = vec![tag, "harbour".into()];
        record.source = self.word();
        record.scope = scope;
        if self.words.is_multiple_of(3) {
            // A file, at a path that other scopes have, too.
            record.body = Some(json!({ "metadata": { "memory_file": FILES[self.words / 3 % FILES.len()] } }));
        }
        self.engine.add(&record).unwrap();
    }

    /// Adds a source, and what was read of a file of it. The file is not there.
    fn read(&mut self, kind: SourceKind, scope: &Scope) {
        let [folder, own, context, tag] = [(); 4].map(|()| self.word());
        let path = format!("/{folder}");
        let format = (kind == SourceKind::Sessions).then(|| "gimli".to_owned());
        let source = NewSource { kind, path: path.clone(), format, globs: Vec::new(), scope: scope.clone() };
        let (source, _) = self.engine.add_source(&source).unwrap();
        let mut origin = [0; 16];
        origin[..8].copy_from_slice(&(self.words as u64).to_le_bytes());
        let path = format!("{path}/notes.md");
        let is_note = kind == SourceKind::Notes;
        let record = NewRecord {
            kind: if is_note { Kind::Chunk } else { Kind::Conversation },
            context: Some(format!("said by {context}")),
            tags: vec![tag, "harbour".into()],
            scope: scope.clone(),
            session: (!is_note).then(|| format!("the talk of {own}")),
            place: Some(Place::new(Origin::from_bytes(origin), path.clone(), 1, 3)),
            ..NewRecord::new(format!("the harbour of {own}"))
        };
        let content = match is_note {
            true => FileContent::Chunks(vec![record]),
            false => FileContent::Turns { turns: vec![record], whole: false },
        };
        let reading = FileReading::new(path, content);
        self.engine.save_readings(source, vec![reading]).unwrap().unwrap();
    }

    /// Restores the original number of memories, if some were deleted.
    pub(super) fn refilled(&mut self, mut state: StoreContents) -> StoreContents {
        while self.live() < 54 {
            let (agent, project) = (self.dice.one(&AGENTS).into(), self.dice.one(&PROJECTS).into());
            self.add(Scope { agent: Some(agent), project: Some(project) });
            state = self.state();
        }
        state
    }

    /// A link between any two of the first memories, of any owner.
    fn any_link(&mut self) -> Link {
        let (from, to) = (1 + self.dice.below(50) as i64, 1 + self.dice.below(50) as i64);
        Link { from: from.into(), to: to.into(), kind: self.dice.one(&LinkKind::ALL) }
    }

    pub(super) fn state(&self) -> StoreContents {
        let query = ListQuery { limit: MAX_LIMIT, ..ListQuery::default() };
        let records = self.engine.list(&query).unwrap().into_iter();
        let live = records.map(|record| {
            (record.id, (self.engine.viewed_by(&Viewer::OWNER).links(record.id, usize::MAX).unwrap(), record))
        });
        // What was deleted must not be shown, either.
        let deleted = self.engine.list_gone(&Filter::default(), true, 0, 1_000).unwrap().into_iter();
        live.chain(deleted.map(|gone| (gone.record.id, (Vec::new(), gone.record)))).collect()
    }

    fn live(&self) -> u64 {
        self.engine.list_count(&ListQuery { limit: 1, ..ListQuery::default() }).unwrap()
    }

    /// Arguments for a tool, from its schema, without scopes.
    pub(super) fn arguments(&mut self, tool: &ToolDef, state: &StoreContents) -> Map<String, Value> {
        if tool.definition.name == "memory" {
            return self.file_command();
        }
        let schema = &tool.definition.input_schema;
        let none = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
        let required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
        let mut arguments = Map::new();
        for (name, shape) in properties {
            let needed = required.iter().any(|field| field == name);
            if !SCOPES.contains(&name.as_str()) && (needed || self.dice.often()) {
                let value = self.value(&tool.definition.name, name, shape, state);
                arguments.insert(name.clone(), value);
            }
        }
        arguments
    }

    /// A command on files: which parameters it needs depends on it.
    fn file_command(&mut self) -> Map<String, Value> {
        let (path, word) = (self.dice.one(&FILES), self.word());
        let new = format!("/memories/{}.md", self.word());
        let command = match self.dice.below(9) {
            0 | 1 => json!({ "command": "view", "path": "/memories" }),
            2 | 3 => json!({ "command": "create", "path": new, "file_text": word }),
            4 => json!({ "command": "view", "path": path, "view_range": [1, 2] }),
            5 => json!({ "command": "insert", "path": path, "insert_line": 1, "insert_text": word }),
            6 => json!({ "command": "str_replace", "path": path, "old_str": "own", "new_str": word }),
            7 => json!({ "command": "rename", "old_path": path, "new_path": new }),
            _ => json!({ "command": "delete", "path": path }),
        };
        command.as_object().cloned().unwrap_or_default()
    }

    fn value(&mut self, tool: &str, name: &str, shape: &Value, state: &StoreContents) -> Value {
        if let Some(values) = shape.get("enum").and_then(Value::as_array) {
            return values[self.dice.below(values.len())].clone();
        }
        if shape.get("type").is_some_and(|name| name == "boolean") {
            return self.dice.often().into();
        }
        // Any memory: most are not visible.
        let all: Vec<&Record> = state.values().map(|(_, record)| record).collect();
        let any = all[self.dice.below(all.len())];
        let tag = any.tags.first().map_or("harbour", String::as_str);
        match name {
            "id" | "fact_id" | "fromId" | "toId" | "memoryId" | "linkedId" => json!(any.id),
            "ids" | "supersedes" | "contradicts" | "related" => json!([any.id]),
            "items" => json!([{ "content": self.word(), "related": any.id }, { "content": any.content }]),
            // They are in the answer again.
            "messages" => json!([{ "role": "user", "content": self.word() }]),
            "size" => self.dice.below(3).into(),
            "expect" => self.dice.one(&[json!(1), json!("harbour")].each_ref()).clone(),
            "confirm" => format!("{}.0123456789", any.id).into(),
            "path" => match &any.place {
                Some(place) if self.dice.often() => place.path.clone().into(),
                Some(_) => "notes.md".into(),
                None => format!("memory:{}", any.id).into(),
            },
            "from" | "lines" => (1 + self.dice.below(3)).into(),
            "sources" => json!([self.dice.one(&["notes", "sessions", "memories"])]),
            "offset" => self.dice.below(3).into(),
            "passage" => tag.into(),
            "due" | "validTo" => "2100-01-01".into(),
            "since" | "updatedAfter" | "happensAfter" | "validFrom" => "2020-01-01".into(),
            "updatedBefore" | "happensBefore" => "2100-01-01".into(),
            // Of a page.
            "after" | "before" => 1000.into(),
            "version" => 1.into(),
            "maxDepth" => self.dice.below(4).into(),
            "text" => self.dice.one(&[any.content.as_str(), tag]).into(),
            "feature" => any.body.as_ref().and_then(|body| body.get("feature")).cloned().unwrap_or("none".into()),
            "recentMessages" => json!([any.content]),
            "query" | "userMessage" | "message" => {
                let words = [any.content.as_str(), tag, any.context.as_deref().unwrap_or("harbour"), "harbour"];
                self.dice.one(&words).into()
            }
            // Its own text, or that of another: a duplicate.
            "content" | "fact" if self.dice.often() => any.content.clone().into(),
            // An export of one viewer, which another may try to import.
            "file" => self.dice.one(&["memories.jsonl", "others.jsonl"]).into(),
            "content" | "context" | "source" | "fact" | "reason" | "session_id" | "user_message" | "agent_response"
            | "title" | "description" => self.word().into(),
            "body" => json!({ "title": self.word(), "description": self.word() }),
            "metadata" => json!({ "word": self.word(), "number": self.dice.below(5) }),
            "where" => {
                json!({ "$or": [{ "word": { "$exists": false } }, { "number": { "$lt": self.dice.below(6) } }] })
            }
            "tags" | "addTags" | "removeTags" if self.dice.often() => json!([tag]),
            "tags" | "addTags" | "removeTags" => json!([self.word()]),
            "entryType" => json!(any.kind),
            "entryTypes" => json!([any.kind]),
            "importance" | "minImportance" => (1 + self.dice.below(10)).into(),
            "confidence" | "minConfidence" | "minScore" | "minRelevance" | "vectorWeight" | "keywordWeight" => {
                (self.dice.below(10) as f64 / 10.0).into()
            }
            "minSimilarity" => (self.dice.below(10) as f64 / 20.0).into(),
            "session" => ["talk", "other talk"][self.dice.below(2)].into(),
            "turn" => self.dice.below(9).into(),
            "neighbors" => self.dice.below(6).into(),
            "scale" => ["theoretical", "pool"][self.dice.below(2)].into(),
            "limit" | "maxResults" | "batch_size" => (1 + self.dice.below(100)).into(),
            "cursor" => "10-50-0123456789ab".into(),
            "maxTokens" => (10 + self.dice.below(10_000)).into(),
            "createdAfter" => 0.into(),
            "date_from" => "2020-01-01".into(),
            "date_to" => "2100-01-01".into(),
            "expiresAt" | "createdBefore" => 4_102_444_800_000_i64.into(),
            other => panic!("{tool}: say here how to draw its parameter {other}"),
        }
    }
}

/// The unique words of a memory.
fn words(record: &Record) -> BTreeSet<String> {
    let text = format!("{record:?}");
    let begun = text.match_indices("own").map(|(at, _)| &text[at..]);
    begun
        .filter_map(|rest| rest.split(|character: char| !character.is_alphanumeric()).next())
        .filter(|word| word.ends_with("word"))
        .map(str::to_owned)
        .collect()
}

/// Every number below a key that names memories.
fn ids(value: &Value, of_memories: bool, found: &mut BTreeSet<RecordId>) {
    match value {
        Value::Object(object) => object.iter().for_each(|(key, value)| {
            let names = ["id", "Id", "ids", "By", "_id"].iter().any(|end| key.ends_with(end));
            ids(value, names, found);
        }),
        Value::Array(items) => items.iter().for_each(|item| ids(item, of_memories, found)),
        // `#12` in an answer that is text.
        Value::String(text) => {
            let numbers = text.split('#').skip(1).map(|rest| rest.split(|c: char| !c.is_ascii_digit()).next());
            found.extend(numbers.flatten().filter_map(|number| number.parse::<i64>().ok()).map(RecordId::from));
        }
        Value::Number(number) if of_memories => found.extend(number.as_i64().map(RecordId::from)),
        _ => {}
    }
}

fn reaches(names: &[&str]) -> Vec<Reach> {
    [Reach::Shared].into_iter().chain(names.iter().map(|name| Reach::Own((*name).into()))).collect()
}

/// The name by which a call selects a scope.
fn said(reach: &Reach) -> Value {
    match reach {
        Reach::Every => Reach::EVERY.into(),
        reach => reach.name().into(),
    }
}

/// The settings of a server for this viewer.
fn defaults(viewer: &Viewer) -> Defaults {
    let name = |reach: &Reach| reach.name().map(str::to_owned);
    Defaults::named(name(&viewer.project), name(&viewer.agent)).unwrap().for_agents()
}

/// Calls a tool as `viewer`, given by the server's settings or (`by_call`) by the call. `None` if the tool has no
/// parameter for it. Otherwise the effective viewer, the arguments, and the answer.
fn call(
    world: &mut World,
    profile: ProfileName,
    tool: &ToolDef,
    viewer: &Viewer,
    by_call: bool,
    state: &StoreContents,
) -> Option<(Viewer, Map<String, Value>, Value)> {
    let mut arguments = world.arguments(tool, state);
    let (mut viewer, mut server) = (viewer.clone(), viewer.clone());
    let properties = tool.definition.input_schema.get("properties").and_then(Value::as_object);
    let takes = |name: &str| properties.is_some_and(|properties| properties.contains_key(name));
    if matches!(profile, ProfileName::Krolik | ProfileName::Gimli) && !by_call && viewer.project == Reach::Shared {
        // Their documents omit nothing if no project is named.
        viewer.project = Reach::Every;
    }
    if takes("agent_id") {
        // Memorizer's name for it, which cannot express "none": a server is "main" by default.
        if !matches!(viewer.agent, Reach::Own(_)) {
            viewer.agent = Reach::Own(Reach::MAIN.into());
        }
        server.agent = viewer.agent.clone();
        if let (true, Reach::Own(name)) = (by_call, &viewer.agent) {
            arguments.insert("agent_id".into(), name.clone().into());
            server.agent = Reach::Own("ann".into());
        }
    } else if by_call {
        // Krolik's tools cannot express "none" either.
        if !takes("project") || !takes("agent") && viewer.project == Reach::Shared {
            return None;
        }
        arguments.insert("project".into(), said(&viewer.project));
        server.project = Reach::Own("apollo".into());
        if takes("agent") {
            arguments.insert("agent".into(), said(&viewer.agent));
            server.agent = Reach::Own("ann".into());
        }
    }
    if !(takes("agent_id") || by_call && takes("agent")) {
        // Of the server, not of the call.
        viewer.agent = Reach::WithMain(viewer.agent.name().map(str::to_owned));
    }
    let exports = world.folder.path().join("exports");
    let defaults = default_viewer(profile, false, defaults(&server)).unwrap();
    let context = Context { defaults, exports, memory_search: world.files(), ..Context::default() };
    let answer = match (tool.run)(world.node.as_ref().unwrap_or(&world.engine), &context, arguments.clone()) {
        Ok(ToolOutput { structured, words }) => json!({ "structured": structured, "words": words }),
        Err(message) => message.into(),
    };
    Some((viewer, arguments, answer))
}

/// The faults of a call and its answer; empty if there are none.
pub(super) fn leak(
    viewer: &Viewer,
    before: &StoreContents,
    after: &StoreContents,
    arguments: &Map<String, Value>,
    answer: &Value,
) -> String {
    let mut wrong = String::new();
    let (mut seen, mut hidden) = (BTreeSet::new(), BTreeSet::new());
    let changed = after.iter().filter(|(id, now)| before.get(id) != Some(now)).map(|(_, now)| now);
    for (_, record) in before.values().chain(changed) {
        if viewer.sees(&record.scope) { &mut seen } else { &mut hidden }.extend(words(record));
    }
    let text = answer.to_string();
    // A code of the query that no visible memory has is named as it was requested.
    let times = |part: String| text.matches(&*part).count();
    let is_named_as_missing = |word: &String| {
        let asked = arguments.get("query").and_then(Value::as_str).unwrap_or_default();
        let named =
            ["no memory mentions ", "resembles ", "\"missing\":[\""].map(|before| times(format!("{before}{word}")));
        asked.contains(&**word) && times(word.clone()) == named.iter().sum::<usize>()
    };
    for word in hidden.difference(&seen).filter(|word| text.contains(word.as_str()) && !is_named_as_missing(word)) {
        let _ = write!(wrong, "it holds {word}; ");
    }
    let (mut shown, mut requested) = (BTreeSet::new(), BTreeSet::new());
    ids(answer, false, &mut shown);
    ids(&Value::Object(arguments.clone()), false, &mut requested);
    let is_hidden = |id: RecordId| {
        let known = before.get(&id).or(after.get(&id));
        known.is_some_and(|(_, record)| !viewer.sees(&record.scope))
    };
    for id in shown.difference(&requested).filter(|id| is_hidden(**id)) {
        let _ = write!(wrong, "it names memory {id}; ");
    }
    // A link is removed with either end: only those between two hidden ones must stay.
    let as_it_was = |state: &StoreContents, id: RecordId| {
        let (links, record) = state.get(&id)?;
        let links = links.iter().filter(|link| is_hidden(link.other_end(id))).copied();
        // Uses are counted in the background: those of the previous call, of another viewer, may be counted only now.
        let record = Record { access_count: 0, last_accessed_at: None, ..record.clone() };
        Some((links.collect::<Vec<_>>(), record))
    };
    for id in before.keys().copied().filter(|id| is_hidden(*id)) {
        if as_it_was(before, id) != as_it_was(after, id) {
            let _ = write!(wrong, "it changed memory {id}; ");
        }
    }
    wrong
}

#[test]
fn no_tool_shows_or_changes_anything_of_another() {
    for profile in ProfileName::value_variants() {
        call_all(World::new(), *profile, viewers(), calls_of(Profile::of(*profile)));
    }
}

/// The tests start PostgreSQL on Unix alone.
#[cfg(unix)]
mod nodes {
    use memorist_engine::config::ServerAddress;
    use memorist_engine::team::TeamServer;

    use super::*;
    use crate::team::{NameOrigin, TeamSection};

    /// Filled and examined by one node of a team store, and asked by another.
    fn of_two_nodes(address: &str) -> World {
        let folder = tempfile::tempdir().unwrap();
        let team = TeamSection::default().resolve(Path::new(address), NameOrigin::Environment, None).unwrap();
        let [engine, node] =
            ["engine", "node"].map(|name| open(&folder.path().join(name), team.clone(), Sensitive::Refuse));
        World::filled(engine, Some(node), folder)
    }

    #[test]
    fn no_tool_of_a_node_shows_or_changes_anything_of_another() {
        const TEST: &str = "no_tool_of_a_node_shows_or_changes_anything_of_another";
        let Some(cluster) = postgres_testing::shared(TEST) else { return };
        let team = cluster.database();
        TeamServer::new(ServerAddress::parse(&team.address()).unwrap()).init().unwrap();
        // One of neither, and one of each agent and project.
        call_all(of_two_nodes(&team.address()), ProfileName::Full, viewers().step_by(4), 2);
    }
}

/// Calls every tool of a profile, for each viewer.
fn call_all(mut world: World, profile: ProfileName, viewers: impl Iterator<Item = Viewer> + Clone, calls: usize) {
    let mut state = world.state();
    for tool in &Profile::of(profile).tools {
        for viewer in viewers.clone() {
            for round in 0..calls {
                let Some((viewer, arguments, answer)) =
                    call(&mut world, profile, tool, &viewer, round % 2 == 1, &state)
                else {
                    continue;
                };
                let after = world.state();
                let wrong = leak(&viewer, &state, &after, &arguments, &answer);
                let tool = &tool.definition.name;
                assert_eq!(wrong, "", "{profile:?} {tool} {arguments:?} by {viewer:?}: {answer}");
                state = after;
            }
        }
        // Tools that delete leave some for the others.
        state = world.refilled(state);
    }
}

#[test]
fn no_resource_shows_anything_of_another() {
    let world = World::new();
    let state = world.state();
    let mut read = 0;
    for viewer in viewers() {
        let context = Context { defaults: defaults(&viewer), ..Context::default() };
        let memories = state.keys().map(|id| (viewer.clone(), format!("memory://{id}")));
        let own = [(viewer.clone(), "memory://digest".to_owned())];
        // Naming a project selects its viewer, as with the tool.
        let projects = PROJECTS.map(|name| {
            let viewer = Viewer { project: Reach::Own(name.into()), ..viewer.clone() };
            (viewer, format!("memory://digest/{name}"))
        });
        for (viewer, uri) in memories.chain(own).chain(projects) {
            let contents = resources::read(&world.engine, &context, &uri).unwrap();
            read += usize::from(contents.is_some());
            let answer = serde_json::to_value(&contents).unwrap();
            // The id is in the URI, which the answer repeats.
            let wrong = leak(&viewer, &state, &state, &Map::new(), &answer);
            assert_eq!(wrong, "", "{uri} by {viewer:?}: {answer}");
            if let Some(id) = uri.strip_prefix("memory://").and_then(|id| id.parse::<i64>().ok()).map(RecordId::from) {
                assert_eq!(contents.is_some(), viewer.sees(&state[&id].1.scope), "{uri} by {viewer:?}");
            }
        }
    }
    assert!(read > 100, "{read}");
}

#[test]
fn no_completion_shows_anything_of_another() {
    let world = World::new();
    let state = world.state();
    let complete =
        |context: &Context, profile, reference: &Reference, name: &str, typed: &str, project: Option<&str>| {
            let mut request = CompleteRequestParams::new(reference.clone(), ArgumentInfo::new(name, typed));
            let filled = |name: &str| [("project".to_owned(), name.to_owned())].into_iter().collect();
            request.context = project.map(|name| CompletionContext::with_arguments(filled(name)));
            completions::complete(&world.engine, context, profile, &request).unwrap().values
        };
    for (profile, viewer) in
        ProfileName::value_variants().iter().flat_map(|name| viewers().map(|viewer| (Profile::of(*name), viewer)))
    {
        let context = Context { defaults: defaults(&viewer), ..Context::default() };
        let prompts = prompts::all(profile).into_iter().flat_map(|prompt| {
            let arguments = prompt.arguments.unwrap_or_default().into_iter();
            arguments.map(move |argument| (Reference::for_prompt(&*prompt.name), argument.name))
        });
        let templates = [(resources::DIGESTS, "project"), (resources::MEMORIES, "id")];
        let templates = templates.map(|(uri, name)| (Reference::for_resource(uri), name.to_owned()));
        for (reference, name) in prompts.chain(templates) {
            for typed in ["", "own", "OWN1", "harb", "a", "g"] {
                let values = complete(&context, profile, &reference, &name, typed, None);
                let wrong = leak(&viewer, &state, &state, &Map::new(), &json!(values));
                assert_eq!(wrong, "", "{name} {typed} by {viewer:?}: {values:?}");
                let foreign =
                    |value: &&String| PROJECTS.contains(&value.as_str()) && !viewer.project.sees(Some(value.as_str()));
                assert_eq!(values.iter().find(foreign), None, "{name} {typed} by {viewer:?}: {values:?}");
            }
            for project in PROJECTS.iter().filter(|_| name != "project") {
                let values = complete(&context, profile, &reference, &name, "", Some(project));
                let viewer = Viewer { project: Reach::Own((*project).into()), ..viewer.clone() };
                let wrong = leak(&viewer, &state, &state, &Map::new(), &json!(values));
                assert_eq!(wrong, "", "{name} in {project} by {viewer:?}: {values:?}");
            }
        }
        // And what is visible is offered.
        let own = complete(&context, profile, &Reference::for_prompt("recall"), "topic", "own", None);
        let tags = |record: &Record| viewer.sees(&record.scope).then(|| record.tags[0].clone());
        let mut wanted: Vec<_> = state.values().filter_map(|(_, record)| tags(record)).collect();
        wanted.sort();
        assert_eq!(own, wanted, "{viewer:?}");
    }
}

/// Every combination of an agent or none, and a project or none. A server for `main` sees what one for no agent does.
fn viewers() -> impl Iterator<Item = Viewer> + Clone {
    let of = |agent: Reach| reaches(&PROJECTS).into_iter().map(move |project| Viewer { agent: agent.clone(), project });
    reaches(&AGENTS[..2]).into_iter().flat_map(of)
}
