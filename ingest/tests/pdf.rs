//! PDFs in a folder of notes: their pages are places, and one without text is named with the reason.

#![cfg(unix)]

use std::fs;
use std::path::Path;

use memorist_engine::Engine;
use memorist_engine::config::Config;
use memorist_engine::progress::NoProgress;
use memorist_engine::types::{ListQuery, NewSource, Query, Scope, SourceKind};
use memorist_ingest::pdf;
use memorist_ingest::settings::SyncSettings;
use memorist_ingest::sync::{SyncOptions, SyncReport, Syncer};
use tempfile::TempDir;

/// A store, and a folder of PDFs.
struct PdfDesk {
    folder: TempDir,
    engine: Engine,
    syncer: Syncer,
}

impl PdfDesk {
    fn new(pdfs: &[&str]) -> Self {
        let folder = TempDir::new().unwrap();
        let files = folder.path().join("files");
        fs::create_dir(&files).unwrap();
        for name in pdfs {
            fs::copy(corpus(name), files.join(name)).unwrap();
        }
        let store = folder.path().join("store");
        let engine = Engine::open(&store, Config::without_model()).unwrap();
        let path = files.to_str().unwrap().to_owned();
        let source =
            NewSource { kind: SourceKind::Notes, path, format: None, globs: Vec::new(), scope: Scope::default() };
        engine.add_source(&source).unwrap();
        PdfDesk { folder, engine, syncer: Syncer::new(&store, SyncSettings::default(), Config::without_model().model) }
    }

    /// Makes the files an hour old: one that was written just now is read once more.
    fn age(&self) {
        let before = std::time::SystemTime::now() - std::time::Duration::from_secs(3_600);
        let files = fs::read_dir(self.folder.path().join("files")).unwrap();
        files.for_each(|file| fs::File::open(file.unwrap().path()).unwrap().set_modified(before).unwrap());
    }

    fn sync(&self) -> SyncReport {
        self.syncer.sync(&self.engine, &SyncOptions::default(), &NoProgress).unwrap()
    }

    /// The names of files that were not read, and why.
    fn unread(&self) -> Vec<(String, String)> {
        let stats = self.engine.source_stats().unwrap().remove(0);
        let name = |path: String| Path::new(&path).file_name().unwrap().to_str().unwrap().to_owned();
        stats.unread.into_iter().map(|(path, why)| (name(path), why)).collect()
    }

    /// The chunks, each with its file and its page.
    fn pages(&self) -> Vec<(String, u64)> {
        let query = ListQuery { limit: 100, ..ListQuery::default() };
        let records = self.engine.list(&query).unwrap().into_iter();
        let mut pages: Vec<_> =
            records.map(|record| (record.tags[0].clone(), record.place.unwrap().first_line)).collect();
        pages.sort();
        pages
    }
}

fn corpus(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../sources/tests/corpus/pdf").join(name)
}

fn set_reader() {
    let program = std::env::current_exe().unwrap();
    pdf::read_with(program, ["--ignored", "--exact", "--nocapture", "child"].map(Into::into).to_vec());
}

#[test]
#[ignore = "the process that reads a PDF"]
fn child() {
    pdf::answer(std::io::stdin(), std::io::stdout()).unwrap();
}

/// 44.11: the pages of a PDF are places, and a hit names its page.
#[test]
fn a_pdf_is_found_at_its_page() {
    set_reader();
    let desk = PdfDesk::new(&["letters.pdf", "columns.pdf"]);
    desk.age();
    let report = desk.sync();
    assert_eq!((report.changes().added, report.sources[0].failed), (4, 0));
    let page = |name: &str, page| (name.to_owned(), page);
    let pages = [page("columns.pdf", 1), page("columns.pdf", 3), page("letters.pdf", 1), page("letters.pdf", 2)];
    assert_eq!(desk.pages(), pages);
    let hit = desk.engine.search(&Query::new("zebra")).unwrap().hits.remove(0).record;
    assert_eq!(hit.context.as_deref(), Some("The launch plan"));
    let place = hit.place.unwrap();
    assert_eq!((place.first_line, place.last_line), (2, 2));
    let found =
        desk.engine.search(&Query::new("information office 会议记录 letters.pdf")).unwrap().hits.remove(0).record;
    assert_eq!(found.context.as_deref(), Some("The launch plan · letters.pdf"));
    assert_eq!(report.sources[0].skipped["pages of a PDF without text"], 1);
    let again = desk.sync();
    assert_eq!((again.sources[0].read, again.changes().added), (0, 0), "it is not read again");
}

/// 44.11: a PDF without text is named with the reason, and is not read again until it changes.
#[test]
fn a_pdf_without_text_is_named_with_the_reason() {
    set_reader();
    let desk = PdfDesk::new(&["locked.pdf", "scan.pdf", "letters.pdf"]);
    fs::write(desk.folder.path().join("files/broken.pdf"), "%PDF-1.7\nno more").unwrap();
    desk.age();
    desk.sync();
    let named = |name: &str, why: &str| (name.to_owned(), why.to_owned());
    let unread = [
        named("broken.pdf", "the PDF is damaged, or not a PDF"),
        named("locked.pdf", "the PDF is encrypted"),
        named("scan.pdf", "the PDF draws no letters: it is a scan, or cut short"),
    ];
    assert_eq!(desk.unread(), unread);
    assert_eq!((desk.sync().sources[0].read, desk.unread()), (0, unread.to_vec()));
    fs::copy(corpus("restricted.pdf"), desk.folder.path().join("files/locked.pdf")).unwrap();
    assert_eq!((desk.sync().changes().added, desk.unread().len()), (1, 2));
    // What is not there any more is gone, as with a note.
    fs::write(desk.folder.path().join("files/letters.pdf"), "").unwrap();
    assert_eq!((desk.sync().changes().removed, desk.unread().len()), (2, 3));
}
