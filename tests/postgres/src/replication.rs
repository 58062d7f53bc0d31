//! Standbys: copied from a primary, following it, promoted.

use std::env;
use std::path::{Path, PathBuf};

use crate::cluster::{Cluster, PASSWORD, SUPERUSER, append, program};
use crate::keeper::Keeper;
use crate::{processes, programs};

impl Cluster {
    /// A standby that receives what this server writes, under a name for `synchronous_standby_names`. The server does not
    /// wait for it unless [`Cluster::set`] says so. `set("primary_conninfo", "")` on the standby ends its receiving.
    ///
    /// # Panics
    /// If it cannot be created, or does not start.
    pub fn standby(&self, name: &str) -> Cluster {
        let create = || {
            let keeper = Keeper::start()?;
            let primary = self.port();
            let address =
                format!("host=127.0.0.1 port={primary} user={SUPERUSER} password={PASSWORD} application_name={name}");
            let mut copy = programs::command(program("pg_basebackup"), keeper.folder());
            copy.args(["-D", "data", "--write-recovery-conf", "--wal-method=stream", "--checkpoint=fast", "--no-sync"]);
            programs::run(copy.args(["-d", &address]))?;
            // Copied, too. What waits for a standby is this server, not that one once it is promoted.
            append(&keeper.folder().join("data/postgresql.auto.conf"), "synchronous_standby_names = ''\n")?;
            Cluster::serve(keeper)
        };
        create().unwrap_or_else(|why: String| panic!("the standby {name}: {why}"))
    }

    /// Makes this server the primary of `deploy/compose.yaml`, with an archive, and returns the standby of it.
    ///
    /// # Panics
    /// If a script of `deploy/` fails, or the standby does not start.
    pub fn deploy(&self) -> (Cluster, PathBuf) {
        let deploy = || {
            let archive = self.folder().join("archive");
            programs::run(programs::command("mkdir", self.folder()).arg(&archive))?;
            self.run_script(include_str!("../../../deploy/primary.sh"), self.folder(), &archive)?;
            self.restart();
            let keeper = Keeper::start()?;
            self.run_script(include_str!("../../../deploy/standby.sh"), keeper.folder(), &archive)?;
            append(&keeper.folder().join("data/postgresql.auto.conf"), "archive_mode = off\n")?;
            Ok((Cluster::serve(keeper)?, archive))
        };
        deploy().unwrap_or_else(|why: String| panic!("the example of deploy/: {why}"))
    }

    /// Runs a script as the image of PostgreSQL does. The server of a standby only says its version.
    fn run_script(&self, script: &str, folder: &Path, archive: &Path) -> Result<(), String> {
        let port = self.port().to_string();
        let programs = program("psql").parent().map(Path::to_owned).unwrap_or_default();
        let path = env::join_paths([programs, "/usr/bin".into(), "/bin".into()]).map_err(|error| error.to_string())?;
        let mut bash = programs::command("bash", folder);
        bash.args(["-c", script, "script", "--version"]).env("PATH", path);
        bash.envs([("PGHOST", "127.0.0.1"), ("PGPORT", &port), ("PGPASSWORD", PASSWORD)]);
        bash.envs([("POSTGRES_USER", SUPERUSER), ("POSTGRES_DB", "postgres"), ("REPLICATION_PASSWORD", "of standbys")]);
        bash.envs([("PRIMARY", "127.0.0.1"), ("PRIMARY_PORT", &port)]).env("ARCHIVE", archive);
        programs::run(bash.env("PGDATA", folder.join("data")))
    }

    /// Waits until this standby shows everything that is committed on its primary now.
    ///
    /// # Panics
    /// If it does not come that far.
    pub fn catch_up_with(&self, primary: &Cluster) {
        let position = "SELECT pg_current_wal_lsn()::text";
        let committed: String = primary.client("postgres").query_one(position, &[]).expect("a position").get(0);
        let mut client = self.client("postgres");
        let replayed = format!("SELECT pg_last_wal_replay_lsn() >= '{committed}'");
        processes::wait_until("the standby catches up", || {
            client.query_one(&replayed, &[]).expect("a position").get::<_, Option<bool>>(0) == Some(true)
        });
    }

    /// Makes this standby a primary; returns when it accepts writes.
    ///
    /// # Panics
    /// If it is no standby, or takes too long.
    pub fn promote(&self) {
        let outcome = self.client("postgres").query_one("SELECT pg_promote(true, 30)", &[]);
        assert!(outcome.expect("a standby").get::<_, bool>(0), "the standby was not promoted: {}", self.log());
    }
}
