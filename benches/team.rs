//! Costs of a team store: a server, with `fsync` on, and nodes of it, all on this machine.
//!
//! - Adds per second with 1 to 32 writers, on one node and on four, and how long each waits: the knee of the load.
//! - From an acknowledged write to a read on another node, also while others write.
//! - A hybrid search on a node against one of a local store with the same 20,000 memories, by turns.
//! - Pulls per second that bring nothing.
//! - A fresh node of 100,000 memories with their vectors, before its graph.
//!
//! `MEMORIST_BENCH_PARTS` names those to run: `adds`, `visible`, `search`, `pulls`, `fresh`. Needs PostgreSQL.
//! Run: `cargo bench --bench team`

#[cfg(unix)]
mod common;
#[cfg(unix)]
#[path = "team/costs.rs"]
mod costs;

fn main() {
    #[cfg(unix)]
    costs::measure();
    #[cfg(not(unix))]
    eprintln!("the servers of this bench, as those of the tests, are started on Unix alone");
}
