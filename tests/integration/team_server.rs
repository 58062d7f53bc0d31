//! `memorist team`, as an operator of a team store runs it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStderr, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use postgres_testing::{Database, Options, Stop, shared, start};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{document, memorist, text};

/// A user of a team store.
struct User<'a> {
    home: TempDir,
    database: &'a Database<'a>,
}

impl<'a> User<'a> {
    fn new(database: &'a Database<'a>) -> Self {
        User { home: tempfile::tempdir().unwrap(), database }
    }

    /// The user, the password, and the rest of the address.
    fn address(&self) -> (String, String, String) {
        let address = self.database.address();
        let (credentials, rest) = address.strip_prefix("postgres://").unwrap().split_once('@').unwrap();
        let (user, password) = credentials.split_once(':').unwrap();
        (user.to_owned(), password.to_owned(), rest.to_owned())
    }

    /// A command that is given the address in the environment.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_memorist"));
        let made_by = memorist(self.home.path(), &[]);
        for (name, value) in made_by.get_envs() {
            if value.is_none() {
                command.env_remove(name);
            }
        }
        command.env("MEMORIST_STORE", self.database.address()).env("MEMORIST_CACHE", self.home.path());
        command.env("HOME", self.home.path()).env("XDG_DATA_HOME", self.home.path()).current_dir(self.home.path());
        command.args(arguments).arg("--config").arg(self.home.path().join("memorist.toml"));
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let output = self.command(arguments).output().unwrap();
        let (_, password, _) = self.address();
        for stream in [&output.stdout, &output.stderr] {
            assert!(!text(stream).contains(&password), "{arguments:?} shows the password: {}", text(stream));
        }
        output
    }
}

#[test]
fn a_team_store_is_made_looked_at_and_given_tokens() {
    let Some(cluster) = shared("a_team_store_is_made_looked_at_and_given_tokens") else { return };
    let database = cluster.database();
    let user = User::new(&database);
    let refused = user.run(&["team", "status"]);
    assert_eq!((refused.status.code(), text(&refused.stderr).contains("`memorist team init`")), (Some(3), true));
    let made = document(&user.run(&["team", "init", "--json"]));
    assert_eq!((&made["formatBefore"], &made["storeId"].as_str().unwrap().len()), (&0.into(), &26));
    assert_eq!(document(&user.run(&["team", "init", "--json"]))["storeId"], made["storeId"]);
    assert!(user.run(&["team", "migrate"]).status.success());
    let add =
        ["team", "token", "add", "--project", "atlas", "--days", "9", "--read-only", "--label", "of Ana", "--json"];
    let token = document(&user.run(&add));
    assert_eq!((&token["project"], &token["rights"]), (&"atlas".into(), &"read".into()));
    assert_eq!(token["token"].as_str().unwrap().len(), 64);
    let mut other = user.command(&["team", "token", "add", "--json"]);
    let other = document(&other.env("MEMORIST_PROJECT", "of this machine").output().unwrap());
    assert!(other["project"].is_null(), "what the settings say about this machine binds no token");
    // 40.9.
    assert!(other["expiresAt"].is_string(), "a token ends, unless that is refused: {other}");
    let endless = document(&user.run(&["team", "token", "add", "--no-expiry", "--json"]));
    assert!(endless["expiresAt"].is_null(), "{endless}");
    assert!(user.run(&["team", "token", "revoke", &endless["id"].to_string()]).status.success());
    let listed = user.run(&["team", "token", "list", "--json"]);
    assert!(!text(&listed.stdout).contains(token["token"].as_str().unwrap()), "shown once");
    let listed = document(&listed);
    assert_eq!(listed["tokens"].as_array().unwrap().len(), 2);
    let shown = user.run(&["team", "token", "list"]);
    assert!(text(&shown.stdout).contains("project atlas, read only"), "{}", text(&shown.stdout));
    let id = token["id"].to_string();
    let revoked = [0, 1].map(|_| user.run(&["team", "token", "revoke", &id]).status.code());
    assert_eq!(revoked, [Some(0), Some(4)]);
    let status = document(&user.run(&["team", "status", "--json"]));
    assert_eq!((&status["storeId"], &status["tokens"], &status["memories"]), (&made["storeId"], &1.into(), &0.into()));
    assert!(status["warnings"][0].as_str().unwrap().contains("a failover may lose"), "{status}");
    let shown = user.run(&["team", "status"]);
    assert!(text(&shown.stdout).contains("PostgreSQL"), "{}", text(&shown.stdout));
}

#[test]
fn a_password_is_read_from_a_private_file_and_not_an_argument() {
    let Some(cluster) = shared("a_password_is_read_from_a_private_file_and_not_an_argument") else {
        return;
    };
    let database = cluster.database();
    let user = User::new(&database);
    let refused = user.run(&["team", "init", "--store", &database.address()]);
    assert_eq!((refused.status.code(), text(&refused.stderr).contains("PGPASSFILE")), (Some(2), true));
    let (name, password, rest) = user.address();
    let file = user.home.path().join("passwords");
    std::fs::write(&file, format!("*:*:*:{name}:{password}\n")).unwrap();
    let init = |mode: u32| {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
        let mut command = user.command(&["team", "init", "--store", &format!("postgres://{name}@{rest}")]);
        command.env_remove("PGPASSWORD").env("PGPASSFILE", &file).output().unwrap()
    };
    let exposed = init(0o644);
    assert!(!exposed.status.success(), "{}", text(&exposed.stdout));
    let advice = text(&exposed.stderr).lines().last().unwrap_or_default();
    assert!(advice.contains("chmod 600") && !advice.contains("add the line"), "{}", text(&exposed.stderr));
    let used = init(0o600);
    assert!(used.status.success(), "{}", text(&used.stderr));
}

/// A server of agents over HTTP, ended when it is dropped.
struct Agents {
    process: Child,
    address: String,
    /// Empty if it requires none.
    own_token: String,
    _stderr: BufReader<ChildStderr>,
}

impl Agents {
    fn start(user: &User<'_>, arguments: &[&str]) -> Self {
        Self::of_profile(user, "full", arguments)
    }

    fn of_profile(user: &User<'_>, profile: &str, arguments: &[&str]) -> Self {
        let arguments = [&["serve", "--profile", profile, "--http", "127.0.0.1:0"], arguments].concat();
        let mut command = user.command(&arguments);
        let mut process = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stderr = BufReader::new(process.stderr.take().unwrap());
        let mut said = String::new();
        while !said.ends_with("\n}\n") {
            assert_ne!(stderr.read_line(&mut said).unwrap(), 0, "it ended: {said}");
        }
        let settings: Value = serde_json::from_str(&said[said.find("\n{").unwrap()..]).unwrap();
        let settings = &settings["mcpServers"]["memorist"];
        let address = settings["url"].as_str().unwrap().strip_prefix("http://").unwrap().strip_suffix("/mcp").unwrap();
        let header = &settings["headers"]["Authorization"];
        let own_token = header.as_str().map_or("", |header| header.strip_prefix("Bearer ").unwrap());
        let (address, own_token) = (address.to_owned(), own_token.to_owned());
        Agents { process, address, own_token, _stderr: stderr }
    }

    /// The status and the body of an answer. An empty token counts as no token.
    fn send(&self, method: &str, path: &str, token: &str, body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let length = body.len();
        let own = if token.is_empty() { String::new() } else { format!("Authorization: Bearer {token}\r\n") };
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\n{own}Connection: close\r\n\
             Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: {length}\r\n\r\n"
        );
        stream.write_all((head + body).as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
    }

    /// The result of a tool, as its text where it has no other; an error of the tool as its text.
    fn call(&self, token: &str, tool: &str, arguments: Value) -> Result<Value, String> {
        let params = json!({ "name": tool, "arguments": arguments });
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string();
        let (status, body) = self.send("POST", "/mcp", token, &message);
        if status != 200 {
            return Err(status.to_string());
        }
        let body: Value = serde_json::from_str(&body).unwrap();
        let result = &body["result"];
        match result["isError"].as_bool() {
            Some(true) => Err(result["content"][0]["text"].as_str().unwrap().to_owned()),
            _ => Ok(result.get("structuredContent").unwrap_or(&result["content"][0]["text"]).clone()),
        }
    }
}

impl Drop for Agents {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

#[test]
fn a_team_token_keeps_its_client_in_scope_until_revoked() {
    let test = "a_team_token_keeps_its_client_in_scope_until_revoked";
    let Some(cluster) = shared(test) else { return };
    let database = cluster.database();
    let user = User::new(&database);
    assert!(user.run(&["team", "init"]).status.success());
    let token = |arguments: &[&str]| {
        let token = document(&user.run(&[&["team", "token", "add", "--json"], arguments].concat()));
        (token["id"].to_string(), token["token"].as_str().unwrap().to_owned())
    };
    let (of_atlas, atlas) = token(&["--project", "atlas"]);
    let (_, reader) = token(&["--read-only"]);
    let agents = Agents::start(&user, &[]);
    let other = json!({ "content": "hermes sails at nine", "project": "hermes" });
    agents.call(&agents.own_token, "memory_add", other).unwrap();
    let saved = agents.call(&atlas, "memory_add", json!({ "content": "atlas sails at ten" })).unwrap();
    let own = agents.call(&agents.own_token, "memory_get", json!({ "id": saved["id"], "project": "atlas" })).unwrap();
    assert_eq!(own["entry"]["project"], "atlas");
    let found = agents.call(&atlas, "memory_search", json!({ "query": "sails" })).unwrap().to_string();
    assert!(found.contains("atlas sails") && !found.contains("hermes sails"), "{found}");
    for project in ["hermes", "*"] {
        let refused =
            agents.call(&atlas, "memory_search", json!({ "query": "sails", "project": project })).unwrap_err();
        assert!(refused.contains("your token is bound to project \"atlas\""), "{refused}");
    }
    let refused = agents.call(&reader, "memory_add", json!({ "content": "not this" })).unwrap_err();
    assert!(refused.contains("read-only token"), "{refused}");
    let found = agents.call(&reader, "memory_search", json!({ "query": "sails", "project": "*" })).unwrap().to_string();
    assert!(found.contains("atlas sails") && found.contains("hermes sails"), "{found}");
    // The one tool for files reads, too.
    let files = Agents::of_profile(&user, "files", &[]);
    let create = json!({ "command": "create", "path": "/memories/a.md", "file_text": "The anchor is up." });
    let refused = files.call(&reader, "memory", create.clone()).unwrap_err();
    assert!(refused.contains("read-only token"), "{refused}");
    files.call(&files.own_token, "memory", create).unwrap();
    let view = |token: &str, path: &str| files.call(token, "memory", json!({ "command": "view", "path": path }));
    assert!(view(&reader, "/memories/a.md").unwrap().to_string().contains("The anchor is up."));
    assert!(view(&reader, "/memories/search/anchor").unwrap().to_string().contains("is the file /memories/a.md"));
    assert!(view(&atlas, "/memories/a.md").unwrap_err().contains("does not exist"));
    files.call(&files.own_token, "memory", json!({ "command": "delete", "path": "/memories/a.md" })).unwrap();
    drop(files);
    let (status, figures) = agents.send("GET", "/metrics", &agents.own_token, "");
    let line = |name: &str| figures.lines().any(|line| line.starts_with(name) && !line.ends_with(" 0"));
    assert!(status == 200 && line("memorist_replication_pulls_total"), "{figures}");
    assert!(line("memorist_replication_pull_seconds_total") && line("memorist_replica_lag_seconds"), "{figures}");
    assert!(
        figures.contains("\nmemorist_memories 2\n") && figures.contains("\nmemorist_primary_down 0\n"),
        "{figures}"
    );
    assert_eq!([&atlas, &reader].map(|token| agents.send("GET", "/metrics", token, "").0), [403, 200]);
    // 40.9.
    assert_eq!(agents.send("GET", "/healthz", "", ""), (200, "running\n".into()));
    assert_eq!(agents.send("GET", "/readyz", "", ""), (200, "ready\n".into()));
    let unknown = "0".repeat(64);
    assert_eq!(agents.call(&unknown, "memory_search", json!({ "query": "sails" })), Err("401".into()));
    assert!(user.run(&["team", "token", "revoke", &of_atlas]).status.success());
    let began = Instant::now();
    while agents.call(&atlas, "memory_search", json!({ "query": "sails" })).is_ok() {
        assert!(began.elapsed() < Duration::from_secs(20), "a revoked token still answers");
        thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(agents.call(&atlas, "memory_search", json!({ "query": "sails" })), Err("401".into()));
    // A server that keeps to one project lets nobody see another by a token.
    let (_, hermes) = token(&["--project", "hermes"]);
    let only = Agents::start(&user, &["--isolate", "--project", "atlas"]);
    let refusal = || only.call(&hermes, "memory_search", json!({ "query": "sails" })).unwrap_err();
    let began = Instant::now();
    while refusal() == "401" {
        assert!(began.elapsed() < Duration::from_secs(20), "a new token stays unknown");
        thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(refusal(), "403");
    let found = only.call(&reader, "memory_search", json!({ "query": "sails" })).unwrap().to_string();
    assert!(found.contains("atlas sails") && !found.contains("hermes sails"), "{found}");
    // One that requires no token binds who sends one all the same.
    let open = Agents::start(&user, &["--no-token"]);
    let search = |token: &str| {
        let found = open.call(token, "memory_search", json!({ "query": "sails" }))?.to_string();
        Ok::<_, String>([found.contains("atlas sails"), found.contains("hermes sails")])
    };
    assert_eq!(open.own_token, "");
    let all = open.call("", "memory_search", json!({ "query": "sails", "project": "*" })).unwrap().to_string();
    assert!(all.contains("atlas sails") && all.contains("hermes sails"), "{all}");
    assert_eq!(search(&hermes), Ok([false, true]));
    let refused = open.call(&hermes, "memory_search", json!({ "query": "sails", "project": "atlas" })).unwrap_err();
    assert!(refused.contains("your token is bound to project \"hermes\""), "{refused}");
    assert_eq!([search(&unknown), search(&atlas)], [Err("401".into()), Err("401".into())]);
}

/// 40.9.
#[test]
fn a_token_for_several_projects_is_for_one_of_them_in_each_call() {
    let Some(cluster) = shared("a_token_for_several_projects_is_for_one_of_them_in_each_call") else { return };
    let database = cluster.database();
    let user = User::new(&database);
    assert!(user.run(&["team", "init"]).status.success());
    let add = |arguments: &[&str]| {
        let mut command = user.command(&[&["team", "token", "add", "--json"], arguments].concat());
        command.env("MEMORIST_PROJECT", "of this machine").output().unwrap()
    };
    let both = ["--project", "atlas", "--project", "borealis"];
    let token = document(&add(&both));
    assert_eq!((&token["project"], &token["projects"]), (&"atlas".into(), &json!(["atlas", "borealis"])));
    let reader = document(&add(&[&both[..], &["--read-only", "--label", "reader"]].concat()));
    let id = token["id"].to_string();
    for name in ["*", ""] {
        let refused = add(&["--project", "atlas", "--project", name]);
        let said = text(&refused.stdout);
        assert!(!refused.status.success() && said.contains("project: "), "{said}");
        assert_eq!(document(&add(&["--project", name, "--read-only"]))["projects"], json!([]));
    }
    let listed = user.run(&["team", "token", "list"]);
    assert!(text(&listed.stdout).contains("projects atlas and borealis, read only"), "{}", text(&listed.stdout));
    let secret = |token: &Value| token["token"].as_str().unwrap().to_owned();
    let (token, reader) = (secret(&token), secret(&reader));

    let agents = Agents::start(&user, &[]);
    for (project, content) in [(Value::Null, "global sails"), ("hermes".into(), "hermes sails")] {
        agents.call(&agents.own_token, "memory_add", json!({ "content": content, "project": project })).unwrap();
    }
    let of_atlas = agents.call(&token, "memory_add", json!({ "content": "atlas sails" })).unwrap()["id"].clone();
    let borealis = json!({ "content": "borealis sails", "project": "borealis" });
    let of_borealis = agents.call(&token, "memory_add", borealis).unwrap()["id"].clone();
    let get = |id: &Value| agents.call(&agents.own_token, "memory_get", json!({ "id": id, "project": "*" })).unwrap();
    assert_eq!(get(&of_atlas)["entry"]["project"], "atlas");
    assert_eq!(get(&of_borealis)["entry"]["project"], "borealis");
    let found = |agents: &Agents, token: &str, project: Option<&str>| {
        let mut query = json!({ "query": "sails" });
        query["project"] = project.map_or(Value::Null, Value::from);
        query.as_object_mut().unwrap().retain(|_, value| !value.is_null());
        let found = agents.call(token, "memory_search", query)?.to_string();
        let all = ["global", "atlas", "borealis", "hermes"].into_iter();
        Ok::<_, String>(all.filter(|name| found.contains(&format!("{name} sails"))).collect::<Vec<_>>())
    };
    let named = "your token is bound to project \"atlas\" or \"borealis\"; name one of them";
    for token in [&token, &reader] {
        assert_eq!(found(&agents, token, None).unwrap(), ["global", "atlas"]);
        assert_eq!(found(&agents, token, Some("atlas")).unwrap(), ["global", "atlas"]);
        assert_eq!(found(&agents, token, Some("borealis")).unwrap(), ["global", "borealis"]);
        for other in ["hermes", "*"] {
            let refused = found(&agents, token, Some(other)).unwrap_err();
            assert!(refused.contains(named), "{refused}");
        }
        assert_eq!(agents.send("GET", "/metrics", token, "").0, 403);
    }
    let of_atlas = json!({ "id": of_atlas, "importance": 9, "project": "borealis" });
    for change in [json!({ "id": of_borealis, "importance": 9 }), of_atlas] {
        let refused = agents.call(&token, "memory_update", change).unwrap();
        assert!(refused["error"].as_str().unwrap().contains("not found"), "{refused}");
    }
    let change = json!({ "id": of_borealis, "importance": 9, "project": "borealis" });
    let refused = agents.call(&reader, "memory_update", change.clone()).unwrap_err();
    assert!(refused.contains("read-only token"), "{refused}");
    agents.call(&token, "memory_update", change).unwrap();
    let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } });
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello }).to_string();
    let said = |token: &str| agents.send("POST", "/mcp", token, &hello).1.replace('\\', "");
    let said = [&token, &agents.own_token].map(|token| said(token).contains("projects \"atlas\", \"borealis\""));
    assert_eq!(said, [true, false]);

    // A purge of what a project has leaves the project to the token, and says that its name stays there.
    let purge = json!({ "text": "borealis sails", "confirm": true, "project": "borealis" });
    agents.call(&token, "memory_purge", purge).unwrap();
    let purge = json!({ "text": "borealis", "confirm": true, "project": "*", "agent": "*" });
    let purged = agents.call(&agents.own_token, "memory_purge", purge).unwrap().to_string();
    assert!(purged.contains("the project of a token"), "{purged}");
    assert_eq!(found(&agents, &token, Some("borealis")).unwrap(), ["global"]);

    // Of several, a server that keeps to one project serves that one.
    let only = Agents::start(&user, &["--isolate", "--project", "borealis"]);
    assert_eq!(found(&only, &token, None).unwrap(), ["global"]);
    let refused = found(&only, &token, Some("atlas")).unwrap_err();
    assert!(refused.contains("your token is bound to project \"borealis\"; omit project"), "{refused}");
    let only = Agents::start(&user, &["--isolate", "--project", "hermes"]);
    assert_eq!(found(&only, &token, None), Err("403".into()));

    assert!(user.run(&["team", "token", "revoke", &id]).status.success());
    let began = Instant::now();
    while found(&agents, &token, Some("borealis")).is_ok() {
        assert!(began.elapsed() < Duration::from_secs(20), "a revoked token still answers");
        thread::sleep(Duration::from_millis(100));
    }
    for project in [None, Some("atlas"), Some("borealis")] {
        assert_eq!(found(&agents, &token, project), Err("401".into()));
    }
    assert_eq!(found(&agents, &reader, Some("borealis")).unwrap(), ["global"], "another token for the same");
    database.execute("UPDATE memorist.tokens SET expires_at = 1 WHERE label = 'reader'");
    while found(&agents, &reader, Some("borealis")).is_ok() {
        assert!(began.elapsed() < Duration::from_secs(40), "an expired token still answers");
        thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(found(&agents, &reader, None), Err("401".into()));
}

#[test]
fn a_copy_is_compared_and_the_doctor_knows_the_server() {
    let Some(cluster) = shared("a_copy_is_compared_and_the_doctor_knows_the_server") else { return };
    let database = cluster.database();
    let user = User::new(&database);
    assert!(user.run(&["team", "init"]).status.success());
    assert!(user.run(&["add", "the amber key"]).status.success());
    let compared = document(&user.run(&["team", "resync", "--json"]));
    assert_eq!((&compared["differed"], &compared["lost"]), (&0.into(), &0.into()));
    assert_eq!(user.run(&["team", "base-backup"]).status.code(), Some(2), "no folder is named");
    let images = user.home.path().join("images");
    let image = document(&user.run(&["team", "base-backup", images.to_str().unwrap(), "--json"]));
    assert!(image["bytes"].as_u64().unwrap() > 0 && images.read_dir().unwrap().count() == 1, "{image}");
    let doctor = user.run(&["doctor", "--json"]);
    let server = document(&doctor)["server"].clone();
    assert_eq!((doctor.status.code(), &server["reachable"], &server["memories"]), (Some(0), &true.into(), &1.into()));
    assert!(server["copyAgeMillis"].as_u64().unwrap() < 60_000 && server["problem"].is_null(), "{server}");
    assert!(text(&user.run(&["doctor"]).stdout).contains("team server  ok"));
    let mut away = user.command(&["doctor", "--json"]);
    let (name, _, rest) = user.address();
    let database = rest.split_once('/').unwrap().1;
    away.env("MEMORIST_STORE", format!("postgres://{name}@127.0.0.1:1/{database}"));
    let away = away.output().unwrap();
    assert!(!away.status.success(), "{}", text(&away.stdout));
}

#[test]
fn a_node_keeps_what_the_server_lost_and_searches_offline() {
    let test = "a_node_keeps_what_the_server_lost_and_searches_offline";
    let Some(cluster) = start(test, Options::default()) else { return };
    let database = cluster.database();
    let user = User::new(&database);
    assert!(user.run(&["team", "init"]).status.success());
    for text in ["the amber key", "the birch gate"] {
        assert!(user.run(&["add", text]).status.success());
    }
    // As on a standby that was promoted before the last moments had reached it: no change of it is noted.
    database.execute(
        "ALTER TABLE memorist.records DISABLE TRIGGER USER;
         DELETE FROM memorist.records WHERE content = 'the birch gate';
         ALTER TABLE memorist.records ENABLE TRIGGER USER",
    );
    cluster.restart();
    let compared = document(&user.run(&["team", "resync", "--json"]));
    assert_eq!(compared["lost"], 1, "{compared}");
    assert_eq!(document(&user.run(&["stats", "--json"]))["totalEntries"], 1);
    let teams = user.home.path().join("memorist/teams");
    let team = std::fs::read_dir(&teams).unwrap().next().unwrap().unwrap().path();
    let mut kept: Vec<_> = std::fs::read_dir(team).unwrap().map(|entry| entry.unwrap().path()).collect();
    // Beside who this node is.
    kept.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    let [file] = &kept[..] else { panic!("{kept:?}") };
    let imported = user.run(&["import", file.to_str().unwrap()]);
    assert!(imported.status.success(), "{}", text(&imported.stderr));
    let found = user.run(&["search", "birch", "--json"]);
    assert_eq!(document(&found)["results"][0]["content"], "the birch gate");
    // Without its server a node searches what it has, and the doctor says so.
    cluster.stop(Stop::Fast);
    let found = user.run(&["search", "birch", "--json"]);
    assert_eq!(document(&found)["results"][0]["content"], "the birch gate");
    let doctor = user.run(&["doctor", "--json"]);
    let server = document(&doctor)["server"].clone();
    assert_eq!((doctor.status.code(), &server["reachable"]), (Some(3), &false.into()), "{server}");
    assert!(server["problem"].as_str().unwrap().contains("cannot be reached"), "{server}");
    assert!(!user.run(&["add", "not now"]).status.success());
}

#[test]
fn a_store_moves_to_a_team_and_back_and_is_the_same() {
    let Some(cluster) = shared("a_store_moves_to_a_team_and_back_and_is_the_same") else { return };
    let database = cluster.database();
    let user = User::new(&database);
    let folder = user.home.path().join("own");
    let folder = folder.to_str().unwrap();
    let own = |arguments: &[&str]| user.run(&[arguments, &["--store", folder]].concat());
    for (text, project) in [("the amber key", "atlas"), ("the birch gate", ""), ("the cedar door", "hermes")] {
        assert!(own(&["add", text, "--project", project]).status.success());
    }
    assert!(own(&["update", "2", "--content", "the birch gate is open", "--reason", "it was opened"]).status.success());
    assert!(own(&["link", "1", "related", "3", "--project", "*"]).status.success());
    let (name, password, rest) = user.address();
    let address = format!("postgres://{name}@{rest}");
    let moved = |from: &str, to: &str| {
        let mut command = user.command(&["move", from, to, "--json"]);
        command.env("PGPASSWORD", &password).env_remove("MEMORIST_STORE").output().unwrap()
    };
    let refused = moved(folder, &address);
    assert!(
        !refused.status.success() && text(&refused.stdout).contains("`memorist team init`"),
        "{}",
        text(&refused.stdout)
    );
    assert!(user.run(&["team", "init"]).status.success());
    let there = json!({ "memories": 3, "links": 1, "othersThere": 0 });
    for _ in 0..2 {
        let output = moved(folder, &address);
        assert!(output.status.success(), "{}", text(&output.stdout));
        assert_eq!(document(&output), there);
    }
    let back = user.home.path().join("back");
    assert_eq!(document(&moved(&address, back.to_str().unwrap())), there);
    let export = |store: &str| {
        let output = user.run(&["export", "--store", store]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout).to_owned()
    };
    assert_eq!(export(back.to_str().unwrap()), export(folder));
    let history = user.run(&["history", "2", "--store", back.to_str().unwrap()]);
    assert!(text(&history.stdout).contains("it was opened"), "{}", text(&history.stdout));
    // One that changed meanwhile is not said to be the same.
    assert!(user.run(&["update", "1", "--importance", "9", "--project", "*"]).status.success());
    let differs = moved(folder, &address);
    assert!(!differs.status.success() && text(&differs.stdout).contains("the amber key"), "{}", text(&differs.stdout));
    let password = moved(folder, &database.address());
    assert!(text(&password.stdout).contains("PGPASSFILE"), "{}", text(&password.stdout));
    assert_eq!(moved(folder, folder).status.code(), Some(2));
}

#[test]
fn a_role_that_is_let_in_has_its_projects_alone_on_its_disk() {
    let Some(cluster) = shared("a_role_that_is_let_in_has_its_projects_alone_on_its_disk") else { return };
    let database = cluster.database();
    let user = User::new(&database);
    assert!(user.run(&["team", "init"]).status.success());
    for project in ["atlas", "hermes"] {
        assert!(user.run(&["add", &format!("{project} sails"), "--project", project]).status.success());
    }
    let role = format!("role_of_{}", database.name());
    cluster.execute(&format!("CREATE ROLE {role} LOGIN PASSWORD 'for a test'"));
    let added = user.run(&["team", "member", "add", &role, "atlas", "--json"]);
    assert!(added.status.success(), "{}", text(&added.stdout));
    let listed = document(&user.run(&["team", "member", "list", "--json"]));
    assert_eq!(listed["members"], json!([{ "role": role, "projects": ["atlas"] }]));
    let search = || {
        let (_, _, rest) = user.address();
        let mut command = user.command(&["search", "sails", "--project", "*", "--json"]);
        command.env("MEMORIST_STORE", format!("postgres://{role}@{rest}")).env("PGPASSWORD", "for a test");
        let output = command.output().unwrap();
        (output.status.success(), text(&output.stdout).to_owned())
    };
    let (found, shown) = search();
    assert!(found && shown.contains("atlas sails") && !shown.contains("hermes sails"), "{shown}");
    assert!(user.run(&["team", "member", "remove", &role]).status.success());
    assert_eq!(document(&user.run(&["team", "member", "list", "--json"]))["members"], json!([]));
    drop(database);
    cluster.execute(&format!("DROP ROLE {role}"));
}

/// 40.3.
#[test]
fn a_node_says_of_a_project_that_it_does_not_follow_it() {
    let Some(cluster) = shared("a_node_says_of_a_project_that_it_does_not_follow_it") else { return };
    let database = cluster.database();
    let user = User::new(&database);
    assert!(user.run(&["team", "init"]).status.success());
    let follow = |projects: &str| {
        std::fs::write(user.home.path().join("memorist.toml"), format!("[team]\nprojects = {projects}\n")).unwrap();
    };
    follow("[\"hermes\"]");
    let says_so = |output: &Output| {
        let said = text(&output.stderr).to_owned() + text(&output.stdout);
        assert!(output.status.success(), "{said}");
        said.contains("does not replicate the project \"atlas\"") && said.contains("`projects` below [team]")
    };
    let [add, search, list] = [&["add", "the amber key"][..], &["search", "amber"], &["list"]]
        .map(|command| [command, &["--project", "atlas"]].concat());
    assert!(says_so(&user.run(&add)));
    assert!(says_so(&user.run(&search)) && says_so(&user.run(&list)));
    assert!(!says_so(&user.run(&["search", "amber", "--project", "hermes"])));
    for command in ["stats", "digest"] {
        assert!(says_so(&user.run(&[command, "--project", "atlas"])), "{command}");
    }
    let missing = user.run(&["get", "1", "--project", "atlas"]);
    assert!(!missing.status.success() && text(&missing.stderr).contains("does not replicate the project \"atlas\""));
    let some = "this node replicates some projects only";
    let of_all = user.run(&["search", "amber", "--project", "*"]);
    assert!(text(&of_all.stdout).contains(some), "{}", text(&of_all.stdout));
    let core = Agents::of_profile(&user, "core", &[]);
    let mudpuppy = Agents::of_profile(&user, "mudpuppy", &["--project", "atlas"]);
    let says = |agents: &Agents, tool: &str, arguments: Value, what: &str| {
        let said = agents.call(&agents.own_token, tool, arguments).map_or_else(|error| error, |said| said.to_string());
        assert!(said.contains(what), "{tool}: {said}");
    };
    let atlas = "this node does not replicate the project ";
    for tool in ["memory_stats", "memory_digest", "memory_list"] {
        says(&core, tool, json!({ "project": "atlas" }), atlas);
        says(&core, tool, json!({ "project": "*" }), some);
    }
    says(&core, "memory_search", json!({ "query": "amber", "project": "atlas" }), atlas);
    says(&core, "memory_search", json!({ "query": "amber", "project": "*" }), some);
    says(&core, "memory_get", json!({ "id": 1, "project": "atlas" }), atlas);
    says(&mudpuppy, "memory_search", json!({ "query": "amber" }), atlas);
    says(&mudpuppy, "memory_get", json!({ "id": 1 }), atlas);
    drop((core, mudpuppy));
    follow("[\"hermes\", \"atlas\"]");
    let found = user.run(&search);
    assert!(!says_so(&found) && text(&found.stdout).contains("the amber key"), "{}", text(&found.stdout));
    follow("[]");
    let of_all = user.run(&["search", "amber", "--project", "*"]);
    assert!(!text(&of_all.stdout).contains(some) && text(&of_all.stdout).contains("the amber key"));
    assert_eq!(std::fs::read_dir(user.home.path().join("nodes")).unwrap().count(), 1, "one copy");
}

/// 40.2: what a restored server lacks of a project, which it lacks as a whole, can be imported with its links.
#[test]
fn a_project_lost_by_the_server_is_imported_with_its_links() {
    let test = "a_project_lost_by_the_server_is_imported_with_its_links";
    let Some(cluster) = start(test, Options::default()) else { return };
    let database = cluster.database();
    let user = User::new(&database);
    assert!(user.run(&["team", "init"]).status.success());
    assert!(user.run(&["add", "the amber key"]).status.success());
    assert!(user.run(&["add", "the birch gate", "--project", "hermes", "--related", "1"]).status.success());
    database.execute(
        "SET session_replication_role = replica; DELETE FROM memorist.links;
         DELETE FROM memorist.records WHERE content = 'the birch gate'; DELETE FROM memorist.scopes WHERE project = 'hermes'",
    );
    cluster.restart();
    let compared = document(&user.run(&["team", "resync", "--json"]));
    assert_eq!((&compared["lost"], &compared["lostLinks"]), (&1.into(), &1.into()), "{compared}");
    let teams = user.home.path().join("memorist/teams");
    let team = std::fs::read_dir(&teams).unwrap().next().unwrap().unwrap().path();
    let files = std::fs::read_dir(team).unwrap().map(|entry| entry.unwrap().path());
    let file = files.into_iter().find(|path| path.extension().is_some_and(|ending| ending == "jsonl")).unwrap();
    let imported = user.run(&["import", file.to_str().unwrap()]);
    assert!(imported.status.success(), "{}", text(&imported.stderr));
    let found = document(&user.run(&["search", "birch", "--project", "hermes", "--json"]));
    assert_eq!(found["results"][0]["content"], "the birch gate");
    let id = found["results"][0]["id"].to_string();
    let links = user.run(&["get", &id, "--project", "hermes", "--json"]);
    let links = document(&links)["entry"]["links"].clone();
    assert_eq!((links.as_array().unwrap().len(), &links[0]["id"]), (1, &1.into()), "{links}");
}

/// 40.8.
#[test]
fn the_server_clock_decides_expiry_and_relative_times() {
    let Some(cluster) = shared("the_server_clock_decides_expiry_and_relative_times") else { return };
    let database = cluster.database();
    let user = User::new(&database);
    assert!(user.run(&["team", "init"]).status.success());
    let set_clock = |minutes: i64| {
        let clock = r"clock_timestamp\(\)( \+ interval '[^']*')?";
        let set = format!("clock_timestamp() + interval '{minutes} minutes'");
        let news = "pg_get_functiondef('memorist.news'::regproc)";
        database.execute(&format!("DO $$ BEGIN EXECUTE regexp_replace({news}, $a${clock}$a$, $a${set}$a$); END $$"));
        // From here on, the node knows.
        assert!(user.run(&["list"]).status.success());
    };
    let in_minutes = |minutes: i64| (memorist_engine::now() + minutes * 60_000).to_string();
    let run = |arguments: &[&str]| user.run(&[arguments, &["--json"]].concat());
    let add = |content: &str, at: &str| run(&["add", content, "--expires-at", at]);
    let ends_in = |id: &str| {
        let at = document(&run(&["get", id]))["entry"]["expiresAt"].as_i64().unwrap();
        (at - memorist_engine::now() + 30_000).div_euclid(60_000)
    };
    set_clock(30);
    let refused = add("the ferry is late", &in_minutes(20));
    let said = text(&refused.stdout);
    assert!(!refused.status.success() && said.contains("is in the past"), "{said}");
    let saved = document(&add("the ferry is late", "in 10 minutes"));
    let id = saved["id"].to_string();
    assert_eq!(ends_in(&id), 40);
    assert!(run(&["update", &id, "--expires-at", "in 20 minutes"]).status.success());
    assert_eq!(ends_in(&id), 50);
    assert!(run(&["update", &id, "--expires-at", &in_minutes(35)]).status.success());
    assert_eq!(ends_in(&id), 35, "a moment is a moment");
    set_clock(-30);
    assert!(add("the ferry is early", &in_minutes(-20)).status.success());
}
