//! Checks all that can be checked of an index.

use std::collections::HashSet;

use rayon::prelude::*;

use crate::error::Problem;
use crate::format::layout::Section;
use crate::format::view::{SegmentView, row_links};
use crate::format::{MAX_LEVEL, NO_SLOT, names};
use crate::graph::vectors::Vectors;
use crate::graph::{GraphView, connect, edges};
use crate::quantize::Row;
use crate::segment::Segment;
use crate::snapshot::Snapshot;
use crate::{Key, Slot};

/// So far from 1 the squared length of a vector may be: what scaling in f32 leaves, for the most dimensions.
const LENGTH_TOLERANCE: f64 = 1e-4;

pub(crate) fn verify(snapshot: &Snapshot) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut live = HashSet::new();
    for segment in &snapshot.segments {
        let file = names::segment_name(segment.file.number);
        let mut report = |what: String| problems.push(Problem { file: file.clone(), what });
        let view = segment.file.view();
        check_sections(segment, &mut report);
        check_keys(&view, &mut report);
        check_vectors(&view, &mut report);
        if let Some(graph) = &view.graph {
            check_graph(graph, view.count(), &mut report);
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

fn check_graph(graph: &GraphView<'_>, count: usize, report: &mut impl FnMut(String)) {
    let mut first = First::default();
    let mut rows = 0;
    for (&level, slot) in graph.levels.iter().zip(0..) {
        first.note(level > graph.top_level.min(MAX_LEVEL), || format!("slot {slot} is above the highest level"));
        let expected = if level > 0 { rows } else { NO_SLOT };
        first.note(graph.upper_start.get(slot as usize) != Some(&expected), || {
            format!("the upper links of slot {slot} are not where they belong")
        });
        rows = rows.wrapping_add(u32::from(level));
        for at in 0..=level {
            check_row(graph, slot, at, count, &mut first);
        }
    }
    first.note(rows as usize * graph.upper_width != graph.upper_links.len(), || {
        "there are not as many upper links as the levels say".to_owned()
    });
    first.note(graph.levels.get(graph.entry as usize) != Some(&graph.top_level), || {
        "the entry is not on the highest level".to_owned()
    });
    let seen = connect::reachable(graph, count);
    let lost = seen.iter().filter(|&&is_seen| !is_seen).count();
    first.note(lost > 0, || format!("{lost} of {count} vectors cannot be reached from the entry"));
    first.report(report);
}

fn check_edges(graph: &GraphView<'_>, vectors: &Vectors<'_>, report: &mut impl FnMut(String)) {
    let is_wrong = |&slot: &Slot| {
        let (row, edges) = graph.links_and_edges(slot);
        let mut expected = vec![0; 4 * edges.len()];
        edges::encode(vectors, slot, row_links(row), &mut expected);
        bytemuck::cast_slice::<u32, u8>(edges) != expected
    };
    let wrong: Vec<Slot> = (0..vectors.codes.count() as Slot).into_par_iter().filter(is_wrong).collect();
    let mut first = First::default();
    for slot in wrong {
        first.note(true, || format!("the edges of slot {slot} are not those of its links and codes"));
    }
    first.report(report);
}

fn check_row(graph: &GraphView<'_>, slot: Slot, level: u8, count: usize, first: &mut First) {
    let neighbours = graph.neighbours(slot, level);
    for (position, &neighbour) in neighbours.iter().enumerate() {
        let neighbour_level = graph.levels.get(neighbour as usize);
        let is_wrong = neighbour as usize >= count
            || neighbour == slot
            || neighbours[..position].contains(&neighbour)
            || neighbour_level.is_none_or(|&other| other < level);
        first.note(is_wrong, || format!("slot {slot} has a wrong link on level {level}: {neighbour}"));
    }
    let rest = graph.row(slot, level).map_or(&[][..], |row| &row[neighbours.len()..]);
    first.note(rest.iter().any(|&link| link != NO_SLOT), || {
        format!("slot {slot} has links on level {level} after their end")
    });
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
