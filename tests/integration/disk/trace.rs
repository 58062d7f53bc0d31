//! The changes of a process to its disk, and what a power cut may leave of them.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// One line of the shim's trace.
#[derive(Debug)]
pub enum Event {
    Create { path: PathBuf, inode: u64 },
    Write { inode: u64, at: usize, bytes: Vec<u8> },
    Truncate { inode: u64, length: usize },
    Sync { inode: u64 },
    SyncFolder { path: PathBuf },
    Rename { from: PathBuf, to: PathBuf },
    Link { from: PathBuf, to: PathBuf },
    Remove { path: PathBuf },
    MakeFolder { path: PathBuf },
    Say { bytes: Vec<u8> },
}

impl Event {
    pub fn is_sync(&self) -> bool {
        matches!(self, Event::Sync { .. } | Event::SyncFolder { .. })
    }

    pub fn changes(&self) -> bool {
        !self.is_sync() && !matches!(self, Event::Say { .. })
    }

    pub fn takes_space(&self) -> bool {
        matches!(self, Event::Create { .. } | Event::Write { .. } | Event::Link { .. } | Event::MakeFolder { .. })
    }
}

/// Reads the records that `shim.c` describes.
pub fn read(file: &Path) -> Vec<Event> {
    let bytes = fs::read(file).expect("a trace");
    let (mut rest, mut events) = (&bytes[..], Vec::new());
    // A killed process may have left half a record.
    while let Some((event, after)) = record(rest) {
        events.push(event);
        rest = after;
    }
    events
}

fn record(bytes: &[u8]) -> Option<(Event, &[u8])> {
    let number = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?) as usize);
    let long = |at: usize| Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
    let (op, path_length, rest_length) = (number(0)?, number(4)?, number(8)?);
    let (inode, at) = (long(24)?, long(32)? as usize);
    let path_end = 40 + path_length;
    let path = PathBuf::from(OsStr::from_bytes(bytes.get(40..path_end)?));
    let rest = bytes.get(path_end..path_end + rest_length)?;
    let to = || PathBuf::from(OsStr::from_bytes(rest));
    let event = match op {
        1 => Event::Create { path, inode },
        2 => Event::Write { inode, at, bytes: rest.to_vec() },
        3 => Event::Truncate { inode, length: at },
        4 => Event::Sync { inode },
        5 => Event::SyncFolder { path },
        6 => Event::Rename { from: path, to: to() },
        7 | 9 => Event::Remove { path },
        8 => Event::MakeFolder { path },
        10 => Event::Link { from: path, to: to() },
        11 => Event::Say { bytes: rest.to_vec() },
        other => panic!("the shim writes operation {other}"),
    };
    Some((event, &bytes[path_end + rest_length..]))
}

/// How much of what was not synced a power cut leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Left {
    Nothing,
    /// Some of it, in any order: later writes without earlier ones, names without contents, half a write.
    Some,
}

type NodeIndex = usize;

/// A disk: what a process sees of it, and what is safe.
pub struct Disk {
    root: PathBuf,
    nodes: Vec<Kind>,
    /// Files that are open or named, as the process knows them.
    inodes: HashMap<u64, NodeIndex>,
}

enum Kind {
    File { safe: Vec<u8>, unsynced: Vec<Change> },
    Folder { now: Names, safe: Names, unsynced: Vec<Renaming> },
}

type Names = BTreeMap<PathBuf, NodeIndex>;

#[derive(Clone)]
enum Change {
    Write { at: usize, bytes: Vec<u8> },
    Truncate(usize),
}

/// Names that appear and disappear together.
type Renaming = Vec<(PathBuf, Option<NodeIndex>)>;

const ROOT: NodeIndex = 0;

impl Disk {
    /// An empty folder.
    pub fn new(root: &Path) -> Self {
        Disk { root: root.to_owned(), nodes: vec![folder()], inodes: HashMap::new() }
    }

    /// Applies an operation of the process.
    pub fn play(&mut self, event: &Event) {
        match event {
            Event::Create { path, inode } => {
                let node = self.add(Kind::File { safe: Vec::new(), unsynced: Vec::new() });
                self.inodes.insert(*inode, node);
                self.name(path, Some(node));
            }
            Event::MakeFolder { path } => {
                let node = self.add(folder());
                self.name(path, Some(node));
            }
            Event::Write { inode, at, bytes } => self.change(*inode, Change::Write { at: *at, bytes: bytes.clone() }),
            Event::Truncate { inode, length } => self.change(*inode, Change::Truncate(*length)),
            Event::Sync { inode } => {
                let Kind::File { safe, unsynced } = self.file(*inode) else { unreachable!("a file") };
                unsynced.drain(..).for_each(|change| apply(safe, &change, None));
            }
            Event::SyncFolder { path } => {
                let node = self.find(path).expect("a folder that is there");
                let Kind::Folder { now, safe, unsynced } = &mut self.nodes[node] else { unreachable!("a folder") };
                safe.clone_from(now);
                unsynced.clear();
            }
            Event::Remove { path } => self.name(path, None),
            Event::Link { from, to } => {
                let node = self.find(from).expect("a file that is there");
                self.name(to, Some(node));
            }
            Event::Rename { from, to } => {
                let node = self.find(from).expect("what is renamed is there");
                assert_eq!(from.parent(), to.parent(), "renames stay in one folder");
                let names = vec![(file_name(from), None), (file_name(to), Some(node))];
                self.rename(from.parent().expect("a folder"), names);
            }
            Event::Say { .. } => {}
        }
    }

    /// Writes what is on the disk when the power comes back to the folder `to`.
    pub fn after_power_cut(&self, left: Left, random: &mut ChaCha8Rng, to: &Path) {
        self.write_folder(ROOT, left, random, to);
    }

    fn write_folder(&self, node: NodeIndex, left: Left, random: &mut ChaCha8Rng, to: &Path) {
        let Kind::Folder { safe, unsynced, .. } = &self.nodes[node] else { unreachable!("a folder") };
        let mut names = safe.clone();
        for renaming in unsynced.iter().filter(|_| left == Left::Some && random.random()) {
            renaming.iter().for_each(|(name, node)| put(&mut names, name, *node));
        }
        fs::create_dir_all(to).expect("a folder");
        for (name, node) in names {
            match &self.nodes[node] {
                Kind::Folder { .. } => self.write_folder(node, left, random, &to.join(name)),
                Kind::File { safe, unsynced } => {
                    let mut bytes = safe.clone();
                    for change in unsynced {
                        if left == Left::Some && random.random() {
                            apply(&mut bytes, change, Some(random));
                        }
                    }
                    fs::write(to.join(name), bytes).expect("a file");
                }
            }
        }
    }

    fn add(&mut self, kind: Kind) -> NodeIndex {
        self.nodes.push(kind);
        self.nodes.len() - 1
    }

    fn file(&mut self, inode: u64) -> &mut Kind {
        let node = *self.inodes.get(&inode).expect("a file that was made before");
        &mut self.nodes[node]
    }

    fn change(&mut self, inode: u64, change: Change) {
        let Kind::File { unsynced, .. } = self.file(inode) else { unreachable!("a file") };
        unsynced.push(change);
    }

    fn find(&self, path: &Path) -> Option<NodeIndex> {
        let below = path.strip_prefix(&self.root).expect("below the root");
        below.iter().try_fold(ROOT, |node, name| match &self.nodes[node] {
            Kind::Folder { now, .. } => now.get(Path::new(name)).copied(),
            Kind::File { .. } => None,
        })
    }

    fn name(&mut self, path: &Path, node: Option<NodeIndex>) {
        self.rename(path.parent().expect("a folder"), vec![(file_name(path), node)]);
    }

    fn rename(&mut self, folder: &Path, renaming: Renaming) {
        let node = self.find(folder).expect("a folder that is there");
        let Kind::Folder { now, unsynced, .. } = &mut self.nodes[node] else { unreachable!("a folder") };
        renaming.iter().for_each(|(name, node)| put(now, name, *node));
        unsynced.push(renaming);
    }
}

fn folder() -> Kind {
    Kind::Folder { now: Names::new(), safe: Names::new(), unsynced: Vec::new() }
}

fn file_name(path: &Path) -> PathBuf {
    path.file_name().expect("a name").into()
}

fn put(names: &mut Names, name: &Path, node: Option<NodeIndex>) {
    match node {
        Some(node) => names.insert(name.to_owned(), node),
        None => names.remove(name),
    };
}

/// With `torn`, now and then only the first sectors of a write.
fn apply(file: &mut Vec<u8>, change: &Change, torn: Option<&mut ChaCha8Rng>) {
    match change {
        Change::Truncate(length) => file.resize(*length, 0),
        Change::Write { at, bytes } => {
            let whole = bytes.len();
            let sectors = torn.and_then(|random| random.random_bool(0.2).then(|| random.random_range(0..=whole / 512)));
            let end = at + sectors.map_or(whole, |sectors| sectors * 512);
            if file.len() < end {
                file.resize(end, 0);
            }
            file[*at..end].copy_from_slice(&bytes[..end - at]);
        }
    }
}
