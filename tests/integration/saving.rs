//! Reports and refusals of a save: similar memories, and secrets.

use std::io::Write as _;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use memorist_engine::Engine;
use memorist_engine::paths::StorePaths;
use memorist_engine::sensitive::Sensitive;
use memorist_engine::types::{Kind, NewRecord, RecordId, RecordUpdate, Viewer};
use rusqlite::{Connection, OpenFlags};
use serde_json::json;

use crate::support::{Setup, Store, hashed, memorist};

fn redacting() -> Setup {
    let mut setup = hashed();
    setup.config.sensitive = Sensitive::Redact;
    setup
}

/// A password that no scanner should take for one of ours.
fn password() -> String {
    ["Tr0ub4dor", "&3x"].concat()
}

/// Every way in which it could enter a store.
fn attempts() -> Vec<(NewRecord, &'static str)> {
    let labelled = format!("password = {}", password());
    let with = |change: &dyn Fn(&mut NewRecord)| {
        let mut record = NewRecord::new("the staging login");
        change(&mut record);
        record
    };
    let skill = json!({ "name": "deploy", "instructions": "log in", "trigger_config": { "password": password() } });
    vec![
        (NewRecord::new(labelled.clone()), "content"),
        (with(&|record| record.context = Some(labelled.clone())), "context"),
        (with(&|record| record.source = labelled.clone()), "source"),
        (with(&|record| record.tags = vec!["ok".into(), labelled.clone()]), "tags"),
        (NewRecord { body: Some(skill), ..with(&|record| record.kind = Kind::Skill) }, "body"),
    ]
}

/// D5: it is refused anywhere, and reported without its value.
#[test]
fn a_password_is_refused_by_name_and_nothing_of_it_is_kept() {
    let store = Store::new(hashed());
    let engine = &store.engine;
    let id = store.add("the staging login is in the vault");
    for (record, field) in attempts() {
        let error = engine.add(&record).unwrap_err().to_string();
        assert!(error.starts_with(&format!("{field}: contains a secret (password)")), "{error}");
        assert!(!error.contains(&password()), "{error}");
        let outcomes = engine.add_batch(&[NewRecord::new("before"), record, NewRecord::new("after")]).unwrap();
        assert_eq!(outcomes.iter().map(Result::is_ok).collect::<Vec<_>>(), [true, false, true]);
    }
    let update = |update: RecordUpdate| engine.viewed_by(&Viewer::OWNER).update(id, &update).unwrap_err().to_string();
    let labelled = format!("password = {}", password());
    assert!(update(RecordUpdate { content: Some(labelled.clone()), ..Default::default() }).starts_with("content: "));
    let reason = RecordUpdate { importance: Some(3), reason: Some(labelled), ..Default::default() };
    assert!(update(reason).starts_with("reason: "));
    assert_eq!(engine.stats(&Default::default()).unwrap().total, 3);
}

#[test]
fn with_the_setting_it_is_redacted_and_the_rest_is_kept() {
    let store = Store::new(redacting());
    for (record, field) in attempts() {
        let id = store.engine.add(&record).unwrap().id;
        let kept = format!("{:?}", store.engine.viewed_by(&Viewer::OWNER).get(id).unwrap().unwrap());
        assert!(!kept.contains(&password()) && kept.contains("[redacted: password]"), "{field}: {kept}");
    }
}

/// D5: the text of a changed body is scanned, like that of a new record; and so is the reason of a rollback.
#[test]
fn body_changes_and_rollback_reasons_are_scanned_for_secrets() {
    for (setup, redacts) in [(hashed(), false), (redacting(), true)] {
        let store = Store::new(setup);
        let engine = &store.engine;
        let harmless = json!({ "title": "Where to log in", "description": "in the vault" });
        let id = engine.add(&NewRecord::of_body(Kind::Decision, harmless).unwrap()).unwrap().id;
        let refused = |update: RecordUpdate| {
            let error = engine.viewed_by(&Viewer::OWNER).update(id, &update).unwrap_err().to_string();
            assert!(error.starts_with("body: contains a secret (password)"), "{error}");
            assert!(!error.contains(&password()), "{error}");
        };
        let telling = json!({ "title": "Production DB password", "description": format!("is {}", password()) });
        refused(RecordUpdate { body: Some(Some(telling.clone())), ..Default::default() });
        refused(RecordUpdate { body: Some(Some(telling)), content: Some("as ever".into()), ..Default::default() });
        let before = engine.viewed_by(&Viewer::OWNER).get(id).unwrap().unwrap();
        assert_eq!((before.version, before.content.as_str()), (1, "Where to log in in the vault"));

        engine
            .viewed_by(&Viewer::OWNER)
            .update(id, &RecordUpdate { importance: Some(9), ..Default::default() })
            .unwrap();
        let reason = format!("password = {}", password());
        let back = engine.viewed_by(&Viewer::OWNER).roll_back(id, 1, Some(&reason), None);
        if redacts {
            let kept = engine.viewed_by(&Viewer::OWNER).history(id, None, 5).unwrap();
            assert_eq!(kept[1].replaced.as_ref().unwrap().reason, "password = [redacted: password]");
        } else {
            assert!(back.unwrap_err().to_string().starts_with("reason: contains a secret (password)"));
        }
    }
}

fn likes(engine: &Engine, id: RecordId) -> Vec<(RecordId, bool)> {
    let similar = engine.viewed_by(&Viewer::OWNER).similar(id, 5).unwrap();
    similar.iter().map(|one| (one.record.id, one.is_duplicate())).collect()
}

/// D3: some of its words find a duplicate of a part of a long text, also one without a space or a letter.
#[test]
fn a_long_text_that_is_repeated_in_part_is_named() {
    let store = Store::new(hashed());
    let long = |changed: usize| {
        let words = (0..400).map(|at| format!("{}{at}", if at % 40 < changed { "novel" } else { "known" }));
        words.collect::<Vec<_>>().join(" ")
    };
    let first = store.add(&long(0));
    assert_eq!(likes(&store.engine, store.add(&long(8))), [(first, true)]);
    assert_eq!(likes(&store.engine, store.add(&long(30)))[..], [], "three in four words are others");
    for odd in ["?!… — ...", &"長い文章".repeat(2_000)] {
        likes(&store.engine, store.add(odd));
    }
}

/// T49, D3, D4: near-duplicates are named, of the same kind only, and both are kept.
#[test]
fn near_duplicates_are_named_and_never_merged() {
    let store = Store::new(hashed());
    let engine = &store.engine;
    let dark = store.add("User prefers dark mode in every editor");
    let darker = store.add("User prefers dark mode in all terminals");
    store.add("The harbour closes at nine in winter");
    let decision = NewRecord { kind: Kind::Decision, ..NewRecord::new("User prefers dark mode in each editor") };
    engine.add(&decision).unwrap();
    for settled in [false, true] {
        if settled {
            store.settle();
        }
        let like = likes(engine, darker);
        assert!(like.contains(&(dark, true)), "{like:?}");
        assert!(like.iter().all(|(id, _)| *id != darker && id.get() != 3), "{like:?}");
    }
    assert_eq!(engine.stats(&Default::default()).unwrap().total, 4);
    let mut theirs = NewRecord::new("User prefers dark mode in every shell");
    theirs.scope.project = Some("atlas".into());
    let theirs = engine.add(&theirs).unwrap().id;
    let seen = engine.viewed_by(&Viewer::in_project("borealis")).similar(dark, 5).unwrap();
    assert!(seen.iter().all(|one| one.record.id != theirs));
    assert!(engine.viewed_by(&Viewer::in_project("borealis")).similar(theirs, 5).is_err());
}

/// 39.15: a server is killed as soon as anything of a list is in the store.
#[test]
fn a_list_is_saved_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    drop(hashed().open(folder.path()).unwrap());
    let database = StorePaths::new(folder.path()).database();
    let database = Connection::open_with_flags(database, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let saved = || database.query_row("SELECT count(*) FROM records", [], |row| row.get::<_, i64>(0)).unwrap();
    for round in 0..3 {
        let mut command = memorist(folder.path(), &["serve"]);
        let mut server = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let items: Vec<_> = (0..100).map(|at| json!({ "content": format!("harbour {round} {at}") })).collect();
        let call = json!({ "name": "memory_add", "arguments": { "items": items } });
        let client = json!({ "name": "test", "version": "1" });
        let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
        let requests = [
            json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello }),
            json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
            json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call }),
        ];
        let mut input = server.stdin.take().unwrap();
        requests.iter().for_each(|request| writeln!(input, "{request}").unwrap());
        while saved() == round * 100 {
            assert!(server.try_wait().unwrap().is_none(), "the server ended");
            thread::sleep(Duration::from_millis(1));
        }
        server.kill().unwrap();
        server.wait().unwrap();
        assert_eq!(saved(), (round + 1) * 100);
    }
}
