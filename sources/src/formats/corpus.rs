//! Tests of a format on the files of `tests/corpus`: beside each file is the expected outcome, `<file>.turns`.

use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{Config, TestRunner};

use super::{Batch, Cursor, Format, Role, Skipped, Turn};
use crate::machine::Machine;

/// A test of each of these formats.
macro_rules! test_each {
    ($check:ident: $($module:ident::$format:ident),+ $(,)?) => {
        $(#[test]
        fn $module() {
            super::$check(&crate::formats::$module::$format);
        })+
    };
}

mod the_corpus_says_what_it_should {
    test_each! {
        check_all: amp::Amp, chatgpt::CHATGPT, claude_ai::CLAUDE_AI, claude_code::ClaudeCode, cline::Cline, codex::Codex,
        continue_dev::Continue, copilot::Copilot, cursor::CursorAgent, gemini::Gemini, gimli::Gimli, goose::Goose,
        kiro::Kiro, kiro_ide::KiroIde, openclaw::OpenClaw, qwen::QwenCode, specstory::SpecStory, vscode_chat::VsCodeChat,
        zed_text::ZedText,
    }
}

mod a_file_that_grows_says_the_same {
    test_each! {
        check_pieces: claude_code::ClaudeCode, codex::Codex, copilot::Copilot, cursor::CursorAgent, gemini::Gemini,
        gimli::Gimli, goose::Goose, kiro::Kiro, kiro_ide::KiroIde, openclaw::OpenClaw, qwen::QwenCode,
    }
}

mod a_broken_file_is_read {
    test_each! {
        check_mutations: amp::Amp, chatgpt::CHATGPT, claude_ai::CLAUDE_AI, claude_code::ClaudeCode, cline::Cline,
        codex::Codex, continue_dev::Continue, copilot::Copilot, cursor::CursorAgent, gemini::Gemini, gimli::Gimli,
        goose::Goose, kiro::Kiro, kiro_ide::KiroIde, openclaw::OpenClaw, qwen::QwenCode, specstory::SpecStory,
        vscode_chat::VsCodeChat, zed_text::ZedText,
    }
}

/// Checks that each file of a format has the turns of the file beside it.
pub fn check_all(format: &dyn Format) {
    let files = files(format);
    assert!(!files.is_empty(), "no files for {}", format.name());
    for path in files {
        let batch = format.read(&path, None).unwrap();
        assert!(batch.whole, "{}", path.display());
        let mut expected = path.clone().into_os_string();
        expected.push(".turns");
        let expected = fs::read_to_string(&expected).unwrap_or_default();
        let found = render(&batch);
        assert!(expected == found, "{}: expected\n{expected}\nfound\n{found}", path.display());
    }
}

/// Checks that a file that grows in pieces has the same turns as one that is read at once.
pub fn check_pieces(format: &dyn Format) {
    for path in files(format).into_iter().filter(|path| path.extension().is_some_and(|end| end == "jsonl")) {
        let (bytes, below) = (fs::read(&path).unwrap(), path.strip_prefix(folder(format)).unwrap().to_str().unwrap());
        let (_folder, whole) = file_of(below, &bytes);
        let at_once = format.read(&whole, None).unwrap();
        let cuts = prop::collection::vec(any::<Index>(), 0..12);
        run(&(cuts,), |(cuts,)| {
            let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(bytes.len())).chain([0, bytes.len()]).collect();
            cuts.sort_unstable();
            let (_folder, copy) = file_of(below, &[]);
            let mut read = Read::default();
            for cut in cuts.windows(2) {
                let mut file = OpenOptions::new().append(true).open(&copy).unwrap();
                file.write_all(&bytes[cut[0]..cut[1]]).unwrap();
                read.on(format, &copy);
            }
            read.on(format, &copy);
            prop_assert_eq!((read.turns, read.skipped), (at_once.turns.clone(), at_once.skipped.clone(),));
            Ok(())
        });
    }
}

/// Whatever is broken in the files of a format, they are read.
pub fn check_mutations(format: &dyn Format) {
    for path in files(format) {
        let below = path.strip_prefix(folder(format)).unwrap();
        check_mutations_of(format, below.to_str().unwrap(), &fs::read(&path).unwrap());
    }
}

/// Whatever is broken in a file with these bytes, it is read.
pub fn check_mutations_of(format: &dyn Format, name: &str, bytes: &[u8]) {
    run(&(prop::collection::vec(mutation(), 1..8),), |(mutations,)| {
        let mut bytes = bytes.to_vec();
        mutations.into_iter().for_each(|mutation| mutate(&mut bytes, mutation));
        let (_folder, copy) = file_of(name, &bytes);
        let batch = format.read(&copy, None);
        prop_assert!(batch.is_ok(), "{:?}", batch);
        prop_assert!(batch.unwrap().skipped.counts.len() < 40);
        Ok(())
    });
}

/// A mutation: its position, the position of bytes to copy, a length, and bytes to put there instead of copied ones.
pub type Mutation = (Index, Index, usize, &'static [u8]);

pub fn mutation() -> impl Strategy<Value = Mutation> {
    (any::<Index>(), any::<Index>(), 0_usize..40, prop::sample::select(MUTATIONS))
}

/// Breaks the bytes of a file.
pub fn mutate(bytes: &mut Vec<u8>, (at, from, length, put): Mutation) {
    let at = at.index(bytes.len() + 1);
    let end = bytes.len().min(at + length);
    let from = from.index(bytes.len() + 1);
    let put = if put.is_empty() { bytes[from..bytes.len().min(from + length)].to_vec() } else { put.to_vec() };
    bytes.splice(at..end, put);
}

/// Bytes to put into a file; if empty, a part of the file is copied.
const MUTATIONS: &[&[u8]] = &[
    b"", b"", b"", b"null", b"7", b"-1e999", b"\"", b"\\", b"{", b"}", b"[", b"]", b",", b":", b"\n", b"\r\n", b"\xFF",
    b"\0", b"\\ud800", b"\\udc00", b"\\u", b"true", b"[[[[[[[[[[[[[[[[[[[[", b"{\"type\":", b"\"text\":\"x\"", b"{}",
    b"<system-reminder", b"</", b"<command-name>", b"## My request for Codex:", b"\xF0\x9F\x98\x80",
];

/// Runs a test on random cases.
pub fn run<S: Strategy>(strategy: &S, test: impl Fn(S::Value) -> Result<(), TestCaseError>) {
    let config = Config { cases: 96, failure_persistence: None, ..Config::default() };
    TestRunner::new(config).run(strategy, test).unwrap();
}

/// All that was read of a file that grows.
#[derive(Default)]
struct Read {
    cursor: Option<Cursor>,
    turns: Vec<Turn>,
    skipped: Skipped,
}

impl Read {
    fn on(&mut self, format: &dyn Format, path: &Path) {
        let batch = format.read(path, self.cursor.as_ref()).unwrap();
        if batch.whole {
            *self = Read::default();
        }
        self.cursor = Some(batch.cursor);
        self.turns.extend(batch.turns);
        self.skipped.add(batch.skipped);
    }
}

/// Which of these paths are transcripts, all of them below a place of the format.
pub fn transcripts<'a>(format: &dyn Format, machine: &Machine, paths: &[&'a str]) -> Vec<&'a str> {
    let places = format.places(machine);
    let is_below = |path: &&&str| places.iter().any(|place| Path::new(path).starts_with(place));
    paths.iter().filter(is_below).filter(|path| format.is_transcript(Path::new(path))).copied().collect()
}

/// The folder of a format's files.
pub fn folder(format: &dyn Format) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(format.name().replace('-', "_"))
}

/// The transcripts of a format below its folder, in order.
pub fn files(format: &dyn Format) -> Vec<PathBuf> {
    let (mut folders, mut files) = (vec![folder(format)], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if format.is_transcript(&path) {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// A file of this name and these bytes, in a folder of its own.
fn file_of(name: &str, bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, bytes).unwrap();
    (folder, path)
}

/// A batch as text.
pub fn render(batch: &Batch) -> String {
    let mut text = String::new();
    for turn in &batch.turns {
        let role = match turn.role {
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::Summary => "summary",
        };
        let or_none = |value: &Option<String>| value.clone().unwrap_or_else(|| "-".into());
        let at = turn.at.map_or_else(|| "-".into(), |at| jiff::Timestamp::from_millisecond(at).unwrap().to_string());
        writeln!(text, "{role} id={} session={} line={} at={at}", turn.id, turn.session, turn.lines.0).unwrap();
        // Of a file in a project, it is where the corpus is.
        let cwd = or_none(&turn.cwd);
        let slashed = cwd.replace('\\', "/");
        let cwd = slashed.find("/tests/corpus/").map_or(cwd, |at| slashed[at..].to_owned());
        let (branch, model) = (or_none(&turn.branch), or_none(&turn.model));
        writeln!(text, "  cwd={cwd} branch={branch} model={model} subagent={}", or_none(&turn.subagent)).unwrap();
        turn.title.iter().for_each(|title| writeln!(text, "  title={title}").unwrap());
        turn.text.split('\n').for_each(|line| writeln!(text, "  |{line}").unwrap());
    }
    batch.skipped.counts.iter().for_each(|(reason, count)| writeln!(text, "skipped {count} {reason}").unwrap());
    text
}
