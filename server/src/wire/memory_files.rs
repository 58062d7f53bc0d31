//! Parameters of Claude's memory tool `memory_20250818`, by Anthropic's documentation.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

use super::schema::{EMPTY, VERBATIM};
use super::values::Int;

/// The parameters of all commands, as clients show them to a model.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileParams {
    /// The command.
    pub command: FileCommandName,
    /// File or folder: /memories/... For all but rename.
    #[serde(default)]
    #[schemars(schema_with = "text")]
    pub path: Option<String>,
    /// view: first and last line, from 1; -1 is the end.
    #[serde(default)]
    #[schemars(schema_with = "lines")]
    pub view_range: Option<Vec<Int>>,
    /// create: the text.
    #[serde(default)]
    #[schemars(schema_with = "text")]
    pub file_text: Option<String>,
    /// str_replace: a text that the file has once.
    #[serde(default)]
    #[schemars(schema_with = "text")]
    pub old_str: Option<String>,
    /// str_replace: the text in its place. Default none.
    #[serde(default)]
    #[schemars(schema_with = "text")]
    pub new_str: Option<String>,
    /// insert: after this line; 0 is before the first.
    #[serde(default)]
    #[schemars(schema_with = "line")]
    pub insert_line: Option<Int>,
    /// insert: the lines.
    #[serde(default)]
    #[schemars(schema_with = "text")]
    pub insert_text: Option<String>,
    /// rename: from.
    #[serde(default)]
    #[schemars(schema_with = "text")]
    pub old_path: Option<String>,
    /// rename: to. Must not exist.
    #[serde(default)]
    #[schemars(schema_with = "text")]
    pub new_path: Option<String>,
}

/// The name of a command.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FileCommandName {
    View,
    Create,
    StrReplace,
    Insert,
    Delete,
    Rename,
}

/// A command on the files below `/memories`.
#[derive(Debug, Clone)]
pub enum FileCommand {
    /// Shows a file, or lists a folder. `range` is the first line and the last, from 1; -1 is the end.
    View { path: String, range: Option<Vec<Int>> },
    /// Makes a file.
    Create { path: String, text: String },
    /// Replaces a text that a file has once.
    Replace { path: String, old: String, new: String },
    /// Inserts lines after line `after`; 0 is before the first.
    Insert { path: String, after: i64, text: String },
    /// Deletes a file, or a folder with its files.
    Delete { path: String },
    /// Moves a file or a folder.
    Rename { old: String, new: String },
}

impl FileParams {
    /// The command with its own parameters. Those of others are ignored: models send them empty.
    ///
    /// # Errors
    /// Names a parameter that is missing.
    pub fn command(self) -> Result<FileCommand, String> {
        fn needed<T>(name: &str, value: Option<T>) -> Result<T, String> {
            value.ok_or_else(|| format!("missing field `{name}`"))
        }
        let path = needed("path", self.path);
        Ok(match self.command {
            FileCommandName::View => FileCommand::View { path: path?, range: self.view_range },
            FileCommandName::Create => FileCommand::Create { path: path?, text: needed("file_text", self.file_text)? },
            FileCommandName::StrReplace => FileCommand::Replace {
                path: path?,
                old: needed("old_str", self.old_str)?,
                new: self.new_str.unwrap_or_default(),
            },
            FileCommandName::Insert => FileCommand::Insert {
                path: path?,
                after: needed("insert_line", self.insert_line)?.0,
                text: needed("insert_text", self.insert_text.or(self.new_str))?,
            },
            FileCommandName::Delete => FileCommand::Delete { path: path? },
            FileCommandName::Rename => {
                FileCommand::Rename { old: needed("old_path", self.old_path)?, new: needed("new_path", self.new_path)? }
            }
        })
    }
}

/// A text as it is: "" and "null" are texts of a file, too.
fn text(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", EMPTY: VERBATIM })
}

fn line(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "integer" })
}

fn lines(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "array", "items": { "type": "integer" } })
}
