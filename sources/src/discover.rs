//! Finds the transcripts of agents and the notes on this machine.
//!
//! Only the folders where agents and Obsidian keep their files and the working folder are searched, never a whole home folder.
//! Links inside a place are not followed. Unreadable files are listed with their problem.
//!
//! | file | job |
//! |---|---|
//! | `place.rs` | a place that was found |
//! | `found.rs` | the list of places: each once, none inside another |
//! | `survey.rs` | the size of a place |
//! | `notes.rs` | memories and instructions of agents |
//! | `vaults.rs` | Obsidian vaults |

mod found;
mod notes;
mod place;
mod survey;
#[cfg(test)]
mod tests;
mod vaults;

use std::path::Path;

use self::found::Discovery;
pub use self::place::{Place, What};
use crate::formats::{self, Format};
use crate::machine::Machine;

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
    let mut found = Discovery::new(machine, progress);
    for format in formats {
        for place in format.places(machine) {
            found.transcripts(*format, &place);
        }
    }
    vaults::find(machine, &mut found);
    notes::of_agents(machine, &mut found);
    if let Some(folder) = working_folder {
        // The project's own folder has them, wherever in it one works.
        let root = folder.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(folder);
        for format in formats {
            for folder in folder.ancestors().take_while(|folder| folder.starts_with(root)) {
                format.places_in(folder).iter().for_each(|place| found.transcripts(*format, place));
            }
        }
        notes::of_working_folder(folder, &mut found);
    }
    found.places()
}
