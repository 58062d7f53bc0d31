//! One unchanging view of an index.

use std::path::Path;
use std::sync::Arc;

use crate::best::Best;
use crate::error::{OpenError, Problem, SearchError, VectorError};
use crate::filter::Filter;
use crate::format::manifest::Manifest;
use crate::ids::Key;
use crate::layout::Layout;
use crate::options::SearchParams;
use crate::quantize::Row;
use crate::rotate::Rotation;
use crate::search::{self, Query, Scored, SearchRequest};
use crate::segment::view::SegmentView;
use crate::segment::{Segment, SegmentFile, Tombstones};
use crate::verify;

/// One result of a search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// The key that the vector was saved with.
    pub key: Key,
    /// The cosine of the query and the vector, computed in f32 from the vector's 16-bit codes: within 0.00002, from 384
    /// dimensions on within 0.00001. In a compact index from its 8-bit codes: within 0.003.
    pub score: f32,
}

/// One unchanging view of an index. Searching it takes no lock; it stays whole when the index changes or its files are
/// removed.
#[derive(Debug)]
pub struct Snapshot {
    pub(crate) layout: Layout,
    pub(crate) dims: usize,
    pub(crate) generation: u64,
    pub(crate) next_segment: u64,
    pub(crate) payload: Vec<u8>,
    pub(crate) segments: Vec<Segment>,
    pub(crate) rotation: Arc<Rotation>,
}

/// The vectors of a snapshot by their keys: the newest segment first, each with its sections.
pub(crate) struct Rows<'a>(Vec<(&'a Segment, SegmentView<'a>)>);

impl<'a> Rows<'a> {
    /// The vector of a key.
    pub(crate) fn of(&self, key: Key) -> Option<Row<'a>> {
        self.0.iter().find_map(|(segment, view)| view.vectors.row(segment.live_slot(view, key)?))
    }
}

impl Snapshot {
    /// Maps the segments of a manifest, or takes them over from an older snapshot.
    pub(crate) fn open(folder: &Path, manifest: Manifest, older: Option<&Self>) -> Result<Self, OpenError> {
        let Manifest { layout, dims, generation, next_segment, payload, segments } = manifest;
        let segments = segments.into_iter().map(|entry| {
            let known = older
                .into_iter()
                .flat_map(|older| &older.segments)
                .find(|known| (known.file.number, known.file.header_checksum) == (entry.number, entry.header_checksum));
            if let Some(known) = known.filter(|known| known.tombstones.bitmap == entry.tombstones) {
                return Ok(known.clone());
            }
            let file = match known {
                Some(known) => Arc::clone(&known.file),
                None => Arc::new(SegmentFile::open(folder, &entry, layout, dims)?),
            };
            Ok(Segment { file, efforts: entry.efforts, tombstones: Arc::new(Tombstones::new(entry.tombstones)) })
        });
        let segments = segments.collect::<Result<_, OpenError>>()?;
        // The folder may have got an index of other vectors.
        let rotation = older.map(|older| &older.rotation).filter(|rotation| rotation.dims() == dims);
        let rotation = rotation.map_or_else(|| Arc::new(Rotation::new(dims)), Arc::clone);
        Ok(Self { layout, dims, generation, next_segment, payload, segments, rotation })
    }

    /// The vectors nearest to `query` by cosine among those that the filter lets pass, best first, ties by key. The
    /// query may have any length but zero. Fewer than `k` come back only when fewer are allowed.
    ///
    /// # Errors
    /// When the query has other dimensions than the index, is zero, or has a NaN or an infinity in it; when the effort
    /// is a recall of 0 or less, of more than 1, or NaN.
    pub fn search(&self, query: &[f32], params: &SearchParams, filter: Filter<'_>) -> Result<Vec<Hit>, SearchError> {
        params.effort.check()?;
        let query = Query::new(self.unit(query)?);
        let filter_len = match filter {
            Filter::All => 0,
            Filter::Only(keys) | Filter::Except(keys) => keys.count(),
        };
        // More than there are cannot be found; so no memory is set aside for more.
        let total = self.len();
        let k = params.k.min(total);
        let request =
            SearchRequest { query: &query, k, effort: params.effort, filter, filter_len, total: total as u64 };
        let mut found = Vec::new();
        if k > 0 {
            self.segments.iter().for_each(|segment| search::search(segment, &request, &mut found));
        }
        let mut best = Best::new(k);
        found.into_iter().for_each(|(key, score)| best.push(Scored { score, key }));
        Ok(best.into_sorted().into_iter().map(|Scored { score, key }| Hit { key, score }).collect())
    }

    /// The cosine of the query and each key's vector, as a [`Hit`]'s; `None` where there is none.
    ///
    /// # Errors
    /// When the query is one that [`search`](Self::search) refuses.
    pub fn scores(&self, query: &[f32], keys: &[Key]) -> Result<Vec<Option<f32>>, SearchError> {
        let vector = self.unit(query)?;
        let kernel = crate::simd::Kernel::detect();
        let rows = self.rows();
        Ok(keys.iter().map(|&key| rows.of(key).map(|row| row.dot(&vector, kernel))).collect())
    }

    /// The vector of a key, scaled to length 1, approximately: it is kept in 16 bits per number, in a compact index in 8.
    pub fn vector(&self, key: Key) -> Option<Vec<f32>> {
        self.rows().of(key).map(|row| self.rotation.original(row.decode()))
    }

    /// The vectors as they are kept, to look up many keys.
    pub(crate) fn rows(&self) -> Rows<'_> {
        Rows(self.segments.iter().rev().map(|segment| (segment, segment.file.view())).collect())
    }

    /// Whether a key has a vector.
    pub fn contains(&self, key: Key) -> bool {
        self.segments.iter().any(|segment| segment.live_slot(&segment.file.view(), key).is_some())
    }

    /// How many vectors can be found.
    pub fn len(&self) -> usize {
        self.segments.iter().map(Segment::live).sum()
    }

    /// Whether no vectors can be found.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All keys, in no order.
    pub fn keys(&self) -> impl Iterator<Item = Key> + '_ {
        self.segments.iter().flat_map(|segment| {
            let slots = segment.file.view().keys.iter().zip(0..);
            slots.filter(|&(_, slot)| !segment.tombstones.contains(slot)).map(|(&key, _)| key)
        })
    }

    /// The keys from `first` on, in no order. Looks at no smaller ones.
    pub fn keys_from(&self, first: Key) -> impl Iterator<Item = Key> + '_ {
        self.segments.iter().flat_map(move |segment| {
            let view = segment.file.view();
            let from = view.sorted_keys.partition_point(|key| *key < first);
            (from..view.sorted_keys.len()).filter_map(move |position| {
                let slot = view.slot_at(position)?;
                (!segment.tombstones.contains(slot)).then_some(view.sorted_keys[position])
            })
        })
    }

    /// The bytes that the caller published last.
    pub fn payload(&self) -> &[u8] {
        &self.payload
    }

    /// Grows with each publication, from 1.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// How the vectors are kept.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// The dimensions of the vectors.
    pub fn dims(&self) -> usize {
        self.dims
    }

    /// How many segments there are: each is searched on its own.
    pub fn segment_count(&self) -> usize {
        self.segments.len()
    }

    /// How many bytes [`check`](Self::check) would have to read: those of segments that were not compared with their
    /// checksums yet since they were mapped.
    pub fn unchecked_bytes(&self) -> u64 {
        let unchecked = self.segments.iter().filter(|segment| !segment.file.is_checked());
        unchecked.map(|segment| segment.file.places.file_len).sum()
    }

    /// Compares every segment with its checksums, each once after it was mapped: what newer snapshots take over from
    /// this one is not read again. Opening an index reads nothing but headers, so a caller that relies on what a
    /// search finds checks first.
    ///
    /// # Errors
    /// When a segment is damaged.
    pub fn check(&self) -> Result<(), OpenError> {
        self.segments.iter().try_for_each(|segment| segment.file.check())
    }

    /// Checks all that can be checked, reading every byte: checksums, keys, links, that every node can be reached,
    /// codes, tombstones. Returns what is wrong; nothing, for a sound index.
    pub fn verify(&self) -> Vec<Problem> {
        verify::verify(&self.segments)
    }

    fn unit(&self, query: &[f32]) -> Result<Vec<f32>, VectorError> {
        let mut vector = Vec::new();
        self.rotation.unit(query, &mut vector)?;
        Ok(vector)
    }
}
