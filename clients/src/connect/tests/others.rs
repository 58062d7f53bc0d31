use serde_json::{Value, json};

use super::*;

fn value(home: &Home, path: &str) -> Value {
    serde_json::from_str(&home.read(path)).unwrap()
}

#[test]
fn disconnecting_removes_ours_and_keeps_later_changes() {
    let home = Home::full();
    for client in Client::ALL {
        home.connected(client);
    }
    // Another program writes the file again, in its own layout.
    let mut cursor: Value = serde_json::from_str(home.read(".cursor/mcp.json").trim_start_matches('\u{feff}')).unwrap();
    cursor["mcpServers"]["later"] = json!({ "command": "later" });
    home.write(".cursor/mcp.json", cursor.to_string());
    let mut windsurf = value(&home, ".codeium/windsurf/mcp_config.json");
    windsurf["other"] = json!(1);
    home.write(".codeium/windsurf/mcp_config.json", format!("{windsurf:#}"));
    let mut hooks = value(&home, ".claude/settings.json");
    hooks["hooks"]["Stop"].as_array_mut().unwrap().insert(0, json!({ "hooks": [] }));
    home.write(".claude/settings.json", format!("{hooks:#}"));
    let codex = home.read(".codex/config.toml") + "\n# later\n[features]\nx = true\n";
    home.write(".codex/config.toml", &codex);
    let goose = home.read(".config/goose/config.yaml").replace("GOOSE_MODEL: x", "GOOSE_MODEL: y");
    home.write(".config/goose/config.yaml", goose);
    home.write(".config/goose/.goosehints", home.read(".config/goose/.goosehints") + "\nBe kind.\n");
    home.write(".codex/hooks.json", home.read(".codex/hooks.json") + "\n");
    for client in Client::ALL {
        home.disconnected(client);
    }
    cursor["mcpServers"].as_object_mut().unwrap().shift_remove("memorist");
    assert_eq!(home.read(".cursor/mcp.json"), cursor.to_string());
    assert_eq!(value(&home, ".codeium/windsurf/mcp_config.json"), json!({ "other": 1 }), "nor what was made around it");
    let rest = value(&home, ".claude/settings.json");
    assert_eq!(rest["hooks"]["Stop"].as_array().unwrap().len(), 2);
    assert_eq!(rest["hooks"].as_object().unwrap().keys().collect::<Vec<_>>(), ["Stop", "Other"]);
    let first = SETTINGS.iter().find(|(path, _)| path.ends_with("config.toml")).unwrap().1;
    assert_eq!(home.read(".codex/config.toml"), format!("{first}\n\n# later\n[features]\nx = true\n"));
    assert!(!home.read(".config/goose/config.yaml").contains("memorist"));
    assert_eq!(home.read(".config/goose/.goosehints"), "\nBe kind.\n");
    assert_eq!(value(&home, ".codex/hooks.json"), json!({}));
}

/// A file that was made for our hooks stays if others have put theirs there, with what it needs.
#[test]
fn a_file_that_was_made_stays_if_others_use_it() {
    let home = Home::new();
    fs::create_dir(home.path(".cursor")).unwrap();
    home.connected(Client::Cursor);
    let mut hooks = value(&home, ".cursor/hooks.json");
    hooks["hooks"]["stop"].as_array_mut().unwrap().push(json!({ "command": "theirs" }));
    home.write(".cursor/hooks.json", hooks.to_string());
    let mut mcp = value(&home, ".cursor/mcp.json");
    mcp["mcpServers"]["memorist"]["args"] = json!(["serve"]);
    home.write(".cursor/mcp.json", mcp.to_string());
    home.disconnected(Client::Cursor);
    let left = json!({ "version": 1, "hooks": { "stop": [{ "command": "theirs" }] } });
    assert_eq!(value(&home, ".cursor/hooks.json"), left);
    assert!(!home.path(".cursor/mcp.json").exists(), "nothing else is in it");
}

/// A file that was made goes though its layout has changed, if nothing of others is in it.
#[test]
fn a_file_that_was_made_goes_with_what_it_needs() {
    let home = Home::new();
    fs::create_dir(home.path(".cursor")).unwrap();
    home.connected(Client::Cursor);
    home.write(".cursor/hooks.json", value(&home, ".cursor/hooks.json").to_string());
    home.disconnected(Client::Cursor);
    assert_eq!(home.all().len(), 1, "the folder alone: {:?}", home.all());
}

/// A file that was made stays if a person has put a comment there, as comments are all that some have.
#[test]
fn a_file_that_was_made_stays_for_a_comment() {
    let home = Home::new();
    fs::create_dir(home.path(".codex")).unwrap();
    fs::create_dir(home.path(".lmstudio")).unwrap();
    home.connected(Client::Codex);
    home.connected(Client::LmStudio);
    home.write(".codex/config.toml", home.read(".codex/config.toml") + "\n# model = \"x\"\n");
    home.write(".lmstudio/mcp.json", "// mine\n".to_owned() + &home.read(".lmstudio/mcp.json"));
    home.disconnected(Client::Codex);
    home.disconnected(Client::LmStudio);
    assert_eq!(home.read(".codex/config.toml"), "\n# model = \"x\"\n");
    assert!(home.read(".lmstudio/mcp.json").starts_with("// mine\n"));
}

/// A person has put our hook behind theirs.
#[test]
fn a_hook_of_ours_beside_another_is_seen() {
    let mut home = Home::new();
    home.program.path = "/m y/memorist".into();
    let other = json!({ "type": "command", "command": "say done" });
    for line in [
        "'/elsewhere/memorist' hook codex stop",
        "\"C:\\a b\\memorist.exe\" hook codex stop",
        "& \"C:\\a b\\memorist.exe\" hook codex stop",
        "C:/\"a b/memorist.exe\" hook codex stop",
        "memorist hook codex stop",
    ] {
        let ours = json!({ "type": "command", "command": line });
        home.write(".codex/hooks.json", json!({ "hooks": { "Stop": [{ "hooks": [other, ours] }] } }).to_string());
        let plan = connect(Client::Codex, true, &Ledger::read(&home.ledger()).unwrap(), &home.around());
        let shown: Vec<_> = plan.by_hand.iter().map(|(_, shown)| shown.as_str()).collect();
        assert_eq!(shown, ["hooks.Stop"], "{line}");
    }
}

#[test]
fn parts_changed_by_hand_are_kept_and_named() {
    let home = Home::full();
    home.connected(Client::Cursor);
    home.connected(Client::Cline);
    home.connected(Client::Goose);
    let changed = home.read(".cursor/mcp.json").replace("\"serve\"", "\"serve\", \"-v\"");
    home.write(".cursor/mcp.json", &changed);
    home.write("Documents/Cline/Hooks/TaskStart", "#!/bin/sh\necho mine\n");
    let hints = home.read(".config/goose/.goosehints").replace("long-term memory", "notebook");
    home.write(".config/goose/.goosehints", &hints);
    for (client, path, shown) in [
        (Client::Cursor, ".cursor/mcp.json", "mcpServers.memorist"),
        (Client::Cline, "Documents/Cline/Hooks/TaskStart", "TaskStart"),
        (Client::Goose, ".config/goose/.goosehints", "paragraph"),
    ] {
        let was = home.read(path);
        let (_, troubles) = home.disconnect(client);
        let [(found, trouble)] = &troubles[..] else { panic!("{client}: {troubles:?}") };
        assert_eq!(*found, home.path(path));
        assert!(matches!(trouble, Trouble::Edited(what) if what.contains(shown)), "{trouble}");
        assert_eq!(home.read(path), was);
        let (_, again) = home.disconnect(client);
        assert_eq!(again.len(), 1, "it is named as long as it is there");
        fs::remove_file(home.path(path)).unwrap();
        let (_, gone) = home.disconnect(client);
        assert!(gone.is_empty(), "{gone:?}");
    }
}

#[test]
fn entries_missing_from_the_ledger_are_never_removed() {
    let mut home = Home::full();
    let by_hand = "{\"mcpServers\": {\"memorist\": {\"command\": \"memorist\", \"args\": [\"serve\"]}}}";
    home.write(".lmstudio/mcp.json", by_hand);
    let mut ledger = Ledger::open(&home.ledger()).unwrap();
    let mut plan = connect(Client::LmStudio, true, &ledger, &home.around());
    assert!(plan.steps.is_empty() && plan.troubles.is_empty());
    assert_eq!(plan.by_hand, [(home.path(".lmstudio/mcp.json"), "mcpServers.memorist".to_owned())]);
    assert!(apply(&mut plan, &mut ledger).is_empty());
    let stands = status(Client::LmStudio, &ledger, &home.around()).unwrap();
    assert_eq!(stands.registered, State::ByHand);
    drop(ledger);
    assert!(home.disconnect(Client::LmStudio).0.is_empty());
    assert_eq!(home.read(".lmstudio/mcp.json"), by_hand);
    // The same entry as ours, but the ledger was lost.
    home.connected(Client::Codex);
    let with = home.all();
    fs::remove_dir_all(home.ledger()).unwrap();
    assert!(home.connect(Client::Codex).0.is_empty());
    home.program.path = "/elsewhere/memorist".into();
    assert!(home.connect(Client::Codex).0.is_empty(), "nor is a hook written twice");
    assert!(home.disconnect(Client::Codex).0.is_empty());
    assert!(home.all() == with);
}

#[test]
fn a_name_that_another_program_has_is_left() {
    let home = Home::full();
    home.write(".lmstudio/mcp.json", "{\"mcpServers\": {\"memorist\": {\"command\": \"/usr/bin/other\"}}}");
    home.write(".config/goose/config.yaml", "extensions:\n  memorist:\n    cmd: other\n");
    home.write(".continue/config.yaml", "mcpServers:\n  - name: memorist\n    command: other\n");
    home.write(".codex/config.toml", "[mcp_servers.memorist]\nurl = \"http://other\"\n");
    home.write(".gemini/extensions/memorist/gemini-extension.json", "{}");
    for client in [Client::LmStudio, Client::Goose, Client::Continue, Client::Codex, Client::Gemini] {
        let before = home.all();
        let (_, troubles) = home.connect(client);
        assert_eq!(troubles.len(), 1, "{client}: {troubles:?}");
        assert!(matches!(troubles[0].1, Trouble::Taken(_) | Trouble::FileTaken), "{client}: {troubles:?}");
        assert!(before[&troubles[0].0] == home.all()[&troubles[0].0], "{client}");
    }
}

#[test]
fn a_program_that_is_gone_is_named() {
    let mut home = Home::full();
    home.program.path = home.path("a b/memorist");
    home.connected(Client::Codex);
    let ledger = Ledger::read(&home.ledger()).unwrap();
    let untrusted = status(Client::Codex, &ledger, &home.around()).unwrap();
    assert!(untrusted.trusted == Some(false) && untrusted.problems.iter().any(|one| one.way_out.contains("/hooks")));
    let mut config = home.read(".codex/config.toml");
    for event in ["user_prompt_submit", "session_start", "stop", "pre_compact", "session_end"] {
        let key = format!("{}:{event}:0:0", home.path(".codex/hooks.json").display());
        config += &format!("\n[hooks.state.'{key}']\ntrusted_hash = 'sha256:1'\n");
    }
    home.write(".codex/config.toml", config);
    let stands = status(Client::Codex, &ledger, &home.around()).unwrap();
    assert_eq!(stands.trusted, Some(true));
    let program = home.program.command();
    let says = |problem: &Problem| problem.what.contains(&program) && problem.way_out.contains("connect");
    assert!(!stands.problems.is_empty() && stands.problems.iter().all(says), "{:?}", stands.problems);
    assert!(status(Client::Copilot, &ledger, &Home::new().around()).is_none(), "not on that machine");
}
