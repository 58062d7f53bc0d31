//! The text of `memorist --version --verbose`: the version, this platform, how the program was tested on it, and what
//! this build lacks.

use std::env::consts::{ARCH, OS};

use crate::lacking;

/// The test of each platform, as in docs/src/install.md. What was never run on its own system says so.
const TESTED: &str = if cfg!(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu")) {
    "each change is tested on this platform"
} else if cfg!(all(target_os = "linux", target_arch = "x86_64", target_env = "musl")) {
    "first steps and the demo, on a Linux with glibc; not on one with musl"
} else if cfg!(all(target_os = "linux", target_arch = "aarch64")) {
    "first steps without a model, and the Python library's examples, in an emulator; not on such a processor"
} else if cfg!(windows) {
    "unit tests and first steps, with Wine; never on Windows (experimental)"
} else if cfg!(target_os = "macos") {
    "compiled, never run on macOS (experimental)"
} else {
    "never (experimental)"
};

/// The version of a program, with its platform on lines of their own.
pub fn detailed(version: &str) -> String {
    let library = if cfg!(target_env = "gnu") {
        ", gnu"
    } else if cfg!(target_env = "musl") {
        ", musl"
    } else {
        ""
    };
    let lacking = lacking::line();
    format!("{version}\nplatform: {OS}, {ARCH}{library}\ntested: {TESTED}\n{lacking}")
}
