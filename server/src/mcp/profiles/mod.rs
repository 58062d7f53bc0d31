//! The tools that a server offers, by profile: those of memorist, or those of a system that it replaces.
//!
//! | file | job |
//! |---|---|
//! | `profile.rs` | a profile |
//! | `tool.rs` | a tool of a profile, made from one of `tools` |
//! | `meta.rs` | which tools a client loads at once, and what it finds the others by |
//! | `core.rs` | what every session needs; the profile `full` is the registry, `tools/table.rs` |
//! | `files.rs` | Claude's memory tool |
//! | `mudpuppy.rs`, `memorizer.rs`, `krolik.rs`, `gimli.rs` | tools of other systems, over the same operations |
//! | `*.json` | snapshots of `tools/list` |

mod core;
mod files;
mod gimli;
mod krolik;
mod memorizer;
mod meta;
mod mudpuppy;
mod profile;
mod tool;

#[cfg(test)]
mod compatibility;
#[cfg(test)]
mod gimli_files;
#[cfg(test)]
mod shared_store;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod usage;

use std::sync::OnceLock;

pub use profile::{Profile, TOPIC};
pub use tool::ToolDef;

use crate::args::ProfileName;
use crate::tools::TOOLS;

/// How many profiles there are.
const PROFILES: usize = 7;

/// The parameters that name a project, which is the first, or an agent, in every profile.
pub const SCOPES: [&str; 4] = ["project", "agent", "agent_id", "agentId"];

impl Profile {
    pub fn of(name: ProfileName) -> &'static Profile {
        static MADE: [OnceLock<Profile>; PROFILES] = [const { OnceLock::new() }; PROFILES];
        MADE[name as usize].get_or_init(|| Profile::made(name))
    }

    /// The profile without parameters that name a project or an agent, for a server with `--isolate`.
    pub fn of_only(name: ProfileName) -> &'static Profile {
        static MADE: [OnceLock<Profile>; PROFILES] = [const { OnceLock::new() }; PROFILES];
        MADE[name as usize].get_or_init(|| Profile::made(name).without(&SCOPES))
    }

    /// The profile without parameters that name an agent, for a client whose token has several projects.
    pub fn of_projects(name: ProfileName) -> &'static Profile {
        static MADE: [OnceLock<Profile>; PROFILES] = [const { OnceLock::new() }; PROFILES];
        MADE[name as usize].get_or_init(|| Profile::made(name).without(&SCOPES[1..]))
    }

    fn without(self, parameters: &[&str]) -> Profile {
        let tools = self.tools.into_iter().map(|tool| tool.without(parameters));
        Profile { tools: tools.collect(), ..self }
    }

    fn made(name: ProfileName) -> Profile {
        match name {
            ProfileName::Core => core::profile(),
            ProfileName::Full => core::with_tools(TOOLS.clone()),
            ProfileName::Files => files::profile(),
            ProfileName::Mudpuppy => mudpuppy::profile(),
            ProfileName::Memorizer => memorizer::profile(),
            ProfileName::Krolik => krolik::profile(),
            ProfileName::Gimli => gimli::profile(),
        }
    }
}
