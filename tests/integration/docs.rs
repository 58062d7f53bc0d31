//! The documents name files that exist, and every row of the specification has a test that names it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The text of a file of this repository.
fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The chapters of the book, and its summary, in `docs/src`.
fn chapters() -> Vec<String> {
    let names = fs::read_dir(root().join("docs/src")).unwrap().map(|file| file.unwrap().file_name());
    let mut names: Vec<String> =
        names.map(|name| name.into_string().unwrap()).filter(|name| name.ends_with(".md")).collect();
    names.sort();
    assert!(names.len() > 10, "the book has chapters: {names:?}");
    names
}

/// The documents that are checked, each with its path.
fn documents() -> Vec<(String, String)> {
    let pages = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"].map(str::to_owned);
    let chapters = chapters().into_iter().map(|name| format!("docs/src/{name}"));
    pages.into_iter().chain(chapters).map(|path| (path.clone(), read(&path))).collect()
}

/// The anchor of a heading: lower case, without signs, with `-` for each space.
fn anchor(heading: &str) -> String {
    let kept = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// Every link to a file leads to one that exists, and every `#anchor` to a heading of it. A chapter links only to
/// chapters: other files are not in the book.
#[test]
fn every_link_in_the_documents_leads_somewhere() {
    let mut broken = Vec::new();
    let mut links = 0;
    for (path, text) in documents() {
        let folder = Path::new(&path).parent().unwrap();
        let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for target in targets.filter(|target| !target.contains("://")) {
            links += 1;
            let (file, heading) = target.split_once('#').map_or((target, None), |(file, name)| (file, Some(name)));
            let file = if file.is_empty() { Path::new(&path).to_owned() } else { folder.join(file) };
            let leaves_the_book = path.starts_with("docs/") && target.starts_with("../");
            let linked = fs::read_to_string(root().join(&file)).ok().filter(|_| !leaves_the_book);
            let is_there = |text: &String| {
                heading.is_none_or(|name| text.lines().any(|line| line.starts_with('#') && anchor(line) == name))
            };
            if !linked.as_ref().is_some_and(is_there) {
                broken.push(format!("{path}: {target}"));
            }
        }
    }
    assert!(links > 30, "the documents link to one another: {links}");
    assert!(broken.is_empty(), "links that lead nowhere: {broken:#?}");
}

/// A chapter that the summary does not name is not in the book.
#[test]
fn every_chapter_is_in_the_summary() {
    let summary = read("docs/src/SUMMARY.md");
    let is_missing = |name: &String| name != "SUMMARY.md" && !summary.contains(&format!("({name})"));
    let missing: Vec<_> = chapters().into_iter().filter(is_missing).collect();
    assert!(missing.is_empty(), "not in docs/src/SUMMARY.md: {missing:?}");
}

/// Every path in back quotes is a file or a folder of this repository: that is, text that ends like one, or begins with
/// one of its folders.
#[test]
fn every_path_in_the_documents_exists() {
    let mut missing = Vec::new();
    let mut paths = 0;
    for (document, text) in documents() {
        for path in text.split('`').skip(1).step_by(2) {
            let is_one = [".rs", ".py", ".mjs", "/"].iter().any(|end| path.ends_with(end))
                // What a build makes is not there yet, and a path from the root of the disk is not in the project.
                || path
                    .split_once('/')
                    .is_some_and(|(first, _)| !["", "target"].contains(&first) && root().join(first).is_dir());
            if is_one && !path.contains(|c: char| c.is_whitespace() || "{<$~:*".contains(c)) {
                paths += 1;
                if !root().join(path).exists() {
                    missing.push(format!("{document}: {path}"));
                }
            }
        }
    }
    assert!(paths > 100, "the documents name files: {paths}");
    assert!(missing.is_empty(), "named in the documents, but missing: {missing:#?}");
}

/// The README is an introduction. Longer text belongs into the book.
#[test]
fn the_readme_is_short() {
    let lines = read("README.md").lines().count();
    assert!(lines <= 150, "README.md has {lines} lines, more than 150");
}

/// The chapter that says where each row of the specification is tested.
const PAGE: &str = "docs/src/specification.md";

/// Every row of the specification: the letters of its tables, each with its last number.
const SPECIFICATION: [(char, u32); 10] =
    [('T', 52), ('R', 29), ('Q', 21), ('E', 15), ('D', 7), ('F', 19), ('H', 4), ('X', 5), ('P', 5), ('Z', 18)];

/// The rows that no test names, and what they wait for. When one is built, remove it from this list, add it to the
/// table of [`PAGE`], and lower [`UNBUILT_ROWS`].
const UNBUILT: [(&str, &str); 3] = [
    ("E8", "embeddings of providers: the interface"),
    ("P1-P5", "claims of speed, which are measured: the benches, and docs/src/figures.md"),
    ("Z6", "a quirk of JavaScript, which cannot arise here"),
];

/// The number of these rows. It only shrinks.
const UNBUILT_ROWS: usize = 7;

/// Rows that the verdicts of [`PAGE`] settle differently. It only shrinks.
const DIFFERENT_ROWS: usize = 42;

/// A letter and a number: `T12`.
type Row = (char, u32);

fn specification() -> BTreeSet<Row> {
    SPECIFICATION.into_iter().flat_map(|(letter, last)| (1..=last).map(move |number| (letter, number))).collect()
}

/// The rows that a text names, one by one or as `T1-T11`.
fn rows(text: &str) -> BTreeSet<Row> {
    let row = |word: &str| {
        let letter = word.chars().next().filter(|letter| SPECIFICATION.iter().any(|(known, _)| known == letter))?;
        Some((letter, word[1..].parse::<u32>().ok()?))
    };
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_');
    let ranges = words.filter_map(|word| {
        let (first, last) = word.split_once('-').unwrap_or((word, word));
        row(first).zip(row(last)).filter(|(first, last)| first.0 == last.0)
    });
    ranges.flat_map(|((letter, first), (_, last))| (first..=last).map(move |number| (letter, number))).collect()
}

/// The test code of a file: all of it in a folder of tests, otherwise what follows the mark of its tests.
fn of_tests(path: &str) -> String {
    let text = read(path);
    if path.contains("tests") || path.contains("/contract/") {
        return text;
    }
    text.split_once("#[cfg(test)]").map_or(String::new(), |(_, tests)| tests.to_owned())
}

/// The rows in the table of [`PAGE`], each with the files beside it.
fn table(page: &str) -> BTreeMap<Row, BTreeSet<&str>> {
    let (_, table) = page.split_once("# Where each row of the specification is tested").expect("the table");
    let mut files = BTreeMap::<Row, BTreeSet<&str>>::new();
    for line in table.lines().take_while(|line| !line.starts_with("## ")) {
        let [_, named, _, places, _] = line.split('|').collect::<Vec<_>>()[..] else { continue };
        for row in rows(named) {
            files.entry(row).or_default().extend(places.split('`').skip(1).step_by(2));
        }
    }
    files
}

/// The rows that no test names; each once, and as many as agreed.
fn unbuilt() -> BTreeSet<Row> {
    let mut all = BTreeSet::new();
    for (named, why) in UNBUILT {
        assert!(!why.is_empty(), "{named}");
        for row in rows(named) {
            assert!(all.insert(row), "{row:?} stands twice on the list");
        }
    }
    assert_eq!(all.len(), UNBUILT_ROWS, "the list of rows that are not built only shrinks");
    all
}

/// Each row is in the table of [`PAGE`] beside a file whose tests name it (a tool, beside one that drives the server
/// with a real client), or on the list of unbuilt ones; and on exactly one of the two.
#[test]
fn every_row_of_the_specification_is_tested_or_on_the_list() {
    let page = read(PAGE);
    let (files, unbuilt, all) = (table(&page), unbuilt(), specification());
    let tested: BTreeSet<Row> = files.keys().copied().collect();
    let named: BTreeMap<&str, BTreeSet<Row>> =
        files.values().flatten().map(|path| (*path, rows(&of_tests(path)))).collect();
    let unknown: Vec<_> = tested.union(&unbuilt).filter(|row| !all.contains(row)).collect();
    assert!(unknown.is_empty(), "no rows of the specification: {unknown:?}");
    let both: Vec<_> = tested.intersection(&unbuilt).collect();
    assert!(both.is_empty(), "in the table of {PAGE}, and on the list of rows that are not built: {both:?}");
    let neither: Vec<_> = all.iter().filter(|row| !tested.contains(row) && !unbuilt.contains(row)).collect();
    assert!(
        neither.is_empty(),
        "neither in the table of {PAGE} nor on the list of rows that are not built: {neither:?}"
    );
    let (_, verdicts) = page.split_once("## Verdicts").expect("the rows that are settled differently");
    let lines = verdicts.lines().take_while(|line| !line.starts_with("## ")).filter_map(|line| line.split('|').nth(1));
    let different: BTreeSet<Row> = lines.flat_map(rows).collect();
    assert!(different.is_subset(&all) && different.is_superset(&unbuilt), "the verdicts of {PAGE}: {different:?}");
    assert!(different.len() <= DIFFERENT_ROWS, "fewer rows may be settled differently, not more: {}", different.len());
    for (path, rows) in &named {
        let built: Vec<_> = rows.intersection(&unbuilt).collect();
        assert!(built.is_empty(), "{path} names rows that are on the list of those that are not built: {built:?}");
    }
    for (row, places) in &files {
        let naming: Vec<_> = places.iter().filter(|path| named[**path].contains(row)).collect();
        assert!(!naming.is_empty(), "none of {places:?} has a test that names {row:?}");
        let is_driven = naming.iter().any(|path| path.starts_with("tests/clients/"));
        assert!(row.0 != 'T' || is_driven, "{row:?} is a tool, but no client drives it: {naming:?}");
    }
}

/// The specification is not part of this repository: if it is available, beside the data of MEMORIST_SHARED_DATA, its
/// rows are compared with those counted here.
#[test]
fn the_rows_are_those_of_the_specification() {
    let data = std::env::var_os("MEMORIST_SHARED_DATA");
    let page = data.and_then(|data| Some(Path::new(&data).parent()?.join("spec").join("features.md")));
    let Some(page) = page.and_then(|page| fs::read_to_string(page).ok()) else {
        eprintln!("not compared: spec/features.md is not beside the folder that MEMORIST_SHARED_DATA names");
        return;
    };
    let first = |line: &str| line.strip_prefix("| ")?.split(" |").next().map(rows);
    let all: BTreeSet<Row> = page.lines().filter_map(first).flatten().collect();
    assert_eq!(all, specification());
}
