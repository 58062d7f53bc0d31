//! `memorist server`, as whoever looks after a team store runs it.

use std::process::{Command, Output};

use postgres_testing::{Database, shared};
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
    let refused = user.run(&["server", "status"]);
    assert_eq!((refused.status.code(), text(&refused.stderr).contains("`memorist server init`")), (Some(3), true));
    let made = document(&user.run(&["server", "init", "--json"]));
    assert_eq!((&made["formatBefore"], &made["storeId"].as_str().unwrap().len()), (&0.into(), &26));
    assert_eq!(document(&user.run(&["server", "init", "--json"]))["storeId"], made["storeId"]);
    assert!(user.run(&["server", "migrate"]).status.success());
    let add =
        ["server", "token", "add", "--project", "atlas", "--days", "9", "--read-only", "--label", "of Ana", "--json"];
    let token = document(&user.run(&add));
    assert_eq!((&token["project"], &token["rights"]), (&"atlas".into(), &"read".into()));
    assert_eq!(token["token"].as_str().unwrap().len(), 64);
    let mut other = user.command(&["server", "token", "add", "--json"]);
    let other = document(&other.env("MEMORIST_PROJECT", "of this machine").output().unwrap());
    assert!(other["project"].is_null(), "what the settings say about this machine binds no token");
    let listed = user.run(&["server", "token", "list", "--json"]);
    assert!(!text(&listed.stdout).contains(token["token"].as_str().unwrap()), "shown once");
    let listed = document(&listed);
    assert_eq!(listed["tokens"].as_array().unwrap().len(), 2);
    let shown = user.run(&["server", "token", "list"]);
    assert!(text(&shown.stdout).contains("project atlas, read only"), "{}", text(&shown.stdout));
    let id = token["id"].to_string();
    let revoked = [0, 1].map(|_| user.run(&["server", "token", "revoke", &id]).status.code());
    assert_eq!(revoked, [Some(0), Some(4)]);
    let status = document(&user.run(&["server", "status", "--json"]));
    assert_eq!((&status["storeId"], &status["tokens"], &status["memories"]), (&made["storeId"], &1.into(), &0.into()));
    assert!(status["warnings"][0].as_str().unwrap().contains("a failover may lose"), "{status}");
    let shown = user.run(&["server", "status"]);
    assert!(text(&shown.stdout).contains("PostgreSQL"), "{}", text(&shown.stdout));
}

#[test]
fn a_password_on_the_command_line_is_refused_and_one_in_a_private_file_is_used() {
    let Some(cluster) = shared("a_password_on_the_command_line_is_refused_and_one_in_a_private_file_is_used") else {
        return;
    };
    let database = cluster.database();
    let user = User::new(&database);
    let refused = user.run(&["server", "init", "--store", &database.address()]);
    assert_eq!((refused.status.code(), text(&refused.stderr).contains("PGPASSFILE")), (Some(2), true));
    let (name, password, rest) = user.address();
    let file = user.home.path().join("passwords");
    std::fs::write(&file, format!("*:*:*:{name}:{password}\n")).unwrap();
    let init = |mode: u32| {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
        let mut command = user.command(&["server", "init", "--store", &format!("postgres://{name}@{rest}")]);
        command.env_remove("PGPASSWORD").env("PGPASSFILE", &file).output().unwrap()
    };
    let exposed = init(0o644);
    assert!(!exposed.status.success(), "{}", text(&exposed.stdout));
    assert!(text(&exposed.stderr).contains("chmod 600"), "{}", text(&exposed.stderr));
    let used = init(0o600);
    assert!(used.status.success(), "{}", text(&used.stderr));
}
