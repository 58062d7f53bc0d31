//! 40.8: messages say what is wrong, and what to do about it.

use super::*;
use crate::records::transaction::{Authority, SelectExt};
use crate::team::TeamServer;

/// The error of a node with this address that cannot follow.
fn said(address: &str) -> String {
    Node::of(address).follow().unwrap_err().to_string()
}

/// The address of a database without user and password.
fn place(team: &TeamDatabase<'_>) -> String {
    team.address().rsplit_once('@').unwrap().1.to_owned()
}

#[test]
fn a_password_that_is_missing_is_asked_for_with_its_line() {
    let Some(team) = team("a_password_that_is_missing") else { return };
    let said = said(&format!("postgres://ana@{}", place(&team)));
    let line = format!("127.0.0.1:{}:{}:ana:PASSWORD", port_of(&team.address()), team.name());
    assert!(said.contains(&line) && said.contains(".pgpass") && said.contains("PGPASSWORD"), "{said}");
    assert!(!said.contains("cannot be reached"), "{said}");
}

#[test]
fn a_server_without_a_free_connection_says_so() {
    let Some(team) = team("a_server_without_a_free_connection") else { return };
    let role = format!("crowd_{}", team.name());
    team.execute(&format!("CREATE ROLE {role} LOGIN PASSWORD 'changeme' CONNECTION LIMIT 0"));
    let said = said(&format!("postgres://{role}:changeme@{}", place(&team)));
    assert!(said.contains("all its connections are in use") && said.contains("max_connections"), "{said}");
}

/// A starting server has the same error code as a stopping one.
#[cfg(target_os = "linux")]
#[test]
fn a_server_that_starts_or_stops_is_waited_for() {
    let options = postgres_testing::Options::default();
    let Some(cluster) = postgres_testing::start("a_server_that_starts_or_stops", options) else { return };
    let team = cluster.database_from("team", make);
    let mut client = team.client();
    let child: i32 = client.query_one("SELECT pg_backend_pid()", &[]).unwrap().get(0);
    let status = std::fs::read_to_string(format!("/proc/{child}/status")).unwrap();
    let server = status.lines().find_map(|line| line.strip_prefix("PPid:")).unwrap().trim().to_owned();
    // It ends when this client has.
    assert!(std::process::Command::new("kill").args(["-TERM", &server]).status().unwrap().success());
    let said = (0..50).map(|_| said(&team.address())).find(|said| said.contains("starting up or shutting down"));
    let said = said.expect("it takes no new connections");
    assert!(said.contains("try again in a moment") && !said.contains("cannot be reached"), "{said}");
    drop(client);
    cluster.restart();
}

#[test]
fn a_full_disk_of_a_node_is_not_taken_for_that_of_the_server() {
    let Some(team) = team("a_full_disk_of_a_node") else { return };
    let (node, other) = (Node::of(&team.address()), Node::of(&team.address()));
    node.add(&new("before"), NOW).unwrap();
    let pages = |most: u32| {
        let sql = format!("PRAGMA max_page_count = {most}");
        node.copy().write_unsynced(|tx| tx.first(&sql, &[], |row| row.get::<i64>(0))).unwrap();
    };
    pages(1);
    other.add(&new(&"a long text. ".repeat(9_000)), NOW).unwrap();
    node.follow().unwrap_err();
    let said = node.warnings().join("; ");
    assert!(said.contains("the disk of this machine is full") && said.contains("memory.db"), "{said}");
    let id = node.add(&new("saved all the same"), NOW).unwrap().id;
    assert!(other.get(id, &Viewer::OWNER, NOW).unwrap().is_some());
    pages(u32::MAX - 1);
    node.follow().unwrap();
    assert_eq!((node.warnings(), node.matching_count()), (Vec::new(), 3));
}

/// Moves the clock of the server by this many minutes.
fn set_clock(team: &TeamDatabase<'_>, minutes: i32) {
    let (clock, set) =
        (r"clock_timestamp\(\)( \+ interval '[^']*')?", format!("clock_timestamp() + interval '{minutes} minutes'"));
    let news = "pg_get_functiondef('memorist.news'::regproc)";
    team.execute(&format!("DO $$ BEGIN EXECUTE regexp_replace({news}, $a${clock}$a$, $a${set}$a$); END $$"));
}

#[test]
fn a_node_uses_the_server_clock_and_warns_of_skew() {
    let Some(team) = team("a_node_uses_the_server_clock") else { return };
    let folder = tempfile::tempdir().unwrap();
    let open = || Records::open_node(&StorePaths::new(folder.path()), &settings(&team.address(), &[])).unwrap();
    let node = open();
    node.follow(&NoProgress).unwrap();
    assert_eq!(
        (node.clock_ahead(), node.warnings()),
        (0, Vec::new()),
        "a difference within the time of a question is \
         ignored"
    );
    let minutes = |node: &Records| (node.clock_ahead() + 500).div_euclid(60_000);
    for (set, warned) in [(5, "5 minutes behind"), (1, ""), (-3, "3 minutes ahead of")] {
        set_clock(&team, set);
        // The first read with the other clock is done again by it.
        let at = node.read(|| Ok(node.clock_ahead())).unwrap();
        assert_eq!((at, minutes(&node)), (node.clock_ahead(), set.into()), "{set}");
        let said = node.warnings().join("; ");
        assert!(said.contains(warned) && said.is_empty() == warned.is_empty(), "{set}: {said}");
        // A new process goes by it from the beginning, whether the server answers or not.
        assert_eq!(minutes(&open()), i64::from(set));
    }
}

/// A process that has nothing to ask reads the copy of another one, and goes by its clock.
#[test]
fn a_process_that_does_not_pull_notices_a_server_clock_change() {
    let Some(team) = team("a_process_that_does_not_pull") else { return };
    let folder = tempfile::tempdir().unwrap();
    let open = || Records::open_node(&StorePaths::new(folder.path()), &settings(&team.address(), &[])).unwrap();
    let [first, second] = [open(), open()];
    for minutes in [5, -3, 0] {
        set_clock(&team, minutes);
        assert!(first.follow_for_all(&NoProgress).unwrap() && !second.follow_for_all(&NoProgress).unwrap());
        assert_eq!(second.clock_ahead(), first.clock_ahead());
        assert_eq!((second.clock_ahead() + 500).div_euclid(60_000), i64::from(minutes));
        assert_eq!(second.warnings().is_empty(), minutes == 0, "{:?}", second.warnings());
    }
}

#[test]
fn the_status_of_a_server_warns_of_clocks_that_differ() {
    let Some(team) = team("the_status_of_a_server_warns_of_clocks") else { return };
    let warned = || {
        let status = TeamServer::new(ServerAddress::parse(&team.address()).unwrap()).status().unwrap();
        status.warnings().into_iter().find(|warning| warning.contains("the clock of this machine"))
    };
    assert_eq!(warned(), None);
    team.execute(&format!("CREATE SCHEMA other; GRANT USAGE ON SCHEMA other TO PUBLIC; ALTER DATABASE {} SET search_path = other, pg_catalog", team.name()));
    for (minutes, expected) in [(1, None), (5, Some("5 minutes behind")), (-3, Some("3 minutes ahead of"))] {
        team.execute(&format!(
            "CREATE OR REPLACE FUNCTION other.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS
                 $$ SELECT pg_catalog.clock_timestamp() + interval '{minutes} minutes' $$"
        ));
        let said = warned();
        assert_eq!(said.is_some(), expected.is_some(), "{minutes}: {said:?}");
        assert!(said.unwrap_or_default().contains(expected.unwrap_or_default()), "{minutes}");
    }
}
