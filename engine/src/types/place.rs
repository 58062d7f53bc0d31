//! Where a record was read: a file of notes, or an agent's transcript.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::bounds::{check_label, check_length};
use crate::error::{Error, Result};
use crate::text::{from_hex, to_hex};

/// Longest path, in bytes.
const MAX_PATH_BYTES: usize = 4 << 10;

/// Identifies what was read, wherever it stands: a turn that another file repeats has the same one. No two records have the
/// same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Origin([u8; 16]);

impl Origin {
    /// The one with these bytes, such as the beginning of a hash.
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        Origin(bytes)
    }

    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&to_hex(&self.0))
    }
}

impl FromStr for Origin {
    type Err = Error;

    fn from_str(hex: &str) -> Result<Self> {
        from_hex(hex).map(Origin).ok_or_else(|| Error::invalid("place", "its origin must be 32 hexadecimal digits"))
    }
}

impl TryFrom<String> for Origin {
    type Error = Error;

    fn try_from(hex: String) -> Result<Self> {
        hex.parse()
    }
}

impl From<Origin> for String {
    fn from(origin: Origin) -> Self {
        origin.to_string()
    }
}

/// Where a record was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Place {
    /// Identifies what was read.
    pub origin: Origin,
    /// The file.
    pub path: String,
    /// Its first line there, from 1. In a database, the number of its row.
    pub first_line: u64,
    /// Its last line there.
    pub last_line: u64,
    /// Who said it in a session: `user`, `assistant`, or `summary`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// The working folder of the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The git branch of the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The model that answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The subagent that it was said by, or to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subagent: Option<String>,
}

impl Place {
    /// A place in a file, of no session.
    pub fn new(origin: Origin, path: impl Into<String>, first_line: u64, last_line: u64) -> Self {
        let (role, cwd, branch, model, subagent) = (None, None, None, None, None);
        Place { origin, path: path.into(), first_line, last_line, role, cwd, branch, model, subagent }
    }

    /// Checks the bounds.
    pub(crate) fn validate(&self) -> Result<()> {
        check_length("place", &self.path, MAX_PATH_BYTES)?;
        check_length("place", self.cwd.as_deref().unwrap_or_default(), MAX_PATH_BYTES)?;
        if self.last_line < self.first_line {
            return Err(Error::invalid("place", "ends before its first line"));
        }
        let labels = [&self.role, &self.branch, &self.model, &self.subagent];
        labels.into_iter().flatten().try_for_each(|label| check_label("place", label))
    }

    /// The texts in it that were written by a person or a program.
    pub(crate) fn texts_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let Place { origin: _, path, first_line: _, last_line: _, role, cwd, branch, model, subagent } = self;
        [role, cwd, branch, model, subagent].into_iter().flatten().chain([path])
    }

    /// The texts of [`Place::texts_mut`], to read.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        let Place { origin: _, path, first_line: _, last_line: _, role, cwd, branch, model, subagent } = self;
        [role, cwd, branch, model, subagent].into_iter().flatten().chain([path]).map(String::as_str)
    }
}
