use std::os::unix::fs::PermissionsExt;

use super::*;

/// A `claude` that does what the real one does to its file: reads it, and writes it in its own layout.
const CLAUDE: &str = r#"#!/bin/sh
file="$HOME_OF_TEST/.claude.json"
echo "$@" >>"$HOME_OF_TEST/called"
case "$2" in
add-json) printf '{\n  "startups": 4,\n  "mcpServers": {\n    "memorist": %s\n  }\n}' "$6" >"$file" ;;
remove) printf '{\n  "startups": 4,\n  "mcpServers": {}\n}' >"$file" ;;
esac
"#;

fn claude(home: &Home, script: &str) {
    let script = script.replace("$HOME_OF_TEST", home.machine.home().to_str().unwrap());
    home.write("bin/claude", script);
    fs::set_permissions(home.path("bin/claude"), fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn claude_code_is_registered_by_its_own_installed_command() {
    let mut home = Home::full();
    claude(&home, CLAUDE);
    home.connected(Client::ClaudeCode);
    assert!(home.read("called").starts_with("mcp add-json -s user memorist {\"type\":\"stdio\",\"command\":"));
    assert!(home.read(".claude.json").contains("/opt/a b/memorist"));
    assert!(home.read(".claude/settings.json").contains("hook claude-code"), "its hooks are in a file of their own");
    let with = home.all();
    let (done, troubles) = home.connect(Client::ClaudeCode);
    assert!(done.is_empty() && troubles.is_empty() && home.all() == with, "{troubles:?}");
    home.program.options = vec!["--store".into(), "/s".into()];
    home.connected(Client::ClaudeCode);
    let called = home.read("called");
    let calls: Vec<&str> = called.lines().map(|line| line.split(' ').nth(1).unwrap()).collect();
    assert_eq!(calls, ["add-json", "remove", "add-json"]);
    home.disconnected(Client::ClaudeCode);
    assert!(home.read("called").ends_with("mcp remove -s user memorist\n"));
    assert!(!home.read(".claude.json").contains("memorist"));
    assert!(Ledger::read(&home.ledger()).unwrap().records().is_empty());
}

/// It was there when the client was connected, and is not when it is disconnected.
#[test]
fn without_its_command_the_entry_is_taken_out_in_place() {
    let home = Home::full();
    claude(&home, CLAUDE);
    home.connected(Client::ClaudeCode);
    fs::remove_file(home.path("bin/claude")).unwrap();
    home.disconnected(Client::ClaudeCode);
    assert_eq!(home.read(".claude.json"), "{\n  \"startups\": 4,\n  \"mcpServers\": {}\n}");
}

#[test]
fn a_command_that_fails_is_named_and_nothing_is_recorded() {
    for (script, why) in [
        ("#!/bin/sh\necho 'no disk' >&2\nexit 3\n", "no disk"),
        ("#!/bin/sh\nexit 3\n", "exit status: 3"),
        ("#!/bin/sh\nexit 0\n", "has not changed so"),
    ] {
        let home = Home::full();
        let before = home.read(".claude.json");
        claude(&home, script);
        let (done, troubles) = home.connect(Client::ClaudeCode);
        assert_eq!(done.len(), 1, "the hooks");
        let [(_, Trouble::Command(said))] = &troubles[..] else { panic!("{troubles:?}") };
        assert!(said.contains(why) && said.contains("mcp add-json"), "{said}");
        assert_eq!(home.read(".claude.json"), before);
        assert!(Ledger::read(&home.ledger()).unwrap().record(&home.path(".claude.json")).is_none());
    }
}

/// An entry is remembered if it is there, whatever the command said, and whatever it added.
#[test]
fn an_entry_of_a_failed_or_extending_command_is_recorded() {
    let extended = "case \"$2\" in add-json) e=\"${6%\\}},\\\"env\\\":{}}\" && printf '{\"mcpServers\": {\"memorist\": %s}}' \"$e\" >\"$HOME_OF_TEST/.claude.json\" ;; *) exit 1 ;; esac";
    for (end, fails) in [("exit 3", true), ("kill -9 $$", true), ("exit 0", false)] {
        let home = Home::full();
        claude(&home, &format!("#!/bin/sh\n{extended}\n{end}\n"));
        let (_, troubles) = home.connect(Client::ClaudeCode);
        assert_eq!(!troubles.is_empty(), fails, "{troubles:?}");
        assert!(home.read(".claude.json").contains("\"env\":{}"));
        let (done, troubles) = home.connect(Client::ClaudeCode);
        assert!(done.is_empty() && troubles.is_empty(), "{end}: {troubles:?}");
        let stands = status(Client::ClaudeCode, &Ledger::read(&home.ledger()).unwrap(), &home.around()).unwrap();
        assert_eq!(stands.registered, State::Yes);
        fs::remove_file(home.path("bin/claude")).unwrap();
        home.disconnected(Client::ClaudeCode);
        assert_eq!(home.read(".claude.json"), "{\"mcpServers\": {}}", "{end}");
    }
}

/// It is the client that writes it, and what it does is not known here.
#[test]
fn a_copy_is_kept_of_a_file_that_a_command_changes() {
    let home = Home::full();
    claude(&home, CLAUDE);
    let before = home.read(".claude.json");
    let mut ledger = home.open();
    let mut plan = connect(Client::ClaudeCode, true, &ledger, &home.around());
    home.write(".claude.json", "{}");
    assert_eq!(apply(&mut plan, &mut ledger).len(), 1, "the hooks");
    assert!(matches!(&plan.troubles[..], [(_, Trouble::ChangedMeanwhile)]), "{:?}", plan.troubles);
    assert!(!home.path("called").exists() && home.read(".claude.json") == "{}");
    home.write(".claude.json", &before);
    drop(ledger);
    home.connected(Client::ClaudeCode);
    let has_copy = |(_, (content, _)): (PathBuf, (Option<Vec<u8>>, u32))| content == Some(before.clone().into_bytes());
    assert!(all_below(&home.ledger()).into_iter().any(has_copy));
}

/// The file is read before the command is run: one that is broken would be made new by it.
#[test]
fn a_broken_file_never_reaches_the_command() {
    let home = Home::full();
    claude(&home, CLAUDE);
    home.write(".claude.json", "{ \"mcpServers\": ");
    let (_, troubles) = home.connect(Client::ClaudeCode);
    assert!(matches!(&troubles[..], [(_, Trouble::Content(_))]), "{troubles:?}");
    assert_eq!(home.read(".claude.json"), "{ \"mcpServers\": ");
    assert!(!home.path("called").exists());
}
