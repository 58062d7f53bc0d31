//! Servers for the tests do what the tests believe of them.

#![cfg(unix)]

use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use std::{env, thread};

use postgres::{Client, NoTls, SimpleQueryMessage};
use postgres_testing::{Cluster, Options, Stop};

fn connect(address: &str) -> Client {
    Client::connect(address, NoTls).expect("a connection")
}

fn rows(address: &str) -> i64 {
    connect(address).query_one("SELECT count(*) FROM notes", &[]).expect("rows").get(0)
}

fn with_notes(address: &str) {
    connect(address)
        .batch_execute("CREATE TABLE notes (text text); INSERT INTO notes VALUES ('one')")
        .expect("a table");
}

#[test]
fn databases_are_copies_of_a_template_that_is_filled_once() {
    let Some(cluster) = postgres_testing::shared("databases_are_copies_of_a_template_that_is_filled_once") else {
        return;
    };
    let (mut filled, start) = (0, Instant::now());
    let mut fill = |address: &str| {
        filled += 1;
        with_notes(address);
    };
    let one = cluster.database_from("notes", &mut fill);
    let first = start.elapsed();
    let other = cluster.database_from("notes", &mut fill);
    eprintln!("the first database took {first:?}, the second {:?}", start.elapsed() - first);
    assert_eq!(filled, 1);
    connect(&one.address()).batch_execute("INSERT INTO notes VALUES ('two')").expect("a row");
    assert_eq!((rows(&one.address()), rows(&other.address())), (2, 1));

    let is_superuser = "SELECT rolsuper FROM pg_roles WHERE rolname = current_user";
    assert!(!connect(&one.address()).query_one(is_superuser, &[]).expect("a role").get::<_, bool>(0));
    let (address, start) = (one.address(), Instant::now());
    drop(one);
    eprintln!("dropped in {:?}", start.elapsed());
    assert!(Client::connect(&address, NoTls).is_err());
}

#[test]
fn a_stopped_killed_or_paused_server_keeps_its_rows() {
    let name = "a_stopped_killed_or_paused_server_keeps_its_rows";
    let Some(cluster) = postgres_testing::start(name, Options { trust: true, ..Options::default() }) else { return };
    let database = cluster.database_from("notes", with_notes);
    let address = database.address();
    let without_password = address.replace(":for-tests-only", "");
    assert_ne!(without_password, address);
    assert_eq!(rows(&without_password), 1);

    let stops: [fn(&Cluster); 3] = [|it| it.stop(Stop::Fast), |it| it.stop(Stop::Immediate), Cluster::kill];
    for stop in stops {
        let mut client = connect(&address);
        client.batch_execute("INSERT INTO notes VALUES ('acknowledged')").expect("a row");
        client.batch_execute("BEGIN; INSERT INTO notes VALUES ('not acknowledged')").expect("a row");
        let before = rows(&address);
        stop(&cluster);
        assert!(client.batch_execute("COMMIT").is_err() && Client::connect(&address, NoTls).is_err());
        cluster.start_again();
        assert_eq!(rows(&address), before);
    }

    let mut client = connect(&address);
    cluster.pause();
    let (sender, receiver) = mpsc::channel();
    let waiting =
        thread::spawn(move || sender.send(client.batch_execute("INSERT INTO notes VALUES ('paused')").is_ok()));
    assert!(receiver.recv_timeout(Duration::from_millis(200)).is_err(), "a server that is paused does not answer");
    cluster.resume();
    assert_eq!(receiver.recv_timeout(Duration::from_secs(10)), Ok(true));
    waiting.join().expect("a thread").expect("somebody listens");

    cluster.set("work_mem", "5MB");
    assert_eq!(cluster.client("postgres").query_one("SHOW work_mem", &[]).expect("a row").get::<_, &str>(0), "5MB");
    cluster.restart();
    assert_eq!(rows(&address), 5);
}

#[test]
fn a_standby_follows_and_a_pooler_switches_to_it_if_promoted() {
    let name = "a_standby_follows_and_a_pooler_switches_to_it_if_promoted";
    let Some(primary) = postgres_testing::start(name, Options::default()) else { return };
    let database = primary.database_from("notes", with_notes);
    let start = Instant::now();
    let standby = primary.standby("second");
    eprintln!("a standby in {:?}", start.elapsed());
    let second = standby.address(database.name());
    database.execute("INSERT INTO notes VALUES ('two')");
    standby.catch_up_with(&primary);
    assert_eq!(rows(&second), 2);

    // A server that waits for its standby does not acknowledge what that one has not.
    primary.set("synchronous_standby_names", "second");
    standby.pause();
    let address = database.address();
    let (sender, receiver) = mpsc::channel();
    let insert = move || sender.send(connect(&address).batch_execute("INSERT INTO notes VALUES ('three')").is_ok());
    let waiting = thread::spawn(insert);
    assert!(receiver.recv_timeout(Duration::from_millis(300)).is_err());
    standby.resume();
    assert_eq!(receiver.recv_timeout(Duration::from_secs(10)), Ok(true));
    waiting.join().expect("a thread").expect("somebody listens");

    let start = Instant::now();
    let Some(pooler) = primary.pgbouncer(name, database.name()) else { return };
    eprintln!("a pooler in {:?}", start.elapsed());
    let mut client = connect(&pooler.address());
    let count = "SELECT count(*) FROM notes";
    assert_eq!(count_of(&mut client, count), Some(3));
    primary.kill();
    let start = Instant::now();
    standby.promote();
    eprintln!("promoted in {:?}", start.elapsed());
    pooler.retarget(&standby);
    // The client of a pooler stays connected.
    client.batch_execute("INSERT INTO notes VALUES ('four')").expect("the standby accepts writes");
    assert_eq!((count_of(&mut client, count), rows(&second)), (Some(4), 4));
    primary.start_again();
    pooler.retarget(&primary);
    assert_eq!(count_of(&mut client, count), Some(3), "{}", pooler.log());
}

fn count_of(client: &mut Client, sql: &str) -> Option<i64> {
    let messages = client.simple_query(sql).ok()?;
    messages.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0)?.parse().ok(),
        _ => None,
    })
}

#[test]
fn the_certificate_is_of_one_name() {
    let Some(cluster) =
        postgres_testing::start("the_certificate_is_of_one_name", Options { tls: true, ..Options::default() })
    else {
        return;
    };
    let psql = |host: &str, roots: &str| {
        let address = cluster.tls_address(host, "postgres");
        let address = address.replace("authority.pem", roots);
        let sql = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
        let output = Command::new("psql").args(["-XAt", "-c", sql, &address]).output().expect("psql");
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).trim().to_owned()
    };
    assert_eq!(psql("localhost", "authority.pem"), "t");
    let refused = psql("127.0.0.1", "authority.pem");
    assert!(refused.contains("does not match host name"), "{refused}");
    let refused = psql("localhost", "data/server.crt");
    assert!(refused.contains("certificate verify failed"), "{refused}");
}

#[test]
fn without_postgresql_a_test_is_left_out_by_name_or_fails() {
    let run = |required: &str| {
        let mut command = Command::new(env::current_exe().expect("this binary"));
        command.args(["--exact", "the_certificate_is_of_one_name"]);
        command.env("MEMORIST_TEST_POSTGRES_BIN", "/nowhere").env("MEMORIST_REQUIRE_POSTGRES", required);
        command.output().expect("a process")
    };
    let left_out = run("");
    let said = String::from_utf8_lossy(&left_out.stderr);
    assert!(left_out.status.success() && said.contains("LEFT OUT: the_certificate_is_of_one_name"), "{said}");
    assert!(!run("1").status.success());
}

/// A process with a server that is killed, and that does something to it before.
#[test]
#[ignore = "run by the next test in a process of its own"]
fn that_is_killed() {
    let Ok(before) = env::var("BEFORE") else { return };
    let cluster = postgres_testing::start("that_is_killed", Options::default()).expect("PostgreSQL");
    match before.as_str() {
        "paused" => cluster.pause(),
        "killed" => cluster.kill(),
        _ => {}
    }
    eprintln!("\nport {}", cluster.port());
    thread::sleep(Duration::from_secs(60));
}

#[test]
fn a_server_ends_with_its_process_and_leaves_nothing() {
    if !postgres_testing::available() {
        return;
    }
    for before in ["running", "paused", "killed"] {
        let parent = tempfile::tempdir().expect("a folder");
        // The server and its keeper may work as another user.
        fs::set_permissions(parent.path(), Permissions::from_mode(0o777)).expect("permissions");
        let mut child = Command::new(env::current_exe().expect("this binary"))
            .args(["--exact", "that_is_killed", "--ignored", "--nocapture"])
            .env("TMPDIR", parent.path())
            .env("BEFORE", before)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("a process");
        let mut lines = BufReader::new(child.stderr.take().expect("its stderr")).lines().map_while(Result::ok);
        let port = lines.find_map(|line| line.strip_prefix("port ")?.parse::<u16>().ok()).expect("it has a server");
        let is_listening = || TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok();
        assert_eq!(is_listening(), before != "killed");
        let folder =
            fs::read_dir(parent.path()).expect("a folder").next().expect("that of the server").expect("its name");
        let description = fs::read_to_string(folder.path().join("data/postmaster.pid")).expect("a description");
        let memory = description.lines().nth(6).and_then(|line| line.split_whitespace().nth(1)).expect("shared memory");
        let has_memory =
            || Command::new("ipcs").args(["-m", "-i", memory]).output().is_ok_and(|output| !output.stdout.is_empty());
        assert!(has_memory());

        child.kill().expect("it is killed");
        child.wait().expect("it ends");
        let start = Instant::now();
        while folder.path().exists() {
            assert!(start.elapsed() < Duration::from_secs(20), "{before}: the server is still there");
            thread::sleep(Duration::from_millis(10));
        }
        eprintln!("{before}: gone after {:?}", start.elapsed());
        assert!(!is_listening() && !has_memory());
    }
}

/// 40.9.
#[test]
fn the_examples_of_deploy_run() {
    let options = Options { tls: true, ..Options::default() };
    let Some(primary) = postgres_testing::start("the_examples_of_deploy_run", options) else { return };
    let (standby, archive) = primary.deploy();
    let mut client = primary.client("postgres");
    let state = "SELECT count(*) FROM pg_stat_replication WHERE application_name = 'standby' AND sync_state = 'quorum'";
    wait_until(|| client.query_one(state, &[]).expect("a state").get::<_, i64>(0) == 1);
    let slot = "SELECT count(*) FROM pg_replication_slots WHERE slot_name = 'standby' AND active";
    assert_eq!(client.query_one(slot, &[]).expect("slots").get::<_, i64>(0), 1);
    client.batch_execute("CREATE TABLE kept (text text); SELECT pg_switch_wal()").expect("a table");
    standby.catch_up_with(&primary);
    wait_until(|| fs::read_dir(&archive).expect("the archive").count() > 0);
    assert_eq!(primary.set_rules(include_str!("../../../deploy/pg_hba.conf")), Vec::<String>::new());
    primary.execute("CREATE DATABASE team OWNER memorist");
    connect(&primary.address("team")).batch_execute("SELECT 1").expect("on the server itself, with a password");
    assert!(!primary.set_rules("host all all 0.0.0.0/0 nonsense").is_empty());
}

fn wait_until(done: impl FnMut() -> bool) {
    let (start, mut done) = (Instant::now(), done);
    while !done() {
        assert!(start.elapsed() < Duration::from_secs(60), "it takes too long");
        thread::sleep(Duration::from_millis(50));
    }
}
