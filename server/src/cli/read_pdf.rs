//! The child process that reads a PDF: the file on stdin, its text on stdout. Not for people, so it is no command.

use std::io;

use memorist_durable::ThisProgram;
use memorist_ingest::pdf;

use crate::exit::Kind;

/// Has PDFs read by this program, also when another one has been put in its place since.
pub fn by_this_program() {
    let this = match cfg!(target_os = "linux") && ThisProgram::is_own_file() {
        true => Ok(ThisProgram { file: "/proc/self/exe".into(), ..ThisProgram::default() }),
        false => ThisProgram::find(),
    };
    if let Ok(ThisProgram { file, before, .. }) = this {
        pdf::read_with(file, before.into_iter().chain([pdf::ARGUMENT.into()]).collect());
    }
}

pub fn run() -> u8 {
    #[cfg(unix)]
    limit();
    match pdf::answer(io::stdin().lock(), crate::output::raw()) {
        Ok(()) => 0,
        Err(_) => Kind::Internal.code(),
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
