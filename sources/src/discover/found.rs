//! The list of places: each once, none inside another.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

use super::survey::{Survey, every_file, is_note, own_files, survey};
use super::{Place, What};
use crate::formats::Format;
use crate::machine::Machine;

/// The places that were found so far.
pub(super) struct Discovery<'a> {
    home: PathBuf,
    progress: &'a mut dyn FnMut(&Path),
    places: Vec<Place>,
    /// Their numbers by their paths without links.
    by_path: HashMap<PathBuf, Vec<usize>>,
}

impl<'a> Discovery<'a> {
    pub fn new(machine: &Machine, progress: &'a mut dyn FnMut(&Path)) -> Self {
        Discovery { home: real(machine.home()), progress, places: Vec::new(), by_path: HashMap::new() }
    }

    /// The callback for each folder that is looked into.
    pub fn progress(&mut self) -> &mut dyn FnMut(&Path) {
        self.progress
    }

    /// Whether a folder is the home folder, or has it below.
    pub fn has_home(&self, folder: &Path) -> bool {
        self.home.starts_with(real(folder))
    }

    /// Adds transcripts of a format.
    pub fn transcripts(&mut self, format: &dyn Format, path: &Path) {
        let what = What::Sessions { format: format.name() };
        if self.is_new(path, what) {
            let survey = survey(path, every_file, &|path| format.is_transcript(path), self.progress);
            self.add(path, what, survey);
        }
    }

    /// Adds a file or a folder of notes.
    pub fn notes(&mut self, about: &'static str, path: &Path) {
        let what = What::Notes { about };
        if self.is_new(path, what) {
            let survey = if self.has_home(path) {
                Some(Survey::failed("it is the whole home folder: add the folders below it that hold notes"))
            } else {
                survey(path, own_files, &is_note, self.progress)
            };
            self.add(path, what, survey);
        }
    }

    /// Adds notes inside a folder. A link that leads out of it is a problem.
    pub fn notes_inside(&mut self, about: &'static str, inside: &Path, path: &Path) {
        if !path.exists() || real(path).starts_with(real(inside)) {
            self.notes(about, path);
        } else if self.is_new(path, What::Notes { about }) {
            let problem = format!("it is a link that leads out of {}", inside.display());
            self.add(path, What::Notes { about }, Some(Survey::failed(problem)));
        }
    }

    /// Adds a path that could not be read on the way to notes.
    pub fn unread(&mut self, about: &'static str, path: &Path, problem: String) {
        self.add(path, What::Notes { about }, Some(Survey::failed(problem)));
    }

    /// The places at a path without links.
    fn at(&self, real: &Path) -> impl Iterator<Item = &Place> {
        let numbers = self.by_path.get(real).into_iter().flatten();
        numbers.filter_map(|&number| self.places.get(number))
    }

    fn is_new(&self, path: &Path, what: What) -> bool {
        !self.at(&real(path)).any(|place| is_same(place.what, what))
    }

    fn add(&mut self, path: &Path, what: What, survey: Option<Survey>) {
        let Some(Survey { files, bytes, newest, problem }) = survey else { return };
        if files > 0 || problem.is_some() {
            self.by_path.entry(real(path)).or_default().push(self.places.len());
            self.places.push(Place { path: path.to_owned(), what, files, bytes, newest, problem });
        }
    }

    /// All of them, without those that are read as a part of another.
    pub fn places(mut self) -> Vec<Place> {
        let mut inner = vec![false; self.places.len()];
        for (path, numbers) in &self.by_path {
            for &number in numbers {
                let what = self.places[number].what;
                inner[number] = path.ancestors().skip(1).any(|outer| {
                    let is_read = matches!(what, What::Sessions { .. }) || !has_hidden(path, outer);
                    is_read && self.at(outer).any(|place| place.files > 0 && is_same(place.what, what))
                });
            }
        }
        let mut inner = inner.into_iter();
        self.places.retain(|_| !inner.next().unwrap_or_default());
        self.places
    }
}

/// Whether two places have things of one kind, so that one can be a part of the other.
fn is_same(one: What, other: What) -> bool {
    match (one, other) {
        (What::Notes { .. }, What::Notes { .. }) => true,
        (one, other) => one == other,
    }
}

/// Whether a part of `path` below `outer` is hidden: notes there are not read with the others of `outer`.
fn has_hidden(path: &Path, outer: &Path) -> bool {
    let hidden = |part: Component| part.as_os_str().as_encoded_bytes().starts_with(b".");
    path.strip_prefix(outer).is_ok_and(|below| below.components().any(hidden))
}

/// The path without links, as far as it can be found.
fn real(path: &Path) -> PathBuf {
    dunce::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}
