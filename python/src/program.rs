//! The command line, which the script `memorist` of the package runs.

use std::ffi::OsString;
use std::iter;
use std::panic::catch_unwind;
use std::process;

use memorist_durable::ThisProgram;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::store;

/// How a program of Rust ends that has panicked.
const PANICKED: i32 = 101;

/// Runs the command line with these arguments, and ends the process as the program does. `command` starts it again.
#[pyfunction]
pub fn run_program(py: Python<'_>, command: Vec<OsString>, arguments: Vec<OsString>) -> PyResult<()> {
    let (file, before) = command.split_first().ok_or_else(|| PyValueError::new_err("the command has no words"))?;
    // An option and the name of the module: of no letter that has another form.
    let before = before.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let packages = store::packages(py);
    ThisProgram::declare(ThisProgram { file: file.into(), before, packages });
    leave_interrupts(py)?;
    let words = iter::once("memorist".into()).chain(arguments).collect();
    py.detach(|| {
        let code = catch_unwind(|| memorist_server::run(words, env!("MEMORIST_VERSION")));
        // It writes what Rust has buffered, and the interpreter has nothing to end.
        process::exit(code.map_or(PANICKED, i32::from))
    })
}

/// Undoes what Python does on Ctrl-C: it would only note it, for a program of Python. What a process that started this one
/// has set stays, and so does the signal of a pipe without a reader, which Rust ignores as Python does.
fn leave_interrupts(py: Python<'_>) -> PyResult<()> {
    // `signal` is this one with names for people, and takes longer to import than a command.
    let signal = py.import("_signal")?;
    let interrupt = signal.getattr("SIGINT")?;
    let is_of_python = signal.call_method1("getsignal", (&interrupt,))?.is(signal.getattr("default_int_handler")?);
    if is_of_python {
        signal.call_method1("signal", (interrupt, signal.getattr("SIG_DFL")?))?;
    }
    Ok(())
}
