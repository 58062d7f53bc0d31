//! The documents name files that exist, and every row of the specification has a test that names it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn readme() -> String {
    fs::read_to_string(root().join("README.md")).unwrap()
}

/// Every `path/to/file.ext` in back quotes of the README is a file of this repository.
#[test]
fn every_path_in_the_readme_exists() {
    let readme = readme();
    let quoted = readme.split('`').skip(1).step_by(2);
    let links = readme.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let paths: Vec<&str> = quoted
        .chain(links)
        .filter(|text| text.contains('/') && !text.contains([' ', '{', '<', '$', '~', ':', '*']))
        .filter(|text| text.split('/').next().is_some_and(|first| root().join(first).is_dir()))
        .collect();
    assert!(paths.len() > 10, "the README names its rooms: {paths:?}");
    let missing: Vec<_> =
        paths.iter().filter(|path| !root().join(path.split('#').next().unwrap_or(path)).exists()).collect();
    assert!(missing.is_empty(), "named in README.md but missing: {missing:?}");
}

/// The rows of the specification that are served: the others come with files, transcripts and providers.
fn served() -> BTreeSet<Row> {
    let all = ["T1-T11", "T13-T36", "T38-T47", "T49", "R1-R16", "R23", "R24", "R26-R28", "Q1-Q17", "D1-D7", "X1-X4"];
    all.iter().flat_map(|range| rows(range)).collect()
}

/// A letter and a number: `T12`.
type Row = (char, u32);

/// The rows that a text names, one by one or as `T1-T11`.
fn rows(text: &str) -> BTreeSet<Row> {
    let row = |word: &str| {
        let letter = word.chars().next().filter(|letter| "TRQDX".contains(*letter))?;
        Some((letter, word[1..].parse::<u32>().ok()?))
    };
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_');
    let ranges = words.filter_map(|word| {
        let (first, last) = word.split_once('-').unwrap_or((word, word));
        row(first).zip(row(last)).filter(|(first, last)| first.0 == last.0)
    });
    ranges.flat_map(|((letter, first), (_, last))| (first..=last).map(move |number| (letter, number))).collect()
}

/// What tests say in a file: all of it in a folder of tests, else what follows the mark of its tests.
fn of_tests(path: &str) -> String {
    let text = fs::read_to_string(root().join(path)).unwrap();
    if path.contains("tests") {
        return text;
    }
    text.split_once("#[cfg(test)]").map_or(String::new(), |(_, tests)| tests.to_owned())
}

/// Each row that is served stands in the README's table beside a file whose tests name it; a tool beside one that
/// drives the server with a real client.
#[test]
fn every_row_of_the_specification_has_a_test_that_names_it() {
    let readme = readme();
    let (_, table) = readme.split_once("## Where each row of the specification is tested").expect("the table");
    let mut files = BTreeMap::<Row, BTreeSet<&str>>::new();
    for line in table.lines().take_while(|line| !line.starts_with("## ")) {
        let [_, named, _, places, _] = line.split('|').collect::<Vec<_>>()[..] else { continue };
        for row in rows(named) {
            files.entry(row).or_default().extend(places.split('`').skip(1).step_by(2));
        }
    }
    let named: BTreeMap<&str, BTreeSet<Row>> =
        files.values().flatten().map(|path| (*path, rows(&of_tests(path)))).collect();
    for row in served() {
        let places = files.get(&row).unwrap_or_else(|| panic!("{row:?} is not in the README's table"));
        let naming: Vec<_> = places.iter().filter(|path| named[**path].contains(&row)).collect();
        assert!(!naming.is_empty(), "none of {places:?} has a test that names {row:?}");
        let is_driven = naming.iter().any(|path| path.starts_with("tests/clients/"));
        assert!(row.0 != 'T' || is_driven, "{row:?} is a tool, but no client drives it: {naming:?}");
    }
}
