//! PDFs. What reads them may die of one: the process that asked it may not.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::{Duration, SystemTime};

use memorist_engine::Engine;
use memorist_engine::config::Config;
use memorist_engine::progress::NoProgress;
use memorist_engine::types::{ListQuery, NewSource, Scope, SourceKind};
use memorist_ingest::pdf;
use memorist_ingest::settings::SyncSettings;
use memorist_ingest::sync::{SyncOptions, Syncer};

use super::texts::Shape;

/// Seconds of the processor for each: fewer than the product's, so that the tests are quick.
const SECONDS: u64 = 2;

const FILTERS: usize = 5;

pub const ALL: [Shape; 11] = [
    ("a terabyte in a kilobyte", |file| {
        // Each filter makes 64 times as many of these bytes, and ends where the one before says so.
        let end = |end: Vec<u8>| [&[end.len() as u8 - 1][..], &end, &[0x80]].concat();
        let end = (1..FILTERS).fold(vec![0x80], |inner, _| end(inner));
        let filters = "/RunLengthDecode ".repeat(FILTERS);
        write(file, &format!("/Filter[{filters}]"), &[&[0x81; 1 << 10][..], &end].concat(), "");
    }),
    ("forms that draw themselves", |file| write(file, "", b"/X Do /X Do /X Do /X Do BT /F 9 Tf (a) Tj ET", "")),
    ("forms that draw nothing, and themselves", |file| write(file, "", &b"/X Do ".repeat(10), "")),
    ("five million brackets", |file| write(file, "", &b"[".repeat(5 << 20), "")),
    ("brackets in an object", |file| write(file, "", b"", &format!("7 0 obj\n{}\nendobj\n", "[".repeat(5 << 20)))),
    ("40 MiB of words", |file| {
        let words = b"(word) Tj 0 -20 Td ".repeat(2 << 20);
        write(file, "", &[b"BT /F 9 Tf ", &words[..], b" ET"].concat(), "");
    }),
    ("a million pages", |file| {
        let pages = format!("2 0 obj\n<</Type/Pages/Count 1000000/Kids[{}]>>\nendobj\n", "3 0 R ".repeat(1_000_000));
        write(file, "", b"BT /F 9 Tf (word) Tj ET", &pages);
    }),
    ("pages that are their own", |file| {
        write(file, "", b"", "2 0 obj\n<</Type/Pages/Parent 2 0 R/Kids[2 0 R 2 0 R]/Count 9>>\nendobj\n");
    }),
    ("a million objects", |file| write(file, "", b"", &"9 0 obj\n<</A 9 0 R>>\nendobj\n".repeat(1_000_000))),
    ("a font of four thousand million letters", |file| {
        let map = "8 0 obj\n<</Length 99>>stream\n1 beginbfrange <00000000> <FFFFFFFF> <0041> endbfrange\nendstream\nendobj\n";
        write(file, "", b"BT /F 9 Tf (word) Tj ET", &format!("{map}{}", font("/ToUnicode 8 0 R")));
    }),
    ("numbers without an end", |file| {
        let numbers = format!("BT /F {0} Tf {0} {0} {0} {0} {0} {0} Tm (a) Tj -{0} 0 Td (b) Tj ET", "9".repeat(400));
        write(file, "", numbers.as_bytes(), "");
    }),
];

fn font(more: &str) -> String {
    format!("5 0 obj\n<</Type/Font/Subtype/Type1/BaseFont/Helvetica{more}>>\nendobj\n")
}

/// Writes a PDF of a page without a table of its objects. Of two with one number, the last counts.
fn write(file: &Path, filter: &str, content: &[u8], last: &str) {
    let mut out = BufWriter::new(File::create(file).unwrap());
    let page = "<</Type/Page/Parent 2 0 R/Contents 4 0 R/Resources<</Font<</F 5 0 R>>/XObject<</X 6 0 R>>>>>>";
    write!(out, "%PDF-1.7\n1 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj\n").unwrap();
    write!(out, "2 0 obj\n<</Type/Pages/Kids[3 0 R]/Count 1>>\nendobj\n3 0 obj\n{page}\nendobj\n{}", font("")).unwrap();
    for (number, kind) in [(4, ""), (6, "/Type/XObject/Subtype/Form/BBox[0 0 9 9]")] {
        write!(out, "{number} 0 obj\n<<{kind}/Length {}{filter}>>stream\n", content.len()).unwrap();
        out.write_all(content).unwrap();
        write!(out, "\nendstream\nendobj\n").unwrap();
    }
    write!(out, "{last}trailer\n<</Root 1 0 R>>\n%%EOF\n").unwrap();
}

/// Has PDFs read by a test of this program, with limits as the product's own process has them. A line of `starts` is one that
/// was started.
pub fn set_reader(starts: &Path) {
    let limits = format!(
        "echo >> \"$0\" && ulimit -c 0 && ulimit -S -t {SECONDS} && ulimit -v {} && exec \"$@\"",
        pdf::MEMORY >> 10
    );
    let program = std::env::current_exe().unwrap();
    let test = ["--ignored", "--exact", "--nocapture", "pdfs::child"];
    let arguments = ["-c", &limits, starts.to_str().unwrap(), program.to_str().unwrap()];
    pdf::read_with("/bin/sh".into(), [&arguments[..], &test].concat().into_iter().map(Into::into).collect());
}

#[test]
#[ignore = "the process that reads a PDF"]
fn child() {
    pdf::answer(std::io::stdin(), std::io::stdout()).unwrap();
}

/// 44.11: a PDF that takes more than a process may is named with the reason, the others are read, and no process is started
/// for it again until it changes.
#[test]
fn a_bomb_takes_its_own_process_alone() {
    let folder = tempfile::tempdir().unwrap();
    let (starts, files) = (folder.path().join("starts"), folder.path().join("files"));
    set_reader(&starts);
    fs::create_dir(&files).unwrap();
    let put = |name: &str, shape: &str, age: u64| {
        let file = files.join(name);
        ALL.iter().find(|(name, _)| *name == shape).unwrap().1(&file);
        // One that was written just now would be looked at again.
        File::open(file).unwrap().set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
    };
    let put_all = |age| {
        put("a memory.pdf", "a terabyte in a kilobyte", age);
        put("b time.pdf", "forms that draw nothing, and themselves", age);
        put("c text.pdf", "a font of four thousand million letters", age);
    };
    let engine = Engine::open(folder.path().join("store"), Config::without_model()).unwrap();
    let path = files.to_str().unwrap().to_owned();
    let new = NewSource { kind: SourceKind::Notes, path, format: None, globs: Vec::new(), scope: Scope::default() };
    engine.add_source(&new).unwrap();
    let syncer = Syncer::new(&folder.path().join("store"), SyncSettings::default(), Config::without_model().model);
    // How many files were opened, how many processes have been started by now, and why files are not read.
    let sync = || {
        let report = syncer.sync(&engine, &SyncOptions::default(), &NoProgress).unwrap().sources.remove(0);
        assert!(report.problems.is_empty(), "{:?}", report.problems);
        let unread = engine.source_stats().unwrap().remove(0).unread.into_iter();
        let unread = unread.map(|(path, why)| (path.rsplit_once('/').unwrap().1.to_owned(), why));
        (report.read, fs::read_to_string(&starts).unwrap().len(), unread.collect::<Vec<_>>())
    };
    let memory =
        ("a memory.pdf".to_owned(), "the PDF has too much text, or takes more than 1 GiB of memory".to_owned());
    let time = ("b time.pdf".to_owned(), "the PDF takes too long".to_owned());
    let both = vec![memory.clone(), time];

    put_all(7_200);
    assert_eq!(sync(), (3, 3, both.clone()));
    let texts = engine
        .list(&ListQuery { limit: 100, ..ListQuery::default() })
        .unwrap()
        .into_iter()
        .map(|record| record.content);
    // Its table of letters says that each byte is a letter that comes later in Unicode.
    assert_eq!(texts.collect::<Vec<_>>(), ["\u{b8}\u{b0}\u{b3}\u{a5}"]);
    assert_eq!(sync(), (0, 3, both.clone()), "nothing has changed");
    put_all(3_600);
    assert_eq!(sync(), (3, 3, both), "they were written again as they were");
    put("b time.pdf", "a font of four thousand million letters", 1_800);
    assert_eq!(sync(), (1, 4, vec![memory]));
}
