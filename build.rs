//! The version that `memorist --version` prints, of the program and of the Python package: `0.1.0 (298680bf1 2026-11-25)`, with the
//! commit and its date.
//!
//! They come from the variable `MEMORIST_BUILD`; else from git, if this is a work tree of its own; else from
//! `packages/commit`, which `git archive` fills in. Without any, the version stands alone. Debug builds do not ask git:
//! their tests would be built again after every commit.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Digits of a commit that are shown.
const DIGITS: usize = 9;

fn main() {
    // That of the program; the library's is a folder below.
    let package = PathBuf::from(env::var("CARGO_MANIFEST_DIR").unwrap_or_default());
    let root = package.ancestors().take(2).find(|folder| folder.join("packages/commit").exists()).unwrap_or(&package);
    println!("cargo:rerun-if-changed={}", root.join("build.rs").display());
    println!("cargo:rerun-if-env-changed=MEMORIST_BUILD");
    let version = env::var("CARGO_PKG_VERSION").unwrap_or_default();
    let given = env::var("MEMORIST_BUILD").ok().filter(|build| !build.is_empty());
    let build = given.or_else(|| of_git(root)).or_else(|| of_archive(root));
    let text = build.map_or_else(|| version.clone(), |build| format!("{version} ({build})"));
    println!("cargo:rustc-env=MEMORIST_VERSION={text}");
}

fn of_git(root: &Path) -> Option<String> {
    // Inside the work tree of something else, the commit would be of that.
    if env::var("PROFILE").as_deref() != Ok("release") || !root.join(".git").exists() {
        return None;
    }
    let ask = |arguments: &[&str]| {
        let output = Command::new("git").current_dir(root).args(arguments).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    // The log of HEAD changes with every commit and checkout. A file that does not exist would count as changed always.
    let changing = ["logs/HEAD", "HEAD"].into_iter().filter_map(|name| ask(&["rev-parse", "--git-path", name]));
    if let Some(path) = changing.map(|path| root.join(path)).find(|path| path.exists()) {
        println!("cargo:rerun-if-changed={}", path.display());
    }
    ask(&["log", "-1", "--format=%H %cs"]).as_deref().and_then(shortened)
}

fn of_archive(root: &Path) -> Option<String> {
    let path = root.join("packages/commit");
    println!("cargo:rerun-if-changed={}", path.display());
    fs::read_to_string(path).ok().as_deref().map(str::trim).and_then(shortened)
}

/// A commit and its date, the commit cut to [`DIGITS`]; nothing of a text that is not of that form.
fn shortened(text: &str) -> Option<String> {
    let (commit, date) = text.split_once(' ')?;
    let is_commit = commit.len() >= DIGITS && commit.bytes().all(|b| b.is_ascii_hexdigit());
    is_commit.then(|| format!("{} {date}", &commit[..DIGITS]))
}
