//! The definition of a profile.

use super::tool::ToolDef;
use crate::tools::Tool;

/// The tools and texts that a server offers to its sessions.
pub struct Profile {
    /// The server's instructions for the model.
    pub instructions: &'static str,
    /// The prompt for a lookup; [`TOPIC`] is a placeholder.
    pub recall: &'static str,
    /// The prompt to save what a conversation taught.
    pub remember: &'static str,
    /// Its tools, in the order of `tools/list`.
    pub tools: Vec<ToolDef>,
}

/// The placeholder for the topic in [`Profile::recall`].
pub const TOPIC: &str = "{topic}";

impl Profile {
    pub fn new(instructions: &'static str, recall: &'static str, remember: &'static str, tools: Vec<Tool>) -> Self {
        Profile { instructions, recall, remember, tools: tools.into_iter().map(ToolDef::from).collect() }
    }

    pub fn tool(&self, name: &str) -> Option<&ToolDef> {
        self.tools.iter().find(|tool| tool.definition.name == name)
    }

    /// Whether a tool has this parameter.
    pub fn takes(&self, parameter: &str) -> bool {
        let properties = |tool: &ToolDef| tool.definition.input_schema.get("properties")?.get(parameter).cloned();
        self.tools.iter().any(|tool| properties(tool).is_some())
    }
}
