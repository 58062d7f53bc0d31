//! Checks all that can be checked of an index.

use std::collections::HashSet;
use std::fmt::Display;

use rayon::prelude::*;

use crate::error::Problem;
use crate::format::layout::Section;
use crate::format::node::row_links;
use crate::format::{NO_SLOT, names};
use crate::graph::edges::Encoder;
use crate::graph::vectors::Vectors;
use crate::graph::{GraphView, connect};
use crate::ids::{Key, Slot};
use crate::quantize::Row;
use crate::segment::Segment;
use crate::segment::view::SegmentView;

/// So far from 1 the squared length of a vector may be: what scaling in f32 leaves, for the most dimensions.
const LENGTH_TOLERANCE: f64 = 1e-4;

pub(crate) fn verify(segments: &[Segment]) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut live = HashSet::new();
    for segment in segments {
        let file = names::segment_name(segment.file.number);
        let mut report = |what: String| problems.push(Problem { file: file.clone(), what });
        let view = segment.file.view();
        check_sections(segment, &mut report);
        check_keys(&view, &mut report);
        check_vectors(&view, &mut report);
        if let Some(graph) = &view.graph {
            let entries = segment.file.header.shape.entries as usize;
            check_graph(graph, entries, view.count(), &mut report);
            check_edges(graph, &view.vectors, &mut report);
        }
        for (&key, slot) in view.keys.iter().zip(0..) {
            if !segment.tombstones.contains(slot) && !live.insert(key) {
                let what = format!("key {key} is live in more than one segment");
                problems.push(Problem { file: names::manifest_name(), what });
            }
        }
    }
    problems
}

fn check_sections(segment: &Segment, report: &mut impl FnMut(String)) {
    let file = &segment.file;
    for section in Section::ALL {
        if !file.matches_checksum(section) {
            report(format!("the section \"{}\" does not match its checksum", section.name()));
        }
    }
    if segment.tombstones.bitmap.max().is_some_and(|slot| slot >= file.header.shape.count) {
        report("a tombstone is out of range".to_owned());
    }
}

fn check_keys(view: &SegmentView<'_>, report: &mut impl FnMut(String)) {
    let mut first = First::default();
    for pair in view.sorted_keys.windows(2) {
        first.note(pair[0] >= pair[1], || format!("the sorted keys are not ascending at {}", pair[1]));
    }
    for (position, &key) in view.sorted_keys.iter().enumerate() {
        let slot_key: Option<&Key> = view.slot_at(position).and_then(|slot| view.keys.get(slot as usize));
        first.note(slot_key != Some(&key), || format!("key {key} is not where the sorted slots say"));
    }
    first.report(report);
}

fn check_vectors(view: &SegmentView<'_>, report: &mut impl FnMut(String)) {
    let mut first = First::default();
    for slot in 0..view.count() as Slot {
        let length: f64 =
            view.vectors.row(slot).into_iter().flat_map(Row::decode).map(|x| f64::from(x) * f64::from(x)).sum();
        first.note(length.is_nan() || (length - 1.0).abs() > LENGTH_TOLERANCE, || {
            format!("the vector of slot {slot} has not the length 1")
        });
    }
    first.report(report);
}

fn check_graph(graph: &GraphView<'_>, entries: usize, count: usize, report: &mut impl FnMut(String)) {
    let mut first = First::default();
    check_row("the entries", graph.entries_and_edges().0, NO_SLOT, count, &mut first);
    first.note(graph.entries().len() != entries, || "there are not as many entries as the header says".to_owned());
    for slot in 0..count as Slot {
        let (links, _) = graph.links_and_edges(slot);
        check_row(format_args!("slot {slot}"), links, slot, count, &mut first);
        let firm = graph.firm.get(slot as usize).copied().unwrap_or(u8::MAX);
        first
            .note(usize::from(firm) > row_links(links).len(), || format!("slot {slot} has fewer links than firm ones"));
    }
    let seen = connect::reachable(graph, count);
    let lost = seen.iter().filter(|&&is_seen| !is_seen).count();
    first.note(lost > 0, || format!("{lost} of {count} vectors cannot be reached from the first entry"));
    first.report(report);
}

fn check_edges(graph: &GraphView<'_>, vectors: &Vectors<'_>, report: &mut impl FnMut(String)) {
    let is_wrong = |encoder: &mut Encoder, (links, edges): (&[Slot], &[u32])| {
        edges != encoder.edges(vectors, row_links(links), edges.len())
    };
    let mut first = First::default();
    let mut encoder = Encoder::default();
    encoder.centre_on_zero(vectors);
    let entries_are_wrong = is_wrong(&mut encoder, graph.entries_and_edges());
    first.note(entries_are_wrong, || "the edges of the entries are not those of their codes".to_owned());
    let slots = (0..vectors.codes.count() as Slot).into_par_iter();
    let wrong = slots.map_init(Encoder::default, |encoder, slot| {
        encoder.centre_on(vectors, slot);
        is_wrong(encoder, graph.links_and_edges(slot)).then_some(slot)
    });
    for slot in wrong.flatten().collect::<Vec<Slot>>() {
        first.note(true, || format!("the edges of slot {slot} are not those of its links and codes"));
    }
    first.report(report);
}

/// `itself` is what the row may not link to.
fn check_row(whose: impl Display, row: &[Slot], itself: Slot, count: usize, first: &mut First) {
    let links = row_links(row);
    for (position, &link) in links.iter().enumerate() {
        let is_wrong = link as usize >= count || link == itself || links[..position].contains(&link);
        first.note(is_wrong, || format!("{whose}: a wrong link to {link}"));
    }
    first.note(row[links.len()..].iter().any(|&link| link != NO_SLOT), || format!("{whose}: links after their end"));
}

/// The first problem of a kind of check, and how many there are: a damaged section has thousands.
#[derive(Default)]
struct First {
    what: Option<String>,
    more: usize,
}

impl First {
    fn note(&mut self, is_problem: bool, what: impl FnOnce() -> String) {
        if is_problem {
            match self.what {
                None => self.what = Some(what()),
                Some(_) => self.more += 1,
            }
        }
    }

    fn report(self, report: &mut impl FnMut(String)) {
        if let Some(what) = self.what {
            report(if self.more == 0 { what } else { format!("{what} (and {} more)", self.more) });
        }
    }
}
