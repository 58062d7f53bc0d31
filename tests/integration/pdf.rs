//! PDFs, as the program reads them: by a process of its own, whose limits the kernel knows.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use crate::support::{document, memorist, text};

fn corpus(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("sources/tests/corpus/pdf").join(name)
}

/// 44.11: the page of a hit is named, a PDF without text is named with the reason, and a pipe is passed over.
#[test]
fn the_program_reads_the_pages_of_a_pdf() {
    let folder = tempfile::tempdir().unwrap();
    let (store, files) = (folder.path().join("store"), folder.path().join("files"));
    fs::create_dir(&files).unwrap();
    for name in ["letters.pdf", "locked.pdf"] {
        fs::copy(corpus(name), files.join(name)).unwrap();
    }
    #[cfg(unix)]
    assert!(std::process::Command::new("mkfifo").arg(files.join("pipe.pdf")).status().unwrap().success());
    let run = |arguments: &[&str]| memorist(&store, arguments).stdin(Stdio::null()).output().unwrap();
    let added = run(&["source", "add", files.to_str().unwrap()]);
    assert!(added.status.success(), "{}", text(&added.stderr));
    let found = run(&["search", "zebra"]);
    assert!(text(&found.stdout).contains("letters.pdf, page 2"), "{}", text(&found.stdout));
    let listed = document(&run(&["source", "list", "--json"]));
    let unread = listed["sources"][0]["unread"].to_string();
    assert!(unread.contains("locked.pdf") && unread.contains("the PDF is encrypted"), "{listed:#}");
    assert!(!unread.contains("letters.pdf"), "{listed:#}");
}

/// 44.11: the process that reads a PDF has limits before it reads a byte.
#[cfg(target_os = "linux")]
#[test]
fn the_reader_of_pdfs_has_its_limits() {
    use std::io::{Read as _, Write as _};
    use std::process::Command;

    let mut child = Command::new(env!("CARGO_BIN_EXE_memorist"))
        .arg("read-pdf")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let of = |name: &str| {
        let limits = fs::read_to_string(format!("/proc/{}/limits", child.id())).unwrap();
        let line = limits.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.split_whitespace().take(2).map(str::to_owned).collect::<Vec<_>>()
    };
    let limits = || ["Max core file size", "Max address space", "Max cpu time"].map(of);
    let begun = std::time::Instant::now();
    while limits() != [["0", "0"], ["1073741824", "1073741824"], ["20", "22"]] {
        assert!(begun.elapsed().as_secs() < 60, "its limits are {:?}", limits());
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    child.stdin.take().unwrap().write_all(&fs::read(corpus("restricted.pdf")).unwrap()).unwrap();
    let mut answer = String::new();
    child.stdout.take().unwrap().read_to_string(&mut answer).unwrap();
    assert!(child.wait().unwrap().success() && answer.contains("\"pages\""), "{answer}");
}
