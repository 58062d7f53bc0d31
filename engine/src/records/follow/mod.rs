//! A node follows the server of a team: its `memory.db` is a copy of the records there.
//!
//! The server has the records, and writes what has changed to a table (`postgres/schema.rs`). A node asks for what is new before
//! each search, after each write of its own, and twice a second: [`Follower::pull`]. Where that does not do, it compares
//! itself with the server: [`Follower::compare`].
//!
//! | row | file | job |
//! |---|---|---|
//! | 0 | `tables.rs` | the tables that are copied |
//! | 0 | `cursor.rs` | how far a node has followed |
//! | 1 | `question.rs` | what it asks the server |
//! | 1 | `apply.rs` | rows of the server are written here |
//! | 1 | `purges.rs` | purges of other nodes |
//! | 2 | `pull.rs` | what is new comes over |
//! | 2 | `compare.rs` | everything is compared |
//! | 2 | `lost.rs` | what a promoted standby has lost is kept |
//! | 2 | `upkeep.rs` | what is done once a minute |
//! | 3 | `node.rs` | who this node is, and how it is doing |

mod apply;
pub(crate) mod compare;
mod cursor;
mod lost;
mod node;
mod pull;
mod purges;
mod question;
pub(crate) mod tables;
#[cfg(test)]
mod tests;
mod upkeep;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64};
use std::time::Duration;

use parking_lot::Mutex;
use ulid::Ulid;

pub use compare::Compared;
pub use node::NodeState;
pub(crate) use node::no_team;
pub(crate) use pull::Why;
pub(crate) use upkeep::note as note_accesses;

use self::node::Health;
use crate::config::{ExportFormat, Reads, TeamSettings};
use crate::error::Result;
use crate::paths::StorePaths;
use crate::records::meta;
use crate::records::postgres::connection::Pool;
use crate::records::postgres::transaction::Server;
use crate::records::sqlite::store::Database;
use crate::records::transaction::Authority;

/// The entry of `meta` with the id of a node.
const NODE: &str = "node";
/// What was fetched is written within this time.
const APPLY_TIMEOUT: Duration = Duration::from_secs(15);

/// A node's view of its server.
pub(crate) struct Follower {
    server: Server,
    /// The projects whose memories are copied; empty is all.
    follow: Vec<String>,
    reads: Reads,
    /// Where what the server has lost is kept.
    folder: PathBuf,
    /// What the node is called.
    name: String,
    /// One pull at a time.
    turn: Mutex<()>,
    /// Pulls that have begun, and the last of those that have succeeded.
    begun: AtomicU64,
    done: AtomicU64,
    health: Mutex<Health>,
    /// How far the clock of the server is ahead of this machine's, in milliseconds.
    ahead: AtomicI64,
    /// Whether this process removes what it knows: other nodes purge what they do not know.
    purges: AtomicBool,
    /// How what the server has lost is written.
    lost: ExportFormat,
}

impl Follower {
    /// That of a node whose copy is in a folder. Asks the server nothing.
    pub(crate) fn of(database: &Database, paths: &StorePaths, team: &TeamSettings) -> Result<Self> {
        let node = node_id(database)?;
        Ok(Follower {
            server: Server::new(Pool::new(team.address.clone()), node),
            follow: team.follow.clone(),
            reads: team.reads,
            folder: paths.root().to_owned(),
            name: team.node_name.clone(),
            turn: Mutex::default(),
            begun: AtomicU64::default(),
            done: AtomicU64::default(),
            health: Mutex::default(),
            ahead: AtomicI64::default(),
            purges: AtomicBool::default(),
            lost: team.lost,
        })
    }
}

/// The id of this node: a ULID, made when its folder is. The lineage of its indexes is that of the folder.
fn node_id(database: &Database) -> Result<String> {
    if let Some(node) = meta::text(&*database.reader()?, NODE)? {
        return Ok(node);
    }
    database.write(|tx| {
        if let Some(node) = meta::text(tx, NODE)? {
            return Ok(node);
        }
        let [node, lineage] = [(); 2].map(|()| Ulid::generate().to_string());
        meta::put(tx, NODE, (&node).into())?;
        meta::put(tx, "lineage", (&lineage).into())?;
        Ok(node)
    })
}
