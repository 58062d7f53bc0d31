use super::*;
use crate::connect::ledger::Written;

/// All fifteen, with the files that people have and without.
#[test]
fn disconnecting_restores_every_file_byte_for_byte() {
    for is_full in [true, false] {
        let home = if is_full { Home::full() } else { Home::new() };
        let folders = [
            ".claude", ".config/Claude", ".codex", ".gemini/tmp", ".cursor", ".config/Code/User", ".codeium/windsurf",
            ".config/zed", ".config/opencode", ".config/goose", ".continue", ".cline", ".lmstudio", ".openclaw",
            ".copilot",
        ];
        folders.iter().for_each(|folder| fs::create_dir_all(home.path(folder)).unwrap());
        let before = home.all();
        for client in Client::ALL {
            home.connected(client);
            let around = home.around();
            let stands = status(client, &Ledger::read(&home.ledger()).unwrap(), &around).unwrap();
            assert_eq!(stands.registered, State::Yes, "{stands:?}");
            assert!(stands.hooked.is_none_or(|hooked| hooked == State::Yes), "{stands:?}");
        }
        let with = home.all();
        for client in Client::ALL {
            let (done, troubles) = home.connect(client);
            assert!(done.is_empty() && troubles.is_empty(), "a second time changes nothing: {client} {troubles:?}");
        }
        assert!(home.all() == with, "a second time changes nothing");
        // Not in the order in which they were connected.
        for client in Client::ALL.into_iter().rev() {
            home.disconnected(client);
        }
        let after = home.all();
        let differs = before.iter().filter(|(path, was)| after.get(*path) != Some(*was)).collect::<Vec<_>>();
        assert!(differs.is_empty(), "{differs:?}");
        let left = after.keys().filter(|path| !before.contains_key(*path)).collect::<Vec<_>>();
        assert!(left.is_empty(), "{left:?}");
        let ours = all_below(&home.ledger());
        assert_eq!(ours.len(), 1, "nothing is left but the lock: {:?}", ours.keys());
    }
}

#[test]
fn each_file_says_how_the_server_is_started() {
    let home = Home::full();
    for client in Client::ALL {
        home.connected(client);
    }
    for (path, _) in SETTINGS.into_iter().filter(|(path, _)| !path.ends_with(".md")) {
        assert!(home.read(path).contains("/opt/a b/memorist"), "{path}: {}", home.read(path));
    }
    let hooks = home.read(".claude/settings.json");
    assert!(hooks.contains("\"command\": \"'/opt/a b/memorist' hook claude-code prompt\""), "{hooks}");
    assert!(hooks.contains("say done"), "{hooks}");
    let hooks: serde_json::Value = serde_json::from_str(&hooks).unwrap();
    let of_action = |name: &str| {
        let [entry] = hooks["hooks"][name].as_array().unwrap().as_slice() else { panic!("{name}: {hooks}") };
        (entry["matcher"].clone(), entry["hooks"][0]["command"].clone(), entry["hooks"][0]["timeout"].clone())
    };
    let line = |event: &str| format!("'/opt/a b/memorist' hook claude-code {event}");
    let tools = "Bash|Edit|MultiEdit|NotebookEdit|Write";
    assert_eq!(of_action("PreToolUse"), (tools.into(), line("before").into(), 2.into()));
    assert_eq!(of_action("PostToolUseFailure"), ("Bash".into(), line("failed").into(), 2.into()));
    assert!(!home.read(".codex/hooks.json").contains("ToolUse"), "a changed hook has to be trusted again");
    let script = home.read("Documents/Cline/Hooks/TaskStart");
    assert!(script.ends_with("exec '/opt/a b/memorist' hook cline start\n"), "{script}");
    assert!(memorist_durable::is_executable(&home.path("Documents/Cline/Hooks/TaskStart")));
    let plugin = home.read(".config/opencode/plugins/memorist.js");
    assert!(plugin.contains("const HOOK = [\"/opt/a b/memorist\",\"hook\",\"opencode\",\"EVENT\"]"), "{plugin}");
    assert!(home.read(".copilot/copilot-instructions.md").contains("memory_search"));
    let codex = home.read(".codex/config.toml");
    assert!(
        codex.ends_with("\n[mcp_servers.memorist]\ncommand = \"/opt/a b/memorist\"\nargs = [\"serve\"]\n"),
        "{codex}"
    );
}

#[test]
fn new_options_replace_entries_and_the_first_content_returns() {
    let mut home = Home::full();
    let before = home.all();
    for client in Client::ALL {
        home.connected(client);
    }
    home.program.serve = vec!["--profile".into(), "full".into()];
    home.program.options = vec!["--store".into(), "/s".into()];
    for client in Client::ALL {
        home.connected(client);
    }
    for (path, _) in SETTINGS.into_iter().filter(|(path, _)| !path.ends_with(".md")) {
        let text = home.read(path);
        assert!(text.contains("--store") && !text.contains("[\"serve\"]"), "{path}: {text}");
    }
    for client in Client::ALL {
        home.disconnected(client);
    }
    assert!(home.all() == before);
    assert_eq!(all_below(&home.ledger()).len(), 1, "no copy is left");
}

/// Cursor's program for terminals runs the hooks of Claude Code, too: so one start is enough.
#[test]
fn cursor_gets_no_start_hook_beside_claude_code() {
    let home = Home::full();
    let starts = || home.read(".cursor/hooks.json").contains("hook cursor start");
    home.connected(Client::Cursor);
    assert!(starts() && home.read(".cursor/hooks.json").contains("hook cursor stop"));
    home.connected(Client::ClaudeCode);
    home.connected(Client::Cursor);
    assert!(!starts() && home.read(".cursor/hooks.json").contains("hook cursor stop"));
    home.disconnected(Client::ClaudeCode);
    let stands = status(Client::Cursor, &Ledger::read(&home.ledger()).unwrap(), &home.around()).unwrap();
    assert_eq!(stands.hooked, Some(State::Partly), "doctor says so");
    home.connected(Client::Cursor);
    assert!(starts());
    // Both at once, and Claude Code on this machine or not.
    for (home, count) in [(&home, 1), (&Home::new(), 2)] {
        let around = Environment { connecting: &[Client::Cursor, Client::ClaudeCode], ..home.around() };
        let plan = connect(Client::Cursor, true, &Ledger::read(Path::new("/nowhere")).unwrap(), &around);
        let hooks = plan.steps.iter().find(|step| step.role == crate::profile::Role::Hooks);
        let hooks = hooks.map(|step| step.diff().matches(" hook cursor ").count());
        assert_eq!(hooks.unwrap_or(1), count, "{plan:?}");
    }
}

#[test]
fn without_hooks_none_are_written() {
    let home = Home::full();
    let mut ledger = Ledger::open(&home.ledger()).unwrap();
    for client in Client::ALL {
        let plan = connect(client, false, &ledger, &home.around());
        assert!(plan.steps.iter().all(|step| step.role != crate::profile::Role::Hooks), "{client}");
    }
    let mut plan = connect(Client::Codex, false, &ledger, &home.around());
    assert_eq!(apply(&mut plan, &mut ledger).len(), 1);
    let stands = status(Client::Codex, &ledger, &home.around()).unwrap();
    assert_eq!((stands.registered, stands.hooked), (State::Yes, Some(State::No)));
}

#[test]
fn a_plan_changes_nothing_and_shows_our_lines_alone() {
    let home = Home::full();
    let before = home.all();
    let ledger = Ledger::read(&home.ledger()).unwrap();
    for client in Client::ALL {
        for step in connect(client, true, &ledger, &home.around()).steps {
            let diff = step.diff();
            assert!(diff.contains("memorist"), "{diff}");
            let is_theirs =
                ["theirs", "say done", "x.sh", "TOKEN", "trust_level"].iter().any(|text| diff.contains(text));
            assert!(!is_theirs, "{diff}");
        }
    }
    assert!(home.all() == before && !home.ledger().exists());
}

#[test]
fn an_existing_settings_file_is_preferred_to_the_usual_one() {
    let home = Home::new();
    let paths = |home: &Home, client| {
        let ledger = Ledger::read(&home.ledger()).unwrap();
        let steps = connect(client, false, &ledger, &home.around()).steps;
        steps.into_iter().map(|step| step.target.path).collect::<Vec<_>>()
    };
    let extension = ".config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json";
    let command_line = ".cline/data/settings/cline_mcp_settings.json";
    assert_eq!(paths(&home, Client::LmStudio), [home.path(".lmstudio/mcp.json")]);
    assert_eq!(paths(&home, Client::Opencode), [home.path(".config/opencode/opencode.json")]);
    assert_eq!(paths(&home, Client::Cline), [home.path(command_line)]);
    home.write(".cache/lm-studio/mcp.json", "{}");
    home.write(".config/opencode/opencode.jsonc", "{}");
    home.write(extension, "{}");
    assert_eq!(paths(&home, Client::LmStudio), [home.path(".cache/lm-studio/mcp.json")]);
    assert_eq!(paths(&home, Client::Opencode), [home.path(".config/opencode/opencode.jsonc")]);
    assert_eq!(paths(&home, Client::Cline), [home.path(extension)]);
    home.write(command_line, "{}");
    assert_eq!(paths(&home, Client::Cline), [home.path(command_line), home.path(extension)]);
}

#[cfg(unix)]
#[test]
fn a_link_stays_and_its_target_is_changed_with_its_mode() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let home = Home::full();
    home.write("dotfiles/mcp.json", "{ \"mcpServers\": { } }");
    fs::set_permissions(home.path("dotfiles/mcp.json"), fs::Permissions::from_mode(0o640)).unwrap();
    fs::remove_file(home.path(".cursor/mcp.json")).unwrap();
    symlink("../dotfiles/mcp.json", home.path(".cursor/mcp.json")).unwrap();
    fs::rename(home.path(".codex"), home.path("dotfiles/codex")).unwrap();
    symlink(home.path("dotfiles/codex"), home.path(".codex")).unwrap();
    symlink("nowhere.json", home.path(".config/nowhere")).unwrap();
    let before = home.all();
    home.connected(Client::Cursor);
    home.connected(Client::Codex);
    let with = home.all();
    assert_eq!(with[&home.path(".cursor/mcp.json")], before[&home.path(".cursor/mcp.json")], "the link stays");
    let (content, mode) = &with[&home.path("dotfiles/mcp.json")];
    assert!(content.as_ref().unwrap() != before[&home.path("dotfiles/mcp.json")].0.as_ref().unwrap());
    assert_eq!(mode & 0o777, 0o640);
    assert!(home.read("dotfiles/codex/config.toml").contains("memorist"));
    home.disconnected(Client::Codex);
    home.disconnected(Client::Cursor);
    assert!(home.all() == before);
}

/// A process that is killed between two of its steps has forgotten nothing.
#[test]
fn a_connect_killed_before_its_writes_is_made_again() {
    for client in Client::ALL {
        let home = Home::full();
        let before = home.all();
        home.connected(client);
        let with = home.all();
        // As if the files had not been written.
        for (path, (content, _)) in &before {
            if let Some(content) = content {
                fs::write(path, content).unwrap();
            }
        }
        let made = with.keys().filter(|path| !before.contains_key(*path)).rev();
        made.for_each(
            |path| if path.is_dir() { fs::remove_dir(path).unwrap() } else { fs::remove_file(path).unwrap() },
        );
        home.connected(client);
        assert!(home.all() == with, "{client}");
        home.disconnected(client);
        assert!(home.all() == before, "{client}");
        let (done, troubles) = home.disconnect(client);
        assert!(done.is_empty() && troubles.is_empty(), "{client}: {troubles:?}");
    }
}

/// An update that is killed after the record was written, and before the file is: both versions are known.
#[test]
fn an_update_that_was_killed_is_made_again_or_undone() {
    for client in [Client::ClaudeCode, Client::Codex, Client::Gemini, Client::Goose, Client::Continue] {
        for (is_written, is_changed, is_disconnected) in
            [(false, false, false), (false, false, true), (false, true, true), (true, true, true), (true, false, false)]
        {
            let mut home = Home::full();
            let before = home.all();
            home.connected(client);
            let mut ledger = Ledger::open(&home.ledger()).unwrap();
            home.program.options = vec!["--store".into(), "/s".into()];
            let plan = connect(client, true, &ledger, &home.around());
            for step in &plan.steps {
                let path = &step.target.path;
                let (old, text) = (ledger.record(path).cloned().unwrap(), step.after.clone().unwrap());
                let base = step.base.as_ref().map(|base| ledger.keep(client, path, base).unwrap());
                let previous = Some(Box::new(old));
                let new = Record { base, previous, ..step.record.clone().unwrap() };
                ledger.set(path, Some(new)).unwrap();
                if is_written {
                    fs::write(path, text).unwrap();
                }
                if is_changed && matches!(step.written, Some(Written::Entries { .. } | Written::Block(_))) {
                    fs::write(path, [fs::read(path).unwrap(), b"\n".to_vec()].concat()).unwrap();
                }
            }
            drop(ledger);
            let what = format!("{client} {is_written} {is_changed} {is_disconnected}");
            let stands = status(client, &Ledger::read(&home.ledger()).unwrap(), &home.around()).unwrap();
            assert_eq!(stands.registered, State::Yes, "{what}");
            assert!(stands.hooked.is_none_or(|hooked| hooked == State::Yes), "{what}: {stands:?}");
            if !is_disconnected {
                let (_, troubles) = home.connect(client);
                assert!(troubles.is_empty(), "{what}: {troubles:?}");
                for (path, _) in SETTINGS.into_iter().filter(|(path, _)| !path.ends_with(".md")) {
                    let text = home.read(path);
                    assert_eq!(text.contains("/opt/a b/memorist"), text.contains("--store"), "{what} {path}: {text}");
                    assert!(!text.contains(" stop\""), "{what} {path}: no older hook is left: {text}");
                }
            }
            home.disconnected(client);
            let left = home.all();
            let ours = |(_, (content, _)): &(&PathBuf, &(Option<Vec<u8>>, u32))| {
                content.as_ref().is_some_and(|text| String::from_utf8_lossy(text).contains("opt/a b/memorist"))
            };
            assert_eq!(left.iter().find(ours), None, "{what}");
            assert!(is_changed || left == before, "{what}");
            assert!(Ledger::read(&home.ledger()).unwrap().records().is_empty(), "{what}");
            assert!(is_changed || all_below(&home.ledger()).len() == 1, "{what}: no copy is left");
        }
    }
}

#[test]
fn two_at_a_time_are_refused() {
    let home = Home::full();
    let first = Ledger::open(&home.ledger()).unwrap();
    assert!(matches!(Ledger::open(&home.ledger()), Err(Error::Busy)));
    drop(first);
    Ledger::open(&home.ledger()).unwrap();
}

#[test]
fn a_ledger_that_cannot_be_read_stops_everything() {
    let home = Home::full();
    home.connected(Client::Zed);
    let path = home.ledger().join("ledger.json");
    let text = fs::read_to_string(&path).unwrap();
    for broken in ["", "{", &text.replace("\"version\": 1", "\"version\": 2"), &text[..text.len() / 2]] {
        fs::write(&path, broken).unwrap();
        let refused = Ledger::open(&home.ledger()).unwrap_err().to_string();
        assert!(refused.contains("ledger.json") && refused.contains("move it away"), "{refused}");
    }
}

#[test]
fn the_ledger_names_the_entry_and_nothing_of_others() {
    let home = Home::full();
    home.connected(Client::ClaudeDesktop);
    let ledger = Ledger::read(&home.ledger()).unwrap();
    let [record] = ledger.records() else { panic!("{:?}", ledger.records()) };
    assert!(matches!(&record.written, Written::Entries { entries, .. } if entries.len() == 1));
    assert!(!fs::read_to_string(home.ledger().join("ledger.json")).unwrap().contains("TOKEN"));
}
