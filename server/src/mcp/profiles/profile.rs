//! What a server offers to its sessions.

use super::tool::Served;

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
    /// The tool of this name.
    pub fn tool(&self, name: &str) -> Option<&Served> {
        self.tools.iter().find(|tool| tool.definition.name == name)
    }
}
