//! [`Keeper`]: the map of a store, shared by the processes that have it open.
//!
//! One process at a time makes a map (`map/making` is locked that long), and one at a time writes the file (`map/lock`, only as
//! long as that takes). A writer reads the records again first, so that purged memories are not written back.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use memorist_durable::{FileId, LockedFile};
use parking_lot::Mutex;

use super::file::{Map, Point};
use super::view::MapView;
use crate::error::{Error, Result};
use crate::files::{private_file, private_folders, remove_file_if_present};
use crate::progress::Progress;
use crate::records::PointRows;
use crate::types::{Millis, Seq, Viewer};

/// The map of one store.
pub struct Keeper {
    folder: PathBuf,
    lineage: String,
    can_write: bool,
    /// Whether maps and places that are made here are written, and not only kept in memory.
    writes: bool,
    known: Mutex<CachedMap>,
    /// Locked while this process replaces the map: the lock of the file is not taken where it stays in memory.
    replacing: Mutex<()>,
    making: Mutex<Option<Making>>,
    views: Mutex<Views>,
}

/// The map as this process knows it.
#[derive(Default)]
struct CachedMap {
    /// The map, of any model.
    map: Option<Arc<Map>>,
    /// The file that it was read from.
    file: Option<(FileId, SystemTime)>,
    /// Why there is no map.
    why: Option<&'static str>,
}

/// How far a map in the making is.
#[derive(Debug, Clone, Copy, Default)]
struct Making {
    done: u64,
    total: u64,
}

/// The view that was shown last.
#[derive(Default)]
struct Views {
    generation: u32,
    last: Option<(Viewer, Seen, Arc<MapView>)>,
}

/// The state that a view depends on, beside its viewer.
#[derive(Clone, PartialEq)]
pub struct Seen {
    /// The newest entry of the sync log.
    pub head: Seq,
    /// See `Snapshot::superseding`.
    pub superseding: i64,
    /// The map.
    pub map: u32,
    /// Whether records are left that have no place yet: then the next look places more.
    pub has_unplaced: bool,
}

/// The proof that this process is the one that makes the map.
pub struct MakingGuard<'a> {
    keeper: &'a Keeper,
    _lock: Option<LockedFile>,
}

impl Drop for MakingGuard<'_> {
    fn drop(&mut self) {
        *self.keeper.making.lock() = None;
    }
}

impl Keeper {
    /// The map in `folder` of the store of this lineage, which can be written or not. What is made here is kept in memory unless
    /// it `writes`. Reads nothing yet.
    pub fn new(folder: PathBuf, lineage: &str, can_write: bool, writes: bool) -> Self {
        Keeper {
            folder,
            lineage: lineage.into(),
            can_write,
            writes: writes && can_write,
            known: Mutex::default(),
            replacing: Mutex::default(),
            making: Mutex::default(),
            views: Mutex::default(),
        }
    }

    /// The folder that it is in.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn file(&self) -> PathBuf {
        self.folder.join("places")
    }

    /// The newest map of the store, of any model; and why it is missing although a file exists.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn newest(&self) -> Result<(Option<Arc<Map>>, Option<&'static str>)> {
        let path = self.file();
        let mut known = self.known.lock();
        let file = FileId::with_metadata(&path).and_then(|(id, found)| Ok((id, found.modified()?))).ok();
        if file != known.file {
            let (map, why) = match Map::read(&path) {
                Ok(Some(Ok(map))) if map.lineage == self.lineage => (Some(Arc::new(map)), None),
                Ok(Some(Ok(_))) => (None, Some("it was made from another store")),
                Ok(Some(Err(why))) => (None, Some(why)),
                Ok(None) => (None, None),
                // Its owner's files may be private.
                Err(_) if !self.can_write => (None, Some("it cannot be read")),
                Err(error) => return Err(error),
            };
            *known = CachedMap { map, file, why };
        }
        Ok((known.map.clone(), known.why))
    }

    /// Begins to make a map.
    ///
    /// # Errors
    /// [`Error::Held`] while one is being made, here or in another process; [`Error::Io`].
    pub fn begin_making(&self) -> Result<MakingGuard<'_>> {
        let busy = || Error::Held("a map is being built already; wait for it".into());
        let mut making = self.making.lock();
        if making.is_some() {
            return Err(busy());
        }
        let lock = match self.writes {
            true => Some(LockedFile::try_lock(self.open("making")?).map_err(|error| Error::io(&self.folder, error))?),
            false => None,
        };
        let lock = match lock {
            Some(None) => return Err(busy()),
            Some(lock) => lock,
            None => None,
        };
        *making = Some(Making::default());
        Ok(MakingGuard { keeper: self, _lock: lock })
    }

    /// How far the map is that this process makes: from 0 to 1.
    pub fn progress(&self) -> Option<f64> {
        let Making { done, total } = (*self.making.lock())?;
        Some(if total == 0 { 0.0 } else { (done as f64 / total as f64).min(1.0) })
    }

    /// Puts the map that `change` makes of the newest one in its place, if it makes one. Waits for another process that does
    /// so, and then `rows` reads the records: points of those that are gone are left out.
    ///
    /// # Errors
    /// [`Error::Io`]; those of `rows` and `change`.
    pub fn replace(
        &self,
        rows: impl FnOnce() -> Result<PointRows>,
        change: impl FnOnce(Option<&Map>, &PointRows) -> Result<Option<Map>>,
    ) -> Result<Option<Arc<Map>>> {
        let lock = self.writes.then(|| self.lock()).transpose()?;
        self.replace_under(lock, rows, change)
    }

    /// Waits for others that write the file. Nobody else does then, and what killed processes have left goes.
    fn lock(&self) -> Result<LockedFile> {
        let lock = LockedFile::lock(self.open("lock")?).map_err(|error| Error::io(&self.folder, error))?;
        memorist_durable::sweep(&self.folder, Duration::ZERO);
        Ok(lock)
    }

    /// As [`Keeper::replace`], in the file if that is locked, and otherwise in memory.
    fn replace_under(
        &self,
        lock: Option<LockedFile>,
        rows: impl FnOnce() -> Result<PointRows>,
        change: impl FnOnce(Option<&Map>, &PointRows) -> Result<Option<Map>>,
    ) -> Result<Option<Arc<Map>>> {
        let _replacing = self.replacing.lock();
        let (newest, _) = self.newest()?;
        let rows = rows()?;
        let Some(mut map) = change(newest.as_deref(), &rows)? else { return Ok(newest) };
        map.points.retain(|point| rows.of(point.id).is_some());
        map.points.iter_mut().filter(|point| !is_current(point, &rows)).for_each(|point| forget_text(point, &rows));
        map.laid_out = map.laid_out.min(map.points.len() as u32);
        map.generation = newest.map_or(0, |newest| newest.generation).wrapping_add(1);
        map.lineage.clone_from(&self.lineage);
        if lock.is_some() {
            map.write(&self.file())?;
            return Ok(self.newest()?.0);
        }
        let map = Arc::new(map);
        let mut known = self.known.lock();
        known.map = Some(map.clone());
        known.why = None;
        Ok(Some(map))
    }

    /// Removes what the file has of records that are gone and of texts that records had before, for a purge. A file that
    /// cannot be read is removed.
    ///
    /// # Errors
    /// [`Error::Io`]; those of `rows`.
    pub fn forget(&self, rows: impl FnOnce() -> Result<PointRows>) -> Result<()> {
        self.views.lock().last = None;
        if !self.can_write || !self.folder.exists() {
            return Ok(());
        }
        // What is in memory alone is not written; it goes, too.
        *self.known.lock() = CachedMap::default();
        if self.newest()?.0.is_none() {
            return self.discard();
        }
        let trimmed = |map: Option<&Map>, rows: &PointRows| {
            let is_stale = |map: &&Map| map.points.iter().any(|point| !is_current(point, rows));
            Ok(map.filter(is_stale).cloned())
        };
        self.replace_under(Some(self.lock()?), rows, trimmed).map(drop)
    }

    /// Removes the file, and makes its removal durable.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn discard(&self) -> Result<()> {
        let _lock = self.lock()?;
        remove_file_if_present(&self.file())?;
        memorist_durable::sync_folder(&self.folder).map_err(|error| Error::io(&self.folder, error))
    }

    fn open(&self, name: &str) -> Result<File> {
        let path = self.folder.join(name);
        let open = || {
            private_folders().create(&self.folder)?;
            private_file().create(true).truncate(false).open(&path)
        };
        open().map_err(|error| Error::io(&path, error))
    }

    /// The view that `viewer` was shown last, if it is still current.
    pub fn seen(&self, viewer: &Viewer, seen: &Seen, now: Millis) -> Option<Arc<MapView>> {
        let views = self.views.lock();
        let (of, last, view) = views.last.as_ref()?;
        (of == viewer && last == seen && view.is_valid_at(now)).then(|| view.clone())
    }

    /// The view that `viewer` was shown last.
    pub fn last_seen(&self, viewer: &Viewer) -> Option<Arc<MapView>> {
        let views = self.views.lock();
        views.last.as_ref().filter(|(of, ..)| of == viewer).map(|(.., view)| view.clone())
    }

    /// Whether there was more to place when `viewer` was shown the map.
    pub fn has_unplaced(&self, viewer: &Viewer) -> bool {
        self.views.lock().last.as_ref().is_some_and(|(of, seen, _)| of == viewer && seen.has_unplaced)
    }

    /// Keeps what `viewer` is shown now, and gives it its generation: another one than any before in this process, unless
    /// it shows the same as the last.
    pub fn keep_view(&self, viewer: &Viewer, seen: Seen, mut view: MapView) -> Arc<MapView> {
        let mut views = self.views.lock();
        let generation = views.generation;
        view.generation = match &views.last {
            Some((of, _, last)) if of == viewer && last.shows_same(&view) => last.generation,
            _ => generation.wrapping_add(1).max(seen.map),
        };
        views.generation = generation.max(view.generation);
        let view = Arc::new(view);
        views.last = Some((viewer.clone(), seen, view.clone()));
        view
    }
}

impl MakingGuard<'_> {
    /// Passes progress on, and lets [`Keeper::progress`] tell it.
    pub fn reporting<'a>(&'a self, progress: &'a dyn Progress) -> impl Progress + use<'a> {
        Reporting { making: &self.keeper.making, progress }
    }
}

struct Reporting<'a> {
    making: &'a Mutex<Option<Making>>,
    progress: &'a dyn Progress,
}

impl Progress for Reporting<'_> {
    fn start(&self, what: &str, total: Option<u64>) {
        *self.making.lock() = Some(Making { done: 0, total: total.unwrap_or(0) });
        self.progress.start(what, total);
    }

    fn advance(&self, units: u64) {
        if let Some(making) = &mut *self.making.lock() {
            making.done += units;
        }
        self.progress.advance(units);
    }

    fn finish(&self) {
        self.progress.finish();
    }

    fn cancelled(&self) -> bool {
        self.progress.cancelled()
    }
}

/// Whether the record of a point is there, and the point tells nothing of a text that the record had before.
fn is_current(point: &Point, rows: &PointRows) -> bool {
    rows.of(point.id).is_some_and(|row| row.text == point.text || row.text == !point.text)
}

/// Notes that the text of a record has changed, and keeps no trace of the text that was placed.
fn forget_text(point: &mut Point, rows: &PointRows) {
    if let Some(row) = rows.of(point.id) {
        point.text = !row.text;
    }
}

/// Checks the map in `folder`, if there is a file: describes a sound one, or says what is wrong.
///
/// # Errors
/// [`Error::Io`].
pub fn examine(folder: &Path, lineage: &str, model: &str) -> Result<Option<Result<String, String>>> {
    let Some(read) = Map::read(&folder.join("places"))? else { return Ok(None) };
    Ok(Some(match read {
        Err(why) => Err(format!("out of use: {why}")),
        Ok(map) if map.lineage != lineage => Ok("unusable: it was made from another store".into()),
        Ok(map) if map.model != model => Ok("from another model; a new map can start from its coordinates".into()),
        Ok(map) => {
            let later = map.points.iter().filter(|point| point.is_later).count();
            Ok(format!("{} places, {later} of them found after the layout", map.points.len()))
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::PointRow;

    fn rows(ids: &[u32]) -> PointRows {
        let row = |id: &u32| PointRow {
            id: i64::from(*id).into(),
            kind: 0,
            importance: 5,
            scope: 0,
            created_at: 0,
            expires_at: None,
            text: 10 * id,
            has_vector: true,
        };
        PointRows { rows: ids.iter().map(row).collect(), scopes: vec![Default::default()] }
    }

    fn map(ids: &[u32]) -> Map {
        let point = |id: &u32| Point { id: *id, text: 10 * id, x: 1, y: 2, is_later: false };
        let points = ids.iter().map(point).collect();
        let laid_out = ids.len() as u32;
        Map { generation: 0, lineage: String::new(), model: "m".into(), laid_out, width: 1.0, points }
    }

    fn ids(map: &Map) -> Vec<u32> {
        map.points.iter().map(|point| point.id).collect()
    }

    #[test]
    fn a_layout_does_not_write_back_points_purged_meanwhile() {
        let folder = tempfile::tempdir().unwrap();
        let keeper = Keeper::new(folder.path().join("map"), "ours", true, true);
        keeper.replace(|| Ok(rows(&[1, 2, 3])), |_, _| Ok(Some(map(&[1, 2, 3])))).unwrap();
        keeper.forget(|| Ok(rows(&[1, 3]))).unwrap();
        let after = keeper.replace(|| Ok(rows(&[1, 3])), |_, _| Ok(Some(map(&[1, 2, 3])))).unwrap().unwrap();
        assert_eq!((ids(&after), after.laid_out, after.generation), (vec![1, 3], 2, 3));
        let other = Keeper::new(folder.path().join("map"), "ours", true, true);
        assert_eq!(other.newest().unwrap().0.as_deref(), Some(&*after));
        let foreign = Keeper::new(folder.path().join("map"), "theirs", true, true);
        assert_eq!(foreign.newest().unwrap().0, None);
        foreign.forget(|| Ok(rows(&[]))).unwrap();
        assert_eq!(keeper.newest().unwrap(), (None, None), "it was of no use, and might hold something");
    }

    #[test]
    fn a_keeper_that_does_not_write_maps_keeps_them_in_memory() {
        let folder = tempfile::tempdir().unwrap();
        for can_write in [false, true] {
            let path = folder.path().join(format!("map {can_write}"));
            let keeper = Keeper::new(path.clone(), "ours", can_write, false);
            drop(keeper.begin_making().unwrap());
            keeper.replace(|| Ok(rows(&[1])), |_, _| Ok(Some(map(&[1])))).unwrap();
            assert_eq!(ids(&keeper.newest().unwrap().0.unwrap()), [1]);
            assert!(!path.exists());
            // Another process has made one.
            let owner = Keeper::new(path.clone(), "ours", true, true);
            owner.replace(|| Ok(rows(&[1, 2])), |_, _| Ok(Some(map(&[1, 2])))).unwrap();
            assert_eq!(ids(&keeper.newest().unwrap().0.unwrap()), [1, 2]);
            // What is purged goes from the file all the same.
            keeper.replace(|| Ok(rows(&[1, 2, 3])), |_, _| Ok(Some(map(&[1, 2, 3])))).unwrap();
            keeper.forget(|| Ok(rows(&[2, 3]))).unwrap();
            let left = if can_write { vec![2] } else { vec![1, 2] };
            assert_eq!(ids(&owner.newest().unwrap().0.unwrap()), left);
        }
    }

    #[test]
    fn concurrent_placements_in_memory_are_all_kept() {
        let folder = tempfile::tempdir().unwrap();
        let keeper = Keeper::new(folder.path().join("map"), "ours", false, false);
        std::thread::scope(|scope| {
            for id in 1..=4 {
                let keeper = &keeper;
                scope.spawn(move || {
                    let placed = |newest: Option<&Map>, _: &PointRows| {
                        let before = newest.map_or_else(Vec::new, ids);
                        std::thread::sleep(Duration::from_millis(20));
                        Ok(Some(map(&[&before[..], &[id]].concat())))
                    };
                    keeper.replace(|| Ok(rows(&[1, 2, 3, 4])), placed).unwrap();
                });
            }
        });
        let mut placed = ids(&keeper.newest().unwrap().0.unwrap());
        placed.sort_unstable();
        assert_eq!(placed, [1, 2, 3, 4]);
    }
}
