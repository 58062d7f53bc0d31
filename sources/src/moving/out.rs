//! The receiver of the memories that readers read.

use std::collections::HashSet;

use super::error::MoveError;
use super::types::{Item, Link, Memory, Report};

/// The receiver, and the report.
pub struct Out<'a, E> {
    visit: &'a mut dyn FnMut(Item) -> Result<(), E>,
    keys: HashSet<String>,
    links: HashSet<Link>,
    /// The report of content that was not moved.
    pub report: Report,
}

/// The result of a reader.
pub type Outcome<E> = Result<(), MoveError<E>>;

impl<'a, E> Out<'a, E> {
    /// Passes everything to `visit`.
    pub fn new(visit: &'a mut dyn FnMut(Item) -> Result<(), E>) -> Self {
        Out { visit, keys: HashSet::new(), links: HashSet::new(), report: Report::default() }
    }

    /// Passes a memory, unless its text is empty or its key was passed before.
    pub fn memory(&mut self, memory: Memory) -> Outcome<E> {
        if memory.content.trim().is_empty() && memory.body.is_none() {
            self.report.count("memories without a text");
            return Ok(());
        }
        if !self.keys.insert(memory.key.clone()) {
            self.report.count("memories that the store has twice");
            return Ok(());
        }
        (self.visit)(Item::Memory(Box::new(memory))).map_err(MoveError::Visit)
    }

    /// Whether the memory with this key was passed.
    pub fn has(&self, key: &str) -> bool {
        self.keys.contains(key)
    }

    /// Passes a link, unless an end of it was not passed.
    pub fn link(&mut self, link: Link) -> Outcome<E> {
        if link.from == link.to {
            self.report.count("links of a memory to itself");
        } else if !self.has(&link.from) || !self.has(&link.to) {
            self.report.count("links of memories that are gone");
        } else if self.links.insert(Link { created_at: None, ..link.clone() }) {
            return (self.visit)(Item::Link(link)).map_err(MoveError::Visit);
        }
        Ok(())
    }
}
