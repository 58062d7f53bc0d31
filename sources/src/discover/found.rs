//! The list of places: each once, none inside another.

use std::fs;
use std::path::{Component, Path, PathBuf};

use super::survey::{Survey, every_file, is_note, own_files, survey};
use super::{Place, What};
use crate::formats::Format;
use crate::machine::Machine;

/// What was found so far.
pub(super) struct Found<'a> {
    home: PathBuf,
    progress: &'a mut dyn FnMut(&Path),
    /// Each with its path without links.
    places: Vec<(PathBuf, Place)>,
}

impl<'a> Found<'a> {
    pub fn new(machine: &Machine, progress: &'a mut dyn FnMut(&Path)) -> Self {
        Found { home: real(machine.home()), progress, places: Vec::new() }
    }

    /// Is called with each folder that is looked into.
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

    /// Adds notes that `inside` has. A link that leads out of it is a problem.
    pub fn notes_inside(&mut self, about: &'static str, inside: &Path, path: &Path) {
        if !path.exists() || real(path).starts_with(real(inside)) {
            self.notes(about, path);
        } else if self.is_new(path, What::Notes { about }) {
            let problem = format!("it is a link that leads out of {}", inside.display());
            self.add(path, What::Notes { about }, Some(Survey::failed(problem)));
        }
    }

    fn is_new(&self, path: &Path, what: What) -> bool {
        let real = real(path);
        !self.places.iter().any(|(known, place)| *known == real && is_same(place.what, what))
    }

    fn add(&mut self, path: &Path, what: What, survey: Option<Survey>) {
        let Some(Survey { files, bytes, newest, problem }) = survey else { return };
        if files > 0 || problem.is_some() {
            let place = Place { path: path.to_owned(), what, files, bytes, newest, problem };
            self.places.push((real(path), place));
        }
    }

    /// All of them, without those that are read as a part of another.
    pub fn places(self) -> Vec<Place> {
        let is_read_by = |(outer, other): &(PathBuf, Place), (inner, place): &(PathBuf, Place)| {
            let below = inner.strip_prefix(outer).ok().filter(|below| !below.as_os_str().is_empty());
            other.files > 0
                && is_same(other.what, place.what)
                && below.is_some_and(|below| matches!(place.what, What::Sessions { .. }) || !is_hidden(below))
        };
        let inner = |place: &(PathBuf, Place)| self.places.iter().any(|other| is_read_by(other, place));
        let kept: Vec<bool> = self.places.iter().map(|place| !inner(place)).collect();
        self.places.into_iter().zip(kept).filter(|(_, kept)| *kept).map(|((_, place), _)| place).collect()
    }
}

/// Whether two places have things of one kind, so that one can be a part of the other.
fn is_same(one: What, other: What) -> bool {
    match (one, other) {
        (What::Notes { .. }, What::Notes { .. }) => true,
        (one, other) => one == other,
    }
}

/// Whether a part of a path is hidden: notes there are not read with those around it.
fn is_hidden(path: &Path) -> bool {
    let hidden = |part: Component| part.as_os_str().to_str().is_some_and(|part| part.starts_with('.'));
    path.components().any(hidden)
}

/// The path without links, as far as it can be found.
fn real(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}
