//! The stores of systems that are known by their programs.

use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use memorist_sources::moving::{Earlier, Link, Memory, System};
use serde_json::json;

use super::{MINUTE, START, StoreContents, counts, folder, make, read, read_once, refused, some, tags};

#[test]
fn claude_mem() {
    let folder = folder();
    let (path, _running) = make(folder.path(), "claude-mem.db", include_str!("../corpus/moving/claude_mem.sql"));
    let found = read(System::ClaudeMem, &path);
    let of = |key: &str, kind: &str, minutes| Memory {
        kind: kind.into(),
        source: "claude-mem".into(),
        project: some("shop"),
        session: some("c-1"),
        created_at: Some(START + minutes * MINUTE),
        updated_at: Some(START + minutes * MINUTE),
        ..Memory::new(key, "")
    };
    let memories = vec![
        Memory {
            tags: tags(&["gotcha", "problem-solution"]),
            context: some("modified: b.rs, c.rs; read: a.rs"),
            turn: Some(1),
            body: Some(json!({
                "title": "Cart total was wrong",
                "description": "Rounding\nIt rounded twice.\n- Cents are whole\n- Tax is last"
            })),
            ..of("observation:1", "bugfix", 1)
        },
        Memory {
            tags: tags(&["discovery"]),
            project: some("store"),
            turn: Some(2),
            body: Some(json!({ "title": "Tax is a table", "description": "It is read at start." })),
            ..of("observation:2", "insight", 2)
        },
        Memory {
            tags: tags(&["change"]),
            content: "An old one, of text alone".into(),
            session: some("m-9"),
            ..of("observation:3", "event", 3)
        },
        Memory {
            tags: tags(&["session summary"]),
            context: some("edited: b.rs; read: a.rs"),
            turn: Some(2),
            body: Some(json!({
                "title": "Fix the cart",
                "description": "Investigated: The total\nLearned: Round once\nCompleted: Fixed\nNext steps: Deploy"
            })),
            ..of("summary:1", "event", 4)
        },
        Memory { content: "Fix the cart".into(), turn: Some(1), updated_at: None, ..of("prompt:1", "conversation", 0) },
        Memory {
            content: "Write a post".into(),
            project: some("blog"),
            session: some("c-2"),
            turn: Some(1),
            updated_at: None,
            ..of("session:2", "conversation", 0)
        },
    ];
    let not_brought = counts([
        ("calls of tools and what they printed", 1),
        ("rows of the table other, which memorist does not know", 1),
        ("titles of sessions", 1),
    ]);
    assert_eq!(found, StoreContents { memories, links: vec![], not_brought });
    assert_eq!(read(System::ClaudeMem, folder.path()), found, "it is found in its folder");
}

#[test]
fn an_old_claude_mem_with_other_names_of_columns() {
    let folder = folder();
    let script = "CREATE TABLE sdk_sessions (id INTEGER PRIMARY KEY, claude_session_id TEXT, sdk_session_id TEXT, \
                  project TEXT); \
                  CREATE TABLE observations (id INTEGER PRIMARY KEY, sdk_session_id TEXT, text TEXT, type TEXT, \
                  created_at TEXT); \
                  INSERT INTO sdk_sessions VALUES (1, 'c', 'm', 'shop'); \
                  INSERT INTO observations VALUES (1, 'm', 'Old', 'decision', '2026-02-02T02:40:00Z');";
    let (path, _running) = make(folder.path(), "claude-mem.db", script);
    let found = read(System::ClaudeMem, &path);
    assert_eq!(found.memories.len(), 1);
    let memory = found.memory("observation:1");
    assert_eq!(
        (memory.kind.as_str(), memory.session.as_deref(), memory.created_at),
        ("decision", Some("c"), Some(START))
    );
    assert_eq!(memory.project.as_deref(), Some("shop"));
}

/// The memory that the export and the vector store have, with its history.
fn tea() -> Memory {
    Memory {
        source: "mem0".into(),
        agent: some("bot"),
        session: some("r1"),
        earlier: vec![Earlier {
            content: "Likes coffee".into(),
            body: None,
            replaced_at: Some(START + MINUTE),
            reason: "update".into(),
        }],
        ..Memory::new("ca728113-0f1f-4827-a80e-f57927cd635b", "Likes tea")
    }
}

#[test]
fn mem0_by_an_export_and_its_history() {
    let folder = folder();
    let (_, _running) = make(folder.path(), "history.db", include_str!("../corpus/moving/mem0_history.sql"));
    fs::write(folder.path().join("export.json"), include_str!("../corpus/moving/mem0_export.json")).unwrap();
    fs::write(folder.path().join("config.json"), "{\"user_id\": \"x\"}").unwrap();
    let found = read(System::Mem0, folder.path());
    let memory = Memory {
        tags: tags(&["drinks", "hot", "food", "user:ann", "actor:cy"]),
        context: some("role: user; mood: calm; list: [1,2]"),
        created_at: Some(START),
        updated_at: Some(START + MINUTE),
        expires_at: Some(1_798_761_600_000),
        ..tea()
    };
    let not_brought = counts([
        ("memories of the history that are no more", 1),
        ("memories that were deleted", 1),
        ("memories without a text", 1),
        ("recent messages that mem0 keeps beside memories", 1),
        ("relations of mem0's graph", 1),
    ]);
    assert_eq!(found, StoreContents { memories: vec![memory.clone()], links: vec![], not_brought });
    let alone = read(System::Mem0, &folder.path().join("export.json"));
    assert_eq!(alone.memories, [Memory { earlier: vec![], ..memory }]);
}

#[test]
fn mem0_by_its_local_vector_store() {
    let folder = folder();
    let script = include_str!("../corpus/moving/mem0_qdrant.sql");
    let (file, _running) = make(folder.path(), "qdrant/collection/mem0/storage.sqlite", script);
    let (_, _aside) = make(folder.path(), "qdrant/collection/mem0migrations/storage.sqlite", script);
    let (_, _entities) = make(folder.path(), "qdrant/collection/mem0_entities/storage.sqlite", script);
    let (_, _history) = make(folder.path(), "history.db", include_str!("../corpus/moving/mem0_history.sql"));
    let found = read(System::Mem0, folder.path());
    let new_year = Some(1_767_225_600_000);
    let memory = Memory {
        tags: tags(&["food", "user:ann"]),
        context: some("n: 3; f: 1.5; b: true"),
        created_at: new_year,
        updated_at: new_year,
        ..tea()
    };
    assert_eq!((found.memories.len(), &found.memories[0]), (1, &memory));
    let of_points = [("embeddings (made again)", 1), ("points of the vector store that cannot be read", 1)];
    let of_history = [
        ("memories of the history that are no more", 1),
        ("memories that were deleted", 1),
        ("recent messages that mem0 keeps beside memories", 1),
    ];
    assert_eq!(found.not_brought, counts(of_points.into_iter().chain(of_history)));
    for path in [file, folder.path().join("qdrant")] {
        let alone = read(System::Mem0, &path);
        assert_eq!(
            (alone.memories, alone.not_brought),
            (vec![Memory { earlier: vec![], ..memory.clone() }], counts(of_points))
        );
    }
}

#[test]
fn mem0_by_its_history_alone() {
    let folder = folder();
    let (path, _running) = make(folder.path(), "history.db", include_str!("../corpus/moving/mem0_history.sql"));
    let found = read(System::Mem0, &path);
    let memories = vec![
        Memory { agent: None, session: None, created_at: Some(START), updated_at: Some(START + MINUTE), ..tea() },
        Memory {
            source: "mem0".into(),
            created_at: Some(START),
            updated_at: Some(START),
            ..Memory::new("m-2", "Owns a cat")
        },
    ];
    assert_eq!(found.memories, memories);
    let reason = "owners and metadata, which are not in the history (put the folder of the vector store, or an export, beside it)";
    assert_eq!(found.not_brought[reason], 2);
}

#[test]
fn server_memory() {
    let folder = folder();
    let path = folder.path().join("memory.jsonl");
    fs::write(&path, include_str!("../corpus/moving/server-memory.jsonl")).unwrap();
    let found = read(System::ServerMemory, &path);
    let of = |key: &[&str], content: &str, labels: &[&str]| Memory {
        source: "knowledge graph".into(),
        tags: tags(labels),
        ..Memory::new(json!(key).to_string(), content)
    };
    let relation = |from: &str, kind: &str, to: &str| Memory {
        kind: "relationship".into(),
        ..of(&["relation", from, kind, to], &format!("{from} {kind} {to}"), &[from, to])
    };
    let mut memories = vec![
        of(&["observation", "Anna", "speaks Polish"], "Anna: speaks Polish", &["Anna", "person"]),
        of(&["observation", "Anna", "lives in Krakow"], "Anna: lives in Krakow", &["Anna", "person"]),
        of(&["entity", "Acme"], "Acme (company)", &["Acme", "company"]),
    ];
    for number in 1..=9 {
        let said = number.to_string();
        memories.push(of(&["observation", "Busy", &said], &format!("Busy: {said}"), &["Busy"]));
    }
    memories.extend([
        relation("Anna", "works at", "Acme"),
        relation("Anna", "knows", "Busy"),
        relation("Ghost", "haunts", "Acme"),
    ]);
    assert_eq!(found.memories, memories);
    let ends = [(12, 0), (12, 1), (12, 2), (13, 0), (13, 1), (14, 2)];
    let link = |(from, to): (usize, usize)| Link {
        from: memories[from].key.clone(),
        to: memories[to].key.clone(),
        kind: "related",
        created_at: None,
    };
    assert_eq!(found.links, ends.map(link));
    let not_brought = counts([
        ("entities without a name", 1),
        ("lines that are neither an entity nor a relation", 1),
        ("lines that are no JSON", 1),
        ("relations of entities that are gone (not linked)", 1),
        ("relations of entities with more than 8 observations (not linked)", 1),
        ("relations without both ends and a type", 1),
    ]);
    assert_eq!(found.not_brought, not_brought);
    assert_eq!(read(System::ServerMemory, folder.path()), found, "it is found in its folder");
}

#[test]
fn commas_in_texts_are_no_values() {
    let folder = folder();
    let text = "1,".repeat(1 << 19);
    let path = folder.path().join("memory.jsonl");
    let entity = |name| format!("{{\"type\":\"entity\",\"name\":\"{name}\",\"observations\":[\"{text}\"]}}\n");
    fs::write(&path, ["a", "b", "c"].map(entity).concat()).unwrap();
    assert_eq!(read(System::ServerMemory, &path).memories.len(), 3);
}

#[test]
fn values_of_lines_are_limited_for_each_line() {
    let folder = folder();
    let path = folder.path().join("memory.jsonl");
    let line = "{\"type\":\"entity\",\"name\":\"a\",\"observations\":[\"b\",\"c\",\"d\"]}\n";
    fs::write(&path, line.repeat((1 << 20) / 6 + 1)).unwrap();
    assert_eq!(read_once(System::ServerMemory, &path).memories.len(), 3);
    let numbers = "1,".repeat((1 << 20) + 1);
    fs::write(&path, format!("{line}{{\"type\":\"entity\",\"name\":\"a\",\"observations\":[{numbers}1]}}")).unwrap();
    assert!(refused(System::ServerMemory, &path).contains("has more than 1048576 values"));
}

/// The tests run in the folder of their crate.
#[test]
fn a_path_may_begin_in_the_working_folder() {
    for (system, file) in [(System::Mem0, "mem0_export.json"), (System::ServerMemory, "server-memory.jsonl")] {
        for folder in ["tests/corpus/moving", "../sources/tests/corpus/moving", "./tests/../tests/corpus/moving"] {
            assert!(!read(system, &Path::new(folder).join(file)).memories.is_empty(), "{folder}/{file}");
        }
    }
    assert!(!read(System::BasicMemory, Path::new("tests/corpus/moving/basic-memory/")).memories.is_empty());
}

/// 44.10: forks leave the type of a line out, write comments, and cut an emoji.
#[test]
fn server_memory_of_forks() {
    let folder = folder();
    let path = folder.path().join("memory.jsonl");
    let lines = [
        "# what we know",
        "{\"name\":\"Anna\",\"entityType\":\"person\",\"observations\":[\"reads \\ud83d books\"]}",
        "{\"from\":\"Anna\",\"to\":\"Anna\",\"relationType\":\"likes\"}",
        "{\"type\":\"note\",\"name\":\"Bob\",\"observations\":[\"no\"]}",
    ];
    fs::write(&path, lines.join("\n")).unwrap();
    let found = read(System::ServerMemory, &path);
    let texts: Vec<_> = found.memories.iter().map(|memory| memory.content.as_str()).collect();
    assert_eq!((texts, found.links.len()), (vec!["Anna: reads \u{fffd} books", "Anna likes Anna"], 1));
    assert_eq!(found.not_brought, counts([("lines that are neither an entity nor a relation", 1)]));
}

#[test]
fn server_memory_as_a_whole_graph() {
    let folder = folder();
    let path = folder.path().join("memory.json");
    let graph = json!({
        "entities": [{ "name": "Anna", "entityType": "person", "observations": ["reads"] }],
        "relations": [{ "from": "Anna", "to": "Anna", "relationType": "likes" }],
    });
    fs::write(&path, serde_json::to_string_pretty(&graph).unwrap()).unwrap();
    let found = read(System::ServerMemory, &path);
    assert_eq!((found.memories.len(), found.links.len()), (2, 1));
}

/// Copies the notes, with one time of their files.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::write(&to, fs::read(entry.path()).unwrap()).unwrap();
            let at = UNIX_EPOCH + Duration::from_millis(START.unsigned_abs());
            File::options().write(true).open(&to).unwrap().set_modified(at).unwrap();
        }
    }
}

#[test]
fn basic_memory() {
    let folder = folder();
    let root = folder.path().join("notes");
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/moving/basic-memory"), &root);
    fs::create_dir_all(root.join(".obsidian")).unwrap();
    fs::write(root.join(".obsidian/hidden.md"), "no").unwrap();
    fs::write(root.join("picture.png"), "no").unwrap();
    let found = read(System::BasicMemory, &root);
    let note = |identity: &str, content: &str| Memory {
        source: "basic-memory".into(),
        session: some(identity),
        turn: Some(0),
        created_at: Some(START),
        updated_at: Some(START),
        ..Memory::new(json!(["note", identity]).to_string(), content)
    };
    let coffee = "# Coffee\n\nIt is brewed, see [[Tea]].\n\n- [ ] try it cold\n\n## Relations\n- contradicts [[Tea]]\n\
                  - pairs_with [[drinks/cake|Cake]]\n- implements [[Nowhere]]";
    let coffee =
        Memory { tags: tags(&["drink", "hot"]), updated_at: Some(START + MINUTE), ..note("drinks/coffee", coffee) };
    let observation = |category: &str, text: &str, line| Memory {
        key: json!(["observation", "drinks/coffee", category, text]).to_string(),
        content: text.into(),
        context: some("Coffee"),
        turn: Some(line),
        ..coffee.clone()
    };
    let memories = vec![
        note("Tea.md", "Tea\n\nTea is older."),
        coffee.clone(),
        Memory {
            context: some("Coffee: by hand"),
            tags: tags(&["method", "drink", "hot", "brewing"]),
            ..observation("method", "Pour over takes 3 minutes #brewing", 18)
        },
        Memory { kind: "decision".into(), ..observation("decision", "Buy beans fresh", 19) },
        Memory { tags: tags(&["recipe"]), ..note("drinks/cake.md", "Cake\n\n- relates_to [[coffee]]") },
    ];
    assert_eq!(found.memories, memories);
    let link = |from: &str, kind, to: &str| Link {
        from: json!(["note", from]).to_string(),
        to: json!(["note", to]).to_string(),
        kind,
        created_at: None,
    };
    let links = [
        link("drinks/coffee", "related", "Tea.md"),
        link("drinks/coffee", "contradicts", "Tea.md"),
        link("drinks/coffee", "related", "drinks/cake.md"),
        link("drinks/cake.md", "related", "drinks/coffee"),
    ];
    assert_eq!(found.links, links);
    let not_brought = counts([
        ("fields of front matter that memorist does not know", 1),
        ("links to notes that do not exist", 1),
        ("relation types that memorist does not have (kept as related)", 1),
        ("times that cannot be read", 1),
    ]);
    assert_eq!(found.not_brought, not_brought);
    assert_eq!(read(System::BasicMemory, &root.join("Tea.md")).memories, memories[..1]);
}
