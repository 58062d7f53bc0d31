//! The records around one in its thread, over all segments and the tail.

use std::sync::Arc;

use roaring::RoaringTreemap;
use tantivy::DocId;

use super::filter_cache::FilteredDocs;
use super::found::{DocLocation, Turn, Window};
use super::segment::Segment;
use super::tail::{TailIndex, TailPart};
use super::threads::{ThreadPlace, Threads};
use crate::error::Result;
use crate::types::{Filter, RecordId};

/// A segment or a part of the tail, as a list of threads.
trait ThreadSource {
    fn threads(&self) -> &Threads;
    fn thread_place(&self, doc: DocId) -> Option<ThreadPlace>;
    fn id(&self, doc: DocId) -> RecordId;
    /// Whether the document is the newest version of a record that is there.
    fn is_live(&self, doc: DocId) -> bool;
    /// Whether its record may be returned.
    fn is_admitted(&self, doc: DocId, id: RecordId) -> bool;
}

/// Finds windows.
pub(super) struct Windows<'a> {
    sources: Vec<Box<dyn ThreadSource + 'a>>,
    /// The members before and after a record, nearest first. The vectors are reused for the next record.
    before: Vec<ThreadMember>,
    after: Vec<ThreadMember>,
}

/// A record of a thread, with its place in it.
type ThreadMember = (i64, Turn);

impl<'a> Windows<'a> {
    /// Windows over segments and a tail, of the records that pass `filter` and are not in `except`.
    pub(super) fn over(
        segments: &'a [Segment],
        tail: Option<&'a TailIndex>,
        filter: &'a Filter,
        except: &'a RoaringTreemap,
    ) -> Result<Self> {
        let mut sources: Vec<Box<dyn ThreadSource + 'a>> = Vec::new();
        for segment in segments {
            let matching = if filter.is_empty() { None } else { Some(segment.matching(filter)?) };
            sources.push(Box::new(InSegment { segment, matching, except, tail }));
        }
        for part in tail.map_or(&[][..], TailIndex::parts) {
            sources.push(Box::new(InPart { part, filter, except }));
        }
        Ok(Windows { sources, before: Vec::new(), after: Vec::new() })
    }

    /// Whether there is any thread.
    pub(super) fn has_threads(&self) -> bool {
        self.sources.iter().any(|source| !source.threads().is_empty())
    }

    /// The records around that at `place`.
    pub(super) fn around(&mut self, place: DocLocation) -> Option<Window> {
        let own = &self.sources[place.source as usize];
        let ThreadPlace { thread, turn, is_question, words } = own.thread_place(place.doc)?;
        let id = own.id(place.doc);
        self.before.clear();
        self.after.clear();
        for (number, source) in (0..).zip(&self.sources) {
            let docs = source.threads().docs(thread);
            let key = |doc: DocId| Some((source.thread_place(doc)?.turn, source.id(doc)));
            let at = docs.partition_point(|&doc| key(doc) < Some((turn, id)));
            let member = |doc: DocId| {
                let ThreadPlace { turn, is_question, words, .. } = source.thread_place(doc)?;
                Some((
                    turn,
                    Turn { id: source.id(doc), place: DocLocation { source: number, doc }, is_question, words },
                ))
            };
            let live = |docs: &mut dyn Iterator<Item = DocId>, members: &mut Vec<ThreadMember>| {
                let live = docs.filter(|&doc| source.is_live(doc)).filter_map(member);
                members.extend(live.filter(|(_, turn)| turn.id != id).take(Window::REACH));
            };
            live(&mut docs[..at].iter().rev().copied(), &mut self.before);
            live(&mut docs[at..].iter().copied(), &mut self.after);
        }
        if self.sources.len() > 1 {
            self.before.sort_unstable_by_key(|member| std::cmp::Reverse((member.0, member.1.id)));
            self.after.sort_unstable_by_key(|member| (member.0, member.1.id));
        }
        let mut window = Window { turns: [None; 2 * Window::REACH + 1] };
        window.turns[Window::REACH] = Some(Turn { id, place, is_question, words });
        for (steps, (_, turn)) in (1..=Window::REACH).zip(&self.before) {
            window.turns[Window::REACH - steps] = self.admitted(*turn);
        }
        for (steps, (_, turn)) in (1..=Window::REACH).zip(&self.after) {
            window.turns[Window::REACH + steps] = self.admitted(*turn);
        }
        Some(window)
    }

    fn admitted(&self, turn: Turn) -> Option<Turn> {
        let source = &self.sources[turn.place.source as usize];
        source.is_admitted(turn.place.doc, turn.id).then_some(turn)
    }
}

/// A segment as a list of threads.
struct InSegment<'a> {
    segment: &'a Segment,
    matching: Option<Arc<FilteredDocs>>,
    except: &'a RoaringTreemap,
    tail: Option<&'a TailIndex>,
}

impl ThreadSource for InSegment<'_> {
    fn threads(&self) -> &Threads {
        self.segment.threads()
    }

    fn thread_place(&self, doc: DocId) -> Option<ThreadPlace> {
        self.segment.thread_place(doc)
    }

    fn id(&self, doc: DocId) -> RecordId {
        self.segment.id(doc)
    }

    fn is_live(&self, doc: DocId) -> bool {
        let is_replaced = || self.tail.is_some_and(|tail| tail.replaces(self.segment.id(doc)));
        !self.segment.reader.is_deleted(doc) && !is_replaced()
    }

    fn is_admitted(&self, doc: DocId, id: RecordId) -> bool {
        self.matching.as_ref().is_none_or(|matching| matching.docs.contains(doc)) && !self.except.contains(id.key())
    }
}

/// A part of the tail as a list of threads.
struct InPart<'a> {
    part: &'a TailPart,
    filter: &'a Filter,
    except: &'a RoaringTreemap,
}

impl ThreadSource for InPart<'_> {
    fn threads(&self) -> &Threads {
        self.part.indexed.threads()
    }

    fn thread_place(&self, doc: DocId) -> Option<ThreadPlace> {
        self.part.indexed.thread_place(doc)
    }

    fn id(&self, doc: DocId) -> RecordId {
        self.part.indexed.records()[doc as usize].id
    }

    fn is_live(&self, doc: DocId) -> bool {
        !self.part.stale.contains(self.id(doc).key())
    }

    fn is_admitted(&self, doc: DocId, id: RecordId) -> bool {
        self.filter.allows(&self.part.indexed.records()[doc as usize]) && !self.except.contains(id.key())
    }
}
