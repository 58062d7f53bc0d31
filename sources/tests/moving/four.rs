//! The four systems whose documents have the schemas.

use memorist_sources::moving::{Access, Earlier, FileSpan, Link, Memory, System};
use serde_json::json;

use super::{MINUTE, START, StoreContents, counts, folder, make, read, some, tags};

#[test]
fn mudpuppy() {
    let folder = folder();
    let (path, _running) = make(folder.path(), "data/memory.db", include_str!("../corpus/moving/mudpuppy.sql"));
    let found = read(System::Mudpuppy, &path);
    const AT: i64 = 1_738_540_800_000;
    let access = |at, kind, score, query| Access { at: AT + at, kind, score, query };
    let with_times = |memory| Memory { created_at: Some(AT), updated_at: Some(AT), ..memory };
    let memories = vec![
        Memory {
            kind: "preference".into(),
            source: "chat".into(),
            context: some("settings of the editor"),
            confidence: 0.9,
            importance: 7,
            tags: tags(&["ui", "theme"]),
            updated_at: Some(AT + 100_000),
            access_count: 2,
            last_accessed_at: Some(AT + 150_000),
            accesses: vec![
                access(140_000, "get", None, None),
                access(150_000, "search", Some(0.85), some("UI preferences")),
                access(160_000, "search", None, None),
            ],
            ..with_times(Memory::new("1", "User prefers dark mode for all applications"))
        },
        Memory {
            kind: "event".into(),
            expires_at: Some(1_970_000_000_000),
            ..with_times(Memory::new("2", "The release is on Friday"))
        },
        Memory {
            tags: tags(&["a", "b", "memo"]),
            importance: 10,
            updated_at: Some(1_738_540_800_000),
            ..with_times(Memory::new("3", "An odd one"))
        },
    ];
    let not_brought = counts([
        // 45.3.
        ("texts of indexed files (add their folder with `memorist source add`)", 1),
        ("access log rows of memories that are gone", 2),
        ("accesses of other types than get and search (kept as search)", 1),
        ("confidences outside 0 to 1 (the nearest was taken)", 1),
        ("embeddings (made again)", 3),
        ("importances outside 1 to 10 (the nearest was taken)", 1),
        ("memories without a text", 1),
        ("times that cannot be read", 2),
        ("types that memorist does not have (a fact with the type as its tag)", 1),
    ]);
    assert_eq!(found, StoreContents { memories, links: vec![], not_brought });
    assert_eq!(read(System::Mudpuppy, folder.path()), found, "it is found in its folder");
}

#[test]
fn memorizer() {
    let folder = folder();
    let (path, _running) = make(folder.path(), "memory.db", include_str!("../corpus/moving/memorizer.sql"));
    let found = read(System::Memorizer, &path);
    let of = |kind: &str, id: &str, content: &str| Memory {
        kind: kind.into(),
        agent: some("main"),
        ..Memory::new(format!("{kind}:{id}"), content)
    };
    let earlier = |body, minutes, reason: &str| Earlier {
        content: String::new(),
        body: Some(body),
        replaced_at: Some(START + minutes * MINUTE),
        reason: reason.into(),
    };
    let memories = vec![
        Memory {
            key: "fact:1".into(),
            source: "conversation".into(),
            confidence: 0.8,
            created_at: Some(START),
            updated_at: Some(START + MINUTE),
            last_accessed_at: Some(START + 2 * MINUTE),
            ..of("preference", "", "Likes tea")
        },
        Memory {
            key: "fact:2".into(),
            agent: some("other"),
            created_at: Some(START),
            ..of("contact", "", "Works with Ada")
        },
        Memory { tags: tags(&["hobby"]), ..of("fact", "3", "Of no known category") },
        Memory {
            tags: tags(&["weather"]),
            session: some("s1"),
            turn: Some(1),
            created_at: Some(START),
            body: Some(json!({
                "session_id": "s1", "user_message": "How is the weather?", "agent_response": "Fine."
            })),
            ..of("conversation", "1", "")
        },
        Memory {
            session: some("s1"),
            turn: Some(2),
            created_at: Some(START + MINUTE),
            ..of("conversation", "2", "User: And tomorrow?")
        },
        Memory {
            created_at: Some(START + 2 * MINUTE),
            body: Some(json!({ "user_message": "Hello", "agent_response": "Hi" })),
            ..of("conversation", "3", "")
        },
        Memory {
            created_at: Some(START),
            updated_at: Some(START + 4 * MINUTE),
            body: Some(json!({ "name": "Ann", "likes": ["tea", "rain"] })),
            earlier: vec![
                earlier(json!({ "name": "A." }), 3, "full name"),
                earlier(json!({ "name": "Ann" }), 4, "changed"),
            ],
            ..of("profile", "main", "")
        },
        Memory { agent: some("plain"), ..of("profile", "plain", "Ann likes tea") },
        Memory {
            body: Some(json!({
                "name": "Ada", "email": "ada@example.org", "company": "Engines", "role": "analyst", "type": "work"
            })),
            ..of("contact", "1", "")
        },
        Memory { tags: tags(&["friend"]), body: Some(json!({ "name": "Bo" })), ..of("contact", "2", "") },
        Memory {
            body: Some(json!({
                "name": "Engine", "status": "active", "type": "work", "description": "Builds it",
                "primary_contact_id": { "key": "contact:1" },
                "participants": ["Cy", { "key": "contact:2" }, "Di", { "key": "contact:1" }],
                "company": "Engines", "priority": "high"
            })),
            ..of("project", "1", "")
        },
        Memory { body: Some(json!({ "name": "Lost" })), ..of("project", "2", "") },
        Memory {
            body: Some(json!({
                "name": "Water plants", "description": "Every week", "enabled": false, "trigger_type": "cron",
                "trigger_config": { "at": "0 9 * * 1" }, "instructions": "Ask, then water.",
                "required_tools": ["water"], "execution_plan": [{ "step": 1 }], "max_steps": 3
            })),
            ..of("skill", "1", "")
        },
        Memory {
            body: Some(json!({
                "name": "Greet", "enabled": true, "trigger_config": { "value": "daily" },
                "instructions": "Say hello.", "required_tools": ["say", "wave"], "execution_plan": ["say it"]
            })),
            ..of("skill", "2", "")
        },
        of("skill", "3", "No instructions: But a description"),
    ];
    let not_brought = counts([
        ("contacts of projects that are gone", 2),
        ("embeddings (made again)", 2),
        ("numbers of steps below 1 (the default was taken)", 1),
        ("participants whose names memorist cannot keep", 1),
        ("profiles that are no JSON object, or too large a one (kept as a text)", 1),
        ("times that cannot be read", 1),
        ("types of contacts that memorist does not have (kept as a tag)", 1),
        ("types that memorist does not have (a fact with the type as its tag)", 1),
        ("values of the column skills.last_run_at, which memorist does not know", 1),
        ("versions of profiles that are gone", 1),
    ]);
    assert_eq!(found.memories, memories);
    assert_eq!((&found.links, &found.not_brought), (&vec![], &not_brought));
    assert_eq!(read(System::Memorizer, folder.path()), found, "it is found in its folder");
}

#[test]
fn the_caller_resolves_references_between_memories() {
    let folder = folder();
    let (path, _running) = make(folder.path(), "memory.db", include_str!("../corpus/moving/memorizer.sql"));
    let mut project = read(System::Memorizer, &path).memory("project:1").clone();
    project.resolve(|key| format!("ulid:{key}").into());
    let body = project.body.unwrap();
    assert_eq!(body["primary_contact_id"], "ulid:contact:1");
    assert_eq!(body["participants"], json!(["Cy", "ulid:contact:2", "Di", "ulid:contact:1"]));
}

#[test]
fn krolik() {
    let folder = folder();
    let (path, _running) = make(folder.path(), "any.db", include_str!("../corpus/moving/krolik.sql"));
    let found = read(System::Krolik, &path);
    let of = |id: &str, kind: &str, importance| Memory {
        kind: kind.into(),
        importance,
        project: some("shop"),
        ..Memory::new(id, "")
    };
    let memories = vec![
        Memory {
            tags: tags(&["db"]),
            access_count: 4,
            created_at: Some(START),
            body: Some(json!({
                "title": "Use SQLite", "description": "One file is easy to move.", "feature": "storage"
            })),
            ..of("1", "decision", 10)
        },
        Memory {
            created_at: Some(START),
            body: Some(json!({ "title": "Fixed the lock", "description": "Waited for it." })),
            ..of("2", "bugfix", 8)
        },
        Memory {
            content: "Only a title".into(),
            tags: tags(&["style"]),
            created_at: Some(START),
            ..of("3", "pattern", 2)
        },
        Memory {
            tags: tags(&["observation"]),
            project: None,
            body: Some(json!({ "title": "Slow start", "description": "Takes 3 s." })),
            ..of("4", "fact", 5)
        },
        Memory { content: "Only a description".into(), body: Some(json!({ "feature": "text" })), ..of("5", "fact", 5) },
    ];
    let link = |from: &str, kind, to: &str| Link { from: from.into(), to: to.into(), kind, created_at: None };
    let links = vec![
        Link { created_at: Some(START), ..link("2", "implements", "1") },
        link("2", "caused", "1"),
        link("3", "supersedes", "2"),
        link("3", "contradicts", "1"),
        link("4", "related", "1"),
        link("4", "related", "2"),
    ];
    let not_brought = counts([
        ("embeddings (made again)", 1),
        ("importances outside 1 to 10 (the nearest was taken)", 1),
        ("links of a memory to itself", 1),
        ("links of memories that are gone", 1),
        ("relation types that memorist does not have (kept as related)", 1),
        ("rows of the table schema_notes, which memorist does not know", 1),
        ("types that memorist does not have (a fact with the type as its tag)", 1),
    ]);
    assert_eq!(found.memories, memories);
    assert_eq!((&found.links, &found.not_brought), (&links, &not_brought));
    assert_eq!(read(System::Krolik, folder.path()), found, "it is found in its folder");
}

/// A chunk of an agent, as read.
fn chunk(agent: &str, id: &str, path: &str, lines: (i64, i64), text: &str) -> Memory {
    Memory {
        kind: "chunk".into(),
        source: "memory".into(),
        agent: some(agent),
        session: some(path),
        turn: Some(lines.0),
        place: Some(FileSpan { path: path.into(), first: lines.0, last: lines.1 }),
        ..Memory::new(format!("{agent}:{id}"), text)
    }
}

#[test]
fn gimli() {
    let folder = folder();
    let script = include_str!("../corpus/moving/gimli.sql");
    let (path, _running) = make(folder.path(), "state/memory/main.sqlite", script);
    let (_, _other) = make(folder.path(), "state/memory/aide.sqlite", script);
    let found = read(System::Gimli, &path);
    let (changed, indexed) = (Some(START), Some(START + 500_000));
    let memories = vec![
        Memory {
            created_at: changed,
            updated_at: indexed,
            ..chunk("main", "c1", "MEMORY.md", (1, 21), "# Memory\n\nThe first piece")
        },
        Memory {
            created_at: changed,
            updated_at: indexed,
            ..chunk("main", "c2", "MEMORY.md", (20, 31), "The second piece")
        },
        Memory {
            created_at: indexed,
            updated_at: indexed,
            ..chunk("main", "c4", "gone.md", (1, 1), "Of a file that is gone")
        },
        Memory {
            kind: "conversation".into(),
            source: "sessions".into(),
            created_at: indexed,
            updated_at: indexed,
            ..chunk("main", "c3", "sessions/a.jsonl", (3, 3), "User: hello")
        },
    ];
    let not_brought = counts([
        ("chunks that the store has for more than one model", 1),
        ("embeddings (made again)", 5),
        ("entries of the cache of embeddings", 1),
    ]);
    assert_eq!(found, StoreContents { memories, links: vec![], not_brought });
    let all = read(System::Gimli, folder.path());
    assert_eq!((all.memories.len(), &all.memories[4..]), (8, &found.memories[..]), "aide's come first");
    assert_eq!(read(System::Gimli, &folder.path().join("state/memory")), all);
}

#[test]
fn openclaw() {
    let folder = folder();
    let script = include_str!("../corpus/moving/openclaw.sql");
    let (path, _running) = make(folder.path(), "agents/home/agent/openclaw-agent.sqlite", script);
    let (_, _old) = make(folder.path(), "memory/main.sqlite", include_str!("../corpus/moving/gimli.sql"));
    let found = read(System::Openclaw, &path);
    let memory = Memory {
        importance: 9,
        project: some("home"),
        created_at: Some(START),
        updated_at: Some(START + 1_000),
        ..chunk("home", "k1", "memory/2026-02-02.md", (1, 4), "Bought tea")
    };
    assert_eq!((found.memories.len(), &found.memories[0]), (1, &memory));
    assert_eq!(found.not_brought, counts([("embeddings (made again)", 1)]));
    let all = read(System::Openclaw, folder.path());
    assert_eq!((all.memories.len(), &all.memories[0]), (5, &memory));
    assert_eq!(all.memory("main:c1").content, "# Memory\n\nThe first piece");
}
