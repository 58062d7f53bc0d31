//! The sources that were added on this node, in a file that the server does not change. The server has the sources of all nodes. A
//! role that may write there could add one for another node, and would get the files of that machine.

use std::collections::BTreeMap;
use std::fs;

use memorist_durable::LockedFile;
use serde_json::json;

use super::follower::Follower;
use crate::error::{Error, Result};
use crate::files::{private_file, private_folders};
use crate::records::rules::files::kind_code;
use crate::types::NewSource;

/// Beside the id of the node: it outlives the copy.
const FILE: &str = "sources.json";
/// Locked while the file is replaced.
const LOCK: &str = "sources.lock";

impl Follower {
    /// Whether this source was added here, as it is.
    pub(crate) fn is_own_source(&self, source: &NewSource) -> bool {
        let (which, how) = written(source);
        self.own_sources().get(&which) == Some(&how)
    }

    /// Notes a source that is added here.
    pub(crate) fn note_source(&self, source: &NewSource) -> Result<()> {
        self.change_sources(|all| {
            let (which, how) = written(source);
            all.insert(which, how);
        })
    }

    /// Forgets one that is removed.
    pub(crate) fn forget_source(&self, source: &NewSource) -> Result<()> {
        self.change_sources(|all| drop(all.remove(&written(source).0)))
    }

    /// A file that cannot be read is as if none had been added: then they have to be added again.
    fn own_sources(&self) -> Sources {
        let text = fs::read_to_string(self.lost_folder.join(FILE)).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    fn change_sources(&self, change: impl FnOnce(&mut Sources)) -> Result<()> {
        let file = self.lost_folder.join(FILE);
        let io = |error| Error::io(&file, error);
        private_folders().create(&self.lost_folder).map_err(io)?;
        let lock = self.lost_folder.join(LOCK);
        let _lock = private_file().create(true).truncate(false).open(&lock).and_then(LockedFile::lock).map_err(io)?;
        let mut all = self.own_sources();
        let before = all.clone();
        change(&mut all);
        if all == before {
            return Ok(());
        }
        memorist_durable::replace(&file, json!(all).to_string().as_bytes()).map_err(|error| io(error.into()))
    }
}

/// Sources as the file has them: which one, and what of it is read for whom.
type Sources = BTreeMap<String, String>;

fn written(source: &NewSource) -> (String, String) {
    let NewSource { kind, path, format, globs, scope } = source;
    let which = json!([kind_code(*kind), path, format]);
    (which.to_string(), json!([globs, scope.agent, scope.project]).to_string())
}
