//! The tools that a server offers, by profile: those of memorist, or those of a system that it stands in for.
//!
//! | file | job |
//! |---|---|
//! | `tool.rs` | a tool: its definition, and what it calls |
//! | `core.rs`, `full.rs` | memorist's own: what every session needs, and everything |
//! | `mudpuppy.rs`, `memorizer.rs`, `krolik.rs` | those of other systems, by their names and shapes, over the same calls |
//! | `twin.rs` | a text that is there already, out of their sight |
//! | `*.json` | what `tools/list` answers, as it was agreed |

mod core;
mod full;
mod krolik;
mod memorizer;
mod mudpuppy;
mod tool;
mod twin;

#[cfg(test)]
mod stand_ins;
#[cfg(test)]
mod tests;

use std::sync::LazyLock;

pub use tool::{Answer, Served};

use crate::args::ProfileName;

/// What a server offers to its sessions.
pub struct Profile {
    /// What a model is told of the server as a whole.
    pub instructions: &'static str,
    /// The prompt to look something up; [`TOPIC`] stands for what.
    pub recall: &'static str,
    /// The prompt to keep what a conversation taught.
    pub remember: &'static str,
    /// Its tools, in the order in which they are listed.
    pub tools: Vec<Served>,
}

/// Stands for the topic in [`Profile::recall`].
pub const TOPIC: &str = "{topic}";

impl Profile {
    /// The profile of this name.
    pub fn of(name: ProfileName) -> &'static Profile {
        static CORE: LazyLock<Profile> = LazyLock::new(core::profile);
        static FULL: LazyLock<Profile> = LazyLock::new(full::profile);
        static MUDPUPPY: LazyLock<Profile> = LazyLock::new(mudpuppy::profile);
        static MEMORIZER: LazyLock<Profile> = LazyLock::new(memorizer::profile);
        static KROLIK: LazyLock<Profile> = LazyLock::new(krolik::profile);
        match name {
            ProfileName::Core => &CORE,
            ProfileName::Full => &FULL,
            ProfileName::Mudpuppy => &MUDPUPPY,
            ProfileName::Memorizer => &MEMORIZER,
            ProfileName::Krolik => &KROLIK,
        }
    }

    /// The tool of this name.
    pub fn tool(&self, name: &str) -> Option<&Served> {
        self.tools.iter().find(|tool| tool.definition.name == name)
    }
}
