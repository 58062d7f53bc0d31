//! The program `memorist`. Everything it does is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    memorist_server::run(std::env::args_os().collect(), env!("MEMORIST_VERSION")).into()
}
