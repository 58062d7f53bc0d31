//! The names of everything in a store's folder. No other file knows one.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The files that SQLite keeps beside a database: the write-ahead log, its index, and the rollback journal.
pub fn companions(database: &Path) -> [PathBuf; 3] {
    ["-wal", "-shm", "-journal"].map(|ending| {
        let mut name = database.as_os_str().to_owned();
        name.push(ending);
        PathBuf::from(name)
    })
}

/// The files and folders of one store.
#[derive(Debug, Clone)]
pub struct StorePaths {
    root: PathBuf,
}

impl StorePaths {
    /// The store in the folder `root`.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        StorePaths { root: root.into() }
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The records: the source of truth.
    pub fn database(&self) -> PathBuf {
        self.root.join("memory.db")
    }

    /// Whether the folder has a store, or what is left of one: one that lost its database is no new one.
    pub fn is_any_there(&self) -> bool {
        let [log, ..] = companions(&self.database());
        self.index_folders().into_iter().chain([self.database(), log]).any(|part| match part.symlink_metadata() {
            Ok(_) => true,
            // What cannot be looked at may be there.
            Err(error) => !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory),
        })
    }

    /// Where a repair at `when` keeps the damaged database.
    pub fn damaged(&self, when: &str) -> PathBuf {
        self.root.join(format!("memory.db.damaged-{when}"))
    }

    /// The untrustworthy memories of a damaged database, from a repair at `when`.
    pub fn doubtful(&self, when: &str) -> PathBuf {
        self.root.join(format!("memory.db.doubtful-{when}.jsonl"))
    }

    /// The vector index: derived.
    pub fn vectors(&self) -> PathBuf {
        self.root.join("vectors")
    }

    /// The keyword index: derived.
    pub fn keywords(&self) -> PathBuf {
        self.root.join("keywords")
    }

    /// The map: derived.
    pub fn map(&self) -> PathBuf {
        self.root.join("map")
    }

    /// The scale of the model's cosines: derived.
    pub fn scale(&self) -> PathBuf {
        self.root.join("scale")
    }

    /// Whether a file or folder of this name in the store's folder is part of the store.
    pub fn is_part(&self, path: &Path) -> bool {
        let database = self.database();
        let locks = [
            self.queue_lock(),
            self.writer_lock(),
            self.embedding_lock(),
            self.jobs_lock(),
            self.follow_lock(),
            self.machines_lock(),
        ];
        let files = companions(&database)
            .into_iter()
            .chain([database, self.http_token(), self.hooks(), self.map(), self.scale(), self.tidy()])
            .chain(locks);
        files.chain(self.index_folders()).any(|part| part == path)
    }

    /// Whether a file written at `path` would be, or replace, a part of the store, however the path leads there.
    pub fn would_replace_part(&self, path: &Path) -> bool {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let (Ok(root), Ok(folder), Some(name)) = (self.root.canonicalize(), folder.canonicalize(), path.file_name())
        else {
            return false;
        };
        let (store, file) = (StorePaths::new(root), folder.join(name));
        let folders = store.index_folders();
        store.is_part(&file)
            || folders
                .iter()
                .chain([&store.hooks(), &store.map(), &store.tidy()])
                .any(|folder| file.starts_with(folder))
    }

    /// The folders of both indexes, including those being built and those being removed.
    pub fn index_folders(&self) -> [PathBuf; 6] {
        let [keywords, vectors] = [self.keywords(), self.vectors()];
        [
            Self::staging(&keywords),
            Self::retired(&keywords),
            keywords,
            Self::staging(&vectors),
            Self::retired(&vectors),
            vectors,
        ]
    }

    /// The token that clients of an HTTP server send.
    pub fn http_token(&self) -> PathBuf {
        self.root.join("http-token")
    }

    /// The files that the hooks of clients leave, and the socket that a server answers them on.
    pub fn hooks(&self) -> PathBuf {
        self.root.join("hooks")
    }

    /// The journals of the changes by `memorist tidy`.
    pub fn tidy(&self) -> PathBuf {
        self.root.join("tidy")
    }

    /// Locked by the process whose turn it is to write records, until its transaction has begun. Never deleted.
    pub fn queue_lock(&self) -> PathBuf {
        self.root.join("queue.lock")
    }

    /// Locked by the one process that writes the indexes. Never deleted; the kernel frees it when its holder ends.
    pub fn writer_lock(&self) -> PathBuf {
        self.root.join("writer.lock")
    }

    /// Locked by the one process that asks a provider about batch jobs. Never deleted.
    pub fn jobs_lock(&self) -> PathBuf {
        self.root.join("jobs.lock")
    }

    /// Locked by the one process of a node that follows the server of a team. Never deleted.
    pub fn follow_lock(&self) -> PathBuf {
        self.root.join("follow.lock")
    }

    /// Locked by the one process that embeds with a provider. Never deleted; the kernel frees it when its holder ends.
    pub fn embedding_lock(&self) -> PathBuf {
        self.root.join("embedding.lock")
    }

    /// Locked by the one process that meets the other machines of a person. It is there while any is remembered, and its time is
    /// that of the last try.
    pub fn machines_lock(&self) -> PathBuf {
        self.root.join("machines.lock")
    }

    /// Where an index is built that will replace `folder`.
    pub fn staging(folder: &Path) -> PathBuf {
        folder.with_extension("rebuild")
    }

    /// Where a replaced index of `folder` is kept until it is removed.
    pub fn retired(folder: &Path) -> PathBuf {
        folder.with_extension("old")
    }
}
