//! Sets of wordings. They have no wording in common, that is no folder, program, error or sentence.

use serde::Deserialize;

/// A set. `{}` is the path, the name or the command; `{id}` and `{port}` are drawn.
#[derive(Deserialize)]
pub struct Wordings {
    pub folders: Vec<String>,
    /// Names of files that tell which one is meant.
    pub names: Vec<String>,
    /// Names that many folders have.
    pub ordinary: Vec<String>,
    /// Sentences about a file.
    pub of_files: Vec<String>,
    pub commands: Vec<Command>,
    pub coded: Vec<Coded>,
    pub worded: Vec<ErrorInWords>,
    pub ids: Vec<String>,
    pub ports: Vec<String>,
    /// Lines that only look.
    pub looks: Vec<String>,
    /// Lines about which nothing is saved.
    pub unknown: Vec<String>,
    /// Errors about which nothing is saved.
    pub errors: Vec<String>,
    /// Memories that are about no file, command or error, and have words of some.
    pub others: Vec<String>,
}

/// A memory of a command, lines that run it, and lines that run something else of the program.
#[derive(Deserialize)]
pub struct Command {
    pub memory: String,
    pub lines: [String; 2],
    pub others: [String; 2],
}

/// A memory with the code of an error, that error, and one of another cause.
#[derive(Deserialize)]
pub struct Coded {
    pub memory: String,
    pub error: String,
    pub other: String,
}

/// A memory that has no code of an error, and that error.
#[derive(Deserialize)]
pub struct ErrorInWords {
    pub memory: String,
    pub error: String,
}

/// Six sets that the rules are chosen by, and one that they are checked by, of somebody who had not read them.
pub fn sets() -> [Wordings; 7] {
    [
        include_str!("first.json"),
        include_str!("second.json"),
        include_str!("third.json"),
        include_str!("fourth.json"),
        include_str!("fifth.json"),
        include_str!("sixth.json"),
        include_str!("held_out.json"),
    ]
    .map(|set| serde_json::from_str(set).expect("sets are in the form of `Wordings`"))
}
