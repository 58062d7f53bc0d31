//! The only writer of stdout, which is the protocol on a stdio server; and notes to people on stderr. Neither panics
//! when the reader has closed the stream.

use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;

use serde::Serialize;
use serde_json::{Value, json};

use crate::escape;
use crate::exit::{Failure, Kind};
use crate::hyperlinks::{self, Hyperlink};
use crate::wording::with_option;

/// Where a command's results go.
#[derive(Debug, Clone, Copy)]
pub struct Output {
    /// One JSON document instead of text for people.
    pub json: bool,
    /// No notes.
    pub quiet: bool,
}

/// stdout as it is, for what another process of this program reads.
pub fn raw() -> impl Write {
    BufWriter::new(io::stdout().lock())
}

impl Output {
    /// Writes text for people and a line end.
    pub fn text(&self, text: impl AsRef<str>) -> Result<(), Failure> {
        self.write(|out| writeln!(out, "{}", escape::text(text.as_ref())))
    }

    /// Writes output of this program unchanged: it may contain colours, but never saved data.
    pub fn own(&self, text: &[u8]) -> Result<(), Failure> {
        self.write(|out| out.write_all(text))
    }

    /// Writes one JSON document.
    pub fn document(&self, document: &impl Serialize) -> Result<(), Failure> {
        self.write(|out| {
            document.serialize(&mut serde_json::Serializer::with_formatter(&mut *out, escape::Json::default()))?;
            writeln!(out)
        })
    }

    /// The structured result with `--json`, otherwise the output of `text`.
    pub fn result<T: Serialize>(&self, result: &T, text: impl FnOnce(&T) -> String) -> Result<(), Failure> {
        if self.json { self.document(result) } else { self.text(text(result)) }
    }

    /// Writes a result, with links to files where the terminal shows any.
    pub fn linked<T: Serialize>(
        &self,
        result: &T,
        links: &[Hyperlink],
        text: impl FnOnce(&T) -> String,
    ) -> Result<(), Failure> {
        if self.json || links.is_empty() || !hyperlinks::are_shown() {
            return self.result(result, text);
        }
        let text = text(result);
        let linked = hyperlinks::linked(&escape::text(&text), links);
        self.write(|out| writeln!(out, "{linked}"))
    }

    /// Lines of JSON, written one by one.
    pub fn lines(&self) -> impl Write + use<> {
        escape::Escaped(BufWriter::new(io::stdout().lock()))
    }

    /// The stream to a program at the other end of a pipe: unchanged bytes.
    pub fn pipe(&self) -> impl Write + use<> {
        io::stdout().lock()
    }

    /// Writes many pieces through one buffer.
    fn write(&self, write: impl FnOnce(&mut BufWriter<io::StdoutLock<'_>>) -> io::Result<()>) -> Result<(), Failure> {
        let mut out = BufWriter::new(io::stdout().lock());
        write(&mut out).and_then(|()| out.flush()).map_err(|error| stdout_failure(&error))
    }

    /// Writes a note to people on stderr.
    pub fn note(&self, text: impl AsRef<str>) {
        if !self.quiet {
            say(text.as_ref());
        }
    }

    /// Asks on the terminal before an irreversible action; `instead` is the option that confirms in advance.
    pub fn ask(&self, question: &str, instead: &str) -> Result<bool, Failure> {
        let why =
            format!("this cannot be undone, and stdin is not a terminal to ask on: add {instead} if you are sure");
        answer(&format!("{question} This cannot be undone."), why)
    }

    /// Asks on the terminal before an action that can be undone.
    pub fn confirm(&self, question: &str, instead: &str) -> Result<bool, Failure> {
        answer(question, format!("stdin is not a terminal to ask on: add {instead}"))
    }

    /// Reports a failed command, and returns its exit code.
    pub fn failure(&self, failure: Failure) -> u8 {
        match failure {
            Failure::ReaderGone => 0,
            Failure::Error { kind, message } => {
                if self.json {
                    // If the reader has gone, the exit code is all that is left.
                    let _ = self.document(&error_document(kind, &message));
                } else {
                    say(&format!("error: {}", with_option(&message)));
                }
                kind.code()
            }
        }
    }
}

/// Asks on the terminal; only "yes" confirms. Without one, `why` is the error.
fn answer(question: &str, why: String) -> Result<bool, Failure> {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Err(Failure::input(why));
    }
    say(&format!("{question} [y/N]"));
    let mut answer = String::new();
    io::stdin().read_line(&mut answer).map_err(|error| Failure::file(Path::new("stdin"), &error))?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// Writes all of it to stdout, unchanged and in one piece: what reads a pipe never sees a part of it.
pub fn at_once(bytes: &[u8]) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::fd::AsFd;
        let stdout = io::stdout().as_fd().try_clone_to_owned()?;
        std::fs::File::from(stdout).write_all(bytes)
    }
    #[cfg(not(unix))]
    {
        let mut out = io::stdout().lock();
        out.write_all(bytes)?;
        out.flush()
    }
}

/// Writes a line for people to stderr, whether or not anyone reads it.
pub fn say(text: &str) {
    // In one piece, so that a program that waits for the line gets all of it.
    let _ = io::stderr().lock().write_all(format!("{}\n", escape::text(text)).as_bytes());
}

fn error_document(kind: Kind, message: &str) -> Value {
    json!({ "error": { "kind": kind.name(), "message": message } })
}

/// The failure of a write to stdout.
pub fn stdout_failure(error: &io::Error) -> Failure {
    if error.kind() == io::ErrorKind::BrokenPipe {
        Failure::ReaderGone
    } else {
        Failure::new(Kind::Io, format!("cannot write to stdout: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_reader_is_not_an_error() {
        let gone = io::Error::from(io::ErrorKind::BrokenPipe);
        assert!(matches!(stdout_failure(&gone), Failure::ReaderGone));
        let full = io::Error::from(io::ErrorKind::StorageFull);
        assert!(matches!(stdout_failure(&full), Failure::Error { kind: Kind::Io, .. }));
    }

    #[test]
    fn an_error_is_one_document() {
        let document = error_document(Kind::NotFound, "Memory entry not found: 99");
        assert_eq!(document["error"]["kind"], "not_found");
        assert_eq!(document["error"]["message"], "Memory entry not found: 99");
    }
}
