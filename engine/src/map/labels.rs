//! Labels of the regions of a map: the density peaks on three grids, each with the phrase that more of its memories have
//! than of those of the other peaks (by what it adds to the divergence of the two, the more the longer it is).

use std::cmp::Reverse;
use std::collections::HashMap;

use super::phrases::{Phrases, Shared};
use super::view::MapView;
use crate::error::Result;

/// Cells along a side of each grid, and the most labels that are made of it.
const GRIDS: [(usize, usize); 3] = [(8, 8), (16, 30), (36, 120)];
/// Memories that are read, and characters of each.
const READ: usize = 12_000;
const CHARS: usize = 400;
/// Minimum number of memories around a peak.
const LEAST: usize = 4;
/// Minimum number of memories around a peak that have its phrase, and one in how many of them.
const LEAST_WITH_PHRASE: u32 = 2;
const ONE_IN: u32 = 25;
/// Minimum ratio of their share to that of all other memories.
const MORE: f32 = 1.5;

/// The label of a region.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MapLabel {
    /// The middle of the memories around the peak, as in [`MapView::x`].
    pub x: u16,
    /// The vertical position, as in [`MapView::y`].
    pub y: u16,
    /// Words that follow one another in several of them; a single one where none do.
    pub text: String,
    /// How many memories there are around the peak.
    pub count: u64,
}

/// The labels of a map, for each of three distances to look at it from, the farthest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MapLabels {
    /// The generation of the view: as in [`MapView::generation`].
    pub generation: u32,
    /// The labels, those of the densest regions first.
    pub levels: [Vec<MapLabel>; 3],
}

/// The labels of a view. `text` gives the first characters of a record: of a sample of them.
///
/// # Errors
/// Errors of `text`.
pub fn labels(view: &MapView, text: impl Fn(u32, usize) -> Result<Option<String>>) -> Result<MapLabels> {
    let mut phrases = Phrases::default();
    let mut read: Vec<usize> = (0..view.len().min(READ)).collect();
    // As they lie in the database.
    read.sort_unstable_by_key(|at| view.ids[*at]);
    for at in read {
        if let Some(text) = text(view.ids[at], CHARS)? {
            phrases.add(at, &text);
        }
    }
    let shared = phrases.shared(LEAST_WITH_PHRASE);
    let levels = GRIDS.map(|(side, most)| level(view, &shared, side, most));
    Ok(MapLabels { generation: view.generation, levels })
}

/// The labels of one grid.
fn level(view: &MapView, shared: &Shared, side: usize, most: usize) -> Vec<MapLabel> {
    let along = |at: u16| (usize::from(at) * side) >> 16;
    let cell = |at: usize| along(view.y[at]) * side + along(view.x[at]);
    let mut counts = vec![0_u32; side * side];
    (0..view.len()).for_each(|at| counts[cell(at)] += 1);
    let peak_of = regions(&counts, side, most);
    let mut regions: HashMap<usize, Region> = HashMap::new();
    for at in 0..view.len() {
        if let Some(peak) = peak_of[cell(at)] {
            regions.entry(peak).or_default().add(view.x[at], view.y[at]);
        }
    }
    let mut everywhere = vec![0_u32; shared.count()];
    for (at, phrases) in &shared.of {
        let Some(region) = peak_of[cell(*at)].and_then(|peak| regions.get_mut(&peak)) else { continue };
        for phrase in phrases {
            *region.phrases.entry(*phrase).or_default() += 1;
            everywhere[*phrase] += 1;
        }
        region.read += 1;
    }
    let read = regions.values().map(|region| region.read).sum();
    let mut labels: Vec<MapLabel> = regions
        .into_values()
        .filter(|region| region.count >= LEAST as u64)
        .filter_map(|region| region.label(shared, &everywhere, read))
        .collect();
    labels.sort_by(|a, b| b.count.cmp(&a.count).then((a.x, a.y).cmp(&(b.x, b.y))));
    labels
}

/// The memories around a peak.
#[derive(Default)]
struct Region {
    count: u64,
    x: u64,
    y: u64,
    /// How many of them were read.
    read: u32,
    /// How many of those have a phrase, by its place.
    phrases: HashMap<usize, u32>,
}

impl Region {
    fn add(&mut self, x: u16, y: u16) {
        (self.count, self.x, self.y) = (self.count + 1, self.x + u64::from(x), self.y + u64::from(y));
    }

    /// The label, where of all regions so many memories were read.
    fn label(&self, shared: &Shared, everywhere: &[u32], read: u32) -> Option<MapLabel> {
        let others = read - self.read;
        // What it adds to the divergence from the others; nothing if they have it nearly as often.
        let weight = |at: usize| {
            let here = self.phrases.get(&at).copied().unwrap_or_default();
            let outside = everywhere[at] - here;
            // What one memory alone has says nothing of the others.
            let share = here.saturating_sub(1) as f32 / self.read as f32;
            let ratio = share * (others + 1) as f32 / (outside as f32 + 0.5);
            match others {
                0 => Some(share),
                _ => (ratio >= MORE).then(|| share * ratio.ln()),
            }
        };
        // Only its words of this region count, with one of which it begins, and with one of which it ends.
        let telling = |at: usize| {
            let words: Vec<bool> = shared.phrase(at).words.iter().map(|word| weight(*word).is_some()).collect();
            let is_own = words.first() == Some(&true) && words.last() == Some(&true);
            is_own.then(|| words.into_iter().filter(|is_of_region| *is_of_region).count() as f32)
        };
        let least = LEAST_WITH_PHRASE.max(self.read / ONE_IN);
        let often = self.phrases.iter().filter(|(_, here)| **here >= least);
        let (_, best) = often
            .filter_map(|(at, _)| Some((weight(*at)? * telling(*at)?, *at)))
            .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)))?;
        let middle = |sum: u64| (sum / self.count.max(1)) as u16;
        Some(MapLabel {
            x: middle(self.x),
            y: middle(self.y),
            text: shared.phrase(best).text.clone(),
            count: self.count,
        })
    }
}

/// For each cell of a grid, the peak whose region it is in. The peaks are the cells that have most around them, without those
/// beside a higher one: of a map that is one disc, they cover its dense part. At most so many have a region.
fn regions(counts: &[u32], side: usize, most: usize) -> Vec<Option<usize>> {
    let beside = |cell: usize| {
        let (row, column) = (cell / side, cell % side);
        let rows = row.saturating_sub(1)..=(row + 1).min(side - 1);
        rows.flat_map(move |row| {
            (column.saturating_sub(1)..=(column + 1).min(side - 1)).map(move |column| row * side + column)
        })
    };
    let height = |cell: usize| counts[cell] + beside(cell).map(|near| counts[near]).sum::<u32>();
    let mut cells: Vec<usize> = (0..counts.len()).filter(|cell| counts[*cell] > 0).collect();
    cells.sort_by_cached_key(|cell| (Reverse(height(*cell)), *cell));
    let mut regions = vec![None; counts.len()];
    let mut peaks = 0;
    for cell in cells {
        if peaks < most && beside(cell).all(|near| regions[near] != Some(near)) {
            peaks += 1;
            beside(cell).for_each(|near| regions[near] = regions[near].or(Some(cell)));
            regions[cell] = Some(cell);
        }
    }
    regions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_regions_of_a_grid_are_apart_and_the_densest_come_first() {
        // A disc that is denser in the middle, and an island.
        let side = 12_i32;
        let count = |cell: i32| {
            let away = (cell / side - 5).pow(2) + (cell % side - 5).pow(2);
            if cell == 0 { 9 } else { (40 - away * 2).max(0) as u32 }
        };
        let counts: Vec<u32> = (0..side * side).map(count).collect();
        let found = regions(&counts, side as usize, 100);
        let peaks: Vec<usize> = (0..found.len()).filter(|cell| found[*cell] == Some(*cell)).collect();
        assert!(peaks.contains(&65) && peaks.contains(&0) && peaks.len() >= 7, "{peaks:?}");
        for (at, one) in peaks.iter().enumerate() {
            for other in &peaks[at + 1..] {
                let apart = (one / 12).abs_diff(other / 12).max((one % 12).abs_diff(other % 12));
                assert!(apart >= 2, "{peaks:?}");
            }
        }
        let three = regions(&counts, side as usize, 3);
        assert_eq!((0..three.len()).filter(|cell| three[*cell] == Some(*cell)).count(), 3);
        assert_eq!(three[65], Some(65));
    }

    #[test]
    fn a_label_is_a_phrase_common_in_its_region_and_not_elsewhere() {
        let mut view = MapView::default();
        for id in 0..200_u32 {
            view.ids.push(id);
            let side = id % 2;
            view.x.push(8_000 + 48_000 * side as u16 + (id % 7) as u16);
            view.y.push(30_000);
        }
        let text = |id: u32, chars: usize| {
            assert_eq!(chars, CHARS);
            let own = if id.is_multiple_of(2) { "the Harbour of Emden, 17 boats" } else { "tulips, and garden at 12" };
            // Words that three memories of a hundred have say nothing of the others.
            let rare = if id < 6 { "doable pram skip." } else { "" };
            Ok((id != 4).then(|| format!("the weekly meeting about {own}. {rare}")))
        };
        let labels = labels(&view, text).unwrap();
        for level in &labels.levels {
            let texts: Vec<&str> = level.iter().map(|label| label.text.as_str()).collect();
            assert_eq!((level.len(), level[0].count, level[0].y), (2, 100, 30_000));
            assert!(texts.contains(&"Harbour of Emden"), "{texts:?}");
            assert!(
                texts.contains(&"garden") || texts.contains(&"tulips"),
                "a word where they share no phrase: {texts:?}"
            );
        }
        assert_eq!(super::labels(&MapView::default(), text).unwrap(), MapLabels::default());
    }
}
