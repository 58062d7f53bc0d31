//! PDFs, read in a process of their own.
//!
//! A PDF was written by somebody else, in a format in which a kilobyte can say gigabytes. What it takes of memory and time is
//! taken from a child process, which is ended when that is too much. The child gets the file on stdin and answers on stdout.

use std::env;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crossbeam_channel::{RecvTimeoutError, bounded};
use memorist_durable::ThisProgram;
use memorist_sources::foreign::Deadline;
use memorist_sources::pdf::{self, NoPdfText, PdfText};

/// The argument that makes a program the child.
pub const ARGUMENT: &str = "read-pdf";
/// Bytes of memory that the child may map. Where the system has no such limit (macOS, Windows), its time is the only one.
pub const MEMORY: u64 = 1 << 30;
/// Seconds of the processor that it may take.
pub const SECONDS: u64 = 20;
/// How long it may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);
/// How often the deadline is looked at.
const LOOK: Duration = Duration::from_millis(20);
/// Bytes that it may answer: text is at most doubled in JSON, but for control characters, which it does not have.
const MAX_ANSWER: u64 = 64 << 20;

/// Variables by which an interpreter finds its libraries.
const OF_INTERPRETERS: [&str; 6] =
    ["HOME", "PYTHONHOME", "PYTHONPATH", "PYTHONUSERBASE", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"];

/// The reason for pages that have no text, of a PDF that has some.
pub const PAGES: &str = "pages of a PDF without text";

/// The program that reads PDFs, and its arguments.
static READER: OnceLock<(PathBuf, Vec<String>)> = OnceLock::new();

/// The answer of a child.
type Answer = Result<PdfText, NoPdfText>;

/// A line of this, and one of the answer, are what is read of the child's output.
const MARK: &str = "memorist read-pdf";

/// Names the program that reads PDFs for this process: one that calls [`answer`] when it is started with these arguments. The
/// first call counts.
pub fn read_with(program: PathBuf, arguments: Vec<String>) {
    let _named_already = READER.set((program, arguments));
}

/// The job of the child, which has its limits by now.
///
/// # Errors
/// The errors of its streams.
pub fn answer(mut file: impl Read, mut out: impl Write) -> io::Result<()> {
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    let answer: Answer = pdf::read(bytes);
    writeln!(out, "\n{MARK}\n{}", serde_json::to_string(&answer)?)?;
    out.flush()
}

/// Whether a file is a PDF, by its name.
pub fn is_pdf(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("pdf"))
}

/// Why a PDF has no text, in words. They begin with the same ones, by which the list of sources knows them.
pub fn why(no_text: NoPdfText) -> &'static str {
    match no_text {
        NoPdfText::Encrypted => "the PDF is encrypted",
        NoPdfText::Damaged => "the PDF is damaged, or not a PDF",
        NoPdfText::OnlyImages => "the PDF draws no letters: it is a scan, or cut short",
        NoPdfText::UnknownLetters => "the PDF does not say which letters it draws",
        NoPdfText::TooLarge => "the PDF has too much text, or takes more than 1 GiB of memory",
        NoPdfText::TooSlow => "the PDF takes too long",
    }
}

/// The text of a PDF.
///
/// # Errors
/// If it cannot be read now or here, such as at the deadline.
pub fn text(bytes: &[u8], deadline: &Deadline) -> io::Result<Answer> {
    if !pdf::IS_READ {
        return Err(io::Error::other(
            "PDF is not read, for this program was built without the feature `pdf`: build it with `--features full`, install \
             a package, or convert the file with `pdftotext` first",
        ));
    }
    let Some((program, arguments)) = READER.get() else {
        return Err(io::Error::other("PDF is not read by this program, but by the command `memorist sync`"));
    };
    deadline.check()?;
    let mut command = memorist_durable::command(program)?;
    // Settings in the environment are none of its concern. Windows starts nothing without its own.
    if cfg!(unix) {
        command.env_clear();
        if !ThisProgram::is_own_file() {
            command.envs(OF_INTERPRETERS.iter().filter_map(|name| Some((name, env::var_os(name)?))));
        }
    }
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let not_started = |error| io::Error::other(format!("the process that reads PDFs cannot be started: {error}"));
    let mut child = command.spawn().map_err(not_started)?;
    let answer = talk(&mut child, bytes, deadline);
    if answer.is_err() {
        let _has_ended = child.kill();
    }
    let status = child.wait()?;
    let answer = answer?;
    let answer = String::from_utf8_lossy(&answer);
    let mut lines = answer.lines().skip_while(|line| *line != MARK).skip(1);
    match lines.next().and_then(|line| serde_json::from_str(line).ok()) {
        Some(answer) => Ok(answer),
        None => died(status).map(Err),
    }
}

/// Gives a child the file, and takes what it answers.
fn talk(child: &mut Child, bytes: &[u8], deadline: &Deadline) -> io::Result<Vec<u8>> {
    let (Some(mut input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(io::ErrorKind::BrokenPipe.into());
    };
    let begun = Instant::now();
    std::thread::scope(|scope| {
        let (done, answer) = bounded(1);
        // A child that has died reads no more, which its status says.
        scope.spawn(move || drop(input.write_all(bytes)));
        scope.spawn(move || {
            let mut answer = Vec::new();
            let read = output.take(MAX_ANSWER).read_to_end(&mut answer);
            let _nobody_waits = done.send(read.map(|_| answer));
        });
        loop {
            match answer.recv_timeout(LOOK) {
                Ok(answer) => return answer,
                Err(RecvTimeoutError::Disconnected) => return Err(io::ErrorKind::BrokenPipe.into()),
                Err(RecvTimeoutError::Timeout) => {}
            }
            let is_late = begun.elapsed() > PATIENCE;
            if let Err(over) = deadline.check().and_then(|()| if is_late { Err(late()) } else { Ok(()) }) {
                // Its pipes end with it, and so do the threads.
                let _has_ended = child.kill();
                return Err(over);
            }
        }
    })
}

fn late() -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, "reading it took too long")
}

/// Why a child died before it answered.
fn died(status: ExitStatus) -> io::Result<NoPdfText> {
    #[cfg(unix)]
    match std::os::unix::process::ExitStatusExt::signal(&status) {
        Some(SIGXCPU) => return Ok(NoPdfText::TooSlow),
        Some(SIGABRT | SIGKILL) => return Ok(NoPdfText::TooLarge),
        // Somebody ended it, or the system: that says nothing of the file.
        _ => {}
    }
    match status.code() {
        Some(PANICKED) => Ok(NoPdfText::Damaged),
        _ => Err(io::Error::other(format!("the process that reads PDFs failed: {status}"))),
    }
}

/// The code with which Rust ends a program that has panicked.
const PANICKED: i32 = 101;
/// The signal at the end of the processor's time.
#[cfg(unix)]
const SIGXCPU: i32 = 24;
/// With it, Rust ends a program that gets no more memory, or whose stack is full.
#[cfg(unix)]
const SIGABRT: i32 = 6;
/// With it, Linux ends a program when the machine, or the container, has no more memory.
#[cfg(unix)]
const SIGKILL: i32 = 9;

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;

    use super::*;

    /// 44.11: a file is told from an accident, after which it is read again.
    #[test]
    fn a_death_says_whether_the_file_was_why() {
        let of = |wait| died(ExitStatus::from_raw(wait)).ok();
        assert_eq!(of(SIGXCPU), Some(NoPdfText::TooSlow));
        assert_eq!((of(SIGABRT), of(SIGKILL)), (Some(NoPdfText::TooLarge), Some(NoPdfText::TooLarge)));
        assert_eq!(of(PANICKED << 8), Some(NoPdfText::Damaged));
        // Ctrl-C, a machine that shuts down, and a child whose streams failed.
        assert_eq!((of(2), of(15), of(1 << 8), of(0)), (None, None, None, None));
    }
}
