//! A team store for tests.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::address::ServerAddress;
use super::connection::Pool;
use super::schema::MIGRATIONS;
use super::transaction::Server;

const URL: &str = "postgres://postgres@127.0.0.1:55432";

fn execute(database: &str, sql: &str) {
    let pool = Pool::new(ServerAddress::parse(&format!("{URL}/{database}")).unwrap());
    pool.lend().unwrap().batch_execute(sql).unwrap();
}

/// A database of a team store, empty.
pub(crate) fn new_database() -> String {
    static TEMPLATE: OnceLock<String> = OnceLock::new();
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let own = std::process::id();
    let template = TEMPLATE.get_or_init(|| {
        let name = format!("template_{own}");
        execute("postgres", &format!("CREATE DATABASE {name}"));
        let migrations = MIGRATIONS.map(|migration| migration()).concat();
        execute(&name, &format!("CREATE SCHEMA memorist; SET search_path = memorist; {migrations}"));
        name
    });
    let name = format!("test_{own}_{}", COUNT.fetch_add(1, Ordering::Relaxed));
    static ONE: parking_lot::Mutex<()> = parking_lot::Mutex::new(());
    let _one = ONE.lock();
    execute("postgres", &format!("CREATE DATABASE {name} TEMPLATE {template}"));
    name
}

/// A server with an empty team store.
pub(crate) fn server() -> Server {
    let address = ServerAddress::parse(&format!("{URL}/{}", new_database())).unwrap();
    Server::new(Pool::new(address), "01JAAAAAAAAAAAAAAAAAAAAAAA".into())
}
