//! The child process that reads a PDF: the file on stdin, its text on stdout. Not for people, so it is no command.

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use memorist_ingest::pdf;

/// Has PDFs read by this program, also when another one has been put in its place since.
pub fn by_this_program() {
    let program = match cfg!(target_os = "linux") {
        true => Ok(PathBuf::from("/proc/self/exe")),
        false => std::env::current_exe(),
    };
    if let Ok(program) = program {
        pdf::read_with(program, &[pdf::ARGUMENT]);
    }
}

/// Reads one.
pub fn run() -> ExitCode {
    #[cfg(unix)]
    limit();
    match pdf::answer(io::stdin().lock(), crate::output::raw()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// Limits what this process may take: it is ended beyond that. It leaves no image of its memory behind.
#[cfg(unix)]
fn limit() {
    use rustix::process::{Resource, Rlimit, setrlimit};
    // At the first of two limits of time the signal says why, at the second none can be caught.
    let limits = [
        (Resource::As, pdf::MEMORY, pdf::MEMORY),
        (Resource::Cpu, pdf::SECONDS, pdf::SECONDS + 2),
        (Resource::Core, 0, 0),
    ];
    for (resource, current, maximum) in limits {
        // Where a system refuses one, the others hold.
        let _refused = setrlimit(resource, Rlimit { current: Some(current), maximum: Some(maximum) });
    }
}
