use super::*;

/// Connects a client whose file has this content, which must be left, and returns why.
fn refused(home: &Home, client: Client, path: &str, content: &[u8]) -> Trouble {
    home.write(path, content);
    let (_, troubles) = home.connect(client);
    let found = troubles.iter().find(|(found, _)| *found == home.path(path));
    let (_, trouble) = found.unwrap_or_else(|| panic!("{client} {path}: {troubles:?}"));
    assert!(fs::read(home.path(path)).unwrap() == content, "{client} {path} is untouched");
    assert!(!trouble.way_out().is_empty() && !trouble.to_string().is_empty());
    let ledger = Ledger::read(&home.ledger()).unwrap();
    assert!(ledger.record(&home.path(path)).is_none());
    let stands = status(client, &ledger, &home.around()).unwrap();
    assert!(stands.problems.iter().any(|problem| problem.path == home.path(path)), "{:?}", stands.problems);
    trouble.clone()
}

#[test]
fn a_broken_file_of_every_client_is_left_as_it_is() {
    let (ledger, home) = (Ledger::read(Path::new("/nowhere")).unwrap(), Home::full());
    let steps = |client: Client| {
        connect(client, true, &ledger, &home.around()).steps.into_iter().map(move |step| (client, step))
    };
    let clients: BTreeMap<PathBuf, Client> = Client::ALL
        .into_iter()
        .flat_map(steps)
        .map(|(client, step)| (step.target.path.strip_prefix(home.path("")).unwrap().to_owned(), client))
        .collect();
    for (path, text) in SETTINGS.into_iter().filter(|(path, _)| !path.ends_with(".md")) {
        let client = clients[Path::new(path)];
        let home = Home::full();
        let not_text = [text.as_bytes(), b"\xff\xfe"].concat();
        assert_eq!(refused(&home, client, path, &not_text), Trouble::NotText, "{path}");
        let cut = if path.ends_with("yaml") || path.ends_with("toml") {
            format!("{text}\nx = [\"a\nb: [")
        } else {
            text[..text.len() * 2 / 3].to_owned()
        };
        for broken in [cut, format!("{text}\0"), format!("{text}\n]")] {
            let trouble = refused(&home, client, path, broken.as_bytes());
            assert!(matches!(trouble, Trouble::Content(_)), "{path}: {trouble}");
            assert!(trouble.to_string().starts_with("it cannot be read: "), "{path}: {trouble}");
        }
        if path.starts_with(".codex") || path.ends_with(".yaml") {
            let large = [text.as_bytes(), " ".repeat(10 << 20).as_bytes()].concat();
            assert_eq!(refused(&home, client, path, &large), Trouble::TooLarge, "{path}");
        }
    }
}

#[test]
fn a_file_of_another_shape_is_left_as_it_is() {
    for (client, path, text) in [
        (Client::Cursor, ".cursor/mcp.json", "{\"mcpServers\": []}"),
        (Client::Cursor, ".cursor/mcp.json", "[]"),
        (Client::Cursor, ".cursor/mcp.json", "{\"mcpServers\": {}, \"mcpServers\": {}}"),
        (Client::ClaudeCode, ".claude/settings.json", "{\"hooks\": []}"),
        (Client::ClaudeCode, ".claude/settings.json", "{\"hooks\": {\"Stop\": {}}}"),
        (Client::OpenClaw, ".openclaw/openclaw.json", "{mcp: 'x'}"),
        (Client::Codex, ".codex/config.toml", "mcp_servers = 1"),
        (Client::Codex, ".codex/config.toml", "mcp_servers = { a = { command = 'x' } }"),
        (Client::Goose, ".config/goose/config.yaml", "extensions: [a]"),
        (Client::Goose, ".config/goose/config.yaml", "extensions: { a: {} }"),
        (Client::Continue, ".continue/config.yaml", "mcpServers:\n  a: b\n"),
    ] {
        let trouble = refused(&Home::full(), client, path, text.as_bytes());
        assert!(matches!(trouble, Trouble::Content(_)), "{path} {text}: {trouble}");
    }
}

#[test]
fn a_relative_path_is_made_absolute() {
    let target = super::super::target::Target::open(Path::new("src/../no/such/file")).unwrap();
    assert_eq!(target.path, std::env::current_dir().unwrap().join("no/such/file"));
}

#[test]
fn an_older_file_that_would_be_hidden_is_named() {
    let home = Home::new();
    home.write(".continue/config.json", "{}");
    let (_, troubles) = home.connect(Client::Continue);
    assert!(matches!(&troubles[..], [(_, Trouble::Hides(older))] if *older == home.path(".continue/config.json")));
    assert!(!home.path(".continue/config.yaml").exists());
}

#[cfg(unix)]
#[test]
fn a_special_file_or_one_of_another_user_is_left() {
    use std::os::unix::fs::{PermissionsExt, chown, symlink};
    let home = Home::full();
    let path = home.path(".lmstudio/mcp.json");
    let trouble = |home: &Home| match &home.connect(Client::LmStudio).1[..] {
        [(_, trouble)] => trouble.clone(),
        other => panic!("{other:?}"),
    };
    fs::remove_file(&path).unwrap();
    nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
    assert!(trouble(&home).to_string().contains("a pipe or a device"));
    fs::remove_file(&path).unwrap();
    symlink("mcp.json", &path).unwrap();
    assert!(trouble(&home).to_string().contains("too many links"));
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert!(trouble(&home).to_string().contains("a folder"));
    fs::remove_dir(&path).unwrap();
    fs::write(&path, "{}").unwrap();
    fs::set_permissions(home.path(".lmstudio"), fs::Permissions::from_mode(0o777)).unwrap();
    assert!(matches!(trouble(&home), Trouble::Foreign(why) if why.contains("everybody")));
    fs::set_permissions(home.path(".lmstudio"), fs::Permissions::from_mode(0o755)).unwrap();
    // Only root can give a file away.
    if chown(&path, Some(65_534), None).is_err() {
        return;
    }
    assert!(matches!(trouble(&home), Trouble::Foreign(why) if why.contains("another user (id 65534)")));
    fs::remove_file(&path).unwrap();
    fs::write(home.path("elsewhere"), "{}").unwrap();
    symlink(home.path("elsewhere"), &path).unwrap();
    std::os::unix::fs::lchown(&path, Some(65_534), None).unwrap();
    assert!(matches!(trouble(&home), Trouble::Foreign(why) if why.contains("the link")));
    assert_eq!(home.read("elsewhere"), "{}");
}

#[test]
fn a_file_that_was_changed_meanwhile_is_left() {
    let home = Home::full();
    let mut ledger = Ledger::open(&home.ledger()).unwrap();
    let mut plan = connect(Client::Zed, true, &ledger, &home.around());
    home.write(".config/zed/settings.json", "{ }");
    assert!(apply(&mut plan, &mut ledger).is_empty());
    assert!(matches!(&plan.troubles[..], [(_, Trouble::ChangedMeanwhile)]));
    assert_eq!(home.read(".config/zed/settings.json"), "{ }");
    assert!(ledger.records().is_empty());
    let mut plan = connect(Client::Zed, true, &ledger, &home.around());
    apply(&mut plan, &mut ledger);
    let mut plan = disconnect(Client::Zed, &ledger, &home.around());
    home.write(".config/zed/settings.json", "{  }");
    assert!(apply(&mut plan, &mut ledger).is_empty());
    assert_eq!((home.read(".config/zed/settings.json"), ledger.records().len()), ("{  }".to_owned(), 1));
    // A file that was made meanwhile.
    let mut plan = connect(Client::Copilot, true, &ledger, &home.around());
    home.write(".copilot/mcp-config.json", "{}");
    apply(&mut plan, &mut ledger);
    assert!(plan.troubles.iter().any(|(_, trouble)| *trouble == Trouble::ChangedMeanwhile), "{:?}", plan.troubles);
    assert_eq!(home.read(".copilot/mcp-config.json"), "{}");
}

/// A folder where nothing can be made, for root neither.
#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_cannot_be_written_leaves_no_record() {
    let home = Home::new();
    std::os::unix::fs::symlink("/proc/self", home.path(".lmstudio")).unwrap();
    fs::create_dir(home.path(".copilot")).unwrap();
    let (done, troubles) = home.connect(Client::LmStudio);
    assert!(done.is_empty() && matches!(&troubles[..], [(_, Trouble::Write(_))]), "{troubles:?}");
    assert!(Ledger::read(&home.ledger()).unwrap().records().is_empty());
    home.connected(Client::Copilot);
}
