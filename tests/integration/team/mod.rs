//! Nodes of a team store, on real servers. What each rule of replication means for a searching client.
//!
//! | file | content |
//! |---|---|
//! | `cache.rs` | a node that is killed while it copies |
//! | `commits.rs` | connections that are cut in a COMMIT, and writers that are killed there |
//! | `outage.rs` | a promoted standby and a killed node, while eight write |
//! | `reads.rs` | what was acknowledged is found by the next search on another node; filters hold |

mod cache;
mod commits;
mod outage;
mod reads;

use std::thread;
use std::time::{Duration, Instant};

use memorist_engine::Engine;
use memorist_engine::config::{ServerAddress, TeamSettings};
use memorist_engine::progress::NoProgress;
use memorist_engine::team::TeamServer;

use crate::support::{Setup, Store, hashed_with};

/// A node of the team store with this address.
pub fn settings(address: &str) -> TeamSettings {
    TeamSettings::new(ServerAddress::parse(address).expect("an address"), "test")
}

fn setup(address: &str) -> Setup {
    hashed_with(|config| {
        config.team = Some(settings(address));
        config.log_searches = false;
    })
}

fn node(address: &str) -> Store {
    Store::new(setup(address))
}

fn make(address: &str) {
    TeamServer::new(ServerAddress::parse(address).expect("an address")).init().expect("a team store");
}

/// Ends a process at once.
fn kill(process: u32) {
    let killed = std::process::Command::new("kill").args(["-9", &process.to_string()]).status().unwrap();
    assert!(killed.success());
}

/// Until every vector is in every node.
fn settle(nodes: &[&Engine]) {
    let since = Instant::now();
    loop {
        for node in nodes {
            node.embed_pending(&NoProgress).unwrap();
            node.flush(&NoProgress).unwrap();
        }
        let stats = nodes.iter().map(|node| node.index_stats().unwrap());
        if stats.clone().all(|stats| stats.unapplied == 0 && stats.vectors == stats.documents) {
            return;
        }
        assert!(since.elapsed() < Duration::from_secs(30), "{:?}", stats.collect::<Vec<_>>());
        thread::sleep(Duration::from_millis(50));
    }
}
