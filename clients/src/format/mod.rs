//! Settings files of other programs: read, and changed in one place with everything else kept as it was.
//!
//! A change is made in the text and then checked: the settings of the changed text must be those of the old one, with
//! that change and nothing else. So an edit that is not understood is refused and never written.
//!
//! | file | job |
//! |---|---|
//! | `refused.rs` | why a file is not changed |
//! | `lines.rs` | the line end of a text |
//! | `blank.rs` | long runs of blank lines |
//! | `entry.rs` | an entry of a settings file, and how it changes the settings that are read |
//! | `json.rs` | JSON, JSONC and JSON5 |
//! | `toml.rs` | TOML |
//! | `yaml.rs` | YAML |

mod blank;
mod entry;
mod json;
mod lines;
mod refused;
mod toml;
mod yaml;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(crate) use blank::Thin;
pub use entry::{Entry, Presence, Slot};
pub(crate) use lines::line_end;
pub use refused::Refused;

/// The language of a settings file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// JSON, where comments and trailing commas are allowed.
    Json,
    Json5,
    Toml,
    Yaml,
}

/// Bytes of the largest file that is read: people write none that is larger.
pub const MAX_BYTES: u64 = 8 << 20;
const BOM: char = '\u{feff}';

impl Format {
    /// Reads the settings in a text. An empty text is an object without members.
    ///
    /// # Errors
    /// [`Refused::Unreadable`], and [`Refused::InTheWay`] when it is a list or a single value.
    pub fn read(self, text: &str) -> Result<Value, Refused> {
        let text = text.trim_start_matches(BOM);
        let value = match self {
            Format::Json | Format::Json5 => json::read(text, self.is_loose()),
            Format::Toml => toml::read(text),
            Format::Yaml => yaml::read(text),
        };
        match value.map_err(Refused::Unreadable)? {
            Value::Null => Ok(Value::Object(serde_json::Map::new())),
            value @ Value::Object(_) => Ok(value),
            _ => Err(Refused::InTheWay("it is not an object with keys".to_owned())),
        }
    }

    /// The text with `entry`.
    ///
    /// # Errors
    /// All variants of [`Refused`].
    pub fn insert(self, text: &str, entry: &Entry) -> Result<String, Refused> {
        self.change(
            text,
            entry,
            |text| match self {
                Format::Json | Format::Json5 => {
                    let thin = Thin::new(text);
                    json::insert(&thin.text, self.is_loose(), entry).map(|edited| thin.edited(&edited))
                }
                Format::Toml => toml::insert(text, entry),
                Format::Yaml => yaml::insert(text, entry),
            },
            |entry, read| entry.put(read, self == Format::Yaml),
        )
    }

    /// The text without `entry`, which must be in it unchanged.
    ///
    /// # Errors
    /// All variants of [`Refused`].
    pub fn remove(self, text: &str, entry: &Entry) -> Result<String, Refused> {
        self.change(
            text,
            entry,
            |text| match self {
                Format::Json | Format::Json5 => {
                    let thin = Thin::new(text);
                    json::remove(&thin.text, self.is_loose(), entry).map(|edited| thin.edited(&edited))
                }
                Format::Toml => toml::remove(text, entry),
                Format::Yaml => yaml::remove(text, entry),
            },
            Entry::take,
        )
    }

    /// Whether a text has a comment; or, in a string, what looks like one.
    pub fn may_have_comment(self, text: &str) -> bool {
        match self {
            Format::Json | Format::Json5 => text.contains("//") || text.contains("/*"),
            Format::Toml | Format::Yaml => text.contains('#'),
        }
    }

    fn is_loose(self) -> bool {
        self == Format::Json5
    }

    fn change(
        self,
        text: &str,
        entry: &Entry,
        edit: impl FnOnce(&str) -> Result<String, Refused>,
        expected: impl FnOnce(&Entry, &mut Value) -> Result<(), Refused>,
    ) -> Result<String, Refused> {
        let mut value = self.read(text)?;
        expected(entry, &mut value)?;
        let plain = text.trim_start_matches(BOM);
        let mark = &text[..text.len() - plain.len()];
        let changed = format!("{mark}{}", edit(plain)?);
        let mut now = self.read(&changed).map_err(|_| Refused::Unsafe)?;
        if self == Format::Toml {
            // A table without members may be no longer there.
            for read in [&mut now, &mut value] {
                entry.prune(read);
            }
        }
        if now == value { Ok(changed) } else { Err(Refused::Unsafe) }
    }
}

#[cfg(test)]
mod tests;
