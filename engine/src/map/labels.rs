//! What the regions of a map are about: the density peaks on three grids, each with the words that more of its memories have
//! than of those of the other peaks (what each word adds to the divergence of the two).

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

use super::view::MapView;
use crate::error::Result;
use crate::keywords::significant_words;

/// Cells along a side of each grid, and the most labels that are made of it.
const GRIDS: [(usize, usize); 3] = [(8, 8), (16, 30), (36, 120)];
/// Memories that are read, and characters of each.
const READ: usize = 12_000;
const CHARS: usize = 400;
/// Words of a label.
const WORDS: usize = 3;
/// Memories around a peak of which there is one to speak of.
const LEAST: usize = 4;
/// A word is of so many memories around a peak.
const LEAST_WITH_WORD: u32 = 2;
/// So many times more of them have it than of all others.
const MORE: f32 = 1.5;
/// Shorter words in Latin letters say little.
const SHORT: usize = 3;

/// What a region is about.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MapLabel {
    /// The middle of the memories around the peak, as in [`MapView::x`].
    pub x: u16,
    /// As in [`MapView::y`].
    pub y: u16,
    /// Up to three words.
    pub text: String,
    /// How many memories there are around the peak.
    pub count: u64,
}

/// The labels of a map, for each of three distances to look at it from, the farthest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MapLabels {
    /// Of what they are the labels: as in [`MapView::generation`].
    pub generation: u32,
    /// Those of the densest regions first.
    pub levels: [Vec<MapLabel>; 3],
}

/// The labels of a view. `text` gives the first characters of a record: of a sample of them.
///
/// # Errors
/// Those of `text`.
pub fn labels(view: &MapView, text: impl Fn(u32, usize) -> Result<Option<String>>) -> Result<MapLabels> {
    let mut words = Vec::with_capacity(view.len().min(READ));
    let mut read: Vec<usize> = (0..view.len().min(READ)).collect();
    // As they lie in the database.
    read.sort_unstable_by_key(|at| view.ids[*at]);
    for at in read {
        let Some(text) = text(view.ids[at], CHARS)? else { continue };
        words.push((at, significant_words(&prose(&text)).into_iter().filter(|word| says_something(word)).collect()));
    }
    let levels = GRIDS.map(|(side, most)| level(view, &words, side, most));
    Ok(MapLabels { generation: view.generation, levels })
}

/// The words of a text without what is no language: names of files, addresses, names in code, numbers.
fn prose(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || ['(', ')', '"', '—', '–', '…'].contains(&c));
    words.filter(|word| is_prose(word)).collect::<Vec<_>>().join(" ")
}

/// Whether a word may be of a language. Of scripts that need no spaces all are.
fn is_prose(word: &str) -> bool {
    let is_quote = |c: char| "“”„‟‘’‚‛«»‹›".contains(c);
    let is_mark = |c: char| c.is_ascii_punctuation() && !['/', '\\', '_', '@', '$'].contains(&c);
    let word = word.trim_matches(|c: char| is_quote(c) || is_mark(c));
    if !word.is_ascii() {
        let has_spaces = !word.contains(|c: char| c >= '\u{2E80}') && word.contains(|c: char| c.is_ascii_alphabetic());
        return !has_spaces || !word.contains(['/', '\\', '_', '@', '.']);
    }
    let is_name_in_code = word.starts_with(|c: char| c.is_lowercase()) && word.contains(char::is_uppercase);
    word.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'-' || byte == b'\'') && !is_name_in_code
}

fn says_something(word: &str) -> bool {
    word.chars().any(char::is_alphabetic) && (word.chars().count() >= SHORT || !word.is_ascii())
}

/// The labels of one grid.
fn level(view: &MapView, words: &[(usize, BTreeSet<String>)], side: usize, most: usize) -> Vec<MapLabel> {
    let along = |at: u16| (usize::from(at) * side) >> 16;
    let cell = |at: usize| along(view.y[at]) * side + along(view.x[at]);
    let mut counts = vec![0_u32; side * side];
    (0..view.len()).for_each(|at| counts[cell(at)] += 1);
    let peak_of = regions(&counts, side, most);
    let mut regions: HashMap<usize, Region<'_>> = HashMap::new();
    for at in 0..view.len() {
        if let Some(peak) = peak_of[cell(at)] {
            regions.entry(peak).or_default().add(view.x[at], view.y[at]);
        }
    }
    let mut everywhere: HashMap<&str, u32> = HashMap::new();
    for (at, words) in words {
        let Some(region) = peak_of[cell(*at)].and_then(|peak| regions.get_mut(&peak)) else { continue };
        for word in words {
            *region.words.entry(word).or_default() += 1;
            *everywhere.entry(word).or_default() += 1;
        }
        region.read += 1;
    }
    let read = regions.values().map(|region| region.read).sum();
    let mut labels: Vec<MapLabel> = regions
        .into_values()
        .filter(|region| region.count >= LEAST as u64)
        .filter_map(|region| region.label(&everywhere, read))
        .collect();
    labels.sort_by(|a, b| b.count.cmp(&a.count).then((a.x, a.y).cmp(&(b.x, b.y))));
    labels
}

/// The memories around a peak.
#[derive(Default)]
struct Region<'a> {
    count: u64,
    x: u64,
    y: u64,
    /// How many of them were read.
    read: u32,
    /// How many of those have a word.
    words: HashMap<&'a str, u32>,
}

impl Region<'_> {
    fn add(&mut self, x: u16, y: u16) {
        (self.count, self.x, self.y) = (self.count + 1, self.x + u64::from(x), self.y + u64::from(y));
    }

    /// The label, where of all regions so many memories were read.
    fn label(&self, everywhere: &HashMap<&str, u32>, read: u32) -> Option<MapLabel> {
        let others = read - self.read;
        let weight = |word: &str, here: u32| {
            let outside = everywhere.get(word).copied().unwrap_or(here) - here;
            // What one memory alone has says nothing of the others.
            let share = (here - 1) as f32 / self.read as f32;
            let ratio = share * (others + 1) as f32 / (outside as f32 + 0.5);
            match others {
                0 => Some(share),
                _ => (ratio >= MORE).then(|| share * ratio.ln()),
            }
        };
        let mut words: Vec<(f32, &str)> = self
            .words
            .iter()
            .filter(|(_, here)| **here >= LEAST_WITH_WORD)
            .filter_map(|(word, here)| Some((weight(word, *here)?, *word)))
            .collect();
        words.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
        let mut chosen: Vec<&str> = Vec::new();
        for (_, word) in words {
            // Not "server" and "servers".
            let is_new = |of: &&str| !of.starts_with(word) && !word.starts_with(*of);
            if chosen.iter().all(is_new) {
                chosen.push(word);
            }
            if chosen.len() == WORDS {
                break;
            }
        }
        let middle = |sum: u64| (sum / self.count.max(1)) as u16;
        let text = chosen.join(" ");
        (!text.is_empty()).then(|| MapLabel { x: middle(self.x), y: middle(self.y), text, count: self.count })
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
    fn a_label_has_the_words_of_its_region_and_neither_those_of_all_nor_one_word_twice() {
        let mut view = MapView::default();
        for id in 0..200_u32 {
            view.ids.push(id);
            let side = id % 2;
            view.x.push(8_000 + 48_000 * side as u16 + (id % 7) as u16);
            view.y.push(30_000);
        }
        let text = |id: u32, chars: usize| {
            assert_eq!(chars, CHARS);
            let own = if id.is_multiple_of(2) { "boat boats harbour 17 of" } else { "tulips garden at 12" };
            Ok((id != 4).then(|| format!("the meeting about {own}")))
        };
        let labels = labels(&view, text).unwrap();
        for level in &labels.levels {
            let texts: Vec<&str> = level.iter().map(|label| label.text.as_str()).collect();
            assert_eq!((level.len(), level[0].count, level[0].y), (2, 100, 30_000));
            assert!(texts.iter().any(|text| text.starts_with("boat harbour")), "{texts:?}");
            assert!(texts.iter().any(|text| text.contains("garden") && text.contains("tulips")), "{texts:?}");
            assert!(!texts.join(" ").contains("boats") && !texts.join(" ").contains("meeting"), "{texts:?}");
        }
        assert_eq!(super::labels(&MapView::default(), text).unwrap(), MapLabels::default());
    }

    #[test]
    fn what_is_no_language_is_in_no_label() {
        for (text, kept) in [
            ("First photo: IMG/DSC_0042.JPG, taken (at dawn).", "First photo: taken at dawn ."),
            ("see https://example.org/a and mail a@b.org, id 0x3f or v1.2", "see and mail id or"),
            ("getUserName fails in main.rs; the well-known parser's bug", "fails in the well-known parser's bug"),
            ("die Fähre fährt um 8 Uhr", "die Fähre fährt um Uhr"),
            ("渡轮在8点出发", "渡轮在8点出发"),
            ("渡轮在main.rs出发。", "渡轮在main.rs出发。"),
            ("in /home/jörg/notes_alt.md, Fähre.txt and jörg@example.org: «Größe.»", "in and «Größe.»"),
            ("the “main.rs” of ‘getUserName’ is the parser’s “own”", "the of is the parser’s “own”"),
        ] {
            let words = prose(text).split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
            assert_eq!(words, kept);
        }
    }
}
