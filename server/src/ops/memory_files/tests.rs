//! The commands over a store.

use std::collections::BTreeMap;
use std::sync::Barrier;

use memorist_engine::Engine;
use memorist_engine::progress::NoProgress;
use memorist_engine::types::{Filter, Kind, Link, LinkKind, ListQuery, NewRecord, RecordId, Scope, Viewer};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::explore::testing::{open, store};
use super::files::MemoryFiles;
use super::path::MemoryPath;
use super::*;
use crate::tools::Problem;
use crate::wire::Defaults;

/// A client of the memory files of a store, in the scope of `context`.
struct FilesClient<'a> {
    engine: &'a Engine,
    context: Context,
}

impl FilesClient<'_> {
    fn of<'a>(engine: &'a Engine, project: Option<&str>) -> FilesClient<'a> {
        let defaults = Defaults::named(project.map(str::to_owned), None).unwrap();
        FilesClient { engine, context: Context { defaults, ..Context::default() } }
    }

    fn run(&self, command: Value) -> Result<String, String> {
        let Value::Object(mut given) = command else { panic!("not an object: {command}") };
        crate::wire::adapt_values::<FileParams>(&mut given);
        call(self.engine, &self.context, crate::wire::parse_exactly(given)?)
            .map_err(|error| Problem::from(error).message)
    }

    fn done(&self, command: Value) -> String {
        self.run(command.clone()).unwrap_or_else(|why| panic!("{command}: {why}"))
    }

    fn create(&self, path: &str, text: &str) {
        self.done(json!({ "command": "create", "path": path, "file_text": text }));
    }

    fn view(&self, path: &str) -> Result<String, String> {
        self.run(json!({ "command": "view", "path": path }))
    }

    /// The texts by path.
    fn texts(&self) -> BTreeMap<String, String> {
        let below = MemoryFiles::new(self.engine, &self.context.defaults).below(&MemoryPath::root()).unwrap();
        below.into_iter().map(|file| (file.path, file.record.content)).collect()
    }

    fn id(&self, path: &str) -> RecordId {
        let files = MemoryFiles::new(self.engine, &self.context.defaults);
        files.find(&MemoryPath::parse(path).unwrap()).unwrap().unwrap().record.id
    }

    fn found(&self, words: &str) -> String {
        self.engine.flush(&NoProgress).unwrap();
        self.view(&format!("/memories/search/{words}")).unwrap()
    }
}

#[test]
fn a_folder_is_listed_two_levels_deep() {
    let (_folder, engine) = store();
    let client = FilesClient::of(&engine, None);
    let head = "Here're the files and directories up to 2 levels deep in";
    let but = "excluding hidden items and node_modules:";
    assert_eq!(client.view("/memories").unwrap(), format!("{head} /memories, {but}\n0B\t/memories"));
    for (path, size) in [
        ("/memories/b.md", 3),
        ("/memories/a/x.md", 1_536),
        ("/memories/a/deep/er/y.md", 512),
        ("/memories/a.md", 1),
        ("/memories/.hidden/z", 10),
        ("/memories/a/node_modules/n", 20),
    ] {
        client.create(path, &path[path.len() - 1..].repeat(size));
    }
    assert_eq!(
        client.view("/memories/").unwrap(),
        format!(
            "{head} /memories, {but}\n2.0K\t/memories\n2.0K\t/memories/a/\n512B\t/memories/a/deep/\n\
             1.5K\t/memories/a/x.md\n1B\t/memories/a.md\n3B\t/memories/b.md\n\
             (view /memories/search/WORDS to search 6 memories)"
        )
    );
    assert!(client.view("/memories/a").unwrap().ends_with("512B\t/memories/a/deep/er/\n1.5K\t/memories/a/x.md"));
    assert!(client.view("/memories/.hidden").unwrap().ends_with("10B\t/memories/.hidden/z"));
    assert_eq!(
        client.view("/memories/c").unwrap_err(),
        "The path /memories/c does not exist. Please provide a valid path."
    );
}

#[test]
fn a_file_is_shown_with_line_numbers() {
    let (_folder, engine) = store();
    let client = FilesClient::of(&engine, None);
    client.create("/memories/a.md", "one\r\ntwo\nthree\n");
    let head = "Here's the content of /memories/a.md with line numbers:\n";
    assert_eq!(
        client.view("/memories/a.md").unwrap(),
        format!("{head}     1\tone\r\n     2\ttwo\n     3\tthree\n     4\t")
    );
    for (range, shown) in [
        (json!([2, 3]), "     2\ttwo\n     3\tthree"),
        (json!([3, -1]), "     3\tthree\n     4\t"),
        (json!([-5, 1]), "     1\tone\r"),
        (json!([4, 900]), "     4\t"),
        (json!([3, 2]), ""),
        (json!([900, 901]), ""),
        (json!([i64::MAX, i64::MIN]), ""),
    ] {
        let view = json!({ "command": "view", "path": "/memories/a.md", "view_range": range });
        assert_eq!(client.done(view), format!("{head}{shown}"), "{range}");
    }
}

#[test]
fn a_file_is_a_memory() {
    let (_folder, engine) = store();
    let client = FilesClient::of(&engine, None);
    client.create("/memories/customer/refund_policy.md", "Refunds take 14 days.\n");
    let id = client.id("/memories/customer/refund_policy.md");
    let record = engine.viewed_by(&Viewer::OWNER).get(id).unwrap().unwrap();
    assert_eq!((record.kind, record.source.as_str()), (Kind::Background, "memory-tool"));
    assert_eq!(record.context.as_deref(), Some("customer refund policy"));
    assert!(client.found("refunds").contains("Refunds take 14 days."));
    let edit = json!({ "command": "str_replace", "path": "/memories/customer/refund_policy.md", "old_str": "14", "new_str": "30" });
    assert!(client.done(edit).ends_with(":\n     1\tRefunds take 30 days.\n     2\t"));
    assert!(!client.found("14").contains("14 days"));
    let versions = engine.viewed_by(&Viewer::OWNER).history(id, None, 10).unwrap();
    assert_eq!(versions.last().unwrap().content, "Refunds take 14 days.\n");
    client.done(json!({ "command": "rename", "old_path": "/memories/customer", "new_path": "/memories/clients" }));
    assert_eq!(
        engine.viewed_by(&Viewer::OWNER).get(id).unwrap().unwrap().context.as_deref(),
        Some("clients refund policy")
    );
    client.done(json!({ "command": "delete", "path": "/memories/clients" }));
    assert_eq!(client.texts(), BTreeMap::new());
    assert!(!client.found("refunds").contains("Refunds"));
    engine.viewed_by(&Viewer::OWNER).undo(id).unwrap();
    assert_eq!(
        client.texts(),
        BTreeMap::from([("/memories/clients/refund_policy.md".into(), "Refunds take 30 days.\n".into())])
    );
    let diagnosis = engine.doctor(false, &NoProgress).unwrap();
    assert!(diagnosis.is_sound(), "{diagnosis:?}");
}

#[test]
fn a_text_is_one_memory_with_one_path() {
    let (_folder, engine) = store();
    let client = FilesClient::of(&engine, None);
    let saved = engine.add(&NewRecord { kind: Kind::Decision, ..NewRecord::new("We deploy on Tuesdays.") }).unwrap().id;
    assert_eq!(client.texts(), BTreeMap::new());
    client.create("/memories/deploy.md", "We deploy on Tuesdays.");
    assert_eq!(client.id("/memories/deploy.md"), saved);
    assert_eq!(engine.viewed_by(&Viewer::OWNER).get(saved).unwrap().unwrap().kind, Kind::Decision);
    let again = json!({ "command": "create", "path": "/memories/copy.md", "file_text": "We deploy on Tuesdays." });
    assert!(client.run(again).unwrap_err().starts_with("/memories/deploy.md has exactly this text already"));
    client.create("/memories/other.md", "We deploy on Mondays.");
    let edit = json!({ "command": "str_replace", "path": "/memories/other.md", "old_str": "Mon", "new_str": "Tues" });
    assert!(client.run(edit).unwrap_err().starts_with("/memories/deploy.md has exactly this text already"));
    assert_eq!(client.texts().len(), 2);
}

#[test]
fn a_memory_that_becomes_a_file_stays_one() {
    let (_folder, engine) = store();
    let client = FilesClient::of(&engine, None);
    let expires_at = Some(engine_now() + 500);
    let context = Some("said on the phone".to_owned());
    let saved = engine.add(&NewRecord { expires_at, context, ..NewRecord::new("caf\u{e9} at nine") }).unwrap().id;
    client.create("/memories/cafe.md", "cafe\u{301} at nine");
    assert_eq!(client.id("/memories/cafe.md"), saved);
    let record = engine.viewed_by(&Viewer::OWNER).get(saved).unwrap().unwrap();
    assert_eq!((record.expires_at, record.context.as_deref()), (None, Some("said on the phone")));
    assert_eq!(record.content, "cafe\u{301} at nine");
    engine.add(&NewRecord::of_body(Kind::Profile, json!({ "name": "Ana" })).unwrap()).unwrap();
    let [profile] = &engine.list(&ListQuery { after: saved, limit: 2, ..ListQuery::default() }).unwrap()[..] else {
        panic!()
    };
    let create = json!({ "command": "create", "path": "/memories/ana.md", "file_text": profile.content });
    assert_eq!(profile.kind, Kind::Profile);
    assert!(client.run(create).unwrap_err().contains("has exactly this text already"));
}

fn engine_now() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}

#[test]
fn a_superseded_text_that_becomes_a_file_is_said() {
    let (_folder, engine) = store();
    let client = FilesClient::of(&engine, None);
    let old = engine.add(&NewRecord::new("The port is 5432.")).unwrap().id;
    let new = engine.add(&NewRecord::new("The port is 5433.")).unwrap().id;
    engine.viewed_by(&Viewer::OWNER).link(Link { from: new, to: old, kind: LinkKind::Supersedes }).unwrap();
    let create = json!({ "command": "create", "path": "/memories/port.md", "file_text": "The port is 5432." });
    let said = client.done(create);
    assert!(said.contains("it was superseded and is current again"), "{said}");
}

/// Metadata may have anything where the path is.
#[test]
fn odd_paths_make_no_files() {
    let (_folder, engine) = store();
    let client = FilesClient::of(&engine, None);
    let long = format!("/memories/{}", "x".repeat(2_000));
    for (number, odd) in [
        json!("/memories"),
        json!("/memories/"),
        json!("/memories/a/"),
        json!("/memories//a"),
        json!("/memories/../a"),
        json!("/memories/d/../x"),
        json!("/memories/n\n9K\t/memories/fake"),
        json!("/memories/search/q"),
        json!("/memories/e\u{301}"),
        json!(["/memories/a.md", "/memories/b.md"]),
        json!(["/memories/a.md"]),
        json!(7),
        json!(null),
        json!({ "path": "/memories/a.md" }),
        json!(long),
    ]
    .into_iter()
    .enumerate()
    {
        let mut record = NewRecord::new(format!("odd {number}"));
        record.body = Some(json!({ "metadata": { "memory_file": odd } }));
        engine.add(&record).unwrap();
    }
    assert_eq!(client.texts(), BTreeMap::new());
    assert!(client.view("/memories").unwrap().contains("\n0B\t/memories\n(view"));
    client.create("/memories/a.md", "A file.");
    client.create("/memories/d/x", "Another one.");
    client.done(json!({ "command": "rename", "old_path": "/memories/d", "new_path": "/memories/e" }));
    client.done(json!({ "command": "delete", "path": "/memories/a.md" }));
    assert_eq!(client.texts().into_keys().collect::<Vec<_>>(), ["/memories/e/x"]);
    assert_eq!(engine.stats(&Filter::default()).unwrap().total, 16);
}

#[test]
fn searches_name_the_files_that_they_find() {
    let (_folder, engine) = store();
    let client = FilesClient::of(&engine, Some("apollo"));
    client.create("/memories/harbour.md", "The ferry leaves from pier nine.");
    let other = engine.add(&NewRecord::new(format!("The ferry is blue. {}", "It is long. ".repeat(200)))).unwrap().id;
    let found = client.found("ferry");
    let id = client.id("/memories/harbour.md");
    assert!(found.ends_with(&format!("\n#{id} is the file /memories/harbour.md")), "{found}");
    assert!(found.contains(&format!("#{other} ")), "{found}");
    assert!(client.view(&format!("/memories/search/#{other}")).unwrap().matches("It is long.").count() == 200);
    assert_eq!(
        client.view("/memories/search/").unwrap_err(),
        "Add the words to search for: view /memories/search/WORDS"
    );
}

#[test]
fn a_path_holds_no_secret() {
    let (_folder, engine) = store();
    let client = FilesClient::of(&engine, None);
    let path = format!("/memories/{}{}.md", "ghp", "_Zk3mQx9LpB7vZk3mQx9LpB7vZk3mQx9LpB7v");
    let refused = client.run(json!({ "command": "create", "path": path, "file_text": "x" })).unwrap_err();
    assert!(refused.starts_with("The path seems to hold a secret"), "{refused}");
}

/// Runs `commands` by two engines at the same time. Returns how many of each pair were done.
fn raced(commands: impl Fn(usize) -> [Value; 2], folder: &tempfile::TempDir, engine: &Engine) -> Vec<usize> {
    let second = open(folder.path());
    let rounds = 0..20;
    let start = Barrier::new(2);
    let all = rounds.map(|round| {
        let given = commands(round);
        let done = std::thread::scope(|threads| {
            let run = |engine, command: &Value| {
                let command = command.clone();
                let start = &start;
                threads.spawn(move || {
                    start.wait();
                    FilesClient::of(engine, None).run(command).is_ok()
                })
            };
            let [one, other] = [run(engine, &given[0]), run(&second, &given[1])];
            [one.join().unwrap(), other.join().unwrap()]
        });
        done.into_iter().filter(|done| *done).count()
    });
    all.collect()
}

#[test]
fn two_at_once_make_a_path_once() {
    let (folder, engine) = store();
    let create = |round, text| json!({ "command": "create", "path": format!("/memories/{round}"), "file_text": format!("{text} {round}") });
    let made = raced(|round| [create(round, "a"), create(round, "b")], &folder, &engine);
    assert_eq!(made, [1; 20]);
    assert_eq!(FilesClient::of(&engine, None).texts().len(), 20);
}

#[test]
fn two_at_once_move_to_a_path_once() {
    let (folder, engine) = store();
    let client = FilesClient::of(&engine, None);
    for round in 0..20 {
        for name in ["a", "b"] {
            client.create(&format!("/memories/{name}/{round}"), &format!("{name} {round}"));
        }
    }
    let rename = |round, name| {
        let old = format!("/memories/{name}/{round}");
        json!({ "command": "rename", "old_path": old, "new_path": format!("/memories/new/{round}") })
    };
    let moved = raced(|round| [rename(round, "a"), rename(round, "b")], &folder, &engine);
    // Both may find that the other is there, and go back.
    assert!(moved.iter().all(|moved| *moved <= 1), "{moved:?}");
    let texts = client.texts();
    assert_eq!(texts.len(), 40, "{texts:?}");
    assert_eq!(texts.keys().filter(|path| path.starts_with("/memories/new/")).count(), moved.iter().sum::<usize>());
}

#[test]
fn texts_are_taken_as_they_are() {
    let (_folder, engine) = store();
    let client = FilesClient::of(&engine, None);
    for (path, text) in [
        ("/memories/null", "null"),
        ("/memories/none", "None"),
        ("/memories/space", "  indented\n\n"),
        ("/memories/number", "42"),
        ("/memories/日本", "日本語\r\n\u{2028}x"),
    ] {
        client.create(path, text);
        assert_eq!(client.texts()[path], text);
    }
    let empty = json!({ "command": "create", "path": "/memories/empty", "file_text": " \n" });
    assert!(client.run(empty).unwrap_err().contains("cannot be empty"));
    let emptied = json!({ "command": "str_replace", "path": "/memories/number", "old_str": "42" });
    assert!(client.run(emptied).unwrap_err().contains("cannot be empty"));
    let long = json!({ "command": "create", "path": "/memories/long", "file_text": "x".repeat(10 << 20) });
    assert!(client.run(long).unwrap_err().contains("at most 1048576"));
    let secret = format!("password = {}{}", "Tr0ub4", "dor&3");
    let secret = json!({ "command": "create", "path": "/memories/secret", "file_text": secret });
    assert!(client.run(secret).is_err());
    assert_eq!(client.texts().len(), 5);
}

#[test]
fn files_of_another_scope_are_not_seen() {
    let (_folder, engine) = store();
    let (apollo, hermes) = (FilesClient::of(&engine, Some("apollo")), FilesClient::of(&engine, Some("hermes")));
    let global = FilesClient::of(&engine, None);
    apollo.create("/memories/plan.md", "Land on the moon.");
    for other in [&hermes, &global] {
        for command in [
            json!({ "command": "view", "path": "/memories/plan.md" }),
            json!({ "command": "delete", "path": "/memories/plan.md" }),
            json!({ "command": "rename", "old_path": "/memories/plan.md", "new_path": "/memories/x.md" }),
            json!({ "command": "str_replace", "path": "/memories/plan.md", "old_str": "moon", "new_str": "sun" }),
        ] {
            assert!(other.run(command).unwrap_err().contains("does not exist"));
        }
        assert!(!other.view("/memories").unwrap().contains("plan.md"));
        other.create("/memories/plan.md", "Land on the moon.");
    }
    assert_eq!([apollo.texts(), hermes.texts(), global.texts()].map(|texts| texts.len()), [1; 3]);
    // A project sees what is global, but not as its own file.
    global.done(json!({ "command": "rename", "old_path": "/memories/plan.md", "new_path": "/memories/all.md" }));
    assert!(apollo.view("/memories/all.md").is_err());
}

#[test]
fn two_files_of_one_path_are_both_kept() {
    let (_folder, engine) = store();
    let client = FilesClient::of(&engine, None);
    client.create("/memories/a/notes.md", "Of this machine.");
    client.create("/memories/a/other.md", "Of another machine.");
    // As the machines of a person bring them together.
    let (first, second) = (client.id("/memories/a/notes.md"), client.id("/memories/a/other.md"));
    let update = moved_to(
        &engine.viewed_by(&Viewer::OWNER).get(second).unwrap().unwrap(),
        &MemoryPath::parse("/memories/a/notes.md").unwrap(),
    );
    engine.viewed_by(&Viewer::OWNER).update(second, &update).unwrap();
    let later = format!("/memories/a/notes.md.{second}");
    assert_eq!(client.texts().into_keys().collect::<Vec<_>>(), ["/memories/a/notes.md", &later]);
    assert_eq!((client.id("/memories/a/notes.md"), client.id(&later)), (first, second));
    client.done(json!({ "command": "insert", "path": later, "insert_line": 0, "insert_text": "Both are kept." }));
    client.done(json!({ "command": "rename", "old_path": "/memories/a", "new_path": "/memories/b" }));
    assert_eq!(client.id(&later.replace("/a/", "/b/")), second);
    assert!(client.view("/memories/b/notes.md").unwrap().ends_with("Of this machine."));
}

#[test]
fn no_edit_of_two_at_once_is_lost() {
    let (folder, engine) = store();
    FilesClient::of(&engine, None).create("/memories/log.md", "begin\n");
    let second = open(folder.path());
    std::thread::scope(|threads| {
        for (engine, name) in [(&engine, "a"), (&second, "b")] {
            threads.spawn(move || {
                let client = FilesClient::of(engine, None);
                for number in 0..50 {
                    let text = format!("{name} {number}");
                    client.done(json!({ "command": "insert", "path": "/memories/log.md", "insert_line": 1, "insert_text": text }));
                }
            });
        }
    });
    let texts = FilesClient::of(&engine, None).texts();
    let mut lines: Vec<&str> = texts["/memories/log.md"].lines().collect();
    assert_eq!(lines.remove(0), "begin");
    lines.sort_unstable();
    let mut all: Vec<String> = (0..50).flat_map(|number| [format!("a {number}"), format!("b {number}")]).collect();
    all.sort_unstable();
    assert_eq!(lines, all);
}

/// The effect of a command on a map of texts by path: a second implementation, to compare with.
fn model(texts: &BTreeMap<String, String>, command: &FileCommand) -> Option<BTreeMap<String, String>> {
    let mut after = texts.clone();
    let is_below = |path: &str, folder: &str| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
    let is_free =
        |path: &str| texts.keys().all(|other| other != path && !is_below(other, path) && !is_below(path, other));
    let is_new = |text: &str| texts.values().all(|other| other != text);
    match command {
        FileCommand::View { .. } => {}
        FileCommand::Create { path, text } => {
            (is_free(path) && is_new(text)).then_some(())?;
            after.insert(path.clone(), text.clone());
        }
        FileCommand::Replace { path, old, new } => {
            let text = texts.get(path)?;
            (text.matches(old.as_str()).count() == 1).then_some(())?;
            let text = text.replace(old, new);
            (text == texts[path] || is_new(&text) && !text.trim().is_empty()).then_some(())?;
            after.insert(path.clone(), text);
        }
        FileCommand::Insert { path, after: line, text: new } => {
            let text = texts.get(path)?;
            let mut lines: Vec<&str> = text.lines().collect();
            let at = usize::try_from(*line).ok().filter(|at| *at <= lines.len())?;
            lines.insert(at, new);
            let text = lines.join("\n") + "\n";
            is_new(&text).then_some(())?;
            after.insert(path.clone(), text);
        }
        FileCommand::Delete { path } => {
            after.retain(|other, _| other != path && !is_below(other, path));
            (after.len() < texts.len()).then_some(())?;
        }
        FileCommand::Rename { old, new } => {
            let moved = |path: &String| path == old || is_below(path, old);
            (texts.keys().any(moved) && is_free(new) && !is_below(new, old)).then_some(())?;
            after.retain(|path, _| !moved(path));
            for (path, text) in texts.iter().filter(|(path, _)| moved(path)) {
                after.insert(format!("{new}{}", &path[old.len()..]), text.clone());
            }
        }
    }
    Some(after)
}

fn command() -> impl Strategy<Value = FileCommand> {
    let path = || {
        prop::sample::select(vec!["a", "b", "a/x", "a/y", "a/x/z", "b/x", "c.md"])
            .prop_map(|path| format!("/memories/{path}"))
    };
    let text = || {
        prop::sample::select(vec!["one", "two\nlines\n", "one more", "lines", "\u{fc}ber\n"]).prop_map(str::to_owned)
    };
    let part = || prop::sample::select(vec!["one", "lines", "o", "\n", "ber", ""]).prop_map(str::to_owned);
    prop_oneof![
        3 => (path(), text()).prop_map(|(path, text)| FileCommand::Create { path, text }),
        2 => (path(), part().prop_filter("a text", |part| !part.is_empty()), part())
            .prop_map(|(path, old, new)| FileCommand::Replace { path, old, new }),
        2 => (path(), -1..4_i64, text().prop_map(|text| text.trim().to_owned()))
            .prop_map(|(path, after, text)| FileCommand::Insert { path, after, text }),
        1 => path().prop_map(|path| FileCommand::Delete { path }),
        2 => (path(), path()).prop_map(|(old, new)| FileCommand::Rename { old, new }),
    ]
}

/// Commands, some of which are undone at once.
fn try_commands(commands: Vec<(FileCommand, bool)>) {
    let (_folder, engine) = store();
    let client = FilesClient::of(&engine, None);
    let mut texts = BTreeMap::new();
    for (command, undone) in commands {
        let expected = model(&texts, &command);
        let before: BTreeMap<RecordId, (String, String)> = ids(&client);
        let done = run(&engine, &client.context, command.clone());
        assert_eq!(done.is_ok(), expected.is_some(), "{command:?} of {texts:?}: {done:?}");
        let after = ids(&client);
        if undone
            && let Some(changed) = &expected
            && *changed != texts
            && !matches!(command, FileCommand::Create { .. })
        {
            for id in before.keys().filter(|id| before.get(id) != after.get(id)) {
                engine.viewed_by(&Viewer::OWNER).undo(*id).unwrap();
            }
        } else {
            texts = expected.unwrap_or(texts);
        }
        assert_eq!(client.texts(), texts, "{command:?}, undone: {undone}");
    }
}

fn ids(client: &FilesClient<'_>) -> BTreeMap<RecordId, (String, String)> {
    client.texts().into_iter().map(|(path, text)| (client.id(&path), (path, text))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn files_are_a_map_of_paths_to_texts(commands in prop::collection::vec((command(), any::<bool>()), 1..24)) {
        try_commands(commands);
    }
}

#[test]
fn an_edit_that_is_refused_ends() {
    let (_folder, engine) = store();
    let scope = Scope { project: Some("apollo".into()), agent: None };
    engine.add(&NewRecord { scope, ..NewRecord::new("A memory of the project.") }).unwrap();
    let client = FilesClient::of(&engine, Some("apollo"));
    client.create("/memories/a.md", "A file.");
    let same = json!({ "command": "str_replace", "path": "/memories/a.md", "old_str": "file", "new_str": "memory of the project" });
    assert!(client.run(same).unwrap_err().starts_with("Memory #1 has exactly this text already"));
    let odd = json!({ "command": "str_replace", "path": "/memories/a.md", "old_str": "file", "new_str": "f\0le" });
    assert!(client.run(odd).unwrap_err().contains("NUL"));
    for (old, new) in [("", "x"), ("nothing", "x")] {
        let edit = json!({ "command": "str_replace", "path": "/memories/a.md", "old_str": old, "new_str": new });
        assert!(client.run(edit).unwrap_err().starts_with("No replacement was performed"));
    }
    assert!(client.run(json!({ "command": "delete", "path": "/memories" })).is_err());
    let itself = json!({ "command": "rename", "old_path": "/memories/a.md", "new_path": "/memories/a.md/b" });
    assert!(client.run(itself).is_err());
}
