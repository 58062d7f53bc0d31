//! The form of a set of wordings. The sets have no wording in common, that is no folder, program, error or sentence.

/// A set. `{}` is the path, the name or the command; `{id}` and `{port}` are drawn.
pub struct Wordings {
    pub folders: &'static [&'static str],
    /// Names of files that tell which one is meant.
    pub names: &'static [&'static str],
    /// Names that many folders have.
    pub ordinary: &'static [&'static str],
    /// Sentences about a file.
    pub of_files: &'static [&'static str],
    pub commands: &'static [Command],
    pub coded: &'static [Coded],
    pub worded: &'static [ErrorInWords],
    pub ids: &'static [&'static str],
    pub ports: &'static [&'static str],
    /// Lines that only look.
    pub looks: &'static [&'static str],
    /// Lines about which nothing is saved.
    pub unknown: &'static [&'static str],
    /// Errors about which nothing is saved.
    pub errors: &'static [&'static str],
    /// Memories that are about no file, command or error, and have words of some.
    pub others: &'static [&'static str],
}

/// A memory of a command, lines that run it, and lines that run something else of the program.
pub struct Command {
    pub memory: &'static str,
    pub lines: [&'static str; 2],
    pub others: [&'static str; 2],
}

/// A memory with the code of an error, that error, and one of another cause.
pub struct Coded {
    pub memory: &'static str,
    pub error: &'static str,
    pub other: &'static str,
}

/// A memory that has no code of an error, and that error.
pub struct ErrorInWords {
    pub memory: &'static str,
    pub error: &'static str,
}

pub const fn command(memory: &'static str, lines: [&'static str; 2], others: [&'static str; 2]) -> Command {
    Command { memory, lines, others }
}

pub const fn coded(memory: &'static str, error: &'static str, other: &'static str) -> Coded {
    Coded { memory, error, other }
}

pub const fn worded(memory: &'static str, error: &'static str) -> ErrorInWords {
    ErrorInWords { memory, error }
}
