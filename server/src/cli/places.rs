//! The lines of files that results are from, each as `path:line` that a terminal may open.

use crate::hyperlinks::Hyperlink;
use crate::wire::{PlaceInfo, SearchHit};

/// A line for each result that has a place, with its rank.
pub fn lines(hits: &[SearchHit]) -> Option<String> {
    let lines = hits.iter().zip(1..).filter_map(|(hit, rank): (_, usize)| {
        let place = hit.place.as_ref()?;
        Some(format!("{rank:>3}  {}", place.spot()))
    });
    Some(lines.collect::<Vec<_>>().join("\n")).filter(|lines| !lines.is_empty())
}

pub fn links(places: &[&PlaceInfo]) -> Vec<Hyperlink> {
    places.iter().filter_map(|place| Hyperlink::to_file(place.spot(), &place.path)).collect()
}
