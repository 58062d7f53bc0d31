//! The program `memorist`. Everything it does is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    memorist_server::run(env!("MEMORIST_VERSION"))
}
