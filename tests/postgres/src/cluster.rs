//! [`Cluster`]: a server: created, started, stopped, killed, paused.

use std::collections::HashSet;
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::process::{Child, ExitStatus};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use nix::sys::signal::Signal;
use postgres::{Client, Config, NoTls};

use crate::keeper::Keeper;
use crate::{certificates, processes, programs};

/// The owner of the databases, who has no other rights.
pub(crate) const OWNER: &str = "memorist";
pub(crate) const SUPERUSER: &str = "postgres";
/// The password of both.
pub(crate) const PASSWORD: &str = "for-tests-only";

/// Below the ports that the kernel gives to connections: a port stays free while its server is stopped.
const PORTS: std::ops::Range<u16> = 20_000..32_000;

/// Lines of the settings file; `ALTER SYSTEM` overrides them.
const SETTINGS: &str = "
shared_buffers = '32MB'
max_connections = 200
fsync = on
full_page_writes = on
wal_keep_size = '64MB'
# Files, so that a killed server leaves no memory behind.
dynamic_shared_memory_type = mmap
log_checkpoints = off
";

/// Options of a server.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// Lets everybody on loopback in. Otherwise a password is requested, by `scram-sha-256`.
    pub trust: bool,
    /// Encrypts connections of clients that want it. The certificate is one of `localhost`.
    pub tls: bool,
}

/// How a server is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// Transactions are rolled back, and everything is written.
    Fast,
    /// At once, as in a crash.
    Immediate,
}

impl Stop {
    fn signal(self) -> Signal {
        match self {
            Stop::Fast => Signal::SIGINT,
            Stop::Immediate => Signal::SIGQUIT,
        }
    }
}

/// A server, which ends with its value, and with this process.
pub struct Cluster {
    keeper: Keeper,
    port: u16,
    server: Mutex<Option<Server>>,
    /// Templates of databases that are filled.
    pub(crate) templates: Mutex<HashSet<String>>,
}

/// A server that runs.
struct Server {
    postmaster: Child,
    is_paused: bool,
}

impl Server {
    fn id(&self) -> i32 {
        i32::try_from(self.postmaster.id()).expect("process ids are small")
    }
}

impl Cluster {
    /// Creates a server and starts it.
    pub(crate) fn try_start(options: Options) -> Result<Self, String> {
        let keeper = Keeper::start()?;
        let password = keeper.write("password", PASSWORD)?;
        let mut initdb = programs::command(program("initdb"), keeper.folder());
        let auth = if options.trust { "trust" } else { "scram-sha-256" };
        initdb.args(["-D", "data", "--encoding=UTF8", "--locale=C", "--data-checksums", "--no-sync"]);
        initdb.args(["-U", SUPERUSER, "--pwfile"]).arg(password).args(["--auth-host", auth, "--auth-local", "reject"]);
        programs::run(&mut initdb)?;
        append(&keeper.folder().join("data/postgresql.conf"), SETTINGS)?;
        if options.tls {
            certificates::create(&keeper)?;
            append(&keeper.folder().join("data/postgresql.conf"), "ssl = on\n")?;
        }
        let cluster = Cluster::serve(keeper)?;
        cluster.execute(&format!("CREATE ROLE {OWNER} LOGIN PASSWORD '{PASSWORD}'"));
        Ok(cluster)
    }

    /// Starts the server of a folder, on a free port.
    pub(crate) fn serve(keeper: Keeper) -> Result<Self, String> {
        let mut cluster = Cluster { keeper, port: 0, server: Mutex::new(None), templates: Mutex::default() };
        loop {
            cluster.port = free_port();
            match cluster.launch() {
                // Somebody was faster.
                Err(log) if log.contains("could not bind") => {}
                outcome => return outcome.map(|()| cluster),
            }
        }
    }

    /// Starts the server again, after [`Cluster::stop`] or [`Cluster::kill`], where it was.
    ///
    /// # Panics
    /// If it runs, or does not start.
    pub fn start_again(&self) {
        self.launch().unwrap_or_else(|why| panic!("PostgreSQL does not start again: {why}"));
    }

    /// Stops the server and starts it again.
    ///
    /// # Panics
    /// If it does not run, or does not start.
    pub fn restart(&self) {
        self.stop(Stop::Fast);
        self.start_again();
    }

    /// Returns when connections are accepted.
    fn launch(&self) -> Result<(), String> {
        let mut server = self.lock();
        assert!(server.is_none(), "the server runs");
        let folder = self.keeper.folder();
        let mut command = programs::command(program("postgres"), folder);
        command.arg("-D").arg(folder.join("data")).arg("-p").arg(self.port.to_string());
        command.args(["-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="]);
        let postmaster = self.keeper.serve(&mut command, || self.connect(SUPERUSER, "postgres").is_ok())?;
        *server = Some(Server { postmaster, is_paused: false });
        Ok(())
    }

    /// Stops the server; returns when it has ended.
    ///
    /// # Panics
    /// If it does not run, or does not end.
    pub fn stop(&self, how: Stop) {
        let mut server = self.taken();
        processes::signal(server.id(), how.signal());
        processes::wait_until("the server stops", || has_ended(&mut server.postmaster).is_some());
    }

    /// Kills all processes of the server, as a machine that fails does.
    ///
    /// # Panics
    /// If it does not run.
    pub fn kill(&self) {
        let mut server = self.taken();
        processes::kill_all(server.id());
        processes::wait_until("the postmaster ends", || has_ended(&mut server.postmaster).is_some());
    }

    /// Stops all processes of the server where they are: connections stay, and nothing answers.
    ///
    /// # Panics
    /// If it does not run.
    pub fn pause(&self) {
        let mut server = self.lock();
        let server = server.as_mut().expect("the server runs");
        processes::pause(server.id());
        server.is_paused = true;
    }

    /// Lets them run again.
    ///
    /// # Panics
    /// If the server does not run.
    pub fn resume(&self) {
        let mut server = self.lock();
        let server = server.as_mut().expect("the server runs");
        processes::resume(server.id());
        server.is_paused = false;
    }

    /// Executes statements as the superuser.
    ///
    /// # Panics
    /// If they fail.
    pub fn execute(&self, sql: &str) {
        let outcome = self.client("postgres").batch_execute(sql);
        outcome.unwrap_or_else(|error| panic!("{sql}: {}", reason(&error)));
    }

    /// A connection of the superuser.
    ///
    /// # Panics
    /// If the server does not accept it.
    pub fn client(&self, database: &str) -> Client {
        self.connect(SUPERUSER, database).unwrap_or_else(|error| panic!("{database}: {}", reason(&error)))
    }

    fn connect(&self, user: &str, database: &str) -> Result<Client, postgres::Error> {
        let mut config = Config::new();
        config.host("127.0.0.1").port(self.port).user(user).password(PASSWORD).dbname(database);
        config.connect_timeout(Duration::from_secs(5)).connect(NoTls)
    }

    /// Changes a setting, such as `synchronous_standby_names`; an empty value is one, too. Settings that take a restart take
    /// effect with [`Cluster::restart`].
    ///
    /// # Panics
    /// If the server refuses it.
    pub fn set(&self, setting: &str, value: &str) {
        let loaded = |client: &mut Client| {
            let row = client.query_one("SELECT pg_conf_load_time()::text", &[]).expect("the time of the settings");
            row.get::<_, String>(0)
        };
        let before = loaded(&mut self.client("postgres"));
        self.execute(&format!("ALTER SYSTEM SET {setting} = '{}'", value.replace('\'', "''")));
        self.execute("SELECT pg_reload_conf()");
        // What connects from now on, and every older connection with its next statement.
        processes::wait_until("the settings are read", || loaded(&mut self.client("postgres")) != before);
    }

    /// The address of a database, for its owner, who is no superuser.
    pub fn address(&self, database: &str) -> String {
        format!("postgres://{OWNER}:{PASSWORD}@127.0.0.1:{}/{database}", self.port)
    }

    /// The address for TLS and a name of this machine, of which `localhost` is in the certificate. See [`Options::tls`].
    pub fn tls_address(&self, host: &str, database: &str) -> String {
        let roots = self.keeper.folder().join(certificates::ROOTS);
        let port = self.port;
        let trust = format!("sslmode=verify-full&sslrootcert={}", roots.display());
        format!("postgres://{OWNER}:{PASSWORD}@{host}:{port}/{database}?{trust}")
    }

    /// The port on loopback.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The folder that it is in: its data are in `data`.
    pub(crate) fn folder(&self) -> &Path {
        self.keeper.folder()
    }

    /// Replaces the rules of who may connect. Returns what is wrong with them.
    ///
    /// # Panics
    /// If they cannot be written.
    pub fn set_rules(&self, rules: &str) -> Vec<String> {
        self.keeper.write("data/pg_hba.conf", rules).expect("a file");
        let wrong = "SELECT error FROM pg_hba_file_rules WHERE error IS NOT NULL";
        let wrong = self.client("postgres").query(wrong, &[]).expect("rules").iter().map(|row| row.get(0)).collect();
        self.execute("SELECT pg_reload_conf()");
        wrong
    }

    /// The log of the server.
    pub fn log(&self) -> String {
        self.keeper.log()
    }

    /// Whether the server would answer.
    pub(crate) fn is_running(&self) -> bool {
        self.lock().as_ref().is_some_and(|server| !server.is_paused)
    }

    fn taken(&self) -> Server {
        self.lock().take().expect("the server runs")
    }

    fn lock(&self) -> MutexGuard<'_, Option<Server>> {
        self.server.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.keeper.end();
        if let Some(mut server) = self.lock().take() {
            _ = server.postmaster.wait();
        }
    }
}

fn has_ended(postmaster: &mut Child) -> Option<ExitStatus> {
    postmaster.try_wait().expect("a child of this process")
}

pub(crate) fn program(name: &str) -> std::path::PathBuf {
    programs::server().expect("callers look whether PostgreSQL is there").join(name)
}

/// The message of a client's error, whose `Display` leaves out the server's words.
pub(crate) fn reason(error: &postgres::Error) -> String {
    error.as_db_error().map_or_else(|| error.to_string(), ToString::to_string)
}

/// Adds lines to a file of settings; later ones win.
pub(crate) fn append(file: &Path, lines: &str) -> Result<(), String> {
    let add = || std::io::Write::write_all(&mut File::options().append(true).open(file)?, lines.as_bytes());
    add().map_err(|error: std::io::Error| format!("{}: {error}", file.display()))
}

/// A port that nobody listens on.
pub(crate) fn free_port() -> u16 {
    loop {
        let drawn = RandomState::new().hash_one(()) % u64::from(PORTS.end - PORTS.start);
        let port = PORTS.start + u16::try_from(drawn).expect("it is below the number of ports");
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return port;
        }
    }
}
