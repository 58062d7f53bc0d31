//! What is on this machine: agents' transcripts, and notes.
//!
//! It looks where agents and Obsidian keep their files and into the working folder, never through a whole home folder.
//! Links inside a place are not followed. What cannot be read is listed with its problem.
//!
//! | file | job |
//! |---|---|
//! | `found.rs` | the list of places: each once, none inside another |
//! | `survey.rs` | how much there is in a place |
//! | `notes.rs` | memories and instructions of agents |
//! | `vaults.rs` | Obsidian vaults |

mod found;
mod notes;
mod survey;
#[cfg(test)]
mod tests;
mod vaults;

use std::path::{Path, PathBuf};

use self::found::Found;
use crate::formats::{self, Format};
use crate::machine::Machine;

/// A file or a folder that can be added as a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Where it is.
    pub path: PathBuf,
    /// What is there.
    pub what: What,
    /// How many files of this kind there are.
    pub files: u64,
    /// Their size.
    pub bytes: u64,
    /// When the newest was changed, in Unix milliseconds.
    pub newest: Option<i64>,
    /// Why some of it, or all, was not read.
    pub problem: Option<String>,
}

/// What is in a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// Transcripts.
    Sessions {
        /// The name of their [`Format`].
        format: &'static str,
    },
    /// Notes.
    Notes {
        /// Whose or what they are, in words: `an Obsidian vault`.
        about: &'static str,
    },
}

/// Finds the transcripts of every format, and the notes of agents, Obsidian and the working folder. `progress` is called
/// with each folder that is looked into. `working_folder` is an absolute path.
pub fn discover(machine: &Machine, working_folder: Option<&Path>, progress: &mut dyn FnMut(&Path)) -> Vec<Place> {
    discover_in(formats::all(), machine, working_folder, progress)
}

fn discover_in(
    formats: &[&dyn Format],
    machine: &Machine,
    working_folder: Option<&Path>,
    progress: &mut dyn FnMut(&Path),
) -> Vec<Place> {
    let mut found = Found::new(machine, progress);
    for format in formats {
        for place in format.places(machine) {
            found.transcripts(*format, &place);
        }
    }
    vaults::find(machine, &mut found);
    notes::of_agents(machine, &mut found);
    if let Some(folder) = working_folder {
        notes::of_working_folder(folder, &mut found);
    }
    found.places()
}
